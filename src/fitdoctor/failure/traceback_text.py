"""Reads Python tracebacks from lines of text: complete, cut, or mixed with log output."""

from __future__ import annotations

import os
import re

from fitdoctor.facts import Frame
from fitdoctor.failure.frames import cell_number, frame_of
from fitdoctor.failure.pasted import indented_again
from fitdoctor.records import dataclass

HEADER = "Traceback (most recent call last)"
MOST_LINES = 6000

_FRAME = re.compile(r'^\s*(?:> ?)?File "(?P<path>[^"\n]+)",? line (?P<line>\d+)(?:,? ?in (?P<function>.*))?$')
_BARE_FRAME = re.compile(
    r"^\s*File (?P<path>(?:[A-Za-z]:)?[^\":\n]{1,1000}):(?P<line>\d+)(?: in (?P<function>.{1,300}))?$"
)
"""Spyder's, without quotes: `File c:\\me\\train.py:9 in loss`."""
_CELL_FRAME = re.compile(r"^\s+(?P<path>Cell In ?\[\d+\]), line (?P<line>\d+)(?P<function>)$")
_EXCEPTION = re.compile(r"^(?P<type>[A-Za-z_]\w*(?:\.\w+)*)(?::(?: (?P<message>.*))?)?$")
_NOISE = re.compile(
    r"""^(?:
        \d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d
      | [IWEF]\d{4}[ ]\d\d:\d\d:
      | [A-Z]{4,8}(?::|[ ]-|[ ]\[|$)
      | Epoch[ ]\d+(?:/\d+)?(?:$|:)
      | [ ]*\d+/(?:\d+|Unknown)[ ]*(?:\[|━|-[ ])
      | To[ ]enable[ ]the[ ]following[ ]instructions
    )""",
    re.VERBOSE,
)
_STOP = re.compile(
    r"""^(?:
        ={5,} | _{5,}[ ] | -{20,}
      | (?:FAILED|PASSED|ERROR)[ ]\S+::
      | (?:\S.{0,300}\.py|sys|<\w+>):\d{1,7}:[ ]\w*Warning\b
      | Exception[ ](?:ignored[ ]in|in[ ]thread)
      | Process[ ](?:finished[ ]with|completed[ ]with|\w+-\d+)
      | Error:[ ]Process[ ]completed | make:[ ]\*\*\* | srun: | Terminated$ | Killed\b
      | Segmentation[ ]fault | Aborted\b | Bus[ ]error
      | [ ]*(?:Cell|Input)[ ]In[ ]?\[\d+\],[ ]line | (?:SyntaxError|IndentationError|TabError):
      | CPU[ ]times: | Wall[ ]time: | [ ]*File[ ]"[^"]{1,300}",[ ]line[ ]\d+$
      | >>>[ ] | In[ ]\[\d+\]: | \$[ ] | \(\w{1,30}\)[ ]\S+@\S+:
      | \w{2,30}(?:Error|Exception)[ ]{5,}Traceback
      | During[ ]handling[ ]of[ ]the[ ]above[ ]exception
      | The[ ]above[ ]exception[ ]was[ ]the[ ]direct[ ]cause
    )""",
    re.VERBOSE,
)
_CHAIN = (
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
)
_GOES_ON = re.compile(
    r"""^\s*(?:
        (?:Call[ ])?[Aa]rguments[ ]received | .{0,2000}[ ]was[ ]defined[ ]here: | The[ ]tensor[ ]
      | Detected[ ]at[ ]node | Node:[ ] | Errors[ ]may[ ]have[ ]originated | Function[ ]call[ ]stack:
      | Operation[ ]defined[ ]at | Original[ ]stack[ ]trace | Input[ ]Source[ ]operations
      | \[\[ | \d+[ ]successful[ ]operations | \d+[ ]root[ ]error | Traceback[ ]\(most
      | File[ ]" | <stack[ ]traces | • | ``` | The[ ]graph[ ]tensor[ ]has[ ]name
    )""",
    re.VERBOSE,
)
_ARGUMENTS = re.compile(r"^\s*(?:Call arguments|Arguments) received(?: by .*)?:\s*$")
_NESTED = re.compile(
    r"^(?:\{\{function_node [^}]*\}\}\s*)*[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Iteration|Exit)\b"
)
_TAIL_END = re.compile(r"\[Op:[\w./-]+\]")
_ASKS = re.compile(
    r"(?:>\s*)?(?:I|I['´`]m|My|How|Why|What|Can|Could|Do|Does|Any|Please|Thanks?|Here|May|Hi|Hello|When|But|So|Is|Are"
    r"|This is)\b[ ,]"
)
"""A paragraph in which a person asks about the exception above it."""
_AT_THE_END = 60
"""Paragraphs at the end of the text belong to the last message, up to this number of lines."""


