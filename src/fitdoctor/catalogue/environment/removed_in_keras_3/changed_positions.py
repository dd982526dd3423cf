"""Positional arguments that mean something else in Keras 3: of `compile`, of `add_weight` and of layer calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.environment.removed_in_keras_3.entry import CAUSE
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix
from fitdoctor.edits import fix
from fitdoctor.facts import Frame
from fitdoctor.failure.failed_line import at_frame
from fitdoctor.source.keras_changes import changes
from fitdoctor.source.keras_objects import defines, is_keras_model, kind_of_call, kind_of_value
from fitdoctor.source.module import CallSite, ClassInfo, Module
from fitdoctor.source.origins import origin

_POSITION = changes("order", "Model")["compile"].new.split().index("metrics")


# --- metrics of `compile` ---------------------------------------------------------------------------------------------


def metrics_as_loss_weights(module: Module) -> Iterator[Finding]:
    """Find `compile("adam", "mse", ["mae"])`: the third argument was `metrics` and is now `loss_weights`."""
    for site in _compiled(module):
        call = site.node
        if len(call.args) != _POSITION + 1 or any(isinstance(each, ast.Starred) for each in call.args):
            continue
        if any(keyword.arg in (None, "metrics", "loss_weights") for keyword in call.keywords):
            continue
        metrics = call.args[_POSITION]
        if _contains_metrics(module, metrics) and _is_of_keras(module, site):
            text, where = module.segment(metrics), module.location(metrics)
            yield CAUSE.finding(
                "the third argument of `compile` is `loss_weights` in Keras 3, but metrics are passed there",
                module.location(metrics),
                Evidence("third positional argument", text, "loss weights, or `metrics=`"),
                fix("pass the metrics as `metrics=`", (Edit(where, f"metrics={text}"),)),
                subject="argument metrics of compile",
            )


def single_metric(module: Module) -> Iterator[Finding]:
    """Find `metrics="accuracy"`, a single metric without a list, which Keras 2 accepted."""
    for site in _compiled(module):
        given = site.argument("metrics", _POSITION + 1)
        if given is not None and _is_metric(module, given) and _is_of_keras(module, site):
            text, where = module.segment(given), module.location(given)
            yield CAUSE.finding(
                "Keras 3 expects a list of metrics, but a single metric is passed",
                module.location(given),
                Evidence("metrics", text, f"[{text}]"),
                fix("pass the metric in a list", (Edit(where, f"[{text}]"),)),
                subject="argument metrics of compile",
            )


def _compiled(module: Module) -> tuple[CallSite, ...]:
    return module.method_calls("compile")


def _is_of_keras(module: Module, site: CallSite) -> bool:
    receiver = site.receiver
    return is_keras_model(module, receiver) and not defines(module, receiver, "compile")


def _contains_metrics(module: Module, value: ast.expr) -> bool:
    """Return whether a value contains strings or metric objects, which loss weights never do."""
    end = origin(module, value)
    parts: list[ast.expr] = [end.node]
    if isinstance(end.node, (ast.List, ast.Tuple)):
        parts = end.node.elts
    elif isinstance(end.node, ast.Dict):
        parts = end.node.values
    return not end.path and any(_is_metric(end.module, part) for part in parts)


def _is_metric(module: Module, node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, ast.Call) and kind_of_call(module, node) == "Metric"


# --- names of weights -------------------------------------------------------------------------------------------------


def weights_named_by_position(module: Module) -> Iterator[Finding]:
    """Find `self.add_weight("kernel", …)`: the first argument was the name and is now the shape.

    `add_variable` was the older name of `add_weight`; in Keras 3, it needs an initializer.
    """
    order = changes("order", "Layer")["add_weight"].new.split()
    for site in (*module.method_calls("add_weight"), *module.method_calls("add_variable")):
        call, owner = site.node, module.class_of(site.node)
        method = getattr(call.func, "attr", "")
        if owner is None or owner.kind not in ("Layer", "Model", "Metric") or method in owner.methods:
            continue
        if not isinstance(call.func, ast.Attribute) or module.segment(call.func.value) != "self":
            continue
        most = 2 if owner.kind == "Metric" else len(order)
        if not 0 < len(call.args) <= most or any(isinstance(each, ast.Starred) for each in call.args):
            continue
        name = call.args[0]
        if isinstance(name, ast.JoinedStr) or isinstance(name, ast.Constant) and isinstance(name.value, str):
            renamed = [Edit(module.location(call.func), "self.add_weight")] if method != "add_weight" else []
            yield CAUSE.finding(
                f"the first argument of `{method}` is the shape in Keras 3, but a name is passed there",
                module.location(call),
                Evidence("first positional argument", module.segment(name), "a shape, or `name=`"),
                fix(
                    "pass the arguments by keyword: `name=`, `shape=`"
                    + (", to `add_weight`" if renamed else ""),
                    [*renamed, *_keywords(module, call.args, order)],
                ),
                subject="argument name of add_weight",
            )


def _keywords(module: Module, given: list[ast.expr], names: list[str] | tuple[str, ...]) -> list[Edit]:
    """Pass positional arguments by these names."""
    return [
        Edit(module.location(value), f"{name}={module.segment(value)}")
        for value, name in zip(given, names, strict=False)
    ]


# --- values in layer calls --------------------------------------------------------------------------------------------

_REMEDY = "pass it as a keyword argument"


def values_by_position(module: Module, at: Frame | None) -> Iterator[Finding]:
    """Find `self.dropout(x, training)`: Keras 3 layers accept only tensors by position."""
    calls = [
        site.node
        for site in module.calls
        if not site.name
        and len(site.node.args) > 1
        and (at is None or at_frame(module, site.node, at))
        and (at is not None or _passes_value(module, site.node))
    ]
    for call in calls:
        layer = kind_of_value(module, call.func) in ("Layer", "Model")
        if (
            layer
            and (at is not None or not _has_own_call(module, call))
            or at is not None
            and len(calls) == 1
        ):
            values = [each for each in call.args[1:] if _is_value(module, each) or isinstance(each, ast.Name)]
            what = f"`{module.segment(values[0])}`" if len(values) == 1 else "a Python value"
            yield CAUSE.finding(
                f"`{module.segment(call.func)}` receives {what} by position, but a Keras 3 layer accepts only tensors there",
                module.location(call),
                Evidence(
                    "positional value, which Keras 2 accepted",
                    module.segment(call)[:80],
                    "`training=training`",
                ),
                _named_values(module, call),
                subject="argument of the layer",
            )


def _passes_value(module: Module, call: ast.Call) -> bool:
    if any(isinstance(each, ast.Starred) for each in call.args):
        return False
    return any(_is_value(module, each) for each in call.args[1:])


def _is_value(module: Module, given: ast.expr) -> bool:
    """Return whether it is a constant, or the `training` argument of a `call`, which is a bool during `fit`."""
    if isinstance(given, ast.Constant):
        return isinstance(given.value, (bool, int, float, str))
    function = module.function_of(given)
    return (
        isinstance(given, ast.Name)
        and given.id == "training"
        and function is not None
        and function.name == "call"
        and "training" in function.parameters
        and any(not each.name for each in module.method_calls("fit", "train_on_batch"))
    )


def _class_called(module: Module, call: ast.Call) -> ClassInfo | None:
    made = module.made_by(call.func)
    if made is call.func and isinstance(call.func, ast.Attribute):
        owner = module.class_of(call)
        stores = module.attribute_stores(owner.node).get(call.func.attr, []) if owner is not None else []
        statement = module.parent(stores[0]) if len(stores) == 1 else None
        made = statement.value if isinstance(statement, ast.Assign) else made
    found = module.definition(made.func) if isinstance(made, ast.Call) else None
    return found if isinstance(found, ClassInfo) else None


def _has_own_call(module: Module, call: ast.Call) -> bool:
    """Return whether the custom class defines `__call__`."""
    owner = _class_called(module, call)
    return owner is not None and owner.module.method(owner, "__call__") is not None


def _named_values(module: Module, call: ast.Call) -> Fix:
    """Pass the arguments by the parameter names of the class's `call`, starting at the first value."""
    owner = _class_called(module, call)
    function = owner.module.method(owner, "call") if owner is not None else None
    names = function.parameters[1:] if function is not None else ("inputs", "training")
    first = next((at for at, each in enumerate(call.args) if at and _is_value(module, each)), 1)
    if len(names) < len(call.args) or owner is None and len(call.args) > 2:
        return fix(f"{_REMEDY}: `training=training`")
    return fix(_REMEDY, _keywords(module, call.args[first:], names[first:]))
