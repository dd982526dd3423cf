"""States of recurrent layers: an LSTM has two, h and c, each with as many features as the layer has units."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Edit, Finding, Fix, Location
from fitdoctor.edits import fix, set_argument, unsafe
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.failed_line import at_frame, module_of
from fitdoctor.records import replace
from fitdoctor.source.assignments import last_assignment
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_MESSAGE = "`LSTM` receives one initial state, but expects two: h and c"


def second_missing(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain the error of a missing second state."""
    asked = failure.type == "IndexError" and "list index out of range" in failure.message
    if not asked or failure.layer_class != "LSTM" or "initial_state" not in dict(failure.arguments):
        return
    modules = () if isinstance(project, Unknown) else project.modules
    known = next((finding for module in modules for finding in lone_states(cause, module)), None)
    frame = failure.last_user_frame
    by_hand = fix("pass both states: `initial_state=[h, c]`")
    where = frame.location if frame is not None else None
    found = known or cause.finding(_MESSAGE, where, by_hand, subject="LSTM")
    yield replace(found, confidence=Confidence.CERTAIN)


def lone_states(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report an LSTM called with a list of one state, or with a single tensor."""
    for node in module.nodes(ast.Call) if "initial_state" in module.text else ():
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
        title = f"pass both states: `[{text}, {other}]`" if other else "pass both states: `[h, c]`"
        repair = fix(title, (both,)) if other else unsafe(title, (both,))
        # A named list is edited where it is created.
        where = module.location(node if given is state else given)
        yield cause.finding(_MESSAGE, where, repair, subject="LSTM")


def _list_behind(module: Module, state: ast.expr) -> ast.List | ast.Tuple | None:
    """Return the list of states that is passed, directly or by name."""
    if not isinstance(state, ast.Name):
        return state if isinstance(state, (ast.List, ast.Tuple)) else None
    end = module.origin(state)
    known = end.certain and not end.path and end.module is module
    return end.node if known and isinstance(end.node, (ast.List, ast.Tuple)) else None


def _other_state(module: Module, state: ast.expr) -> str:
    """Return `c` if the program unpacks `outputs, h, c = lstm(x)` and passes `h`."""
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
    """Whether a value is the output of a `Dense`, and so a single tensor."""
    made = module.made_by(state)
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Call):
        return False
    return module.resolve(made.func.func).endswith("keras.layers.Dense")


# --- states of the wrong size -------------------------------------------------------------------------------------

_WIDTH = re.compile(r"shape=\((?:None|\d+), (\d+)\)")


def as_wide_as_state(
    failure: FailureFacts, project: Project | Unknown, made: Location | None
) -> Iterator[Fix]:
    """Set the units of the layer created there to the size of its initial state."""
    widths = set(_WIDTH.findall(dict(failure.arguments).get("states", "")))
    module = project.module_at(made.path) if made is not None and isinstance(project, Project) else None
    if module is None or len(widths) != 1:
        return
    units = widths.pop()
    for site in module.calls:
        if module.location(site.node) == made:
            edits = set_argument(module.code(site.node), "units", units, 0)
            yield unsafe(f"use {units} units, the size of the state", edits)
            return


# --- unpacked states -----------------------------------------------------------------------------------------------

_UNPACKED = re.compile(r"(?:too many|not enough) values to unpack \(expected (?P<wanted>\d+)")
_GIVEN = {"keras.layers.LSTM": 3, "keras.layers.GRU": 2, "keras.layers.SimpleRNN": 2}
"""Number of values that a layer returns with `return_state=True`: the output and its states."""


def unpacked_states(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain a recurrent layer's output and states unpacked into the wrong number of names."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if _UNPACKED.search(failure.message) is None or frame is None or module is None:
        return
    for node, found in _unpackings(cause, module):
        if at_frame(module, node, frame):
            yield replace(found, confidence=Confidence.CERTAIN)
            return


def unpacked_in_source(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report it from source."""
    yield from (found for _node, found in _unpackings(cause, module))


def _unpackings(cause: Cause, module: Module) -> Iterator[tuple[ast.Assign, Finding]]:
    for node in module.nodes(ast.Assign):
        target, called = node.targets[0], node.value
        if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(called, ast.Call):
            continue
        maker = module.made_by(called.func)
        name, given = _with_states(module, maker) if isinstance(maker, ast.Call) else ("", 0)
        least = len([one for one in target.elts if not isinstance(one, ast.Starred)])
        if not given or least == given or (least < len(target.elts) and least < given):
            continue
        yield (
            node,
            cause.finding(
                f"`{name}` returns {given} values with `return_state=True`, but {least} are unpacked",
                module.location(target),
                _unpacked(module, target, given),
                subject=name,
                confidence=Confidence.LIKELY,
            ),
        )


def _with_states(module: Module, maker: ast.Call) -> tuple[str, int]:
    """Return a recurrent layer's name and its number of return values; 0 if unknown."""
    kind = module.resolve(maker.func)
    if kind == "keras.layers.Bidirectional" and argument_of(maker, "merge_mode") is None:
        inner = argument_of(maker, "layer", 0)
        made = module.made_by(inner) if inner is not None else None
        name, given = _with_states(module, made) if isinstance(made, ast.Call) else ("", 0)
        # One output, then the states of both directions.
        return f"Bidirectional({name})", 2 * given - 1 if given else 0
    asked = argument_of(maker, "return_state")
    told = isinstance(asked, ast.Constant) and asked.value is True
    return kind.rpartition(".")[2], _GIVEN.get(kind, 0) if told else 0


def _unpacked(module: Module, target: ast.Tuple | ast.List, given: int) -> Fix:
    """Use `output, *states = …`, which keeps the states together as `initial_state` expects them."""
    names = [module.segment(name) for name in target.elts]
    if len(names) != 2 or given < 3:
        return fix(f"unpack {given} values: the output, then its states")
    text = f"{names[0]}, *{names[1]}"
    return fix(f"keep the states together: `{text} = …`", (Edit(module.location(target), text),))
