"""Extracts the real message and its details from TensorFlow and Keras errors of all versions."""

from __future__ import annotations

import ast
import re

from fitdoctor.facts import Frame
from fitdoctor.failure.frames import frame_of
from fitdoctor.failure.older_words import in_todays_words
from fitdoctor.records import dataclass, field

LONGEST = 200_000
"""Characters of a message that are read; some messages quote whole tensors."""

_ANSI = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)|\x1b[@-Z\\-_]?")
"""Terminal colours, links and titles, including truncated ones."""
_LOST_ANSI = re.compile(r"(?:\\x1b|␛)?\[(?:0|1|22)m")
"""Copying from a web page loses the escape character and leaves `[1m`."""

_CALLING = re.compile(
    r"""\s*Exception[ ]encountered[ ]when[ ]calling[ ]
    (?: layer[ ](?P<quote>["'])(?P<layer>[^"'\n]*)(?P=quote)[ ](?:"[ ]+f")?\(type[ ](?P<class>[^)\n]*)\)
      | (?P<caller>[^\n]{1,200}?)\.(?P<method>\w{1,60})\(\)
    )\.?[ \t]*(?:\n|$)""",
    re.VERBOSE,
)
_ARGUMENTS = re.compile(r"^[ \t]*(?:Call arguments|Arguments) received(?: by [^\n]*)?:[ \t]*$", re.MULTILINE)
_INFERRING = re.compile(
    r"""\s*Could[ ]not[ ]automatically[ ]infer[ ]the[ ]output[ ]shape[ ]/[ ]dtype[ ]of[ ]
    (?P<quote>['"])(?P<layer>[^'"\n]*)(?P=quote)[ ]\(of[ ]type[ ](?P<class>\w+)\)[^\n]*Error[ ]encountered:[ \t]*\n""",
    re.VERBOSE,
)
_BULLET = re.compile(r"^[ \t]*[•*·][ \t]?(?P<name>\w+)=(?P<value>.*)$")

_FRAME = re.compile(
    r"""^(?:>>>)?\s*File (?P<quote>["'])(?P<path>[^"'\n]+)(?P=quote), line (?P<line>\d+)(?:, in (?P<function>.*))?$"""
)
_OLD_FRAME = re.compile(
    r"^\s*(?P<path>(?:[A-Za-z]:)?[^\s:][^:\n]*|<[^>\n]+>):(?P<line>\d+) (?P<function>[\w<>]+)\s*\*{0,2}$"
)
"""AutoGraph's frames before TensorFlow 2.7: `/path/training.py:571 train_function  *`."""
_TYPED = re.compile(r"^(?P<type>(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*): ?(?P<message>.*)$", re.DOTALL)
_AUTOGRAPH = ("in user code:", "in converted code:")
"""The second is that of TensorFlow 2.0 and 2.1."""
_RELATIVE = re.compile(r"^\s*relative to (?P<folder>[^\n]+):$")
_BELOW = re.compile(r"^(?P<margin>\s*)(?P<path>(?![/\\<~]|[A-Za-z]:)\S+\.py:\d+ [\w<>]+)(?=\s*\*{0,2}$)")
"""A frame whose path begins at the folder above."""

_GRAPH = "Graph execution error:"
_DETECTED = re.compile(
    r"^Detected at node (?P<quote>['\"]?)(?P<node>[^'\"\s]+)(?P=quote) defined at \(most recent call last\):"
)
_NODE_LINE = re.compile(r"^Node: '(?P<node>[^']+)'\s*$")
_ROOT_ERRORS = re.compile(r"^\s*\d+ root error\(s\) found\.\s*$")
_ROOT_ERROR = re.compile(r"^\s*\((?P<index>\d+)\) (?:(?P<code>[A-Z][A-Za-z_ ]{2,40}):)?\s*(?P<message>.*)$")
_NODE_TAIL = re.compile(r"\[\[\{?\{?[Nn]ode:? (?P<node>[^\s}\]]+)")
_OP_TAIL = re.compile(r"\[Op:(?P<op>[\w./-]+)\](?: name:[^\n]*)?\s*$")
_TAIL_LINE = re.compile(
    r"""^\s*(?:
        \[\[(?:\{\{node[ ]|[Nn]ode:?[ ]|[A-Za-z_][\w/.-]*\]\])
      | Errors[ ]may[ ]have[ ]originated | Function[ ]call[ ]stack: | Operation[ ]defined[ ]at:
      | Original[ ]stack[ ]trace[ ]for | Input[ ]Source[ ]operations | \d+[ ]successful[ ]operations\.
      | Hint:[ ]If[ ]you[ ]want[ ]to[ ]see
    )""",
    re.VERBOSE,
)
_FUNCTION_NODE = re.compile(r"^\s*(?:\{\{function_node [^}\n]*\}\}\s*)+")
_IN_PIPELINE = re.compile(
    r"^\s*Error in user-defined function passed to \S+ transformation with iterator: [\w:\[\]]+: "
)
"""tf.data's own envelope around what failed in a map function."""
_OP_OF_NODE = re.compile(r"\{\{node (?P<node>[^}\s]+)\}\} = (?P<operation>\w+)[\[(]")
_OP_NAMED = re.compile(r"\(op: '(?P<operation>\w+)'\)")
_DEFINED_AT = re.compile(r"\(defined at (?P<path>[^\s()][^()\n]*?):(?P<line>\d+)\)")
_STACK_HEADER = re.compile(
    r"^\s*(?:Operation defined at: \(most recent call last\)|Original stack trace for '[^'\n]*':)\s*$"
)

