"""Data without samples.

## What happens

With arrays of zero rows, `fit` returns without training: it reports at most that the input ran out of data, the
history is empty and the weights are unchanged. (Keras 2 raised `Expected input data to be non-empty`.)

## Why

A filter matches nothing (`"North"` instead of `"north"`), `dropna` is applied to a table with an all-empty column,
or a glob pattern finds no files. Or `validation_split=20`: it is a fraction of the samples, not a percentage.

## Fix

Check the number of rows after the reported step, and correct its condition.

A single batch without samples raises: `generator yielded an element of shape (0,) where an element of shape (None,
25) was expected`. The slice that selects its samples ends before it starts.

## Known limits

The step that emptied the data is found by reading the source. A dataset without batches is a separate cause.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.inputs.row_changes import row_change
from fitdoctor.catalogue.knowledge.data.data_trail import Link, trail
from fitdoctor.catalogue.knowledge.data.generator_sources import batches_behind, own_nodes
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.source.module import FunctionInfo
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT114", slug="empty-input", severity=Severity.WARNING, aspect="empty", explains=("FIT705",)
)


@CAUSE.before_fit
def from_data(
    model: ModelFacts | Unknown, fit: FitFacts, data: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report arrays without rows."""
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
    yield CAUSE.certain(
        f"`{array.path}` has no samples: "
        + ("nothing is validated" if validation else "`fit` returns without training"),
        place(step.location if step else None, array.code, array.use),
        Evidence(
            f"samples of `{array.path}`", "0", "at least 1", "data.samples", place(array.code, array.use)
        ),
        *([Evidence("this step probably removed all rows", what, location=step.location)] if step else []),
        fix(f"check how many rows `{what}` keeps, and correct its condition")
        if what
        else fix("check which step removes the rows, and stop if none are left"),
        subject=f"{data.role} data",
        severity=Severity.ERROR
        if isinstance(model, ModelFacts) and model.keras == 2 and not validation
        else Severity.WARNING,
    )


@CAUSE.in_source
@mentions("validation_split")
@CAUSE.before_fit
def from_split(model: ModelFacts, fit: FitFacts) -> Iterator[Finding]:
    """Report a percentage passed as `validation_split`."""
    share = fit.validation_split
    if share <= 1:
        return
    given = fit.code.argument("validation_split", 6) if isinstance(fit.code, Code) else None
    edits = (Edit(given.location, f"{share / 100:g}"),) if given is not None and share <= 100 else ()
    yield CAUSE.certain(
        f"`validation_split` is {share:g}, but it must be a fraction below 1: no samples are left to train on",
        place(given.location if given is not None else None, fit.code),
        Evidence("validation_split", f"{share:g}", "between 0 and 1", "fit.validation_split"),
        fix("write the percentage as a fraction", edits),
        subject="argument validation_split",
        severity=Severity.ERROR if model.keras == 2 else Severity.WARNING,
    )


def _emptying(project: Project, data: DataFacts, array: ArrayFacts) -> Link | None:
    """Return the nearest step that filters rows or lists files, else the nearest slice."""
    links = list(trail(project, data, array))
    for wanted in (("drop", "listing"), ("slice",)):
        for link in links:
            if row_change(link) in wanted:
                return link
    return None


_EMPTY_BATCH = re.compile(
    r"`generator` yielded an element of shape \(0,[^)]*\) where an element of shape \((?:None|\d+), "
)


@CAUSE.after_failure
def from_failure(failure: FailureFacts, data: DataFacts | Unknown, project: Project) -> Iterator[Finding]:
    """Report a later batch without samples; TensorFlow reports only a different shape."""
    if not _EMPTY_BATCH.search(failure.message + failure.raw_message):
        return
    code = data.code if isinstance(data, DataFacts) else Unknown("the data is unknown")
    chosen = next((slice_of(*batch) for batch in batches_behind(project, code)), None)
    yield CAUSE.certain(
        "a batch after the first has no samples",
        place(chosen, code, failure.location),
        Evidence("samples in that batch", "0", "at least 1"),
        *([Evidence("this slice selects the samples", location=chosen)] if chosen else []),
        fix("select the batch with `i * size : (i + 1) * size`, for `len // size` batches"),
        subject="batches",
        severity=Severity.ERROR,
    )


def slice_of(function: FunctionInfo, given: ast.expr) -> Location:
    """Return the first slice that depends on a parameter, else what the function returns."""
    module, names = function.module, set(function.parameters[1:])
    slices = [
        node
        for node in own_nodes(function)
        if isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Slice)
        and any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node.slice))
    ]
    return module.location(min(slices, key=lambda node: node.lineno) if slices else given)


CAUSE.message(
    r"'ProgbarLogger' object has no attribute 'log_values'",
    "`fit` ran no batch: the data has no samples, or fewer than one batch",
    "check that the arrays passed to `fit` are not empty",
    subject="data",
    types=("AttributeError",),
    confidence=Confidence.CERTAIN,
)
CAUSE.message(
    r"local variable 'index_array' referenced before assignment",
    "`fit` finds no samples to count in the data",
    "check that the data is not empty, and that it consists of arrays",
    subject="data",
    types=("UnboundLocalError",),
    raised_in=("fit_loop",),
)
