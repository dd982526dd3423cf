"""Distribution strategies in the source: where they are created, and what is in their scope."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import insert_after, insert_before
from fitdoctor.source.line_edits import indent_of, with_comment
from fitdoctor.source.module import CallSite, FunctionInfo, Module
from fitdoctor.source.traced.tracing import functions_in

MAKERS = tuple(
    f"tensorflow.distribute.{name}"
    for name in (
        "MirroredStrategy",
        "MultiWorkerMirroredStrategy",
        "experimental.MultiWorkerMirroredStrategy",
        "OneDeviceStrategy",
        "ParameterServerStrategy",
        "experimental.ParameterServerStrategy",
        "experimental.CentralStorageStrategy",
        "TPUStrategy",
        "experimental.TPUStrategy",
    )
)


EXCHANGES_SINCE = (3, 5)
"""The first Keras 3 whose replicas synchronize in `fit`, as in Keras 2; before, each trains by itself."""


def made(module: Module) -> tuple[CallSite, ...]:
    """Return the calls that create strategies in a file."""
    return module.calls_to(*MAKERS)


def scopes(module: Module) -> list[tuple[ast.With, str]]:
    """Return every `with strategy.scope():` and the name of its strategy."""
    if "trategy" not in module.text:
        return []  # `keras.distribution` has scopes too, but accepts objects created outside
    found = []
    for block in module.nodes(ast.With):
        for item in block.items:
            call = item.context_expr
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr == "scope"
            ):
                found.append((block, module.segment(call.func.value)))
    return found


def replica_functions(module: Module) -> Iterator[FunctionInfo]:
    """Yield the functions passed to `strategy.run`."""
    for site in module.method_calls("run", "experimental_run_v2"):
        target = site.argument("fn", 0)
        if target is not None and _is_strategy(module, site.receiver):
            yield from functions_in(module, target)


def _is_strategy(module: Module, value: ast.expr) -> bool:
    """Whether a value is a strategy, by its name or by the call that created it."""
    if "strategy" in module.segment(value).lower():
        return True
    made = module.made_by(value)
    return module.called(made) in MAKERS


def in_scope(module: Module, node: ast.AST) -> bool:
    """Whether a node is in a scope, or in a function that is only called from one."""
    return scope_of(module, node) is True


_MOST_CALLERS = 4


def scope_of(module: Module, node: ast.AST, depth: int = _MOST_CALLERS) -> bool | None:
    """Whether a node runs in a scope; None if its function is called both inside one and outside."""
    blocks = [block for block, _name in scopes(module)]
    function = module.function_of(node)
    if _within(module, node, blocks):
        return True
    if function is None or isinstance(function.node, ast.Lambda) or not depth:
        return False
    inside = {
        scope_of(module, site.node, depth - 1)
        for site in module.calls
        if (isinstance(site.node.func, ast.Name) and site.node.func.id == function.name)
        or (isinstance(site.node.func, ast.Attribute) and site.node.func.attr == function.name)
        if module.function_of(site.node) is not function
    }
    return None if len(inside) > 1 else inside.pop() if inside else False


def _within(module: Module, node: ast.AST, blocks: list[ast.With]) -> bool:
    parent = module.parent(node)
    while parent is not None:
        if parent in blocks:
            return True
        parent = module.parent(parent)
    return False


def moved_into_scope(module: Module, node: ast.AST, strategy: str, then: str = "") -> tuple[Edit, ...]:
    """Move a node's statement into `with strategy.scope():`, followed by the line `then`."""
    statement = module.statement(node)
    location = module.location(statement)
    indent = indent_of(module, statement)
    lines = module.segment(statement).split("\n")
    body = "\n".join([lines[0], *(f"    {line}" if line.strip() else line for line in lines[1:])])
    last = f"\n{indent}    {then}" if then else ""
    beside = _scope_beside(module, statement, strategy)
    if beside is not None:
        after = location.line > module.location(beside).line
        neighbour = module.code(beside.body[-1] if after else beside.body[0])
        put = insert_after if after else insert_before
        comment = "" if last or len(lines) > 1 else with_comment(module, statement)[len(lines[0]) :]
        return (*put(neighbour, f"{body}{last}{comment}"), Edit(location.lines, ""))
    return (Edit(location, f"with {strategy}.scope():\n{indent}    {body}{last}"),)


def _scope_beside(module: Module, statement: ast.stmt, strategy: str) -> ast.With | None:
    """Return the `with strategy.scope():` right before or after a statement, which can absorb it."""
    block = getattr(module.parent(statement), "body", [])
    at = block.index(statement) if statement in block else 0
    for index in (at + 1, at - 1):
        other = block[index] if 0 <= index < len(block) else None
        if (
            isinstance(other, ast.With)
            and len(other.items) == 1
            and len(module.segment(other).split("\n")) > 1
        ):
            if module.segment(other.items[0].context_expr) == f"{strategy}.scope()":
                return other
    return None
