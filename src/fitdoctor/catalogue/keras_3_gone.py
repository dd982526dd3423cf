"""What an older Keras had and Keras 3 has not: by a dotted name, or by the message that speaks of it."""

from __future__ import annotations

from fitdoctor.catalogue.keras_3_fixes import as_keras
from fitdoctor.catalogue.keras_renames import OLDER_HISTORY, older_arguments
from fitdoctor.catalogue.keras_signatures import (
    PUBLIC_NAMES,
    REMOVED_ARGUMENTS,
    REMOVED_ATTRIBUTES,
    REMOVED_MODULES,
    REMOVED_NAMES,
    REMOVED_OUTSIDE_TF,
)
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.patterns import attribute_missing, unexpected_keyword
from fitdoctor.patterns import pattern

METHODS = ("fit", "compile", "evaluate", "predict", "train_on_batch", "test_on_batch")
"""Methods of a model whose arguments have changed."""
_IMPORTED = pattern(r"(?:No module named|cannot import name) '([\w.]+)'(?: from '([\w.]+)')?")


def is_gone(full: str, *, outside_tf: bool) -> bool:
    """Whether Keras 3 has no such name; some are gone only from the package `keras`, not from `tf.keras`."""
    return (
        full in REMOVED_NAMES
        or full.startswith("keras.layers.CuDNN")
        or is_gone_module(full, outside_tf=outside_tf)
    )


def is_gone_module(dotted: str, *, outside_tf: bool) -> bool:
    """The same of a module."""
    return (
        dotted in REMOVED_MODULES
        or (outside_tf and dotted in REMOVED_OUTSIDE_TF)
        or dotted.startswith(("keras.wrappers", "keras.engine", "keras.layers.merge"))
    )


def without_experimental(name: str) -> str:
    """The name that something of an `experimental` module has today; "" where it has none."""
    plain = name.replace("experimental.preprocessing.", "").replace("experimental.", "")
    public, _dot, last = plain.rpartition(".")
    return plain if public in ("keras.layers", "keras.optimizers") and last in PUBLIC_NAMES[public] else ""


def gone_in_message(failure: FailureFacts) -> str | None:
    """The name that the message says is not there, when it is one that an older Keras had."""
    message = failure.message
    keyword = unexpected_keyword(message)
    if keyword is not None:
        gone = {name for names in REMOVED_ARGUMENTS.values() for name in names}
        gone = gone.union(older_arguments("fit"), older_arguments("compile"))
        keras_call = keyword.function in METHODS or not keyword.function or keyword.function == "__init__"
        return keyword.name if keyword.name in gone and keras_call else None
    attribute = attribute_missing(message)
    if attribute is not None:
        known = (*REMOVED_ATTRIBUTES["model"], *REMOVED_ATTRIBUTES["optimizer"])
        if attribute.name in known and failure.type == "AttributeError":
            return attribute.name
        return attribute.name if "keras" in attribute.owner else None
    imported = _IMPORTED.search(message)
    if imported and failure.type in ("ImportError", "ModuleNotFoundError"):
        full = f"{imported[2]}.{imported[1]}" if imported[2] else imported[1]
        return full if as_keras(full) and full not in ("keras", "tensorflow.keras") else None
    if failure.type == "ImportError" and "is not supported in Keras 3" in message:
        return message.split("`")[1] if "`" in message else "legacy"
    if failure.type == "KeyError":
        key = message.strip().strip("'\"")
        return key if key in OLDER_HISTORY else None
    return None
