"""The result of a scan: the statistics of each component, and how much of the data was read."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from typing import Any

from fitdoctor.collect.tally import Place, Tally
from fitdoctor.data_statistics import ComponentReport as ComponentReport
from fitdoctor.data_statistics import DataReport as DataReport
from fitdoctor.data_statistics import Problem, ScanStatistics
from fitdoctor.data_statistics import SeenReport as SeenReport
from fitdoctor.diagnosis import Diagnosis
from fitdoctor.records import replace
from fitdoctor.scan.pieces import Component, Counted, Source

MOST_SHOWN = 20
"""Shapes, labels and columns that are listed by name."""


@dataclass(frozen=True)
class ScanReport:
    """The result of `fitdoctor.scan`; `print` shows it as the command does."""

    data: tuple[DataReport, ...]
    diagnosis: Diagnosis
    shared_rows: int | None = None
    """The number of validation rows that are also in the training data; None if they were not compared."""

    @property
    def ok(self) -> bool:
        """Whether everything was read and no error or warning was found."""
        return self.diagnosis.ok and self.complete and not self.problems

    @property
    def complete(self) -> bool:
        """Whether every row was read."""
        return all(one.complete for one in self.data)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the scan."""
        return any(one.interrupted for one in self.data)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything that kept data from being read."""
        return tuple(problem for one in self.data for problem in one.problems)

    def to_json(self) -> dict[str, Any]:
        """The published JSON form of the diagnosis, with the statistics as `scan`."""
        return self.with_statistics.to_json()

    @property
    def with_statistics(self) -> Diagnosis:
        """The diagnosis with the statistics in it, as it is saved and rendered."""
        return replace(self.diagnosis, scan=ScanStatistics(self.data, self.shared_rows))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """What a notebook shows: a card, and the same as text."""
        from fitdoctor.scan.card import scan_card

        return {"text/html": scan_card(self), "text/plain": str(self)}

    def __repr__(self) -> str:
        rows = ", ".join(f"{one.rows:,} {one.role} rows" for one in self.data)
        return f"<ScanReport: {rows}; {repr(self.diagnosis).removeprefix('<Diagnosis: ')}"

    def __str__(self) -> str:
        from fitdoctor.report.paint import terminal_width
        from fitdoctor.scan.draw import text

        return text(self, terminal_width(sys.stdout)).rstrip("\n")


# --- from counting to telling -------------------------------------------------------------------------------------


@dataclass
class Scanned:
    """A source with its statistics, before it is reported."""

    source: Source
    counted: Counted
    role: str = "training"
    remarks: list[str] = field(default_factory=list)
    expected: int | None = None


def report_of(scanned: Scanned) -> DataReport:
    """Return the report on one source."""
    source, counted = scanned.source, scanned.counted
    return DataReport(
        name=source.name,
        role=scanned.role,
        rows=max((tally.rows for tally in counted.tallies), default=counted.rows),
        elements=getattr(source, "elements", None),
        expected=scanned.expected,
        seconds=counted.seconds,
        complete=counted.complete,
        interrupted=counted.interrupted,
        components=tuple(
            _component(component, tally, scanned)
            for component, tally in zip(source.components, counted.tallies, strict=True)
        ),
        problems=tuple(source.problems),
        duplicate_columns=_alike_columns(scanned),
        remarks=tuple(scanned.remarks),
    )


def _alike_columns(scanned: Scanned) -> tuple[tuple[str, ...], ...]:
    table = scanned.counted.table
    if table is None or table.rows < 2:
        return ()
    features = [one.path for one in scanned.source.components if one.part == "x"]
    return tuple(tuple(features[index] for index in group) for group in table.alike)


def _holds_one_text(component: Component, tally: Tally, scanned: Scanned) -> bool:
    table = scanned.counted.table
    if table is None or table.rows < 2 or tally.missing or tally.finite or tally.nan or tally.inf:
        return False
    features = [one.path for one in scanned.source.components if one.part == "x"]
    return any(features[index] == component.path for index in table.constant)


def _component(component: Component, tally: Tally, scanned: Scanned) -> ComponentReport:
    constant: tuple[str, ...] = ()
    alike: tuple[tuple[str, ...], ...] = ()
    bad: tuple[tuple[str, int], ...] = ()
    if tally.columns is not None:
        bad = tuple((column_name(component, i), n) for i, n in sorted(tally.columns.nonfinite.items()))
        if tally.columns.rows > 1:
            constant = tuple(column_name(component, i) for i in sorted(tally.columns.constant))
            # Constant columns of one value are equal as well: they are told once.
            groups = [
                tuple(i for i in group if i not in tally.columns.constant) for group in tally.columns.alike
            ]
            alike = tuple(tuple(column_name(component, i) for i in one) for one in groups if len(one) > 1)
    histogram = tally.shown_histogram
    return ComponentReport(
        path=component.path,
        part=component.part,
        rows=tally.rows,
        shapes=_seen(tally.shapes),
        types=_seen(tally.dtypes),
        minimum=_number(tally.minimum),
        maximum=_number(tally.maximum),
        mean=_number(tally.mean),
        nan=tally.nan,
        inf=tally.inf,
        missing=tally.missing,
        first_nonfinite=place_words(component, tally.first_nonfinite, scanned.source),
        labels=tuple(histogram.most_common(MOST_SHOWN)) if histogram else None,
        distinct=len(histogram) if histogram else None,
        constant_columns=constant,
        duplicate_columns=alike,
        nonfinite_columns=bad,
        one_text=_holds_one_text(component, tally, scanned),
    )


def _seen(seen: Any) -> tuple[SeenReport, ...]:
    ordered = sorted(seen.items(), key=lambda item: (-item[1].count, item[1].first or 0))
    return tuple(
        SeenReport(key if isinstance(key, str) else shape_words(key), what.count, what.first)
        for key, what in ordered[:MOST_SHOWN]
    )


def shape_words(shape: tuple[int | None, ...]) -> str:
    """A shape as Python writes it."""
    return str(tuple(shape))


def _number(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def column_name(component: Component, index: int) -> str:
    """The name of a column, or its number."""
    return component.columns[index] if index < len(component.columns) else str(index)


def place_words(component: Component, place: Place | None, source: Source) -> str:
    """The position of a value in words."""
    if place is None:
        return ""
    words = [f"row {place.row}"]
    where = getattr(source, "where", None)
    if where is not None and (said := where(place.row)):
        words[0] += f" ({said})"
    if place.element is not None and getattr(source, "batched", False):
        words.append(f"in element {place.element}")
    if len(place.index) == 1:
        name = column_name(component, place.index[0])
        words.append(f"column `{name}`" if component.columns else f"column {name}")
    elif place.index:
        words.append(f"index {place.index}")
    return ", ".join(words)
