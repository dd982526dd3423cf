"""Edits that make an `output_signature` match what a generator was seen to yield."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from fitdoctor.catalogue.pipeline.generator_signature_mismatch.generator_signatures import signature_call
from fitdoctor.catalogue.words import shape_words
from fitdoctor.diagnosis import Edit
from fitdoctor.edits import spell
from fitdoctor.facts import ArrayFacts, Code, Unknown
from fitdoctor.records import replace
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

Structure = ArrayFacts | dict[str | int, "Structure"]
"""An array, or a structure with names (dict) or positions (tuple) as keys."""

_STEP = re.compile(r"\[(?:'([^']*)'|(\d+))\]")
_TYPES = re.compile(r"u?int(?:8|16|32|64)|float(?:16|32)|bool")


def declared_as_yielded(
    project: Project | Unknown, made: Code | Unknown, yielded: Sequence[ArrayFacts]
) -> tuple[Edit, ...]:
    """Declare every yielded part in its structure; keep existing declarations."""
    chosen = signature_call(project, made)
    given = argument_of(chosen[1], "output_signature") if chosen is not None else None
    structure = _structure(yielded)
    if chosen is None or given is None or structure is None:
        return ()
    module = chosen[0]
    node = module.made_by(given)
    tf, imports = spell(module.code(node), "tensorflow", "tf")
    edits = list(_changes(module, node, structure, tf))
    return (*edits, *imports) if edits and all(edits) else ()


def _structure(yielded: Sequence[ArrayFacts]) -> Structure | None:
    """Return the parts at the places that their paths name, or None if a part is not an array of a known dtype."""
    found: dict[str | int, Structure] = {}
    for part in yielded:
        if not part.path.startswith("element") or not _type_of(part) or isinstance(part.shape, Unknown):
            return None
        steps = [name or int(index or 0) for name, index in _STEP.findall(part.path)]
        if part.path != "element" + "".join(f"[{step!r}]" for step in steps):
            return None
        if not steps:
            return part
        level = found
        for step in steps[:-1]:
            inner = level.setdefault(step, {})
            if isinstance(inner, ArrayFacts):
                return None
            level = inner
        level[steps[-1]] = part
    return found or None


def _changes(module: Module, node: ast.expr, structure: Structure, tf: str) -> Iterator[Edit]:
    """Return the edits where the declaration differs from the yielded structure."""
    if isinstance(structure, ArrayFacts):
        if isinstance(node, (ast.Tuple, ast.Dict)):
            yield Edit(module.location(node), _spec(structure, tf))
        return
    declared = _declared(node)
    if declared is None or not declared or not set(declared) <= set(structure):
        yield Edit(module.location(node), _text(structure, tf))
        return
    for key, part in declared.items():
        yield from _changes(module, part, structure[key], tf)
    missing = {key: part for key, part in structure.items() if key not in declared}
    if missing:
        last = module.location(list(declared.values())[-1])
        end = replace(last, line=last.end_line, column=last.end_column)
        yield Edit(end, ", " + ", ".join(_entries(missing, tf)))


def _declared(node: ast.expr) -> dict[str | int, ast.expr] | None:
    """Return the declarations by key, or None for a single spec or if the keys are not literal."""
    if isinstance(node, ast.Tuple):
        return dict(enumerate(node.elts))
    if not isinstance(node, ast.Dict):
        return None
    keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
    named = [key for key in keys if isinstance(key, str)]
    return dict(zip(named, node.values, strict=True)) if len(named) == len(keys) else None


def _text(structure: Structure, tf: str) -> str:
    if isinstance(structure, ArrayFacts):
        return _spec(structure, tf)
    entries = ", ".join(_entries(structure, tf))
    if all(isinstance(key, str) for key in structure):
        return f"{{{entries}}}"
    return f"({entries},)" if len(structure) == 1 else f"({entries})"


def _entries(structure: dict[str | int, Structure], tf: str) -> Iterator[str]:
    for key, part in structure.items():
        yield f'"{key}": {_text(part, tf)}' if isinstance(key, str) else _text(part, tf)


def _spec(part: ArrayFacts, tf: str) -> str:
    assert not isinstance(part.shape, Unknown)
    return f"{tf}.TensorSpec(shape={shape_words(part.shape)}, dtype={tf}.{_type_of(part)})"


def _type_of(part: ArrayFacts) -> str:
    """Return the dtype for a part: float32 for Python and NumPy floats, "" for none."""
    name = part.dtype if isinstance(part.dtype, str) else ""
    if name == "float64":
        return "float32"
    if name in ("str", "bytes") or name.startswith(("<U", "|S")):
        return "string"
    return name if _TYPES.fullmatch(name) else ""
