"""A number of steps that is no whole number.

## What happens

`TypeError: 'float' object cannot be interpreted as an integer`, out of a line of Keras that counts the batches of an
epoch.

## Why

In Python 3 `/` gives a float, also where it leaves no rest: `len(x) / batch_size` is `6.0`. `steps_per_epoch`,
`validation_steps` and the `__len__` of a `PyDataset` or `Sequence` are numbers of batches. (Keras 2 takes a float for
the steps.)

## Fix

Divide with `//`, or with `math.ceil(len(x) / batch_size)` where the last, smaller batch counts too.

## Known limits

Before the failure only a division that is written in the argument or in `__len__` itself is seen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.pipeline.generator_sources import is_batched_class
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Location, Severity
from fitdoctor.edits import unsafe
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT715", slug="steps-not-whole", severity=Severity.ERROR, raises="TypeError")

STEPS = ("steps_per_epoch", "validation_steps", "steps")
_SAID = pattern(r"'float' object cannot be interpreted as an integer")
_COUNTING = frozenset("_enumerate_iterator num_batches __len__ _num_batches enumerate_epoch".split())
"""Where Keras counts batches."""


@CAUSE.in_source
@mentions("steps", "PyDataset", "Sequence")
def from_source(module: Module) -> Iterator[Finding]:
    """A division where a number of batches belongs."""
    for name, node in (*_arguments(module), *_lengths(module)):
        divided = module.made_by(node)
        if isinstance(divided, ast.BinOp) and isinstance(divided.op, ast.Div):
            yield _finding(module, name, divided, module.location(node))


def _arguments(module: Module) -> Iterator[tuple[str, ast.expr]]:
    if module.facts.keras == 2:
        return  # it compares its steps with the number, which may be any
    for call in module.method_calls("fit", "evaluate", "predict"):
        for word in call.node.keywords:
            if word.arg in STEPS:
                yield f"`{word.arg}`", word.value


def _lengths(module: Module) -> Iterator[tuple[str, ast.expr]]:
    for info in module.classes:
        method = info.methods.get("__len__")
        if method is None or not is_batched_class(module, info):
            continue
        for node in module.returns.get(method.node, []):
            if node.value is not None:
                yield f"the length of `{info.name}`", node.value


def _finding(module: Module, name: str, divided: ast.BinOp, use: Location) -> Finding:
    left, right = module.location(divided.left), module.location(divided.right)
    between = replace(
        left, line=left.end_line, column=left.end_column, end_line=right.line, end_column=right.column
    )
    plain = left.end_line == right.line and left.path == right.path
    whole = module.location(divided)
    return CAUSE.finding(
        f"{name} is the float that `/` gives, but a number of batches is whole",
        subject=name,
        location=whole if whole.path == use.path else use,
        evidence=[
            Evidence(claim=name, observed=module.segment(divided), expected="a whole number", location=use)
        ],
        fixes=[
            unsafe("divide with `//`", (Edit(between, " // "),) if plain and _bare(module, divided) else ())
        ],
        confidence=Confidence.LIKELY,
    )


def _bare(module: Module, divided: ast.BinOp) -> bool:
    """Whether nothing but the sign stands between the two: no parenthesis that an edit would break."""
    text, left, right = (module.segment(node) for node in (divided, divided.left, divided.right))
    return text.startswith(left) and text.endswith(right) and text[len(left) : -len(right)].strip() == "/"


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Python refuses a float where Keras counts batches."""
    if failure.type != "TypeError" or not _SAID.search(failure.message):
        return
    if not failure.frames or failure.frames[-1].function not in _COUNTING:
        return
    modules = () if isinstance(project, Unknown) else project.modules
    found = [finding for module in modules for finding in from_source(module)]
    yield from (replace(finding, confidence=Confidence.CERTAIN) for finding in found[:1])
    frame = failure.last_user_frame
    if not found:
        yield CAUSE.finding(
            "a number of steps, or the length of the data, is a float",
            subject="steps",
            location=frame.location if frame is not None else None,
            fixes=[unsafe("make it whole: divide with `//`, or take `int(…)`", ())],
        )
