"""A `call` that unpacks its inputs, and got a single tensor: `left, right = inputs`."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.graph.traced import function_at, module_of
from fitdoctor.catalogue.quoted import unpacked_argument
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.source.project import Project

_ITERATED = ("Iterating over a symbolic", "iterating over `tf.Tensor` is not allowed")


def unpacked_inputs(failure: FailureFacts, project: Project | Unknown) -> list[str]:
    """The names that the failing line of `call` takes its one argument apart into; empty for any other failure."""
    frame = failure.last_user_frame
    if frame is None or not any(words in failure.message for words in _ITERATED):
        return []
    if isinstance(project, Unknown):
        return unpacked_argument(failure)
    module = module_of(project, frame)
    function = function_at(module, frame.line, frame.cell) if module is not None else None
    if module is None or function is None or function.name != "call" or len(function.parameters) < 2:
        return []
    for node in module.nodes(ast.Assign):
        if module.function_of(node) is not function or module.location(node).line != frame.line:
            continue
        target = node.targets[0]
        given = isinstance(node.value, ast.Name) and node.value.id == function.parameters[1]
        if given and isinstance(target, (ast.Tuple, ast.List)):
            return [module.segment(element) for element in target.elts]
    return []
