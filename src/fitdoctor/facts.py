"""What judges read: facts about source, model, data, fit call, failure and environment, as frozen plain data.

No tensors and no TensorFlow types; what could not be known is `Unknown`. Arrays appear as shape, dtype and bounded
statistics, never as values: diagnoses get shared.
"""

from __future__ import annotations

from fitdoctor.diagnosis import Location
from fitdoctor.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")


@dataclass(frozen=True)
class Unknown:
    """Something that could not be known, and why. It is falsy, and never a guess."""

    KIND = "unknown"

    reason: str = "not looked at"

    def __bool__(self) -> bool:
        return False


Shape = tuple[int | None, ...]


def known(value: T | Unknown) -> bool:
    """Whether a fact is there."""
    return not isinstance(value, Unknown)


# --- the user's source, in pieces ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Argument:
    """One argument of a call as it stands in the source."""

    name: str
    """The keyword; "" when given by position."""
    text: str
    location: Location
    """The span of the value."""
    whole: Location
    """The span of `name=value`; the value's own when given by position."""


@dataclass(frozen=True)
class Code:
    """A piece of the user's source: where it stands, what it says, and how its file spells the libraries."""

    location: Location
    text: str
    name: str = ""
    """For a call: the dotted name of what is called, resolved through imports (`keras.layers.Dense`)."""
    arguments: tuple[Argument, ...] = ()
    """For a call: its arguments in order."""
    open_paren_end: Location | None = None
    """For a call: the zero-width place right after its opening parenthesis."""
    close_paren: Location | None = None
    """For a call: the zero-width place right before its closing parenthesis."""
    statement: Location | None = None
    """The whole statement that the piece belongs to, without its indentation."""
    indent: str = ""
    """The indentation of that statement."""
    target: str = ""
    """The name (or dotted attribute) that the statement assigns the piece to."""
    spellings: tuple[tuple[str, str], ...] = ()
    """How the file names a library: (("numpy", "np"), ("tensorflow", "tf"), …)."""
    import_at: Location | None = None
    """The zero-width place at the start of a line where an import may be inserted."""
    function: str = ""
    """The qualified name of the function that it stands in; "" at the top of the file."""
    maker: Code | None = None
    """For a write in place (`x[0] = 1`): what made the thing that is written to."""

    def argument(self, name: str, position: int | None = None) -> Argument | None:
        """The argument of that keyword, or at that position among the positional ones."""
        positional = 0
        for argument in self.arguments:
            if argument.name == name:
                return argument
            if not argument.name:
                if positional == position:
                    return argument
                positional += 1
        return None

    def spelling(self, library: str) -> str | None:
        """How this file names a library, or None when it does not import it."""
        return dict(self.spellings).get(library)


# --- data ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spec:
    """Shape and type of a tensor, batch axis first."""

    shape: Shape | Unknown
    dtype: str
    name: str = ""


@dataclass(frozen=True)
class Statistics:
    """Bounded statistics of an array."""

    count: int
    """How many rows were looked at."""
    complete: bool
    """Whether those are all."""
    minimum: float | None = None
    """Over finite values; None when there are none."""
    maximum: float | None = None
    mean: float | None = None
    nan: int = 0
    inf: int = 0
    first_nonfinite: tuple[int, ...] | None = None
    """The index (row first) of the first NaN or Inf."""
    integral: bool = False
    """Every finite value is a whole number."""
    histogram: tuple[tuple[float, int], ...] | None = None
    """(value, count) of whole-number or few-valued data, ascending; None when there are too many values."""
    row_sums: tuple[float, float] | None = None
    """Least and largest sum over the last axis, for data with one."""
    first_maximum: int | None = None
    """The first row that holds the maximum."""
    first_minimum: int | None = None
    """The first row that holds the minimum."""


@dataclass(frozen=True)
class Column:
    """A column (or a kind of element) of tabular or object data."""

    name: str
    dtype: str
    holds: str = ""
    """For object columns: what they hold, such as `str`, `None`, `list of 3..7`, `Decimal`."""
    nonfinite: int = 0


