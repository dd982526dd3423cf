"""Generator that is trained towards the label that the discriminator has for generated samples.

## What happens

Nothing fails. The generator learns to make samples that are easily recognized: the loss of the discriminator falls to 0, and
that of the generator as well, while the samples move away from the data.

## Why

The line was copied from the discriminator's step. There, generated samples are labelled 0 (`zeros_like`). In the generator's
step, the discriminator must be led to answer 1.

## Fix

Use the other label in the generator's loss: `ones_like`.

## Known limits

Two tapes, each with the variables of one of the two models, and labels made by `zeros_like`, `ones_like`, `zeros` or `ones`
are recognized. Which of the two labels is used for generated samples does not matter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.tracing.gradient_ways import trained_parts
from fitdoctor.diagnosis import Edit, Evidence, Finding, Severity
from fitdoctor.edits import unsafe
from fitdoctor.records import dataclass
from fitdoctor.source.callees import callee
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.loss_functions import loss_called
from fitdoctor.source.module import Module

CAUSE = Cause(id="FIT335", slug="generator-target-reversed", severity=Severity.WARNING)

_LABELS = {"zeros_like": 0, "zeros": 0, "ones_like": 1, "ones": 1}
_LOGITS = "tensorflow.nn.sigmoid_cross_entropy_with_logits"
_DEEPEST = 6


@dataclass(frozen=True, eq=False)
class _Label:
    """A label in a loss for samples that a model generated."""

    module: Module
    node: ast.Call
    value: int
    discriminator: str
    generator: str


@CAUSE.rule("GradientTape")
def same_label(module: Module) -> Iterator[Finding]:
    """Find steps of a generator with the label for generated samples of the discriminator's step."""
    labels = [
        (label, trained_parts(module, sources))
        for site in module.method_calls("gradient")
        if (loss := site.argument("target", 0)) is not None
        and (sources := site.argument("sources", 1)) is not None
        for label in _labels(module, loss)
    ]
    of_discriminators = [label for label, parts in labels if parts == [label.discriminator]]
    for label in [label for label, parts in labels if parts == [label.generator]]:
        first = next((each for each in of_discriminators if _same_models(each, label)), None)
        if first is not None and first.value == label.value and first.node is not label.node:
            yield _finding(label, first)


def _same_models(one: _Label, other: _Label) -> bool:
    return (one.discriminator, one.generator) == (other.discriminator, other.generator)


def _labels(module: Module, loss: ast.expr, depth: int = 0) -> Iterator[_Label]:
    """Yield the constant labels for generated samples in a loss, through names and functions."""
    if depth > _DEEPEST:
        return
    made = module.origin(loss) if isinstance(loss, (ast.Name, ast.Attribute)) else None
    module, loss = (made.module, made.node) if made is not None else (module, loss)
    if isinstance(loss, ast.BinOp) and isinstance(loss.op, (ast.Add, ast.Mult, ast.Div)):
        sides = (loss.left, loss.right)
        turned = not isinstance(loss.op, ast.Add) and any(isinstance(each, ast.UnaryOp) for each in sides)
        for side in sides if not turned else ():
            yield from _labels(module, side, depth + 1)
    elif isinstance(loss, ast.Call):
        pair = _compared(module, loss)
        label = _label(module, *pair) if pair is not None else None
        if label is not None:
            yield label
        elif pair is None:
            function = callee(module, loss)
            returned = function.module.returns.get(function.node, []) if function is not None else []
            inner = [each.value for each in returned if each.value is not None] or loss.args[:1]
            for each in inner:
                yield from _labels(function.module if returned and function else module, each, depth + 1)


def _compared(module: Module, call: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """Return the labels and predictions of a call of a binary crossentropy, or of another loss of Keras."""
    if module.called(call) == _LOGITS:
        labels, predictions = argument_of(call, "labels", 0), argument_of(call, "logits", 1)
    elif loss_called(module, call):
        labels, predictions = argument_of(call, "y_true", 0), argument_of(call, "y_pred", 1)
    else:
        return None
    return None if labels is None or predictions is None else (labels, predictions)


def _label(module: Module, labels: ast.expr, predictions: ast.expr) -> _Label | None:
    made = module.origin(labels)
    value = _LABELS.get(made.module.called(made.node).rpartition(".")[2]) if made.certain else None
    judged = module.origin(predictions)
    if value is None or not isinstance(made.node, ast.Call) or not isinstance(judged.node, ast.Call):
        return None
    sample = judged.module.origin(judged.node.args[0]) if judged.node.args else None
    if sample is None or not isinstance(sample.node, ast.Call) or not judged.certain or not sample.certain:
        return None
    return _Label(
        made.module,
        made.node,
        value,
        judged.module.segment(judged.node.func),
        sample.module.segment(sample.node.func),
    )


def _finding(label: _Label, first: _Label) -> Finding:
    module, function = label.module, label.node.func
    written = module.segment(function)
    other = written.replace("zeros", "ones") if label.value == 0 else written.replace("ones", "zeros")
    return CAUSE.finding(
        f"`{label.generator}` is trained towards `{written}`, which for `{label.discriminator}` means a generated sample",
        module.location(label.node),
        Evidence("label of generated samples", f"{first.value}", location=first.module.location(first.node)),
        unsafe(f"use the other label: `{other}`", (Edit(module.location(function), other),)),
        subject=f"target of {label.generator}",
    )