_MADE_HERE = re.compile(r"^.* was defined here:[ \t]*$", re.MULTILINE)
_MADE_IN = re.compile(
    r"(?:it was defined in|Defined in:|but it is defined at) (?:FuncGraph\(name=)?(?P<graph>[^,);\s]+)"
)
_TRACEBACK = "Traceback (most recent call last):"


@dataclass(frozen=True)
class Quoted:
    """An exception quoted in the message with its traceback, from a generator or py_function."""

    type: str
    message: str
    frames: tuple[Frame, ...] = ()


@dataclass
class Message:
    """The content of a message, without its wrappers."""

    text: str = ""
    dialect: str = "bare"
    type: str = ""
    """The exception type in AutoGraph's text; "" if it has none."""
    layer: str = ""
    layer_class: str = ""
    arguments: tuple[tuple[str, str], ...] = ()
    node: str = ""
    operation: str = ""
    frames: list[Frame] = field(default_factory=list)
    """The frames that AutoGraph quotes, outermost first."""
    definition: tuple[Frame, ...] = ()
    made_at: tuple[Frame, ...] = ()
    made_in: str = ""
    quoted: Quoted | None = None


def plain_text(text: str) -> str:
    """The text without terminal colours."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return text


def read_message(raw: str, *, here: bool = True, reworded: bool = True) -> Message:
    """Split a message into its parts.

    Args:
        raw: the exception's text as it was raised or printed.
        here: whether its files are on this machine.
        reworded: put the words of older versions into those of today.
    """
    message = Message()
    text = _unescaped(plain_text(raw[:LONGEST]))
    if "[0m" in text:
        text = _LOST_ANSI.sub("", text)
    for _ in range(40):  # wrappers nest: a layer in a model in AutoGraph
        inner = _opened(text, message, here)
        if inner is None:
            break
        text = inner
    text = _without_graph_parts(text, message, here)
    text = _without_scope_parts(text, message, here)
    _note_operation(text, message)
    message.text = text.strip()
    if reworded:
        message.text = in_todays_words(message.text, message.node, message.operation)
    return message


def _unescaped(text: str) -> str:
    """Restore the line breaks of a KeyError, whose text is the repr of its argument."""
    if "\\n" in text and "\n" not in text and text[:1] in "'\"" and text[-1:] == text[:1]:
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return text
        return plain_text(value) if isinstance(value, str) else text
    return text


# --- envelopes ----------------------------------------------------------------------------------------------


def _opened(text: str, message: Message, here: bool) -> str | None:
    """Return the content of the outermost wrapper, or None if there is none."""
    calling = _CALLING.match(text)
    if calling:
        return _from_calling(text, calling, message)
    inferring = _INFERRING.match(text)
    if inferring:
        message.layer, message.layer_class = inferring["layer"], inferring["class"]
        return text[inferring.end() :]
    if text.lstrip().startswith(_AUTOGRAPH):
        return _from_autograph(text, message, here)
    return None


def _from_calling(text: str, calling: re.Match[str], message: Message) -> str:
    # The innermost wrapper is nearest to the cause, so it overrides the outer ones.
    message.layer = calling["layer"] or ""
    message.layer_class = calling["class"] or (calling["caller"] or "").rpartition(".")[2]
    if message.dialect == "bare":
        message.dialect = "wrapped"
    body = text[calling.end() :]
    start, end = _arguments_head(body)
    if end:
        message.arguments = _bullets(body[end:])
        body = body[:start]
    return body.strip("\n")


def _arguments_head(body: str) -> tuple[int, int]:
    """Return the span of the last "arguments received" headline, the outermost wrapper's; (0, 0) if there is none."""
    place = body.rfind("rguments received")
    for _ in range(20):
        if place < 0:
            break
        start = body.rfind("\n", 0, place) + 1
        head = _ARGUMENTS.match(body, start)
        if head:
            return start, head.end()
        place = body.rfind("rguments received", 0, place)
    return 0, 0


