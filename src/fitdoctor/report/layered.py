"""Layout of a directed acyclic graph in layers from top to bottom, after Sugiyama.

Plain Python, so that a report holds finished SVG: it shows wherever scripts are not run (mail, CI artifacts, print).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from fitdoctor.records import dataclass

Size = tuple[float, float]
Point = tuple[float, float]

_BETWEEN = 28.0
"""Space between neighbours in a layer."""
_BENEATH = 26.0
"""Space between layers."""
_SWEEPS = 8
_STRAIGHTENING = 30
_BEND = "·"
"""Begins the name of a point where a long edge passes through a layer."""


@dataclass(frozen=True)
class Layout:
    """Where everything goes."""

    width: float
    height: float
    places: dict[str, Point]
    """The middle of the upper edge of each node."""
    edges: tuple[tuple[str, str, tuple[Point, ...]], ...]
    """(from, to, the points that the edge passes through)."""


def laid_out(sizes: Mapping[str, Size], edges: Sequence[tuple[str, str]]) -> Layout:
    """Place nodes of the given sizes so that every edge points down.

    Args:
        sizes: width and height of each node, in an order in which no edge points back.
        edges: pairs of names.
    """
    edges = list(dict.fromkeys(edge for edge in edges if edge[0] != edge[1]))
    rank = _ranks(list(sizes), edges)
    widths = {name: size[0] for name, size in sizes.items()}
    rows: list[list[str]] = [[] for _ in range(max(rank.values(), default=-1) + 1)]
    for name in sizes:
        rows[rank[name]].append(name)
    links, chains = _linked(edges, rank, rows, widths)
    _order(rows, links)
    middles = _middles(rows, links, widths)
    heights = [max((sizes[name][1] for name in row if name in sizes), default=0.0) for row in rows]
    tops = [sum(heights[:index]) + _BENEATH * index for index in range(len(rows))]
    places = {name: (middles[name], tops[rank[name]]) for name in sizes}
    drawn = []
    for (first, last), bends in chains.items():
        start = (middles[first], tops[rank[first]] + sizes[first][1])
        between = [
            point
            for name, row in bends
            for point in ((middles[name], tops[row]), (middles[name], tops[row] + heights[row]))
        ]
        drawn.append((first, last, (start, *between, (middles[last], tops[rank[last]]))))
    right = max((middles[name] + width / 2 for name, width in widths.items()), default=0.0)
    return Layout(right, sum(heights) + _BENEATH * max(len(rows) - 1, 0), places, tuple(drawn))


def _ranks(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The layer of each node: below all that feed it; what nothing feeds stands right above what it feeds."""
    rank = dict.fromkeys(names, 0)
    place = {name: index for index, name in enumerate(names)}
    ordered = sorted(edges, key=lambda edge: place[edge[0]])
    for first, last in ordered:
        rank[last] = max(rank[last], rank[first] + 1)
    fed = {last for _first, last in edges}
    for name in names:
        below = [rank[last] for first, last in edges if first == name]
        if name not in fed and below:
            rank[name] = min(below) - 1
    return rank


Links = dict[str, tuple[list[str], list[str]]]
"""For each node its neighbours in the layer above and in the layer below."""


def _linked(
    edges: Sequence[tuple[str, str]], rank: Mapping[str, int], rows: list[list[str]], widths: dict[str, float]
) -> tuple[Links, dict[tuple[str, str], list[tuple[str, int]]]]:
    """The neighbours, with a point in each layer that a long edge crosses; and those points, for each edge."""
    links: Links = {name: ([], []) for row in rows for name in row}
    chains: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for number, (first, last) in enumerate(edges):
        bends = [(f"{_BEND}{number}.{row}", row) for row in range(rank[first] + 1, rank[last])]
        chains[first, last] = bends
        for name, row in bends:
            rows[row].append(name)
            links[name] = ([], [])
            widths[name] = 0.0
        path = [first, *(name for name, _row in bends), last]
        for upper, lower in itertools.pairwise(path):
            links[upper][1].append(lower)
            links[lower][0].append(upper)
    return links, chains


def _order(rows: list[list[str]], links: Links) -> None:
    """Sort each layer by the mean position of its neighbours, down and up, and keep what crosses least."""
    best, fewest = [list(row) for row in rows], _crossings(rows, links)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        side = sweep % 2
        course = range(1, len(rows)) if side == 0 else range(len(rows) - 2, -1, -1)
        for index in course:
            place = {name: at for at, name in enumerate(rows[index - 1 if side == 0 else index + 1])}
            keys = {
                name: _mean([place[other] for other in links[name][side] if other in place], at)
                for at, name in enumerate(rows[index])
            }
            rows[index].sort(key=keys.__getitem__)
        crossing = _crossings(rows, links)
        if crossing < fewest:
            best, fewest = [list(row) for row in rows], crossing
    rows[:] = best


def _crossings(rows: Sequence[Sequence[str]], links: Links) -> int:
    total = 0
    for upper, lower in itertools.pairwise(rows):
        place = {name: at for at, name in enumerate(lower)}
        ends = [at for name in upper for at in sorted(place[other] for other in links[name][1])]
        total += sum(one > other for index, one in enumerate(ends) for other in ends[index + 1 :])
    return total


def _middles(rows: Sequence[Sequence[str]], links: Links, widths: Mapping[str, float]) -> dict[str, float]:
    """The middle of each node: as near to those of its neighbours as the nodes beside it allow."""
    middle: dict[str, float] = {}
    for row in rows:
        _spread(row, {}, widths, middle)
    for sweep in range(_STRAIGHTENING):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = {
                name: _mean([middle[other] for side in links[name] for other in side], middle[name])
                for name in row
            }
            _spread(row, wanted, widths, middle)
    left = min((middle[name] - widths[name] / 2 for row in rows for name in row), default=0.0)
    return {name: at - left for name, at in middle.items()}


def _spread(
    row: Sequence[str], wanted: Mapping[str, float], widths: Mapping[str, float], middle: dict[str, float]
) -> None:
    """Give each node the place that it wants, moved as little as keeps them apart (least squares, exactly)."""
    offsets, total = [], 0.0
    for index, name in enumerate(row):
        if index:
            total += (widths[row[index - 1]] + widths[name]) / 2 + _BETWEEN
        offsets.append(total)
    # Shifted by these offsets, the places need only not to fall: pool neighbours that do.
    pools: list[tuple[float, int]] = []
    for name, offset in zip(row, offsets, strict=True):
        mean, count = wanted.get(name, 0.0) - offset, 1
        while pools and pools[-1][0] > mean:
            other, many = pools.pop()
            mean, count = (mean * count + other * many) / (count + many), count + many
        pools.append((mean, count))
    places = [mean for mean, count in pools for _ in range(count)]
    for name, offset, place in zip(row, offsets, places, strict=True):
        middle[name] = place + offset


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
