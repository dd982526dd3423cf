"""Moves findings to where the number or word that is wrong is written: a constant, an option, a file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from fitdoctor.diagnosis import Diagnosis, Edit, Evidence, Finding, Fix, Location, Origin
from fitdoctor.records import replace
from fitdoctor.runner.second_run import expression_at
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.written_numbers import (
    CONFIGURATIONS,
    KERAS,
    Written,
    default_behind,
    is_setting,
    makes_data,
    size_in,
    written,
    written_by_name,
    written_word,
)

_SIZED = ("shape", "range", "rank")
"""Aspects of data that a layer's size must match."""


def number_origins(diagnosis: Diagnosis, project: Project, arguments: Sequence[str]) -> tuple[Origin, ...]:
    """Return where the numbers behind a diagnosis are written, for findings at the call of a layer.

    Args:
        diagnosis: the findings.
        project: the user's source.
        arguments: those of the program's command line.
    """
    return tuple(_origins(diagnosis, project, arguments))


def _origins(diagnosis: Diagnosis, project: Project, arguments: Sequence[str]) -> Iterator[Origin]:
    from fitdoctor.catalogue import catalogue

    for finding in diagnosis.findings:
        cause = catalogue().get(finding.id)
        place = finding.location
        found = expression_at(project, place) if place is not None else None
        if (word := _at_its_word(project, finding, arguments)) is not None:
            yield word
        if place is None or found is None or cause is None or cause.aspect not in _SIZED:
            continue
        module, node = found
        size = None
        if module.resolve(getattr(node, "func", None)).startswith(KERAS):
            size = size_in(node) or _rewritten(project, module, finding, arguments)
        if isinstance(node, ast.Constant) or is_setting(node):
            size = node  # the default of an option, which the command line may replace, or a value of a file
        number = written(project, module, size, arguments) if size is not None else None
        if size is not None and number is None:
            numbers = {int(each) for each in re.findall(r"\d+", finding.message)}
            number = _default(module, size, finding) or written_by_name(project, size, numbers, arguments)
        if size is None or number is None or number.location == place:
            continue
        if number.location is not None and makes_data(project, number.location, arguments):
            continue  # the data is made for this number, too: then the number is not what is wrong
        set_by = f"`{number.text}` " + (f"({number.location})" if number.location else "on the command line")
        trail = Evidence(f"number: `{module.segment(size)}` ← {set_by}")
        fixes = _moved(finding, module, size, number.location, number.text) if number.location else ()
        yield Origin(finding.id, finding.subject, place, number.location or place, trail, fixes)


def _at_its_word(project: Project, finding: Finding, arguments: Sequence[str]) -> Origin | None:
    """Return where the word is written that the first fix replaces: the name of a loss, an activation, a metric."""
    edits = finding.fixes[0].edits if finding.fixes else ()
    found = expression_at(project, edits[0].location) if len(edits) == 1 else None
    new = _literal(edits[0].replacement) if found is not None else None
    if found is None or finding.location is None or type(new) is not str:
        return None
    module, node = found
    if not isinstance(node, (ast.Attribute, ast.Subscript)) or module.location(node) != edits[0].location:
        return None
    word = written_word(project, module, node, arguments)
    if word is None or word.location is None:
        return None
    spelt = edits[0].replacement
    if word.location.path.endswith(CONFIGURATIONS):
        before, quote = re.match(r"""(.*?)(["']?)[\w ]*["']?$""", word.text, re.DOTALL).groups()  # type: ignore[union-attr]
        spelt = f"{before}{quote}{new}{quote}"
    title = f"{finding.fixes[0].title}, where it is set"
    fixes = (replace(finding.fixes[0], title=title, edits=(Edit(word.location, spelt),)),)
    trail = Evidence(f"setting: `{module.segment(node)}` ← `{word.text}` ({word.location})")
    return Origin(finding.id, finding.subject, finding.location, word.location, trail, fixes)


def _rewritten(
    project: Project, module: Module, finding: Finding, arguments: Sequence[str]
) -> ast.expr | None:
    """Return the one element of a shape for which a fix writes another number than the program has."""
    for edit in (fix.edits[0] for fix in finding.fixes if len(fix.edits) == 1):
        found, new = expression_at(project, edit.location), _literal(edit.replacement)
        shape = found[1] if found is not None and found[0] is module else None
        if not isinstance(shape, ast.Tuple) or not isinstance(new, tuple) or len(new) != len(shape.elts):
            continue
        numbers = [written(project, module, each, arguments) for each in shape.elts]
        had = [re.search(r"-?\d+$", number.text) if number is not None else None for number in numbers]
        changed = [
            each
            for each, old, value in zip(shape.elts, had, new, strict=True)
            if not old or int(old[0]) != value
        ]
        if len(changed) == 1 and isinstance(changed[0], (ast.Name, ast.Attribute, ast.Subscript)):
            return changed[0]
    return None


def _default(module: Module, size: ast.expr, finding: Finding) -> Written | None:
    """Return the default of a parameter that has the number which the finding names."""
    default = default_behind(module, size)
    number = module.segment(default) if default is not None else ""
    if default is None or not re.search(rf"\b{number}\b", finding.message):
        return None
    return Written(f"{module.segment(size)}={number}", module.location(default))


def _moved(finding: Finding, module: Module, size: ast.expr, place: Location, text: str) -> tuple[Fix, ...]:
    """Return the fixes that write another number for a size, with the edit where the number is written."""
    old = re.search(r"-?\d+$", text)
    written_alone = place.path.endswith(CONFIGURATIONS) or (
        old is not None and place.end_column - place.column == len(old[0])
    )
    if old is None or not written_alone:
        return ()
    found = []
    for fix in finding.fixes:
        new = _new_number(module, size, fix.edits[0]) if len(fix.edits) == 1 else None
        if new is not None:
            spelt = text[: old.start()] if place.path.endswith(CONFIGURATIONS) else ""
            found.append(replace(fix, edits=(Edit(place, f"{spelt}{new}"),)))
    return tuple(found)


def _new_number(module: Module, size: ast.expr, edit: Edit) -> int | None:
    """Return the number that an edit writes for a size, alone or in a tuple whose other elements stay."""
    new = _literal(edit.replacement)
    if edit.location == module.location(size):
        return new if type(new) is int else None
    around = module.parent(size)
    if not isinstance(around, ast.Tuple) or edit.location != module.location(around):
        return None
    if not isinstance(new, tuple) or len(new) != len(around.elts):
        return None
    pairs = list(zip(around.elts, new, strict=True))
    sizes = {value for each, value in pairs if ast.dump(each) == ast.dump(size)}
    kept = all(each.value == value for each, value in pairs if isinstance(each, ast.Constant))
    only = next(iter(sizes))
    return only if kept and len(sizes) == 1 and type(only) is int else None


def _literal(text: str) -> object:
    """Return the value of a literal, None for other expressions."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return None
