"""Finds code that runs only under a condition, or as a fallback."""

from __future__ import annotations

import ast

from fitdoctor.source.asked_once import asked_once
from fitdoctor.source.module import Module

_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_EXPECTED = frozenset(
    "ValueError TypeError RuntimeError InvalidArgumentError AssertionError AttributeError KeyError".split()
)
"""Exceptions caught by programs that demonstrate a failure."""
_CONDITIONS = (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.Lambda)


def is_conditional(module: Module, node: ast.AST, within: ast.AST | None = None) -> bool:
    """Whether a node is under an `if`, a `try` or similar, up to `within` or in the whole file."""
    parent = module.parent(node)
    while parent is not None and parent is not within:
        if isinstance(parent, _CONDITIONS) and not _is_main(parent):
            return True
        parent = module.parent(parent)
    return False


def _is_main(node: ast.AST) -> bool:
    """Whether a test is `__name__ == "__main__"`, which holds for every program."""
    return isinstance(node, ast.If) and any(
        isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test)
    )


def catches_failure(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches Keras errors without re-raising: the failure may be intentional."""
    if isinstance(handler.body[-1], ast.Raise):
        return False
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    for kind in kinds:
        name = kind.attr if isinstance(kind, ast.Attribute) else kind.id if isinstance(kind, ast.Name) else ""
        if name in _EXPECTED:
            return True
    return False


def expects_failure(module: Module, node: ast.AST) -> bool:
    """Whether a node is in a `try` that catches Keras errors: `except RuntimeError as error: print(error)`."""
    inner, parent = node, module.parent(node)
    while parent is not None:
        if (
            isinstance(parent, ast.Try)
            and inner in parent.body
            and any(map(catches_failure, parent.handlers))
        ):
            return True
        inner, parent = parent, module.parent(parent)
    return False


def passes_over_failure(module: Module, node: ast.AST, within: ast.AST) -> bool:
    """Whether a node is in a `try` that goes on after any failure: `except Exception: pass`."""
    inner, parent = node, module.parent(node)
    while parent is not None and inner is not within:
        if isinstance(parent, ast.Try) and inner in parent.body:
            for handler in parent.handlers:
                every = handler.type is None or getattr(handler.type, "id", "") in (
                    "Exception",
                    "AttributeError",
                )
                if every and not any(isinstance(part, ast.Raise) for part in ast.walk(handler)):
                    return True
        inner, parent = parent, module.parent(parent)
    return False


def knows_another_way(module: Module, node: ast.AST) -> bool:
    """Whether the program checks for a feature before using it, or has a fallback.

    `if hasattr(model, "fit_generator")`, `if keras.__version__ < "3"`, also where such a branch has left before; a `try`
    of which a handler makes the same name, calls the same object or returns something else. One that only reports the
    failure is no other way. What is used may also have been imported in such a branch, and nowhere else.
    """
    alias = _only_import(module, node)
    if alias is not None and module.parent(alias) in guarded_imports(module):
        return True
    inner, parent = node, module.parent(node)
    while parent is not None:
        if isinstance(parent, (ast.If, ast.IfExp)) and inner is not parent.test:
            if _asks_what_there_is(module, parent.test):
                return True
        if isinstance(parent, ast.Try) and inner in parent.body:
            used = _made_or_called(parent.body)
            if any(used & _made_or_called(handler.body) for handler in parent.handlers):
                return True
        if isinstance(inner, ast.stmt) and any(_may_leave(module, one) for one in _before(parent, inner)):
            return True
        inner, parent = parent, module.parent(parent)
    return False


def is_switched_off(module: Module, node: ast.AST) -> bool:
    """Whether a node is under `if MODE == "graph"` where the only value of `MODE` in the file is another one.

    Nor does `if image_data_format() == "channels_first"` hold unless the file sets it.
    """
    inner, parent = node, module.parent(node)
    while parent is not None:
        if isinstance(parent, ast.If) and inner in parent.body and _is_false(module, parent.test):
            return True
        inner, parent = parent, module.parent(parent)
    return False


def _is_false(module: Module, test: ast.expr) -> bool:
    match test:
        case ast.Compare(left=ast.Call(func=asks), ops=[ast.Eq()], comparators=[ast.Constant(value=asked)]):
            if asked != "channels_first" or not module.segment(asks).endswith("image_data_format"):
                return False
            return "set_image_data_format" not in module.text and "set_image_dim_ordering" not in module.text
        case ast.Compare(left=ast.Name() as name, ops=[ast.Eq()], comparators=[ast.Constant(value=asked)]):
            scope = module.index.lookup(name.id, module.scope(name))
            bound = scope.bindings[name.id] if scope is not None else []
            made = module.made_by(name)
            return len(bound) == 1 and isinstance(made, ast.Constant) and made.value != asked
    return False


def _only_import(module: Module, node: ast.AST) -> ast.alias | None:
    """The one binding of the name that an expression such as `rnn.LSTMCell(8)` begins with, where that is an import."""
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    if not isinstance(node, ast.Name):
        return None
    scope = module.index.lookup(node.id, module.scope(node))
    bound = scope.bindings[node.id] if scope is not None else []
    return bound[0] if len(bound) == 1 and isinstance(bound[0], ast.alias) else None


def is_fallback(module: Module) -> bool:
    """Whether other files import this one only in a branch that asks what there is: `if keras_version < 3:`."""
    return module.project is not None and module in module.project.fallbacks


_NOTHING: frozenset[ast.AST] = frozenset()


@asked_once(in_a_circle=_NOTHING)
def guarded_imports(module: Module) -> frozenset[ast.AST]:
    """The import statements in a branch that asks what there is."""
    return frozenset(
        statement
        for branch in module.nodes(ast.If)
        if _asks_what_there_is(module, branch.test)
        for statement in (*branch.body, *branch.orelse)
        if isinstance(statement, (ast.Import, ast.ImportFrom))
    )


def _before(parent: ast.AST, inner: ast.stmt) -> list[ast.stmt]:
    """The statements of the same block that come before."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and inner in block:
            return block[: block.index(inner)]
    return []


def _may_leave(module: Module, statement: ast.stmt) -> bool:
    """`if tf.__version__ >= "2": return …`; `try: …; return` of which a failure is passed over."""
    if isinstance(statement, ast.If):
        leaves = any(block and isinstance(block[-1], _ENDS) for block in (statement.body, statement.orelse))
        return leaves and _asks_what_there_is(module, statement.test)
    return isinstance(statement, ast.Try) and isinstance(
        statement.body[-1], (ast.Return, ast.Break, ast.Continue)
    )


_MOST_NAMES = 3
"""How many names deep a test is followed: `KERAS_3 = MAJOR >= 3`, `MAJOR = int(keras.__version__[0])`."""


def _asks_what_there_is(module: Module, test: ast.expr, steps: int = _MOST_NAMES) -> bool:
    asked = module.segment(test)
    if "hasattr" in asked or "dir(" in asked or "version" in asked.lower():
        return True
    if steps == 0:
        return False
    for name in (part for part in ast.walk(test) if isinstance(part, ast.Name)):
        scope = module.index.lookup(name.id, module.scope(name))
        bound = scope.bindings[name.id] if scope is not None else []
        if any(isinstance(one, ast.alias) and one.name == "__version__" for one in bound):
            return True
        if any(_is_set_by_what_there_is(module, one, steps - 1) for one in bound):
            return True
        made = module.made_by(name)
        if made is not name and _asks_what_there_is(module, made, steps - 1):
            return True
    return False


def _is_set_by_what_there_is(module: Module, binding: ast.AST, steps: int) -> bool:
    """Whether a flag gets its value in a branch: `if tf.__version__ < "2": OLD = True`, `except ImportError: OLD = True`."""
    statement = module.statement(binding)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Constant):
        return False
    around = module.parent(statement)
    if isinstance(around, ast.If):
        return _asks_what_there_is(module, around.test, steps)
    tried = module.parent(around) if isinstance(around, ast.ExceptHandler) else around
    return isinstance(tried, ast.Try) and any(
        isinstance(one, (ast.Import, ast.ImportFrom)) for one in tried.body
    )


def _made_or_called(body: list[ast.stmt]) -> set[str]:
    """Return the names that statements bind, and those whose methods they call."""
    found: set[str] = set()
    for node in (part for statement in body for part in ast.walk(statement)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(ast.unparse(node))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found.add(ast.unparse(node.func.value))
        elif isinstance(node, ast.Return) and node.value is not None:
            found.add("return")
    return found
