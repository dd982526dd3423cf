"""The data passed to `fit`, and the result of an abstract run of the model on it."""

from __future__ import annotations

from fitdoctor.diagnosis import Location
from fitdoctor.facts.code import Code
from fitdoctor.facts.unknown import Shape, Unknown
from fitdoctor.records import dataclass, field


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
    """How many rows were read."""
    complete: bool
    """Whether these are all rows."""
    minimum: float | None = None
    """Over finite values; None if there are none, or if the source only shows that they are fractions."""
    maximum: float | None = None
    mean: float | None = None
    nan: int = 0
    inf: int = 0
    first_nonfinite: tuple[int, ...] | None = None
    """The index (row first) of the first NaN or Inf."""
    integral: bool = False
    """Whether every finite value is a whole number."""
    histogram: tuple[tuple[float, int], ...] | None = None
    """(value, count) of integer or few-valued data, ascending; None if there are too many values."""
    row_sums: tuple[float, float] | None = None
    """Smallest and largest sum over the last axis, if there is one."""
    row_filled: int | None = None
    """The largest number of nonzero values over the last axis, if there is one."""
    first_maximum: int | None = None
    """The first row that holds the maximum."""
    first_minimum: int | None = None
    """The first row that holds the minimum."""
    own_scale: str = ""
    """`mean 0, deviation 1` or `0..1` if every column has exactly that, as after fitting a scaler to these rows."""


@dataclass(frozen=True)
class Column:
    """A column of tabular data, or a kind of element of object data."""

    name: str
    dtype: str
    holds: str = ""
    """For object columns: what they contain, such as `str`, `None`, `list of 3..7`, `Decimal`."""
    nonfinite: int = 0
    unreadable: int | None = None
    """For a text column of numbers: how many of its first values are no numbers, such as `?`; None if most are words."""


@dataclass(frozen=True)
class RowEvent:
    """Something that happened to the rows of an array, as far as the source shows."""

    kind: str
    """`made`, `order`, `pick`, `rows`, `columns`, `without`, `set`, `copy`, `fit` or `reshape`.

    `source/interpreter/row_history.py` describes them.
    """
    mark: str = field(default="", compare=False)
    """Equal for two events that do the same to rows: one index, one seed, one fit."""
    time: int = field(default=0, compare=False)
    """A number that grows from event to event."""
    text: str = ""
    """What it was: the fitted class, the columns, the shapes."""
    code: Code | Unknown = field(default=Unknown(), compare=False)


@dataclass(frozen=True)
class ArrayFacts:
    """One component of x, y or the sample weights."""

    path: str
    """As the user writes it: `x`, `x['image']`, `y[0]`."""
    key: str = ""
    """Its key or index among its siblings; "" if it has none."""
    container: str = ""
    """Its type: `numpy.ndarray`, `pandas.DataFrame`, `list`, `tensorflow.Tensor`, `tf.data element`, …"""
    shape: Shape | Unknown = Unknown()
    """The sample or batch axis comes first; None stands for a length that varies."""
    dtype: str | Unknown = Unknown()
    statistics: Statistics | Unknown = Unknown()
    columns: tuple[Column, ...] = ()
    code: Code | Unknown = Unknown()
    """The expression that created it: its last assignment or reshape."""
    use: Code | Unknown = Unknown()
    """The expression passed to `fit`."""
    device: str = ""
    """For a tensor: its device, such as `CPU:0`."""
    written_numbers: bool = False
    """For strings: whether every one that was read is a number."""
    history: tuple[RowEvent, ...] | Unknown = Unknown()
    """What happened to its rows, oldest first."""

    def events(self, *kinds: str) -> tuple[RowEvent, ...]:
        """Return the events of these kinds in its history; none if that is unknown."""
        return (
            ()
            if isinstance(self.history, Unknown)
            else tuple(one for one in self.history if one.kind in kinds)
        )

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
    """Its output, flattened."""
    arguments: tuple[tuple[str, str], ...] = ()
    """Plain arguments by name, as text: (("batch_size", "32"),)."""
    code: Code | Unknown = Unknown()
    count: int | Unknown = Unknown()
    """The number of its output elements, if the source shows it."""
    callers: tuple[Code, ...] = ()
    """The calls that led to it while the program ran, innermost first."""


@dataclass(frozen=True)
class FailureSummary:
    """Type and message of an exception raised in a trial."""

    type: str
    message: str
    layer: str = ""
    """The name of the layer that raised."""
    layer_class: str = ""
    inputs: tuple[Spec, ...] = ()
    """The inputs of that layer."""
    place: Location | None = None
    """The innermost line of the user's code that led to it."""


