"""Collect layers: plain settings, shapes, weights and source location."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from typing import Any

from fitdoctor.facts import Code, LayerFacts, Shape, Unknown
from fitdoctor.source.keras_names import snake_case

LIBRARIES = frozenset(
    ("keras", "tf_keras", "tensorflow", "keras_core", "keras_hub", "keras_nlp", "keras_cv", "keras_tuner")
)
MOST_LAYERS = 4000

SETTINGS = (
    "units", "activation", "recurrent_activation", "use_bias", "filters", "kernel_size", "strides", "padding",
    "dilation_rate", "groups", "depth_multiplier", "data_format", "pool_size", "keepdims", "size",
    "interpolation", "cropping", "rate", "noise_shape", "axis", "axes", "momentum", "epsilon", "center", "scale",
    "offset", "target_shape", "dims", "n", "input_dim", "output_dim", "mask_zero", "mask_value", "input_length",
    "return_sequences", "return_state", "go_backwards", "stateful", "unroll", "merge_mode", "dropout",
    "recurrent_dropout", "num_heads", "key_dim", "value_dim", "use_scale", "normalize", "output_mode",
    "max_tokens", "num_tokens", "output_sequence_length", "num_oov_indices", "standardize", "split", "num_bins",
    "batch_shape", "optional", "sparse", "ragged", "factor", "height", "width", "negative_slope", "alpha",
    "max_value", "threshold", "l1", "l2", "stddev", "height_factor", "width_factor", "num_groups", "function",
    "kernel_initializer",
)  # fmt: skip


def is_library_class(kind: type) -> bool:
    """Whether a class belongs to Keras or a related library."""
    return kind.__module__.split(".")[0] in LIBRARIES


def user_classes(kind: type) -> list[type]:
    """Return the user-defined classes among a class and its bases, nearest first."""
    return [base for base in kind.__mro__ if base is not object and not is_library_class(base)]


def plain_text(value: Any) -> str | None:
    """Return a setting as text: numbers, strings, tuples of them, function names; None for the rest."""
    if value is None or isinstance(value, (bool, int, float)):
        return str(value)
    if isinstance(value, str):
        return value if len(value) <= 200 else None
    if isinstance(value, (tuple, list)):
        items = [plain_text(item) for item in value]
        if len(items) > 16 or any(item is None for item in items):
            return None
        return f"({', '.join(item or '' for item in items)}{',' if len(items) == 1 else ''})"
    if isinstance(value, functools.partial):
        return plain_text(value.func)
    if callable(value):
        return getattr(value, "__name__", None) or snake_case(type(value).__name__)
    return None


def settings_of(thing: Any, names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return the plain settings of an object, read from its attributes."""
    found = []
    attributes = vars(thing) if hasattr(thing, "__dict__") else {}
    shared = _class_names(type(thing), names)
    for name in names:
        value = attributes.get(name, attributes.get(f"_{name}", _MISSING))
        if value is _MISSING and name in shared:
            value = _property(thing, name)
        if value is _MISSING:
            continue
        text = plain_text(value)
        if text is not None:
            found.append((name, text))
    return tuple(found)


_MISSING = object()


@functools.cache
def _library_names(kind: type, names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name for name in names if any(name in vars(base) for base in kind.__mro__))


def _class_names(kind: type, names: tuple[str, ...]) -> Collection[str]:
    """Return the names that a class has, cached for library classes."""
    return _library_names(kind, names) if is_library_class(kind) else names


def _property(thing: Any, name: str) -> Any:
    """Return a property of a library class; user-defined properties are not run."""
    for kind in type(thing).__mro__:
        if name in vars(kind):
            if isinstance(vars(kind)[name], property) and is_library_class(kind):
                try:
                    return getattr(thing, name)
                # A property of an unbuilt layer may raise anything.
                except Exception:
                    return _MISSING
            value = vars(kind)[name]
            return value if isinstance(value, (bool, int, float, str, tuple)) else _MISSING
    return _MISSING


def layer_facts(
    layer: Any, index: int, codes: Mapping[int, Code], seen: set[int] | None = None
) -> LayerFacts:
    """Return the facts of a layer and its sublayers."""
    seen = set() if seen is None else seen
    seen.add(id(layer))
    inner = [item for item in sublayers(layer) if id(item) not in seen and len(seen) < MOST_LAYERS]
    parameters, trainable = _parameters(layer)
    inputs, outputs, dtypes = _shapes(layer)
    return LayerFacts(
        name=str(getattr(layer, "name", "")),
        class_name=type(layer).__name__,
        index=index,
        config=_config(layer),
        input_shapes=inputs,
        output_shapes=outputs,
        output_dtypes=dtypes,
        parameters=parameters,
        trainable_parameters=trainable,
        trainable=bool(getattr(layer, "trainable", True)),
        builtin=is_library_class(type(layer)),
        code=codes.get(id(layer), Unknown("the call that creates it was not found")),
        sublayers=tuple(layer_facts(item, number, codes, seen) for number, item in enumerate(inner)),
        fed_by=_fed_by(layer),
    )


