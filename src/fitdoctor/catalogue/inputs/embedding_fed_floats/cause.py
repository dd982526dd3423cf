"""An Embedding that gets scaled or negative ids.

## What happens

Nothing raises. An Embedding casts what it gets to integers: ids that were scaled to 0..1 all become row 0
(and one row 1), so every word is the same word. An id of -1 wraps around to the last row, which is some real
word's.

## Why

All features went through one scaler, or through one division, the ids with them; or sequences were padded
with -1.

## Fix

Keep the ids whole: scale only what is measured. Pad with 0, let the ids begin at 1, and say `mask_zero=True`.

## Known limits

Whole numbers of a float type are fine. What a subclassed model looks up is known only where its `call` hands
its argument, or a part of it, to the Embedding directly.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.inputs.data_trail import Link, nearest, trail
from fitdoctor.catalogue.inputs.embeddings import Lookup, lookups
from fitdoctor.catalogue.inputs.value_changes import (
    becomes_whole,
    makes_negative,
    pads_below_zero,
    scales,
    shifts,
)
from fitdoctor.catalogue.words import number, place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import DataFacts, FitFacts, ModelFacts, Statistics, Unknown
from fitdoctor.source.line_edits import delete_lines
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT115", slug="embedding-fed-floats", severity=Severity.WARNING)


@CAUSE.in_source
@CAUSE.before_fit
@mentions("Embedding")
def from_data(
    model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """Fractions or negative numbers were seen where ids belong."""
    if fit.method not in ("fit", "train_on_batch") or data.role != "training":
        return
    for lookup in lookups(model, data, project):
        statistics = lookup.statistics
        if statistics is None:
            yield from _from_source(lookup, data, project)
        elif not statistics.integral and statistics.minimum is not None:
            step = nearest(trail(project, data, lookup.array), scales)
            yield _fractions(lookup, statistics, step)
        elif statistics.minimum is not None and statistics.minimum < 0:
            step = nearest(trail(project, data, lookup.array), makes_negative)
            yield _negative(lookup, statistics, step)


def _from_source(lookup: Lookup, data: DataFacts, project: Project | Unknown) -> Iterator[Finding]:
    """The last thing that was done to the ids is a scaler, a division, or padding with a negative number."""
    for link in trail(project, data, lookup.array):
        if pads_below_zero(link):
            yield _padded(lookup, link)
            return
        if becomes_whole(link) or shifts(link) or link.distance > 8:
            return
        if scales(link):
            yield _finding(
                lookup,
                f"the ids of the Embedding `{lookup.layer.name}` are scaled: it casts the fractions to whole numbers",
                link,
                Evidence("the ids go through this", link.module.segment(link.node)[:80], "whole numbers"),
                [_keep_whole(lookup, link)],
                Confidence.LIKELY,
            )
            return


def _padded(lookup: Lookup, link: Link) -> Finding:
    return _finding(
        lookup,
        f"the ids of the Embedding `{lookup.layer.name}` are padded with a negative number, which it reads as a row "
        "counted from its end",
        link,
        Evidence("the ids are padded here", link.module.segment(link.node)[:80], "padding with 0"),
        [_keep_zero_for_padding()],
        Confidence.LIKELY,
    )


def _keep_zero_for_padding() -> Fix:
    return fix("shift the ids by 1, keep 0 for padding, and say `mask_zero=True`")


def _fractions(lookup: Lookup, statistics: Statistics, step: Link | None) -> Finding:
    low, high = number(statistics.minimum or 0), number(statistics.maximum or 0)
    rows = int(statistics.maximum or 0) - int(statistics.minimum or 0) + 1
    return _finding(
        lookup,
        f"`{lookup.array.path}` holds fractions from {low} to {high}, which the Embedding `{lookup.layer.name}` "
        f"casts to whole numbers: at most {rows} of its {lookup.rows or 'many'} rows are ever used",
        step,
        Evidence(
            claim=f"ids in `{lookup.array.path}`",
            observed=f"fractions in {low}..{high}",
            expected=f"whole numbers in 0..{(lookup.rows or 1) - 1}",
            fact="data.x.statistics",
        ),
        [_keep_whole(lookup, step)],
        Confidence.CERTAIN,
    )


def _keep_whole(lookup: Lookup, step: Link | None) -> Fix:
    title = f"leave the ids of `{lookup.array.path}` as whole numbers: scale only the other features"
    return unsafe(title, _unscaled(step) if step is not None else ())


def _unscaled(step: Link) -> tuple[Edit, ...]:
    """`ids` for `ids / 50` and for `scaler.fit_transform(ids)`; `ids /= 50` goes."""
    module, node = step.module, step.node
    if isinstance(node, ast.AugAssign):
        return (delete_lines(module, node),)
    whole: ast.expr | None = None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        whole = node.left
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
        whole = node.args[0] if node.func.attr in ("fit_transform", "transform") else None
    if whole is None:
        return ()
    statement, text = module.statement(node), module.segment(whole)
    if isinstance(statement, ast.Assign) and statement.value is node:
        if [module.segment(target) for target in statement.targets] == [text]:
            return (delete_lines(module, statement),)
    return (Edit(module.location(node), text),)


def _negative(lookup: Lookup, statistics: Statistics, step: Link | None) -> Finding:
    least = number(statistics.minimum or 0)
    last = (lookup.rows or 0) + int(statistics.minimum or 0)
    return _finding(
        lookup,
        f"`{lookup.array.path}` holds the id {least}, which the Embedding `{lookup.layer.name}` "
        f"reads as its row {last}",
        step,
        Evidence(
            claim=f"ids in `{lookup.array.path}`",
            observed=f"{least}..{number(statistics.maximum or 0)}",
            expected=f"0..{(lookup.rows or 1) - 1}",
            fact="data.x.statistics",
        ),
        [_keep_zero_for_padding()],
        Confidence.CERTAIN,
    )


def _finding(
    lookup: Lookup,
    message: str,
    step: Link | None,
    evidence: Evidence,
    fixes: list[Fix],
    confidence: Confidence,
) -> Finding:
    return CAUSE.finding(
        message,
        subject=f"ids of {lookup.layer.name}",
        location=place(step.location if step else None, lookup.array.code, lookup.array.use),
        evidence=[evidence, Evidence("the Embedding is made here", location=place(lookup.layer.code))],
        fixes=fixes,
        confidence=confidence,
    )
