"""Merging layers called with separate tensors: `Add()(a, b)` instead of `Add()([a, b])`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.failed_line import at_frame, module_of, raised_here
from fitdoctor.source.keras_names import snake_case
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

MERGING = ("Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract")
FUNCTIONS = tuple(snake_case(name) for name in MERGING)
_MAKERS = tuple(f"keras.layers.{name}" for name in MERGING)
_CALLED = tuple(f"keras.layers.{name}" for name in FUNCTIONS)
_REFUSED = ("too many positional arguments", "positional argument")


def called_one_by_one(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report calls of merging layers, and of their functions, with several tensors."""
    for node, name in _calls(module):
        yield _finding(cause, module, node, name, Confidence.LIKELY, [])


def refused(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain an error about the number of arguments on a line with such a call."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if frame is None or module is None or failure.type not in ("TypeError", "ValueError"):
        return
    if failure.type == "TypeError" and not any(words in failure.message for words in _REFUSED):
        return
    for node, name in _calls(module):
        if at_frame(module, node, frame):
            yield _finding(cause, module, node, name, Confidence.CERTAIN, [raised_here(failure)])
            return


def _calls(module: Module) -> Iterator[tuple[ast.Call, str]]:
    # Skip files that create no merging layer: a called layer is not identifiable by name.
    for site in module.calls if module.calls_to(*_MAKERS) else module.calls_to(*_CALLED):
        node, given = site.node, site.node.args
        if len(given) < 2 or any(isinstance(one, (ast.Starred, ast.List, ast.Tuple)) for one in given):
            continue
        home, _, name = site.name.rpartition(".")
        if home == "keras.layers" and name in FUNCTIONS:
            # `concatenate(tensors, axis)` is correct, so the first argument must be a single tensor.
            if name != "concatenate" or isinstance(module.made_by(given[0]), ast.Call):
                yield node, name
        elif not site.name:
            made = node.func if isinstance(node.func, ast.Call) else module.made_by(node.func)
            home, _, name = (module.resolve(made.func) if isinstance(made, ast.Call) else "").rpartition(".")
            if home == "keras.layers" and name in MERGING:
                yield node, name


def _finding(
    cause: Cause, module: Module, node: ast.Call, name: str, confidence: Confidence, seen: list[Evidence]
) -> Finding:
    first, last = module.location(node.args[0]), module.location(node.args[-1])
    return cause.finding(
        f"`{name}` expects its tensors in one list, but receives them as separate arguments",
        module.location(node),
        Evidence("tensors", f"{len(node.args)} arguments", "one list"),
        *seen,
        fix("pass the tensors as a list", (Edit(first.start, "["), Edit(last.end, "]"))),
        subject=f"arguments of {name}",
        confidence=confidence,
    )
