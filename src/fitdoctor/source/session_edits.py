"""Edits that remove the sessions of TensorFlow 1 programs: those set up for Keras, and those that run tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.diagnosis import Edit, Fix
from fitdoctor.edits import fix, spell, unsafe
from fitdoctor.records import replace
from fitdoctor.source.index import names_in
from fitdoctor.source.line_edits import delete_lines, indent_of
from fitdoctor.source.module import Module

_MADE = frozenset({"ConfigProto", "GPUOptions", "Session", "InteractiveSession", "get_default_graph"})
_SETTINGS = ("fraction", "parallelism", "device_count", "visible_device_list")
_GIVEN = frozenset({"set_session", "clear_session"})


def without_session(module: Module, node: ast.AST, title: str, *more: Edit) -> Fix:
    """Return a fix that removes the session; it is unsafe if the session configures more than memory growth."""
    group, edits = _dropped(module, node)
    asked = any(word in module.segment(each) for each in group for word in _SETTINGS)
    return (unsafe if asked else fix)(title, edits, more if edits else ())


def _dropped(module: Module, node: ast.AST) -> tuple[list[ast.stmt], tuple[Edit, ...]]:
    """Remove the configuration, the session and `set_session`; nothing if the program does more with them."""
    statement = module.statement(node)
    body = getattr(module.parent(statement), "body", [])
    group: list[ast.stmt] = []
    bound: set[str] = set()
    for each in body:
        if _sets_up(module, each, bound):
            group.append(each)
            bound |= {name for target in getattr(each, "targets", []) for name in names_in(target)}
    within = {part for each in group for part in ast.walk(each)}
    if statement not in group or any(read not in within for read in _reads(module, bound)):
        return [], ()
    grows = any("allow_growth" in module.segment(each) for each in group)
    tf, imports = spell(module.code(node), "tensorflow", "tf")
    indent = indent_of(module, group[0])
    growth = (
        f'for gpu in {tf}.config.list_physical_devices("GPU"):\n'
        f"{indent}    {tf}.config.experimental.set_memory_growth(gpu, True)"
    )
    stays = growth if grows else "pass" if len(group) == len(body) else ""
    first = Edit(module.location(group[0]), stays) if stays else delete_lines(module, group[0])
    return group, (first, *(delete_lines(module, each) for each in group[1:]), *imports)


def _reads(module: Module, names: set[str]) -> Iterator[ast.Name]:
    for name in names:
        yield from module.reads.get(name, [])


def _sets_up(module: Module, statement: ast.stmt, bound: set[str]) -> bool:
    """Return whether a statement creates or changes a session or its configuration, or passes it to Keras."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return _called(module, statement.value) in _GIVEN and bool(statement.value.args)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    if isinstance(target, ast.Name):
        return isinstance(statement.value, ast.Call) and _called(module, statement.value) in _MADE
    root: ast.expr = target
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root is not target and root.id in bound


def _called(module: Module, call: ast.Call) -> str:
    name = module.resolve(call.func)
    return name.rpartition(".")[2] if name.startswith(("tensorflow.", "keras.")) else ""


# --- sessions that run tensors --------------------------------------------------------------------------------------

_STARTS = ("global_variables_initializer", "local_variables_initializer", "tables_initializer")


def run_eagerly(module: Module, node: ast.AST) -> tuple[Edit, ...]:
    """Write `x` instead of `session.run(x)` and remove the session; nothing if it is used in another way."""
    statement = module.statement(node)
    if isinstance(statement, ast.With) and len(statement.items) == 1:
        held, block = statement.items[0].optional_vars, list(ast.walk(statement))
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        held, block = statement.targets[0], list(ast.walk(module.scope(statement).node))
    else:
        return ()
    if not isinstance(held, ast.Name):
        return ()
    dropped: list[ast.stmt] = [] if isinstance(statement, ast.With) else [statement]
    edits: list[Edit] = []
    for read in (
        each for each in block if isinstance(each, ast.Name) and each.id == held.id and each is not held
    ):
        call = _run_call(module, read)
        if call is None:
            return ()
        around = module.statement(call)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        starts = method == "close" or any(word in module.segment(call.args[0]) for word in _STARTS)
        if starts and isinstance(around, ast.Expr) and around.value is call:
            dropped.append(around)
        elif method == "run":
            edits.append(Edit(module.location(call), module.segment(call.args[0])))
        else:
            return ()
    if isinstance(statement, ast.With):
        return _dedented(module, statement, dropped, edits)
    return (*edits, *(delete_lines(module, each) for each in dropped))


def _run_call(module: Module, session: ast.Name) -> ast.Call | None:
    """Return `session.run(x)` or `session.close()` around a session."""
    attribute = module.parent(session)
    call = module.parent(attribute) if isinstance(attribute, ast.Attribute) else None
    if not isinstance(call, ast.Call) or call.func is not attribute or call.keywords:
        return None
    assert isinstance(attribute, ast.Attribute)
    fits = len(call.args) == 1 if attribute.attr == "run" else attribute.attr == "close" and not call.args
    return call if fits else None


def _dedented(
    module: Module, block: ast.With, dropped: list[ast.stmt], edits: list[Edit]
) -> tuple[Edit, ...]:
    """Remove the line of a `with` and indent its body one level less."""
    first, last = module.location(block.body[0]), module.location(block.body[-1])
    head = module.location(block)
    if first.line == head.line or any(_spans_lines(each) for each in ast.walk(block)):
        return ()
    inner, outer = len(indent_of(module, block.body[0])), len(indent_of(module, block))
    gone = {line for each in dropped for line in range(each.lineno, (each.end_lineno or each.lineno) + 1)}
    shift = [
        Edit(replace(first, line=line, column=1, end_line=line, end_column=inner - outer + 1), "")
        for line in range(first.line, last.end_line + 1)
        if line not in gone and module.line_text(line, first.cell).strip()
    ]
    if len(dropped) == len(block.body):
        return ()
    header = Edit(replace(head, column=1, end_line=first.line, end_column=1), "")
    return (header, *shift, *edits, *(delete_lines(module, each) for each in dropped))


def _spans_lines(node: ast.AST) -> bool:
    """Whether a string goes over several lines: its text would change."""
    text = isinstance(node, ast.JoinedStr) or isinstance(node, ast.Constant) and isinstance(node.value, str)
    return text and getattr(node, "end_lineno", 0) != getattr(node, "lineno", 0)
