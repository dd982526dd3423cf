"""Find loops around training calls and what changes in each iteration."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.source.callees import callee
from fitdoctor.source.index import FUNCTIONS
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.traced.tracing import functions_in

Loop = ast.For | ast.While
TRAINING = frozenset({"fit", "train_on_batch", "evaluate", "predict", "test_on_batch", "predict_on_batch"})
FEW = 4
"""The number of iterations below which nothing is reported."""


def loops_around(module: Module, node: ast.AST) -> Iterator[Loop]:
    """Return the loops of the same function around a node, innermost first."""
    child, parent = node, module.parent(node)
    while parent is not None and not isinstance(parent, (*FUNCTIONS, ast.ClassDef)):
        if isinstance(parent, (ast.For, ast.While)) and child in parent.body:
            yield parent
        child, parent = parent, module.parent(parent)


def has_few_rounds(module: Module, loop: Loop) -> bool:
    """Whether a loop certainly has only a few iterations."""
    if isinstance(loop, ast.While):
        return False
    count = _count(module, loop.iter)
    return count is not None and count <= FEW


def _count(module: Module, iterated: ast.expr) -> int | None:
    if isinstance(iterated, (ast.List, ast.Tuple)):
        return len(iterated.elts)
    if not isinstance(iterated, ast.Call):
        return None
    name = module.resolve(iterated.func)
    if name in ("enumerate", "reversed", "tqdm.tqdm") and iterated.args:
        return _count(module, iterated.args[0])
    if name != "range":
        return None
    numbers = [_number(module, argument) for argument in iterated.args]
    if any(number is None for number in numbers):
        return None
    return len(range(*[number for number in numbers if number is not None]))


def _number(module: Module, expr: ast.expr) -> int | None:
    made = expr if isinstance(expr, ast.Constant) else module.made_by(expr)
    return made.value if isinstance(made, ast.Constant) and type(made.value) is int else None


def python_numbers(module: Module, loop: Loop) -> set[str]:
    """Return the names that are a different Python number in each iteration: an index or a counter."""
    found: set[str] = set()
    if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call):
        name = module.resolve(loop.iter.func)
        if name == "range" and isinstance(loop.target, ast.Name):
            found.add(loop.target.id)
        elif (
            name == "enumerate"
            and isinstance(loop.target, ast.Tuple)
            and isinstance(loop.target.elts[0], ast.Name)
        ):
            found.add(loop.target.elts[0].id)
    for node in ast.walk(loop):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and _is_number(node.value):
            if isinstance(_first_value(module, node.target), ast.Constant):
                found.add(node.target.id)
    return _with_derived(loop, found)


_KEEPS_NUMBERS = frozenset({"min", "max", "float", "int", "abs", "round"})


def _with_derived(loop: Loop, numbers: set[str]) -> set[str]:
    """Add the names that the loop computes from such numbers only: `beta = min(1.0, epoch / 10)`."""
    assignments = [node for node in ast.walk(loop) if isinstance(node, ast.Assign) and len(node.targets) == 1]
    found = set(numbers)
    for node in assignments:
        target = node.targets[0]
        if isinstance(target, ast.Name) and is_python_number(node.value, found):
            found.add(target.id)
    return found


def is_python_number(expr: ast.expr, numbers: set[str]) -> bool:
    """Whether an expression is computed from a changing Python number by arithmetic alone."""
    if isinstance(expr, ast.Name):
        return expr.id in numbers
    parts: list[ast.expr] = []
    if isinstance(expr, ast.BinOp):
        parts = [expr.left, expr.right]
    elif isinstance(expr, ast.Call) and isinstance(expr.func, ast.Name) and not expr.keywords:
        parts = expr.args if expr.func.id in _KEEPS_NUMBERS else []
    return any(is_python_number(part, numbers) for part in parts) and all(
        isinstance(part, ast.Constant) or is_python_number(part, numbers) for part in parts
    )


def _is_number(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, (int, float))


def _first_value(module: Module, name: ast.Name) -> ast.expr | None:
    for assignment in module.assignments(name.id, name):
        if assignment.how == "=":
            return assignment.value
    return None


def bound_in(loop: ast.AST) -> set[str]:
    """Return the names that a loop or another statement assigns, including its target, or defines."""
    defined = {loop.name} if isinstance(loop, (ast.FunctionDef, ast.ClassDef)) else set()
    return defined | {
        node.id for node in ast.walk(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def names_read(node: ast.AST) -> set[str]:
    """Return the names that an expression or function reads but does not bind."""
    read = {
        item.id for item in ast.walk(node) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load)
    }
    given = {item.arg for item in ast.walk(node) if isinstance(item, ast.arg)}
    stored = {
        item.id for item in ast.walk(node) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)
    }
    return read - given - stored


def compiled_function(module: Module, call: ast.Call) -> FunctionInfo | None:
    """Return the `tf.function` that a call runs, created by a decorator or `step = tf.function(f)`."""
    found = callee(module, call)
    if found is not None and not isinstance(found.node, ast.Lambda) and decorator_of(found) is not None:
        return found
    # Checking that the file never calls `tf.function` is cheaper than resolving the name.
    named = isinstance(call.func, ast.Name) and module.calls_to("tensorflow.function")
    made = module.made_by(call.func) if named else None
    if isinstance(made, ast.Call) and module.resolve(made.func) == "tensorflow.function" and made.args:
        return next(functions_in(module, made.args[0]), None)
    return None


def decorator_of(function: FunctionInfo) -> ast.expr | None:
    """Return the `tf.function` decorator of a function."""
    if isinstance(function.node, ast.Lambda):
        return None
    for decorator in function.node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if function.module.resolve(called) == "tensorflow.function":
            return decorator
    return None


def trains(module: Module, node: ast.AST) -> str:
    """Return the training call in a piece of code: `model.fit`, or the name of a traced function, else ""."""
    for item in ast.walk(node):
        if not isinstance(item, ast.Call):
            continue
        if (
            isinstance(item.func, ast.Attribute)
            and item.func.attr in TRAINING
            and not module.resolve(item.func)
        ):
            return f"{ast.unparse(item.func.value)}.{item.func.attr}"
        found = compiled_function(module, item)
        if found is not None:
            return found.name
    return ""