def sublayers(layer: Any) -> list[Any]:
    """Return the layers that a layer or nested model tracks, without metrics."""
    if (
        "Functional" in {kind.__name__ for kind in type(layer).__mro__}
        or type(layer).__name__ == "Sequential"
    ):
        found = getattr(layer, "layers", None)
    else:
        found = vars(layer).get("_layers") if hasattr(layer, "__dict__") else None
        if found is None:
            found = vars(layer).get("_self_tracked_trackables", [])
    result = []
    for item in found or []:
        if hasattr(item, "layers") and not hasattr(item, "call"):
            result.extend(item.layers)
        elif hasattr(item, "call") and hasattr(item, "trainable"):
            result.append(item)
    return result


def every_layer(*outer: Any) -> list[Any]:
    """Yield the layers or models and their sublayers, each once, in order."""
    found: list[Any] = []
    seen: set[int] = set()
    pending = list(reversed(outer))
    while pending and len(found) < 4000:
        layer = pending.pop()
        if id(layer) in seen:
            continue
        seen.add(id(layer))
        found.append(layer)
        pending.extend(reversed(sublayers(layer)))
    return found


def _config(layer: Any) -> tuple[tuple[str, str], ...]:
    found = settings_of(layer, SETTINGS)
    cell = vars(layer).get("cell") if hasattr(layer, "__dict__") else None
    if cell is not None and is_library_class(type(cell)):
        known = {name for name, _text in found}
        found += tuple(pair for pair in settings_of(cell, SETTINGS) if pair[0] not in known)
    dtype = vars(layer).get("_dtype_policy")
    name = getattr(dtype, "name", None)
    if isinstance(name, str):
        found += (("dtype", name),)
    if vars(layer).get("_remat_mode") is not None:
        found += (("remat", "True"),)
    return found


def _parameters(layer: Any) -> tuple[int, int]:
    if not getattr(layer, "built", False):
        return 0, 0
    try:
        return _count(layer.weights), _count(layer.trainable_weights)
    # An overridden `weights` property would run user code.
    except Exception:
        return 0, 0


def _count(variables: Any) -> int:
    total = 0
    for variable in variables:
        size = 1
        for axis in variable.shape:
            size *= int(axis)
        total += size
    return total


def _shapes(layer: Any) -> tuple[tuple[Shape, ...] | Unknown, tuple[Shape, ...] | Unknown, tuple[str, ...]]:
    """Return the shapes of what goes in and comes out, and the dtypes of what comes out."""
    attributes = vars(layer) if hasattr(layer, "__dict__") else {}
    nodes = attributes.get("_inbound_nodes") or attributes.get("_inbound_nodes_value")
    unknown = Unknown("the layer is not part of a functional graph")
    if not nodes:
        return unknown, unknown, ()
    node = nodes[-1]
    try:
        given = _several(node.input_tensors) if hasattr(node, "input_tensors") else None
        made = _several(node.output_tensors) if hasattr(node, "output_tensors") else None
        return (
            unknown if given is None else tuple(map(shape_of, given)),
            unknown if made is None else tuple(map(shape_of, made)),
            () if made is None else tuple(map(_dtype_of, made)),
        )
    except (AttributeError, TypeError, ValueError):
        return unknown, unknown, ()


def _dtype_of(tensor: Any) -> str:
    """Return the dtype of a tensor by its name; Keras 2 has an object for it."""
    dtype = tensor.dtype
    return str(getattr(dtype, "name", dtype))


def _several(tensors: Any) -> Any:
    """Return a list of tensors; Keras 2 returns a single one unwrapped."""
    if hasattr(tensors, "shape"):
        return (tensors,)
    return tensors.values() if isinstance(tensors, dict) else tensors


def _fed_by(layer: Any) -> tuple[str, ...]:
    """Return the layers before it in the functional graph; several if it is called several times.

    An operation such as `a + b` on Keras tensors is no layer of the model: what feeds it counts instead.
    """
    attributes = vars(layer) if hasattr(layer, "__dict__") else {}
    names: dict[str, None] = {}
    nodes = attributes.get("_inbound_nodes") or attributes.get("_inbound_nodes_value") or ()
    waiting = [parent for node in nodes[:64] for parent in getattr(node, "parent_nodes", ())]
    seen: set[int] = set()
    while waiting:
        parent = waiting.pop(0)
        if id(parent) in seen:
            continue
        seen.add(id(parent))
        # The attribute is named `layer` in Keras 2.
        operation = getattr(parent, "operation", None) or getattr(parent, "layer", None)
        if operation is None or hasattr(operation, "trainable"):
            names[str(getattr(operation, "name", ""))] = None
        else:
            waiting.extend(getattr(parent, "parent_nodes", ()))
    return tuple(names)


def shape_of(tensor: Any) -> Shape:
    """Return the shape of a symbolic or eager tensor as plain numbers."""
    return tuple(None if size is None else int(size) for size in tensor.shape)
