"""Facts about the losses, metrics and optimizer that the source passes to `compile`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fitdoctor.facts import Code, InnerLoss, LossFacts, MetricFacts, ScheduleFacts, Unknown
from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.values import (
    Arguments,
    Class,
    Function,
    InstanceRecord,
    Made,
    Method,
    Named,
    Plain,
    Ref,
    Symbolic,
    Value,
)
from fitdoctor.source.keras_names import METRIC_CLASSES, OPTIMIZERS, canonical_loss, metric_class, snake_case
from fitdoctor.source.loss_functions import WITH_LOGITS, inner_loss, names_read, read_of
from fitdoctor.source.models.static_layers import setting
from fitdoctor.source.origins import origin
from fitdoctor.source.schedules import POSITIONAL, schedule_facts

if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter

_LOSS_SETTINGS = (
    "from_logits",
    "label_smoothing",
    "axis",
    "reduction",
    "delta",
    "alpha",
    "gamma",
    "ignore_class",
)
_LOGITS_FIRST = frozenset("BinaryCrossentropy CategoricalCrossentropy SparseCategoricalCrossentropy".split())
_NO_LOGITS = Unknown("the loss has no such setting")
OPAQUE_LOSS = LossFacts("", "function", Unknown("not evident from the source"))
"""Placeholder for an unknown loss, as opposed to a missing one."""


def positions(keras: int) -> dict[str, int]:
    """Return the positions of the arguments of `compile`."""
    order = "optimizer loss metrics" if keras == 2 else "optimizer loss loss_weights metrics weighted_metrics"
    return {name: at for at, name in enumerate(order.split())}


def compile_argument(run: Interpreter, call: Arguments, name: str) -> tuple[Value | None, ast.expr | None]:
    """An argument of `compile`, and its expression."""
    at = positions(run.module.keras).get(name)
    return call.get(name, at), _written(run, call.expression(name, at))


def _written(run: Interpreter, node: ast.expr | None) -> ast.expr | None:
    """Return where a value is written: `losses = […]` above `compile`, or settings in another file."""
    module = run.module if node is None else run.owner(node)
    end = origin(module, node) if node is not None else None
    if end is None or end.path or end.module is not run.owner(end.node):
        return node
    return end.node if isinstance(end.node, (ast.Constant, ast.Call, ast.List, ast.Tuple, ast.Dict)) else node


# --- losses -----------------------------------------------------------------------------------------------------------


def losses_of(
    run: Interpreter, call: Arguments, output_names: tuple[str, ...], outputs: int | None
) -> tuple[tuple[LossFacts, ...], str, tuple[str, ...]]:
    """Return the losses, the structure in which they are passed, and its keys."""
    value, node = compile_argument(run, call, "loss")
    if value is None or value == Plain(None):
        return (), "none", ()
    pairs = objects.pairs_of(run, value)
    if pairs is not None:
        inside = _values_of(node)
        losses = tuple(loss_facts(run, item, inside.get(key, node), str(key)) for key, item in pairs)
        return losses, "dict", tuple(str(key) for key, _ in pairs)
    items = run.sequence(value)
    if items is not None:
        elements = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
        names = output_names if len(output_names) == len(items) and len(items) > 1 else ("",) * len(items)
        parts = [elements[at] if len(elements) == len(items) else node for at in range(len(items))]
        losses = tuple(
            loss_facts(run, item, part, name) for item, part, name in zip(items, parts, names, strict=True)
        )
        return losses, "list", ()
    every = output_names if len(output_names) > 1 else ("",)
    if outputs is not None and outputs > 1 and len(output_names) != outputs:
        every = ("",) * outputs
    return tuple(loss_facts(run, value, node, name) for name in every), "single", ()


def _values_of(node: ast.expr | None) -> dict[object, ast.expr]:
    """Return the values of a dict literal by their constant keys."""
    if not isinstance(node, ast.Dict):
        return {}
    return {
        key.value: value
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant)
    }


def loss_facts(run: Interpreter, value: Value, node: ast.expr | None, output: str = "") -> LossFacts:
    """One loss."""
    code = run.code(_written(run, node))
    if isinstance(value, Plain):
        return _loss_by_name(value.value, output, code)
    if isinstance(value, Named) and value.name.startswith("keras.losses."):
        name = canonical_loss(value.name.rpartition(".")[2])
        return LossFacts(name, "builtin", _logits_of_name(name), (), output, code)
    if isinstance(value, Made) and value.name.startswith("keras.losses."):
        made = code if value.node is None else run.code(value.node)
        return _loss_object(value, output, made)
    unknown = Unknown("not evident from the source")
    if isinstance(value, Function):
        name = "<lambda>" if isinstance(value.node, ast.Lambda) else value.node.name
        info = run.owner(value.node).function(value.node)
        captured = read_of(info, _symbolic_names(run, value, names_read(info)))
        unsure = Unknown("a custom function")
        return LossFacts(name, "function", unsure, (), output, code, inner_loss(info), captured)
    if isinstance(value, Class):
        return LossFacts(value.node.name, "class", Unknown("a custom class"), (), output, code)
    if isinstance(value, Ref):
        record = run.record(value)
        if isinstance(record, InstanceRecord):
            is_loss = run.class_info(record.owner.node).kind == "Loss"
            kind = "class" if is_loss else "function"
            call = objects.method_of(run, record.owner, "call" if is_loss else "__call__")
            inside = inner_loss(run.owner(call.node).function(call.node)) if call is not None else None
            return LossFacts(
                record.owner.node.name, kind, Unknown("a custom class"), (), output, code, inside
            )
    if isinstance(value, Method):
        return LossFacts(value.name, "function", Unknown("a custom method"), (), output, code)
    last = value.name.rpartition(".")[2] if isinstance(value, (Named, Made)) else ""
    applied = WITH_LOGITS.get(value.name) if isinstance(value, Named) else None
    inner = InnerLoss(last, applied, True, code) if applied and isinstance(code, Code) else None
    return LossFacts(last, "function", unknown, (), output, code, inner)


def _symbolic_names(run: Interpreter, function: Function, names: set[str]) -> Iterator[str]:
    """Yield the names of the enclosing code under which a function finds symbolic tensors."""
    if run.module.keras < 3:
        return
    for name in names:
        frame: int | None = function.frame
        while frame is not None and name not in run.state.frames.get(frame, {}):
            frame = run.parents[frame]
        value = run.state.frames[frame][name] if frame is not None else None
        if isinstance(value, Symbolic) and value.call is not None:
            yield name


def _loss_by_name(name: object, output: str, code: Code | Unknown) -> LossFacts:
    if not isinstance(name, str):
        return LossFacts("", "none", output=output, code=code)
    canonical = canonical_loss(name)
    return LossFacts(canonical, "builtin", _logits_of_name(canonical), (), output, code)


def _loss_object(made: Made, output: str, code: Code | Unknown) -> LossFacts:
    last = made.name.rpartition(".")[2]
    name = canonical_loss(snake_case(last))
    if not last[:1].isupper():
        # the result of a called loss function is not a loss
        return LossFacts(name, "function", Unknown("not evident from the source"), (), output, code)
    settings: list[tuple[str, str]] = []
    for name_of_setting, value in made.keywords:
        if name_of_setting in _LOSS_SETTINGS and isinstance(value, Plain):
            settings.append((name_of_setting, str(value.value)))
    logits: bool | Unknown = _logits_of_name(name)
    given = made.get("from_logits", 0 if last in _LOGITS_FIRST else None)
    if given is not None:
        logits = bool(given.value) if isinstance(given, Plain) else Unknown("not evident from the source")
    if isinstance(logits, bool) and not any(one == "from_logits" for one, _ in settings):
        settings.append(("from_logits", str(logits)))
    return LossFacts(name, "builtin", logits, tuple(settings), output, code)


def _logits_of_name(name: str) -> bool | Unknown:
    return False if any(word in name for word in ("crossentropy", "focal")) else _NO_LOGITS


# --- metrics ----------------------------------------------------------------------------------------------------------


def metrics_of(
    run: Interpreter, call: Arguments, output_names: tuple[str, ...]
) -> tuple[tuple[MetricFacts, ...], tuple[str, ...]] | None:
    """Return the metrics and their keys; None if one is unknown, or if they are where Keras 3 expects weights."""
    weights = compile_argument(run, call, "loss_weights")[0]
    if any(isinstance(each, Plain) and isinstance(each.value, str) for each in run.sequence(weights) or ()):
        return None
    found: list[MetricFacts] = []
    keys: list[str] = []
    for argument in ("metrics", "weighted_metrics"):
        value, node = compile_argument(run, call, argument)
        if value is None or value == Plain(None):
            continue
        pairs = objects.pairs_of(run, value)
        if pairs is not None:
            keys.extend(str(key) for key, _ in pairs)
            inside = _values_of(node)
            groups = [(item, inside.get(key, node), str(key)) for key, item in pairs]
        else:
            groups = _groups(run, value, node, output_names)
        for item, part, output in groups:
            told = _group(run, item, part, output)
            if told is None:
                return None
            found.extend(told)
    return tuple(found), tuple(dict.fromkeys(keys))


def _groups(
    run: Interpreter, value: Value, node: ast.expr | None, output_names: tuple[str, ...]
) -> list[tuple[Value, ast.expr | None, str]]:
    """The metrics of each output: lists within a list, and for Keras 3 any list with as many items as there are outputs."""
    items = run.sequence(value)
    nested = items is not None and any(run.sequence(item) is not None for item in items)
    matched = items is not None and run.home.keras == 3 and len(items) == len(output_names) > 1
    if items is None or not (nested or matched):
        return [(value, node, "")]
    elements = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
    return [
        (
            item,
            elements[at] if len(elements) == len(items) else node,
            output_names[at] if at < len(output_names) else str(at),
        )
        for at, item in enumerate(items)
    ]


def _group(run: Interpreter, value: Value, node: ast.expr | None, output: str) -> list[MetricFacts] | None:
    items = run.sequence(value)
    elements: list[ast.expr | None]
    if items is None:
        items, elements = (value,), [node]
    else:
        inside = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
        elements = list(inside) if len(inside) == len(items) else [node] * len(items)
    found: list[MetricFacts] = []
    for item, element in zip(items, elements, strict=True):
        if item == Plain(None):
            continue
        made = _metric(run, item, element, output)
        if made is None:
            return None
        found.append(made)
    return found


def _metric(run: Interpreter, value: Value, node: ast.expr | None, output: str) -> MetricFacts | None:
    code = run.code(node)
    if isinstance(value, Plain) and isinstance(value.value, str):
        return MetricFacts(value.value, metric_class(value.value), True, output, code)
    if isinstance(value, Made) and value.name.startswith("keras.metrics."):
        return _metric_object(value, output, code)
    if isinstance(value, Named) and value.name.startswith(("keras.metrics.", "keras.losses.")):
        name = value.name.rpartition(".")[2]
        return MetricFacts(snake_case(name), METRIC_CLASSES.get(name, name), True, output, code)
    if isinstance(value, Function) and not isinstance(value.node, ast.Lambda):
        return MetricFacts(value.node.name, value.node.name, False, output, code)
    return None


def _metric_object(made: Made, output: str, code: Code | Unknown) -> MetricFacts | None:
    last = made.name.rpartition(".")[2]
    given = made.get("name")
    if given is not None and not isinstance(given, Plain):
        return None
    if given is None and (made.positional or not made.complete):
        # the name may be any of the positional arguments
        return None
    name = str(given.value) if isinstance(given, Plain) else snake_case(last)
    return MetricFacts(name, last, True, output, code)


# --- optimizer --------------------------------------------------------------------------------------------------------


def optimizer_of(run: Interpreter, call: Arguments) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the optimizer's class and its plain settings; "" if unknown."""
    value, _ = compile_argument(run, call, "optimizer")
    if value is None:
        return "RMSprop", ()
    if isinstance(value, Plain):
        return OPTIMIZERS.get(str(value.value).lower(), str(value.value)), ()
    if not isinstance(value, Made) or not value.name.startswith("keras.optimizers."):
        return "", ()
    last = value.name.rpartition(".")[2]
    settings = [(name, str(given.value)) for name, given in value.keywords if isinstance(given, Plain)]
    if value.positional and isinstance(value.positional[0], Plain) and last[:1].isupper():
        settings.insert(0, ("learning_rate", str(value.positional[0].value)))
    rate = value.get("learning_rate", 0)
    if isinstance(rate, Made) and rate.name.startswith("keras.optimizers.schedules."):
        settings.insert(0, ("learning_rate", rate.name.rpartition(".")[2]))
    return last, tuple(settings)


def schedule_of(run: Interpreter, call: Arguments) -> ScheduleFacts | None:
    """Return the schedule of the learning rate, if it is one of Keras that comes to an end."""
    value, _ = compile_argument(run, call, "optimizer")
    if not isinstance(value, Made) or not value.name.startswith("keras.optimizers."):
        return None
    rate = value.get("learning_rate", 0)
    if not isinstance(rate, Made) or not rate.name.startswith("keras.optimizers.schedules."):
        return None
    name = rate.name.rpartition(".")[2]
    if name not in POSITIONAL or not rate.complete:
        return None
    given = (*zip(POSITIONAL[name], rate.positional, strict=False), *rate.keywords)
    settings = {key: setting(run, item) for key, item in given}
    return schedule_facts(name, settings, run.code(rate.node))


def flag(run: Interpreter, call: Arguments, name: str) -> bool:
    """Whether a setting of `compile` is certainly on."""
    value = call.get(name)
    return value is not None and objects.truth(run, value) is True
