"""Undoes what pasting and other programs do to a traceback: quoting marks, backticks, lost indentation, R, an editor."""

from __future__ import annotations

import re

from fitdoctor.patterns import pattern

_TAIL = 2_000_000
"""Characters at the end of a log that are looked at for what people paste, which is short."""
_QUOTED = pattern(r"^[>\s`|]+(?=[A-Za-z_])")
_RETICULATE = pattern(
    r"^(?P<call>[ ]*Error in py_(?:call|run)\w*\([^\n]{0,500}\) ?:)\s{1,8}(?=_?[A-Z])", re.MULTILINE
)
"""R prints Python's exception behind its own call, indented."""
_DEBUGGER = pattern(
    r"^Exception has occurred: (?P<type>[\w.]{1,100})[^\n]{0,300}\n"
    r"(?P<message>\S[^\n]{0,5000}(?:\n(?![ \t]+File \")[^\n]{0,5000}){0,40}?)"
    r"(?P<frames>(?:\n[ \t]+\S[^\n]{0,5000})*)(?=\n\S|\n*$)",
    re.MULTILINE,
)
"""VS Code's box: the type, the message on the next line, and the frames below it."""
_FRAME = pattern(r"^(?:File [\"']|(?:[A-Za-z]:)?[/\\<~][^\n]{0,1000}?:\d{1,7} \w)")
_TYPED = pattern(r"^(?:[a-z_]\w*\.)*_?[A-Z]\w*(?:Error|Exception): ")


def without_wrapping(text: str) -> str:
    """The text with the exceptions that R and VS Code wrap as Python itself prints them."""
    tail = text[-_TAIL:]
    if "Error in py_" not in tail and "Exception has occurred: " not in tail:
        return text
    tail = _DEBUGGER.sub(_as_traceback, _RETICULATE.sub("\\g<call>\n", tail))
    return text[:-_TAIL] + tail


def _as_traceback(box: re.Match[str]) -> str:
    head = f"Traceback (most recent call last):{box['frames']}\n" if box["frames"] else ""
    return f"{head}{box['type']}: {box['message']}"


def without_marks(lines: list[str]) -> list[str]:
    """The lines without the marks of a quotation, an indented block or code in backticks, as on the first of them."""
    found = _QUOTED.match(lines[0])
    if found is None:
        return lines
    prefix = found[0]
    ticks = "`" in prefix
    return [_bare(line, prefix, ticks) for line in lines]


def _bare(line: str, prefix: str, ticks: bool) -> str:
    if line.startswith(prefix):
        line = line[len(prefix) :]
    elif line.strip() in (prefix.strip(), prefix.strip() * 2):
        return ""
    return line.rstrip().removesuffix("`").replace("` `", " ") if ticks else line


def indented_again(lines: list[str]) -> list[str] | None:
    """AutoGraph's "in user code:" whose indentation was lost; None where it was not, or nothing else is recognised."""
    first = next((line for line in lines if line.strip()), "")
    if not _FRAME.match(first):
        return None
    typed = next((index for index, line in enumerate(lines[:200]) if _TYPED.match(line)), None)
    if typed is None:
        return None
    deep = [
        f"    {line}" if _FRAME.match(line) else f"        {line}" if line.strip() else "" for line in lines
    ]
    return [*deep[:typed], f"    {lines[typed]}"]
