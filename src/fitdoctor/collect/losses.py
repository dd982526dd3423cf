"""Collect losses, metrics and optimizer of a compiled model."""

from __future__ import annotations

import functools
from typing import Any

from fitdoctor.collect.codes import Codes
from fitdoctor.collect.layers import is_library_class, plain_text, settings_of
from fitdoctor.collect.returned import function_info
from fitdoctor.facts import Code, LossFacts, MetricFacts, ScheduleFacts, Unknown
from fitdoctor.source.keras_names import METRIC_CLASSES, canonical_loss, metric_class, snake_case
from fitdoctor.source.loss_functions import inner_loss, read_of
from fitdoctor.source.schedules import POSITIONAL, schedule_facts

LOSS_SETTINGS = (
    "from_logits", "label_smoothing", "axis", "reduction", "delta", "alpha", "gamma", "ignore_class",
    "apply_class_balancing",
)  # fmt: skip
OPTIMIZER_SETTINGS = (
    "momentum", "nesterov", "beta_1", "beta_2", "rho", "epsilon", "weight_decay", "clipnorm", "clipvalue",
    "global_clipnorm", "use_ema", "amsgrad", "loss_scale_factor", "gradient_accumulation_steps",
)  # fmt: skip
METRIC_SETTINGS = (
    "threshold", "thresholds", "from_logits", "class_id", "top_k", "num_classes", "multi_label", "num_labels",
    "average", "k", "sparse_y_true", "sparse_y_pred", "target_class_ids",
)  # fmt: skip
_CROSSENTROPIES = ("crossentropy", "ce", "bce", "focal")
_NO_LOGITS = Unknown("the loss has no such setting")


def losses_of(
    model: Any, output_names: tuple[str, ...], codes: Codes
) -> tuple[tuple[LossFacts, ...], str, tuple[str, ...]]:
    """Return the losses, the structure they were passed in, and its keys."""
    given = given_loss(model)
    if given is None:
        return (), "none", ()
    if isinstance(given, dict):
        items = [(str(key), loss, (key,)) for key, loss in given.items()]
        return (
            tuple(_loss(model, loss, key, codes, keys) for key, loss, keys in items),
            "dict",
            tuple(key for key, _loss_, _keys in items),
        )
    if isinstance(given, (list, tuple)):
        names = output_names if len(output_names) == len(given) and len(given) > 1 else ("",) * len(given)
        return (
            tuple(
                _loss(model, loss, name, codes, (index,))
                for index, (loss, name) in enumerate(zip(given, names, strict=True))
            ),
            "list",
            (),
        )
    outputs = output_names if len(output_names) > 1 else ("",)
    return tuple(_loss(model, given, name, codes, ()) for name in outputs), "single", ()


def given_loss(model: Any) -> Any:
    """Return the `loss=` argument of compile, in Keras 2 or 3."""
    compiled = vars(model).get("_compile_loss")
    if compiled is not None:
        return getattr(compiled, "_user_loss", None)
    container = vars(model).get("compiled_loss")
    if container is None:
        # Without eager execution, Keras 2 models store it unchanged.
        return vars(model).get("loss") or None
    return getattr(container, "_user_losses", None)


def _loss(model: Any, loss: Any, output: str, codes: Codes, keys: tuple[str | int, ...]) -> LossFacts:
    code = codes.of_compile_argument(model, "loss", keys)
    if loss is None:
        return LossFacts("", "none", output=output, code=code)
    if isinstance(loss, str):
        name = canonical_loss(loss)
        return LossFacts(name, "builtin", _logits_of_name(name), (), output, code)
    inner = loss.func if isinstance(loss, functools.partial) else loss
    if _is_loss_object(inner):
        made = codes.of_object(inner)
        return _loss_object(inner, output, code if isinstance(made, Unknown) else made)
    if isinstance(inner, type) and is_library_class(inner):
        # Keras instantiates a loss class with its defaults.
        name = canonical_loss(snake_case(inner.__name__))
        return LossFacts(name, "builtin", _logits_of_name(name), (), output, code)
    name = str(getattr(inner, "__name__", type(inner).__name__))
    if _of_keras(inner):
        logits: bool | Unknown = _logits_of_name(name)
        if isinstance(loss, functools.partial) and "from_logits" in loss.keywords:
            logits = bool(loss.keywords["from_logits"])
        return LossFacts(snake_case(name), "builtin", logits, (), output, code)
    return _custom(name, "function", (), output, code, inner)


