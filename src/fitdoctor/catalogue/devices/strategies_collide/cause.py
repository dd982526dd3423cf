"""Several distribution strategies in one process.

## What happens

`InvalidArgumentError: … Shape mismatch in the collective instance 100` at the first step of the second model. After
that, every later strategy in the process fails too.

## Why

Every strategy numbers its collective operations from the same start. Two strategies over the same devices use the same
numbers for tensors of different shapes.

## Fix

Create one strategy when the program starts and use its scope for every model.

## Known limits

Two models of the same size do not collide. A strategy over one device runs no collective operations.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.devices.several_workers import left_by_another
from fitdoctor.catalogue.devices.strategies import made
from fitdoctor.diagnosis import Edit, Finding, Fix, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts
from fitdoctor.source.callees import callers_of
from fitdoctor.source.index import names_in
from fitdoctor.source.module import CallSite, FunctionInfo, Module

CAUSE = Cause(
    id="FIT608",
    slug="strategies-collide",
    severity=Severity.ERROR,
    raises=("InvalidArgumentError", "InternalError"),
)

WORDS = ("in the collective instance", "CollectiveReduce", "collective params")


def _is_of_collectives(failure: FailureFacts) -> bool:
    said = failure.operation + failure.node + failure.message
    return (WORDS[0] in failure.message or WORDS[1] in said) and not left_by_another(failure)


@CAUSE.rule(
    "Strategy",
    says="^",
    fits=_is_of_collectives,
    anywhere=True,
    problem="two distribution strategies collide in one process",
    remedy="create one strategy and use it for every model",
    subject="strategy",
)
def created_again(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Report a strategy over several devices that is created repeatedly."""
    for site in made(module):
        again = _several_devices(module, site) and _made_repeatedly(module, site.node)
        if failure is not None:
            again = site.function is not None or _in_loop(module, site.node) or len(made(module)) > 1
        if again:
            yield CAUSE.finding(
                "a new strategy is created each time, and two strategies in one process collide",
                module.location(site.node),
                _made_once(module, site),
                subject="strategy",
            )


def _several_devices(module: Module, site: CallSite) -> bool:
    devices = site.argument("devices", 0)
    listed = module.made_by(devices) if devices is not None else None
    return isinstance(listed, (ast.List, ast.Tuple)) and len(listed.elts) > 1


_DEEPEST = 4
"""How many calls are followed up."""


def _made_repeatedly(module: Module, node: ast.AST, depth: int = 0) -> bool:
    """Whether a call is in a loop, or in a function that is called repeatedly or by one block twice."""
    if _in_loop(module, node):
        return True
    function = module.function_of(node)
    if function is None or depth == _DEEPEST or _is_cached(module, function):
        return False
    blocks: list[ast.AST] = []
    for caller, call in callers_of(function):
        if _made_repeatedly(caller, call, depth + 1):
            return True
        around = caller.parent(caller.statement(call))
        blocks.extend([] if around is None else [around])
    # Only one branch of an `if` runs; consecutive lines of a function both do.
    return any(blocks.count(block) > 1 and not isinstance(block, (ast.If, ast.Try)) for block in blocks)


def _is_cached(module: Module, function: FunctionInfo) -> bool:
    return any("cache" in module.segment(each) for each in getattr(function.node, "decorator_list", ()))


def _in_loop(module: Module, node: ast.AST) -> bool:
    return module.around(node, ast.For, ast.While, ast.ListComp, ast.DictComp, ast.GeneratorExp) is not None


def _made_once(module: Module, site: CallSite) -> Fix:
    """Move `strategy = …` before the function if it uses none of the function's names."""
    title = "create one strategy outside and use it for every model"
    function, code = site.function, module.code(site.node)
    if function is not None and function.owner is not None:
        return fix(title, _before_class(module, site, function))
    if function is None or isinstance(function.node, ast.Lambda) or code.statement is None:
        return fix(title)
    names = names_in(site.node)
    if names & set(function.parameters):
        return fix(title)
    if not code.target.isidentifier():
        return fix("return the same strategy every time")
    first = min([function.node.lineno, *(node.lineno for node in function.node.decorator_list)])
    here = code.statement
    before = Location(here.path, first, 1, first, 1, here.cell)
    statement = module.segment(module.statement(site.node))
    return fix(title, (Edit(before, f"{statement}\n\n\n"), Edit(here.lines, "")))


def _before_class(module: Module, site: CallSite, function: FunctionInfo) -> tuple[Edit, ...]:
    """For a method: define a global `STRATEGY` above the class."""
    own = {
        node.id
        for node in ast.walk(function.node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    names = names_in(site.node)
    owner = function.owner
    if owner is None or owner.node.col_offset or names & (own | set(function.parameters)):
        return ()
    here = module.location(site.node)
    first = min([owner.node.lineno, *(node.lineno for node in owner.node.decorator_list)])
    line = here.line - site.node.lineno + first
    before = Location(here.path, line, 1, line, 1, here.cell)
    return (Edit(before, f"STRATEGY = {module.segment(site.node)}\n\n\n"), Edit(here, "STRATEGY"))
