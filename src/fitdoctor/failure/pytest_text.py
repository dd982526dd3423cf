"""Reads pytest failures: frames as `file:line:`, the exception after an `E`."""

from __future__ import annotations

import re

from fitdoctor.facts import Frame
from fitdoctor.failure.traceback_text import Block, is_chain, text_frame

SECTION = re.compile(r"^_{3,} .{1,400} _{3,}$")
_END = re.compile(r"^(?:={3,} |_{3,} .{1,400} _{3,}$)")
_ERROR = re.compile(r"^E(?:\s{1,12}|$)(?P<text>.*)$")
_FRAME = re.compile(
    r"^(?P<path>(?:[A-Za-z]:)?[^\s:][^:\n]{0,1000}):(?P<line>\d+): (?P<rest>in .+|[\w.]*)\s*$"
)
_TYPED = re.compile(r"^(?P<type>[A-Za-z_]\w*(?:\.\w+)*)(?::(?: (?P<message>.*))?)?$", re.DOTALL)
_DEF = re.compile(r"^\s*(?:async )?def (?P<name>\w+)\(")
MOST_LINES = 4000


def parse_pytest_failure(lines: list[str]) -> tuple[list[Block], int]:
    """Return the exceptions of one test section, chained ones first, and its number of lines."""
    end = next((i for i, line in enumerate(lines[1:MOST_LINES], start=1) if _END.match(line[:500])), None)
    section = lines[: end if end is not None else MOST_LINES]
    captured = next(
        (i for i, line in enumerate(section) if line.startswith("----") and "Captured" in line), None
    )
    section = section[:captured]
    blocks: list[Block] = []
    part: list[str] = []
    for line in [*section, ""]:
        if is_chain(line):
            blocks.extend(_part(part))
            part = []
        else:
            part.append(line)
    blocks.extend(_part(part))
    return blocks, len(section) if end is None else end


def _part(lines: list[str]) -> list[Block]:
    said = _error_lines(lines)
    frames, named = _frames(lines)
    if not said and not named:
        return []
    text = "\n".join(said)
    typed = _TYPED.match(text.partition("\n")[0])
    if typed and (named in ("", typed["type"].rpartition(".")[2]) or "." in typed["type"]):
        message = text.partition(":")[2].strip() if ":" in text.partition("\n")[0] else ""
        return [Block(typed["type"], message, tuple(frames), len(lines))]
    if named:
        return [Block(named, text, tuple(frames), len(lines))]
    return []


def _error_lines(lines: list[str]) -> list[str]:
    """Return the last block of `E` lines, dedented."""
    runs: list[list[str]] = [[]]
    for line in lines:
        if _ERROR.match(line):
            runs[-1].append(line[1:])
        elif runs[-1]:
            runs.append([])
    full = [run for run in runs if run]
    if not full:
        return []
    run = full[-1]
    first = len(run[0]) - len(run[0].lstrip())
    return [line[first:] if not line[:first].strip() else line.strip() for line in run]


def _frames(lines: list[str]) -> tuple[list[Frame], str]:
    frames: list[Frame] = []
    text = function = named = ""
    for index, line in enumerate(lines):
        frame = _FRAME.match(line) if len(line) < 2000 else None
        defined = _DEF.match(line) if not frame else None
        if line.startswith(">"):
            text = line[1:].strip()
        elif defined:
            function = defined["name"]
        elif frame:
            rest = frame["rest"]
            if rest.startswith("in "):
                following = lines[index + 1] if index + 1 < len(lines) else ""
                text = following.strip() if following.startswith("    ") else text
                function = rest[3:].strip()
            elif rest:
                named = rest.rpartition(".")[2]
            frames.append(text_frame(frame["path"], frame["line"], function, text))
            text = function = ""
    return frames, named
