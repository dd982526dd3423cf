"""Abstract values of the interpreter: exact if the source determines them, else Unknown."""

from __future__ import annotations

import ast
from typing import Any

from fitdoctor.facts import Unknown
from fitdoctor.records import dataclass, field, replace
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.models.layer_settings import Dims, LayerPlan

UNTOLD = Unknown("not evident from the source")

ELEMENT = "tf.data element"
"""The container type of a dataset element."""
FLOW = "keras.preprocessing.image.ImageDataGenerator.flow_from_directory"
"""Marks batches that Keras reads from a folder of images."""


@dataclass(frozen=True)
class Plain:
    """A number, string, truth value, None or Ellipsis."""

    value: Any


NONE = Plain(None)


@dataclass(frozen=True)
class Named:
    """A library object by its canonical dotted name: `keras.layers.Dense`."""

    name: str


class _WithArguments:
    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]
    complete: bool

    def get(self, name: str, position: int | None = None) -> Value | None:
        """Return an argument by name or position; None if it was not passed, Unknown if it may have been."""
        for keyword, value in self.keywords:
            if keyword == name:
                return value
        if position is not None and position < len(self.positional):
            return self.positional[position]
        return None if self.complete else UNTOLD


@dataclass(frozen=True)
class Made(_WithArguments):
    """The result of a library call without a dedicated type here: an optimizer, a scaler."""

    name: str
    """The canonical name of the callee."""
    positional: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    node: ast.AST | None = field(default=None, compare=False)
    complete: bool = True
    """False when `*args` or `**kwargs` hide arguments."""
    identity: int = field(default=0, compare=False)
    """For an encoder or random generator: a number of its own."""


@dataclass(frozen=True)
class Items:
    """A tuple."""

    items: tuple[Value, ...]


@dataclass(frozen=True)
class Span:
    """A slice."""

    start: Value
    stop: Value
    step: Value
    width: int | None = None
    """The distance between start and stop, if only that is known: `i : i + 60` in a loop."""


@dataclass(frozen=True)
class Numbers:
    """A `range`."""

    values: range


@dataclass(frozen=True)
class Ref:
    """A mutable object, by its heap id."""

    id: int


