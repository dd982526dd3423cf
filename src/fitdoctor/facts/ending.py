"""How training ended: its exception, or its losses, and the symbolic tensors that were still held then."""

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
    """Of an installed package or the standard library, not of the user's project."""
    cell: int | None = None
    code: Code | Unknown = Unknown()
    """The very call in that line that was under way, where the interpreter tells."""

    @property
    def location(self) -> Location:
        """Where it is."""
        return Location(self.path, self.line, cell=self.cell)


_LONGEST_LINE = 160


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
    layers: tuple[str, ...] = ()
    """The classes of the layers before the one that failed, nearest first, in a model that was being put together."""
    from_text: bool = False
    """Read from saved text: files and lines may have changed since."""
    package: str = ""
    """The package that defines the exception, if it is named with it: `sklearn` of `sklearn.exceptions.NotFittedError`."""
    trained: bool = False
    """The text before it shows an epoch that was trained to its last batch, and no second one begun."""

    @property
    def first_line(self) -> str:
        """The first line of the message; a long one is cut between two words."""
        line = self.message.strip().partition("\n")[0].strip()
        return line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE].rpartition(" ")[0] + " …"

    @property
    def user_frames(self) -> tuple[Frame, ...]:
        """The frames in the user's own code, outermost first."""
        return tuple(frame for frame in self.frames if not frame.library)

    @property
    def last_user_frame(self) -> Frame | None:
        """The innermost frame in the user's own code."""
        frames = self.user_frames
        return frames[-1] if frames else None

    @property
    def location(self) -> Location | None:
        """The user's line that raised it."""
        frame = self.last_user_frame
        return frame.location if frame is not None else None


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


@dataclass(frozen=True)
class KeptTensors:
    """A list that holds many tensors with their values."""

    path: str
    attribute: str
    """The attribute or name that leads to it."""
    count: int
    bytes: int


@dataclass(frozen=True)
class RetracedFunction:
    """A `tf.function` of the user's that is traced at nearly every call."""

    name: str
    traces: int
    begins: Location
    """Where it begins, with its decorators."""


@dataclass(frozen=True)
class TrainingFacts:
    """How a fit, or a program, went that came to its end."""

    losses: tuple[float, ...] = ()
    """The loss of each epoch."""
    first: bool = False
    """These were the first steps of the optimizer, surely: what it trains was not trained by it before."""
    nonfinite_weights: tuple[str, ...] = ()
    """Weights that hold NaN or Inf afterwards, by name."""
    held: tuple[HeldTensor, ...] = ()
    """Symbolic tensors that the program still holds when its functions have been traced."""
    kept: tuple[KeptTensors, ...] = ()
    """Lists of tensors that the program holds."""
    retraced: tuple[RetracedFunction, ...] = ()
    """Functions that are traced again and again."""
    ran_out: bool = False
    """Keras warned that the data ended before the steps did."""
    without_gradient: tuple[str, ...] = ()
    """The outermost layers for whose variables, all of them, Keras warned that there is no gradient."""
    history: tuple[tuple[str, tuple[float, ...]], ...] = ()
    """Every metric with its value at the end of each epoch, as fit returned them."""
