"""The data flow through a call of fit as a picture: finished SVG, in which the layers of a large model fold into blocks."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from fitdoctor.catalogue.words import counted
from fitdoctor.diagnosis import Way, WayStep
from fitdoctor.records import dataclass, replace
from fitdoctor.report.card import badge, escaped, place, sentence
from fitdoctor.report.layered import laid_out
from fitdoctor.report.paint import cells, printable

_MOST_UNFOLDED = 20
"""A model of more layers is folded."""
_MOST_PARTS = 12
"""Where names do not tell blocks apart, a model is cut into about this many."""
_DEEPEST = 4
_DATA = ("data", "pipeline", "batch")
_CHARACTER, _LINE = 7.3, 17.0
"""The size of a character of the picture's font, in pixels."""
_TITLE_WIDTH, _NOTE_WIDTH = 34, 44
_ARROW = 20
_ENTRY = "·entry"


@dataclass(frozen=True)
class Node:
    """A stage with all that leaves it."""

    name: str
    stage: str
    title: str
    outputs: tuple[str, ...] = ()
    device: str = ""
    place: str = ""
    note: str = ""
    after: tuple[str, ...] = ()
    block: tuple[str, ...] = ()


@dataclass(frozen=True)
class Block:
    """Consecutive layers that fold into one line."""

    title: str
    nodes: tuple[Node, ...]
    depth: int
    """How many parts of the names the blocks around it have used up."""
    ordered: bool = True


def flow(way: Way) -> str:
    """The HTML of a way: the picture, and the same as a table."""
    nodes = _nodes(way)
    data = [node for node in nodes if node.stage in _DATA]
    entry = [node for node in nodes if node.name == "model input"]
    model = [
        node for node in nodes if node.stage == "model" and node.name not in ("model input", "model output")
    ]
    ends = [node for node in nodes if node.name == "model output" or node.stage == "loss"]
    feeding = {name for node in (entry or model or ends) for name in node.after}
    parts = [_graph(data, "data and pipeline", feeding)] if data else []
    if entry:
        parts.append(_graph(entry, "input"))
    if model:
        outputs = {name for node in ends for name in node.after}
        parts.append(_model([node for node in model if not node.block], model, leaving=outputs))
    if ends:
        parts.append(_graph([*_labels(ends, data), *ends], "output and loss", None))
    drawn = _connector().join(part for part in parts if part)
    rows = "".join(_row(step) for step in way.steps)
    heads = "".join(f"<th>{head}</th>" for head in ("stage", "shape", "dtype", "device", "defined at"))
    table = f'<div class="fd-wide"><table><tr>{heads}</tr>{rows}</table></div>'
    return (
        f'<div class="fd-flows">{drawn}</div>'
        f'<details class="fd-other"><summary>As a table</summary>{table}</details>'
    )


def breaks(way: Way) -> bool:
    """Whether the data does not match what a stage expects."""
    return any(step.note for step in way.steps)


def _row(step: WayStep) -> str:
    note = f'<div class="fd-broken">{escaped(step.note)}</div>' if step.note else ""
    kind = ' class="fd-break"' if step.note else ""
    values = (step.shape, step.dtype, step.device)
    return (
        f"<tr{kind}><td>{escaped(step.what)}{note}</td>"
        f"{''.join(f'<td>{escaped(value)}</td>' for value in values)}<td>{place(step.location)}</td></tr>"
    )


# --- the graph ----------------------------------------------------------------------------------------------------


def _nodes(way: Way) -> list[Node]:
    steps = way.steps if any(step.name for step in way.steps) else _named(way.steps)
    groups: dict[str, list[WayStep]] = {}
    for step in steps:
        if step.name and (step.note or not step.name.endswith(" last batch")):
            groups.setdefault(step.name, []).append(step)
    nodes = _where_it_changes([_node(group) for group in groups.values()])
    if not any(node.note for node in nodes):
        nodes += _failed_trials(way, nodes)
    return nodes


