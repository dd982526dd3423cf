"""Styled lines of text: laid out here, coloured by rich only where colour is wanted."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

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
    "removed": "red",
    "added": "green",
    "heading": "bold underline",
}

_TAB = " " * 4


def printable(text: str) -> str:
    """The text without what would steer a terminal: control codes, and marks that reorder characters."""
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
    """How many columns of a terminal the text takes."""
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
    """A sentence with its `names` made to stand out."""
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


def wrapped(line: Line, width: int, hang: Line | None = None) -> Iterator[Line]:
    """The line broken between words to fit the width; further lines begin with `hang`."""
    indent = hang or []
    room = max(width, 20)
    current: Line = []
    used = 0
    fresh = True
    for word, style in _words(line):
        if word == "\n" or (not fresh and used + cells(word.rstrip()) > room):
            yield _trimmed(current)
            current, used, fresh = list(indent), cells(plain(indent)), True
            word = word.lstrip()
        if word:
            current.append((word, style))
            used += cells(word)
            fresh = fresh and not word.strip()
    yield _trimmed(current)


def _words(line: Line) -> Iterator[Span]:
    """Words, each with the blanks after it; a line break comes alone."""
    for text, style in line:
        for number, part in enumerate(text.split("\n")):
            if number:
                yield "\n", ""
            start = 0
            for index in range(1, len(part)):
                if part[index - 1] == " " and part[index] != " ":
                    yield part[start:index], style
                    start = index
            if part[start:]:
                yield part[start:], style


def _trimmed(line: Line) -> Line:
    trimmed = list(line)
    while trimmed and not trimmed[-1][0].rstrip():
        trimmed.pop()
    if trimmed:
        trimmed[-1] = (trimmed[-1][0].rstrip(), trimmed[-1][1])
    return trimmed


def painted(lines: Iterable[Line], *, color: bool) -> str:
    """The lines as one text, each ended by a line break."""
    if not color:
        return "".join(plain(_trimmed(line)) + "\n" for line in lines)
    import io

    from rich.console import Console
    from rich.text import Text

    buffer = io.StringIO()
    console = Console(
        file=buffer,
        force_terminal=True,
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
        console.print(
            Text.assemble(*((text, STYLES.get(style, "")) for text, style in _trimmed(line))),
            soft_wrap=True,
        )
    return buffer.getvalue()
