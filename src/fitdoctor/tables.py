"""Tables and paragraphs that fit a given width without breaking words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

GAP = 2
_SHORTEST = 8
_NAME = 16
"""The least width at which names are still told apart."""
_SEPARATORS = "/\\,:;=.-_"


def table(
    rows: Sequence[Sequence[str]],
    width: int,
    *,
    heads: Sequence[str] = (),
    right: Collection[int] = (),
    wrap: int | None = None,
    indent: int = 0,
) -> list[str]:
    """The lines of a table without borders.

    Where a table is too wide, names in the first column lose their middle; where that is not enough, it is split by
    columns into several tables, each with the first column.

    Args:
        rows: the cells.
        width: the number of columns of the terminal.
        heads: the heading of each column; none without it.
        right: the columns to align on the right.
        wrap: a column whose text may continue on the next line.
        indent: spaces before every line.
    """
    cells = [list(map(str, row)) for row in ([heads, *rows] if heads else rows)]
    if not cells:
        return []
    room = max(width - indent, 2 * _SHORTEST)
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    if wrap is None:
        widths[0] = min(widths[0], _room_for_names(widths, room))
    else:
        others = sum(size + GAP for column, size in enumerate(widths) if column != wrap)
        widths[wrap] = min(widths[wrap], max(room - others, _SHORTEST))
    lines: list[str] = []
    for columns in _groups(widths, room):
        if lines:
            lines.append("")
        lines += _drawn(cells, widths, columns, right, wrap, bool(heads))
    return [(" " * indent + line).rstrip() for line in lines]


def paragraph(text: str, width: int, *, indent: str = "") -> list[str]:
    """A text in lines of at most `width`, the second and further ones indented; a longer word stays whole."""
    import textwrap

    return textwrap.wrap(
        text, max(width, 20), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    ) or [""]


def shortened(text: str, width: int) -> str:
    """The text, with an ellipsis in its middle where it is longer than `width`."""
    if len(text) <= width:
        return text
    end = (width - 1) // 2
    return f"{text[: width - 1 - end]}…{text[len(text) - end :]}"


def _room_for_names(widths: Sequence[int], room: int) -> int:
    """How wide the first column may be: all that the others leave, or a third where not all of them fit beside it."""
    left = room - sum(GAP + size for size in widths[1:])
    if left >= _NAME:
        return left
    return max(min(room // 3, room - GAP - max(widths[1:], default=0)), _SHORTEST)


def _groups(widths: Sequence[int], room: int) -> list[list[int]]:
    """The columns in groups that fit, each with the first column."""
    groups: list[list[int]] = []
    for column in range(1, len(widths)):
        if groups and widths[0] + sum(GAP + widths[one] for one in (*groups[-1][1:], column)) <= room:
            groups[-1].append(column)
        else:
            groups.append([0, column])
    return groups or [[0]]


def _drawn(
    cells: list[list[str]],
    widths: Sequence[int],
    columns: Sequence[int],
    right: Collection[int],
    wrap: int | None,
    heads: bool,
) -> list[str]:
    from io import StringIO

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, show_header=False, pad_edge=False, padding=(0, GAP, 0, 0))
    for column in columns:
        justify = "right" if column in right else "left"
        drawn.add_column(justify=justify, no_wrap=column != wrap, width=widths[column])  # type: ignore[arg-type]
    for row in cells:
        drawn.add_row(*(Text(_cell(row[column], widths[column], column == wrap)) for column in columns))
    target = StringIO()
    # In a notebook, a console that knows where it is displays what it prints, whatever its file.
    console = Console(
        file=target,
        width=sum(widths) + GAP * len(widths),
        color_system=None,
        legacy_windows=False,
        force_jupyter=False,
    )
    console.print(drawn)
    return [line.rstrip() for line in target.getvalue().splitlines()]


def _cell(text: str, width: int, may_wrap: bool) -> str:
    if not may_wrap:
        return shortened(text, width)
    lines: list[str] = []
    for line in paragraph(text, width):
        while len(line) > width:  # one long word, such as a path: it is divided after a separator
            cut = max((line.rfind(mark, 0, width) for mark in _SEPARATORS), default=-1) + 1 or width
            lines.append(line[:cut])
            line = line[cut:]
        lines.append(line)
    return "\n".join(lines)
