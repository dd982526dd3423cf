"""What fit was given, and what an abstract run of the model on it gave."""

from __future__ import annotations

from fitdoctor.diagnosis import Location
from fitdoctor.facts.code import Code
from fitdoctor.facts.unknown import Shape, Unknown
from fitdoctor.records import dataclass


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
    """Over finite values; None when there are none, or where the source tells only that they are fractions."""
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
    row_filled: int | None = None
    """The most values other than 0 over the last axis, for data with one."""
    first_maximum: int | None = None
    """The first row that holds the maximum."""
    first_minimum: int | None = None
    """The first row that holds the minimum."""
    own_scale: str = ""
    """`mean 0, deviation 1` or `0..1` if every column has exactly that, as a scaler leaves the rows it was fitted to."""


@dataclass(frozen=True)
class Column:
    """A column (or a kind of element) of tabular or object data."""

    name: str
    dtype: str
    holds: str = ""
    """For object columns: what they hold, such as `str`, `None`, `list of 3..7`, `Decimal`."""
    nonfinite: int = 0
    unreadable: int | None = None
    """Of a column of written numbers: how many of its first texts are none, such as `?`; None where most are words."""


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
    count: int | Unknown = Unknown()
    """How many elements come out of it, where the source tells."""
    callers: tuple[Code, ...] = ()
    """The calls that led to it while the program ran, the nearest first."""


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
    short: Outcome | Unknown = Unknown("there was no shorter batch to try")
    """The forward pass on the last batch, where that is shorter and the model's code may mind."""
    short_rows: int = 0
    step: Outcome | Unknown = Unknown("the model has no custom step")
    """What the model's own `train_step` (or `test_step`) raised outside of its forward pass and its loss."""


@dataclass(frozen=True)
class Sharding:
    """How a dataset would be shared out among several workers."""

    policy: str = ""
    """`AUTO`, `FILE`, `DATA`, `OFF` or `HINT`."""
    files: int | Unknown = Unknown()
    """How many files it reads; 0 where it surely reads none."""


@dataclass(frozen=True)
class DataFacts:
    """The data of one fit call: once for training, once for validation."""

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
    """The keys of an `OrderedDict`, in the order in which Keras matches them with the model inputs."""
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
    sharding: Sharding | Unknown = Unknown("it is not distributed among workers")
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
