"""Predictions read as something that the model does not output.

## What happens

Nothing fails, and the model may be good, but every figure computed from its predictions is wrong. `argmax` over the one
column of `Dense(1)` is 0 for every row, so each sample is assigned to class 0. A threshold of 0.5, or `round`, applied to
logits moves samples between a probability of 50% and 62% to the negative class.

## Why

Code for several classes was copied to a model with one output, or the activation moved from the last layer into the
loss (`from_logits=True`), and `predict` has returned logits since then. Or `evaluate`, which predicts by itself, is
called with predictions: an autoencoder then reconstructs its own reconstructions, and the loss is too low.

## Fix

One unit with sigmoid: compare with 0.5. One unit without an activation, trained with `from_logits=True`: compare with
0, or apply a sigmoid first. Several units with softmax: `argmax` over the last axis. Pass the data itself to `evaluate`.

## Known limits

Predictions are followed through names, rows, functions and changes of shape. After any other operation, nothing is
reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.generator_sources import expression_of
from fitdoctor.catalogue.knowledge.labels.targets import BINARY_LOSSES, Target, targets
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Edit, Evidence, Finding, Severity
from fitdoctor.edits import unsafe
from fitdoctor.facts import DataFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.records import dataclass
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT221", slug="predictions-misread", severity=Severity.WARNING)

_ARGMAX = ("numpy.argmax", "tensorflow.argmax", "tensorflow.math.argmax", "keras.ops.argmax")
_ROUND = (
    "numpy.round",
    "numpy.rint",
    "numpy.around",
    "tensorflow.round",
    "tensorflow.math.round",
    "keras.ops.round",
    "round",
)
_COPIES = frozenset({"array", "asarray", "convert_to_tensor", "numpy", "tolist"})
_RESHAPES = frozenset({"squeeze", "ravel", "reshape", "flatten", "item"})
_LIBRARIES = ("numpy", "tensorflow", "keras.ops")


@CAUSE.in_source
@CAUSE.before_fit
@mentions("predict")
def from_predict(
    fit_call: FitFacts, model: ModelFacts, data: DataFacts, project: Project
) -> Iterator[Finding]:
    """Compare how the program reads predictions with the last layer and the loss."""
    heads = list(targets(model, data)) if fit_call.method == "predict" else []
    found = expression_of(project, fit_call.code) if len(heads) == 1 else None
    if found is None:
        return
    for reading in _readings(project, found[1]):
        if reading.how == "argmax" or reading.how == "argmax of all" and not reading.whole:
            yield from _of_one_column(reading, heads[0])
        elif reading.how in ("threshold", "round"):
            yield from _of_logits(reading, heads[0])
        elif reading.how == "evaluate" and _fits_again(model, heads[0]):
            yield from _evaluated(reading, found[1])


def _fits_again(model: ModelFacts, head: Target) -> bool:
    """Whether the model accepts its own output, so that `evaluate` does not fail."""
    return (
        not isinstance(model.inputs, Unknown)
        and len(model.inputs) == 1
        and model.inputs[0].shape == head.output_shape
    )


def _evaluated(reading: _Reading, predict: ast.expr) -> Iterator[Finding]:
    """Report `evaluate` of a model on what it has predicted."""
    module, call = reading.module, reading.module.around(reading.node, ast.Call)
    models = [
        module.segment(each.func.value)
        for each in (call, predict)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)
    ]
    data = argument_of(predict, "x", 0) if isinstance(predict, ast.Call) else None
    if len(models) < 2 or models[0] != models[1] or data is None:
        return
    text = module.segment(data)
    yield CAUSE.finding(
        f"`evaluate` gets the predictions of `{models[0]}` as its inputs, and predicts from them again",
        module.location(reading.node),
        Evidence("inputs of `evaluate`", reading.given, text, location=module.location(predict)),
        unsafe(f"pass the data itself: `{text}`", reading.replaced_by(text)),
        subject="inputs of evaluate",
    )


def _of_one_column(reading: _Reading, head: Target) -> Iterator[Finding]:
    if head.units != 1 or len(head.output_shape or ()) != 2:
        return
    threshold = {"sigmoid": "0.5", "linear": "0"}.get(head.activation or "")
    binary = head.loss_name in BINARY_LOSSES and threshold is not None
    decided = f"{reading.given}[{'..., ' if reading.whole else ''}0] > {threshold}"
    text = f'({decided}).astype("int32")' if reading.whole else f"int({decided})"
    yield CAUSE.certain(
        "`argmax` over one column is 0 for every row: the model has a single output",
        reading.module.location(reading.node),
        Evidence(
            "units of the last layer",
            "1",
            "one for each class",
            fact="model.outputs",
            location=place(head.layer.code) if head.layer is not None else None,
        ),
        unsafe(
            f"compare with {threshold}: `{decided}`" if binary else "use the predictions as they are",
            reading.replaced_by(text) if binary else (),
        ),
        subject="predictions",
    )


def _of_logits(reading: _Reading, head: Target) -> Iterator[Finding]:
    loss = head.loss
    if loss is None or loss.from_logits is not True or head.loss_name not in BINARY_LOSSES:
        return
    if head.activation != "linear":
        return
    read = "`round`" if reading.how == "round" else "a threshold of 0.5"
    yield CAUSE.certain(
        f"{read} is applied to logits: a probability of 0.5 is a logit of 0",
        reading.module.location(reading.node),
        Evidence(
            "the model returns logits", "from_logits=True", fact="model.losses", location=place(loss.code)
        ),
        unsafe("compare with 0", reading.compared_with_zero()),
        subject="predictions",
    )


@dataclass(frozen=True, eq=False)
class _Reading:
    """A place that turns predictions into classes, or evaluates them."""

    module: Module
    node: ast.expr
    how: str
    """`argmax`, `argmax of all`, `threshold`, `round` or `evaluate`."""
    predictions: ast.expr
    whole: bool
    """Whether the predictions are an array, not the row of one sample."""

    @property
    def given(self) -> str:
        """Return the predictions as they are written there."""
        return self.module.segment(self.predictions)

    def replaced_by(self, text: str) -> tuple[Edit, ...]:
        """Write something else in its place."""
        return (Edit(self.module.location(self.node), text),)

    def compared_with_zero(self) -> tuple[Edit, ...]:
        """Compare with 0 instead."""
        if isinstance(self.node, ast.Compare):
            sides = (self.node.left, self.node.comparators[0])
            half = next(side for side in sides if isinstance(side, ast.Constant))
            return (Edit(self.module.location(half), "0"),)
        return self.replaced_by(f'({self.given} > 0).astype("int32")') if self.whole else ()


def _readings(project: Project, predict: ast.expr) -> Iterator[_Reading]:
    """Yield the places that turn the result of a call of `predict` into classes."""
    for module in project.modules:
        for node, how, given in _candidates(module):
            source = module.origin(_plain(module, given, how))
            start = _plain(source.module, source.node, how)
            if start is not predict and start is not source.node:
                start = source.module.origin(start).node
            if start is predict:
                row = any(step.how in ("for", "element") for step in source.steps) or bool(source.path)
                yield _Reading(module, node, how, given, not row and not _is_row(given))


def _candidates(module: Module) -> Iterator[tuple[ast.expr, str, ast.expr]]:
    """Yield each argmax over the last axis, rounding and comparison with 0.5, with what it is applied to."""
    for node in module.nodes(ast.Compare):
        sides = (node.left, node.comparators[0])
        for number, given in (sides, sides[::-1]):
            if len(node.comparators) == 1 and isinstance(number, ast.Constant) and number.value == 0.5:
                if isinstance(node.ops[0], (ast.Gt, ast.GtE, ast.Lt, ast.LtE)):
                    yield node, "threshold", given
    for site in module.calls:
        function, arguments = site.node.func, site.node.args
        name = module.called(site.node)
        if name in (*_ARGMAX, *_ROUND) and arguments:
            yield from _applied(site.node, "argmax" if name in _ARGMAX else "round", arguments[0], 1)
        elif isinstance(function, ast.Attribute) and function.attr in ("argmax", "round") and not name:
            yield from _applied(site.node, function.attr, function.value, 0)
        elif isinstance(function, ast.Attribute) and function.attr == "evaluate" and not name:
            inputs, labels = site.argument("x", 0), site.argument("y", 1)
            if inputs is not None and labels is not None:
                yield inputs, "evaluate", inputs


def _applied(
    call: ast.Call, how: str, given: ast.expr, position: int
) -> Iterator[tuple[ast.expr, str, ast.expr]]:
    axis = argument_of(call, "axis", position)
    if how == "round":
        if len(call.args) == position:  # no number of digits
            yield call, how, given
    elif axis is None or ast.unparse(axis) in ("1", "-1"):
        yield call, how if axis is not None else f"{how} of all", given


def _plain(module: Module, node: ast.expr, how: str) -> ast.expr:
    """Return the expression inside operations that keep the values, and for an argmax also the axes."""
    kept = _COPIES if how.startswith("argmax") else _COPIES | _RESHAPES
    while True:
        if isinstance(node, ast.Subscript) and (_is_rows(node) or not how.startswith("argmax")):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, (ast.Attribute, ast.Name)):
            library, _dot, name = module.called(node).rpartition(".")
            if library in _LIBRARIES and name in kept and node.args:
                node = node.args[0]
            elif not library and isinstance(node.func, ast.Attribute) and node.func.attr in kept:
                node = node.func.value
            else:
                return node
        else:
            return node


def _is_rows(node: ast.Subscript) -> bool:
    return not isinstance(node.slice, ast.Tuple)


def _is_row(given: ast.expr) -> bool:
    """Whether it is one row: `scores[0]`."""
    return isinstance(given, ast.Subscript) and _is_rows(given) and not isinstance(given.slice, ast.Slice)