@dataclass(frozen=True)
class ArrayFacts:
    """One component of x, y or the sample weights."""

    path: str
    """In the user's words: `x`, `x['image']`, `y[0]`."""
    key: str = ""
    """Its key or index among its siblings; "" when it is alone."""
    container: str = ""
    """What it is: `numpy.ndarray`, `pandas.DataFrame`, `list`, `tensorflow.Tensor`, `tf.data element`, …"""
    shape: Shape | Unknown = Unknown()
    """With the sample axis first; batched data has its batch axis first, None where it varies."""
    dtype: str | Unknown = Unknown()
    statistics: Statistics | Unknown = Unknown()
    columns: tuple[Column, ...] = ()
    code: Code | Unknown = Unknown()
    """The expression that made it (its last assignment or reshape)."""
    use: Code | Unknown = Unknown()
    """The expression that was given to fit."""
    device: str = ""
    """For a tensor: where it lies, such as `CPU:0`."""
    written_numbers: bool = False
    """For strings: each of those that were looked at is a written number."""

    @property
    def sample_shape(self) -> Shape | Unknown:
        """The shape without the sample axis."""
        return self.shape if isinstance(self.shape, Unknown) else self.shape[1:]


@dataclass(frozen=True)
class PipelineStep:
    """One operation of a tf.data pipeline, in order from the source."""

    operation: str
    """`from_tensor_slices`, `map`, `batch`, `shuffle`, …"""
    specs: tuple[Spec, ...] = ()
    """What comes out of it, flattened."""
    arguments: tuple[tuple[str, str], ...] = ()
    """Plain arguments by name, as text: (("batch_size", "32"),)."""
    code: Code | Unknown = Unknown()


@dataclass(frozen=True)
class FailureSummary:
    """Type and message of something that raised while we tried it."""

    type: str
    message: str
    layer: str = ""
    """The layer in which it raised, by name."""
    layer_class: str = ""
    inputs: tuple[Spec, ...] = ()
    """What that layer was given."""
    place: Location | None = None
    """The last line of the user's own code on the way to it."""


@dataclass(frozen=True)
class Outcome:
    """What an abstract run gave: specs when it went through, the failure when it raised."""

    specs: tuple[Spec, ...] = ()
    failure: FailureSummary | None = None

    @property
    def ok(self) -> bool:
        """Whether it went through."""
        return self.failure is None


@dataclass(frozen=True)
class Trial:
    """The model tried abstractly on the data's specs: no step is made, nothing is changed."""

    forward: Outcome | Unknown = Unknown()
    loss: Outcome | Unknown = Unknown()
    metrics: Outcome | Unknown = Unknown()
    short: Outcome | Unknown = Unknown("no shorter batch was tried")
    """The forward pass on the last batch, where that is shorter and the model's code may mind."""
    short_rows: int = 0


@dataclass(frozen=True)
class DataFacts:
    """The data of one fit call: once for training, once for validation."""

    role: str = "training"
    """`training` or `validation`."""
    form: str = "arrays"
    """`arrays`, `dataset`, `generator`, `pydataset`, `dataloader`, `none` or `other`."""
    x: tuple[ArrayFacts, ...] = ()
    y: tuple[ArrayFacts, ...] = ()
    sample_weight: tuple[ArrayFacts, ...] = ()
    x_structure: str = "single"
    """`single`, `list`, `tuple` or `dict`."""
    y_structure: str = "single"
    """… or `none`."""
    element: str = ""
    """For batched data: the structure of an element in words, such as `tuple of 3` or `dict`."""
    element_size: int | None = None
    """For batched data: how many items the element tuple has (1 when it is no tuple)."""
    samples: int | Unknown = Unknown()
    batch_size: int | Unknown = Unknown()
    batches: int | Unknown = Unknown()
    """How many batches one pass gives."""
    endless: bool | Unknown = Unknown()
    first_batch: tuple[Spec, ...] = ()
    last_batch: tuple[Spec, ...] = ()
    """Specs of the last, short batch where there is one."""
    pipeline: tuple[PipelineStep, ...] = ()
    yielded: tuple[ArrayFacts, ...] | Unknown = Unknown()
    """For `from_generator`: the parts of one element as the Python function gives them, before they are converted."""
    trial: Trial = Trial()
    shared_rows: int | Unknown = Unknown()
    """For validation data: how many of its rows are in the training data too."""
    problem: FailureSummary | None = None
    """Reading or adapting the data raised this."""
    code: Code | Unknown = Unknown()
    """The expression that made the dataset, generator or x."""
    y_code: Code | Unknown = Unknown()
    """For arrays: the expression that made y as a whole, where it has parts."""


