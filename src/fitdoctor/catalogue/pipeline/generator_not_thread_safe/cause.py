"""One Python generator read by several threads.

## What happens

A step fails with `ValueError: generator already executing` inside an `InvalidArgumentError`. Which batch fails
depends on timing. If the threads never call the generator at the same time, nothing fails.

## Why

A `PyDataset` with `workers=4` calls `__getitem__` from four threads. Only one thread can advance a generator at a
time: if another thread calls `next()` meanwhile, Python raises the error.

## Fix

Use one worker, or compute each batch in `__getitem__` from its index so that the threads share nothing.

## Known limits

A lock around `next()` makes it safe. If `__getitem__` uses one, nothing is reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.data.generator_sources import generator_function
from fitdoctor.diagnosis import Evidence, Finding, Severity
from fitdoctor.edits import fix, set_argument
from fitdoctor.source.module import ClassInfo, Module

CAUSE = Cause(
    id="FIT708",
    slug="generator-not-thread-safe",
    severity=Severity.ERROR,
    raises=("InvalidArgumentError", "ValueError"),
)


_REMEDIES = ("use one worker (`workers=1`)", "compute each batch from its index, without a generator")


@CAUSE.rule(
    "PyDataset",
    "Sequence",
    says="generator already executing",
    anywhere=True,
    problem="two threads used one Python generator at the same time",
    remedy=_REMEDIES,
    subject="generator",
)
def read_by_several_workers(module: Module) -> Iterator[Finding]:
    """Report a PyDataset with several workers that calls `next` on a stored generator."""
    for info in module.classes:
        drawn = _draws_from_generator(info) if info.kind == "PyDataset" else None
        if drawn is None:
            continue
        for call, workers in _with_workers(module, info):
            yield CAUSE.finding(
                f"`{info.name}` reads its batches from one generator, but {workers} workers call it at the same time",
                module.location(call),
                Evidence(
                    "each worker calls `next` on the same generator here", location=module.location(drawn)
                ),
                fix("use one worker", set_argument(module.code(call), "workers", "1")),
                fix(_REMEDIES[1]),
                subject=info.name,
            )


def _draws_from_generator(info: ClassInfo) -> ast.Call | None:
    """Return the `next(self.…)` in `__getitem__` that reads from a stored generator."""
    method = info.methods.get("__getitem__")
    nodes = list(ast.walk(method.node)) if method is not None else []
    if any(isinstance(node, (ast.With, ast.AsyncWith)) for node in nodes):
        return None
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id="next"), args=[source, *_]):
                name = info.module.own_attribute(source)
                if name and _keeps_generator(info, name):
                    return node
    return None


def _keeps_generator(info: ClassInfo, attribute: str) -> bool:
    module = info.module
    stored = (module.parent(target) for target in module.attribute_stores(info.node).get(attribute, ()))
    values = [statement.value for statement in stored if isinstance(statement, ast.Assign)]
    return any(
        isinstance(value, ast.GeneratorExp)
        or isinstance(value, ast.Call)
        and _makes_generator(info, value.func)
        for value in values
    )


def _makes_generator(info: ClassInfo, func: ast.expr) -> bool:
    own = info.module.method(info, info.module.own_attribute(func))
    if own is not None:
        return own.node in own.module.generators
    return generator_function(info.module, func) is not None


def _with_workers(module: Module, info: ClassInfo) -> Iterator[tuple[ast.Call, int]]:
    """Return the places that set several workers: the constructor call, or `super().__init__`."""
    for call in module.calls:
        inside = call.method == "__init__" and module.called(call.receiver) == "super"
        if module.definition(call.node.func) is not info and not (
            inside and module.class_of(call.node) is info
        ):
            continue
        workers, processes = call.argument("workers"), call.argument("use_multiprocessing")
        if workers is None or isinstance(processes, ast.Constant) and processes.value:
            continue
        value = module.made_by(workers)
        if isinstance(value, ast.Constant) and isinstance(value.value, int) and value.value > 1:
            yield call.node, value.value
