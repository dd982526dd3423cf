"""The finer points of the label causes, from plain data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fitdoctor.catalogue.label_shapes import (
    BROADCAST,
    CLASS_NUMBERS,
    FITS,
    ONE_HOT,
    SEQUENCE,
    UNITS,
    verdict,
)
from fitdoctor.catalogue.targets import activation_of, targets
from fitdoctor.diagnosis import Confidence, Moment, Severity
from fitdoctor.engine import Case, diagnose
from fitdoctor.facts import (
    ArrayFacts,
    ClassWeight,
    DataFacts,
    FailureFacts,
    FailureSummary,
    FitFacts,
    Frame,
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


# --- shapes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "label_shape", "output", "expected"),
    [
        ("categorical_crossentropy", (9,), (9, 3), CLASS_NUMBERS),
        ("categorical_crossentropy", (9, 1), (9, 3), CLASS_NUMBERS),
        ("categorical_crossentropy", (9, 5), (9, 5, 3), CLASS_NUMBERS),
        ("categorical_crossentropy", (9, 3), (9, 3), FITS),
        ("categorical_crossentropy", (9, 4), (9, 3), UNITS),
        ("categorical_crossentropy", (9, 3), (9, 5, 3), SEQUENCE),
        ("sparse_categorical_crossentropy", (9,), (9, 3), FITS),
        ("sparse_categorical_crossentropy", (9, 1), (9, 3), FITS),
        ("sparse_categorical_crossentropy", (9, 8, 8, 1), (9, 8, 8, 3), FITS),
        ("sparse_categorical_crossentropy", (9, 3), (9, 3), ONE_HOT),
        ("sparse_categorical_crossentropy", (9, 5, 3), (9, 5, 3), ONE_HOT),
        ("sparse_categorical_crossentropy", (9,), (9, 5, 3), SEQUENCE),
        ("sparse_categorical_crossentropy", (9, 5), (9, 5, 3), FITS),
        ("binary_crossentropy", (9,), (9, 1), FITS),
        ("binary_crossentropy", (9,), (9, 2), UNITS),
        ("binary_crossentropy", (9, 2), (9, 1), UNITS),
        ("binary_crossentropy", (9, 1), (9, 10, 1), SEQUENCE),
        ("mean_squared_error", (9,), (9, 1), FITS),
        ("mean_squared_error", (9, 5), (9, 5, 1), FITS),
        ("mean_squared_error", (9, 1), (9, 3), BROADCAST),
        ("mean_squared_error", (9, 3), (9, 1), BROADCAST),
        ("mean_squared_error", (9,), (9, 3), UNITS),
        ("mean_squared_error", (9, 2), (9, 3), UNITS),
        ("mean_squared_error", (9,), (9, None, 1), SEQUENCE),
        ("cosine_similarity", (9,), (9, 3), ""),
        ("categorical_crossentropy", (9, None), (9, 3), FITS),
    ],
)
def test_one_verdict_for_labels_and_output(
    loss: str, label_shape: Shape, output: Shape, expected: str
) -> None:
    assert verdict(loss, label_shape, output) == expected


def test_an_error_is_certain_only_when_the_loss_raised() -> None:
    facts = model((None, 3), "categorical_crossentropy", dense(3, "softmax"))
    y = labels((90,), 0, 1, 2)
    assert found(facts, data(y)) == {"FIT201": (ERROR, LIKELY)}
    raised = Trial(
        Outcome(), Outcome(failure=FailureSummary("ValueError", "must have the same rank")), Unknown()
    )
    assert found(facts, data(y, trial=raised)) == {"FIT201": (ERROR, CERTAIN)}
    assert found(facts, data(y, trial=WENT_THROUGH)) == {}


def test_a_trial_on_an_open_batch_does_not_refute_a_subtraction() -> None:
    flat = data(measurements((90,), -2, 2), trial=WENT_THROUGH)
    assert found(model((None, 3), "mean_squared_error"), flat) == {"FIT205": (ERROR, LIKELY)}
    assert found(model((30, 3), "mean_squared_error"), flat) == {}


def test_a_loss_of_the_users_own_is_not_judged_by_shapes() -> None:
    own = LossFacts("pinball", "function")
    assert found(model((None, 3), own), data(measurements((90, 1), -2, 2))) == {}
    assert (
        found(replace(model((None, 3), "mean_squared_error"), overrides=("compute_loss",)), data(None)) == {}
    )


def test_outputs_are_matched_by_name_not_by_order() -> None:
    facts = ModelFacts(
        kind="functional",
        outputs=(Spec((None, 1), "float32", "angle"), Spec((None, 5), "float32", "digit")),
        output_names=("angle", "digit"),
        output_structure="dict",
        output_paths=(("angle",), ("digit",)),
        layers=(dense(1, name="angle"), dense(5, "softmax", name="digit")),
        losses=(
            loss_of("sparse_categorical_crossentropy", output="digit"),
            loss_of("mean_squared_error", output="angle"),
        ),
        loss_structure="dict",
        loss_keys=("digit", "angle"),
    )
    y = (labels((90,), 0, 4, key="digit"), replace(measurements((90,), -1, 1), key="angle"))
    specs = (Spec((30, 5), "float32", "digit"), Spec((30, 1), "float32", "angle"))
    given = data(y, y_structure="dict", trial=Trial(Outcome(specs), Outcome(), Outcome()))
    assert [(target.name, target.units, target.loss_name) for target in targets(facts, given)] == [
        ("angle", 1, "mean_squared_error"),
        ("digit", 5, "sparse_categorical_crossentropy"),
    ]
    assert found(facts, given) == {}


# --- values -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "settings", "expected"),
    [
        ((0, 1, 2), (), False),
        ((1, 2, 3), (), True),
        ((-1, 0, 1, 2), (), True),
        ((-1, 0, 1, 2), (("ignore_class", "-1"),), False),
        ((0, 1, 2, 255), (("ignore_class", "255"),), False),
        ((0, 1, 2, 255), (("ignore_class", "-1"),), True),
    ],
)
def test_labels_out_of_range_know_the_ignored_class(
    values: tuple[float, ...], settings: tuple[tuple[str, str], ...], expected: bool
) -> None:
    loss = loss_of("sparse_categorical_crossentropy", settings=settings)
    given = data(labels((90,), *values), trial=WENT_THROUGH)
    assert ("FIT203" in found(model((None, 3), loss, dense(3, "softmax")), given)) is expected


def test_labels_out_of_range_turn_to_nan_under_xla() -> None:
    facts = model((None, 3), "sparse_categorical_crossentropy", dense(3, "softmax"), jit_compile=True)
    assert found(facts, data(labels((90,), 1, 2, 3))) == {"FIT203": (WARNING, CERTAIN)}


def test_nan_among_labels_is_left_to_a_loss_of_the_users_own() -> None:
    nan = Statistics(count=90, complete=True, minimum=0.0, maximum=1.0, nan=3, first_nonfinite=(7,))
    y = labels((90,), statistics=nan)
    assert found(model((None, 1), "mean_squared_error"), data(y)) == {"FIT206": (WARNING, CERTAIN)}
    assert found(model((None, 1), LossFacts("masked", "function")), data(y)) == {}


@pytest.mark.parametrize(
    ("low", "high", "row_sums", "expected"),
    [
        (0, 1, (1.0, 1.0), set()),
        (0, 1, (0.0, 1.0), set()),
        (0.03, 0.94, (0.999, 1.001), set()),
        (0, 1, (0.0, 3.0), {"FIT207"}),
        (0, 40, (40.0, 40.0), {"FIT207"}),
        (-1.2, 2.1, (-2.0, 3.0), {"FIT207"}),
    ],
)
def test_rows_that_are_no_distribution(
    low: float, high: float, row_sums: tuple[float, float], expected: set[str]
) -> None:
    y = labels((90, 3), low, high, row_sums=row_sums)
    facts = model((None, 3), "categorical_crossentropy", dense(3, "softmax"))
    assert set(found(facts, data(y, trial=WENT_THROUGH))) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((0, 1), set()),
        ((0.1, 0.9), set()),
        ((0, 255), {"FIT208"}),
        ((-1, 1), {"FIT208"}),
        ((1, 2), {"FIT208"}),
    ],
)
def test_binary_labels_lie_between_zero_and_one(values: tuple[float, ...], expected: set[str]) -> None:
    facts = model((None, 1), "binary_crossentropy", dense(1, "sigmoid"))
    assert set(found(facts, data(labels((90,), *values), trial=WENT_THROUGH))) == expected


# --- activations --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ((dense(3, "softmax"),), ("softmax", True)),
        ((dense(3, "softmax_v2"),), ("softmax", True)),
        ((dense(3, "softmax"), LayerFacts("r", "Reshape", 1)), ("softmax", False)),
        ((dense(3), LayerFacts("s", "Softmax", 1, (("axis", "-1"),))), ("softmax", True)),
        ((dense(3), LayerFacts("s", "Softmax", 1, (("axis", "1"),))), None),
        ((dense(3), LayerFacts("f", "Lambda", 1)), None),
        ((dense(3), LayerFacts("h", "Head", 1, builtin=False)), None),
        ((dense(3, "my_activation"),), None),
        ((dense(3), LayerFacts("b", "BatchNormalization", 1)), None),
        ((LayerFacts("t", "TimeDistributed", 0, sublayers=(dense(3, "softmax"),)),), ("softmax", True)),
    ],
)
def test_the_last_activation_is_told_or_unknown(
    layers: tuple[LayerFacts, ...], expected: tuple[str, bool] | None
) -> None:
    activation = activation_of(model((None, 3), "mean_squared_error", *layers))
    assert (None if activation is None else (activation.name, activation.direct)) == expected


def test_a_function_in_call_counts_as_the_last_activation() -> None:
    facts = ModelFacts(kind="subclassed", layers=(dense(3),), output_paths=(("softmax", "out"),))
    activation = activation_of(facts)
    assert activation is not None
    assert (activation.name, activation.layer) == ("softmax", None)
    assert activation_of(replace(facts, output_paths=(("?", "out"),))) is None
    assert activation_of(replace(facts, output_paths=())) is None


@pytest.mark.parametrize(
    ("activation", "loss", "logits", "expected"),
    [
        ("softmax", "sparse_categorical_crossentropy", False, set()),
        ("linear", "sparse_categorical_crossentropy", True, set()),
        ("linear", "sparse_categorical_crossentropy", False, {"FIT210"}),
        ("softmax", "sparse_categorical_crossentropy", True, {"FIT210"}),
        ("relu", "sparse_categorical_crossentropy", False, {"FIT211"}),
        ("relu", "sparse_categorical_crossentropy", True, set()),
    ],
)
def test_logits_and_probabilities(activation: str, loss: str, logits: bool, expected: set[str]) -> None:
    facts = model((None, 3), loss_of(loss, from_logits=logits), dense(3, activation))
    assert set(found(facts, data(labels((90,), 0, 1, 2), trial=WENT_THROUGH))) == expected


@pytest.mark.parametrize(
    ("activation", "low", "high", "expected"),
    [
        ("relu", 0, 50, set()),
        ("relu", -0.5, 50, set()),
        ("relu", -20, 50, {"FIT211"}),
        ("tanh", -1, 1, set()),
        ("tanh", 3, 30, {"FIT211"}),
        ("sigmoid", 0, 1, set()),
        ("sigmoid", 0, 100, {"FIT211"}),
        ("linear", -5, 5, set()),
        ("elu", -0.9, 9, set()),
    ],
)
def test_targets_within_reach(activation: str, low: float, high: float, expected: set[str]) -> None:
    facts = model((None, 1), "mean_squared_error", dense(1, activation))
    assert set(found(facts, data(measurements((90,), low, high), trial=WENT_THROUGH))) == expected


def test_softmax_over_one_unit_explains_the_rest() -> None:
    facts = model((None, 1), "categorical_crossentropy", dense(1, "softmax"))
    assert set(found(facts, data(labels((90,), 0, 1), trial=WENT_THROUGH))) == {"FIT209"}
    sigmoid = model((None, 1), "categorical_crossentropy", dense(1, "sigmoid"))
    assert found(sigmoid, data(labels((90,), 0, 1), trial=WENT_THROUGH)) == {"FIT205": (WARNING, CERTAIN)}


# --- weights ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "form", "expected"),
    [
        (("0", "1", "2"), "arrays", {}),
        (("2",), "arrays", {}),
        (("0", "1", "2", "3"), "arrays", {}),
        (("0", "1", "2", "3"), "dataset", {}),
        (("1", "2", "3"), "arrays", {"FIT212": WARNING}),
        (("1", "2", "3"), "dataset", {"FIT212": WARNING}),
        (("0", "1"), "dataset", {"FIT212": ERROR}),
        (("'0'", "'1'", "'2'"), "arrays", {"FIT212": WARNING}),
        (("'0'", "'1'", "'2'"), "dataset", {"FIT212": ERROR}),
        (("(ndarray)",), "arrays", {"FIT212": ERROR}),
    ],
)
def test_class_weights_by_number(keys: tuple[str, ...], form: str, expected: dict[str, Severity]) -> None:
    facts = model((None, 3), "sparse_categorical_crossentropy", dense(3, "softmax"))
    given = data(labels((90,), 0, 1, 2), form=form, trial=WENT_THROUGH)
    judged = found(facts, given, FitFacts(class_weight=ClassWeight(keys)))
    assert {cause: severity for cause, (severity, _) in judged.items()} == expected


def test_class_weights_for_several_outputs() -> None:
    facts = model((None, 1), "binary_crossentropy", dense(1, "sigmoid"))
    fit = FitFacts(class_weight=ClassWeight(("0", "1")))
    given = data((labels((90,), 0, 1), labels((90,), 0, 1)))
    assert found(facts, given, fit)["FIT213"] == (ERROR, CERTAIN)


@pytest.mark.parametrize(
    ("values", "form", "expected"),
    [
        ((0.2, 3.0), "arrays", set()),
        ((0, 1), "arrays", set()),
        ((1, 2, 5), "dataset", set()),
        ((0, 0), "arrays", {"FIT214"}),
        ((-1.5, 2.0), "arrays", {"FIT214"}),
        (tuple(range(5000, 5100)), "dataset", {"FIT214"}),
        (tuple(range(5000, 5100)), "arrays", set()),
    ],
)
def test_sample_weights(values: tuple[float, ...], form: str, expected: set[str]) -> None:
    facts = model((None, 1), "binary_crossentropy", dense(1, "sigmoid"))
    weights = replace(labels((100,), *values), path="sample_weight", dtype="int64")
    size = 3 if form == "dataset" else None
    given = data(
        labels((100,), 0, 1), sample_weight=(weights,), form=form, element_size=size, trial=WENT_THROUGH
    )
    assert set(found(facts, given)) == expected


# --- structure ----------------------------------------------------------------------------------------------------


def test_missing_labels_are_wanted_only_by_a_loss() -> None:
    facts = model((None, 4), "mean_squared_error")
    assert set(found(facts, data(None))) == {"FIT215"}
    assert found(facts, data(None), FitFacts(method="predict")) == {}
    assert found(replace(facts, losses=(), loss_structure="none"), data(None)) == {}
    assert found(replace(facts, overrides=("train_step",)), data(None)) == {}


def two_outputs(**more: Any) -> ModelFacts:
    return ModelFacts(
        kind="functional",
        outputs=(Spec((None, 1), "float32", "a"), Spec((None, 1), "float32", "b")),
        output_names=("a", "b"),
        output_structure="list",
        layers=(dense(1, name="a"), dense(1, "sigmoid", name="b")),
        losses=(loss_of("mean_squared_error", output="a"), loss_of("binary_crossentropy", output="b")),
        **{"loss_structure": "list", **more},
    )


def test_labels_for_every_output() -> None:
    a, b = measurements((90,), -1, 1), labels((90,), 0, 1)
    assert found(two_outputs(), data((a, b))) == {}
    assert found(two_outputs(), data(a)) == {"FIT216": (ERROR, LIKELY)}
    keyed = (replace(a, key="a"), replace(b, key="c"))
    assert found(two_outputs(), data(keyed, y_structure="dict")) == {"FIT216": (ERROR, LIKELY)}
    short = two_outputs(loss_structure="list")
    only = replace(short, losses=short.losses[:1])
    assert found(only, data((a, b), trial=WENT_THROUGH)) == {"FIT216": (WARNING, CERTAIN)}
    named = replace(
        short, loss_structure="dict", loss_keys=("a",), losses=short.losses[:1], output_structure="dict"
    )
    assert found(named, data((a, b), trial=WENT_THROUGH)) == {}


# --- metrics ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "output", "y", "metric", "expected"),
    [
        (
            "mean_squared_error",
            (None, 1),
            measurements((90,), -3, 3),
            MetricFacts("accuracy", "accuracy"),
            WARNING,
        ),
        (
            "mean_squared_error",
            (None, 1),
            measurements((90,), -3, 3),
            MetricFacts("mae", "MeanAbsoluteError"),
            None,
        ),
        ("mean_squared_error", (None, 1), labels((90,), 0, 1), MetricFacts("accuracy", "accuracy"), None),
        ("binary_crossentropy", (None, 1), labels((90,), 0, 1), MetricFacts("accuracy", "Accuracy"), WARNING),
        ("binary_crossentropy", (None, 1), labels((90,), 0, 1), MetricFacts("auc", "AUC"), None),
        ("binary_crossentropy", (None, 1), labels((90,), 0, 1), MetricFacts("f1_score", "F1Score"), ERROR),
        ("binary_crossentropy", (None, 1), labels((90, 1), 0, 1), MetricFacts("f1_score", "F1Score"), None),
        (
            "sparse_categorical_crossentropy",
            (None, 3),
            labels((90,), 0, 1, 2),
            MetricFacts("categorical_accuracy", "CategoricalAccuracy"),
            WARNING,
        ),
        (
            "sparse_categorical_crossentropy",
            (None, 3),
            labels((90,), 0, 1, 2),
            MetricFacts("precision", "Precision"),
            ERROR,
        ),
        (
            "sparse_categorical_crossentropy",
            (None, 3),
            labels((90,), 0, 1, 2),
            MetricFacts("own", "Precision", builtin=False),
            None,
        ),
    ],
)
def test_metrics_and_labels(
    loss: str, output: Shape, y: ArrayFacts, metric: MetricFacts, expected: Severity | None
) -> None:
    activation = {"binary_crossentropy": "sigmoid", "sparse_categorical_crossentropy": "softmax"}.get(
        loss, "linear"
    )
    facts = model(output, loss, dense(output[-1] or 1, activation), metrics=(metric,))
    judged = found(facts, data(y, trial=replace(WENT_THROUGH, metrics=Unknown("not tried"))))
    assert judged.get("FIT218", (None,))[0] is expected


def test_thresholds_on_logits_that_are_set_right() -> None:
    loss = loss_of("binary_crossentropy", from_logits=True)
    y = labels((90,), 0, 1)

    def judged(metric: MetricFacts) -> Severity | None:
        facts = model((None, 1), loss, dense(1), metrics=(metric,))
        return found(facts, data(y, trial=WENT_THROUGH)).get("FIT218", (None,))[0]

    assert judged(MetricFacts("auc", "AUC", settings=(("from_logits", "False"),))) is WARNING
    assert judged(MetricFacts("auc", "AUC", settings=(("from_logits", "True"),))) is None
    assert judged(MetricFacts("auc", "AUC")) is None
    assert judged(MetricFacts("p", "Precision", settings=(("thresholds", "(0,)"),))) is None
    assert judged(MetricFacts("accuracy", "accuracy")) is INFO


SAME_RANK = "must have the same rank (ndim). Received: "
SAME_SHAPE = "must have the same shape. Received: "
RANK_LESS = "must have rank (ndim) `target.ndim - 1`. Received: "

# --- failures -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "function", "expected"),
    [
        (SAME_RANK + "target.shape=(16,), output.shape=(16, 2)", "binary_crossentropy", "FIT205"),
        (SAME_RANK + "target.shape=(16,), output.shape=(16, 2)", "categorical_crossentropy", "FIT201"),
        (SAME_SHAPE + "target.shape=(16, 6), output.shape=(16, 5)", "categorical_crossentropy", "FIT205"),
        (RANK_LESS + "target.shape=(16, 4), output.shape=(16, 4)", "", "FIT202"),
        (RANK_LESS + "target.shape=(16,), output.shape=(16, 9, 4)", "", "FIT217"),
        ("Received a label value of 10 which is outside the valid range of [0, 10).", "", "FIT203"),
        ("`class_weight` is only supported for Models with a single output.", "", "FIT213"),
        ("You cannot `class_weight` and `sample_weight` at the same time.", "", "FIT214"),
        ("y_true and y_pred have different structures.\ny_true: *\ny_pred: ['*', '*']", "", "FIT216"),
        ("FBetaScore expects 2D inputs with shape (batch_size, output_dim).", "", "FIT218"),
        ("None values not supported.", "", "FIT215"),
    ],
)  # fmt: skip
def test_from_the_message_alone(message: str, function: str, expected: str) -> None:
    frames = (
        Frame("train.py", 7, "<module>", "model.fit(x, epochs=2)"),
        Frame("keras/src/backend/tensorflow/nn.py", 1, function or "call", library=True),
    )
    failure = FailureFacts("ValueError", message, frames=frames, called="fit", from_text=True)
    diagnosis = diagnose([Case(Moment.AFTER_FAILURE, {"FailureFacts": (failure,)})], select=["FIT2"])
    assert not diagnosis.crashes
    assert [finding.id for finding in diagnosis.findings] == [expected]


def test_labels_that_are_given_point_away_from_missing_labels() -> None:
    frames = (Frame("train.py", 7, "<module>", "model.fit(x, y, epochs=2)"),)
    failure = FailureFacts(
        "ValueError", "None values not supported.", frames=frames, called="fit", from_text=True
    )
    diagnosis = diagnose([Case(Moment.AFTER_FAILURE, {"FailureFacts": (failure,)})], select=["FIT215"])
    assert not diagnosis.findings


def test_an_index_in_the_model_is_no_class_weight() -> None:
    told = "indices[3] = 9 is not in [0, 9)"
    map_failure = FailureFacts(
        "InvalidArgumentError",
        told,
        f"Error in user-defined function passed to MapDataset:4: {told}",
        node="GatherV2",
    )
    model_failure = replace(map_failure, raw_message=told, node="sequential/embedding/GatherV2")
    for failure, expected in ((map_failure, ["FIT212"]), (model_failure, [])):
        diagnosis = diagnose([Case(Moment.AFTER_FAILURE, {"FailureFacts": (failure,)})], select=["FIT212"])
        assert [finding.id for finding in diagnosis.findings] == expected