@dataclass(frozen=True)
class Block:
    """One exception as found in the text."""

    type: str
    message: str
    frames: tuple[Frame, ...]
    lines: int
    """Its number of lines."""
    called: str = ""
    """What the code above it calls, if there are no frames."""


def text_frame(path: str, line: str, function: str, text: str = "", cell: int | None = None) -> Frame:
    """Return a frame of saved text, with `~` expanded if the file exists on this machine."""
    if path.startswith("~"):
        expanded = os.path.expanduser(path)
        path = expanded if os.path.isfile(expanded) else path
    return frame_of(path, int(line[:9]), function.strip(), text, here=False, cell=cell)


def is_chain(line: str) -> bool:
    """Whether the line joins two tracebacks."""
    return line.rstrip().endswith(_CHAIN)


def parse_traceback(lines: list[str], complete: bool) -> Block | None:
    """Read the traceback whose header is the first line.

    Args:
        lines: the header and what follows it, without prefixes.
        complete: the text ends with them.
    """
    indent = len(lines[0]) - len(lines[0].lstrip())
    body = [_outdented(line, indent) for line in lines[1:MOST_LINES]]
    frames: list[Frame] = []
    flat = False
    for index, line in enumerate(body):
        if not line.strip():
            continue
        frame = None
        if len(line) < 4000:
            frame = _FRAME.match(line) or _BARE_FRAME.match(line) or _CELL_FRAME.match(line)
        if frame:
            flat = line[0] == "F"
            cell = cell_number(frame["path"])
            frames.append(text_frame(frame["path"], frame["line"], frame["function"] or "", cell=cell))
        elif flat and not frames[-1].text and not _exception_name(line):  # the page removed the indentation
            frames[-1] = _with_text(frames[-1], line.strip())
        elif line[0] in " \t^~":  # Python's markers under a multi-line statement may begin anywhere
            if frames and not frames[-1].text and set(line) - set(" ^~"):
                frames[-1] = _with_text(frames[-1], line.strip())
        elif not _is_noise(line) and not _goes_on_after(body, index):
            return _ended(body, index, frames, complete)
    return Block("", "", tuple(frames), len(body) + 1) if frames else None


def _outdented(line: str, indent: int) -> str:
    return line[indent:] if indent and not line[:indent].strip() else line


def _is_noise(line: str) -> bool:
    """Whether a line is log output inside a traceback: two streams written to one file."""
    return bool(_NOISE.match(line))


def _goes_on_after(body: list[str], index: int) -> bool:
    """Whether the line is not an exception and more frames follow right after it."""
    if _exception_name(body[index]):
        return False
    return any(_FRAME.match(line[:4000]) for line in body[index + 1 : index + 4])


def _exception_name(line: str) -> str:
    """Return the dotted name of the exception that the line reports, or ""."""
    head = _EXCEPTION.match(line[:20_000])
    if head is None:
        return ""
    name = head["type"]
    # `done` and `loss: 0.3` are program output; exception names are capitalized or dotted.
    return name if "." in name or name.lstrip("_")[:1].isupper() else ""


