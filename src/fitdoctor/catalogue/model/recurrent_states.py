"""The states that recurrent layers are given: an LSTM has two, h and c, and each is as wide as the layer has units."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Edit, Finding, Fix, Location
from fitdoctor.edits import fix, set_argument, unsafe
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.records import replace
from fitdoctor.source.assignments import last_assignment
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_MESSAGE = "`LSTM` is given one initial state, but it has two: h and c"


def second_missing(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Keras looked for a second state where there is none."""
    asked = failure.type == "IndexError" and "list index out of range" in failure.message
    if not asked or failure.layer_class != "LSTM" or "initial_state" not in dict(failure.arguments):
        return
    modules = () if isinstance(project, Unknown) else project.modules
    known = next((finding for module in modules for finding in lone_states(cause, module)), None)
    frame = failure.last_user_frame
    by_hand = fix("give both states: `initial_state=[h, c]`")
    where = frame.location if frame is not None else None
    found = known or cause.finding(_MESSAGE, subject="LSTM", location=where, fixes=[by_hand])
    yield replace(found, confidence=Confidence.CERTAIN)


def lone_states(cause: Cause, module: Module) -> Iterator[Finding]:
    """An LSTM is called with a list of one state, or with a tensor that a layer gave."""
    for node in module.nodes(ast.Call):
        state = argument_of(node, "initial_state")
        if state is None or not _is_lstm(module, node.func):
            continue
        held = _list_behind(module, state)
        one = held.elts[0] if held is not None and len(held.elts) == 1 else None
        if held is None and _is_tensor(module, state):
            one = state
        if one is None or isinstance(one, ast.Starred):
            continue
        text, given = module.segment(one), held or state
        other = _other_state(module, one)
        both = Edit(module.location(given), f"[{text}, {other or text}]")
        title = f"give both states: `[{text}, {other}]`" if other else "give both states: `[h, c]`"
        repair = fix(title, (both,)) if other else unsafe(title, (both,))
        # A list that has a name is mended where it is made.
        where = module.location(node if given is state else given)
        yield cause.finding(_MESSAGE, subject="LSTM", location=where, fixes=[repair])


def _list_behind(module: Module, state: ast.expr) -> ast.List | ast.Tuple | None:
    """The list of states that is given, perhaps by a name."""
    if not isinstance(state, ast.Name):
        return state if isinstance(state, (ast.List, ast.Tuple)) else None
    end = module.origin(state)
    known = end.certain and not end.path and end.module is module
    return end.node if known and isinstance(end.node, (ast.List, ast.Tuple)) else None


def _other_state(module: Module, state: ast.expr) -> str:
    """`c`, where the program has taken `outputs, h, c = lstm(x)` apart and gives `h`."""
    found = last_assignment(module, state) if isinstance(state, ast.Name) else None
    if found is None or found[0].path != (1,):
        return ""
    statement = module.statement(found[0].target)
    taken = statement.targets[0] if isinstance(statement, ast.Assign) else None
    names = taken.elts if isinstance(taken, ast.Tuple) else []
    return names[2].id if len(names) == 3 and isinstance(names[2], ast.Name) and names[2].id != "_" else ""


def _is_lstm(module: Module, callee: ast.expr) -> bool:
    made = module.made_by(callee)
    return isinstance(made, ast.Call) and module.resolve(made.func).endswith("keras.layers.LSTM")


def _is_tensor(module: Module, state: ast.expr) -> bool:
    """Whether a value is what a `Dense` gave for its input: one tensor."""
    made = module.made_by(state)
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Call):
        return False
    return module.resolve(made.func.func).endswith("keras.layers.Dense")


# --- states of another size ---------------------------------------------------------------------------------------

_WIDTH = pattern(r"shape=\((?:None|\d+), (\d+)\)")


def as_wide_as_state(
    failure: FailureFacts, project: Project | Unknown, made: Location | None
) -> Iterator[Fix]:
    """Give the layer that was made there as many units as the state has that it is given."""
    widths = set(_WIDTH.findall(dict(failure.arguments).get("states", "")))
    module = project.module_at(made.path) if made is not None and isinstance(project, Project) else None
    if module is None or len(widths) != 1:
        return
    units = widths.pop()
    for site in module.calls:
        if module.location(site.node) == made:
            edits = set_argument(module.code(site.node), "units", units, 0)
            yield unsafe(f"give it {units} units, as many as the state has", edits)
            return
