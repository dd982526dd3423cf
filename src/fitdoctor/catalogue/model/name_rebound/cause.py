"""Name of a function reused for its result.

## What happens

The first step works. The second one raises `TypeError: 'tensorflow.python.framework.ops.EagerTensor' object is not
callable`. Inside a function, the first step already raises an `UnboundLocalError`.

## Why

After `loss = loss(y, output)`, the name refers to the number and no longer to the function. In a function, the
assignment makes the name local, so that it has no value when the right-hand side is evaluated.

## Fix

Store the result under another name: `loss_value = loss(y, output)`.

## Known limits

Only reported after the exception: a function may return another function, and a loop may end after its first iteration.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import Frame
from fitdoctor.failure.failed_line import nodes_at
from fitdoctor.source.module import Module

CAUSE = Cause(
    id="FIT331", slug="name-rebound", severity=Severity.ERROR, raises=("TypeError", "UnboundLocalError")
)


@CAUSE.rule(
    "=",
    says=r"object is not callable|local variable '\w+' (?:where it is not associated|referenced before)",
    types=("TypeError", "UnboundLocalError"),
    in_source=False,
)
def result_over_function(module: Module, frame: Frame | None) -> Iterator[Finding]:
    """Find the assignment that replaces the function which the failing line calls with its result."""
    for call in nodes_at(module, ast.Call, frame):
        called, function = ast.unparse(call.func), module.function_of(call)
        names = [
            node
            for node in module.nodes(ast.Name)
            if node.id == called and module.function_of(node) is function
        ]
        rebound = [node for node in names if isinstance(node.ctx, ast.Store) and _calls_itself(module, node)]
        if rebound:
            yield _finding(module, rebound, names)
            return


CAUSE.message(
    r"^'(?:[\w.]+\.)?(?P<kind>(?:Eager|Symbolic|Keras)?Tensor|ndarray|History|float\d*)' object is not callable",
    "this line calls a name that refers to an object of the class `{kind}`, and no longer to a function or model",
    "store results under another name; in a notebook, run the cell again that defines the function or model",
    subject="name",
    types=("TypeError",),
    confidence=Confidence.POSSIBLE,
    fits=lambda failure: bool(failure.frames) and not failure.frames[-1].library,
)


def _calls_itself(module: Module, name: ast.Name) -> bool:
    """Whether the value of a name comes from calling what the name referred to before."""
    statement = module.statement(name)
    value = statement.value if isinstance(statement, ast.Assign) and name in statement.targets else None
    calls = [node.func for node in ast.walk(value) if isinstance(node, ast.Call)] if value is not None else []
    return any(isinstance(each, ast.Name) and each.id == name.id for each in calls)


def _finding(module: Module, rebound: list[ast.Name], names: list[ast.Name]) -> Finding:
    name, first = rebound[0].id, min(node.lineno for node in rebound)
    new = f"{name}_value"
    results = [
        node
        for node in names
        if node in rebound
        or isinstance(node.ctx, ast.Load)
        and node.lineno >= first
        and getattr(module.parent(node), "func", None) is not node
    ]
    edits = tuple(Edit(module.location(node), new) for node in results) if new not in module.text else ()
    return CAUSE.finding(
        f"`{name}` is the name of a function and of its result: after this line, it is no longer the function",
        module.location(module.statement(rebound[0])),
        Evidence("the result replaces the function here", location=module.location(rebound[0])),
        fix(f"store the result under another name: `{new}`", edits),
        subject=f"name {name}",
    )
