"""Collect the facts of a live model."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from fitdoctor.collect.codes import Codes
from fitdoctor.collect.layers import (
    every_layer,
    is_library_class,
    layer_facts,
    shape_of,
    sublayers,
    user_classes,
)
from fitdoctor.collect.losses import losses_of, metrics_of, optimizer_of, schedule_of
from fitdoctor.collect.returned import UNKNOWN_STEP, returned_paths
from fitdoctor.collect.strategies import replica_devices, scope_facts, strategy_of, workers_of
from fitdoctor.collect.untracked import foreign_variables, untracked_variables
from fitdoctor.facts import ModelFacts, Spec, Unknown

OVERRIDES = (
    "call", "build", "train_step", "test_step", "predict_step", "compute_loss", "compute_metrics", "compile",
    "fit", "evaluate", "predict", "make_train_function", "make_test_function", "make_predict_function",
    "metrics", "reset_metrics", "get_metrics_result", "compiled_loss", "get_config", "loss", "__call__",
)  # fmt: skip


def collect_model(model: Any, codes: Codes) -> ModelFacts:
    """Return the facts of a model from its attributes, without running user code."""
    kind = kind_of(model)
    names = output_names_of(model)
    losses, loss_structure, loss_keys = losses_of(model, names, codes)
    metrics, metric_keys = metrics_of(model, names, codes)
    optimizer, optimizer_settings = optimizer_of(model)
    layers = top_layers(model)
    layer_codes = codes.of_layers(model, layers)
    functional = functional_part(model)
    built = bool(getattr(model, "built", False))
    changed = _trainable_changed(model)
    seen: set[int] = {id(model)}
    return ModelFacts(
        name=str(getattr(model, "name", "")),
        class_name=type(model).__name__,
        kind=kind,
        keras=keras_version(model),
        built=built,
        compiled=is_compiled(model),
        inputs=_specs(functional, "_inputs", Unknown("the model declares no input shape")),
        input_structure=_structure(functional, "_inputs_struct"),
        input_layers=_input_layers(functional),
        outputs=_specs(
            functional, "_outputs", Unknown("the output of the model is unknown until it is called")
        ),
        output_names=names,
        output_structure=_structure(functional, "_outputs_struct"),
        output_paths=_output_paths(model, functional),
        layers=tuple(layer_facts(layer, index, layer_codes, seen) for index, layer in enumerate(layers)),
        losses=losses,
        loss_structure=loss_structure,
        loss_keys=loss_keys,
        metrics=metrics,
        metric_keys=metric_keys,
        optimizer=optimizer,
        optimizer_settings=optimizer_settings,
        schedule=schedule_of(model, codes),
        overrides=overrides_of(model),
        added_losses=_adds_losses(model),
        jit_compile=getattr(model, "jit_compile", None) is True,
        run_eagerly=_runs_eagerly(model),
        parameters=_size(model, "weights"),
        device=_device(model),
        trainable_parameters=_trained_size(model)
        if built and all(getattr(layer, "built", True) for layer in layers)
        else Unknown("the model is not built"),
        trainable_changed=tuple(str(layer.name) for layer in changed),
        trainable_code=codes.of_trainable(changed),
        untracked_variables=untracked_variables(model),
        foreign_variables=foreign_variables(layers),
        strategy=_strategy(model),
        replicas=int(getattr(strategy_of(model), "num_replicas_in_sync", 1)),
        workers=workers_of(strategy_of(model)),
        replica_devices=replica_devices(strategy_of(model)),
        scope=scope_facts(model, layers),
        code=codes.of_model(model),
        compile_code=codes.of_compile(model),
        input_code=codes.of_input(model),
        shape_code=codes.of_input_shape(model),
    )


def _input_layers(functional: Any) -> tuple[str, ...]:
    tensors = getattr(functional, "_inputs", None) or ()
    histories = [getattr(tensor, "_keras_history", None) for tensor in tensors]
    return tuple(str(getattr(getattr(history, "operation", None), "name", "")) for history in histories)


def keras_version(model: Any) -> int:
    """Return 2 for tf_keras and old tf.keras, else 3, from the base class of the model."""
    for base in type(model).__mro__:
        root = base.__module__.split(".")[0]
        if root == "keras":
            module = sys.modules.get("keras")
            version = str(getattr(module, "__version__", "3"))
            return 3 if version[:1] not in ("1", "2") else 2
        if root in ("tf_keras", "tensorflow"):
            return 2
    return 3


def kind_of(model: Any) -> str:
    """Return `sequential`, `functional` or `subclassed`."""
    names = [base.__name__ for base in type(model).__mro__ if is_library_class(base)]
    if "Sequential" in names:
        return "sequential"
    return "functional" if "Functional" in names else "subclassed"


def functional_part(model: Any) -> Any:
    """Return the functional graph of a functional or built sequential model, else None."""
    kind = kind_of(model)
    if kind == "functional":
        return model
    if kind == "sequential":
        inner = vars(model).get("_functional")
        return inner if inner is not None else (model if vars(model).get("_graph_initialized") else None)
    return None


def top_layers(model: Any) -> list[Any]:
    """Return the layers of the model in order."""
    if kind_of(model) == "subclassed":
        return sublayers(model)
    return list(getattr(model, "layers", []))


def is_compiled(model: Any) -> bool:
    """Whether compile was called."""
    for name in ("compiled", "_is_compiled"):
        value = vars(model).get(name)
        if isinstance(value, bool):
            return value
    return bool(getattr(model, "compiled", False))


def output_names_of(model: Any) -> tuple[str, ...]:
    """Return the output names of a functional model; for a dict of outputs its keys."""
    functional = functional_part(model)
    keyed = None if functional is None else vars(functional).get("_outputs_struct")
    if isinstance(keyed, dict) and all(
        not isinstance(value, (dict, list, tuple)) for value in keyed.values()
    ):
        return tuple(sorted(map(str, keyed)))
    names = getattr(functional, "output_names", None) if functional is not None else None
    return tuple(str(name) for name in names) if names else ()


def _specs(functional: Any, attribute: str, unknown: Unknown) -> tuple[Spec, ...] | Unknown:
    if functional is None:
        return unknown
    tensors = vars(functional).get(attribute) or getattr(functional, attribute.lstrip("_"), None)
    if not tensors:
        return unknown
    names: list[str] = []
    if attribute == "_outputs":
        names = [str(name) for name in getattr(functional, "output_names", ())]
    try:
        return tuple(
            Spec(
                shape_of(tensor),
                str(getattr(tensor.dtype, "name", tensor.dtype)),
                names[index] if index < len(names) else str(tensor.name).split(":")[0],
            )
            for index, tensor in enumerate(tensors)
        )
    except (AttributeError, TypeError, ValueError):
        return unknown


def _structure(functional: Any, attribute: str) -> str:
    structure = None if functional is None else vars(functional).get(attribute)
    if structure is None and functional is not None:
        structure = vars(functional).get(f"_nested{attribute.split('_struct')[0]}")
    if isinstance(structure, dict):
        return "dict"
    if isinstance(structure, (list, tuple)):
        # Keras stores a single tensor as a list of one.
        return "list" if len(structure) > 1 else "single"
    return "single"


def _output_paths(model: Any, functional: Any) -> tuple[tuple[str, ...], ...]:
    """Return the layer names before each output, last first, including nested models."""
    if functional is None and kind_of(model) == "subclassed":
        return _paths_in_call(model)
    try:
        return tuple(_path_to(tensor) for tensor in _outputs_of(functional))
    # A tensor that no layer produced has no history.
    except (AttributeError, IndexError, TypeError):
        return ()


def _paths_in_call(model: Any) -> tuple[tuple[str, ...], ...]:
    return tuple(_names_along(path) for path in returned_paths(model))


def _names_along(steps: Iterable[Any]) -> tuple[str, ...]:
    """Return the names of layers and functions; of a custom layer at the output, those inside it."""
    names: list[str] = []
    for step in steps:
        names.extend(_names_of(step, last=not names))
    return tuple(names)


def _names_of(step: Any, last: bool) -> tuple[str, ...]:
    """Return the name of a layer, or the layer names inside a nested model or the last custom layer, last first."""
    if isinstance(step, str):
        return (step,)
    if kind_of(step) == "sequential":
        return _names_along(reversed(step.layers))
    outputs = _outputs_of(functional_part(step))
    if len(outputs) == 1:
        return _path_to(outputs[0])
    paths = _paths_in_call(step) if last and user_classes(type(step)) and sublayers(step) else ()
    return paths[0] if len(paths) == 1 and paths[0] != (UNKNOWN_STEP,) else (str(step.name),)


def _outputs_of(functional: Any) -> list[Any]:
    if functional is None:
        return []
    return list(vars(functional).get("_outputs") or vars(functional).get("outputs") or ())


def _path_to(tensor: Any, limit: int = 64) -> tuple[str, ...]:
    names: list[str] = []
    while len(names) < limit:
        operation, node_index, tensor_index = tensor._keras_history
        inner = functional_part(operation) if hasattr(operation, "layers") else None
        if inner is not None:
            names.extend(_path_to(_outputs_of(inner)[tensor_index], limit))
        else:
            names.extend(_names_of(operation, last=not names))
        node = operation._inbound_nodes[node_index]
        # Keras 2 uses another attribute; this one is not always a list there.
        inputs = node.keras_inputs if hasattr(node, "keras_inputs") else node.input_tensors
        if len(inputs) != 1:
            break
        tensor = inputs[0]
    return tuple(names)


def overrides_of(model: Any) -> tuple[str, ...]:
    """Return the methods that user classes override."""
    defined = {name for kind in user_classes(type(model)) for name in vars(kind)}
    return tuple(name for name in OVERRIDES if name in defined)


def _adds_losses(model: Any) -> bool:
    for layer in every_layer(model):
        if getattr(layer, "activity_regularizer", None) is not None:
            return True
        if any(
            getattr(layer, name, None) is not None
            for name in ("kernel_regularizer", "bias_regularizer", "embeddings_regularizer")
        ):
            return True
        for kind in user_classes(type(layer)):
            for function in vars(kind).values():
                code = getattr(function, "__code__", None)
                if code is not None and "add_loss" in code.co_names:
                    return True
    return False


def _runs_eagerly(model: Any) -> bool:
    for name in ("_run_eagerly", "run_eagerly"):
        value = vars(model).get(name)
        if isinstance(value, bool):
            return value
    return False


def _size(model: Any, attribute: str) -> int:
    total = 0
    try:
        for variable in getattr(model, attribute):
            size = 1
            for axis in variable.shape:
                size *= int(axis)
            total += size
    # An unbuilt Keras 2 model raises; a user's property may raise anything.
    except Exception:
        return 0
    return total


def _trained_size(model: Any) -> int:
    """Return the number of trained parameters; Keras 2 uses the state at compile time."""
    compiled = vars(model).get("_compiled_trainable_state")
    # Keras 3 also stores that state but does not use it.
    if not compiled or not hasattr(model, "_set_trainable_state"):
        return _size(model, "trainable_weights")
    now = model._get_trainable_state()
    try:
        model._set_trainable_state(compiled)
        return _size(model, "trainable_weights")
    finally:
        model._set_trainable_state(now)


def _trainable_changed(model: Any) -> list[Any]:
    """Return layers whose `trainable` differs from what the traced training step uses.

    Keras fixes the trained weights when it traces the step; earlier changes take effect.
    """
    if vars(model).get("train_function") is None:
        return []
    optimizer = getattr(model, "optimizer", None)
    trained = vars(optimizer).get("_trainable_variables") if optimizer is not None else None
    if not trained:
        return []
    ids = {id(variable) for variable in trained}
    changed = []
    for layer in every_layer(model):
        if layer is model or sublayers(layer):
            continue
        weights = list(vars(layer).get("_trainable_variables", ()))
        if weights and any(
            (id(weight) in ids) != (bool(getattr(weight, "trainable", True)) and _is_trainable(layer))
            for weight in weights
        ):
            changed.append(layer)
    return changed


def _is_trainable(layer: Any) -> bool:
    return bool(getattr(layer, "trainable", True))


def _strategy(model: Any) -> str:
    strategy = strategy_of(model)
    return type(strategy).__name__ if strategy is not None else ""


def _device(model: Any) -> str:
    """Return the device of the first weight."""
    weights = getattr(model, "weights", None) if getattr(model, "built", False) else None
    value = getattr(weights[0], "value", weights[0]) if isinstance(weights, list) and weights else None
    device = getattr(value, "device", "")
    return device.rpartition("device:")[2] if isinstance(device, str) else ""
