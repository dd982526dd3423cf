"""Generators that yield a list, or only x, where `fit` expects tuples."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.data.batch_edits import as_tuple
from fitdoctor.catalogue.knowledge.data.generator_sources import called_generator, generator_behind, yields_of
from fitdoctor.catalogue.knowledge.data.pipeline_steps import words
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location
from fitdoctor.edits import fix, wrap
from fitdoctor.facts import DataFacts, FitFacts
from fitdoctor.records import replace
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

REMEDY = "yield a tuple `(x, y)`"
MUST_BE_TUPLE = "generator must return a tuple"


def in_module(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report the generator functions that are called in the arguments of `fit` and yield lists."""
    for function in _given_to_fit(module):
        yield from _of_lists(cause, function)


def x_alone(cause: Cause, fit_call: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a generator whose batch is certainly a single array."""
    if data.form != "generator" or data.element != "single" or fit_call.method != "fit":
        return
    function = generator_behind(project, data.code)
    if function is not None and function.module.facts.keras != 2:
        yield from _alone(cause, function, data.role)


def seen(cause: Cause, fit_call: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a first batch that is not a tuple."""
    if data.form != "generator" or data.problem is None or MUST_BE_TUPLE not in data.problem.message:
        return
    function, judged = generator_behind(project, data.code), _alone
    if data.element.startswith("list"):
        judged = _of_lists
    found = next(judged(cause, function, data.role), None) if function is not None else None
    where = place(data.code, fit_call.code)
    yield replace(
        found or _finding(cause, f"the {words(data)}", where, data.element, fix(REMEDY), data.role),
        confidence=Confidence.CERTAIN,
    )


def failed(cause: Cause, module: Module | None, location: Location | None) -> Iterator[Finding]:
    """Report the generator passed to `fit` in this file whose value Keras rejected."""
    for function in _given_to_fit(module) if module is not None else ():
        for finding in (*_of_lists(cause, function), *_alone(cause, function)):
            yield replace(finding, confidence=Confidence.CERTAIN)
            return
    yield cause.finding("the generator does not yield tuples", location, fix(REMEDY))


def _of_lists(cause: Cause, function: FunctionInfo, role: str = "training") -> Iterator[Finding]:
    """Report a function in which every `yield` yields a list."""
    module, values = function.module, _values(function)
    made = [module.made_by(value) for value in values]
    first = made[0] if made else None
    if isinstance(first, ast.List) and all(isinstance(one, ast.List) for one in made):
        edits = [edit for value in values for edit in _tupled(module, value)]
        told = f"list of {len(first.elts)}" if first.elts else "list"
        where = module.location(values[0])
        yield _finding(cause, f"`{function.name}`", where, told, fix("yield a tuple", edits), role)


def _alone(cause: Cause, function: FunctionInfo, role: str = "training") -> Iterator[Finding]:
    """Report a function in which every `yield` yields a single value that is not a literal tuple."""
    module, values = function.module, _values(function)
    made = [module.made_by(value) for value in values]
    if made and not any(isinstance(one, (ast.Tuple, ast.Dict, ast.List)) for one in made):
        where = module.location(values[0])
        yield _finding(cause, f"`{function.name}`", where, "single", fix(REMEDY), role)


def _given_to_fit(module: Module) -> Iterator[FunctionInfo]:
    for call in module.method_calls("fit"):
        given = call.argument("x", 0)
        made = module.made_by(given) if given is not None else None
        function = called_generator(module, made) if isinstance(made, ast.Call) else None
        if function is not None:
            yield function


def _values(function: FunctionInfo) -> list[ast.expr]:
    return [node.value for node in yields_of(function) if node.value is not None]


def _tupled(module: Module, value: ast.expr) -> tuple[Edit, ...]:
    if isinstance(value, ast.List):
        return (as_tuple(module, value),)
    return wrap(module.code(value), "tuple({})")


def _what(element: str) -> str:
    return "only x" if element == "single" else f"a {element}" + (" parts" if element[-1:].isdigit() else "")


def _finding(cause: Cause, who: str, where: Location | None, element: str, remedy: Fix, role: str) -> Finding:
    return cause.finding(
        f"{who} yields {_what(element)}, but `fit` expects tuples from a generator",
        where,
        Evidence("yielded value", _what(element), "a tuple `(x, y)`", fact="data.element"),
        remedy,
        subject=f"{role} generator",
    )
