"""How training ended: with which exception or losses, and which symbolic tensors were still referenced."""

from __future__ import annotations

from fitdoctor.diagnosis import Location
from fitdoctor.facts.code import Code
from fitdoctor.facts.data import FailureSummary
from fitdoctor.facts.unknown import Unknown
from fitdoctor.records import dataclass


@dataclass(frozen=True)
class Frame:
    """One frame of a traceback."""

    path: str
    line: int
    function: str
    text: str = ""
    library: bool = False
    """Whether it belongs to an installed package or the standard library."""
    cell: int | None = None
    code: Code | Unknown = Unknown()
    """The call on that line that was running, if the interpreter says."""

    @property
    def location(self) -> Location:
        """Where it is."""
        return Location(self.path, self.line, cell=self.cell)


_LONGEST_LINE = 160


@dataclass(frozen=True)
class FailureFacts:
    """An exception raised in training, from a live object or from saved text."""

    type: str
    """The class name without its module: `ValueError`, `InvalidArgumentError`."""
    message: str
    """Without ANSI codes and wrapping text; for a graph error, the real cause."""
    raw_message: str = ""
    dialect: str = "bare"
    """`bare`, `wrapped` (Keras: "Exception encountered when calling"), `autograph` or `graph`."""
    frames: tuple[Frame, ...] = ()
    """Outermost first, including the frames that AutoGraph quotes in its message."""
    layer: str = ""
    """The layer that failed, according to Keras."""
    layer_class: str = ""
    arguments: tuple[tuple[str, str], ...] = ()
    """The "Arguments received by" block: (("inputs", "tf.Tensor(shape=(None, 8), dtype=float32)"),)."""
    node: str = ""
    """For a graph failure: the node's name."""
    operation: str = ""
    """For a graph failure: the operation of the node."""
    definition: tuple[Frame, ...] = ()
    """For a graph failure: the stack where the node was defined."""
    made_at: tuple[Frame, ...] = ()
    """For an out-of-scope tensor: the stack where it was created."""
    made_in: str = ""
    """For an out-of-scope tensor: the function graph that owns it."""
    earlier: tuple[FailureSummary, ...] = ()
    """The exceptions it was raised from, nearest first."""
    wrapped: FailureFacts | None = None
    """The nearest of these, if the program's own exception only re-raises it."""
    called: str = ""
    """The Keras or TensorFlow function that the user's code called: `fit`, `compile`, `Dense`, …"""
    held: tuple[HeldTensor, ...] = ()
    """Symbolic tensors that the program still referenced when it failed, if the message is about one."""
    layers: tuple[str, ...] = ()
    """The classes of the layers before the one that failed, nearest first, if a model was being built."""
    from_text: bool = False
    """Whether it was read from saved text: files and lines may have changed since."""
    package: str = ""
    """The package that defines the exception, if given: `sklearn` of `sklearn.exceptions.NotFittedError`."""
    trained: bool = False
    """Whether the text before it shows a complete first epoch and no second one."""

    @property
    def first_line(self) -> str:
        """Return the first line of the message, shortened between words if it is long."""
        line = self.message.strip().partition("\n")[0].strip()
        return line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE].rpartition(" ")[0] + " …"

    @property
    def user_frames(self) -> tuple[Frame, ...]:
        """Return the frames in the user's code, outermost first."""
        return tuple(frame for frame in self.frames if not frame.library)

    @property
    def last_user_frame(self) -> Frame | None:
        """Return the innermost frame in the user's code."""
        frames = self.user_frames
        return frames[-1] if frames else None

    @property
    def location(self) -> Location | None:
        """Return the user's line that raised it."""
        frame = self.last_user_frame
        return frame.location if frame is not None else None


@dataclass(frozen=True)
class HeldTensor:
    """A symbolic tensor that is still referenced after the trace that created it."""

    path: str
    """How to reach it: `model.encoder.last_hidden`, `history[0]`."""
    holder_class: str
    """The class of the object whose attribute refers to it; "" for a variable."""
    attribute: str
    """The attribute, or the variable."""
    tensor: str
    """The `repr` of the tensor: `<tf.Tensor 'mul:0' shape=(2,) dtype=float32>`."""
    graph: str
    """The function graph that owns it."""
    made_at: tuple[Frame, ...] = ()
    """The stack where it was created, outermost first."""
    graphs: int = 1
    """How many graphs its container keeps alive: one per tensor, if a list grows with every trace."""
    operations: int = 0
    """The number of operations in these graphs."""


@dataclass(frozen=True)
class KeptTensors:
    """A list that keeps many tensors and their values in memory."""

    path: str
    attribute: str
    """The attribute or variable that refers to it."""
    count: int
    bytes: int


@dataclass(frozen=True)
class RetracedFunction:
    """A `tf.function` of the user's that is traced again on nearly every call."""

    name: str
    traces: int
    begins: Location
    """Where it begins, decorators included."""


@dataclass(frozen=True)
class TrainingFacts:
    """How a call of `fit`, or a program, that completed went."""

    losses: tuple[float, ...] = ()
    """The loss of each epoch."""
    first: bool = False
    """Whether these were certainly the first steps of the optimizer."""
    nonfinite_weights: tuple[str, ...] = ()
    """Names of weights that contain NaN or Inf afterwards."""
    held: tuple[HeldTensor, ...] = ()
    """Symbolic tensors that the program still references after tracing."""
    kept: tuple[KeptTensors, ...] = ()
    """Lists of tensors that the program keeps."""
    retraced: tuple[RetracedFunction, ...] = ()
    """Functions that are traced repeatedly."""
    ran_out: bool = False
    """Whether Keras warned that the data ran out."""
    batches: int | Unknown = Unknown("the data is not a generator")
    """How many batches `fit` has drawn from a generator."""
    without_gradient: tuple[str, ...] = ()
    """The outermost layers none of whose variables has a gradient, according to a warning of Keras."""
    masks_lost: tuple[str, ...] = ()
    """The layers that destroy the mask of their input, according to a warning of Keras."""
    gradient_cuts: tuple[Frame, ...] = ()
    """The user's lines that block the gradient of these layers, in the traced step."""
    history: tuple[tuple[str, tuple[float, ...]], ...] = ()
    """Every metric with its value at the end of each epoch, from the history that `fit` returned."""
