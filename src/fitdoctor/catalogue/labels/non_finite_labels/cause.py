"""NaN or infinite values in the labels.

## What happens

Training runs, but from the first batch that contains such a label the loss is `nan`. The gradient of that batch
turns the weights into NaN, and with them every later batch. Nothing raises.

## Why

A column with missing values, a shifted or differenced series whose ends have no neighbor, a left join without a
match, the logarithm of a negative number, or a division by zero. A sample weight of 0 does not help: 0 × NaN is NaN.

## Fix

Drop the rows without a label, or fill them if a filled label makes sense.

## Known limits

Only built-in losses are checked; a custom loss may handle NaN. Labels from a dataset or a generator are known only
as far as they were read.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.data.frame_edits import select_rows, with_whole_rows
from fitdoctor.catalogue.knowledge.data.logarithms import of_one_more
from fitdoctor.catalogue.knowledge.data.value_changes import maker_of_nonfinite
from fitdoctor.catalogue.knowledge.labels.targets import targets
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import unsafe
from fitdoctor.facts import ArrayFacts, DataFacts, FitFacts, ModelFacts, Statistics, Unknown
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT206",
    slug="non-finite-labels",
    severity=Severity.WARNING,
    aspect="non-finite",
    explains=("FIT001", "FIT211"),
)


@CAUSE.before_fit
def from_data(
    model: ModelFacts | Unknown, fit: FitFacts, data: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report NaN or infinite labels for a built-in loss."""
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
                (statistics.nan, f"{statistics.nan:,} NaN"),
                (statistics.inf, f"{statistics.inf:,} infinite"),
            )
            if count
        )
        step = maker_of_nonfinite(project, data, labels, statistics)
        whose = "labels" if data.role == "training" else "validation labels"
        # Without a model, the loss is unknown.
        yield CAUSE.finding(
            f"the {whose} contain {what} value{'s' * (statistics.nan + statistics.inf != 1)}: the loss becomes NaN",
            place(step.location if step else None, labels.code, labels.use, data.code),
            Evidence(
                f"the first is at index {_index(statistics)}",
                f"{what} in {statistics.count:,} rows",
                "finite numbers",
                fact="data.y.statistics",
                location=place(labels.use, labels.code),
            ),
            *of_one_more(step, statistics, labels=True),
            *_fixes(project, fit, data, labels, bool(statistics.inf), step.location if step else None),
            subject=whose,
            confidence=Confidence.LIKELY if scanned else Confidence.CERTAIN,
        )


def _judged_by_keras(model: ModelFacts, data: DataFacts) -> Iterator[ArrayFacts]:
    """Yield the labels that a built-in loss compares."""
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


def _fixes(
    project: Project,
    fit: FitFacts,
    data: DataFacts,
    labels: ArrayFacts,
    infinite: bool,
    made: Location | None,
) -> list[Fix]:
    """Drop the rows, either from the table they come from or from the arguments of fit."""
    title = "drop the rows without a label"
    whole = with_whole_rows(project, data, infinite, labels, made)
    flat = isinstance(labels.shape, tuple) and len(labels.shape) == 1
    finite = "np.isfinite({})" if flat else "np.isfinite({}).all(axis=1)"
    selected = select_rows(project, fit, data, "labelled", finite)
    found = [unsafe(title, edits) for edits in (whole, selected) if edits]
    return found or [unsafe(title)]
