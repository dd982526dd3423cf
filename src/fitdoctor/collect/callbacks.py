"""Collect callbacks and class weights of a fit call."""

from __future__ import annotations

from typing import Any

from fitdoctor.collect.codes import Codes
from fitdoctor.collect.layers import settings_of
from fitdoctor.facts import CallbackFacts, ClassWeight, Unknown

SETTINGS = (
    "monitor", "filepath", "save_best_only", "save_weights_only", "save_freq", "patience", "min_delta", "baseline",
    "restore_best_weights", "start_from_epoch", "factor", "min_lr", "cooldown", "schedule", "log_dir",
    "update_freq", "histogram_freq", "filename", "append", "backup_dir", "initial_value_threshold",
)  # fmt: skip


def callback_facts(callbacks: Any, codes: Codes) -> tuple[CallbackFacts, ...]:
    """Return each callback with its plain settings and `mode`."""
    if callbacks is None:
        return ()
    items = getattr(callbacks, "callbacks", callbacks)
    items = list(items) if isinstance(items, (list, tuple)) else [items]
    return tuple(_callback(item, index, codes, len(items)) for index, item in enumerate(items))


def _callback(callback: Any, index: int, codes: Codes, total: int) -> CallbackFacts:
    settings = settings_of(callback, SETTINGS)
    mode = _mode(callback)
    if mode:
        settings += (("mode", mode),)
    code = codes.of_object(callback)
    if isinstance(code, Unknown):
        made, _use = codes.of_argument(f"callbacks[{index}]")
        if isinstance(made, Unknown) and total == 1:
            made, _use = codes.of_argument("callbacks")
        code = made
    return CallbackFacts(type(callback).__name__, settings, code)


def _mode(callback: Any) -> str:
    """Return the direction of improvement; Keras 3 resolves `auto` only when training starts."""
    attributes = vars(callback) if hasattr(callback, "__dict__") else {}
    mode = attributes.get("mode")
    if isinstance(mode, str):
        return mode
    operation = attributes.get("monitor_op")
    if operation is None:
        return "auto" if "monitor" in attributes else ""
    name = getattr(operation, "__name__", "")
    return {"less": "min", "greater": "max"}.get(name, "auto")


def class_weight_facts(given: Any, codes: Codes) -> ClassWeight:
    """Return the keys as `repr`."""
    made, use = codes.of_argument("class_weight")
    code = use if isinstance(made, Unknown) else made
    if not isinstance(given, dict):
        return ClassWeight((f"({type(given).__name__})",), code)
    keys = list(given)[:1024]
    return ClassWeight(tuple(repr(key.item() if hasattr(key, "item") else key)[:80] for key in keys), code)
