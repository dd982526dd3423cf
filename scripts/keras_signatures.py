"""Write the table of what Keras 3 takes and of what it dropped, by comparing `keras` with `tf_keras`.

Run it with both installed: `python scripts/keras_signatures.py`. `make test-versions` runs it too, and compares.
"""

from __future__ import annotations

import inspect
import pkgutil
import pprint
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

TARGET = Path(__file__).parents[1] / "src/fitdoctor/catalogue/environment/keras_signatures.py"
METHODS = ("compile", "fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "save_weights")
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
    "preprocessing.image",
    "preprocessing.sequence",
    "preprocessing.text",
    "mixed_precision",
    "applications",
    "applications.regnet",
    "applications.resnet_rs",
    "layers.experimental",
    "layers.experimental.preprocessing",
    "callbacks.experimental",
    "experimental",
)
OWNERS = ("Layer", "Optimizer", "Metric")
"""Classes of which programs call, or inherit, the methods."""
TRIED = ("layers", "optimizers", "callbacks")
"""Where classes are made with each argument, because `**kwargs` hides what they take."""
HIDDEN = (
    "lr",
    "decay",
    "schedule_decay",
    "batch_input_shape",
    "batch_size",
    "input_shape",
    "input_dim",
    "input_length",
    "weights",
    "implementation",
    "time_major",
    "alpha",
    "period",
    "write_grads",
)
"""Arguments that Keras 2 took through `**kwargs`."""
VALUES: dict[str, Any] = {
    "batch_input_shape": (2, 4, 4),
    "batch_size": 2,
    "input_shape": (4, 4),
    "weights": None,
    "input_dim": 4,
    "input_length": 4,
    "units": 2,
    "filters": 2,
    "kernel_size": 1,
    "rate": 0.5,
    "output_dim": 2,
    "target_shape": (2,),
    "n": 2,
    "dims": (1,),
    "activation": "relu",
    "axes": 1,
    "stddev": 0.1,
    "filepath": "a.keras",
    "schedule": lambda epoch, lr: lr,
    "period": 1,
    "implementation": 1,
    "num_heads": 1,
    "key_dim": 2,
    "max_value": 1.0,
    "height": 2,
    "width": 2,
    "factor": 0.1,
}
REMOVED_BEFORE = {
    "model": (
        "predict_classes",
        "predict_proba",
        "total_loss",
        "_make_predict_function",
        "_make_train_function",
    ),
    "optimizer": ("get_updates", "_decayed_lr"),
}
"""What Keras 2 dropped before its last version and old programs still use; the script sees that it is not there."""
CALLED_BY_KERAS = frozenset(
    "add_loss add_variable_from_reference build call compute_mask compute_output_shape get_initial_state".split()
)
"""Methods that Keras calls itself, or that programs give nothing by its name."""
PASSED_ON = frozenset({"args", "kwargs", "self"})


def parameters(function: object) -> set[str]:
    """The named parameters of a callable; empty where it takes no signature apart."""
    try:
        found = inspect.signature(function).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return set()
    return set(found) - PASSED_ON


def required(cls: type) -> dict[str, Any] | None:
    """Values for the parameters that must be given; None where we have none."""
    values = {}
    for name, parameter in inspect.signature(cls).parameters.items():
        if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            if name not in VALUES:
                return None
            values[name] = VALUES[name]
    return values


def takes(cls: type, name: str) -> bool | None:
    """Whether a class can be made with an argument; None where it cannot be made at all."""
    given = required(cls)
    if given is None or name in given:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            cls(**given)
        except Exception:
            return None
        try:
            cls(**given, **{name: VALUES.get(name, 0.1)})
        except (TypeError, ValueError) as refusal:
            return name not in str(refusal)
        except Exception:
            return None
    return True


def gone_arguments(old: type, new: type) -> set[str]:
    """The arguments that the old class takes and the new one refuses."""
    named = parameters(old) - parameters(new)
    open_ended = any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in inspect.signature(new).parameters.values()
    )
    gone = {name for name in named if not open_ended or takes(new, name) is False}
    if takes(old, "nothing_of_that_name"):  # it swallows anything: what it takes says nothing
        return gone | ({"period"} if takes(new, "period") is False else set())
    return gone | {name for name in HIDDEN if takes(old, name) and takes(new, name) is False}