@dataclass(frozen=True)
class Function:
    """A function of the file, with the frame that it was defined in."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    frame: int
    defaults: tuple[Value, ...] = ()
    plain: bool = True
    """False when a decorator may change what a call does."""


@dataclass(frozen=True)
class Class:
    """A class of the file."""

    node: ast.ClassDef
    frame: int


@dataclass(frozen=True)
class Method:
    """`receiver.name`, not yet called."""

    receiver: Value
    name: str


@dataclass(frozen=True)
class Super:
    """`super()` inside a method."""

    receiver: Value
    owner: ast.ClassDef


@dataclass(frozen=True)
class Generated:
    """A generator: a call of a generator function."""

    function: Function
    arguments: tuple[tuple[str, Value], ...] | None


@dataclass(frozen=True)
class Bounds:
    """Minimum and maximum of an array, both present in it."""

    low: float
    high: float
    integral: bool
    complete: bool = False
    """Whether every value is known: the array is literal, or the call determines it."""


@dataclass(frozen=True)
class Event:
    """Something that happened to the rows of an array on the way to its present value."""

    kind: str
    """`made`, `order`, `pick`, `fit`, `columns`, `without`, `set`, `rows`, `reshape`; see `row_history`."""
    mark: str
    """Equal for two events that do the same to rows: one index, one seed, one fit."""
    time: int = field(default=0, compare=False)
    """A number that grows while the program is followed."""
    text: str = field(default="", compare=False)
    """What it was: the fitted class, a column."""
    node: ast.AST | None = field(default=None, compare=False)


History = tuple[Event, ...]


@dataclass(frozen=True)
class Array:
    """An array, tensor or table of data."""

    dims: Dims | Unknown = UNTOLD
    dtype: str | Unknown = UNTOLD
    container: str = "numpy.ndarray"
    bounds: Bounds | None = None
    numbers: tuple[float, ...] | None = None
    """All values in order, if the source lists them."""
    unit_rows: bool = False
    """Every row is one-hot."""
    columns: tuple[tuple[str, Array], ...] | None = None
    """The columns of a table, where they are known."""
    kinds: int | None = None
    """The number of distinct strings or integers, if known."""
    fractions: bool = False
    """Whether the values are fractions, as in random or measured data: not integers, not classes."""
    buffer: int = field(default=0, compare=False)
    """The memory it views: writing there changes every view. 0 for memory without an owner yet."""
    node: ast.expr | None = field(default=None, compare=False)
    """The expression that created it; None if a call created several values at once."""
    history: History | None = field(default=None, compare=False)
    """What happened to its rows, oldest first; None if that was not followed."""

    @property
    def rank(self) -> int | None:
        """How many axes it has."""
        return None if isinstance(self.dims, Unknown) else len(self.dims)


@dataclass(frozen=True, eq=False)
class LayerCall:
    """One call of a layer (or of an operation) on symbolic tensors."""

    layer: Ref | None
    """None for an operation such as `a + b`, and where the layer is not evident."""
    inputs: tuple[Symbolic, ...]
    order: int
    node: ast.AST
    inside: Symbolic | None = None
    """For a custom layer or model that holds layers: its output, with the history inside its `call`."""


@dataclass(frozen=True)
class Symbolic:
    """A symbolic Keras tensor."""

    dims: Dims | Unknown = UNTOLD
    dtype: str = "float32"
    call: LayerCall | None = field(default=None)
    """None where its history is not evident."""
    index: int = 0


@dataclass(frozen=True)
class Step:
    """One operation of a tf.data pipeline."""

    operation: str
    element: Value
    arguments: tuple[tuple[str, str], ...] = ()
    node: ast.AST | None = field(default=None, compare=False)
    count: int | Unknown = UNTOLD
    """How many elements come out of it."""


@dataclass(frozen=True)
class Dataset:
    """A tf.data dataset."""

    element: Value = UNTOLD
    """What one element is: an array, or `Items` or a frozen dict of them."""
    count: int | Unknown | None = UNTOLD
    """How many elements there are; None when they never end."""
    batch: int | Unknown | None = UNTOLD
    """The batch size; None while it is not batched."""
    steps: tuple[Step, ...] = ()
    known: bool = True
    """Every step from the source on was followed."""
    node: ast.expr | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Mapping:
    """An immutable dict: an element of a dataset."""

    items: tuple[tuple[Any, Value], ...]


Value = (
    Unknown
    | Plain
    | Named
    | Made
    | Items
    | Span
    | Numbers
    | Ref
    | Function
    | Class
    | Method
    | Super
    | Generated
    | Array
    | Symbolic
    | Dataset
    | Mapping
)


# --- mutable things, as immutable records ---------------------------------------------------------------------------


@dataclass(frozen=True)
class ListRecord:
    """A list; `items` is None once its content is unknown."""

    items: tuple[Value, ...] | None
    node: ast.expr | None = field(default=None, compare=False)
    element: Value | None = None
    """What holds for every item if `items` is None; None if not every item was seen."""
    grows: bool = False
    """A loop of unknown length has put items in."""
    history: History | None = field(default=None, compare=False)
    """What happened to the list as a whole; None for nothing since it was made."""


@dataclass(frozen=True)
class DictRecord:
    """A dict with plain keys, in order; `items` is None once its content is unknown."""

    items: tuple[tuple[Any, Value], ...] | None
    node: ast.expr | None = field(default=None, compare=False)


@dataclass(frozen=True)
class InstanceRecord:
    """An instance of a class of the file that is neither a layer nor a model."""

    owner: Class
    attributes: tuple[tuple[str, Value], ...] = ()
    open: bool = False
    """Whether there may be other, unseen attributes."""


@dataclass(frozen=True)
class LayerRecord:
    """A layer."""

    plan: LayerPlan
    name: str
    named: bool
    """The name was given, not counted by Keras."""
    node: ast.expr | None = field(default=None, compare=False)
    owner: Class | None = None
    """For a layer of the user's: its class."""
    attributes: tuple[tuple[str, Value], ...] = ()
    model: Ref | None = None
    """For a model that is used as a layer."""
    built_on: Dims | None = None
    perhaps: bool = False
    """Whether it is built on only some of the paths to this point."""
    inputs: tuple[Dims, ...] | None = None
    """The shapes of its first call."""
    outputs: tuple[Dims, ...] | None = None
    parameters: int | Unknown = UNTOLD
    trainable_parameters: int | Unknown = UNTOLD
    trainable: bool | Unknown = True
    open: bool = False
    """Whether it was passed to unknown code."""


