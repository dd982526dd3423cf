"""Groups of elements: their arrays are joined, so that counting many small ones costs little."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from fitdoctor.collect.arrays import Component as Leaf
from fitdoctor.collect.arrays import components as leaves
from fitdoctor.collect.tally_arrays import no_element
from fitdoctor.facts.data import part_path
from fitdoctor.scan.array_source import as_array
from fitdoctor.scan.pieces import Component, Part

Stray = Callable[[int, str], None]
"""Called for an element with something that the first one does not have."""


@dataclass(frozen=True)
class Form:
    """The structure of a source's elements."""

    components: tuple[Component, ...]
    batched: bool
    records: bool
    simple: tuple[type, ...] | None
    """The types of the items, if elements are plain tuples of arrays."""

    def parts(
        self, elements: list[Any], numbers: list[int], rows: list[int], first: int, stray: Stray
    ) -> list[Part]:
        """Return the arrays of a group, component by component."""
        place = _Place(numbers, list(itertools.accumulate(rows, initial=first)), rows)
        if self.simple is not None and all(_types(element) == self.simple for element in elements):
            columns = zip(*(_items(element) for element in elements), strict=True)
            joined = [self._together(i, list(column), place) for i, column in enumerate(columns)]
            if all(part is not None for part in joined):
                return [part for part in joined if part is not None]
        return self._one_by_one(elements, place, stray)

    def _together(self, component: int, values: list[Any], place: _Place) -> Part | None:
        """Return the arrays as one; None if they are not compatible."""
        import numpy as np

        arrays = [value._numpy() if hasattr(value, "_numpy") else value for value in values]
        seen: dict[tuple[tuple[int, ...], Any], list[int]] = {}
        for position, array in enumerate(arrays):
            seen.setdefault((array.shape, array.dtype), [position, 0])[1] += 1
        if len({(shape[1:] if self.batched else shape, dtype) for shape, dtype in seen}) != 1:
            return None
        if not self.batched:
            joined = np.stack(arrays)
        elif sum(map(len, arrays)) != sum(place.rows):
            return None
        else:
            joined = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
        if self.records:
            told = tuple((shape[1:], str(dtype), place.starts[0], len(joined)) for shape, dtype in seen)
            return Part(component, joined, place.starts[0], no_element, told)
        told = tuple(
            (shape, str(dtype), place.numbers[position], count)
            for (shape, dtype), (position, count) in seen.items()
        )
        return Part(component, joined, place.starts[0], place.element, told)

    def _one_by_one(self, elements: list[Any], place: _Place, stray: Stray) -> list[Part]:
        paths = {component.path: index for index, component in enumerate(self.components)}
        found: list[Part] = []
        for position, element in enumerate(elements):
            for _part, leaf in parts_of(element):
                if leaf.path not in paths:
                    stray(place.numbers[position], leaf.path)
                    continue
                found.append(self._alone(paths[leaf.path], leaf, position, place))
        return found

    def _alone(self, component: int, leaf: Leaf, position: int, place: _Place) -> Part:
        array = as_array(leaf.value, leaf.path)
        shape, rows = _shape(leaf.value, array), place.rows[position]
        number = place.numbers[position]
        seen = (shape, str(array.dtype), number, 1)
        if self.records:
            seen = (shape[1:], str(array.dtype), place.starts[position], rows)
        plain = _is_plain(leaf.value)
        if plain and not self.batched:
            array = array.reshape(tuple(size or 0 for size in shape))[None]
        return Part(
            component,
            array,
            place.starts[position],
            no_element if self.records else partial(_same, number),
            (seen,),
            None if plain and len(array) == rows else rows,
        )


@dataclass(frozen=True)
class _Place:
    """The rows of the elements of a group."""

    numbers: list[int]
    starts: list[int]
    rows: list[int]

    def element(self, row: int) -> int:
        """Return the element that contains a row."""
        return self.numbers[max(bisect.bisect_right(self.starts, row) - 1, 0)]


def _same(number: int, _row: int) -> int:
    return number


def _items(element: Any) -> tuple[Any, ...]:
    return element if type(element) is tuple else (element,)


def _types(element: Any) -> tuple[type, ...]:
    return tuple(map(type, _items(element)))


def simple_types(element: Any) -> tuple[type, ...] | None:
    """Return the item types of an element that is an array or a tuple of arrays; None for any other."""
    items = _items(element)
    if not 0 < len(items) <= 3:
        return None
    # A single string is no array.
    plain = all(
        type(item).__name__ in ("EagerTensor", "ndarray") and getattr(item.dtype, "name", "") != "string"
        for item in items
    )
    return tuple(map(type, items)) if plain else None


def first_rows(element: Any) -> int:
    """Return the number of rows of a batch: the length of its first array."""
    value = element
    while isinstance(value, (tuple, dict)) and value:
        value = next(iter(value.values())) if isinstance(value, dict) else value[0]
    shape = getattr(value, "shape", None)
    if shape is not None and len(shape) and shape[0] is not None:
        return int(shape[0])
    return rows_in(parts_of(element))


def parts_of(element: Any) -> list[tuple[str, Leaf]]:
    """Yield the arrays of an element with their parts, as `fit` reads it."""
    whole = element if isinstance(element, (tuple, list)) and not hasattr(element, "shape") else (element,)
    if len(whole) > 3 or not whole:
        whole = (element,)
    return [
        (part, leaf)
        for part, value in zip(("x", "y", "sample_weight"), whole, strict=False)
        for leaf in leaves(value, part_path("training", part))
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


def bytes_of(value: Any) -> int:
    """About how many bytes an array has."""
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


def rows_in(parts: Iterable[tuple[str, Leaf]]) -> int:
    """Return the number of rows of a batch, by the first array that has a length."""
    for _part, leaf in parts:
        shape = getattr(leaf.value, "shape", None)
        if shape is not None and len(shape) and shape[0] is not None:
            return int(shape[0])
        if isinstance(leaf.value, (list, tuple)):
            return len(leaf.value)
    return 1


def looks_batched(parts: list[tuple[str, Leaf]]) -> bool:
    """Whether all arrays of an element have the same length: the rows of a batch."""
    lengths = set()
    for _part, leaf in parts:
        shape = getattr(leaf.value, "shape", None)
        if shape is None and isinstance(leaf.value, (list, tuple)):
            shape = (len(leaf.value),)
        if shape is None or len(shape) == 0:
            return False
        lengths.add(int(shape[0]) if shape[0] is not None else None)
    return len(lengths) == 1
