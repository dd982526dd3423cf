"""Reads tracebacks printed by IPython and notebooks of all versions."""

from __future__ import annotations

import re

from fitdoctor.facts import Frame
from fitdoctor.failure.frames import cell_number
from fitdoctor.failure.traceback_text import MOST_LINES, Block, gather_message, text_frame

_HEADER = re.compile(
    r"^\s*(?P<type>[A-Za-z_]\w*(?:\.\w+)*)(?:\s{2,}|(?<=Error)\s?|(?<=Exception)\s?)"
    r"Traceback \(most recent call last\)\s*$"
)
"""If white space was collapsed, one space or none is left."""
_COLLAPSED = re.compile(r"^\s*\d+ frames?\s*")
_NEW_FRAME = re.compile(r"^File (?P<path>.+?):(?P<line>\d+)(?:, in (?P<function>[^(\n]*)(?:\(.*)?)?\s*$")
_CELL = re.compile(
    r"^\s*(?P<path>(?:Cell|Input) In ?\[\d+\])(?:, line (?P<line>\d+))?(?:, in (?P<function>[^(\n]*)(?:\(.*)?)?\s*$"
)
_OLD_FRAME = re.compile(
    r"^(?P<path><[^>\n]{1,200}>|(?:~|/|[A-Za-z]:[\\/]|\.{0,2}/)[^\n]{0,1000}?) in "
    r"(?P<function>[\w.<>]+(?: line: \d+>)?|\?)(?:\(.*)?\s*$"
)
_EDITOR_FRAME = re.compile(
    r"^\s*(?P<path>\S[^\n]{0,1000}?\.ipynb) Cell (?P<cell>\d{1,6})'?(?: line (?P<line>\d+)| in (?P<function>[^(\n]*).*)?\s*$"
)
"""VS Code's frames: the notebook file and the position of the cell."""
_LOST_FRAME = re.compile(r"^(?P<path>in) (?P<function>[\w<>]*)\s?\(.*\)\s*$")
"""The rest of `<ipython-input-5-…> in <module>()` after the angle brackets were stripped as HTML."""
_PLAIN_FRAME = re.compile(r'^\s*File "(?P<path>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<function>.*))?$')
_ARROW = re.compile(r"^\s*-{1,}> ?(?P<line>\d+) ?(?P<text>.*)$")
_CONTEXT = re.compile(r"^\s*\d+(?: .*)?$")


def is_notebook_header(line: str) -> bool:
    """Whether the line starts an IPython traceback: the type, a gap, and the text without a colon."""
    return bool(_HEADER.match(line[:400]))


def parse_notebook_traceback(lines: list[str], complete: bool) -> Block | None:
    """Read the traceback whose header is the first line."""
    header = _HEADER.match(lines[0][:400])
    if header is None:
        return None
    wanted = header["type"].rpartition(".")[2]
    frames: list[Frame] = []
    open_frame = False
    for index, line in enumerate(lines[1:MOST_LINES], start=1):
        if not line.strip():
            continue
        frame = _frame_in(line)
        if frame is not None:
            frames.append(frame)
            open_frame = True
            continue
        if line.strip() == "...":  # what was cut out includes the head of the next frame
            open_frame = False
        arrow = _ARROW.match(line[:2000]) if open_frame else None
        if arrow:
            frames[-1] = _at(frames[-1], arrow["line"], arrow["text"])
        elif _starts_message(line, wanted):
            first = line.partition(":")[2].strip()
            message, taken = gather_message(first, lines[index + 1 :], complete)
            return Block(wanted, message, tuple(frames), index + 1 + taken)
    return Block(wanted, "", tuple(frames), min(len(lines), MOST_LINES)) if frames else None


def frames_without_header(lines: list[str]) -> tuple[Frame, ...]:
    """Read the frames above an exception line, of a traceback whose beginning is lost."""
    frames: list[Frame] = []
    for line in lines:
        frame = _frame_in(line)
        arrow = _ARROW.match(line[:2000]) if frames and frame is None else None
        if frame is not None:
            frames.append(frame)
        elif arrow is not None:
            frames[-1] = _at(frames[-1], arrow["line"], arrow["text"])
        elif line.strip() and not _CONTEXT.match(line[:2000]):
            frames.clear()
    return tuple(frames)


def _starts_message(line: str, wanted: str) -> bool:
    name, colon, _ = line.partition(":")
    name = name.strip()
    return (
        name.rpartition(".")[2] == wanted and (bool(colon) or name == line.strip()) and line[:1] not in " \t"
    )


def _frame_in(line: str) -> Frame | None:
    if len(line) > 4000:
        return None
    # Colab joins its count of hidden frames to the next frame.
    line = _COLLAPSED.sub("", line)
    if _CONTEXT.match(line) or _ARROW.match(line):
        return None
    for pattern in (_CELL, _EDITOR_FRAME, _NEW_FRAME, _OLD_FRAME, _PLAIN_FRAME, _LOST_FRAME):
        match = pattern.match(line)
        if match:
            fields = match.groupdict()
            if pattern is _LOST_FRAME:
                fields["path"] = "<ipython-input->"
            # VS Code omits the function.
            unnamed = "" if pattern is _EDITOR_FRAME else "<module>"
            name = (fields.get("function") or unnamed).strip()
            # IPython prints the qualified name; other tracebacks have the plain one.
            name = "<module>" if name.startswith("<cell line") else name.rpartition(".")[2]
            cell = int(fields["cell"]) if fields.get("cell") else cell_number(fields["path"])
            return text_frame(fields["path"], fields.get("line") or "0", name, cell=cell)
    return None


def _at(frame: Frame, line: str, text: str) -> Frame:
    text = "" if "Could not get source" in text else text.strip()
    return Frame(frame.path, int(line[:9]), frame.function, text, frame.library, frame.cell)
