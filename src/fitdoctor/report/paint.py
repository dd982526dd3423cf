"""Styled lines of text: laid out here, colored by rich only if color is enabled."""

from __future__ import annotations

import itertools
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

Span = tuple[str, str]
"""A piece of text and the name of its style ("" for none)."""
Line = list[Span]

STYLES = {
    "error": "bold red",
    "warning": "bold yellow",
    "info": "bold cyan",
    "help": "bold green",
    "strong": "bold",
    "name": "bold",
    "gutter": "blue",
    "dim": "bright_black",
    "caution": "yellow",
    "removed": "red",
    "changed removed": "bold red",
    "added": "green",
    "changed added": "bold green",
    "heading": "bold underline",
    "code k": "magenta",
    "code s": "yellow",
    "code n": "cyan",
    "code f": "blue",
    "code c": "bright_black",
}
"""Colors of the terminal's own palette, so that they suit its theme."""

_LINK = "link "
"""The prefix of a style that makes its text a hyperlink, followed by the address."""

_TAB = " " * 4


def printable(text: str) -> str:
    """Return the text without control codes and characters that reorder text."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    if character == "\t":
        return _TAB
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return f"\\u{ord(character):04x}" if ord(character) > 0xFF else f"\\x{ord(character):02x}"
    return character


def cells(text: str) -> int:
    """Return how many terminal columns the text takes."""
    if text.isascii():
        return len(text)
    return sum(_cells_of(character) for character in text)


def _cells_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def plain(line: Line) -> str:
    """The line without its styles."""
    return "".join(text for text, _style in line)


def prose(text: str, style: str = "") -> Line:
    """Return a sentence with its `names` highlighted."""
    parts = printable(text).split("`")
    if len(parts) % 2 == 0:
        return [(printable(text), style)]
    spans: Line = []
    for index, part in enumerate(parts):
        if index % 2:
            spans.append((f"`{part}`", style or "name"))
        elif part:
            spans.append((part, style))
    return spans


def code(text: str, *, color: bool) -> Line:
    """Return a line of Python, highlighted if there is color."""
    if not color:
        return [(text, "")]
    from fitdoctor.report.highlight import tokens

    return [(piece, f"code {kind}") for kind, piece in tokens(text)]


def restyled(line: Line, start: int, end: int, style: str) -> Line:
    """The line with the characters from `start` to `end` in one style."""
    spans: Line = []
    at = 0
    for text, own in line:
        cuts = sorted({0, len(text), *(min(max(cut - at, 0), len(text)) for cut in (start, end))})
        for first, last in itertools.pairwise(cuts):
            spans.append((text[first:last], style if start <= at + first < end else own))
        at += len(text)
    return spans


_STUCK = "\u00a0"


def unbroken(text: str) -> str:
    """Return the text as one word that wrapping does not break."""
    return text.replace(" ", _STUCK)


def wrapped(line: Line, width: int, hang: Line | None = None) -> Iterator[Line]:
    """Return the line wrapped between words to the width; further lines start with `hang`."""
    return _broken(line, max(width, 20), hang or [])


def _broken(line: Line, room: int, hang: Line) -> Iterator[Line]:
    current: Line = []
    used = 0
    fresh = True
    for word in _words(line):
        text = plain(word)
        if text == "\n" or (not fresh and used + cells(text.rstrip()) > room):
            yield _unstuck(current)
            current, used, fresh = list(hang), cells(plain(hang)), True
        if text != "\n":
            current += word
            used += cells(text)
            fresh = fresh and not text.strip()
    yield _unstuck(current)


def _unstuck(line: Line) -> Line:
    return _trimmed([(text.replace(_STUCK, " "), style) for text, style in line])


_WORD = re.compile(r"\n|[^ \n]* +|[^ \n]+")


def _words(line: Line) -> Iterator[Line]:
    """Yield words, each with the spaces after it and its styles; a line break comes alone."""
    word: Line = []
    for text, style in line:
        for part in _WORD.findall(text):
            if part == "\n":
                if word:
                    yield word
                yield [(part, "")]
                word = []
                continue
            word.append((part, style))
            if part.endswith(" "):
                yield word
                word = []
    if word:
        yield word


def table(rows: Sequence[Sequence[Line]], width: int, gap: int = 2) -> list[Line] | None:
    """Return rows of cells as aligned columns; cells wrap between words, the widest columns first.

    Returns None if even that does not fit the width; the caller then lists the cells below each other.
    """
    columns = range(len(rows[0]))
    widths = [max(cells(plain(row[column])) for row in rows) for column in columns]
    least = [max(_longest_word(row[column]) for row in rows) for column in columns]
    room = width - gap * (len(widths) - 1)
    if sum(least) > room:
        return None
    while sum(widths) > room:
        widest = max((column for column in columns if widths[column] > least[column]), key=widths.__getitem__)
        widths[widest] -= 1
    return [line for row in rows for line in _laid_out(row, widths, gap)]


def _longest_word(cell: Line) -> int:
    return max((cells(plain(word).rstrip()) for word in _words(cell)), default=0)


def _laid_out(row: Sequence[Line], widths: list[int], gap: int) -> Iterator[Line]:
    """Return the lines of one row."""
    parts = [list(_broken(cell, room, [])) for cell, room in zip(row, widths, strict=True)]
    for number in range(max(map(len, parts))):
        line: Line = []
        for part, room in zip(parts, widths, strict=True):
            cell = part[number] if number < len(part) else []
            line += [*cell, (" " * (room - cells(plain(cell)) + gap), "")]
        yield _trimmed(line)


def _trimmed(line: Line) -> Line:
    trimmed = list(line)
    while trimmed and not trimmed[-1][0].rstrip():
        trimmed.pop()
    if trimmed:
        trimmed[-1] = (trimmed[-1][0].rstrip(), trimmed[-1][1])
    return trimmed


def link(path: str, line: int) -> str:
    """Return the style of a text that links to a line of a file."""
    from pathlib import Path

    try:
        return f"{_LINK}{Path(path).absolute().as_uri()}#{line}"
    except (OSError, ValueError):
        return ""


def wants_color(choice: str, target: TextIO | None) -> bool:
    """Whether to color the output to `target`.

    Args:
        choice: `always`, `never`, or `auto`, which follows NO_COLOR and FORCE_COLOR and otherwise checks for a terminal.
        target: the stream; None for a file.
    """
    if choice != "auto":
        return choice == "always"
    if target is None or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return os.environ.get("TERM") != "dumb" and _is_terminal(target)


def terminal_width(target: TextIO | None) -> int:
    """Return the width of reports: COLUMNS, else the terminal's width up to 120, else 100."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns) > 0:
        return int(columns)
    if target is None or not _is_terminal(target):
        return 100
    try:
        return min(os.get_terminal_size(target.fileno()).columns or 100, 120)
    except (OSError, ValueError, AttributeError):
        return 100


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # a stand-in of the program's, or closed
        return False


