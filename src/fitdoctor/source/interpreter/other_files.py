"""Resolves names from other files of the project, following each file on first use."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from fitdoctor.records import dataclass
from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.library import LIBRARIES
from fitdoctor.source.interpreter.state import Control
from fitdoctor.source.interpreter.values import UNTOLD, Record, Value
from fitdoctor.source.module import Module

if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter


@dataclass(frozen=True)
class Followed:
    """An imported file: its names, and the mutable objects that it created."""

    frame: int
    names: dict[str, Value]
    made: dict[int, Record]


def imported_value(run: Interpreter, node: ast.AST, name: str) -> Value | None:
    """Return the value of a name or attribute that another file binds; None if there is none.

    Args:
        run: the run over the program.
        node: the name or attribute.
        name: its canonical name, as `Interpreter.resolve` gives it.
    """
    project = run.module.project
    if project is None or len(project.modules) < 2 or name.partition(".")[0] in LIBRARIES:
        return None
    found = project.binding(run.module, run.module.dotted(node))
    if found is None or found[0] is run.module:
        return None
    module, bound, rest = found
    own = str(getattr(bound, "name", "") or getattr(bound, "id", ""))
    value = run.state.frames[frame_of(run, module)].get(own)
    if value is None:
        return UNTOLD
    for attribute in rest:
        value = objects.get_attribute(run, value, attribute)
    return value


def frame_of(run: Interpreter, module: Module) -> int:
    """The frame of a file's own names."""
    if module is run.home:
        return 0
    known = run.imports.get(module)
    if known is None:
        known = _follow(run, module)
    elif known.frame not in run.state.frames:
        # it was first needed in a branch or loop whose state was discarded
        run.state.frames[known.frame] = dict(known.names)
        run.state.heap.update({key: made for key, made in known.made.items() if key not in run.state.heap})
    return known.frame


def _follow(run: Interpreter, module: Module) -> Followed:
    frame = run.new_frame(None)
    run.imports[module] = Followed(frame, {}, {})
    outer, before = (run.module, run.frame), set(run.state.heap)
    run.module, run.frame = module, frame
    run.control.append(Control())
    # problems there are reported when that file itself is judged
    run.expecting_failure += 1
    try:
        run.execute(module.tree.body)
    finally:
        run.expecting_failure -= 1
        run.control.pop()
        run.module, run.frame = outer
    made = {key: record for key, record in run.state.heap.items() if key not in before}
    followed = run.imports[module] = Followed(frame, dict(run.state.frames.get(frame, {})), made)
    return followed
