"""Models and labels as facts, and which causes are found in them."""

from __future__ import annotations

from typing import Any

from fitdoctor.diagnosis import Confidence, Moment, Severity
from fitdoctor.engine import Case, diagnose
from fitdoctor.facts import (
    ArrayFacts,
    DataFacts,
    FitFacts,
    LayerFacts,
    LossFacts,
    MetricFacts,
    ModelFacts,
    Outcome,
    Shape,
    Spec,
    Statistics,
    Trial,
    Unknown,
)

CROSSENTROPIES = ("binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy")


def loss_of(name: str, **more: Any) -> LossFacts:
    logits = more.pop("from_logits", False if name in CROSSENTROPIES else Unknown("no such setting"))
    return LossFacts(name, from_logits=logits, **more)


def dense(units: int, activation: str = "linear", name: str = "out", **more: str) -> LayerFacts:
    config = (("units", str(units)), ("activation", activation), *more.items())
    return LayerFacts(name, "Dense", 0, config)


def model(
    output: Shape,
    loss: str | LossFacts,
    *layers: LayerFacts,
    metrics: tuple[MetricFacts, ...] = (),
    **more: Any,
) -> ModelFacts:
    """A sequential model with one output."""
    given = loss_of(loss) if isinstance(loss, str) else loss
    return ModelFacts(
        kind="sequential",
        outputs=(Spec(output, "float32"),),
        layers=layers or (dense(output[-1] or 1),),
        losses=(given,),
        metrics=metrics,
        **more,
    )


def labels(shape: Shape, *values: float, complete: bool = True, **more: Any) -> ArrayFacts:
    """Labels that hold these values, each equally often."""
    statistics: Statistics | Unknown = Unknown("not seen")
    if values:
        ordered = sorted(set(values))
        statistics = Statistics(
            count=shape[0] or 100,
            complete=complete,
            minimum=ordered[0],
            maximum=ordered[-1],
            integral=all(float(value).is_integer() for value in ordered),
            histogram=tuple((value, 10) for value in ordered),
            row_sums=more.pop("row_sums", None),
            row_filled=more.pop("row_filled", None),
        )
    return ArrayFacts("y", shape=shape, statistics=more.pop("statistics", statistics), **more)


def measurements(shape: Shape, low: float, high: float) -> ArrayFacts:
    """Labels of many values between two."""
    statistics = Statistics(
        count=shape[0] or 100, complete=True, minimum=low, maximum=high, mean=(low + high) / 2
    )
    return ArrayFacts("y", shape=shape, dtype="float64", statistics=statistics)


def data(y: ArrayFacts | tuple[ArrayFacts, ...] | None, **more: Any) -> DataFacts:
    parts = () if y is None else y if isinstance(y, tuple) else (y,)
    structure = "none" if y is None else "list" if isinstance(y, tuple) else "single"
    x = (ArrayFacts("x", shape=(100, 4), dtype="float32"),)
    return DataFacts(x=x, y=parts, y_structure=more.pop("y_structure", structure), **more)


def found(
    facts: ModelFacts, given: DataFacts, fit: FitFacts | None = None, moment: Moment = Moment.BEFORE_FIT
) -> dict[str, tuple[Severity, Confidence]]:
    """What the label causes say, by id."""
    case = Case(
        moment,
        {
            "ModelFacts": (facts,),
            "DataFacts": (given,),
            "FitFacts": (fit or FitFacts(),),
            "Project": Unknown("none"),
        },
    )
    diagnosis = diagnose([case], select=["FIT2"])
    assert not diagnosis.crashes
    return {finding.id: (finding.severity, finding.confidence) for finding in diagnosis.findings}


WENT_THROUGH = Trial(Outcome(), Outcome(), Outcome())
ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
CERTAIN, LIKELY = Confidence.CERTAIN, Confidence.LIKELY