@dataclass(frozen=True)
class Outcome:
    """The result of an abstract run: specs, or the failure if it raised."""

    specs: tuple[Spec, ...] = ()
    failure: FailureSummary | None = None

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.failure is None


@dataclass(frozen=True)
class Trial:
    """An abstract run of the model on the specs of the data, without a training step and without changing anything."""

    forward: Outcome | Unknown = Unknown()
    loss: Outcome | Unknown = Unknown()
    metrics: Outcome | Unknown = Unknown()
    short: Outcome | Unknown = Unknown("there was no shorter batch to try")
    """The forward pass on a shorter last batch, if the model's code may depend on the batch size."""
    short_rows: int = 0
    step: Outcome | Unknown = Unknown("the model has no custom step")
    """What a custom `train_step` (or `test_step`) raised outside its forward pass and loss."""


@dataclass(frozen=True)
class Sharding:
    """How a dataset would be sharded over several workers."""

    policy: str = ""
    """`AUTO`, `FILE`, `DATA`, `OFF` or `HINT`."""
    files: int | Unknown = Unknown()
    """The number of files that it reads; 0 if it certainly reads none."""


@dataclass(frozen=True)
class Numbering:
    """A name that two loaders of one class give different numbers."""

    class_name: str
    attribute: str
    """The attribute with the numbers, such as `class_to_index`."""
    name: str
    training: int
    validation: int


@dataclass(frozen=True)
class OffScale:
    """A feature that a `Normalization` layer was not adapted to."""

    layer: str
    column: int
    mean: float
    """The mean of the feature after the layer."""
    deviation: float


@dataclass(frozen=True)
class LossOrder:
    """The mean of a custom loss for three predictions."""

    of_right: float
    """The labels themselves."""
    of_wrong: float
    """The labels of other rows."""
    of_double: float
    """The labels, times two."""


@dataclass(frozen=True)
class DataFacts:
    """The training data or the validation data of one call of `fit`."""

    role: str = "training"
    """`training` or `validation`."""
    form: str = "arrays"
    """`arrays`, `dataset`, `generator`, `pydataset`, `dataloader`, `batch`, `none` or `other`."""
    x: tuple[ArrayFacts, ...] = ()
    y: tuple[ArrayFacts, ...] = ()
    sample_weight: tuple[ArrayFacts, ...] = ()
    x_structure: str = "single"
    """`single`, `list`, `tuple` or `dict`."""
    x_order: tuple[str, ...] = ()
    """The keys of an `OrderedDict`, in the order in which Keras matches them to the model inputs."""
    y_structure: str = "single"
    """The same, or `none`."""
    element: str = ""
    """For batched data: the structure of an element, such as `tuple of 3` or `dict`."""
    element_size: int | None = None
    """For batched data: the number of items in the element tuple (1 if it is not a tuple)."""
    samples: int | Unknown = Unknown()
    batch_size: int | Unknown = Unknown()
    batches: int | Unknown = Unknown()
    """The number of batches per pass."""
    endless: bool | Unknown = Unknown()
    first_batch: tuple[Spec, ...] = ()
    last_batch: tuple[Spec, ...] = ()
    """Specs of a shorter last batch, if there is one."""
    pipeline: tuple[PipelineStep, ...] = ()
    sharding: Sharding | Unknown = Unknown("it is not distributed among workers")
    yielded: tuple[ArrayFacts, ...] | Unknown = Unknown()
    """For `from_generator`: the parts of one element as the Python function yields them, before conversion."""
    trial: Trial = Trial()
    shared_rows: int | Unknown = Unknown()
    """For validation data: how many of its rows are also in the training data."""
    shared_windows: int | Unknown = Unknown()
    """For validation data of windows: how many of them overlap windows of the training data on both sides."""
    target_in_window: tuple[int, ...] | None = None
    """For windows of a series: the step, and the feature, that is the target of every window."""
    numbering: Numbering | None = None
    """For validation data: a name with another number than in the training data."""
    off_scale: OffScale | None = None
    """For training data: the feature that the model's first layer normalizes worst."""
    loss_order: LossOrder | None = None
    """For training data and a custom loss: whether it is smaller for right predictions."""
    problem: FailureSummary | None = None
    """What reading or adapting the data raised."""
    code: Code | Unknown = Unknown()
    """The expression that created the dataset, generator or x."""
    y_code: Code | Unknown = Unknown()
    """For arrays: the expression that created y as a whole, if it has parts."""


def part_path(role: str, part: str) -> str:
    """Return how the user writes `x`, `y` or `sample_weight` of the training or the validation data."""
    if role == "training":
        return part
    return {"x": "validation_data[0]", "y": "validation_data[1]"}.get(part, "validation_data[2]")