def shows_links(stream: TextIO | None) -> bool:
    """Whether a stream can show hyperlinks: a terminal that supports them, or ignores them silently."""
    if stream is None or not _is_terminal(stream):
        return False
    return os.environ.get("TERM", "") not in ("", "dumb", "linux", "unknown")


def remark(text: str, stream: TextIO) -> str:
    """Return a line of our own for a stream: `fitdoctor: …`, wrapped for a terminal, without control codes."""
    lines = [[(printable(line), "")] for line in f"fitdoctor: {text}".split("\n")]
    if _is_terminal(stream):
        width = terminal_width(stream)
        lines = [part for line in lines for part in wrapped(line, width, [("  ", "")])]
    return painted(lines, color=False)


def painted(lines: Iterable[Line], *, color: bool, links: bool = False) -> str:
    """Return the lines as one text, each ending with a newline.

    Args:
        lines: the styled lines.
        color: whether to color the text; if not, all styles are dropped.
        links: whether to make locations hyperlinks.
    """
    if not color:
        return "".join(plain(_trimmed(line)) + "\n" for line in lines)
    import io

    from rich.console import Console
    from rich.text import Text

    buffer = io.StringIO()
    console = Console(
        file=buffer,
        force_terminal=True,
        force_jupyter=False,
        color_system="standard",
        no_color=False,
        legacy_windows=False,
        width=10_000,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for line in lines:
        # Text, not markup: what the user wrote is never read as `[red]`.
        spans = ((text, _rich_style(style, links)) for text, style in _trimmed(line))
        console.print(Text.assemble(*spans), soft_wrap=True)
    return buffer.getvalue()


def _rich_style(style: str, links: bool) -> str:
    if style.startswith(_LINK):
        return style if links else ""
    return STYLES.get(style, "")
