"""tf.data pipelines, generators, PyDatasets and DataLoaders: element after element, small ones counted together."""

from __future__ import annotations

import bisect
import itertools
import re
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from fitdoctor.collect.arrays import Component as Leaf
from fitdoctor.collect.arrays import components as leaves
from fitdoctor.collect.data import prefix
from fitdoctor.scan.array_source import as_array
from fitdoctor.scan.blocks import no_element
from fitdoctor.scan.pieces import CannotScan, Component, Part, Piece, Problem

GROUP_BYTES = 1 << 20
GROUP_ELEMENTS = 256
GROUP_SECONDS = 0.25
"""A group is counted when it is large enough, or when a slow pipeline has kept us waiting."""
MOST_FAILURES = 1000
"""So many elements in a row that raise are the end."""
TOLD_FAILURES = 20
_END: Any = object()
_WRAPPED = re.compile(r"^.*Error in user-defined function passed to (\w+?)Dataset\S* .*?with iterator: \S+: ")


class ElementSource:
    """Something that gives elements one after the other.

    Args:
        name: what to call it.
        form: `dataset`, `generator`, `pydataset` or `dataloader`.
        elements: makes the iterator that is read; called once.
        length: how many elements it has, where that is known.
        limit: how many elements to read.
        batched: whether an element is a batch of rows; None: told by the first element.
        resumes: an element that raises is followed by others.
        records: elements are only our own batches of what the user knows as elements (records of a file).
        dataset: the tf.data pipeline, where it is one.
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
    ) -> None:
        self.name = name
        self.form = form
        self.problems: list[Problem] = []
        self.cut = False
        self.elements = 0
        """How many elements came."""
        self.last: int | None = None
        """The number of the last element that came."""
        self.dataset = dataset
        self._resumes = resumes
        self._records = records
        self._limit = limit
        self._row = 0
        self._iterator = elements()
        self._number = 0
        self._failures = 0
        self._first = self._next()
        parts = _parts(self._first)
        self.batched = _looks_batched(parts) if batched is None else batched
        # A pipeline without elements still tells what they would be.
        told = parts or (_parts(dataset.element_spec) if dataset is not None else [])
        self.components = tuple(
            Component(leaf.path, part, leaf.key, f"{form} element") for part, leaf in told
        )
        if not self.components and self._first is not _END:
            raise CannotScan(f"the elements of `{name}` hold no array")
        expected = length if limit is None or length is None else min(length, limit)
        size = _rows(parts) if self.batched else 1
        # An estimate for the progress: the last batch may be short.
        self.rows: int | None = None if expected is None or self._first is _END else expected * size

    def pieces(self) -> Iterator[Piece]:
        """The elements in groups."""
        group: list[tuple[int, Any]] = []
        size, began = 0, time.monotonic()
        element, self._first = self._first, _END
        while element is not _END:
            group.append((self._number - 1, element))
            self.elements += _rows(_parts(element)) if self._records else 1
            size += sum(_bytes(leaf.value) for _part, leaf in _parts(element))
            late = time.monotonic() - began > GROUP_SECONDS
            if size >= GROUP_BYTES or len(group) >= GROUP_ELEMENTS or late:
                yield self._piece(group)
                group, size, began = [], 0, time.monotonic()
            if self._limit is not None and self.elements >= self._limit:
                self.cut = True
                break
            element = self._next()
        if group:
            yield self._piece(group)

    def _next(self) -> Any:
        """The next element that can be had; `_END` after the last."""
        while True:
            try:
                element = next(self._iterator)
            except StopIteration:
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
            self.last = self._number - 1
            return element

    def _failed(self, error: Exception) -> bool:
        """Tell of an element that raised; whether to go on."""
        number = getattr(error, "element", self._number - 1)
        end = not self._resumes or self._failures >= MOST_FAILURES
        if len(self.problems) < TOLD_FAILURES or end:
            self.problems.append(Problem(summary_of(error), number, fatal=end))
        return not end

    def _piece(self, group: list[tuple[int, Any]]) -> Piece:
        first = self._row
        split = [(number, _parts(element)) for number, element in group]
        rows = [_rows(parts) if self.batched else 1 for _number, parts in split]
        self._row += sum(rows)
        return Piece(sum(rows), lambda: self._load(split, rows, first))

    def _load(
        self, group: list[tuple[int, list[tuple[str, Leaf]]]], rows: list[int], first: int
    ) -> list[Part]:
        starts = list(itertools.accumulate(rows, initial=first))
        numbers = [number for number, _parts in group]
        paths = {component.path: index for index, component in enumerate(self.components)}
        arrays: dict[int, list[tuple[int, Any, Any]]] = {}
        for position, (number, parts) in enumerate(group):
            for _part, leaf in parts:
                if leaf.path not in paths:
                    self._stray(number, leaf.path)
                    continue
                array = as_array(leaf.value, leaf.path)
                arrays.setdefault(paths[leaf.path], []).append((position, array, leaf.value))

        def element_of(row: int) -> int:
            return numbers[max(bisect.bisect_right(starts, row) - 1, 0)]

        return [
            part
            for component, found in arrays.items()
            for part in self._joined(component, found, starts, rows, numbers, element_of)
        ]

    def _joined(
        self,
        component: int,
        found: list[tuple[int, Any, Any]],
        starts: list[int],
        rows: list[int],
        numbers: list[int],
        element_of: Callable[[int], int],
    ) -> Iterator[Part]:
        """The arrays of one component: as one where they go together, so that small ones cost little."""
        import numpy as np

        seen = tuple(
            (_shape(value, array), str(array.dtype), numbers[position], 1) for position, array, value in found
        )
        if self._records:
            seen = tuple(
                (_shape(value, array)[1:], str(array.dtype), starts[position], rows[position])
                for position, array, value in found
            )
        plain = all(_is_plain(value) for _position, _array, value in found)
        if plain and not self.batched:
            found = [
                (position, array.reshape(_shape(value, array))[None], value)
                for position, array, value in found
            ]
        forms = {(array.shape[1:], array.dtype) for _position, array, _value in found}
        complete = len(found) == len(rows) and plain
        if complete and len(forms) == 1 and sum(map(len, (a for _p, a, _v in found))) == sum(rows):
            arrays = [array for _position, array, _value in found]
            joined = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
            yield Part(component, joined, starts[0], no_element if self._records else element_of, seen)
            return
        for (position, array, _value), what in zip(found, seen, strict=True):
            short = len(array) != rows[position]
            yield Part(
                component,
                array,
                starts[position],
                partial(_same, numbers[position]),
                (what,),
                rows[position] if short else None,
            )

    def _stray(self, number: int, path: str) -> None:
        if not any(problem.what.startswith("the structure") for problem in self.problems):
            self.problems.append(
                Problem(f"the structure changes: `{path}` is not in the first element", number)
            )


def _same(number: int, _row: int) -> int:
    return number


def summary_of(error: BaseException) -> str:
    """Type and message, without the graph that TensorFlow quotes."""
    text = re.sub(r"\{\{.*?\}\}\s*", "", str(error)).split("\n\t [[")[0].split(" [Op:")[0].strip()
    text = _WRAPPED.sub(r"in `\1`: ", text.replace("\n", " "))[:300]
    return text if isinstance(getattr(error, "element", None), int) else f"{type(error).__name__}: {text}"


def _parts(element: Any) -> list[tuple[str, Leaf]]:
    """The arrays of an element with the part that each belongs to; as fit reads it."""
    if element is _END:
        return []
    whole = element if isinstance(element, (tuple, list)) and not hasattr(element, "shape") else (element,)
    if len(whole) > 3 or not whole:
        whole = (element,)
    return [
        (part, leaf)
        for part, value in zip(("x", "y", "sample_weight"), whole, strict=False)
        for leaf in leaves(value, prefix("training", part))
    ]


def _is_plain(value: Any) -> bool:
    return type(value).__name__ not in (
        "RaggedTensor",
        "SparseTensor",
        "SparseTensorValue",
        "RaggedTensorValue",
    )


def _shape(value: Any, array: Any) -> tuple[int | None, ...]:
    shape = getattr(value, "shape", None)
    if shape is None:
        return () if not isinstance(value, (list, tuple)) and array.shape == (1,) else tuple(array.shape)
    try:
        return tuple(None if size is None else int(size) for size in shape)
    except (TypeError, ValueError):
        return tuple(array.shape)


def _bytes(value: Any) -> int:
    size = getattr(value, "nbytes", None)
    if isinstance(size, int):
        return size
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    try:
        number = 1
        for length in shape or ():
            number *= int(length or 1)
        return number * int(getattr(dtype, "size", 8) or 8)
    except (TypeError, ValueError):
        return 8


def _rows(parts: Iterable[tuple[str, Leaf]]) -> int:
    for _part, leaf in parts:
        shape = getattr(leaf.value, "shape", None)
        if shape is not None and len(shape) and shape[0] is not None:
            return int(shape[0])
        if isinstance(leaf.value, (list, tuple)):
            return len(leaf.value)
    return 1


def _looks_batched(parts: list[tuple[str, Leaf]]) -> bool:
    """Whether all arrays of an element have one length: the rows of a batch."""
    lengths = set()
    for _part, leaf in parts:
        shape = getattr(leaf.value, "shape", None)
        if shape is None and isinstance(leaf.value, (list, tuple)):
            shape = (len(leaf.value),)
        if shape is None or len(shape) == 0:
            return False
        lengths.add(int(shape[0]) if shape[0] is not None else None)
    return len(lengths) == 1
