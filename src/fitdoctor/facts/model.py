"""The model that fit was called on: its layers, losses and metrics."""

from __future__ import annotations

from functools import cached_property

from fitdoctor.facts.code import Code
from fitdoctor.facts.data import Spec
from fitdoctor.facts.unknown import Shape, Unknown
from fitdoctor.records import dataclass


@dataclass(frozen=True)
class LayerFacts:
    """One layer: what it is, what goes in and out, where it was made."""

    name: str
    class_name: str
    index: int
    config: tuple[tuple[str, str], ...] = ()
    """Plain settings as text: (("units", "10"), ("activation", "softmax"))."""
    input_shapes: tuple[Shape, ...] | Unknown = Unknown()
    output_shapes: tuple[Shape, ...] | Unknown = Unknown()
    parameters: int = 0
    trainable_parameters: int = 0
    trainable: bool = True
    builtin: bool = True
    """A layer of Keras, not of the user's."""
    code: Code | Unknown = Unknown()
    sublayers: tuple[LayerFacts, ...] = ()
    fed_by: tuple[str, ...] = ()
    """In a graph of layers: the names of the layers whose outputs go into it."""
    output_dtypes: tuple[str, ...] = ()
    """For each of `output_shapes` its dtype; empty where those are unknown."""

    def setting(self, name: str) -> str | None:
        """A plain setting by name."""
        return dict(self.config).get(name)


@dataclass(frozen=True)
class InnerLoss:
    """A crossentropy that a custom loss applies to the predictions as they are."""

    name: str
    """As the source spells it: `tf.nn.sigmoid_cross_entropy_with_logits`."""
    activation: str
    """The activation that belongs to it: `sigmoid` or `softmax`."""
    from_logits: bool
    """Whether it applies that activation itself."""
    code: Code
    """The call."""


@dataclass(frozen=True)
class LossFacts:
    """The loss of one output."""

    name: str
    """The Keras name in snake case (`categorical_crossentropy`) or the function's or class's own name."""
    kind: str = "builtin"
    """`builtin`, `function` (the user's), `class` (a Loss subclass of the user's) or `none`."""
    from_logits: bool | Unknown = Unknown()
    settings: tuple[tuple[str, str], ...] = ()
    output: str = ""
    """The output it belongs to; "" for the only one."""
    code: Code | Unknown = Unknown()
    """Where it was given: the value of `loss=` in compile."""
    inner: InnerLoss | None = None
    """For a custom loss: the crossentropy that it is made of, where there is only one."""
    captured: Code | None = None
    """For a custom loss: where it reads a symbolic tensor of the enclosing code (`inputs`, `z_mean`)."""


@dataclass(frozen=True)
class MetricFacts:
    """A metric given to compile."""

    name: str
    class_name: str
    builtin: bool = True
    output: str = ""
    code: Code | Unknown = Unknown()
    settings: tuple[tuple[str, str], ...] = ()
    """Plain settings of a metric object as text: (("threshold", "0.5"),)."""


@dataclass(frozen=True)
class ScheduleFacts:
    """A learning-rate schedule that comes to an end."""

    name: str
    highest: float
    """The highest rate."""
    steps: int
    """After so many steps the rate stays as it is, or is next to nothing."""
    last: float
    """The rate from then on."""
    code: Code | Unknown = Unknown()
    """The call that creates it."""


@dataclass(frozen=True)
class ScopeFacts:
    """Which distribution strategy fit runs under, and what belongs to another one."""

    strategy: str = ""
    """That of the model, else the one in whose scope fit is called; "" for none."""
    optimizer: str = "same"
    """Whose the optimizer's variables are: `same`, `none` (made outside of every scope) or `other`."""
    optimizer_keeps_state: bool = False
    """It makes variables for each weight, surely."""
    layers: tuple[str, ...] = ()
    """The model's own layers whose weights are to be trained and were made outside of the strategy's scope."""


@dataclass(frozen=True)
class ModelFacts:
    """The model that fit was called on."""

    name: str = ""
    class_name: str = ""
    declared: str = ""
    """What the user gave instead of a model, such as `--classes 10`; "" for a real model."""
    kind: str = "functional"
    """`sequential`, `functional` or `subclassed`."""
    keras: int = 3
    built: bool = True
    compiled: bool = True
    inputs: tuple[Spec, ...] | Unknown = Unknown()
    input_structure: str = "single"
    """`single`, `list` or `dict`."""
    input_layers: tuple[str, ...] = ()
    """The names of the layers that the inputs come from, in their order."""
    outputs: tuple[Spec, ...] | Unknown = Unknown()
    output_names: tuple[str, ...] = ()
    output_structure: str = "single"
    output_paths: tuple[tuple[str, ...], ...] = ()
    """For each output the names of the layers that lead to it, last first, up to where several ways meet."""
    layers: tuple[LayerFacts, ...] = ()
    losses: tuple[LossFacts, ...] = ()
    loss_structure: str = "single"
    """`single`, `list`, `dict` or `none`."""
    loss_keys: tuple[str, ...] = ()
    metrics: tuple[MetricFacts, ...] = ()
    metric_keys: tuple[str, ...] = ()
    optimizer: str = ""
    optimizer_settings: tuple[tuple[str, str], ...] = ()
    schedule: ScheduleFacts | None = None
    """The schedule of the learning rate, where it has one that comes to an end."""
    overrides: tuple[str, ...] = ()
    """Which of `call`, `train_step`, `test_step`, `compute_loss`, … the user's class defines."""
    added_losses: bool = False
    """Losses come from `add_loss`."""
    jit_compile: bool = False
    run_eagerly: bool = False
    parameters: int = 0
    trainable_parameters: int | Unknown = Unknown()
    trainable_changed: tuple[str, ...] = ()
    """Layers whose `trainable` is not what it was when the model was compiled."""
    trainable_code: Code | Unknown = Unknown()
    """The statement that last set `trainable` of one of them."""
    untracked_variables: tuple[str, ...] = ()
    """Variables reachable from the model that it does not track, in words."""
    foreign_variables: tuple[str, ...] = ()
    """For a model of Keras 2: variables of Keras 3 in its graph, by their paths."""
    strategy: str = ""
    """The distribution strategy that the model was made under; "" for none."""
    replicas: int = 1
    """Among how many replicas it shares a batch."""
    workers: int = 1
    """Among how many processes a strategy shares out the data."""
    replica_devices: tuple[str, ...] = ()
    """Where a strategy over the devices of one machine puts them, such as `GPU:0`."""
    scope: ScopeFacts = ScopeFacts()
    """What was made in the scope of that strategy, before the first step."""
    device: str = ""
    """Where its weights lie, such as `GPU:0`; "" where it has none yet."""
    code: Code | Unknown = Unknown()
    """Where it was made."""
    compile_code: Code | Unknown = Unknown()
    """The call of `compile`."""
    input_code: Code | Unknown = Unknown()
    """The `Input(…)` or `input_shape=` that fixes its input."""
    shape_code: Code | Unknown = Unknown()
    """What that shape is, where it is written elsewhere: `x_train[:32].shape`, passed to the function that builds it."""

    @cached_property
    def layer_by_name(self) -> dict[str, LayerFacts]:
        """Every layer by its name; of several the outermost and first."""
        return {layer.name: layer for layer in reversed(self.every_layer())}

    def every_layer(self) -> tuple[LayerFacts, ...]:
        """All layers, those inside nested models too, in order."""
        found: list[LayerFacts] = []
        pending = list(reversed(self.layers))
        while pending:
            layer = pending.pop()
            found.append(layer)
            pending.extend(reversed(layer.sublayers))
        return tuple(found)
