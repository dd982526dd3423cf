"""A quick estimate from the layer shapes, in milliseconds: what a step certainly and probably needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from fitdoctor.facts import LayerFacts, ModelFacts, Shape, Unknown
from fitdoctor.records import dataclass

SLOTS = {
    "sgd": 0, "rmsprop": 1, "adagrad": 1, "lion": 1, "muon": 1, "adafactor": 0, "adam": 2, "adamw": 2, "adamax": 2,
    "nadam": 2, "adadelta": 2, "ftrl": 2, "lamb": 2, "schedulefreeadamw": 2,
}  # fmt: skip
"""The minimum number of values an optimizer keeps per weight; unknown for others."""

KERNELS = frozenset(
    "Dense EinsumDense Conv1D Conv2D Conv3D Conv1DTranspose Conv2DTranspose Conv3DTranspose DepthwiseConv1D "
    "DepthwiseConv2D SeparableConv1D SeparableConv2D LSTM GRU SimpleRNN MultiHeadAttention".split()
)
"""Layers that need their input again for the gradient of their kernel."""

_NO_MEMORY = frozenset("InputLayer Flatten Reshape ReLU Activation Dropout".split())
"""Layers whose output shares or reuses the memory of their input, except for a mask."""
_FURTHER = {"BatchNormalization": 1.0, "LayerNormalization": 3.0, "GroupNormalization": 3.0}
"""How many tensors of the size of its output a layer keeps, if not one."""
_EACH_STEP = {"LSTM": 7.0, "GRU": 7.0, "SimpleRNN": 1.0}
"""How many tensors of the size of its state a recurrent layer keeps per time step."""
_FOR_ACTIVATION = {"gelu": 3.0, "silu": 1.0, "swish": 1.0, "softplus": 1.0, "mish": 3.0}
"""How many more tensors an activation inside another layer keeps."""
_ATTENTION = ("MultiHeadAttention", "GroupQueryAttention", "GroupedQueryAttention")
_OPERATIONS = (14, 60, 300)
"""How many operations of a traced step come from a layer, how many more from one that is trained, and how many more from
one that is recurrent."""


@dataclass(frozen=True)
class Estimate:
    """Bytes, each as `fixed + each * batch`."""

    weights: int
    optimizer: int
    gradients: int
    activations: int
    """Per sample."""
    input: int
    """Per sample."""
    largest: int
    """The largest output of a layer, per sample."""
    surely: int
    """What is certainly held per sample when the backward pass starts."""
    by_layer: tuple[tuple[str, int, int], ...]
    """(layer, bytes of its weights with optimizer state, bytes per sample)."""
    operations: int = 0
    """The approximate number of operations of the traced step."""

    def peak(self, batch: int) -> int:
        """What a step probably needs."""
        fixed = self.weights + self.optimizer + self.gradients
        return fixed + batch * (self.activations + self.input + 2 * self.largest)

    def least(self, batch: int) -> int:
        """What a step certainly needs."""
        return self.weights + self.optimizer + batch * self.surely


def estimate(model: ModelFacts) -> Estimate | Unknown:
    """Return the estimate for a model whose layers are built."""
    if not model.built or not model.layers:
        return Unknown("the model is not built")
    leaves = measurable_layers(model.layers)
    open_axes = [layer.name for layer in leaves if _open(layer)]
    if open_axes:
        return Unknown(f"the output of layer `{open_axes[0]}` has an open dimension")
    learning = _in_backward_pass(leaves)
    slots = slots_of(model)
    trainable = sum(layer.trainable_parameters * _weight_bytes(layer) for layer in leaves)
    weights = sum(layer.parameters * _weight_bytes(layer) for layer in leaves)
    kept = {layer.name: _kept(layer) if layer.name in learning else 0.0 for layer in leaves}
    return Estimate(
        weights=weights,
        optimizer=trainable * (slots or 0),
        gradients=trainable,
        activations=round(sum(kept.values())),
        input=_inputs(model),
        largest=max((max(_output(layer), scores(layer)) for layer in leaves), default=0),
        surely=surely_held(model),
        operations=_operations(model),
        by_layer=tuple(
            (
                layer.name,
                _weight_bytes(layer) * (layer.parameters + (1 + (slots or 0)) * layer.trainable_parameters),
                round(kept[layer.name]),
            )
            for layer in leaves
        ),
    )


def measurable_layers(layers: Sequence[LayerFacts]) -> list[LayerFacts]:
    """Return the layers whose outputs add up: a nested model counts as its layers, an LSTM as one layer."""
    found: list[LayerFacts] = []
    for layer in layers:
        known = not isinstance(layer.output_shapes, Unknown)
        inside = [sub for sub in layer.sublayers if not isinstance(sub.output_shapes, Unknown)]
        if layer.sublayers and (inside or not known):
            found += measurable_layers(layer.sublayers)
        else:
            found.append(layer)
    return found


def _operations(model: ModelFacts) -> int:
    single = [layer for layer in model.every_layer() if not layer.sublayers]
    trained = [layer for layer in single if layer.trainable_parameters]
    recurrent = [layer for layer in model.every_layer() if layer.class_name in _EACH_STEP]
    return sum(
        number * len(layers) for number, layers in zip(_OPERATIONS, (single, trained, recurrent), strict=True)
    )


def _in_backward_pass(leaves: Sequence[LayerFacts]) -> set[str]:
    """Return the layers of the backward pass: trainable ones, and all that follow one."""
    names: set[str] = set()
    before = ""
    for layer in leaves:
        sources = layer.fed_by or (before,)
        if layer.trainable_parameters or any(source in names for source in sources):
            names.add(layer.name)
        before = layer.name
    return names


def course_of_layers(guess: Estimate, batch: int) -> tuple[tuple[str, int], ...]:
    """Return (stage, bytes) over a step: activations accumulate in the forward pass and are freed backward."""
    held = guess.weights + guess.optimizer + guess.input * batch
    working = 2 * guess.largest * batch
    points = [("forward", held)]
    for _name, _fixed, each in guess.by_layer:
        held += each * batch
        points.append(("forward", held))
    # What the backward pass works with, beside what it finds.
    share = guess.gradients / max(1, len(guess.by_layer))
    for place, (_name, _fixed, each) in enumerate(reversed(guess.by_layer), 1):
        points.append(("backward", round(held + working + place * share)))
        held -= each * batch
    points.append(("update", held + guess.gradients))
    points.append(("update", held))
    return tuple(points)


def slots_of(model: ModelFacts) -> int | None:
    """Return the minimum number of values the optimizer keeps per weight; None if unknown."""
    name = model.optimizer.rsplit(".", 1)[-1].lower()
    slots = SLOTS.get(name)
    momentum = dict(model.optimizer_settings).get("momentum", "0")
    if slots is not None and name in ("sgd", "rmsprop") and momentum not in ("0", "0.0", "None", "False"):
        slots += 1
    return slots


# --- what is surely held ------------------------------------------------------------------------------------------


def surely_held(model: ModelFacts) -> int:
    """Return bytes per sample that live at once: the inputs of all trained kernels, or one kernel's output.

    The gradient of a kernel needs the input of the layer, and the backward pass cannot start before the loss is known.
    Layers that keep the size may work in place, which cannot be seen from outside: those in a row count once.
    """
    if model.kind not in ("functional", "sequential") or model.jit_compile or model.strategy:
        return 0
    if {"train_step", "fit", "make_train_function", "call"} & set(model.overrides):
        return 0
    leaves = [layer for layer in model.every_layer() if not layer.sublayers]
    if any(layer.setting("remat") for layer in model.every_layer()):
        return 0
    names = [layer.name for layer in leaves]
    if len(set(names)) != len(names):
        return 0
    follow = _tensor_of(leaves)
    held: dict[str, int] = {}
    largest = 0
    for position, layer in enumerate(leaves):
        if layer.class_name not in KERNELS or not layer.builtin:
            continue
        largest = max(largest, _output(layer))
        if not layer.trainable_parameters:
            continue
        shapes = layer.input_shapes
        if isinstance(shapes, Unknown) or len(shapes) != 1 or len(layer.fed_by) > 1:
            continue
        size = _elements(shapes[0])
        if size is not None:
            tensor = follow(position)
            held[tensor] = min(size * _bytes(layer), held.get(tensor, size * _bytes(layer)))
    return max(sum(held.values()), largest)


def _tensor_of(leaves: list[LayerFacts]) -> Callable[[int], str]:
    """Return the input tensor of a layer by its position, identified by the layer that certainly created it."""
    place = {layer.name: position for position, layer in enumerate(leaves)}

    def source(position: int) -> int | None:
        fed = leaves[position].fed_by
        if len(fed) == 1:
            return place.get(fed[0])
        return position - 1 if not fed and position else None

    def tensor(position: int) -> str:
        before = source(position)
        while before is not None:
            layer = leaves[before]
            further = source(before)
            # A kernel makes a tensor of its own, and so does what changes the size.
            if layer.class_name in KERNELS and layer.builtin or further is None or not _keeps_size(layer):
                return layer.name
            before = further
        return "the input"

    return tensor


def _keeps_size(layer: LayerFacts) -> bool:
    given, made = layer.input_shapes, layer.output_shapes
    if isinstance(given, Unknown) or isinstance(made, Unknown) or len(given) != 1 or len(made) != 1:
        return True
    return _elements(given[0]) == _elements(made[0])


# --- sizes --------------------------------------------------------------------------------------------------------


def _elements(shape: Shape) -> int | None:
    """Return elements per sample; None if a dimension is open, or the first axis is not the batch axis."""
    if not shape or None in shape[1:]:
        return None
    return math.prod(axis for axis in shape[1:] if axis is not None)


def _bytes(layer: LayerFacts) -> int:
    dtype = layer.setting("dtype") or "float32"
    if "16" in dtype:
        return 2
    return 8 if dtype == "float64" else 4


def _weight_bytes(layer: LayerFacts) -> int:
    return 4 if (layer.setting("dtype") or "").startswith("mixed") else _bytes(layer)


def _output(layer: LayerFacts) -> int:
    shapes = layer.output_shapes
    if isinstance(shapes, Unknown):
        return 0
    return sum((_elements(shape) or 0) * _bytes(layer) for shape in shapes)


def _kept(layer: LayerFacts) -> float:
    """Return what a layer keeps per sample for the backward pass."""
    if layer.class_name == "Dropout":
        return _output(layer) / 4
    if layer.class_name in _NO_MEMORY:
        return 0
    if layer.class_name in _ATTENTION:
        return _kept_by_attention(layer)
    recurrent = [part for part in (layer, *layer.sublayers) if part.class_name in _EACH_STEP]
    if recurrent:  # itself, or the two directions of a wrapper
        return sum(_steps(part, layer.input_shapes) * _EACH_STEP[part.class_name] for part in recurrent)
    further = _FOR_ACTIVATION.get(layer.setting("activation") or "", 0.0)
    return _output(layer) * (_FURTHER.get(layer.class_name, 1.0) + further)


def _steps(layer: LayerFacts, given: tuple[Shape, ...] | Unknown) -> int:
    """Return bytes of the state of a recurrent layer over all time steps of its input."""
    units = layer.setting("units") or ""
    if isinstance(given, Unknown) or not given or len(given[0]) < 3 or not units.isdigit():
        return _output(layer)
    return (given[0][1] or 1) * int(units) * _bytes(layer)


def scores(layer: LayerFacts) -> int:
    """Return bytes of the attention scores: one number per head and pair of positions."""
    sizes = attention_sizes(layer)
    return 0 if sizes is None else sizes[0] * sizes[1] * sizes[2] * _bytes(layer)


def attention_sizes(layer: LayerFacts) -> tuple[int, int, int] | None:
    """Return heads, positions of the query, positions of the keys."""
    heads, made, given = layer.setting("num_heads") or "", layer.output_shapes, layer.input_shapes
    if layer.class_name not in _ATTENTION or not heads.isdigit() or isinstance(made, Unknown) or not made:
        return None
    queries = _positions(made[0])
    keys = queries if isinstance(given, Unknown) or len(given) < 2 else _positions(given[1])
    return int(heads), queries, keys


def _positions(shape: Shape) -> int:
    return math.prod(axis or 1 for axis in shape[1:-1])


def _kept_by_attention(layer: LayerFacts) -> float:
    """Return bytes of attention weights, projections of query, key and value, their combination, and output."""
    sizes = attention_sizes(layer)
    if sizes is None:
        return 6.0 * _output(layer)
    heads, queries, keys = sizes
    wide = [
        int(text) if (text := layer.setting(name) or "").isdigit() else 0 for name in ("key_dim", "value_dim")
    ]
    projected = heads * (queries * (wide[0] + wide[1]) + keys * (wide[0] + wide[1])) * _bytes(layer)
    # Dropout keeps the weights of attention as they were, and as they are multiplied with the values.
    dropped = 1.25 if (layer.setting("dropout") or "0.0") not in ("0", "0.0") else 0.0
    return scores(layer) * (1 + dropped) + projected + _output(layer)


def _open(layer: LayerFacts) -> bool:
    shapes = layer.output_shapes
    return not isinstance(shapes, Unknown) and any(
        _elements(shape) is None for shape in shapes if len(shape) > 1
    )


def _inputs(model: ModelFacts) -> int:
    if isinstance(model.inputs, Unknown):
        return 0
    total = 0
    for spec in model.inputs:
        if not isinstance(spec.shape, Unknown):
            total += 4 * (_elements(spec.shape) or 0)
    return total


def flattened_excess(model: ModelFacts) -> int:
    """Return the bytes that the kernel of a Dense layer after `Flatten` would save with pooling."""
    saved = 0
    layers = model.every_layer()
    for flatten, dense in pairwise(layers):
        if flatten.class_name != "Flatten" or dense.class_name != "Dense":
            continue
        shapes = flatten.input_shapes
        units = dense.setting("units")
        if isinstance(shapes, Unknown) or not units or not units.isdigit() or len(shapes[0]) < 3:
            continue
        channels = shapes[0][-1]
        if channels is not None:
            saved += max(0, dense.parameters - (channels + 1) * int(units)) * _weight_bytes(dense)
    return saved