# --- model --------------------------------------------------------------------------------------------------------


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

    def setting(self, name: str) -> str | None:
        """A plain setting by name."""
        return dict(self.config).get(name)


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
class ModelFacts:
    """The model that fit was called on."""

    name: str = ""
    class_name: str = ""
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
    untracked_variables: tuple[str, ...] = ()
    """Variables reachable from the model that it does not track, in words."""
    strategy: str = ""
    """The distribution strategy that the model was made under; "" for none."""
    device: str = ""
    """Where its weights lie, such as `GPU:0`; "" where it has none yet."""
    code: Code | Unknown = Unknown()
    """Where it was made."""
    compile_code: Code | Unknown = Unknown()
    """The call of `compile`."""
    input_code: Code | Unknown = Unknown()
    """The `Input(…)` or `input_shape=` that fixes its input."""

    def every_layer(self) -> tuple[LayerFacts, ...]:
        """All layers, those inside nested models too, in order."""
        found: list[LayerFacts] = []
        pending = list(reversed(self.layers))
        while pending:
            layer = pending.pop()
            found.append(layer)
            pending.extend(reversed(layer.sublayers))
        return tuple(found)


# --- the call of fit ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CallbackFacts:
    """A callback given to fit."""

    class_name: str
    settings: tuple[tuple[str, str], ...] = ()
    """`monitor`, `mode`, `filepath`, `save_weights_only`, `save_best_only`, … as text."""
    code: Code | Unknown = Unknown()

    def setting(self, name: str) -> str | None:
        """A plain setting by name."""
        return dict(self.settings).get(name)


@dataclass(frozen=True)
class ClassWeight:
    """The keys and weights of `class_weight`."""

    keys: tuple[str, ...]
    """As `repr`, so that "1" and 1 stay apart."""
    weights: tuple[float, ...] = ()
    code: Code | Unknown = Unknown()


@dataclass(frozen=True)
class FitFacts:
    """The call itself."""

    method: str = "fit"
    """`fit`, `evaluate`, `predict`, `train_on_batch`, …"""
    given: tuple[str, ...] = ()
    """The names of the arguments that were given."""
    valued: tuple[str, ...] = ()
    """… of those that surely have a value other than None and 0."""
    epochs: int = 1
    batch_size: int | None = None
    steps_per_epoch: int | None = None
    validation_steps: int | None = None
    validation_split: float = 0.0
    has_validation: bool = False
    class_weight: ClassWeight | None = None
    callbacks: tuple[CallbackFacts, ...] = ()
    code: Code | Unknown = Unknown()
    """The call as it stands in the user's source."""


@dataclass(frozen=True)
class TrainingFacts:
    """How a fit went that came to its end."""

    losses: tuple[float, ...] = ()
    """The loss of each epoch."""
    nonfinite_weights: tuple[str, ...] = ()
    """Weights that hold NaN or Inf afterwards, by name."""
    held: tuple[HeldTensor, ...] = ()
    """Symbolic tensors that the program still holds when its functions have been traced."""


# --- failure ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Frame:
    """One frame of a traceback."""

    path: str
    line: int
    function: str
    text: str = ""
    library: bool = False
    """Of an installed package or the standard library, not of the user's project."""
    cell: int | None = None
    code: Code | Unknown = Unknown()
    """The very call in that line that was under way, where the interpreter tells."""

    @property
    def location(self) -> Location:
        """Where it is."""
        return Location(self.path, self.line, cell=self.cell)


