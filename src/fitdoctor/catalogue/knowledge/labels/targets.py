"""Pair each output of the model with its loss, its labels and the layers that produce it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fitdoctor.facts import (
    ArrayFacts,
    DataFacts,
    FailureSummary,
    FitFacts,
    LayerFacts,
    LossFacts,
    MetricFacts,
    ModelFacts,
    Outcome,
    Shape,
    Spec,
    Statistics,
    Unknown,
)
from fitdoctor.records import dataclass

PASSES_VALUES_ON = frozenset(
    {
        "Dropout",
        "Reshape",
        "Flatten",
        "Identity",
        "ActivityRegularization",
        "Permute",
        "SpatialDropout1D",
        "SpatialDropout2D",
        "RepeatVector",
        "InputLayer",
        "reshape",
        "squeeze",
        "expand_dims",
        "identity",
        "cast",
        "transpose",
        "flatten",
    }
)
"""Layers and functions that do not change values, so that the activation before them is the last."""

HAS_ACTIVATION = frozenset(
    "Dense EinsumDense Activation SimpleRNN GRU LSTM Conv1D Conv2D Conv3D Conv1DTranspose Conv2DTranspose "
    "Conv3DTranspose SeparableConv1D SeparableConv2D DepthwiseConv1D DepthwiseConv2D".split()
)
"""Built-in layers that end with their `activation`."""

OWN_ACTIVATION = {
    "Softmax": "softmax",
    "ReLU": "relu",
    "LeakyReLU": "leaky_relu",
    "PReLU": "prelu",
    "ELU": "elu",
}
"""Layers that are an activation."""

ACTIVATIONS = frozenset(
    "linear softmax log_softmax sigmoid log_sigmoid hard_sigmoid relu relu6 leaky_relu elu selu celu gelu glu silu "
    "swish tanh hard_tanh softplus softsign exponential mish prelu sparsemax sparse_sigmoid squareplus hard_silu "
    "tanh_shrink soft_shrink hard_shrink threshold".split()
)

SPARSE = "sparse_categorical_crossentropy"
CATEGORICAL = "categorical_crossentropy"
BINARY = "binary_crossentropy"
BINARY_LOSSES = frozenset({BINARY, "binary_focal_crossentropy"})
ROW_LOSSES = frozenset({CATEGORICAL, "categorical_focal_crossentropy"})
"""Losses that compare each output row with a row of the same width."""
CROSSENTROPIES = BINARY_LOSSES | ROW_LOSSES | {SPARSE}
REGRESSION = frozenset(
    {
        "mean_squared_error",
        "mean_absolute_error",
        "mean_absolute_percentage_error",
        "mean_squared_logarithmic_error",
        "huber",
        "log_cosh",
    }
)
"""Losses that compare element by element, with broadcasting."""


@dataclass(frozen=True)
class Activation:
    """The last activation before an output."""

    name: str
    """`linear` if there is none."""
    layer: LayerFacts | None
    """The layer that applies it; None if a custom `call` does."""
    direct: bool
    """Whether it is directly before the loss."""


@dataclass(frozen=True)
class Target:
    """One output with its labels and loss."""

    model: ModelFacts
    data: DataFacts
    output: Spec
    labels: ArrayFacts | None
    loss: LossFacts | None
    layer: LayerFacts | None
    """The layer whose `units` or `filters` set the last axis of the output."""
    last: Activation | None
    """The last activation; None if unknown."""
    name: str = ""
    way: tuple[LayerFacts | str, ...] = ()
    """The layers (and names of functions) before the output, last first, as far as known."""

    @property
    def activation(self) -> str | None:
        """Return the name of the last activation, None if unknown."""
        return self.last.name if self.last is not None else None

    @property
    def loss_name(self) -> str:
        """Return the name of a built-in loss, "" for a custom loss or none."""
        return self.loss.name if self.loss is not None and self.loss.kind == "builtin" else ""

    @property
    def units(self) -> int | None:
        """Return the length of the last output axis."""
        shape = self.output_shape
        return shape[-1] if shape is not None and len(shape) > 1 else None

    @property
    def output_shape(self) -> Shape | None:
        """Return the shape of the output with its batch axis, None if unknown."""
        return self.output.shape if isinstance(self.output.shape, tuple) else None

    @property
    def label_shape(self) -> Shape | None:
        """Return the shape of the labels with their first axis, None if unknown."""
        shape = self.labels.shape if self.labels is not None else None
        return shape if isinstance(shape, tuple) else None

    @property
    def label_statistics(self) -> Statistics | None:
        """Return the statistics of the labels, None if they were not read."""
        return statistics_of(self.labels)

    @property
    def subject(self) -> str:
        """Return the subject of findings, the same for training and validation data."""
        return f"labels of output {self.name}" if self.name else "labels"

    @property
    def whose(self) -> str:
        """Return `labels` or `validation labels`."""
        return "labels" if self.data.role == "training" else "validation labels"


def statistics_of(array: ArrayFacts | None) -> Statistics | None:
    """Return the statistics of an array, None if it was not read."""
    statistics = array.statistics if array is not None else None
    return statistics if isinstance(statistics, Statistics) else None


def is_fully_read(labels: ArrayFacts) -> bool:
    """Whether every value of the labels was read."""
    statistics = statistics_of(labels)
    return statistics is not None and statistics.complete


def computes_loss(fit: FitFacts) -> bool:
    """Return whether a call computes the loss; the generator of a GAN is often compiled only to predict."""
    return not fit.method.startswith("predict")


def targets(model: ModelFacts, data: DataFacts) -> Iterator[Target]:
    """Yield the outputs that the compiled losses compare.

    Yields nothing if the model computes its own loss, because the comparison is then unknown.
    """
    by_hand = data.form == "batch"
    own = set() if by_hand else {"train_step", "compute_loss"} & set(model.overrides)
    # A custom step may compare something else, unless the loss rejected the labels themselves.
    if not model.compiled or own and (loss_failure(data) is None or "compute_loss" in own):
        return
    outputs = output_specs(model, data)
    if not outputs and model.kind == "sequential" and model.layers:
        # The output shape is unknown, but its last layer is known.
        outputs = (Spec(Unknown("the source does not show it"), ""),)
    names = output_names(model, outputs)
    for index, output in enumerate(outputs):
        name = names[index] if names and len(outputs) > 1 else ""
        yield Target(
            model,
            data,
            output,
            labels=_matching(data, name, index, len(outputs)),
            loss=_loss(model, name, index, len(outputs)),
            layer=deciding_layer(model, index, len(outputs)),
            last=activation_of(model, index, len(outputs)),
            name=name,
            way=way_to(model, index, len(outputs)),
        )


def output_specs(model: ModelFacts, data: DataFacts) -> tuple[Spec, ...]:
    """Return the output specs of the model for this data, () if unknown."""
    forward = data.trial.forward
    if not isinstance(forward, Unknown) and forward.ok and forward.specs:
        # Keras sorts a dict of outputs by key; a custom call keeps its order.
        by_name = {spec.name: spec for spec in forward.specs}
        if set(by_name) == set(model.output_names) and len(by_name) == len(forward.specs):
            return tuple(by_name[name] for name in model.output_names)
        return forward.specs
    return () if isinstance(model.outputs, Unknown) else model.outputs


def output_names(model: ModelFacts, outputs: tuple[Spec, ...]) -> tuple[str, ...]:
    """Return the output names, from the model or the dict its `call` returns, () if unknown."""
    if len(model.output_names) == len(outputs):
        # One layer that gives several outputs lends them all its name.
        return model.output_names if len(set(model.output_names)) == len(outputs) else ()
    # The keys of a dict that a custom `call` returns.
    keys = tuple(spec.name for spec in outputs)
    return keys if all(key and not key.isdigit() for key in keys) else ()


def _matching(data: DataFacts, name: str, index: int, outputs: int) -> ArrayFacts | None:
    if name and data.y_structure == "dict":
        found = next((array for array in data.y if array.key == name), None)
    else:
        found = data.y[index] if len(data.y) == outputs else None
    empty = found is not None and not isinstance(found.shape, Unknown) and found.shape[:1] == (0,)
    return None if empty else found  # labels that are still to be filled in do not show what they are


def _loss(model: ModelFacts, name: str, index: int, outputs: int) -> LossFacts | None:
    if name:
        for loss in model.losses:
            if loss.output == name:
                return loss
    if model.loss_structure == "dict":
        return model.losses[0] if outputs == len(model.losses) == 1 else None
    if len(model.losses) == outputs:
        return model.losses[index]
    if len(model.losses) == 1 and model.loss_structure == "single":
        return model.losses[0]
    return None


# --- what the trial proved ----------------------------------------------------------------------------------------


def loss_failure(data: DataFacts) -> FailureSummary | None:
    """Return what the loss raised in the trial on the data shapes."""
    outcome = data.trial.loss
    return outcome.failure if isinstance(outcome, Outcome) else None


def loss_accepted(data: DataFacts) -> bool:
    """Whether the loss succeeded in the trial, which refutes a predicted error."""
    return isinstance(data.trial.loss, Outcome) and data.trial.loss.ok


# --- the layers behind an output ----------------------------------------------------------------------------------


def way_to(model: ModelFacts, index: int = 0, outputs: int = 1) -> tuple[LayerFacts | str, ...]:
    """Return the chain of layers before an output, last first, as far as known."""
    if len(model.output_paths) == outputs and model.output_paths[index]:
        by_name = model.layer_by_name
        return tuple(by_name.get(name, name) for name in model.output_paths[index])
    if model.kind == "subclassed":
        return ()
    if outputs == 1 and model.kind == "sequential":
        return _opened(tuple(reversed(model.layers)))
    for layer in model.layers:
        if index < len(model.output_names) and layer.name == model.output_names[index]:
            return _opened((layer,))
    return _opened((model.layers[-1],)) if outputs == 1 and model.layers else ()


def _opened(layers: tuple[LayerFacts, ...]) -> tuple[LayerFacts, ...]:
    """Replace a nested model by its own layers."""
    if layers and layers[0].class_name == "Sequential" and layers[0].sublayers:
        return _opened(tuple(reversed(layers[0].sublayers))) + layers[1:]
    return layers


def deciding_layer(model: ModelFacts, index: int = 0, outputs: int = 1) -> LayerFacts | None:
    """Return the layer whose `units` or `filters` set the last axis of an output."""
    for step in way_to(model, index, outputs):
        layer = unwrapped(step) if isinstance(step, LayerFacts) else None
        if layer is None:
            if _plain_name(str(step)) in ACTIVATIONS | {"cast", "identity"}:
                continue
            return None
        if layer.setting("units") is not None or layer.setting("filters") is not None:
            return layer if layer.builtin else None
        if layer.class_name not in {"Activation", "Softmax", "Dropout", "ReLU", "LeakyReLU"}:
            return None
    return None


def head_layer(model: ModelFacts) -> LayerFacts | None:
    """Return the layer that sets the units of the only output, even if their number is unknown."""
    last = next(iter(way_to(model)), None)
    dense = isinstance(last, LayerFacts) and last.builtin and last.class_name == "Dense"
    return deciding_layer(model) or (last if dense and isinstance(last, LayerFacts) else None)


def unwrapped(layer: LayerFacts) -> LayerFacts:
    """Return the layer inside a `TimeDistributed`."""
    if layer.class_name == "TimeDistributed" and len(layer.sublayers) == 1:
        return unwrapped(layer.sublayers[0])
    return layer


def activation_of(model: ModelFacts, index: int = 0, outputs: int = 1) -> Activation | None:
    """Return the last activation before an output, None if unknown."""
    direct = True
    for step in way_to(model, index, outputs):
        layer = unwrapped(step) if isinstance(step, LayerFacts) else None
        kind = layer.class_name if layer is not None else _plain_name(str(step))
        if layer is None and kind in ACTIVATIONS:
            return Activation(kind, None, direct)
        if kind in PASSES_VALUES_ON and (layer is None or layer.builtin):
            direct = direct and kind == "Dropout"
            continue
        if kind == "Average" and layer is not None and layer.builtin:
            return _averaged(model, layer)
        return _activation_in(layer, direct) if layer is not None and layer.builtin else None
    return None


def _averaged(model: ModelFacts, layer: LayerFacts) -> Activation | None:
    """Return the activation of all branches that a layer averages: an average of probabilities is one, too."""
    branches = [model.layer_by_name.get(name) for name in layer.fed_by]
    found = {
        last.name if (last := _activation_in(unwrapped(each), False)) is not None else ""
        for each in branches
        if each is not None and each.builtin
    }
    if len(found) == 1 and len(branches) > 1 and None not in branches and found <= {"softmax", "sigmoid"}:
        return Activation(found.pop(), None, False)
    return None


def _activation_in(layer: LayerFacts, direct: bool) -> Activation | None:
    if layer.class_name == "Softmax" and layer.setting("axis") not in (None, "-1"):
        return None
    if layer.class_name in OWN_ACTIVATION:
        return Activation(OWN_ACTIVATION[layer.class_name], layer, direct)
    if layer.class_name not in HAS_ACTIVATION:
        return None
    name = _plain_name(layer.setting("activation") or "linear")
    if layer.class_name == "Activation" and name == "linear":
        return None
    # The effect of a custom or third-party function is unknown.
    return Activation(name, layer, direct) if name in ACTIVATIONS else None


_NUMBERED = re.compile(r"_(v\d|\d+)$")


def _plain_name(name: str) -> str:
    """Return `softmax` for `softmax_v2` (TensorFlow's name of `tf.nn.softmax`) and `softmax_1`."""
    if name in ACTIVATIONS or name in PASSES_VALUES_ON:
        return name
    return _NUMBERED.sub("", name) if name != "None" else "linear"


# --- labels -------------------------------------------------------------------------------------------------------


def is_class_numbers(labels: ArrayFacts | None) -> bool:
    """Whether labels look like integer class labels: few integers from 0, of shape (n,) or (n, 1)."""
    if labels is None or not isinstance(labels.shape, tuple):
        return False
    statistics = labels.statistics
    if not isinstance(statistics, Statistics) or statistics.minimum is None:
        return False
    flat = len(labels.shape) == 1 or (len(labels.shape) == 2 and labels.shape[1] == 1)
    return flat and statistics.integral and statistics.minimum >= 0 and statistics.nan == 0


def is_one_hot(labels: ArrayFacts | None) -> bool:
    """Whether every row of the labels has a single 1 and is 0 elsewhere."""
    if labels is None or not isinstance(labels.shape, tuple) or len(labels.shape) < 2:
        return False
    statistics = labels.statistics
    if not isinstance(statistics, Statistics) or labels.shape[-1] in (None, 1):
        return False
    return (
        statistics.integral
        and statistics.minimum == 0
        and statistics.maximum == 1
        and statistics.row_sums == (1.0, 1.0)
    )


def is_binary(statistics: Statistics | None) -> bool:
    """Whether every value is 0 or 1."""
    if statistics is None or not statistics.integral or statistics.minimum is None:
        return False
    return statistics.minimum >= 0 and (statistics.maximum or 0) <= 1 and not statistics.nan


def is_continuous(statistics: Statistics | None) -> bool:
    """Whether the values are measurements, not classes: fractions with many distinct values."""
    if statistics is None or statistics.integral or statistics.count < 8:
        return False
    return statistics.histogram is None or len(statistics.histogram) > 20


def metrics_for(model: ModelFacts, target: Target) -> Iterator[MetricFacts]:
    """Return the metrics computed on an output. Several outputs without names leave open which one a metric is for."""
    single = len(model.losses) <= 1 and len({metric.output for metric in model.metrics}) <= 1
    for metric in model.metrics:
        if metric.output in ("", target.name) or not target.name and single:
            yield metric
