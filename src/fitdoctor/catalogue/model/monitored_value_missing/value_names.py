"""The names of the values that `fit` reports: loss, metrics, and both for validation."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from fitdoctor.facts import FitFacts, MetricFacts, ModelFacts, Unknown
from fitdoctor.source.project import Project

HARMLESS = frozenset(
    "EarlyStopping ModelCheckpoint ReduceLROnPlateau TensorBoard CSVLogger TerminateOnNaN LearningRateScheduler "
    "BackupAndRestore ProgbarLogger History RemoteMonitor SwapEMAWeights OrbaxCheckpoint".split()
)
"""Keras callbacks, which add only the learning rate to `logs`."""
ADDED = frozenset({"learning_rate", "lr"})
OWN_STEPS = frozenset(
    {"train_step", "test_step", "compute_metrics", "metrics", "get_metrics_result", "fit", "evaluate"}
)
_SAME = {
    "acc": "accuracy", "mean_absolute_error": "mae", "mean_squared_error": "mse",
    "mean_absolute_percentage_error": "mape", "root_mean_squared_error": "rmse", "lr": "learning_rate",
}  # fmt: skip
"""Pairs of names for one metric."""


def has_validation(fit: FitFacts) -> bool:
    """Whether `fit` gets validation data."""
    return fit.has_validation or bool(
        {"validation_data", "validation_split", "validation_freq"} & set(fit.given)
    )


def adds_nothing(fit: FitFacts) -> bool:
    """Whether all callbacks are built into Keras."""
    return all(callback.class_name in HARMLESS for callback in fit.callbacks)


def available(
    model: ModelFacts | Unknown, fit: FitFacts | Unknown, project: Project
) -> tuple[str, ...] | None:
    """Return the names that `fit` will report; None if unknown."""
    return names_of_values(model, fit, project) if isinstance(fit, FitFacts) and adds_nothing(fit) else None


def names_of_values(
    model: ModelFacts | Unknown, fit: FitFacts | Unknown, project: Project
) -> tuple[str, ...] | None:
    """Return the names that `fit` will report if no callback adds any."""
    if isinstance(model, Unknown) or isinstance(fit, Unknown):
        return None
    outputs = len(model.output_names) or (len(model.outputs) if isinstance(model.outputs, tuple) else 1)
    if outputs > 1 or model.loss_structure not in ("single", "none") or model.metric_keys:
        return None
    if OWN_STEPS & set(model.overrides) or _layers_have_metrics(model, project):
        return None
    if any(_may_give_several(metric, project) for metric in model.metrics) or _adds_metrics(project):
        return None
    names = ["loss", *(metric.name for metric in model.metrics), *ADDED]
    if has_validation(fit):
        names += [f"val_{name}" for name in names[: 1 + len(model.metrics)]]
    return tuple(names)


def _layers_have_metrics(model: ModelFacts, project: Project) -> bool:
    """Whether a custom class keeps metrics, which Keras reports too."""
    own = {layer.class_name for layer in model.every_layer() if not layer.builtin}
    if model.kind == "subclassed":
        own.add(model.class_name)
    if not own:
        return False
    if not project:
        return True
    for name in own:
        owner = project.class_named(name)
        if owner is None or any(
            "metrics." in one.module.segment(one.node) or "Metric" in one.module.segment(one.node)
            for one in owner.module.ancestry(owner)
        ):
            return True
    return False


def _may_give_several(metric: MetricFacts, project: Project) -> bool:
    """Whether a metric may return a dict, so that `fit` reports its keys instead of the metric's name."""
    is_function = metric.name == metric.class_name
    if metric.builtin or is_function or not project:
        return False
    owner = project.class_named(metric.class_name)
    method = owner.module.method(owner, "result") if owner is not None else None
    if owner is None or method is None:
        return owner is None
    made = [
        method.module.made_by(statement.value)
        for statement in method.module.returns.get(method.node, ())
        if statement.value is not None
    ]
    return any(
        isinstance(value, (ast.Dict, ast.DictComp, ast.Name))
        or isinstance(value, ast.Call)
        and method.module.resolve(value.func) == "dict"
        for value in made
    )


def _adds_metrics(project: Project) -> bool:
    """Whether the program calls `add_metric`, as Keras 2 allows."""
    return any(call.method == "add_metric" for module in project.modules for call in module.calls)


def may_be_numbered(monitor: str, names: tuple[str, ...]) -> bool:
    """Whether a name differs only by Keras's numbering (`auc_1`) or a `weighted_` prefix."""
    plain = re.sub(r"_\d+$", "", monitor)
    return any(plain == re.sub(r"_\d+$", "", name) for name in names) or "weighted_" in monitor


def twins(plain: str) -> set[str]:
    """Return the other names of a metric."""
    return {_SAME.get(plain, ""), *(long for long, short in _SAME.items() if short == plain)} - {"", plain}


def is_same(name: str, other: str) -> bool:
    """Whether two names are names of one metric."""
    return other.removeprefix("val_") in twins(name.removeprefix("val_"))


def closest(monitor: str, names: Collection[str]) -> str | None:
    """Return the intended name: another name of the metric, or a similarly spelled one."""
    import difflib

    prefix = "val_" if monitor.startswith("val_") else ""
    plain = monitor.removeprefix("val_")
    for twin in twins(plain):
        if f"{prefix}{twin}" in names:
            return f"{prefix}{twin}"
    same_side = [name for name in names if name.startswith("val_") == bool(prefix) and name not in ADDED]
    metrics = [name for name in same_side if name != f"{prefix}loss"]
    close = difflib.get_close_matches(monitor, metrics, n=1, cutoff=0.6)
    if close:
        return close[0]
    return metrics[0] if len(metrics) == 1 else f"{prefix}loss" if f"{prefix}loss" in names else None