def refused_arguments(old: object, new: object) -> tuple[str, ...]:
    """The named arguments that a function took and the new one refuses, in the order of their names."""
    try:
        taken = inspect.signature(new).parameters.values()  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ()
    if not taken or any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken):
        return ()
    return tuple(sorted(parameters(old) - parameters(new)))


def of_functions(tf_keras: ModuleType, keras: ModuleType) -> dict[str, tuple[str, ...]]:
    """What functions have lost, by their dotted names; how an object is turned to a dict is no matter of training."""
    found = {}
    for dotted in NAMESPACES:
        for name, old in public(namespace(tf_keras, dotted)):
            new = getattr(namespace(keras, dotted), name, None)
            if inspect.isroutine(old) and inspect.isroutine(new) and not name.endswith("serialize"):
                found[f"keras.{dotted}.{name}"] = refused_arguments(old, new)
    return found


def of_methods(tf_keras: ModuleType, keras: ModuleType) -> dict[str, tuple[str, ...]]:
    """What methods have lost: `Layer.add_weight`, and `keras.layers.Normalization.adapt` where only a class has it."""
    found: dict[str, tuple[str, ...]] = {}
    for owner in OWNERS:
        old = getattr(tf_keras, f"{owner.lower()}s")
        new = getattr(keras, f"{owner.lower()}s")
        classes = [(owner, getattr(old, owner), getattr(new, owner))]
        if owner == "Optimizer":
            classes.append((owner, old.legacy.Optimizer, new.Optimizer))
        else:
            names = sorted(name for name, cls in public(new) if inspect.isclass(cls) and hasattr(old, name))
            classes += [
                (f"keras.{owner.lower()}s.{name}", getattr(old, name), getattr(new, name)) for name in names
            ]
        for prefix, one, other in classes:
            for method in public_attributes(one):
                first, second = getattr(one, method), getattr(other, method, None)
                inherited = prefix != owner and second is getattr(getattr(new, owner), method, None)
                if method in CALLED_BY_KERAS or inherited:
                    continue
                if inspect.isroutine(first) and inspect.isroutine(second):
                    gone = {*found.get(f"{prefix}.{method}", ()), *refused_arguments(first, second)}
                    found[f"{prefix}.{method}"] = tuple(sorted(gone))
    return found


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


def modules(root: ModuleType, prefix: str) -> set[str]:
    """The dotted names of all modules below a package, as `keras.…`."""
    found = set()
    for entry in pkgutil.walk_packages(root.__path__, f"{root.__name__}.", onerror=lambda _name: None):
        dotted = entry.name.removeprefix(prefix)
        if not any(part.startswith("_") or part.endswith("_test") for part in dotted.split(".")):
            found.add(f"keras.{dotted}")
    return found


def attributes(old: object, *new: object, older: tuple[str, ...] = ()) -> tuple[str, ...]:
    """What the old object, or one of a still older Keras, has and none of the new ones has."""
    names = {*public_attributes(old), *older}
    return tuple(sorted(name for name in names if not any(hasattr(each, name) for each in new)))


def public_attributes(thing: object) -> list[str]:
    """The names of an object's attributes that are meant for use."""
    return [name for name in dir(thing) if not name.startswith("_")]


