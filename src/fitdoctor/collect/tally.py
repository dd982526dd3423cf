"""Statistics of one component that can be counted in parts, in any order, and merged without loss."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

from fitdoctor.collect.column_tally import ColumnTally, merged_columns

MOST_SHAPES = 64
"""Further shapes and dtypes are counted together."""
MOST_VALUES = 1024
"""No histogram is kept for more distinct values than this."""
MOST_FRACTIONS = 64
"""A histogram with more values than this is only shown if they are whole numbers."""

Key = tuple[int | None, ...] | str
"""A shape, or the name of a dtype."""


@dataclass(frozen=True)
class Seen:
    """How often something was seen, and the first element with it (None if elements have no numbers)."""

    count: int
    first: int | None

    def __add__(self, other: Seen) -> Seen:
        return Seen(self.count + other.count, least(self.first, other.first))


def least(one: int | None, other: int | None) -> int | None:
    """The smaller of two numbers that may be missing."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


@dataclass(frozen=True)
class Place:
    """The position of a value: its row, its index within the row, and its element."""

    row: int
    index: tuple[int, ...] = ()
    element: int | None = None


@dataclass
class Tally:
    """What was counted of one component so far; `merged` joins two.

    The sum is kept as a fraction: adding sums of parts is exact, so the order does not matter.
    """

    rows: int = 0
    finite: int = 0
    """The number of finite values."""
    nan: int = 0
    inf: int = 0
    missing: int = 0
    """Missing values that are not numbers: None, an empty field."""
    minimum: float | None = None
    maximum: float | None = None
    first_minimum: int | None = None
    first_maximum: int | None = None
    total: Fraction = Fraction(0)
    integral: bool = True
    first_nonfinite: Place | None = None
    labels: bool = False
    """Whether to keep a histogram and the sums of rows."""
    whole_numbers: bool = False
    """Whether to keep a histogram of other data as well, as long as it has few values and only whole numbers."""
    tables: bool = True
    """Whether to compare the columns of tables."""
    histogram: Counter[float] | None = field(default_factory=Counter)
    """None if there are too many values."""
    row_sums: tuple[float, float] | None = None
    row_filled: int | None = None
    """The most non-zero values in a row without NaN and Inf."""
    shapes: dict[Key, Seen] = field(default_factory=dict)
    dtypes: dict[Key, Seen] = field(default_factory=dict)
    columns: ColumnTally | None = None
    """For rows of several columns."""

    @property
    def mean(self) -> float | None:
        """The mean of the finite values."""
        return float(self.total / self.finite) if self.finite else None

    @property
    def shown_histogram(self) -> Counter[float] | None:
        """The histogram; None for numbers that are not whole, unless they are labels with few values."""
        counts = self.histogram or None
        few = counts is not None and self.labels and len(counts) <= MOST_FRACTIONS
        return counts if self.integral or few else None

    def saw(self, shape: tuple[int | None, ...], dtype: str, element: int | None, count: int = 1) -> None:
        """Count elements of a shape and dtype."""
        see(self.shapes, shape, Seen(count, element))
        see(self.dtypes, dtype, Seen(count, element))

    def extremes(self, low: float, high: float, low_row: int | None, high_row: int | None) -> None:
        """Add the minimum and maximum of a part, and the first rows that contain them."""
        if self.minimum is None or low < self.minimum:
            self.minimum, self.first_minimum = low, low_row
        elif low == self.minimum:
            self.first_minimum = least(self.first_minimum, low_row)
        if self.maximum is None or high > self.maximum:
            self.maximum, self.first_maximum = high, high_row
        elif high == self.maximum:
            self.first_maximum = least(self.first_maximum, high_row)

    def found_nonfinite(self, place: Place) -> None:
        """Keep the first position of NaN or Inf."""
        first = self.first_nonfinite
        if first is None or (place.row, place.index) < (first.row, first.index):
            self.first_nonfinite = place

    def sums(self, low: float, high: float, filled: int) -> None:
        """Add the smallest and largest sum of a row, and the most non-zero values in one."""
        known = self.row_sums
        self.row_sums = (low, high) if known is None else (min(low, known[0]), max(high, known[1]))
        self.row_filled = max(self.row_filled or 0, filled)

    def count_values(self, found: dict[float, int] | None) -> None:
        """Add the counts of values; None if there are too many."""
        if self.histogram is None:
            return
        if found is not None:
            self.histogram.update(found)
        if found is None or len(self.histogram) > MOST_VALUES:
            self.histogram = None


def see(seen: dict[Key, Seen], key: Key, what: Seen) -> None:
    """Count a shape or dtype; beyond `MOST_SHAPES`, under one name."""
    if key not in seen and len(seen) >= MOST_SHAPES:
        key = "others"
    seen[key] = seen[key] + what if key in seen else what


def merged(one: Tally, other: Tally) -> Tally:
    """Return the tally of both parts together."""
    both = Tally(
        rows=one.rows + other.rows,
        finite=one.finite + other.finite,
        nan=one.nan + other.nan,
        inf=one.inf + other.inf,
        missing=one.missing + other.missing,
        minimum=one.minimum,
        maximum=one.maximum,
        first_minimum=one.first_minimum,
        first_maximum=one.first_maximum,
        total=one.total + other.total,
        integral=one.integral and other.integral,
        first_nonfinite=one.first_nonfinite,
        labels=one.labels or other.labels,
        histogram=None if one.histogram is None else Counter(one.histogram),
        row_sums=one.row_sums,
        row_filled=one.row_filled,
        shapes=dict(one.shapes),
        dtypes=dict(one.dtypes),
        columns=merged_columns(one.columns, other.columns),
    )
    if other.minimum is not None and other.maximum is not None:
        both.extremes(other.minimum, other.maximum, other.first_minimum, other.first_maximum)
    if other.first_nonfinite is not None:
        both.found_nonfinite(other.first_nonfinite)
    if other.row_sums is not None:
        both.sums(*other.row_sums, other.row_filled or 0)
    both.count_values(None if other.histogram is None else dict(other.histogram))
    for ours, theirs in ((both.shapes, other.shapes), (both.dtypes, other.dtypes)):
        for key, seen in theirs.items():
            see(ours, key, seen)
    return both
