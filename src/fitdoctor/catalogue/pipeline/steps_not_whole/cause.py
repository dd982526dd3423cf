"""Float as the number of steps or as the batch size.

## What happens

The Keras code that counts the batches of an epoch raises `TypeError: 'float' object cannot be interpreted as an
integer`. A float `batch_size` with arrays raises `TypeError: Expected int32 passed to parameter 'size' of op 'Slice',
got [96.0]`.

## Why

In Python 3, `/` always returns a float: `len(x) / batch_size` is `6.0`. `steps_per_epoch`, `validation_steps` and the
`__len__` of a `PyDataset` or `Sequence` count batches, and `batch_size` counts samples, so all of them must be
integers. (Keras 2 accepts floats for the steps, but not for `batch_size`.)

## Fix

Divide with `//`, or use `math.ceil(len(x) / batch_size)` to include the last, smaller batch.

## Known limits

Before the failure, only a division written directly in the argument or in `__len__` is detected.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.generator_sources import is_batched_class
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import FailureFacts, FitFacts, Unknown
from fitdoctor.records import replace
from fitdoctor.source.keras_objects import defines, is_keras_model
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT715", slug="steps-not-whole", severity=Severity.ERROR, raises="TypeError")

STEPS = ("steps_per_epoch", "validation_steps", "steps")
_SAID = re.compile(r"'float' object cannot be interpreted as an integer")
_SLICED = re.compile(r"Expected int32 passed to parameter 'size' of op 'Slice', got \[[^\]\n]{0,40}\d\.\d")
"""Keras slices `batch_size` indices from all indices."""
_COUNTING = frozenset(
    """_enumerate_iterator num_batches __len__ _num_batches enumerate_epoch fit_generator evaluate_generator
    predict_generator fit_loop""".split()
)
"""Where Keras counts batches."""


@CAUSE.in_source
@mentions("steps", "PyDataset", "Sequence", "batch_size")
def from_source(module: Module) -> Iterator[Finding]:
    """Report a division where an integer number of batches belongs."""
    for name, node in (*_arguments(module), *_lengths(module), *_sizes(module)):
        divided = module.made_by(node)
        if isinstance(divided, ast.BinOp) and isinstance(divided.op, ast.Div):
            yield _finding(module, name, divided, module.location(node))


def _arguments(module: Module) -> Iterator[tuple[str, ast.expr]]:
    if module.facts.keras == 2:
        return  # Keras 2 only compares its steps with the number
    for call in module.method_calls("fit", "evaluate", "predict"):
        for word in call.node.keywords:
            if word.arg in STEPS:
                yield f"`{word.arg}`", word.value


def _sizes(module: Module) -> Iterator[tuple[str, ast.expr]]:
    """Return `batch_size` arguments next to labels, so that the data are arrays; Keras ignores it for other data."""
    for call in module.method_calls("fit", "evaluate"):
        given, labels, receiver = call.argument("batch_size", 2), call.argument("y", 1), call.node.func
        if given is None or labels is None or not isinstance(receiver, ast.Attribute):
            continue
        own = is_keras_model(module, receiver.value) and not defines(module, receiver.value, call.method)
        if own and not isinstance(labels, ast.Constant):
            yield "`batch_size`", given


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
        f"{name} is computed with `/`, which returns a float, but the number of {_counted(name)} must be an integer",
        whole if whole.path == use.path else use,
        Evidence(name, module.segment(divided), "an integer", location=use),
        _divided(name)(
            "divide with `//`", (Edit(between, " // "),) if plain and _bare(module, divided) else ()
        ),
        subject=name,
    )


def _divided(name: str) -> Callable[..., Fix]:
    """Return a safe fix for a batch size; a floored number of steps would skip some samples."""
    return fix if name == "`batch_size`" else unsafe


def _counted(name: str) -> str:
    return "samples" if name == "`batch_size`" else "batches"


def _bare(module: Module, divided: ast.BinOp) -> bool:
    """Return whether only the operator is between the operands, without parentheses that an edit would break."""
    text, left, right = (module.segment(node) for node in (divided, divided.left, divided.right))
    return text.startswith(left) and text.endswith(right) and text[len(left) : -len(right)].strip() == "/"


@CAUSE.after_failure
def from_failure(failure: FailureFacts, fit: FitFacts | Unknown, project: Project) -> Iterator[Finding]:
    """Report a float where Keras counts batches or TensorFlow slices samples."""
    if failure.type != "TypeError":
        return
    sliced = bool(_SLICED.search(failure.message)) and failure.called in ("fit", "evaluate", "predict", "")
    counted = _SAID.search(failure.message) and failure.frames and failure.frames[-1].function in _COUNTING
    if not sliced and not counted:
        return
    modules = project.modules
    found = [
        finding
        for module in modules
        for finding in from_source(module)
        if (finding.subject == "`batch_size`") is sliced
    ]
    yield from (replace(finding, confidence=Confidence.CERTAIN) for finding in found[:1])
    if not found:
        yield _untraced(failure, fit, sliced)


def _untraced(failure: FailureFacts, fit_call: FitFacts | Unknown, sliced: bool) -> Finding:
    """Report the float if no division is found, because it comes from a setting or another function."""
    frame = failure.last_user_frame
    code = fit_call.code if isinstance(fit_call, FitFacts) else frame.code if frame is not None else fit_call
    argument = None if isinstance(code, Unknown) or not sliced else code.argument("batch_size", 2)
    edits = () if argument is None else (Edit(argument.location, f"int({argument.text})"),)
    return CAUSE.finding(
        "`batch_size` is a float" if sliced else "the number of steps or the length of the data is a float",
        argument.whole if argument is not None else failure.location,
        fix("divide with `//`, or convert the value with `int(…)`", edits),
        subject="`batch_size`" if sliced else "steps",
    )
