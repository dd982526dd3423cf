"""Batches whose structure means something else to fit.

## What happens

A generator that yields `[x, y]` raises `ValueError: … the generator must return a tuple`; four parts raise "Data is
expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`"; and `(x1, x2, y)` for a model with two
inputs is read as inputs, labels and weights: "expects 2 input(s), but it received 1".

## Why

A batch is a tuple of one, two or three parts: inputs, labels, sample weights. Several inputs belong together, in a
tuple or dict that is the first part. A list counts as one structure of inputs; only `Dataset.map` and `PyDataset`
may return one.

## Fix

Yield `(x, y)`; group the inputs: `((x1, x2), y)`; drop what is neither inputs, labels nor weights.

## Known limits

Three parts whose third is no weight, in a model with one input, look like weights to everyone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.generator_sources import (
    expression_of,
    generator_behind,
    generator_function,
    yields_of,
)
from fitdoctor.catalogue.pipeline_steps import with_step_after, with_step_before, words
from fitdoctor.catalogue.shapes import went_through
from fitdoctor.catalogue.traced import module_of
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import Code, DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT707",
    slug="batch-structure-wrong",
    severity=Severity.ERROR,
    raises="ValueError",
    explains=("FIT109", "FIT205", "FIT214", "FIT215", "FIT204", "FIT201", "FIT101", "FIT102", "FIT712"),
)

MUST_BE_TUPLE = "generator must return a tuple"
FORMAT = "Data is expected to be in format"


# --- a list instead of a tuple ------------------------------------------------------------------------------------


@CAUSE.in_source
def from_source(module: Module) -> Iterator[Finding]:
    """A generator function that yields lists, called in the arguments of fit."""
    for call in module.method_calls("fit"):
        given = call.argument("x", 0)
        made = module.made_by(given) if given is not None else None
        if isinstance(made, ast.Call):
            function = generator_function(module, made.func)
            if function is not None:
                yield from _lists(function, "training generator", Confidence.LIKELY)


def _lists(function: FunctionInfo, subject: str, confidence: Confidence) -> Iterator[Finding]:
    lists = [node.value for node in yields_of(function) if isinstance(node.value, ast.List)]
    if not lists or len(lists) != len(yields_of(function)):
        return
    first = lists[0]
    assert isinstance(first, ast.List)
    yield CAUSE.finding(
        f"`{function.name}` yields a list of {len(first.elts)}: `fit` takes only tuples from a generator",
        subject=subject,
        location=function.module.location(first),
        evidence=[
            Evidence(
                claim="what the generator yields",
                observed=f"list of {len(first.elts)}",
                expected="a tuple `(x, y)`",
                fact="data.element",
            )
        ],
        fixes=[
            fix(
                "yield a tuple",
                [_as_tuple(function.module, node) for node in lists if isinstance(node, ast.List)],
            )
        ],
        confidence=confidence,
    )


def _as_tuple(module: Module, node: ast.List) -> Edit:
    text = module.segment(node)
    comma = "," if len(node.elts) == 1 and not text[1:-1].rstrip().endswith(",") else ""
    return Edit(module.location(node), f"({text[1:-1]}{comma})")


@CAUSE.before_fit
def from_generator(fit: FitFacts, data: DataFacts, project: Project | Unknown) -> Iterator[Finding]:
    """The first batch was seen, and it is a list."""
    if data.form != "generator" or data.problem is None or MUST_BE_TUPLE not in data.problem.message:
        return
    function = generator_behind(project, data.code)
    found = (
        list(_lists(function, f"{data.role} generator", Confidence.CERTAIN)) if function is not None else []
    )
    if found:
        yield from found
        return
    yield CAUSE.finding(
        f"the {words(data)} yields a {data.element}: `fit` takes only tuples from a generator",
        subject=f"{data.role} generator",
        location=place(data.code, fit.code),
        evidence=[
            Evidence(
                claim="what it yields",
                observed=data.element,
                expected="a tuple `(x, y)`",
                fact="data.element",
            )
        ],
        fixes=[fix("yield a tuple: `(x, y)`")],
        confidence=Confidence.CERTAIN,
    )


# --- too many parts -----------------------------------------------------------------------------------------------


@CAUSE.in_source
def parts_in_source(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """The same, as far as the source tells the parts."""
    for finding in from_parts(model, fit, data, project):
        yield replace(finding, confidence=Confidence.LIKELY)


@CAUSE.before_fit
def from_parts(
    model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """More parts than inputs, labels and weights; or the inputs as parts of their own."""
    size = data.element_size
    if (
        data.form not in ("dataset", "generator", "pydataset")
        or size is None
        or size < 3
        or "fit" in model.overrides
    ):
        return
    inputs = 1 if isinstance(model.inputs, Unknown) else len(model.inputs)
    flat = inputs > 1 and size in (inputs + 1, inputs + 2) and len(data.x) <= 1
    if size <= 3 and (not flat or went_through(data) or data.x_structure != "single"):
        return
    if size > 3 and ("train_step" in model.overrides or fit.method not in ("fit", "evaluate")):
        return  # its own step may take them apart
    if flat:
        yield _ungrouped(data, fit, inputs, size, project)
    elif size > 3:
        yield _too_many(data, fit, size)


def _too_many(data: DataFacts, fit_call: FitFacts, size: int) -> Finding:
    end = _end(data)
    return CAUSE.finding(
        f"an element of the {words(data)} has {size} parts: `fit` reads inputs, labels and weights, nothing more",
        subject=f"{data.role} {data.form}",
        location=place(end, fit_call.code),
        evidence=[
            Evidence(
                claim="parts of an element",
                observed=str(size),
                expected="1, 2 or 3",
                fact="data.element_size",
            )
        ],
        fixes=[
            fix(
                "keep inputs, labels and weights only",
                _mapped(data, end, ".map(lambda x, y, weight, *rest: (x, y, weight))"),
            )
        ],
        confidence=Confidence.CERTAIN,
    )


def _end(data: DataFacts) -> Code | Unknown:
    return next((step.code for step in reversed(data.pipeline) if isinstance(step.code, Code)), data.code)


def _mapped(data: DataFacts, end: Code | Unknown, call: str) -> tuple[Edit, ...]:
    if data.form != "dataset":
        return ()
    if data.pipeline and data.pipeline[-1].operation == "prefetch" and data.pipeline[-1].code == end:
        return with_step_before(end, call)
    return with_step_after(end, call)


def _ungrouped(
    data: DataFacts, fit_call: FitFacts, inputs: int, size: int, project: Project | Unknown
) -> Finding:
    weighted = size == inputs + 2
    source = data.pipeline[0].code if data.pipeline else Unknown("no pipeline")
    names = [f"x{index + 1}" for index in range(inputs)]
    rest = ["y", "weight"] if weighted else ["y"]
    call = f".map(lambda {', '.join([*names, *rest])}: (({', '.join(names)}), {', '.join(rest)}))"
    edits = _grouped(project, source, inputs) or _mapped(data, _end(data), call)
    title = f"group the inputs: `(({', '.join(names)}), {', '.join(rest)})`"
    return CAUSE.finding(
        f"an element of the {words(data)} has {size} parts in a row: only the first counts as input, "
        f"but the model has {inputs}",
        subject=f"{data.role} {data.form}",
        location=place(source, _end(data), fit_call.code),
        evidence=[
            Evidence(
                claim="an element",
                observed=data.element,
                expected=f"a tuple whose first part holds the {inputs} inputs",
                fact="data.element",
            )
        ],
        fixes=[fix(title, edits)],
        confidence=Confidence.LIKELY if isinstance(data.trial.forward, Unknown) else Confidence.CERTAIN,
    )


def _grouped(project: Project | Unknown, source: Code | Unknown, inputs: int) -> tuple[Edit, ...]:
    """Parentheses round the inputs where the source of the dataset is a tuple that is written out."""
    found = expression_of(project, source)
    if found is None or not isinstance(found[1], ast.Call) or not found[1].args:
        return ()
    module, parts = found[0], found[1].args[0]
    if not isinstance(parts, ast.Tuple) or len(parts.elts) <= inputs:
        return ()
    first, last = module.location(parts.elts[0]), module.location(parts.elts[inputs - 1])
    opening = replace(first, end_line=first.line, end_column=first.column)
    closing = replace(last, line=last.end_line, column=last.end_column)
    return (Edit(opening, "("), Edit(closing, ")"))


# --- after the failure --------------------------------------------------------------------------------------------


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project | Unknown,
) -> Iterator[Finding]:
    """Keras says what it takes; the data tells why."""
    if failure.type != "ValueError":
        return
    if isinstance(data, DataFacts) and isinstance(fit, FitFacts):
        found = list(from_generator(fit, data, project))
        if isinstance(model, ModelFacts) and ("input" in failure.message or FORMAT in failure.message):
            found.extend(from_parts(model, fit, data, project))
        yield from found
        if found or data.role != "training":
            return
    frame = failure.last_user_frame
    location = frame.location if frame is not None else None
    module = module_of(project, frame)
    if MUST_BE_TUPLE in failure.message and module is not None and frame is not None:
        found = list(from_source(module))
        yield from found
        if found:
            return
    if MUST_BE_TUPLE in failure.message:
        yield CAUSE.finding(
            "the generator yields something else than a tuple", location=location, fixes=_tuple_fix()
        )
    elif "__getitem__() must return a tuple or a dict" in failure.message or FORMAT in failure.message:
        yield CAUSE.finding(
            "a batch is neither `(x,)`, `(x, y)` nor `(x, y, sample_weight)`",
            location=location,
            fixes=[fix("keep inputs, labels and weights only; put several inputs into one tuple or dict")],
        )


def _tuple_fix() -> list[Fix]:
    return [fix("yield a tuple: `(x, y)`")]
