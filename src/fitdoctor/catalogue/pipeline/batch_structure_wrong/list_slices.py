"""`from_tensor_slices([x, y])`: TensorFlow converts the list to one tensor, so inputs and labels are stacked, not paired."""

from __future__ import annotations

import ast

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.data.batch_edits import as_tuple
from fitdoctor.catalogue.knowledge.data.generator_sources import expression_of
from fitdoctor.diagnosis import Confidence, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.facts import Code, Unknown
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

WORDS = "the parts of the dataset are in a list, which TensorFlow converts to a single tensor"
REMEDY = fix("pass the parts as a tuple")


def list_of_arrays(project: Project | Unknown, code: Code | Unknown) -> tuple[Module, ast.List] | None:
    """Return the list of two or three arrays passed to `from_tensor_slices`."""
    found = expression_of(project, code)
    if found is None or not isinstance(found[1], ast.Call):
        return None
    made = sliced(found[0], found[1])
    plain = made is not None and all(isinstance(part, (ast.Name, ast.Attribute)) for part in made.elts)
    return (found[0], made) if made is not None and plain and len(made.elts) in (2, 3) else None


def sliced(module: Module, call: ast.Call) -> ast.List | None:
    """Return the list passed to the call."""
    given = argument_of(call, "tensors", 0)
    made = module.made_by(given) if given is not None else None
    return made if isinstance(made, ast.List) else None


def told(cause: Cause, module: Module, made: ast.List, confidence: Confidence) -> Finding:
    """Return the finding at the list."""
    return cause.finding(
        WORDS,
        module.location(made),
        Evidence("argument", f"list of {len(made.elts)}", "a tuple"),
        fix(REMEDY.title, (as_tuple(module, made),)),
        subject="training dataset",
        confidence=confidence,
    )