def _bullets(text: str) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for line in text.split("\n"):
        bullet = _BULLET.match(line)
        if bullet:
            found.append((bullet["name"], bullet["value"].strip()))
        elif found and line.strip():
            name, value = found[-1]
            found[-1] = (name, f"{value}\n{line.strip()}")
    return tuple(found)


def _from_autograph(text: str, message: Message, here: bool) -> str:
    message.dialect = "autograph"
    lines = text.lstrip().partition("\n")[2].strip("\n").split("\n")
    if lines[0].startswith("    "):
        lines = _dedented(lines)
    relative = _RELATIVE.match(lines[0]) if lines else None
    if relative is not None:
        folder = relative["folder"].rstrip("/\\")
        lines = [
            _BELOW.sub(lambda path: f"{path['margin']}{folder}/{path['path']}", line) for line in lines[1:]
        ]
    index = 0
    while index < len(lines):
        line = lines[index]
        frame = _frame_in(line, here)
        if frame is not None and len(line) - len(line.lstrip()) < 4:
            code = lines[index + 1] if index + 1 < len(lines) else ""
            if code.startswith("    ") and _frame_in(code, here) is None:
                frame = _with_text(frame, code.strip())
                index += 1
            message.frames.append(frame)
        elif line.strip() and not line.startswith("    "):
            break
        index += 1
    rest = "\n".join(lines[index:]).rstrip()
    typed = _TYPED.match(rest)
    if typed is None:
        return rest
    message.type = typed["type"].rpartition(".")[2]
    return typed["message"]


def _dedented(lines: list[str]) -> list[str]:
    return [line[4:] if line.startswith("    ") else line for line in lines]


def _frame_in(line: str, here: bool) -> Frame | None:
    if len(line) > 4000:
        return None
    match = _FRAME.match(line) or _OLD_FRAME.match(line)
    if match is None:
        return None
    function = (match["function"] or "").strip().rstrip("* ").strip()
    return frame_of(match["path"], int(match["line"][:9]), _function_name(function), here=here)


def _function_name(name: str) -> str:
    # AutoGraph calls a lambda "None".
    return "<lambda>" if name == "None" else name


def _with_text(frame: Frame, text: str) -> Frame:
    return Frame(frame.path, frame.line, frame.function, text, frame.library, frame.cell)


def read_frames(lines: list[str], *, here: bool = True) -> tuple[list[Frame], int]:
    """Return the frames at the start of the lines, and the number of lines they take."""
    frames: list[Frame] = []
    end = 0
    for index, line in enumerate(lines):
        frame = _frame_in(line, here)
        if frame is not None:
            frames.append(frame)
        elif frames and line.startswith(("  ", "\t", ">>> ")) and not _TAIL_LINE.match(line):
            text = line.removeprefix(">>> ").strip()
            if not frames[-1].text and set(text) - set("^~ "):
                frames[-1] = _with_text(frames[-1], text)
        elif line.strip() not in ("", ">>>"):
            break
        end = index + 1
    return frames, end


# --- graph failures -----------------------------------------------------------------------------------------


def _without_graph_parts(text: str, message: Message, here: bool) -> str:
    """Remove the stacks and tails of a graph execution error; the cause is between them."""
    graph = text.lstrip().startswith(_GRAPH)
    stripped = _FUNCTION_NODE.sub("", text.lstrip())
    stripped = stripped.removeprefix(_GRAPH).lstrip("\n")
    lines = stripped.split("\n")
    body, definitions = _without_definitions(lines, message, here)
    if not definitions and _looks_like_run_time(stripped):
        graph = True
    body = _first_root_error(body, message)
    body = _without_quoted(body, message, here)
    cut = _without_tail(body, message, here)
    if definitions:
        message.definition = tuple(definitions)
    if graph:
        message.dialect = "graph"
    result = _FUNCTION_NODE.sub("", _IN_PIPELINE.sub("", "\n".join(cut)))
    operation = _OP_TAIL.search(result)
    if operation:
        message.operation = message.operation or _eager_operation(operation["op"])
        result = result[: operation.start()]
    return result


def _looks_like_run_time(text: str) -> bool:
    """Whether the message has only tails, as TensorFlow before 2.8 wrote it."""
    return "[Op:__inference_" in text or "\nFunction call stack:" in text


