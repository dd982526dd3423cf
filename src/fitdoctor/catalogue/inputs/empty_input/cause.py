"""No samples.

## What happens

With arrays of no rows fit returns, says at most that the input ran out of data, and has trained nothing: the
history is empty and every weight is as it was. (Keras 2 raised `Expected input data to be non-empty`.)

## Why

A filter matched nothing (`"North"` against `"north"`), `dropna` met a column that is empty throughout, a
pattern found no files.

## Fix

Look at the number of rows after the step that is named, and correct its condition.

## Known limits

Which step emptied the data is read from the source. A dataset that gives no batches is a cause of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.inputs.data_trail import Link, trail
from fitdoctor.catalogue.inputs.row_changes import row_change
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import ArrayFacts, DataFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT114",
    slug="empty-input",
    severity=Severity.WARNING,
    explains=("FIT705",),
)


@CAUSE.before_fit
def from_data(
    model: ModelFacts | Unknown, fit: FitFacts, data: DataFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """The arrays have no rows."""
    if data.form != "arrays" or data.samples != 0 or fit.method not in ("fit", "train_on_batch", "scan"):
        return
    if isinstance(model, Unknown) and fit.method != "scan":
        return
    array = next((part for part in data.x if isinstance(part.shape, tuple) and part.shape[:1] == (0,)), None)
    if array is None:
        return
    step = _emptying(project, data, array)
    what = "" if step is None else " ".join(step.module.segment(step.node).split())[:60]
    validation = data.role == "validation"
    yield CAUSE.finding(
        f"`{array.path}` has no samples: "
        + ("nothing is validated" if validation else "fit returns without having trained"),
        subject=f"{data.role} data",
        location=place(step.location if step else None, array.code, array.use),
        evidence=[
            Evidence(
                f"samples of `{array.path}`", "0", "at least 1", "data.samples", place(array.code, array.use)
            ),
            *([Evidence("this step may have left nothing", what, location=step.location)] if step else []),
        ],
        fixes=[
            fix(f"check what `{what}` leaves, and correct its condition")
            if what
            else fix("check where the rows get lost, and stop when there are none")
        ],
        severity=Severity.ERROR
        if isinstance(model, ModelFacts) and model.keras == 2 and not validation
        else Severity.WARNING,
        confidence=Confidence.CERTAIN,
    )


def _emptying(project: Project | Unknown, data: DataFacts, array: ArrayFacts) -> Link | None:
    """The nearest step that drops rows by what they hold, or lists files; else the nearest slice."""
    links = list(trail(project, data, array))
    for wanted in (("drop", "listing"), ("slice",)):
        for link in links:
            if row_change(link) in wanted:
                return link
    return None
