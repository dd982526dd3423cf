"""Write the table of what Keras 1 and 2 had and Keras 3 does not, by comparing `keras` with `tf_keras`.

Run it with both installed: `python -m scripts.keras_changes`. `make test-versions` runs it too, and compares. What no
comparison shows (today's name of something, what Keras 2 had already removed) is written here, and checked.
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

SOURCE = Path(__file__).parents[1] / "src/fitdoctor/source"
CHANGES = SOURCE / "keras_changes.tsv"
OFFERED = SOURCE / "keras_3_api.py"
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


# --- what no comparison shows ---------------------------------------------------------------------------------------

RECURRENT = "LSTM GRU SimpleRNN ConvLSTM2D"
CONVOLUTIONS = (
    "Conv1D Conv2D Conv3D Conv2DTranspose SeparableConv2D Convolution1D Convolution2D Convolution3D "
    "LocallyConnected1D LocallyConnected2D"
)
POOLING = "MaxPooling1D MaxPooling2D MaxPooling3D AveragePooling1D AveragePooling2D AveragePooling3D"
SPATIAL = (
    f"{CONVOLUTIONS} ConvLSTM2D {POOLING} GlobalMaxPooling2D GlobalAveragePooling2D UpSampling2D UpSampling3D "
    "ZeroPadding2D ZeroPadding3D Cropping2D Cropping3D Flatten SpatialDropout2D SpatialDropout3D"
)
WEIGHTED = f"Dense {RECURRENT} {CONVOLUTIONS} MaxoutDense TimeDistributedDense Highway"
KERAS_1_ARGUMENTS = {
    "output_dim": ("units", f"Dense {RECURRENT} MaxoutDense TimeDistributedDense"),
    "init": ("kernel_initializer", f"{WEIGHTED} Embedding BatchNormalization PReLU"),
    "nb_filter": ("filters", f"{CONVOLUTIONS} ConvLSTM2D"),
    "nb_row": ("kernel_size", f"{CONVOLUTIONS} ConvLSTM2D"),
    "nb_col": ("kernel_size", f"{CONVOLUTIONS} ConvLSTM2D"),
    "filter_length": ("kernel_size", "Conv1D Convolution1D LocallyConnected1D"),
    "subsample_length": ("strides", "Conv1D Convolution1D LocallyConnected1D"),
    "subsample": ("strides", f"{CONVOLUTIONS} ConvLSTM2D"),
    "border_mode": ("padding", f"{CONVOLUTIONS} ConvLSTM2D {POOLING}"),
    "pool_length": ("pool_size", "MaxPooling1D AveragePooling1D"),
    "stride": ("strides", "MaxPooling1D AveragePooling1D"),
    "dim_ordering": ("data_format", SPATIAL),
    "W_regularizer": ("kernel_regularizer", f"{WEIGHTED} Embedding"),
    "b_regularizer": ("bias_regularizer", WEIGHTED),
    "U_regularizer": ("recurrent_regularizer", RECURRENT),
    "W_constraint": ("kernel_constraint", f"{WEIGHTED} Embedding"),
    "b_constraint": ("bias_constraint", WEIGHTED),
    "inner_activation": ("recurrent_activation", RECURRENT),
    "inner_init": ("recurrent_initializer", RECURRENT),
    "dropout_W": ("dropout", RECURRENT),
    "dropout_U": ("recurrent_dropout", RECURRENT),
    "p": ("rate", "Dropout SpatialDropout1D SpatialDropout2D SpatialDropout3D GaussianDropout"),
    "sigma": ("stddev", "GaussianNoise"),
    "mode": ("", "BatchNormalization"),
    "dropout": ("", "Embedding"),
    "consume_less": ("", RECURRENT),
    "forget_bias_init": ("", "LSTM"),
}
"""Arguments of Keras 1 layers: their names since Keras 2, and the layers."""
OLDER_ARGUMENTS = {
    "Model.fit": {
        "nb_epoch": "epochs",
        "samples_per_epoch": "steps_per_epoch",
        "nb_val_samples": "validation_steps",
        "show_accuracy": "",
        "nb_worker": "",
        "max_q_size": "",
        "pickle_safe": "",
    },
    "Model.evaluate": {"val_samples": "steps", "nb_worker": "", "max_q_size": "", "pickle_safe": ""},
    "Model.predict": {"val_samples": "steps", "nb_worker": "", "max_q_size": "", "pickle_safe": ""},
    "Model.compile": dict.fromkeys(
        ("sample_weight_mode", "cloning", "experimental_run_tf_function", "from_serialized"), ""
    ),
    "keras.Model": {"input": "inputs", "output": "outputs"},
    "keras.models.Model": {"input": "inputs", "output": "outputs"},
}
"""Arguments of Keras 1, and `**kwargs` of Keras 2, that no signature of Keras 2 shows."""
OLDER_NAMES = {
    "utils": "multi_gpu_model convert_all_kernels_in_model HDF5Matrix",
    "layers": "Merge Highway MaxoutDense TimeDistributedDense AtrousConvolution1D AtrousConvolution2D Recurrent "
    "Deconvolution2D ConvRecurrent2D CuDNNLSTM CuDNNGRU",
    "models": "Graph",
    "optimizers": "TFOptimizer",
    "backend": "image_dim_ordering set_image_dim_ordering is_placeholder",
    "initializers": "normal uniform",
    "regularizers": "l1l2 activity_l1 activity_l2 activity_l1l2 WeightRegularizer ActivityRegularizer",
    "constraints": "maxnorm nonneg",
    "metrics": "acc cosine fbeta_score precision recall matthews_correlation cosine_proximity",
    "losses": "cosine cosine_proximity",
    "callbacks": "callbacks",
}
"""Names of Keras 1 and early Keras 2."""
OLDER_MODULES = (
    "objectives initializations utils.training_utils utils.visualize_util backend.tensorflow_backend legacy.interfaces "
    "applications.resnet_v1 wrappers.scikit_learn layers.merge"
)
NEW_NAMES = {
    "keras.constraints.maxnorm": "keras.constraints.MaxNorm",
    "keras.constraints.nonneg": "keras.constraints.NonNeg",
    "keras.initializers.normal": "keras.initializers.RandomNormal",
    "keras.initializers.uniform": "keras.initializers.RandomUniform",
    "keras.regularizers.activity_l1": "keras.regularizers.L1",
    "keras.regularizers.activity_l2": "keras.regularizers.L2",
    "keras.layers.CuDNNLSTM": "keras.layers.LSTM",
    "keras.layers.CuDNNGRU": "keras.layers.GRU",
    "keras.utils.np_utils": "keras.utils",
    **dict.fromkeys(
        (
            "keras.losses.cosine",
            "keras.losses.cosine_proximity",
            "keras.metrics.cosine",
            "keras.metrics.cosine_proximity",
        ),
        "keras.losses.cosine_similarity",
    ),
    "keras.layers.experimental.preprocessing": "keras.layers",
}
NEW_ARGUMENTS = {"lr": "learning_rate", "alpha": "negative_slope"}
NEW_ATTRIBUTES = {
    "Model": {
        "fit_generator": "fit",
        "evaluate_generator": "evaluate",
        "predict_generator": "predict",
        "predict_proba": "predict",
    },
    "Metric": {"reset_states": "reset_state"},
    "Layer": {"output_shape": "output.shape", "input_shape": "input.shape"},
    "Optimizer": {"lr": "learning_rate", "weights": "variables", "get_scaled_loss": "scale_loss"},
}
LOSSES = {
    "mean_squared_error": "mse",
    "mean_absolute_error": "mae",
    "mean_absolute_percentage_error": "mape",
    "mean_squared_logarithmic_error": "msle",
    "kl_divergence": "kld",
    "log_cosh": "logcosh",
}
"""Losses that have only long names in `keras` and only short ones in `tensorflow.keras`."""
OTHERS = (
    ("value", "keras.losses.*(reduction=auto)", "sum_over_batch_size", "3", "yes"),
    ("ignored", "keras.optimizers.*(decay)", "", "3", "no"),
    ("history", "acc", "accuracy", "2.3", "yes"),
    ("history", "val_acc", "val_accuracy", "2.3", "yes"),
    ("never called", "Optimizer._resource_apply_dense", "update_step", "2.11", "no"),
    ("never called", "Optimizer._resource_apply_sparse", "update_step", "2.11", "no"),
    ("never called", "Optimizer._create_slots", "build", "2.11", "no"),
    ("never called", "Optimizer._prepare_local", "", "2.11", "no"),
    ("never called", "Optimizer.get_updates", "update_step", "2.11", "no"),
)
"""What changed without a change of any name."""
SUMMED_ALREADY = ("experimental_aggregate_gradients", "skip_gradients_aggregation")
"""A program that passes these sums over replicas by hand: without them, it would sum twice."""

Row = tuple[str, str, str, str, str]
"""Kind, old, new, the Keras version since when, and whether the replacement is safe."""


# --- the tables -----------------------------------------------------------------------------------------------------


def argument_rows(tf_keras: ModuleType, keras: ModuleType, tf: ModuleType) -> Iterator[Row]:
    """Arguments that are gone, with their new names; and those that lost their default."""
    gone: dict[str, set[str]] = {}
    for method in METHODS:
        gone[f"Model.{method}"] = parameters(getattr(tf_keras.Model, method)) - parameters(
            getattr(keras.Model, method)
        )
    for name, lost in (*of_functions(tf_keras, tf.keras).items(), *of_methods(tf_keras, keras).items()):
        gone[name] = set(lost)
    for dotted in TRIED:
        for name, old in public(namespace(tf_keras, dotted)):
            new = getattr(namespace(keras, dotted), name, None)
            if inspect.isclass(old) and inspect.isclass(new):
                gone[f"keras.{dotted}.{name}"] = gone_arguments(old, new)
                for argument, value in lost_defaults(old, new):
                    yield "default", f"keras.{dotted}.{name}({argument})", f"{argument}={value}", "3", "yes"
    for owner, names in gone.items():
        for name in names:
            safe = "no" if name in SUMMED_ALREADY else "yes"
            yield "argument", f"{owner}({name})", NEW_ARGUMENTS.get(name, ""), "3", safe
    for owner, renamed in OLDER_ARGUMENTS.items():
        for name, new_name in renamed.items():
            yield "argument", f"{owner}({name})", new_name, "3" if owner == "Model.compile" else "2", "yes"
    for name, (new_name, layers) in KERAS_1_ARGUMENTS.items():
        for layer in layers.split():
            cls = getattr(keras.layers, layer, None)
            if cls is None or takes(cls, name) is not True and name not in parameters(cls):
                yield "argument", f"keras.layers.{layer}({name})", new_name, "2", "yes"


def lost_defaults(old: type, new: type) -> Iterator[tuple[str, object]]:
    """Yield the arguments that have a default in the old class and must be passed to the new one."""
    before, now = inspect.signature(old).parameters, inspect.signature(new).parameters
    for name, parameter in before.items():
        if name in now and now[name].default is inspect.Parameter.empty:
            if parameter.default is not inspect.Parameter.empty:
                value = parameter.default
                yield name, value[0] if isinstance(value, tuple) and len(set(value)) == 1 else value


def order_rows(tf_keras: ModuleType, keras: ModuleType) -> Iterator[Row]:
    """Methods whose positional arguments are in another order."""
    methods = [("Model", "compile"), ("Model", "fit"), ("Model", "evaluate"), ("Layer", "add_weight")]
    for owner, method in methods:
        old, new = (
            list(inspect.signature(getattr(getattr(home, owner), method)).parameters)[1:]
            for home in ((tf_keras.layers, keras.layers) if owner == "Layer" else (tf_keras, keras))
        )
        kept = [name for name in old if name not in PASSED_ON][:7]
        # Nobody passes more than a few arguments by position.
        if kept[:3] != new[:3]:
            yield "order", f"{owner}.{method}", " ".join(kept), "3", "yes"


def name_rows(tf_keras: ModuleType, keras: ModuleType, tf: ModuleType) -> Iterator[Row]:
    """Names and modules that are gone; those that `tf.keras` still has lead there."""
    for dotted in NAMESPACES:
        for name, _old in public(namespace(tf_keras, dotted)):
            if getattr(namespace(keras, dotted), name, None) is None:
                still = getattr(namespace(tf.keras, dotted), name, None) is not None
                full = f"keras.{dotted}.{name}"
                yield "name", full, f"tensorflow.{full}" if still else NEW_NAMES.get(full, ""), "3", "yes"
    older = [f"keras.{dotted}.{name}" for dotted, names in OLDER_NAMES.items() for name in names.split()]
    for full in older:
        yield "name", full, NEW_NAMES.get(full, ""), "2", "yes"
    for part in ("losses", "metrics"):
        spellings = {
            **{short: long for long, short in LOSSES.items()},
            "kullback_leibler_divergence": "kl_divergence",
        }
        spellings |= {short.upper(): long for long, short in LOSSES.items() if short != "logcosh"}
        for short, long in spellings.items():
            yield "name", f"keras.{part}.{short}", f"keras.{part}.{long}", "3", "yes"
        for long, short in LOSSES.items():
            yield "name", f"tensorflow.keras.{part}.{long}", f"tensorflow.keras.{part}.{short}", "3", "yes"
    import tf_keras.src

    old_modules = modules(tf_keras, "tf_keras.") | modules(tf_keras.src, "tf_keras.src.")
    gone = {
        name for name in old_modules - modules(keras, "keras.") if name.count(".") <= 3 and ".src" not in name
    }
    under_tf = gone & modules(keras._tf_keras.keras, "keras._tf_keras.keras.")
    for name in gone:
        new = f"tensorflow.{name}" if name in under_tf else NEW_NAMES.get(name, "")
        yield "module", name, new, "3", "yes"
    for name in OLDER_MODULES.split():
        yield "module", f"keras.{name}", "", "2", "yes"


def attribute_rows(tf_keras: ModuleType, keras: ModuleType, tf: ModuleType) -> Iterator[Row]:
    """Attributes and methods that objects have lost."""
    old_model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(2,))])
    new_model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    inputs = keras.Input((2,))
    functional = keras.Model(inputs, keras.layers.Dense(1)(inputs))
    for model in (old_model, new_model, functional):
        model.compile("sgd", "mse")
        model.fit(tf.zeros((1, 2)), tf.zeros((1, 1)), verbose=0)
    of_optimizers = (
        *public_attributes(tf_keras.optimizers.legacy.SGD()),
        *public_attributes(tf_keras.mixed_precision.LossScaleOptimizer(tf_keras.optimizers.SGD())),
        *REMOVED_BEFORE["optimizer"],
    )
    scaled = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD())
    lost = {
        "Model": attributes(old_model, new_model, functional, older=REMOVED_BEFORE["model"]),
        "Layer": attributes(old_model.layers[0], new_model.layers[0]),
        "Metric": attributes(tf_keras.metrics.Mean(), keras.metrics.Mean()),
        "Optimizer": attributes(old_model.optimizer, new_model.optimizer, scaled, older=of_optimizers),
    }
    for owner, names in lost.items():
        for name in names:
            yield "attribute", f"{owner}.{name}", NEW_ATTRIBUTES.get(owner, {}).get(name, ""), "3", "yes"


def changes() -> str:
    """The text of the table, one line per difference; a later row for the same name replaces an earlier one."""
    import keras
    import tensorflow as tf
    import tf_keras

    rows: dict[tuple[str, str], Row] = {}
    for row in (
        *name_rows(tf_keras, keras, tf),
        *argument_rows(tf_keras, keras, tf),
        *attribute_rows(tf_keras, keras, tf),
        *order_rows(tf_keras, keras),
        *OTHERS,
    ):
        if row[0] == "name" and exists(row[1], keras, tf) or row[0] == "module" and is_module(row[1], keras):
            raise ValueError(f"Keras 3 has `{row[1]}`")
        rows[row[:2]] = row
    head = "kind\told\tnew\tsince\tsafe\n"
    return head + "".join("\t".join(row) + "\n" for _key, row in sorted(rows.items()))


def exists(dotted: str, keras: ModuleType, tf: ModuleType) -> bool:
    """Whether Keras 3 has a public name, under `keras` or, if it says so, under `tensorflow.keras`."""
    root = tf.keras if dotted.startswith("tensorflow.") else keras
    found: object = root
    for part in dotted.removeprefix("tensorflow.").split(".")[1:]:
        found = getattr(found, part, None)
    return found is not None


def is_module(dotted: str, keras: ModuleType) -> bool:
    """Whether Keras 3 has a module of that name."""
    return dotted in modules(keras, "keras.")


def offered() -> str:
    """The text of the module that lists what Keras 3 offers."""
    import keras

    named = ("layers", "optimizers", "losses", "metrics", "callbacks", "models", "utils")
    signatures = {method: tuple(sorted(parameters(getattr(keras.Model, method)))) for method in METHODS}
    names = {
        f"keras.{part}": tuple(sorted(name for name, _ in public(namespace(keras, part)))) for part in named
    }
    lines = [
        '"""What Keras 3 offers: written by `scripts/keras_changes.py`, not by hand."""',
        "",
        "# fmt: off",
        "from __future__ import annotations",
        "",
    ]
    for name, value, meaning in (
        ("SIGNATURES", signatures, "Named parameters of the methods of a Keras 3 model."),
        ("PUBLIC_NAMES", names, "Public names of the modules of Keras 3."),
    ):
        lines += [f"{name}: dict[str, tuple[str, ...]] = \\", pprint.pformat(value, width=118, compact=True)]
        lines += [f'"""{meaning}"""', ""]
    return "\n".join(lines)


if __name__ == "__main__":
    CHANGES.write_text(changes(), "utf-8")
    OFFERED.write_text(offered(), "utf-8")
