"""Facts about the model: its layers, losses and metrics."""

from __future__ import annotations

from functools import cached_property

from fitdoctor.facts.code import Code
from fitdoctor.facts.data import Spec
from fitdoctor.facts.unknown import Shape, Unknown
from fitdoctor.records import dataclass


@dataclass(frozen=True)
class LayerFacts:
    """One layer: its class, its inputs and outputs, and where it is created."""

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
    """Whether it is a layer of Keras."""
    code: Code | Unknown = Unknown()
    sublayers: tuple[LayerFacts, ...] = ()
    fed_by: tuple[str, ...] = ()
    """In a graph of layers: the names of the layers that feed it."""
    output_dtypes: tuple[str, ...] = ()
    """The dtypes of `output_shapes`; () if unknown."""

    def setting(self, name: str) -> str | None:
        """Return a plain setting by name."""
        return dict(self.config).get(name)


@dataclass(frozen=True)
class InnerLoss:
    """A crossentropy that a custom loss applies to the unchanged predictions."""

    name: str
    """As the source writes it: `tf.nn.sigmoid_cross_entropy_with_logits`."""
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
    """The Keras name in snake case (`categorical_crossentropy`), or the name of a custom function or class."""
    kind: str = "builtin"
    """`builtin`, `function` (custom), `class` (a custom `Loss`) or `none`."""
    from_logits: bool | Unknown = Unknown()
    settings: tuple[tuple[str, str], ...] = ()
    output: str = ""
    """The output it belongs to; "" for the only one."""
    code: Code | Unknown = Unknown()
    """The value of `loss=` in `compile`."""
    inner: InnerLoss | None = None
    """For a custom loss: the only crossentropy in it."""
    captured: Code | None = None
    """For a custom loss: where it reads a symbolic tensor of the enclosing code (`inputs`, `z_mean`)."""
    result: Code | None = None
    """For a custom loss: the value of its only `return`."""


@dataclass(frozen=True)
class MetricFacts:
    """A metric passed to `compile`."""

    name: str
    class_name: str
    builtin: bool = True
    output: str = ""
    code: Code | Unknown = Unknown()
    settings: tuple[tuple[str, str], ...] = ()
    """Plain settings of a metric object as text: (("threshold", "0.5"),)."""


@dataclass(frozen=True)
class ScheduleFacts:
    """A learning-rate schedule that ends."""

    name: str
    highest: float
    """The highest rate."""
    steps: int
    """The number of steps after which the rate stays constant or is almost zero."""
    last: float
    """The rate from then on."""
    code: Code | Unknown = Unknown()
    """The call that creates it."""


@dataclass(frozen=True)
class ScopeFacts:
    """The distribution strategy that `fit` runs under, and what belongs to another one."""

    strategy: str = ""
    """The strategy of the model, or else the one in whose scope `fit` is called; "" for none."""
    optimizer: str = "same"
    """The strategy of the optimizer's variables: `same`, `none` (created outside every scope) or `other`."""
    optimizer_keeps_state: bool = False
    """Whether it certainly creates variables for each weight."""
    layers: tuple[str, ...] = ()
    """Layers of the model with trainable weights that were created outside the strategy's scope."""


@dataclass(frozen=True)
class ModelFacts:
    """The model that `fit` is called on."""

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
    """The names of the input layers, in order."""
    outputs: tuple[Spec, ...] | Unknown = Unknown()
    output_names: tuple[str, ...] = ()
    output_structure: str = "single"
    output_paths: tuple[tuple[str, ...], ...] = ()
    """For each output, the names of the layers that lead to it, last first, up to the first merge."""
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
    """Its learning-rate schedule, if that ends."""
    overrides: tuple[str, ...] = ()
    """Which of `call`, `train_step`, `test_step`, `compute_loss`, … the user's class defines."""
    added_losses: bool = False
    """Whether losses come from `add_loss`."""
    jit_compile: bool = False
    run_eagerly: bool = False
    parameters: int = 0
    trainable_parameters: int | Unknown = Unknown()
    trainable_changed: tuple[str, ...] = ()
    """Layers whose `trainable` has changed since the model was compiled."""
    trainable_code: Code | Unknown = Unknown()
    """The last statement that set `trainable` of one of them."""
    untracked_variables: tuple[str, ...] = ()
    """Descriptions of variables that are reachable from the model but not tracked by it."""
    foreign_variables: tuple[str, ...] = ()
    """For a model of Keras 2: variables of Keras 3 in its graph, by their paths."""
    strategy: str = ""
    """The distribution strategy that the model was created under; "" for none."""
    replicas: int = 1
    """The number of replicas that share a batch."""
    workers: int = 1
    """The number of processes that share the data."""
    replica_devices: tuple[str, ...] = ()
    """The devices of a strategy on one machine, such as `GPU:0`."""
    scope: ScopeFacts = ScopeFacts()
    """What was created in the scope of that strategy before the first step."""
    device: str = ""
    """The device of its weights, such as `GPU:0`; "" if it has none yet."""
    code: Code | Unknown = Unknown()
    """Where it is created."""
    compile_code: Code | Unknown = Unknown()
    """The call of `compile`."""
    input_code: Code | Unknown = Unknown()
    """The `Input(…)` or `input_shape=` that sets its input shape."""
    shape_code: Code | Unknown = Unknown()
    """The expression for that shape if it is elsewhere: `x_train[:32].shape`, passed to the function that builds it."""

    @cached_property
    def layer_by_name(self) -> dict[str, LayerFacts]:
        """Return the layers by name; of several, the first and outermost."""
        return {layer.name: layer for layer in reversed(self.every_layer())}

    def every_layer(self) -> tuple[LayerFacts, ...]:
        """Return all layers in order, including those of nested models."""
        found: list[LayerFacts] = []
        pending = list(reversed(self.layers))
        while pending:
            layer = pending.pop()
            found.append(layer)
            pending.extend(reversed(layer.sublayers))
        return tuple(found)
