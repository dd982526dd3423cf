"""Statistics of the data as reports and the JSON have them: counts, extremes and bounded histograms, never other values."""

from __future__ import annotations

from fitdoctor.records import dataclass


@dataclass(frozen=True)
class Problem:
    """Something that kept part of the data from being read."""

    what: str
    element: int | None = None
    """The element that raised, counted from 0."""
    fatal: bool = False
    """Whether nothing after it was read."""


@dataclass(frozen=True)
class SeenReport:
    """A shape or dtype, the number of elements with it, and the first of them."""

    what: str
    count: int
    first: int | None = None


@dataclass(frozen=True)
class ComponentReport:
    """The statistics of one component."""

    path: str
    part: str
    rows: int
    shapes: tuple[SeenReport, ...]
    types: tuple[SeenReport, ...]
    minimum: float | None
    maximum: float | None
    mean: float | None
    nan: int
    inf: int
    missing: int
    first_nonfinite: str
    """Position of the first NaN, Inf or missing value; "" if there is none."""
    labels: tuple[tuple[float, int], ...] | None = None
    """(value, count) of labels with few values, most frequent first."""
    distinct: int | None = None
    """The number of distinct label values."""
    constant_columns: tuple[str, ...] = ()
    duplicate_columns: tuple[tuple[str, ...], ...] = ()
    nonfinite_columns: tuple[tuple[str, int], ...] = ()
    one_text: bool = False
    """Whether it is a table column with the same text in every row."""

    @property
    def constant(self) -> bool:
        """Whether every value is the same."""
        return (
            self.one_text
            or self.minimum is not None
            and self.minimum == self.maximum
            and not (self.nan or self.inf)
        )


@dataclass(frozen=True)
class DataReport:
    """The training data, or the validation data."""

    name: str
    role: str
    rows: int
    elements: int | None
    """The number of elements of a pipeline or generator; None for arrays and files."""
    expected: int | None
    """The expected number of rows (or elements, on a service), if known."""
    seconds: float
    complete: bool
    interrupted: bool
    components: tuple[ComponentReport, ...]
    problems: tuple[Problem, ...] = ()
    duplicate_columns: tuple[tuple[str, ...], ...] = ()
    """Groups of identical columns of a table."""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScanStatistics:
    """All that `scan` counted."""

    data: tuple[DataReport, ...]
    shared_rows: int | None = None
    """Validation rows that are also in the training data; None if they were not compared."""
