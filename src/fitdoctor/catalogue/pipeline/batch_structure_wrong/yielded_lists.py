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
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

REMEDY = "yield a tuple `(x, y)`"
MUST_BE_TUPLE = "generator must return a tuple"


def in_module(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report the generator functions that are called in the arguments of `fit`."""
    for function in _given_to_fit(module):
        yield from lists(cause, function, "training generator", Confidence.LIKELY)


def x_alone(cause: Cause, fit_call: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a generator whose batch is certainly a single array."""
    if data.form != "generator" or data.element != "single" or fit_call.method != "fit":
        return
    function = generator_behind(project, data.code)
    if function is not None and function.module.facts.keras != 2:
        yield from _alone(cause, function, f"{data.role} generator", Confidence.LIKELY)


def seen(cause: Cause, fit_call: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a first batch that is not a tuple."""
    if data.form != "generator" or data.problem is None or MUST_BE_TUPLE not in data.problem.message:
        return
    function, subject = generator_behind(project, data.code), f"{data.role} generator"
    if function is not None:
        judged = lists if data.element.startswith("list") else _alone
        found = list(judged(cause, function, subject, Confidence.CERTAIN))
        if found:
            yield from found
            return
    yield cause.finding(
        f"the {words(data)} yields {_what(data.element)}, but `fit` expects tuples from a generator",
        place(data.code, fit_call.code),
        _evidence(data.element),
        fix(REMEDY),
        subject=subject,
        confidence=Confidence.CERTAIN,
    )


def failed(cause: Cause, module: Module | None, location: Location | None) -> Iterator[Finding]:
    """Report the generator passed to `fit` in this file whose value Keras rejected."""
    for function in _given_to_fit(module) if module is not None else ():
        for judged in (lists, _alone):
            found = list(judged(cause, function, "training generator", Confidence.CERTAIN))
            if found:
                yield from found
                return
    yield cause.finding("the generator does not yield tuples", location, fix(REMEDY))


def lists(cause: Cause, function: FunctionInfo, subject: str, confidence: Confidence) -> Iterator[Finding]:
    """Report a function in which every `yield` yields a list."""
    module = function.module
    values = _values(function)
    made = [module.made_by(value) for value in values]
    first = made[0] if made else None
    if not isinstance(first, ast.List) or not all(isinstance(one, ast.List) for one in made):
        return
    edits = [edit for value in values for edit in _tupled(module, value)]
    told = f"list of {len(first.elts)}" if first.elts else "list"
    yield _finding(cause, function, values[0], told, subject, fix("yield a tuple", edits), confidence)


def _alone(cause: Cause, function: FunctionInfo, subject: str, confidence: Confidence) -> Iterator[Finding]:
    """Report a function in which every `yield` yields a single value that is not a literal tuple."""
    values = _values(function)
    made = [function.module.made_by(value) for value in values]
    if made and not any(isinstance(one, (ast.Tuple, ast.Dict, ast.List)) for one in made):
        yield _finding(cause, function, values[0], "single", subject, fix(REMEDY), confidence)


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


def _evidence(element: str) -> Evidence:
    return Evidence("yielded value", _what(element), "a tuple `(x, y)`", fact="data.element")


def _finding(
    cause: Cause,
    function: FunctionInfo,
    value: ast.expr,
    element: str,
    subject: str,
    remedy: Fix,
    confidence: Confidence,
) -> Finding:
    return cause.finding(
        f"`{function.name}` yields {_what(element)}, but `fit` expects tuples from a generator",
        function.module.location(value),
        _evidence(element),
        remedy,
        subject=subject,
        confidence=confidence,
    )
