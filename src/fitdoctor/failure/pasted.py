"""Undoes changes from pasting or other programs: quote marks, backticks, lost indentation, R, editors."""

from __future__ import annotations

import re

_TAIL = 2_000_000
"""Characters searched at the end of a log; pasted text is short."""
_QUOTED = re.compile(r"^[>\s`|]+(?=[A-Za-z_])")
_RETICULATE = re.compile(
    r"^(?P<call>[ ]*Error in py_(?:call|run)\w*\([^\n]{0,500}\) ?:)\s{1,8}(?=_?[A-Z])", re.MULTILINE
)
"""R prints Python's exception after its own call, indented."""
_DEBUGGER = re.compile(
    r"^Exception has occurred: (?P<type>[\w.]{1,100})[^\n]{0,300}\n"
    r"(?P<message>\S[^\n]{0,5000}(?:\n(?![ \t]+File \")[^\n]{0,5000}){0,40}?)"
    r"(?P<frames>(?:\n[ \t]+\S[^\n]{0,5000})*)(?=\n\S|\n*$)",
    re.MULTILINE,
)
"""VS Code's box: the type, the message on the next line, and the frames below it."""
_EVALUATED = re.compile(r"^\{(?P<type>[A-Z]\w{1,60}Error)\} ?", re.MULTILINE)
"""What PyCharm shows for an expression that raises: `{ValueError}message`."""
_RECORD = re.compile(
    r"\{\s*\"name\": \"(?P<type>\w{1,60})\",\s*\"message\": \"(?P<message>(?:[^\"\\]|\\.){0,20000})\",\s*\"stack\": \""
)
"""What VS Code copies of a cell's error: a JSON object."""
_WITHOUT_HEAD = re.compile(
    r"(?:^[ \t]+(?:[A-Za-z]:)?[/\\<~]\S*:\d+ \w+(?:  \*{1,2})?\n(?:[ \t]+\S[^\n]*\n)?){2,}"
    r"\n?(?=[ \t]+(?P<type>\w{1,60}(?:Error|Exception)): )",
    re.MULTILINE,
)
"""The frames of AutoGraph, without the line \"in user code:\" above them."""
_FRAME = re.compile(r"^(?:File [\"']|(?:[A-Za-z]:)?[/\\<~][^\n]{0,1000}?:\d{1,7} \w)")
_TYPED = re.compile(r"^(?:[a-z_]\w*\.)*_?[A-Z]\w*(?:Error|Exception): ")


def without_wrapping(text: str) -> str:
    """Return the text with exceptions from R and VS Code rewritten as Python prints them."""
    tail = text[-_TAIL:]
    record = _RECORD.search(tail)
    if record is not None:
        stack = _unescaped(tail[record.end() :].rstrip('"}\n '))
        # The stack ends with the exception, unless it was cut.
        last = "" if stack.rstrip().endswith(_unescaped(record["message"])[-40:]) else f"\n{record['type']}: "
        return f"{stack}{last}{_unescaped(record['message']) if last else ''}"
    if "in user code:" not in text and "in converted code:" not in text and len(text) <= _TAIL:
        text = tail = _WITHOUT_HEAD.sub(r"\g<type>: in user code:\n\n\g<0>", text)
    if not any(words in tail for words in ("Error in py_", "Exception has occurred: ", "Error}")):
        return text
    tail = _DEBUGGER.sub(_as_traceback, _RETICULATE.sub("\\g<call>\n", _EVALUATED.sub("\\g<type>: ", tail)))
    return text[:-_TAIL] + tail


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda mark: {"n": "\n", "t": "\t"}.get(mark[1], mark[1]), text)


def _as_traceback(box: re.Match[str]) -> str:
    head = f"Traceback (most recent call last):{box['frames']}\n" if box["frames"] else ""
    return f"{head}{box['type']}: {box['message']}"


def without_marks(lines: list[str]) -> list[str]:
    """Remove quote marks, indentation or backticks from the lines, as found on the first one."""
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
    return re.sub(r"`\.?$", "", line.rstrip()).replace("` `", " ") if ticks else line


def indented_again(lines: list[str]) -> list[str] | None:
    """Restore the indentation of AutoGraph's "in user code:"; None if it was not lost or not recognized."""
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
