"""Write the table of what Keras 3 takes and of what it dropped, by comparing `keras` with `tf_keras`.

Run it with both installed: `python scripts/keras_signatures.py`. A test runs it too and compares.
"""

from __future__ import annotations

import inspect
import pprint
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

TARGET = Path(__file__).parents[1] / "src/fitdoctor/catalogue/keras_signatures.py"
METHODS = ("compile", "fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "save")
NAMESPACES = (
    "layers",
    "optimizers",
    "losses",
    "metrics",
    "callbacks",
    "models",
    "utils",
    "initializers",
    "regularizers",
    "constraints",
    "activations",
    "backend",
    "datasets",
    "preprocessing",
    "preprocessing.image",
    "preprocessing.sequence",
    "preprocessing.text",
    "mixed_precision",
    "applications",
    "experimental",
    "estimator",
)
PASSED_ON = frozenset({"args", "kwargs", "self"})


def parameters(function: object) -> set[str] | None:
    """The named parameters of a callable; None where it takes no signature apart."""
    try:
        found = inspect.signature(function).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return set(found) - PASSED_ON


def accepted_by_layers() -> set[str]:
    """What every Keras 3 layer takes through `**kwargs`, tried on the layer itself."""
    import keras

    accepted = {"name", "dtype", "trainable", "autocast", "activity_regularizer"}
    for name, value in (("input_shape", (4,)), ("input_dim", 4), ("batch_input_shape", (2, 4)), ("weights", None)):
        try:
            keras.layers.Dense(1, **{name: value})
        except (TypeError, ValueError):
            continue
        accepted.add(name)
    return accepted


def tried(old: type, new: type, names: set[str]) -> set[str]:
    """Those of the names that the new class really refuses, found by trying each alone."""
    refused = set()
    for name in names:
        try:
            inspect.signature(new).bind_partial(**{name: None})
        except TypeError:
            refused.add(name)
            continue
        if not any(
            parameter.kind is parameter.VAR_KEYWORD for parameter in inspect.signature(new).parameters.values()
        ):
            continue
        refused.add(name)
    return refused


def namespace(root: ModuleType, dotted: str) -> ModuleType | None:
    """A public submodule, or None."""
    found: object = root
    for part in dotted.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, ModuleType) else None


def public(module: ModuleType | None) -> Iterator[tuple[str, object]]:
    """The public names of a module."""
    for name in dir(module) if module is not None else ():
        if not name.startswith("_") and not isinstance(getattr(module, name), ModuleType):
            yield name, getattr(module, name)


def table() -> dict[str, object]:
    """Everything that the generated module holds."""
    import keras
    import tensorflow as tf
    import tf_keras

    signatures = {
        method: tuple(sorted(parameters(getattr(keras.Model, method)) or ())) for method in METHODS
    }
    removed_arguments: dict[str, tuple[str, ...]] = {}
    for method in METHODS:
        gone = (parameters(getattr(tf_keras.Model, method)) or set()) - set(signatures[method])
        if gone:
            removed_arguments[method] = tuple(sorted(gone))
    removed_names: list[str] = []
    only_in_tf_keras_path: list[str] = []
    layer_extras = accepted_by_layers()
    for dotted in NAMESPACES:
        old_module, new_module = namespace(tf_keras, dotted), namespace(keras, dotted)
        tf_module = namespace(tf.keras, dotted)
        for name, old in public(old_module):
            full = f"keras.{dotted}.{name}"
            new = getattr(new_module, name, None)
            if new is None:
                still = getattr(tf_module, name, None) is not None
                (only_in_tf_keras_path if still else removed_names).append(full)
                continue
            if not (inspect.isclass(old) and inspect.isclass(new)):
                continue
            before, after = parameters(old), parameters(new)
            if before is None or after is None:
                continue
            missing = before - after
            if issubclass(new, keras.Layer):
                missing -= layer_extras
            gone = tried(old, new, missing)
            if gone:
                removed_arguments[full] = tuple(sorted(gone))
    methods = {
        "model": tuple(
            name for name in dir(tf_keras.Model) if not name.startswith("_") and not hasattr(keras.Model, name)
        ),
        "optimizer": tuple(
            name
            for name in dir(tf_keras.optimizers.Adam())
            if not name.startswith("_") and not hasattr(keras.optimizers.Adam(), name)
        ),
    }
    return {
        "SIGNATURES": signatures,
        "REMOVED_ARGUMENTS": removed_arguments,
        "REMOVED_NAMES": tuple(sorted(removed_names)),
        "REMOVED_OUTSIDE_TF": tuple(sorted(only_in_tf_keras_path)),
        "REMOVED_ATTRIBUTES": methods,
    }


DESCRIPTIONS = {
    "SIGNATURES": "Named parameters of the methods of a Keras 3 model.",
    "REMOVED_ARGUMENTS": "What Keras 2 took and Keras 3 refuses, by method or class.",
    "REMOVED_NAMES": "Public names of Keras 2 that Keras 3 does not have, also not as `tf.keras`.",
    "REMOVED_OUTSIDE_TF": "Public names of Keras 2 that live on under `tf.keras` only.",
    "REMOVED_ATTRIBUTES": "Attributes of models and optimizers that Keras 3 does not have.",
}


def source() -> str:
    """The text of the generated module."""
    lines = [
        '"""What Keras 3 takes and what it dropped, as `scripts/keras_signatures.py` found it: not edited by hand."""',
        "",
        "from __future__ import annotations",
        "",
    ]
    for name, value in table().items():
        annotation = "tuple[str, ...]" if isinstance(value, tuple) else "dict[str, tuple[str, ...]]"
        lines += [f"{name}: {annotation} = {pprint.pformat(value, width=100, compact=True)}"]
        lines += [f'"""{DESCRIPTIONS[name]}"""', ""]
    return "\n".join(lines)


if __name__ == "__main__":
    TARGET.write_text(source())
