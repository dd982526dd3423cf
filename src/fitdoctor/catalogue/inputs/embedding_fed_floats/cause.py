"""Embedding that receives scaled or negative ids.

## What happens

Nothing raises. An Embedding casts its input to integers. Ids scaled to 0..1 therefore all become row 0 (and one of
them row 1), so every word is the same word. An id of -1 wraps around to the last row, which belongs to a real word.

## Why

All features, including the ids, went through one scaler or one division; or sequences were padded with -1.

## Fix

Keep the ids as integers and scale only the measurements. Pad with 0, start the ids at 1, and set `mask_zero=True`.

## Known limits

Integer values of a float dtype are fine. For a subclassed model, the lookup is known only if `call` passes its
argument, or a part of it, directly to the Embedding.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.inputs.column_lists import column_list, columns_behind, loops_over
from fitdoctor.catalogue.inputs.embeddings import Lookup, lookups
from fitdoctor.catalogue.knowledge.data.data_trail import Link, nearest, trail
from fitdoctor.catalogue.knowledge.data.generator_sources import expression_of
from fitdoctor.catalogue.knowledge.data.value_changes import (
    becomes_whole,
    makes_negative,
    padded_with_zero,
    pads_below_zero,
    scales,
    shifts,
)
from fitdoctor.catalogue.words import joined, number, place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import DataFacts, FitFacts, ModelFacts, Statistics
from fitdoctor.records import replace
from fitdoctor.source.line_edits import delete_lines
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT115", slug="embedding-fed-floats", severity=Severity.WARNING, aspect="fractions")

PAD_WITH_ZERO = "pad with 0, the id that the Embedding masks"


@CAUSE.in_source
@CAUSE.before_fit
@mentions("Embedding")
def from_data(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report fractions or negative numbers used as ids."""
    if fit.method not in ("fit", "train_on_batch") or data.role != "training":
        return
    found = list(lookups(model, data, project))
    scaled = [each for each in found if each.statistics is not None and not each.statistics.integral]
    for lookup in found:
        statistics = lookup.statistics
        if statistics is None:
            yield from _from_source(lookup, data, project)
        elif not statistics.integral and statistics.minimum is not None:
            step = nearest(trail(project, data, lookup.array), scales)
            yield replace(_fractions(lookup, statistics, step, scaled), confidence=Confidence.CERTAIN)
        elif statistics.minimum is not None and statistics.minimum < 0:
            step = nearest(trail(project, data, lookup.array), makes_negative)
            made = (step.module, step.node) if step is not None else expression_of(project, lookup.array.code)
            yield replace(_negative(lookup, statistics, step, made), confidence=Confidence.CERTAIN)


def _from_source(lookup: Lookup, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report ids whose last transformation is a scaler, a division or negative padding."""
    for link in trail(project, data, lookup.array):
        if pads_below_zero(link):
            yield _padded(lookup, link)
            return
        if becomes_whole(link) or shifts(link) or link.distance > 8:
            return
        if scales(link):
            yield _finding(
                lookup,
                f"the ids of the Embedding `{lookup.layer.name}` are scaled, but it truncates them to integers",
                link,
                Evidence("the ids are scaled here", link.module.segment(link.node)[:80], "integers"),
                [_keep_whole([lookup], link)],
            )
            return


def _padded(lookup: Lookup, link: Link) -> Finding:
    return _finding(
        lookup,
        f"the ids of the Embedding `{lookup.layer.name}` are padded with a negative number, "
        "which wraps around to one of its last rows",
        link,
        Evidence("the ids are padded here", link.module.segment(link.node)[:80], "padding with 0"),
        [_keep_zero_for_padding(lookup, (link.module, link.node))],
    )


def _keep_zero_for_padding(lookup: Lookup, made: tuple[Module, ast.AST] | None) -> Fix:
    if lookup.layer.setting("mask_zero") == "True":
        edits = padded_with_zero(*made) if made is not None else ()
        return unsafe(PAD_WITH_ZERO, edits)
    return fix("add 1 to the ids, pad with 0, and set `mask_zero=True`")


def _fractions(lookup: Lookup, statistics: Statistics, step: Link | None, scaled: list[Lookup]) -> Finding:
    low, high = number(statistics.minimum or 0), number(statistics.maximum or 0)
    rows = int(statistics.maximum or 0) - int(statistics.minimum or 0) + 1
    return _finding(
        lookup,
        f"`{lookup.array.path}` contains fractions from {low} to {high}, which the Embedding `{lookup.layer.name}` "
        f"truncates to integers: it uses at most {rows:,} of its {f'{lookup.rows:,}' if lookup.rows else 'many'} rows",
        _listed(step, _columns(scaled)) or step,
        Evidence(
            f"ids in `{lookup.array.path}`",
            f"fractions in {low}..{high}",
            f"integers in 0..{(lookup.rows or 1) - 1}",
            fact="data.x.statistics",
        ),
        [_keep_whole(scaled, step)],
    )


def _keep_whole(scaled: list[Lookup], step: Link | None) -> Fix:
    paths = joined([f"`{each.array.path}`" for each in scaled])
    title = f"keep the ids in {paths} as integers and scale only the other features"
    return unsafe(title, _unscaled(step, _columns(scaled)) if step is not None else ())


def _columns(scaled: list[Lookup]) -> set[str]:
    return {name for each in scaled for name in columns_behind(each.array)}


def _listed(step: Link | None, columns: set[str]) -> Link | None:
    """Return the list of columns that are scaled together, if those of the ids can leave it."""
    together = column_list(step.module, step.node, columns) if step is not None else None
    if step is None or together is None or not together.without(columns):
        return None
    return replace(step, module=together.module, node=together.node)


def _unscaled(step: Link, columns: set[str]) -> tuple[Edit, ...]:
    """Replace `ids / 50` and `scaler.fit_transform(ids)` by `ids`; delete `ids /= 50`.

    Where several columns of a table are scaled together, those of the ids leave their list.
    """
    module, node = step.module, step.node
    together = column_list(module, node, columns)
    if together is not None and (edits := together.without(columns)):
        return edits
    if loops_over(module, node):
        return ()  # it scales the other columns as well
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


def _negative(
    lookup: Lookup, statistics: Statistics, step: Link | None, made: tuple[Module, ast.AST] | None
) -> Finding:
    least = number(statistics.minimum or 0)
    last = (lookup.rows or 0) + int(statistics.minimum or 0)
    return _finding(
        lookup,
        f"`{lookup.array.path}` contains the id {least}, which the Embedding `{lookup.layer.name}` "
        f"wraps around to row {last:,}",
        step,
        Evidence(
            f"ids in `{lookup.array.path}`",
            f"{least}..{number(statistics.maximum or 0)}",
            f"0..{(lookup.rows or 1) - 1}",
            fact="data.x.statistics",
        ),
        [_keep_zero_for_padding(lookup, made)],
    )


def _finding(
    lookup: Lookup,
    message: str,
    step: Link | None,
    evidence: Evidence,
    fixes: list[Fix],
) -> Finding:
    return CAUSE.finding(
        message,
        place(step.location if step else None, lookup.array.code, lookup.array.use),
        evidence,
        Evidence("the Embedding is created here", location=place(lookup.layer.code)),
        *fixes,
        subject=f"ids of {lookup.layer.name}",
    )