def _where_it_changes(nodes: list[Node]) -> list[Node]:
    """The nodes with their device only where it is another than that of what feeds them."""
    device = {node.name: node.device for node in nodes}
    same = [
        {device[name] for name in node.after if device.get(name)} == {node.device} or bool(node.block)
        for node in nodes
    ]
    return [replace(node, device="") if known else node for node, known in zip(nodes, same, strict=True)]


def _node(group: Sequence[WayStep]) -> Node:
    """A stage of all its tensors: what their names share is its title, the rest goes with each tensor."""
    first = group[0]
    title = first.name if first.name in ("model input", "model output") else first.what
    while not all(f"{step.what} ".startswith(f"{title} ") for step in group):
        title = title.rpartition(" ")[0]
    outputs = (
        " ".join(text for text in (step.what[len(title) :].strip(), step.shape, step.dtype) if text != "?")
        for step in group
    )
    return Node(
        first.name,
        first.stage,
        title or first.what,
        tuple(filter(None, (re.sub(" +", " ", output).strip() for output in outputs))),
        first.device,
        str(first.location) if first.location else "",
        next((step.note for step in group if step.note), ""),
        first.after,
        first.block,
    )


def _named(steps: Sequence[WayStep]) -> Iterator[WayStep]:
    """The steps of a file that an older fitdoctor saved: each follows the one before it, arrays side by side."""
    before: tuple[str, ...] = ()
    arrays: list[str] = []
    last: WayStep | None = None
    for number, step in enumerate(steps):
        if step.what.startswith("tried on "):
            continue
        name = step.what if step.what in ("model input", "model output") else f"{number} {step.what}"
        if last is not None and (last.stage, last.what, last.location) == (
            step.stage,
            step.what,
            step.location,
        ):
            yield replace(step, name=last.name, after=last.after)
            continue
        if step.stage == "data":
            arrays.append(name)
            last = replace(step, name=name, after=before)
        else:
            last = replace(step, name=name, after=tuple(arrays) or before)
            before, arrays = (name,), []
        yield last


def _failed_trials(way: Way, nodes: Sequence[Node]) -> Iterator[Node]:
    """What the trial on the data's shapes raised, where no stage shows it."""
    fed = {name for node in nodes for name in node.after}
    last = tuple(node.name for node in nodes if node.stage != "loss" and node.name not in fed)
    for number, step in enumerate(step for step in way.steps if not step.name and step.note):
        at = str(step.location) if step.location else ""
        yield Node(f"trial {number}", step.stage, step.what, place=at, note=step.note, after=last)


def _labels(ends: Sequence[Node], data: Sequence[Node]) -> list[Node]:
    """The labels once more, where they meet the predictions."""
    wanted = {name for node in ends for name in node.after}
    return [replace(node, stage="again", after=(), place="", note="") for node in data if node.name in wanted]


def _edges(nodes: Sequence[Node]) -> list[tuple[str, str]]:
    """The edges among nodes; a layer that is called again would make a circle, so only those that point forward."""
    place_of = {node.name: index for index, node in enumerate(nodes)}
    return [
        (source, node.name)
        for index, node in enumerate(nodes)
        for source in node.after
        if place_of.get(source, index) < index
    ]


# --- folding ------------------------------------------------------------------------------------------------------


def _model(
    nodes: Sequence[Node], every: Sequence[Node], depth: int = 0, leaving: Collection[str] = ()
) -> str:
    """Layers one below the other: drawn, or folded where there are many; `leaving` names those that feed the outputs."""
    inside = {
        node.name: inner
        for node in nodes
        if (inner := [each for each in every if "/".join(each.block) == node.name])
        and any(each.outputs or each.note for each in inner)
    }
    units = _units(nodes)
    if len(nodes) > 1 and not _edges(nodes):
        return _folded(Block("layers", tuple(nodes), depth, ordered=False), every)
    parts: list[str] = []
    drawn: list[Node] = []

    def draw() -> None:
        if drawn:
            parts.append(_graph(drawn, "layers", {drawn[-1].name, *leaving}))
            drawn.clear()

    for item in _blocks(units, depth):
        if isinstance(item, Block):
            draw()
            parts.append(_folded(item, every))
        elif len(item) == 1 and item[0].name in inside:
            draw()
            node = item[0]
            block = Block(node.title, tuple(inside[node.name]), 0)
            parts.append(_folded(block, every, node.outputs, node.note))
        else:
            drawn += item
            nested = [node for node in item if node.name in inside]
            if nested:
                draw()
                parts += [
                    _folded(Block(f"inside {node.title}", tuple(inside[node.name]), 0), every)
                    for node in nested
                ]
    draw()
    return _connector().join(parts)


