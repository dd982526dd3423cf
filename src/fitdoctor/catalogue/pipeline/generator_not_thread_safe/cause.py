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

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.generator_sources import generator_function
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, set_argument
from fitdoctor.facts import FailureFacts
from fitdoctor.source.module import ClassInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT708",
    slug="generator-not-thread-safe",
    severity=Severity.ERROR,
    raises=("InvalidArgumentError", "ValueError"),
)


@CAUSE.in_source
@mentions("PyDataset", "Sequence")
def from_source(module: Module) -> Iterator[Finding]:
    """Report a PyDataset with several workers that calls `next` on a stored generator."""
    for info in module.classes:
        drawn = _draws_from_generator(info) if info.kind == "PyDataset" else None
        if drawn is None:
            continue
        for call, workers, place in _with_workers(module, info):
            yield _finding(
                info, module.location(drawn), place, workers, _fixes(module, call), Confidence.LIKELY
            )


def _finding(
    info: ClassInfo,
    drawn: Location | None,
    place: Location,
    workers: str,
    fixes: list[Fix],
    confidence: Confidence,
) -> Finding:
    return CAUSE.finding(
        f"`{info.name}` reads its batches from one generator, but {workers} workers call it at the same time",
        place,
        Evidence("each worker calls `next` on the same generator here", location=drawn),
        *fixes,
        subject=info.name,
        confidence=confidence,
    )


def _fixes(module: Module, call: ast.Call) -> list[Fix]:
    return [
        fix("use one worker", set_argument(module.code(call), "workers", "1")),
        fix("compute each batch from its index, without a generator"),
    ]


def _draws_from_generator(info: ClassInfo) -> ast.Call | None:
    """Return the `next(self.…)` in `__getitem__` that reads from a stored generator."""
    method = info.methods.get("__getitem__")
    if method is None:
        return None
    nodes = list(ast.walk(method.node))
    if any(isinstance(node, (ast.With, ast.AsyncWith)) for node in nodes):
        return None
    for node in nodes:
        if not isinstance(node, ast.Call) or not node.args or not isinstance(node.func, ast.Name):
            continue
        source = node.args[0]
        if node.func.id == "next" and _is_own_attribute(source) and _keeps_generator(info, source.attr):  # type: ignore[attr-defined]
            return node
    return None


def _is_own_attribute(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _keeps_generator(info: ClassInfo, attribute: str) -> bool:
    for node in ast.walk(info.node):
        if not isinstance(node, ast.Assign):
            continue
        if not any(_is_own_attribute(target) and target.attr == attribute for target in node.targets):  # type: ignore[attr-defined]
            continue
        value = node.value
        if isinstance(value, ast.GeneratorExp):
            return True
        if isinstance(value, ast.Call) and _makes_generator(info, value.func):
            return True
    return False


def _makes_generator(info: ClassInfo, func: ast.expr) -> bool:
    if isinstance(func, ast.Attribute) and _is_own_attribute(func):
        method = info.module.method(info, func.attr)
        return method is not None and method.node in method.module.generators
    return generator_function(info.module, func) is not None


def _with_workers(module: Module, info: ClassInfo) -> Iterator[tuple[ast.Call, str, Location]]:
    """Return the places that set several workers: the constructor call, or `super().__init__`."""
    for call in module.calls:
        made = module.definition(call.node.func) is info
        inside = _is_super_init(call.node) and module.class_of(call.node) is info
        workers = call.argument("workers") if made or inside else None
        processes = call.argument("use_multiprocessing") if made or inside else None
        if isinstance(processes, ast.Constant) and processes.value:
            continue
        if workers is None:
            continue
        value = module.made_by(workers)
        if isinstance(value, ast.Constant) and isinstance(value.value, int) and value.value > 1:
            yield call.node, str(value.value), module.location(call.node)


def _is_super_init(call: ast.Call) -> bool:
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr != "__init__" or not isinstance(func.value, ast.Call):
        return False
    return isinstance(func.value.func, ast.Name) and func.value.func.id == "super"


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report that one thread called the generator while another was running it."""
    if "generator already executing" not in failure.message + failure.raw_message:
        return
    found: list[Finding] = []
    modules = project.modules
    for module in modules:
        for info in module.classes:
            if info.kind == "PyDataset":
                drawn = _draws_from_generator(info)
                line = module.location(drawn) if drawn is not None else None
                for call, workers, place in _with_workers(module, info):
                    found.append(
                        _finding(info, line, place, workers, _fixes(module, call), Confidence.CERTAIN)
                    )
    if found:
        yield from found
        return
    yield CAUSE.finding(
        "two threads used one Python generator at the same time",
        failure.location,
        Evidence("error in the second thread", "generator already executing", fact="failure.message"),
        fix("use one worker (`workers=1`)"),
        fix("compute each batch from its index, without a generator"),
    )