def _ended(body: list[str], index: int, frames: list[Frame], complete: bool) -> Block | None:
    """Return the block that ends at this line, with its exception or, if it was cut, without."""
    name = _exception_name(body[index])
    if not name:
        return Block("", "", tuple(frames), index + 1) if frames else None
    first = body[index][len(name) :].removeprefix(":").strip()
    message, taken = gather_message(first, body[index + 1 :], complete)
    return Block(name, message, tuple(frames), index + 2 + taken)


def _with_text(frame: Frame, text: str) -> Frame:
    return Frame(frame.path, frame.line, frame.function, text, frame.library, frame.cell)


# --- the message --------------------------------------------------------------------------------------------


def gather_message(first: str, following: list[str], complete: bool) -> tuple[str, int]:
    """Return the whole message of an exception, and the number of further lines it takes."""
    if first.startswith(("in user code:", "in converted code:")):
        again = indented_again(following)
        if again is not None:
            rest, more = gather_message("", following[len(again) :], complete)
            return "\n".join((first, *again, rest)).rstrip(), len(again) + more
        taken = _indented_lines(following)
    else:
        taken = _message_lines(first, following, complete)
    lines = following[:taken]
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join((first, *lines)).rstrip(), taken


def _indented_lines(lines: list[str]) -> int:
    for index, line in enumerate(lines[:MOST_LINES]):
        if line.strip() and not line.startswith(("    ", "\t")):
            return index
    return min(len(lines), MOST_LINES)


def _message_lines(first: str, lines: list[str], complete: bool) -> int:
    stop = _first_stop(first, lines)
    arguments = next((i for i in range(stop) if _ARGUMENTS.match(lines[i])), None)
    if arguments is not None:
        return _after_bullets(lines, arguments, stop)
    if complete and stop == len(lines) and stop <= _AT_THE_END:
        return _before_open_fence(first, lines, stop)
    # The message extends to the arguments of a layer, or to the tail of an operation.
    sure = stop if first.startswith("Exception encountered when calling") else _quoted_until(first, lines)
    for index in range(min(sure, stop), stop):
        if not lines[index].strip() and not _continues(first, lines, index, stop):
            return index
    return stop


def _first_stop(first: str, lines: list[str]) -> int:
    lines = lines[:MOST_LINES]
    for index in range(_quoted_until(first, lines), len(lines)):
        line = lines[index][:600]
        if _STOP.match(line) or _is_noise(line) or HEADER in line:
            return index
    return len(lines)


def _quoted_until(first: str, lines: list[str]) -> int:
    """Return the position of a graph error's tail; before it, a generator's tracebacks may be quoted."""
    nested = bool(_NESTED.match(first)) and bool(lines) and lines[0].startswith(HEADER)
    if not nested and not first.startswith("Graph execution error"):
        return 0
    return next((index for index, line in enumerate(lines) if _TAIL_END.search(line[-400:])), 0)


def _after_bullets(lines: list[str], head: int, stop: int) -> int:
    index = head + 1
    while index < stop and (lines[index].startswith((" ", "\t", "•")) and lines[index].strip()):
        index += 1
    rest = next((i for i in range(index, min(stop, index + 3)) if _ARGUMENTS.match(lines[i])), None)
    return index if rest is None else _after_bullets(lines, rest, stop)


def _continues(first: str, lines: list[str], index: int, stop: int) -> bool:
    """Whether the message continues after a blank line."""
    after = next((i for i in range(index, stop) if lines[i].strip()), None)
    if after is None:
        return False
    return bool(_GOES_ON.match(lines[after][:2100])) or (not first and index == 0)


def _before_open_fence(first: str, lines: list[str], stop: int) -> int:
    """Return where the message stops: before a code fence that was opened before the traceback."""
    asked = next(
        (index for index in range(1, stop) if _ASKS.match(lines[index]) and not lines[index - 1].strip()),
        stop,
    )
    stop = asked if first else stop
    fences = [index for index in range(stop) if lines[index].strip().startswith("```")]
    if fences and lines[fences[0]].strip() == "```":
        above = lines[fences[0] - 1] if fences[0] else first
        if above.strip() and not above.rstrip().endswith(":"):  # messages introduce the code that they quote
            return fences[0]
    return fences[-1] if len(fences) % 2 else stop