@dataclass(frozen=True)
class FailureFacts:
    """An exception of training, from a living object or from saved text."""

    type: str
    """The class name without its module: `ValueError`, `InvalidArgumentError`."""
    message: str
    """Normalised: no ANSI codes, no envelope, the real cause of a graph failure."""
    raw_message: str = ""
    dialect: str = "bare"
    """`bare`, `wrapped` (Keras: "Exception encountered when calling"), `autograph` or `graph`."""
    frames: tuple[Frame, ...] = ()
    """Outermost first, including those that AutoGraph quotes in its message."""
    layer: str = ""
    """The name of the layer that Keras names as the one that failed."""
    layer_class: str = ""
    arguments: tuple[tuple[str, str], ...] = ()
    """The "Arguments received by" block: (("inputs", "tf.Tensor(shape=(None, 8), dtype=float32)"),)."""
    node: str = ""
    """For a graph failure: the node's name."""
    operation: str = ""
    """… and its operation."""
    definition: tuple[Frame, ...] = ()
    """… and the stack where it was defined."""
    made_at: tuple[Frame, ...] = ()
    """For a tensor out of scope: the stack where it was made."""
    made_in: str = ""
    """… and the function graph that owns it."""
    used_in: str = ""
    earlier: tuple[FailureSummary, ...] = ()
    """What it was raised from, nearest first."""
    wrapped: FailureFacts | None = None
    """The nearest of these as a whole, where the program's own exception only passes it on."""
    called: str = ""
    """The Keras or TensorFlow function that the user's code called: `fit`, `compile`, `Dense`, …"""
    held: tuple[HeldTensor, ...] = ()
    """Symbolic tensors that the program still held when it failed; looked for where the message speaks of one."""
    from_text: bool = False
    """Read from saved text: files and lines may have changed since."""
    trained: bool = False
    """The text before it shows an epoch that was trained to its last batch, and no second one begun."""

    @property
    def user_frames(self) -> tuple[Frame, ...]:
        """The frames in the user's own code, outermost first."""
        return tuple(frame for frame in self.frames if not frame.library)

    @property
    def last_user_frame(self) -> Frame | None:
        """The innermost frame in the user's own code."""
        frames = self.user_frames
        return frames[-1] if frames else None


@dataclass(frozen=True)
class HeldTensor:
    """A symbolic tensor that something still holds after the function that made it was traced."""

    path: str
    """How to reach it: `model.encoder.last_hidden`, `history[0]`."""
    holder_class: str
    """The class of the object whose attribute leads to it; "" for a plain name."""
    attribute: str
    """That attribute, or the name."""
    tensor: str
    """The tensor in words: `<tf.Tensor 'mul:0' shape=(2,) dtype=float32>`."""
    graph: str
    """The function graph that owns it."""
    made_at: tuple[Frame, ...] = ()
    """The stack where it was made, outermost first."""
    graphs: int = 1
    """How many graphs its holder keeps alive: a list that grows by one tensor a trace holds one graph each."""
    operations: int = 0
    """How many operations those graphs have together."""


# --- environment --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Conflict:
    """Two installed things that do not go together, and who says so."""

    first: str
    """`tensorflow 2.17.0`."""
    second: str
    problem: str
    remedy: str
    source: str
    """Where that is said: a package's metadata, release notes."""


@dataclass(frozen=True)
class MemoryLimit:
    """One bound on memory."""

    name: str
    """What sets it: `this machine`, `the container`, `RLIMIT_AS`, or a device such as `GPU:0`."""
    total: int
    """In bytes, with what the machine may swap out."""
    free: int
    """What is left of it now."""


@dataclass(frozen=True)
class EnvironmentFacts:
    """Versions, devices and settings, read without importing TensorFlow."""

    python: str = ""
    packages: tuple[tuple[str, str], ...] = ()
    """Installed versions by distribution name."""
    keras_of_tf: str = ""
    """What `tf.keras` is: `keras 3`, `tf_keras`, or ""."""
    backend: str = ""
    backend_set_by: str = ""
    legacy_keras: bool = False
    devices: tuple[str, ...] | Unknown = Unknown()
    soft_placement: bool | Unknown = Unknown()
    cluster_config: str = ""
    """TF_CONFIG as it stands."""
    conflicts: tuple[Conflict, ...] | Unknown = Unknown()
    problems: tuple[str, ...] = ()
    """Settings that cannot be read: a broken `keras.json`."""
    memory: tuple[MemoryLimit, ...] = ()
    """Every bound on the memory that tensors live in, the tightest first: of the GPUs where there are any."""

    def version(self, package: str) -> str | None:
        """The installed version of a package."""
        return dict(self.packages).get(package)


@dataclass(frozen=True)
class SourceFacts:
    """A file of the user's as it was read; `fitdoctor.source.module.Module` is its analysis."""

    path: str
    text: str
    cells: tuple[str, ...] | None = None
    """For a notebook: its code cells in order, magics blanked out; `text` is then their concatenation."""
    keras: int = 3
    """The major version of Keras that it is judged for."""
