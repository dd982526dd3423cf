"""A cause's page for the terminal: its prose, the line that fails and the change that fixes it."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Moment
from fitdoctor.report import Look
from fitdoctor.report.paint import Line, code, painted, printable, prose, wrapped

_MOMENTS = {
    Moment.SOURCE: "in the source",
    Moment.BEFORE_FIT: "when `fit` is called",
    Moment.AFTER_FAILURE: "from the error",
    Moment.WHILE_TRAINING: "while training",
}
_MARKER = re.compile(r"[ \t]*# <([-~]) FIT\d+.*$", re.MULTILINE)


def render_page(cause: Cause, look: Look) -> str:
    """The page of a cause as text."""
    lines = [*_head(cause, look.width), *_body(cause.page, look.width), *_example(cause.folder, look)]
    return painted(lines, color=look.color)


def _head(cause: Cause, width: int) -> Iterator[Line]:
    yield [
        (f"{cause.severity.value}[{cause.id}]", cause.severity.value),
        (": ", "strong"),
        *prose(cause.title, "strong"),
    ]
    yield [("slug:    ", "dim"), (cause.slug, "")]
    raises = (cause.raises,) if isinstance(cause.raises, str) else cause.raises or ()
    shown = " or ".join(raises) if raises else "nothing: training runs, but the result is wrong"
    yield from wrapped([("raises:  ", "dim"), (shown, "")], width, [(" " * 9, "")])
    found = ", ".join(_MOMENTS[moment] for moment in cause.moments) or "not yet"
    yield from wrapped([("found:   ", "dim"), *prose(found)], width, [(" " * 9, "")])


def _body(page: str, width: int) -> Iterator[Line]:
    """Yield headings, paragraphs, lists and code of the page, without its title."""
    text = page.strip().split("\n", 1)
    below_heading = False
    for block in _blocks(text[1] if len(text) > 1 else ""):
        if not below_heading:
            yield []
        first = block[0]
        below_heading = first.startswith("#")
        if first.startswith("#"):
            yield [(first.lstrip("# "), "heading")]
        elif first.startswith(("    ", "```", "|")):
            # Code and tables keep their lines.
            yield from ([(printable(line), "")] for line in block if not line.startswith("```"))
        else:
            for item in _items(block):
                hang = "  " if item.startswith(("- ", "* ")) else ""
                yield from wrapped(prose(item), width, [(hang, "")])


def _blocks(text: str) -> Iterator[list[str]]:
    """Yield runs of lines between blank ones; a heading and a fenced block are separate."""
    block: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if line.startswith("```"):
            if not fenced and block:
                yield block
                block = []
            fenced = not fenced
            block.append(line)
            if not fenced:
                yield block
                block = []
        elif fenced:
            block.append(line)
        elif not line.strip() or line.startswith("#"):
            if block:
                yield block
            block = []
            if line.strip():
                yield [line]
        else:
            block.append(line)
    if block:
        yield block


def _items(block: list[str]) -> list[str]:
    """A paragraph as one text, a list as its items."""
    items: list[str] = []
    for line in block:
        if not items or line.startswith(("- ", "* ")) or re.match(r"\d+\. ", line):
            items.append(line.strip())
        else:
            items[-1] += f" {line.strip()}"
    return items


def _example(folder: Path, look: Look) -> Iterator[Line]:
    try:
        marked = (folder / "broken.py").read_text("utf-8")
        fixed = (folder / "fixed.py").read_text("utf-8")
    except OSError:
        yield from _recorded(folder)
        return
    yield []
    yield [("Failing example", "heading")]
    for number, line in enumerate(marked.split("\n"), start=1):
        if re.search(r"# <- FIT\d+", line):
            text = _MARKER.sub("", line)
            indent = len(text) - len(text.lstrip())
            yield [(f"{'':>{len(str(number))}}--> ", "gutter"), (f"broken.py:{number}", "")]
            yield [(f"{number} | ", "gutter"), *code(printable(text), color=look.color)]
            marks = " " * indent + "^" * (len(text) - indent)
            yield [(f"{'':>{len(str(number))}} | ", "gutter"), (marks, "error")]
    yield []
    yield [("Fixed", "heading")]
    before, after = (_MARKER.sub("", text).split("\n") for text in (marked, fixed))
    diff = difflib.unified_diff(before, after, n=2, lineterm="")
    # Without the names of the two files.
    for number, line in enumerate(itertools.islice(diff, 2, None)):
        if not line.startswith("@@"):
            sign, rest = line[:1], printable(line[1:])
            style = {"+": "added", "-": "removed"}.get(sign)
            yield [(f"{sign} ", style or ""), *([(rest, style)] if style else code(rest, color=look.color))]
        elif number:
            yield [("⋮", "gutter")]


def _recorded(folder: Path) -> Iterator[Line]:
    """Return a recorded text, for failures that cannot be run everywhere."""
    for path in sorted(folder.glob("broken*.txt"))[:1]:
        yield []
        yield [("Recorded example", "heading")]
        yield from ([(printable(line), "")] for line in path.read_text("utf-8").rstrip().split("\n"))