def _without_definitions(lines: list[str], message: Message, here: bool) -> tuple[list[str], list[Frame]]:
    """Remove every "Detected at node … defined at" with its stack."""
    body: list[str] = []
    frames: list[Frame] = []
    index = 0
    while index < len(lines):
        detected = _DETECTED.match(lines[index])
        node_line = _NODE_LINE.match(lines[index])
        if detected:
            found, taken = read_frames(lines[index + 1 :], here=here)
            if not message.node:
                message.node = detected["node"]
                frames = found
            index += 1 + taken
            continue
        if node_line:
            message.node = message.node or node_line["node"]
        elif lines[index].strip() != "<stack traces unavailable>":
            body.append(lines[index])
        index += 1
    return body, frames


def _first_root_error(lines: list[str], message: Message) -> list[str]:
    """Return the first of several root errors; the others follow from it or repeat it."""
    index = next((place for place, line in enumerate(lines) if _ROOT_ERRORS.match(line)), None)
    if index is None:
        return lines
    body: list[str] = []
    for line in lines[index + 1 :]:
        start = _ROOT_ERROR.match(line)
        if start and start["index"] != "0" and body:
            break
        body.append(start["message"] if start else line)
    operation = _OP_TAIL.search(lines[-1])
    if operation:
        message.operation = message.operation or _eager_operation(operation["op"])
    return body


def _without_quoted(lines: list[str], message: Message, here: bool) -> list[str]:
    """Remove the Python traceback quoted by the failure of a py_function or generator."""
    for index, line in enumerate(lines):
        if line.strip() != _TRACEBACK:
            continue
        head = next((text for text in lines[:index] if text.strip()), "")
        typed = _TYPED.match(_FUNCTION_NODE.sub("", head))
        if typed is None:
            return lines
        frames, taken = read_frames(lines[index + 1 :], here=here)
        said = "\n".join([typed["message"], *_after_head(lines[:index])]).strip()
        message.quoted = Quoted(typed["type"].rpartition(".")[2], said, tuple(frames))
        rest = lines[index + 1 + taken :]
        tail = next((place for place, text in enumerate(rest) if _TAIL_LINE.match(text)), len(rest))
        return [*lines[:index], *rest[tail:]]
    return lines


def _after_head(lines: list[str]) -> list[str]:
    start = next((index for index, text in enumerate(lines) if text.strip()), 0)
    return lines[start + 1 :]


def _without_tail(lines: list[str], message: Message, here: bool) -> list[str]:
    for index, line in enumerate(lines):
        if not _TAIL_LINE.match(line):
            continue
        tail = lines[index:]
        _read_tail(tail, message, here)
        return lines[:index]
    return lines


def _read_tail(tail: list[str], message: Message, here: bool) -> None:
    for index, line in enumerate(tail):
        node = _NODE_TAIL.search(line)
        if node and not message.node:
            message.node = node["node"]
        if _STACK_HEADER.match(line) and not message.definition:
            frames, _ = read_frames(tail[index + 1 :], here=here)
            message.definition = tuple(frames)
    if message.definition:
        return
    # The oldest form names one place only, sometimes on the line after the node.
    defined = _DEFINED_AT.search("\n".join(tail[:4]))
    if defined:
        frame = frame_of(defined["path"], int(defined["line"][:9]), "", here=here)
        message.definition = (frame,)


def _eager_operation(name: str) -> str:
    return "" if name.startswith("__inference") else name


def _note_operation(text: str, message: Message) -> None:
    if message.operation and message.node:
        return
    named = _OP_OF_NODE.search(text)
    if named:
        message.node = message.node or named["node"]
        message.operation = message.operation or named["operation"]
    by_name = _OP_NAMED.search(text)
    if by_name and not message.operation:
        message.operation = by_name["operation"]
    if message.node and not message.operation:
        last = re.sub(r"_\d+$", "", message.node.rpartition("/")[2])
        # Layer and scope names are lower case; operation names are not.
        if last[:1].isupper():
            message.operation = last


# --- tensors out of scope -----------------------------------------------------------------------------------


def _without_scope_parts(text: str, message: Message, here: bool) -> str:
    made = _MADE_IN.search(text)
    if made:
        message.made_in = made["graph"]
    here_line = _MADE_HERE.search(text)
    if here_line is None:
        return text
    lines = text[here_line.end() :].lstrip("\n").split("\n")
    frames, taken = read_frames(lines, here=here)
    message.made_at = tuple(frames)
    return "\n".join((text[: here_line.start()].rstrip(), *lines[taken:])).rstrip()
