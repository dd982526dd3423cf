"""Metrics passed to `compile` the Keras 2 way: by position, now the place of the loss weights, or not in a list."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.source.keras_objects import defines, is_keras_model
from fitdoctor.source.module import ClassInfo, Module
from fitdoctor.source.origins import origin

POSITION = 2

_REFUSALS = (
    "dtype='string' is not a valid dtype for Keras type promotion",
    "Expected `loss_weights` argument to be",
    "`loss_weights` must match the number of losses",
    "Failed to convert elements of <",
)


def refuses_loss_weights(message: str) -> bool:
    """Return whether this is Keras's error for metrics in the place of the loss weights."""
    return any(words in message for words in _REFUSALS)


def metrics_as_loss_weights(module: Module) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Return the `compile` calls whose third argument contains metrics, with that argument."""
    for site in module.method_calls("compile"):
        call = site.node
        if len(call.args) != POSITION + 1 or any(isinstance(one, ast.Starred) for one in call.args):
            continue
        if any(keyword.arg in (None, "metrics", "loss_weights") for keyword in call.keywords):
            continue
        assert isinstance(call.func, ast.Attribute)
        receiver = call.func.value
        if not is_keras_model(module, receiver) or defines(module, receiver, "compile"):
            continue
        if _names_metrics(module, call.args[POSITION]):
            yield call, call.args[POSITION]


def _names_metrics(module: Module, value: ast.expr) -> bool:
    """Return whether a value contains strings or metric objects, which loss weights never do."""
    end = origin(module, value)
    node = end.node
    if end.path:
        return False
    parts: list[ast.expr] = [node]
    if isinstance(node, (ast.List, ast.Tuple)):
        parts = node.elts
    elif isinstance(node, ast.Dict):
        parts = node.values
    return any(_is_metric(end.module, part) for part in parts)


def _is_metric(module: Module, node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if not isinstance(node, ast.Call):
        return False
    own = module.definition(node.func)
    return (
        ".metrics." in f".{module.resolve(node.func)}" or isinstance(own, ClassInfo) and own.kind == "Metric"
    )


def metrics_by_position(cause: Cause, module: Module, confidence: Confidence) -> Iterator[Finding]:
    """Report `compile("adam", "mse", ["mae"])`: the third argument was `metrics` and is now `loss_weights`."""
    for _call, metrics in metrics_as_loss_weights(module):
        where = module.location(metrics)
        yield cause.finding(
            "the third argument of `compile` is `loss_weights` in Keras 3, but metrics are passed there",
            subject="argument metrics of compile",
            location=where,
            evidence=[
                Evidence("third positional argument", module.segment(metrics), "loss weights, or `metrics=`")
            ],
            fixes=[
                fix("pass the metrics as `metrics=`", (Edit(where, f"metrics={module.segment(metrics)}"),))
            ],
            confidence=confidence,
        )


_BARE = "Expected `metrics` argument to be a list"


def refuses_bare_metrics(message: str) -> bool:
    """Return whether Keras reports that metrics must be in a list."""
    return _BARE in message


def bare_metrics(cause: Cause, module: Module, confidence: Confidence) -> Iterator[Finding]:
    """Report `metrics="accuracy"`, a single metric without a list, which Keras 2 accepted."""
    for site in module.method_calls("compile"):
        assert isinstance(site.node.func, ast.Attribute)
        receiver, given = site.node.func.value, site.argument("metrics", POSITION + 1)
        if given is None or not _is_metric(module, given):
            continue
        if not is_keras_model(module, receiver) or defines(module, receiver, "compile"):
            continue
        where, text = module.location(given), module.segment(given)
        yield cause.finding(
            "Keras 3 expects a list of metrics, but a single metric is passed",
            subject="argument metrics of compile",
            location=where,
            evidence=[Evidence("metrics", text, f"[{text}]")],
            fixes=[fix("pass the metric in a list", (Edit(where, f"[{text}]"),))],
            confidence=confidence,
        )