def _custom(
    name: str, kind: str, settings: tuple[tuple[str, str], ...], output: str, code: Any, function: Any
) -> LossFacts:
    """Return the facts of a loss that the user wrote."""
    info = function_info(function)
    returned = info.module.returns.get(info.node, []) if info is not None else []
    result = returned[0].value if len(returned) == 1 else None
    return LossFacts(
        name,
        kind,
        Unknown(f"it is a custom {kind}"),
        settings,
        output,
        code,
        inner_loss(info) if info is not None else None,
        read_of(info, _symbolic_names(function)) if info is not None else None,
        info.module.code(result) if info is not None and result is not None else None,
    )


def _symbolic_names(function: Any) -> list[str]:
    """Return the names of the enclosing code under which a function finds symbolic tensors."""
    code = getattr(function, "__code__", None)
    cells = getattr(function, "__closure__", None) or ()
    found = {}
    for name, cell in zip(getattr(code, "co_freevars", ()), cells, strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    around = getattr(function, "__globals__", {})
    found.update({name: around[name] for name in getattr(code, "co_names", ()) if name in around})
    return [name for name, value in found.items() if type(value).__name__ == "KerasTensor"]


def _is_loss_object(loss: Any) -> bool:
    return any(base.__name__ == "Loss" for base in type(loss).__mro__)


def _loss_object(loss: Any, output: str, code: Any) -> LossFacts:
    kind = type(loss)
    settings = dict(settings_of(loss, LOSS_SETTINGS))
    options = vars(loss).get("_fn_kwargs", None)
    for name, value in (options if isinstance(options, dict) else {}).items():
        text = plain_text(value)
        if name in LOSS_SETTINGS and text is not None:
            settings.setdefault(name, text)
    if kind.__name__ == "LossFunctionWrapper":
        function = vars(loss).get("fn")
        if function is not None and not _of_keras(function):
            name = str(getattr(function, "__name__", "function"))
            return _custom(name, "function", (), output, code, function)
        name = snake_case(str(getattr(function, "__name__", "loss")))
    elif is_library_class(kind):
        name = canonical_loss(snake_case(kind.__name__))
    else:
        return _custom(kind.__name__, "class", tuple(settings.items()), output, code, kind.call)
    logits: bool | Unknown = _logits_of_name(name)
    if "from_logits" in settings:
        logits = settings["from_logits"] == "True"
    return LossFacts(name, "builtin", logits, tuple(settings.items()), output, code)


def _of_keras(function: Any) -> bool:
    module = str(getattr(function, "__module__", "") or "")
    return module.split(".")[0] in ("keras", "tf_keras") or "python.keras" in module


def _logits_of_name(name: str) -> bool | Unknown:
    return False if any(word in name for word in _CROSSENTROPIES) else _NO_LOGITS


# --- metrics ------------------------------------------------------------------------------------------------------


def metrics_of(
    model: Any, output_names: tuple[str, ...], codes: Codes
) -> tuple[tuple[MetricFacts, ...], tuple[str, ...]]:
    """Return the compiled metrics, including weighted ones, and their output keys."""
    compiled = vars(model).get("_compile_metrics")
    # In Keras 2 this attribute is a list next to a container.
    keras_3 = hasattr(compiled, "_user_metrics")
    if not keras_3:
        compiled = vars(model).get("compiled_metrics")
    groups = (
        ("metrics", getattr(compiled, "_user_metrics", None)),
        ("weighted_metrics", getattr(compiled, "_user_weighted_metrics", None)),
    )
    found: list[MetricFacts] = []
    keys: list[str] = []
    for argument, given in groups:
        if isinstance(given, dict):
            keys.extend(str(key) for key in given)
            for key, items in given.items():
                found.extend(_group(model, argument, items, str(key), codes, (key,)))
        elif isinstance(given, (list, tuple)) and (
            any(isinstance(item, (list, tuple)) for item in given)
            or keras_3
            and len(given) == len(output_names) > 1
        ):
            for index, items in enumerate(given):
                output = output_names[index] if index < len(output_names) else str(index)
                found.extend(_group(model, argument, items, output, codes, (index,)))
        elif given is not None:
            found.extend(_group(model, argument, given, "", codes, ()))
    return tuple(found), tuple(dict.fromkeys(keys))


def _group(
    model: Any, argument: str, items: Any, output: str, codes: Codes, keys: tuple[str | int, ...]
) -> list[MetricFacts]:
    if items is None:
        return []
    single = not isinstance(items, (list, tuple))
    return [
        _metric(item, output, _made_at(model, item, argument, codes, keys if single else (*keys, index)))
        for index, item in enumerate([items] if single else items)
        if item is not None
    ]


def _made_at(
    model: Any, item: Any, argument: str, codes: Codes, keys: tuple[str | int, ...]
) -> Code | Unknown:
    """Return the call that made a metric object, which may be in a helper; else the argument of `compile`."""
    made = Unknown() if isinstance(item, str) else codes.of_object(item)
    return made if isinstance(made, Code) else codes.of_compile_argument(model, argument, keys)


def _metric(metric: Any, output: str, code: Any) -> MetricFacts:
    if isinstance(metric, str):
        return MetricFacts(metric, metric_class(metric), True, output, code)
    if any(base.__name__ == "Metric" for base in type(metric).__mro__):
        kind = type(metric)
        inner = vars(metric).get("_fn") if kind.__name__ == "MeanMetricWrapper" else None
        builtin = is_library_class(kind) and (inner is None or _of_keras(inner))
        settings = settings_of(metric, METRIC_SETTINGS)
        return MetricFacts(str(metric.name), kind.__name__, builtin, output, code, settings)
    name = str(getattr(metric, "__name__", type(metric).__name__))
    return MetricFacts(name, METRIC_CLASSES.get(name, name), _of_keras(metric), output, code)


# --- optimizer ----------------------------------------------------------------------------------------------------


def optimizer_of(model: Any) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the class of the optimizer and its plain settings."""
    optimizer = vars(model).get("_optimizer") or getattr(model, "optimizer", None)
    if optimizer is None:
        return "", ()
    settings = (_learning_rate(optimizer), *settings_of(optimizer, OPTIMIZER_SETTINGS))
    found = tuple(pair for pair in settings if pair is not None)
    inner = vars(optimizer).get("inner_optimizer")
    if inner is not None:
        found += (("inner_optimizer", type(inner).__name__),)
    if built_for_others(optimizer, model):
        found += (("built_for", "other variables"),)
    return type(optimizer).__name__, found


def schedule_of(model: Any, codes: Codes) -> ScheduleFacts | None:
    """Return the schedule of the learning rate, if it is one of Keras that comes to an end."""
    optimizer = vars(model).get("_optimizer") or getattr(model, "optimizer", None)
    rate = vars(optimizer).get("_learning_rate") if optimizer is not None else None
    name = type(rate).__name__
    if rate is None or name not in POSITIONAL or not is_library_class(type(rate)):
        return None
    settings = {key: vars(rate)[key] for key in POSITIONAL[name] if key in vars(rate)}
    return schedule_facts(name, settings, codes.of_object(rate))


def _learning_rate(optimizer: Any) -> tuple[str, str] | None:
    rate = vars(optimizer).get("_learning_rate")
    if rate is None:
        return None
    if hasattr(rate, "get_config") and not hasattr(rate, "shape"):
        return ("learning_rate", type(rate).__name__)
    try:
        return ("learning_rate", format(float(rate.numpy() if hasattr(rate, "numpy") else rate), ".6g"))
    except (TypeError, ValueError, RuntimeError, NotImplementedError):
        return None


def built_for_others(optimizer: Any, model: Any) -> bool:
    """Whether the optimizer was built for variables of another model."""
    own = vars(optimizer).get("_trainable_variables")
    if not own or not getattr(optimizer, "built", False) or not getattr(model, "built", False):
        return False
    try:
        mine = {id(variable) for variable in model.variables}
    # An overridden `variables` property would run user code.
    except Exception:
        return False
    return bool(mine) and not any(id(variable) in mine for variable in own)