@dataclass(frozen=True)
class Compiled:
    """A call of `compile`."""

    call: Arguments


@dataclass(frozen=True)
class Arguments(_WithArguments):
    """The arguments of a call, evaluated."""

    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]
    node: ast.Call
    complete: bool = True
    """False when `*args` or `**kwargs` hide arguments."""

    def names(self) -> tuple[str, ...]:
        """The keywords that were given."""
        return tuple(keyword for keyword, _ in self.keywords)

    def expression(self, name: str, position: int | None = None) -> ast.expr | None:
        """Return the argument's expression in the source."""
        return argument_of(self.node, name, position)


@dataclass(frozen=True)
class ModelRecord:
    """A model."""

    kind: str
    """`sequential`, `functional`, `subclassed` or `opaque`."""
    name: str = ""
    class_name: str = ""
    node: ast.expr | None = field(default=None, compare=False)
    layers: tuple[Ref, ...] | None = ()
    """For a sequential model, in order; None once they are not known."""
    shapes: tuple[Dims | Unknown, ...] = ()
    """For a sequential model: what comes out of each of them."""
    input_dims: Dims | None = None
    """For a sequential model with a fixed input."""
    input_dtype: str = "float32"
    input_name: str = ""
    input_node: ast.expr | None = field(default=None, compare=False)
    inputs: Value = UNTOLD
    """For a functional model: a symbolic tensor, or a structure of them."""
    outputs: Value = UNTOLD
    owner: Class | None = None
    attributes: tuple[tuple[str, Value], ...] = ()
    compiled: Compiled | Unknown | None = None
    traced: tuple[tuple[Ref, bool], ...] | None = None
    """The layers that were trainable when the compiled step first ran; None before that."""
    open: bool = False
    """Whether it was passed to unknown code."""
    broken: bool = False
    """Whether creating it raises."""
    strategy: str = ""
    trainable: bool | Unknown = True


Record = ListRecord | DictRecord | InstanceRecord | LayerRecord | ModelRecord


def attribute_of(record: InstanceRecord | LayerRecord | ModelRecord, name: str) -> Value | None:
    """Return an attribute that the program set; None if unseen."""
    for known, value in record.attributes:
        if known == name:
            return value
    return None


def with_attribute(
    attributes: tuple[tuple[str, Value], ...], name: str, value: Value
) -> tuple[tuple[str, Value], ...]:
    """The attributes with one set; a new one comes last."""
    if any(known == name for known, _ in attributes):
        return tuple((known, value if known == name else old) for known, old in attributes)
    return (*attributes, (name, value))


def opened(record: Record) -> Record:
    """Return the record after unknown code may have changed the object."""
    if isinstance(record, ListRecord):
        return ListRecord(None, record.node)
    if isinstance(record, DictRecord):
        return DictRecord(None, record.node)
    if isinstance(record, InstanceRecord):
        return replace(record, attributes=(), open=True)
    if isinstance(record, LayerRecord):
        return replace(record, trainable=UNTOLD, open=True)
    return replace(record, compiled=UNTOLD, traced=None, trainable=UNTOLD, open=True)
