"""Each output of the model beside its loss, its labels and the layer that makes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fitdoctor.facts import (
    ArrayFacts,
    DataFacts,
    LayerFacts,
    LossFacts,
    ModelFacts,
    Shape,
    Spec,
    Statistics,
    Unknown,
)

PASSES_VALUES_ON = frozenset({"Dropout", "Reshape", "Flatten", "Identity", "ActivityRegularization"})
"""Layers that leave the values, and so the activation before them, as they are."""

SPARSE = "sparse_categorical_crossentropy"
CATEGORICAL = "categorical_crossentropy"
BINARY = "binary_crossentropy"
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
class Target:
    """One output and what it is compared with."""

    output: Spec
    labels: ArrayFacts | None
    loss: LossFacts | None
    layer: LayerFacts | None
    """The layer whose `units` or `filters` fix the last axis of the output."""
    activation: str | None
    """The name of the last activation; `linear` for none; None when it cannot be told."""
    name: str = ""

    @property
    def units(self) -> int | None:
        """The length of the output's last axis."""
        shape = self.output.shape
        return shape[-1] if isinstance(shape, tuple) and len(shape) > 1 else None

    @property
    def label_shape(self) -> Shape | None:
        """The shape of the labels, samples first; None when unknown."""
        shape = self.labels.shape if self.labels is not None else None
        return shape if isinstance(shape, tuple) else None

    @property
    def label_statistics(self) -> Statistics | None:
        """The statistics of the labels, where they were seen."""
        statistics = self.labels.statistics if self.labels is not None else None
        return statistics if isinstance(statistics, Statistics) else None

    @property
    def subject(self) -> str:
        """What the finding is about, in the user's words."""
        return f"labels of output {self.name}" if self.name else "labels"


def targets(model: ModelFacts, data: DataFacts) -> Iterator[Target]:
    """The outputs that are compared by the losses given to compile.

    Yields nothing when the user's class computes its own loss, because then what is compared is not known.
    """
    if not model.compiled or {"train_step", "compute_loss"} & set(model.overrides):
        return
    outputs = output_specs(model, data)
    if not outputs:
        return
    names = model.output_names if len(model.output_names) == len(outputs) else ()
    for index, output in enumerate(outputs):
        name = names[index] if names and len(outputs) > 1 else ""
        layer = deciding_layer(model, index, len(outputs))
        yield Target(
            output=output,
            labels=_matching(data.y, name, index, len(outputs)),
            loss=_loss(model, name, index, len(outputs)),
            layer=layer,
            activation=last_activation(model, index, len(outputs)),
            name=name,
        )


def output_specs(model: ModelFacts, data: DataFacts) -> tuple[Spec, ...]:
    """What comes out of the model on this data; () when it is not known."""
    forward = data.trial.forward
    if not isinstance(forward, Unknown) and forward.ok and forward.specs:
        return forward.specs
    return () if isinstance(model.outputs, Unknown) else model.outputs


def _matching(
    arrays: tuple[ArrayFacts, ...], name: str, index: int, outputs: int
) -> ArrayFacts | None:
    if name:
        for array in arrays:
            if array.key == name:
                return array
    return arrays[index] if len(arrays) == outputs else None


def _loss(model: ModelFacts, name: str, index: int, outputs: int) -> LossFacts | None:
    if name:
        for loss in model.losses:
            if loss.output == name:
                return loss
    if len(model.losses) == outputs:
        return model.losses[index]
    if len(model.losses) == 1 and model.loss_structure == "single":
        return model.losses[0]
    return None


def last_layers(model: ModelFacts, index: int, outputs: int) -> tuple[LayerFacts, ...]:
    """The layers that lead to an output, last first, as far as they form a chain that can be told."""
    if model.kind == "subclassed":
        return ()
    if outputs == 1 and model.kind == "sequential":
        return _opened(tuple(reversed(model.layers)))
    if index < len(model.output_names):
        for layer in model.layers:
            if layer.name == model.output_names[index]:
                return _opened((layer,))
    if outputs == 1 and model.layers:
        return _opened((model.layers[-1],))
    return ()


def _opened(layers: tuple[LayerFacts, ...]) -> tuple[LayerFacts, ...]:
    """A nested model stands for its own last layers."""
    if layers and layers[0].class_name == "Sequential" and layers[0].sublayers:
        return _opened(tuple(reversed(layers[0].sublayers))) + layers[1:]
    return layers


def deciding_layer(model: ModelFacts, index: int = 0, outputs: int = 1) -> LayerFacts | None:
    """The layer whose `units` or `filters` fix the last axis of an output."""
    for layer in last_layers(model, index, outputs):
        if layer.setting("units") is not None or layer.setting("filters") is not None:
            return layer
        if layer.class_name not in {"Activation", "Softmax", "Dropout", "ReLU", "LeakyReLU"}:
            return None
    return None


def last_activation(model: ModelFacts, index: int = 0, outputs: int = 1) -> str | None:
    """The name of the activation that an output went through last."""
    for layer in last_layers(model, index, outputs):
        if layer.class_name == "Softmax":
            return "softmax"
        if layer.class_name in {"ReLU", "LeakyReLU", "PReLU", "ELU"}:
            return layer.class_name.lower()
        if layer.class_name in PASSES_VALUES_ON:
            continue
        return layer.setting("activation") if layer.builtin else None
    return None


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
