"""tf.data pipelines, generators, PyDatasets and DataLoaders: read by element, small ones counted together."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from fitdoctor.scan.element_groups import (
    Form,
    bytes_of,
    first_rows,
    looks_batched,
    parts_of,
    rows_in,
    simple_types,
)
from fitdoctor.scan.pieces import CannotScan, Component, Piece, Problem, StartOver

GROUP_BYTES = 1 << 20
GROUP_ELEMENTS = 256
GROUP_SECONDS = 0.25
"""A group is counted when it is large enough, or after this many seconds of a slow pipeline."""
MOST_FAILURES = 1000
"""Reading stops after this many elements in a row that raise."""
TOLD_FAILURES = 5
"""The most failures listed; the rest are counted."""
TRIED = 4
QUICK_SECONDS = 0.005
"""A pipeline whose first elements take longer is slow by itself: our overhead does not matter."""
START_SECONDS = 0.1
ELEMENT_SECONDS = 1e-4
"""Seconds to bring one element from a pipeline into Python."""
_END: Any = object()
_WRAPPED = re.compile(r"^.*Error in user-defined function passed to (\w+?)Dataset\S* .*?with iterator: \S+: ")


class ElementSource:
    """A source of elements, one after the other.

    Args:
        name: its name in messages.
        form: `dataset`, `generator`, `pydataset` or `dataloader`.
        elements: returns the iterator to read; called once.
        length: the number of elements, if known.
        limit: the most elements to read.
        batched: whether an element is a batch of rows; None: decided by the first element.
        resumes: whether others follow an element that raises.
        records: elements are our own batches of the user's elements (records of a file).
        dataset: the tf.data pipeline, if it is one.
        together: returns an iterator over the same elements in batches, if they can be batched and reread, so that
            single samples are read many at a time.
    """

    def __init__(
        self,
        name: str,
        form: str,
        elements: Callable[[], Iterator[Any]],
        *,
        length: int | None = None,
        limit: int | None = None,
        batched: bool | None = None,
        resumes: bool = True,
        records: bool = False,
        dataset: Any = None,
        together: Callable[[], Iterator[Any]] | None = None,
    ) -> None:
        self.name = name
        self.form = form
        self.one_by_one = True
        self.problems: list[Problem] = []
        self.cut = False
        self.elements = 0
        """The number of elements read."""
        self.dataset = dataset
        self._resumes = resumes
        self._records = records
        self._limit = limit
        self._elements = elements
        self._begin()
        parts = parts_of(self._first) if self._first is not _END else []
        self._has_rows = looks_batched(parts) if batched is None else batched
        self.batched = self._has_rows and not records
        """Whether an element, as the user sees it, is a batch of rows."""
        # A pipeline without elements still tells what they would be.
        told = parts or (parts_of(dataset.element_spec) if dataset is not None else [])
        self.components = tuple(
            Component(leaf.path, part, leaf.key, f"{form} element") for part, leaf in told
        )
        # The first element stands for the size of the others.
        size = sum(bytes_of(leaf.value) for _part, leaf in parts)
        self._group = max(min(GROUP_BYTES // max(size, 1), GROUP_ELEMENTS), 1)
        self._form = Form(self.components, self._has_rows, records, simple_types(self._first))
        if not self.components and self._first is not _END:
            raise CannotScan(f"the elements of `{name}` contain no array")
        expected = length if limit is None or length is None else min(length, limit)
        each = rows_in(parts) if self._has_rows else 1
        # An estimate for the progress: the last batch may be short.
        self.rows: int | None = None if expected is None or self._first is _END else expected * each
        self._together = None if self._has_rows or not self._starts_quickly(expected) else together

    def _begin(self) -> None:
        """Read the first element."""
        self.elements, self._row, self._number, self._failures, self._untold = 0, 0, 0, 0, 0
        self._iterator = self._elements()
        began = time.monotonic()
        self._first = self._next()
        self._start = time.monotonic() - began

    def _starts_quickly(self, length: int | None) -> bool:
        """Whether restarting costs little compared with bringing all elements into Python one by one."""
        plain = self._first is not _END and self._number == 1
        return plain and self._start < max(START_SECONDS, (length or 0) * ELEMENT_SECONDS / 2)

    def pieces(self) -> Iterator[Piece]:
        """Yield the elements in groups."""
        group: list[tuple[int, Any]] = []
        began = time.monotonic()
        element, self._first = self._first, _END
        while element is not _END:
            group.append((self._number - 1, element))
            self.elements += first_rows(element) if self._records else 1
            waited = time.monotonic() - began
            if self._together is not None and self._number == TRIED:
                if waited < TRIED * QUICK_SECONDS:
                    yield from self._samples(self._together())
                    return
                self._together = None
            if len(group) >= self._group or waited > GROUP_SECONDS:
                yield self._piece(group)
                group, began = [], time.monotonic()
            if self._limit is not None and self.elements >= self._limit:
                self.cut = True
                break
            element = self._next()
        if group:
            yield self._piece(group)

    def _samples(self, batches: Iterator[Any]) -> Iterator[Piece]:
        """Yield all elements from the first on, in batches made by tf.data; if one raises, all one by one.

        It is unknown which element of a batch raised, and the rest of the batch is lost.
        """
        self._iterator = iter(())
        self._row = self.elements = 0
        form = Form(self.components, True, True, self._form.simple)
        while True:
            try:
                batch = next(batches)
            except StopIteration:
                break
            # The border to the user's pipeline: read one by one, the element that raises is told.
            except Exception as error:
                self._together = None
                self._begin()
                raise StartOver from error
            rows, first = first_rows(batch), self._row
            self._row += rows
            self.elements += rows
            yield Piece(rows, partial(form.parts, [batch], [first], [rows], first, self._stray))
        self.cut = self._limit is not None and self.elements >= self._limit

    def _piece(self, group: list[tuple[int, Any]]) -> Piece:
        rows = [first_rows(element) if self._has_rows else 1 for _number, element in group]
        numbers = [number for number, _element in group]
        first, self._row = self._row, self._row + sum(rows)
        return Piece(
            sum(rows), lambda: self._form.parts([e for _n, e in group], numbers, rows, first, self._stray)
        )

    def _next(self) -> Any:
        """Return the next element that can be read; `_END` after the last."""
        while True:
            try:
                element = next(self._iterator)
            except StopIteration:
                self._tell_the_rest("")
                return _END
            # The border to the user's pipeline: what an element raises is told with its number.
            except Exception as error:
                self._number += 1
                self._failures += 1
                if not self._failed(error):
                    return _END
                continue
            self._number += 1
            self._failures = 0
            return element

    def _failed(self, error: Exception) -> bool:
        """Record an element that raised, and return whether to continue."""
        number = getattr(error, "element", self._number - 1)
        if len(self.problems) < TOLD_FAILURES or not self._resumes:
            self.problems.append(Problem(summary_of(error), number, fatal=not self._resumes))
        else:
            self._untold += 1
        given_up = self._resumes and self._failures >= MOST_FAILURES
        if given_up:
            self._tell_the_rest(f"; {MOST_FAILURES:,} raised in a row, so the rest was not read")
        return self._resumes and not given_up

    def _tell_the_rest(self, end: str) -> None:
        """Report how many more elements raised than are listed one by one."""
        if self._untold:
            self.problems.append(Problem(f"{self._untold:,} more elements raised{end}", fatal=bool(end)))
            self._untold = 0

    def _stray(self, number: int, path: str) -> None:
        if not any(problem.what.startswith("the structure") for problem in self.problems):
            self.problems.append(
                Problem(f"the structure changes: `{path}` is missing from the first element", number)
            )


def summary_of(error: BaseException) -> str:
    """Return type and message of an exception, without the graph that TensorFlow quotes."""
    text = re.sub(r"\{\{.*?\}\}\s*", "", str(error)).split("\n\t [[")[0].split(" [Op:")[0].strip()
    text = _WRAPPED.sub(r"in `\1`: ", text.replace("\n", " "))[:300]
    return text if isinstance(getattr(error, "element", None), int) else f"{type(error).__name__}: {text}"