def _units(nodes: Sequence[Node]) -> list[list[Node]]:
    """The layers, cut before each layer that is fed by the one before it, if nothing else leads past that place."""
    edges = set(_edges(nodes))
    place_of = {node.name: index for index, node in enumerate(nodes)}
    reach = [0] * len(nodes)
    for source, target in edges:
        reach[place_of[source]] = max(reach[place_of[source]], place_of[target])
    units: list[list[Node]] = []
    furthest = 0
    for index, node in enumerate(nodes):
        # How far the edges reach that begin before the layer above.
        furthest = max(furthest, reach[index - 2]) if index > 1 else 0
        if index == 0 or furthest < index and (nodes[index - 1].name, node.name) in edges:
            units.append([])
        units[-1].append(node)
    return units


def _blocks(units: list[list[Node]], depth: int) -> list[Block | list[Node]]:
    """Units as they are where there are few; else in blocks of layers with a common prefix, or of about equal length."""
    if sum(map(len, units)) <= _MOST_UNFOLDED or len(units) < 2:
        return list(units)
    items: list[Block | list[Node]] = []
    pending: list[list[Node]] = []

    def fold() -> None:
        nodes = tuple(node for unit in pending for node in unit)
        if len(nodes) > 2 and len(pending) < len(units):
            alike = len({_prefix(node, depth) for node in nodes}) == 1
            title = _prefix(nodes[0], depth, whole=True) if alike else _from_to(nodes)
            items.append(Block(title, nodes, depth + 1))
        else:
            items.extend(pending)
        pending.clear()

    for unit in units:
        if pending and {_prefix(node, depth) for node in unit} != {_prefix(pending[0][0], depth)}:
            fold()
        pending.append(unit)
    fold()
    if not any(isinstance(item, Block) for item in items) and depth < _DEEPEST:
        return _blocks(units, depth + 1)
    if len(items) <= _MOST_UNFOLDED:
        return items
    size = -(-len(items) // _MOST_PARTS)
    return [_together(items[start : start + size], depth) for start in range(0, len(items), size)]


def _together(items: Sequence[Block | list[Node]], depth: int) -> Block | list[Node]:
    nodes = tuple(node for item in items for node in (item.nodes if isinstance(item, Block) else item))
    if len(items) == 1:
        return items[0]
    return Block(_from_to(nodes), nodes, depth)


def _from_to(nodes: Sequence[Node]) -> str:
    return f"{_layer_name(nodes[0])} to {_layer_name(nodes[-1])}"


def _layer_name(node: Node) -> str:
    return node.name.rpartition("/")[2]


def _prefix(node: Node, depth: int, *, whole: bool = False) -> str:
    """The part of a layer's name that tells its block at this depth; `whole`: with all before it."""
    words = re.split(r"([_./]+)", _layer_name(node))
    return "".join(words[: 2 * depth + 1]) if whole else "".join(words[2 * depth : 2 * depth + 1])


def _folded(block: Block, every: Sequence[Node], outputs: tuple[str, ...] = (), note: str = "") -> str:
    kinds = Counter(node.title.partition(" ")[0] for node in block.nodes)
    listed = ", ".join(f"{name} × {count}" for name, count in kinds.most_common())
    within = {node.name for node in block.nodes}
    broken = note or any(node.note for node in every if node.name in within or _inside(node, within))
    kind = " fd-break" if broken else ""
    order = (
        "" if block.ordered else "; in the order of their creation, since the order of the calls is not known"
    )
    red = f' <span class="fd-broken">{escaped(note)}</span>' if note else ""
    head = (
        f"<strong>{escaped(block.title)}</strong> {badge(counted(len(block.nodes), 'layer'))}{red}"
        f'<div class="fd-dim">{escaped(listed)}{order}</div>'
    )
    body = _model(block.nodes, every, block.depth) if block.ordered else _listed(block.nodes)
    last = outputs or (block.nodes[-1].outputs if block.ordered else ())
    caption = f'<div class="fd-caption">{escaped("; ".join(last))}</div>' if last else ""
    short = not block.ordered and len(block.nodes) <= _MOST_PARTS
    state = " open" if broken or short else ""
    return (
        f'<details class="fd-block{kind}"{state}><summary>{head}</summary>'
        f'<div class="fd-inside">{body}</div></details>{caption}'
    )


def _inside(node: Node, names: set[str]) -> bool:
    return any("/".join(node.block[: end + 1]) in names for end in range(len(node.block)))


def _listed(nodes: Sequence[Node]) -> str:
    rows = "".join(
        f"<li{' class=fd-broken' if node.note else ''}>{escaped(node.title)} "
        f'<span class="fd-place">{escaped(node.place)}</span> {sentence(node.note)}</li>'
        for node in nodes
    )
    return f"<ul>{rows}</ul>"


# --- drawing ------------------------------------------------------------------------------------------------------


def _connector() -> str:
    path = f'<path d="M10 0V{_ARROW - 1}" class="fd-edge" marker-end="url(#fd-arrow)"/>'
    return f'<svg class="fd-flow" width="20" height="{_ARROW}" viewBox="0 0 20 {_ARROW}" aria-hidden="true">{path}</svg>'


ARROW = (
    '<svg width="0" height="0" class="fd-defs" aria-hidden="true"><defs>'
    '<marker id="fd-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8z" class="fd-head-of-arrow"/></marker>'
    '<marker id="fd-arrow-broken" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8z" class="fd-limit"/></marker></defs></svg>'
)
"""The heads of arrows, once in a page that holds flows."""


def _graph(nodes: Sequence[Node], what: str, leaving: Collection[str] | None = ()) -> str:
    """The SVG of a few nodes: each a box, below it what leaves it.

    Where it is entered and left is in the middle, so that it can stand between others.

    Args:
        nodes: in an order in which no edge points back.
        what: they are, for those who cannot see it.
        leaving: the names of those that feed what follows; the last one if empty, none if None.
    """
    by_name = {node.name: node for node in nodes}
    texts = {node.name: _texts(node) for node in nodes}
    sizes = {name: _size(*lines) for name, lines in texts.items()}
    edges = _edges(nodes)
    entered = [node.name for node in nodes if set(node.after) - set(by_name)]
    if len(entered) > 1:
        sizes = {_ENTRY: (0.0, 4.0), **sizes}
        edges = [*((_ENTRY, name) for name in entered), *edges]
    layout = laid_out(sizes, edges)
    shapes = [
        _edge(points, broken=last in by_name and bool(by_name[last].note))
        for _first, last, points in layout.edges
    ]
    shapes += [_box(node, *texts[node.name], layout.places[node.name]) for node in nodes]
    exits = (
        [] if leaving is None else [node.name for node in nodes if node.name in leaving] or [nodes[-1].name]
    )
    if entered:
        middle = layout.places[_ENTRY if len(entered) > 1 else entered[0]][0]
    else:
        middle = sum(layout.places[name][0] for name in exits) / len(exits) if exits else layout.width / 2
    height = layout.height + 4
    if any(abs(layout.places[name][0] - middle) > 1 for name in exits):
        for name in exits:
            start = (layout.places[name][0], layout.places[name][1] + sizes[name][1])
            shapes.append(f'<path d="{_course([start, (middle, layout.height + 24)])}" class="fd-edge"/>')
        height = layout.height + 26
    half = max(middle, layout.width - middle) + 2
    label = f"{what}: {', '.join(node.title for node in nodes)}"
    return (
        f'<div class="fd-wide"><svg class="fd-flow" width="{2 * half:.0f}" height="{height:.0f}" '
        f'style="min-width: {1.3 * half:.0f}px" '
        f'viewBox="{middle - half:.1f} -2 {2 * half:.1f} {height:.1f}" role="img" aria-label="{escaped(label)}">'
        f"{''.join(shapes)}</svg></div>"
    )


def _texts(node: Node) -> tuple[list[tuple[str, str]], list[str]]:
    """The lines in the box, each with its class; and those below it."""
    box = [(line, "") for line in _wrapped(node.title, _TITLE_WIDTH)]
    box += [(line, "fd-small") for line in _wrapped(node.place, _NOTE_WIDTH)]
    box += [(line, "fd-red") for line in _wrapped(node.note, _NOTE_WIDTH)]
    below = [line for output in node.outputs for line in _wrapped(output, _NOTE_WIDTH)]
    if node.device:
        below.append(f"on {printable(node.device)}")
    return box, below


def _wrapped(text: str, width: int) -> list[str]:
    """The text in lines, broken at spaces, or behind the separators of a long name; nothing is left out."""
    lines = [""]
    words = re.findall(r"\s*\S+", printable(text.replace("\n", " ")))
    pieces = (
        [word] if cells(word.strip()) <= width else re.findall(r"\s*[^\s_./,:]*[_./,:]*", word)
        for word in words
    )
    for word in itertools.chain.from_iterable(pieces):
        while word:
            room = width - cells(lines[-1])
            if cells(word) <= room:
                lines[-1] += word
                break
            word = word.lstrip() if lines[-1] else word
            if lines[-1]:
                lines.append("")
            elif cells(word) > width:
                head = word[: width // max(1, -(-cells(word) // len(word)))]
                lines[-1], word = head, word[len(head) :]
                lines.append("")
    return [line for line in lines if line.strip()]


def _size(box: Sequence[tuple[str, str]], below: Sequence[str]) -> tuple[float, float]:
    widest = max([cells(line) for line, _kind in box] + [cells(line) for line in below], default=1)
    return max(110.0, widest * _CHARACTER + 24), len(box) * _LINE + 10 + len(below) * _LINE + (
        4 if below else 0
    )


def _edge(points: Sequence[tuple[float, float]], *, broken: bool) -> str:
    kind, head = ("fd-edge fd-limit", "fd-arrow-broken") if broken else ("fd-edge", "fd-arrow")
    return f'<path d="{_course(points)}" class="{kind}" marker-end="url(#{head})"/>'


def _course(points: Sequence[tuple[float, float]]) -> str:
    """A line that leaves and arrives vertically."""
    x, y = points[0]
    path = [f"M{x:.1f} {y:.1f}"]
    for nx, ny in points[1:]:
        half = (y + ny) / 2
        straight = abs(nx - x) < 0.05
        path.append(
            f"V{ny:.1f}" if straight else f"C{x:.1f} {half:.1f} {nx:.1f} {half:.1f} {nx:.1f} {ny:.1f}"
        )
        x, y = nx, ny
    return "".join(path)


def _box(node: Node, box: Sequence[tuple[str, str]], below: Sequence[str], at: tuple[float, float]) -> str:
    x, y = at
    width, height = _size(box, ())[0], len(box) * _LINE + 10
    kind = "fd-break" if node.note else f"fd-{node.stage}"
    parts = [
        f'<rect x="{x - width / 2:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="6" class="{kind}"/>'
    ]
    line = y + 5 + _LINE * 0.75
    for text, style in box:
        styled = f' class="{style}"' if style else ""
        parts.append(f'<text x="{x:.1f}" y="{line:.1f}"{styled}>{escaped(text)}</text>')
        line += _LINE
    bottom = y + height
    line = bottom + 4 + _LINE * 0.7
    for text in below:
        parts.append(f'<text x="{x:.1f}" y="{line:.1f}" class="fd-out">{escaped(text)}</text>')
        line += _LINE
    return "".join(parts)
