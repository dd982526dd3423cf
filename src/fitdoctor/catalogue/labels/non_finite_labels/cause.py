"""NaN or infinite values among the labels.

## What happens

Training runs, and from the first batch that holds such a label the loss is `nan`. The gradient of that batch turns the
weights into NaN, and every later batch with them. Nothing raises.

## Why

A column with missing values, a shifted or differenced series whose ends have no neighbour, a left join that found no
partner, the logarithm of a negative number, a division by zero. A sample weight of 0 does not help: 0 × NaN is NaN.

## Fix

Drop the rows without a label, or fill them where a filled label means something.

## Known limits

A loss of your own may know what to do with NaN, so that only the losses of Keras are judged. Of datasets and
generators only what was looked at is known.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.label_edits import is_from_pipeline
from fitdoctor.catalogue.targets import targets
from fitdoctor.catalogue.value_changes import maker_of_nonfinite
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Severity
from fitdoctor.edits import insert_before, spell, unsafe
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FitFacts, ModelFacts, Statistics, Unknown
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT206", slug="non-finite-labels", severity=Severity.WARNING, explains=("FIT001", "FIT211"))


@CAUSE.before_fit
def from_data(
    model: ModelFacts | Unknown, fit: FitFacts, data: DataFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """A label that was seen is NaN or infinite, and the loss is one of Keras."""
    scanned = isinstance(model, Unknown)
    if isinstance(model, Unknown) and fit.method != "scan":
        return
    for labels in data.y if isinstance(model, Unknown) else _judged_by_keras(model, data):
        statistics = labels.statistics
        if not isinstance(statistics, Statistics) or not (statistics.nan or statistics.inf):
            continue
        what = " and ".join(
            words
            for count, words in (
                (statistics.nan, f"{statistics.nan} NaN"),
                (statistics.inf, f"{statistics.inf} infinite"),
            )
            if count
        )
        step = maker_of_nonfinite(project, data, labels, statistics)
        whose = "labels" if data.role == "training" else "validation labels"
        yield CAUSE.finding(
            f"{what} value{'s' * (statistics.nan + statistics.inf != 1)} among the {whose}: the loss becomes NaN",
            subject="labels",
            location=place(step.location if step else None, labels.code, labels.use, data.code),
            evidence=[
                Evidence(
                    claim=f"the first stands at index {_index(statistics)}",
                    observed=f"{what} in {statistics.count} rows",
                    expected="finite numbers",
                    fact="data.y.statistics",
                    location=place(labels.use, labels.code),
                )
            ],
            fixes=[unsafe("leave out the rows without a label", _without_rows(fit, data, labels))],
            # Without a model, its loss is not known.
            confidence=Confidence.LIKELY if scanned else Confidence.CERTAIN,
        )


def _judged_by_keras(model: ModelFacts, data: DataFacts) -> Iterator[ArrayFacts]:
    """The labels that a loss of Keras compares."""
    found = list(targets(model, data))
    for target in found:
        if target.loss_name and target.labels is not None:
            yield target.labels
    own = {"train_step", "compute_loss"} & set(model.overrides)
    if not found and not own and model.losses and all(loss.kind == "builtin" for loss in model.losses):
        yield from data.y


def _index(statistics: Statistics) -> str:
    place = statistics.first_nonfinite or ()
    return str(place[0]) if len(place) == 1 else str(place)


def _without_rows(fit: FitFacts, data: DataFacts, labels: ArrayFacts) -> tuple[Edit, ...]:
    """Select the labelled rows of x and y right before fit, where both are plain arrays with names of their own."""
    if data.form != "arrays" or data.role != "training" or len(data.x) != 1 or len(data.y) != 1:
        return ()
    if "validation_data" in fit.given:
        return ()  # its labels come from the same place and would have to follow
    x, y = data.x[0].use, labels.use
    if (
        not isinstance(x, Code)
        or not isinstance(y, Code)
        or is_from_pipeline(labels, data)
        or data.sample_weight
    ):
        return ()
    if not (x.text.isidentifier() and y.text.isidentifier()) or not isinstance(labels.shape, tuple):
        return ()
    if len(labels.shape) != 1 or x.text == y.text:
        return ()
    numpy, imports = spell(fit.code, "numpy", "np")
    indent = fit.code.indent if isinstance(fit.code, Code) else ""
    select = f"{x.text}, {y.text} = {x.text}[labelled], {y.text}[labelled]"
    edits = insert_before(fit.code, f"labelled = {numpy}.isfinite({y.text})\n{indent}{select}")
    return (*edits, *imports) if edits else ()
