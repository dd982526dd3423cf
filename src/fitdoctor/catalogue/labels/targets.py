"""Each output of the model beside its loss, its labels and the layers that make it."""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.facts import (
    ArrayFacts,
    DataFacts,
    FailureSummary,
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
from fitdoctor.patterns import pattern
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
"""Layers and functions that leave the values, and so the activation before them, as they are."""

HAS_ACTIVATION = frozenset(
    "Dense EinsumDense Activation SimpleRNN GRU LSTM Conv1D Conv2D Conv3D Conv1DTranspose Conv2DTranspose "
    "Conv3DTranspose SeparableConv1D SeparableConv2D DepthwiseConv1D DepthwiseConv2D".split()
)
"""Layers of Keras whose last step is the activation that they are given."""

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
    """The activation that an output went through last."""

    name: str
    """`linear` for none."""
    layer: LayerFacts | None
    """The layer that applies it; None when the model's own `call` does."""
    direct: bool
    """Nothing stands between it and the loss."""


@dataclass(frozen=True)
class Target:
    """One output and what it is compared with."""

    output: Spec
    labels: ArrayFacts | None
    loss: LossFacts | None
    layer: LayerFacts | None
    """The layer whose `units` or `filters` fix the last axis of the output."""
    last: Activation | None
    """The last activation; None when it cannot be told."""
    name: str = ""
    role: str = "training"
    way: tuple[LayerFacts | str, ...] = ()
    """The layers (and the names of functions) that lead to the output, last first, as far as they can be told."""

    @property
    def activation(self) -> str | None:
        """The name of the last activation; None when it cannot be told."""
        return self.last.name if self.last is not None else None

    @property
    def loss_name(self) -> str:
        """The name of a loss of Keras; "" for a loss of the user's, or none."""
        return self.loss.name if self.loss is not None and self.loss.kind == "builtin" else ""

    @property
    def units(self) -> int | None:
        """The length of the output's last axis."""
        shape = self.output_shape
        return shape[-1] if shape is not None and len(shape) > 1 else None

    @property
    def output_shape(self) -> Shape | None:
        """The shape of the output, batch first; None when unknown."""
        return self.output.shape if isinstance(self.output.shape, tuple) else None

    @property
    def label_shape(self) -> Shape | None:
        """The shape of the labels, samples first; None when unknown."""
        shape = self.labels.shape if self.labels is not None else None
        return shape if isinstance(shape, tuple) else None

    @property
    def label_statistics(self) -> Statistics | None:
        """The statistics of the labels, where they were seen."""
        return statistics_of(self.labels)

    @property
    def subject(self) -> str:
        """What the finding is about, in the user's words; the same for training and validation data."""
        return f"labels of output {self.name}" if self.name else "labels"

    @property
    def whose(self) -> str:
        """The labels in a sentence: `labels`, `validation labels`."""
        return "labels" if self.role == "training" else "validation labels"


def statistics_of(array: ArrayFacts | None) -> Statistics | None:
    """The statistics of an array, where it was seen."""
    statistics = array.statistics if array is not None else None
    return statistics if isinstance(statistics, Statistics) else None


def targets(model: ModelFacts, data: DataFacts) -> Iterator[Target]:
    """The outputs that are compared by the losses given to compile.

    Yields nothing when the user's class computes its own loss, because then what is compared is not known.
    """
    by_hand = data.form == "batch"
    own = set() if by_hand else {"train_step", "compute_loss"} & set(model.overrides)
    # A step of the model's own may compare something else, but where the labels themselves were refused it did not.
    if not model.compiled or own and (loss_failure(data) is None or "compute_loss" in own):
        return
    outputs = output_specs(model, data)
    if not outputs and model.kind == "sequential" and model.layers:
        # One output, whatever its shape: what its last layer does to it is known all the same.
        outputs = (Spec(Unknown("the source does not show it"), ""),)
    names = output_names(model, outputs)
    for index, output in enumerate(outputs):
        name = names[index] if names and len(outputs) > 1 else ""
        yield Target(
            output=output,
            labels=_matching(data, name, index, len(outputs)),
            loss=_loss(model, name, index, len(outputs)),
            layer=deciding_layer(model, index, len(outputs)),
            last=activation_of(model, index, len(outputs)),
            name=name,
            role=data.role,
            way=way_to(model, index, len(outputs)),
        )


def output_specs(model: ModelFacts, data: DataFacts) -> tuple[Spec, ...]:
    """What comes out of the model on this data; () when it is not known."""
    forward = data.trial.forward
    if not isinstance(forward, Unknown) and forward.ok and forward.specs:
        # Keras sorts a dict of outputs by its keys; the model's own call gives it back as it was written.
        by_name = {spec.name: spec for spec in forward.specs}
        if set(by_name) == set(model.output_names) and len(by_name) == len(forward.specs):
            return tuple(by_name[name] for name in model.output_names)
        return forward.specs
    return () if isinstance(model.outputs, Unknown) else model.outputs


def output_names(model: ModelFacts, outputs: tuple[Spec, ...]) -> tuple[str, ...]:
    """What the outputs are called, by the model or by the keys of what its `call` returns; () where it is not known."""
    if len(model.output_names) == len(outputs):
        return model.output_names
    # The keys of a dict that the user's own `call` returns.
    keys = tuple(spec.name for spec in outputs)
    return keys if all(key and not key.isdigit() for key in keys) else ()


def _matching(data: DataFacts, name: str, index: int, outputs: int) -> ArrayFacts | None:
    if name and data.y_structure == "dict":
        return next((array for array in data.y if array.key == name), None)
    return data.y[index] if len(data.y) == outputs else None


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
    """What the loss raised when it was tried on the data's shapes."""
    outcome = data.trial.loss
    return outcome.failure if isinstance(outcome, Outcome) else None


def loss_accepted(data: DataFacts) -> bool:
    """Whether the loss was tried and went through: an announced error is refuted."""
    return isinstance(data.trial.loss, Outcome) and data.trial.loss.ok


# --- the layers behind an output ----------------------------------------------------------------------------------


def way_to(model: ModelFacts, index: int = 0, outputs: int = 1) -> tuple[LayerFacts | str, ...]:
    """The layers that lead to an output, last first, as far as they form a chain that can be told."""
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
    """A nested model stands for its own last layers."""
    if layers and layers[0].class_name == "Sequential" and layers[0].sublayers:
        return _opened(tuple(reversed(layers[0].sublayers))) + layers[1:]
    return layers


def deciding_layer(model: ModelFacts, index: int = 0, outputs: int = 1) -> LayerFacts | None:
    """The layer whose `units` or `filters` fix the last axis of an output."""
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
    """The layer that gives the one output its units, also where the source does not tell how many."""
    last = next(iter(way_to(model)), None)
    dense = isinstance(last, LayerFacts) and last.builtin and last.class_name == "Dense"
    return deciding_layer(model) or (last if dense and isinstance(last, LayerFacts) else None)


def unwrapped(layer: LayerFacts) -> LayerFacts:
    """The layer inside a `TimeDistributed`."""
    if layer.class_name == "TimeDistributed" and len(layer.sublayers) == 1:
        return unwrapped(layer.sublayers[0])
    return layer


def last_activation(model: ModelFacts, index: int = 0, outputs: int = 1) -> str | None:
    """The name of the activation that an output went through last; None when it cannot be told."""
    found = activation_of(model, index, outputs)
    return found.name if found is not None else None


def activation_of(model: ModelFacts, index: int = 0, outputs: int = 1) -> Activation | None:
    """The activation that an output went through last; None when it cannot be told."""
    direct = True
    for step in way_to(model, index, outputs):
        layer = unwrapped(step) if isinstance(step, LayerFacts) else None
        kind = layer.class_name if layer is not None else _plain_name(str(step))
        if layer is None and kind in ACTIVATIONS:
            return Activation(kind, None, direct)
        if kind in PASSES_VALUES_ON and (layer is None or layer.builtin):
            direct = direct and kind == "Dropout"
            continue
        return _activation_in(layer, direct) if layer is not None and layer.builtin else None
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
    # A function of the user's, or one of another library: what it does is not known.
    return Activation(name, layer, direct) if name in ACTIVATIONS else None


_NUMBERED = pattern(r"_(v\d|\d+)$")


def _plain_name(name: str) -> str:
    """`softmax_v2` (TensorFlow's own name of `tf.nn.softmax`) and `softmax_1` as `softmax`."""
    if name in ACTIVATIONS or name in PASSES_VALUES_ON:
        return name
    return _NUMBERED.sub("", name) if name != "None" else "linear"


# --- labels -------------------------------------------------------------------------------------------------------


def is_class_numbers(labels: ArrayFacts | None) -> bool:
    """Whether labels look like one class number a sample: whole numbers from 0 up, few, shaped (n,) or (n, 1)."""
    if labels is None or not isinstance(labels.shape, tuple):
        return False
    statistics = labels.statistics
    if not isinstance(statistics, Statistics) or statistics.minimum is None:
        return False
    flat = len(labels.shape) == 1 or (len(labels.shape) == 2 and labels.shape[1] == 1)
    return flat and statistics.integral and statistics.minimum >= 0 and statistics.nan == 0


def is_one_hot(labels: ArrayFacts | None) -> bool:
    """Whether labels are rows of zeros with one 1 each."""
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
    """Whether the values are measurements rather than classes: fractions, in many values."""
    if statistics is None or statistics.integral or statistics.count < 8:
        return False
    return statistics.histogram is None or len(statistics.histogram) > 20


def metrics_for(model: ModelFacts, target: Target) -> Iterator[MetricFacts]:
    """The metrics that are computed on an output."""
    for metric in model.metrics:
        if metric.output in ("", target.name) or not target.name:
            yield metric