def table() -> dict[str, object]:
    """Everything that the generated module holds."""
    import keras
    import tensorflow as tf
    import tf_keras
    import tf_keras.src

    signatures = {method: tuple(sorted(parameters(getattr(keras.Model, method)))) for method in METHODS}
    removed_arguments: dict[str, tuple[str, ...]] = {}
    for method in METHODS:
        gone = parameters(getattr(tf_keras.Model, method)) - set(signatures[method])
        if gone:
            removed_arguments[method] = tuple(sorted(gone))
    lost = {**of_functions(tf_keras, tf.keras), **of_methods(tf_keras, keras)}
    removed_arguments |= {name: gone for name, gone in lost.items() if gone}
    removed: list[str] = []
    only_under_tf: list[str] = []
    here: dict[str, tuple[str, ...]] = {}
    for dotted in NAMESPACES:
        old_module, new_module = namespace(tf_keras, dotted), namespace(keras, dotted)
        if dotted in ("layers", "optimizers", "losses", "metrics", "callbacks", "models", "utils"):
            here[f"keras.{dotted}"] = tuple(sorted(name for name, _ in public(new_module)))
        for name, old in public(old_module):
            full = f"keras.{dotted}.{name}"
            new = getattr(new_module, name, None)
            if new is None:
                still = getattr(namespace(tf.keras, dotted), name, None) is not None
                (only_under_tf if still else removed).append(full)
            elif inspect.isclass(old) and inspect.isclass(new) and dotted in TRIED:
                gone = gone_arguments(old, new)
                if gone:
                    removed_arguments[full] = tuple(sorted(gone))
    old_model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(2,))])
    new_model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    inputs = keras.Input((2,))
    functional = keras.Model(inputs, keras.layers.Dense(1)(inputs))
    for model in (old_model, new_model, functional):
        model.compile("sgd", "mse")
        model.fit(tf.zeros((1, 2)), tf.zeros((1, 1)), verbose=0)
    old_modules = modules(tf_keras, "tf_keras.") | modules(tf_keras.src, "tf_keras.src.")
    gone_modules = {
        name for name in old_modules - modules(keras, "keras.") if name.count(".") <= 3 and ".src" not in name
    }
    under_tf = gone_modules & modules(keras._tf_keras.keras, "keras._tf_keras.keras.")
    return {
        "SIGNATURES": signatures,
        "REMOVED_ARGUMENTS": removed_arguments,
        "REMOVED_NAMES": tuple(sorted(removed)),
        "REMOVED_OUTSIDE_TF": tuple(sorted({*only_under_tf, *under_tf})),
        "REMOVED_ATTRIBUTES": {
            "model": attributes(old_model, new_model, functional, older=REMOVED_BEFORE["model"]),
            "layer": attributes(old_model.layers[0], new_model.layers[0]),
            "metric": attributes(tf_keras.metrics.Mean(), keras.metrics.Mean()),
            "optimizer": attributes(
                old_model.optimizer,
                new_model.optimizer,
                keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD()),
                older=(
                    *public_attributes(tf_keras.optimizers.legacy.SGD()),
                    *public_attributes(
                        tf_keras.mixed_precision.LossScaleOptimizer(tf_keras.optimizers.SGD())
                    ),
                    *REMOVED_BEFORE["optimizer"],
                ),
            ),
        },
        "REMOVED_MODULES": tuple(sorted(gone_modules - under_tf)),
        "PUBLIC_NAMES": here,
    }


DESCRIPTIONS = {
    "SIGNATURES": "Named parameters of the methods of a Keras 3 model.",
    "REMOVED_ARGUMENTS": "What Keras 2 took and Keras 3 refuses, by method, function or class.",
    "REMOVED_NAMES": "Public names of Keras 2 that Keras 3 does not have, also not as `tf.keras`.",
    "REMOVED_OUTSIDE_TF": "Public names and modules of Keras 2 that live on under `tf.keras` only.",
    "REMOVED_ATTRIBUTES": "Attributes of models, layers, metrics and optimizers that Keras 3 does not have.",
    "REMOVED_MODULES": "Modules of Keras 2, public or not, that cannot be imported from Keras 3.",
    "PUBLIC_NAMES": "What the public modules of Keras 3 offer.",
}


def source() -> str:
    """The text of the generated module."""
    lines = [
        '"""What Keras 3 takes and what it dropped, as `scripts/keras_signatures.py` found it: not edited by hand."""',
        "",
        "# fmt: off",
        "from __future__ import annotations",
        "",
    ]
    for name, value in table().items():
        annotation = "tuple[str, ...]" if isinstance(value, tuple) else "dict[str, tuple[str, ...]]"
        lines += [f"{name}: {annotation} = \\", pprint.pformat(value, width=118, compact=True)]
        lines += [f'"""{DESCRIPTIONS[name]}"""', ""]
    return "\n".join(lines)


if __name__ == "__main__":
    TARGET.write_text(source())
