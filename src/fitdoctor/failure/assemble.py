"""Builds failure facts from an exception's type, message and frames."""

from __future__ import annotations

import builtins
import re

from fitdoctor.facts import FailureFacts, FailureSummary, Frame
from fitdoctor.failure.called import called_function
from fitdoctor.failure.frames import is_generated
from fitdoctor.failure.messages import Message, read_message


def assemble(
    type_name: str,
    raw_message: str,
    frames: tuple[Frame, ...],
    earlier: tuple[FailureSummary, ...] = (),
    *,
    from_text: bool,
    called: str = "",
) -> FailureFacts:
    """Return the facts of one failure, given those of the exception it was raised from and the call above it."""
    if from_text:
        raw_message = _without_prose(_short(type_name), raw_message)
    called = called_function(frames) or called
    if not _LOAD_WEIGHTS.isdisjoint((called, *(frame.function for frame in frames))):
        raw_message = _OF_SHAPES.sub(r"A weight has shape \1, but the saved weight has shape \2", raw_message)
    elif any(_LOSSES_OF_1.search(frame.path) for frame in frames):
        raw_message = _OF_SHAPES.sub(r"Shapes \2 and \1 are incompatible", raw_message)
    message = read_message(_in_words_of_python_3(_short(type_name), raw_message, frames), here=not from_text)
    joined = join_frames(frames, message)
    return FailureFacts(
        type=_short(type_name) or message.type,
        message=message.text,
        raw_message=raw_message,
        dialect=message.dialect,
        frames=joined,
        layer=message.layer,
        layer_class=message.layer_class,
        arguments=message.arguments,
        node=message.node,
        operation=message.operation,
        definition=message.definition,
        made_at=message.made_at,
        made_in=message.made_in,
        earlier=(*_quoted(message), *earlier),
        called=called_function(joined) or called,
        from_text=from_text,
        package=type_name.partition(".")[0] if "." in type_name else "",
    )


_OF_SHAPES = re.compile(r"^Shapes (\(.{1,80}\)) and (\(.{1,80}\)) are incompatible")
"""What TensorFlow says of a variable, and of labels and outputs."""
_LOSSES_OF_1 = re.compile(r"losses/(?:python/losses/)?(?:losses_impl|loss_ops)\.py")
"""The losses of TensorFlow 1 and of TF-Slim name the output first, and then the labels."""
_LOAD_WEIGHTS = frozenset({"load_weights", "restore"})
_KEY = re.compile(r"(?:'[^'\n]{1,200}'|\"[^\"\n]{1,200}\")(?=[\s).,;`*]|$)")
_OF_PYTHON = re.compile(
    r"'[\w.]{1,100}' object (?:is not|has no|does not|cannot)|(?:list|tuple|string) index out of range"
    r"|[\w.<>]{1,100}\(\) (?:takes|missing|got an unexpected|got multiple) |name '\w+' is not defined"
    r"|object of type '\w+' has no len"
)
"""What Python says in one line."""
_SILENT = ("StopIteration", "KeyboardInterrupt", "GeneratorExit")


def _without_prose(kind: str, message: str) -> str:
    """Return the message without the sentence that follows it in a question, where the kind of exception shows its end."""
    if kind in _SILENT and message.startswith("\n"):
        return ""
    key = _KEY.match(message) if kind == "KeyError" else None
    if key is not None:
        return key[0]
    return message.partition("\n")[0] if _OF_PYTHON.match(message) else message


_NO_MODULE = re.compile(r"^[Nn]o module named ['\"]?(?P<name>\w+(?:\.\w+)*)['\"]?[.!]?$")
_NO_NAME = re.compile(r"^cannot import name (?P<name>\w+)$")
_NO_ATTRIBUTE = re.compile(r"^'module' object has no attribute '(?P<name>\w+)'")
_ALIASES = {"tf": "tensorflow", "K": "keras.backend", "np": "numpy", "layers": "keras.layers"}
"""What programs call these modules."""


def _in_words_of_python_3(kind: str, message: str, frames: tuple[Frame, ...]) -> str:
    """Return a message about a missing name as Python 3 writes it: with the full name of the module, in quotes.

    Python 2 does not name the module, so it is read from the line that raised. An `assert` without a message is its line.
    """
    said, line = message.strip(), frames[-1].text if frames else ""
    if kind == "AssertionError" and not said and line.startswith("assert "):
        return line
    if said.startswith("invalid literal for long()"):
        return message.replace("for long()", "for int()", 1)
    if found := _NO_MODULE.match(said):
        name = found["name"]
        whole = re.search(rf"\b(?:from|import) +([\w.]+\.{re.escape(name)})\b", line)
        return f"No module named '{whole[1] if whole else name}'"
    if found := _NO_NAME.match(said):
        package = re.search(r"\bfrom +([\w.]+) +import\b", line)
        return f"cannot import name '{found['name']}'" + (f" from '{package[1]}'" if package else "")
    if found := _NO_ATTRIBUTE.match(said):
        owner = re.search(rf"\b([A-Za-z_]\w*)((?:\.\w+)*)\.{found['name']}\b", line)
        if owner:
            return f"module '{_ALIASES.get(owner[1], owner[1])}{owner[2]}' has no attribute '{found['name']}'"
    return message


def summary_of(failure: FailureFacts) -> FailureSummary:
    """Return the short form of a failure that another one was raised from."""
    last = failure.last_user_frame
    return FailureSummary(
        type=failure.type,
        message=failure.message,
        layer=failure.layer,
        layer_class=failure.layer_class,
        place=last.location if last else None,
    )


_GENERIC = frozenset({"Exception", "RuntimeError", "SystemExit", "AssertionError"})


def passes_on(type_name: str, message: str, inner: str) -> bool:
    """Whether an exception raised while handling another seems only to repeat it."""
    if len(inner) > 10 and inner[:80] in message:
        return True
    name = _short(type_name)
    return name in _GENERIC or not hasattr(builtins, name) and name.endswith(("Error", "Exception", "Failed"))


def hides_another(message: str) -> bool:
    """Whether the message is the one that Keras raises for any error in a Lambda layer's function."""
    return "could not automatically infer the shape of the Lambda's output" in message


def join_frames(frames: tuple[Frame, ...], message: Message) -> tuple[Frame, ...]:
    """Merge the frames that the message quotes into the traceback.

    AutoGraph runs a rewritten copy of the user's function, so the quoted frames replace those of the copy. If
    the traceback was filtered and shows no copy, the quoted frames are deeper than all that remain.
    """
    joined = list(frames)
    if message.frames:
        first = next((i for i, frame in enumerate(frames) if is_generated(frame.path)), len(frames))
        seen = set(map(_place, message.frames))
        deeper = [
            frame for frame in frames[first:] if not is_generated(frame.path) and _place(frame) not in seen
        ]
        quoted, before = _without_repeated(message.frames, list(frames[:first]))
        joined = [*before, *quoted, *deeper]
    if message.quoted:
        joined.extend(message.quoted.frames)
    return tuple(joined)


def _place(frame: Frame) -> tuple[object, ...]:
    """Return what identifies a line; all cells of a notebook have the same path."""
    return frame.path, frame.line, frame.cell


def _without_repeated(quoted: list[Frame], before: list[Frame]) -> tuple[list[Frame], list[Frame]]:
    """Drop quoted frames that the traceback also has: an unconverted caller may be in both."""
    while quoted and before:
        if _place(quoted[0]) not in map(_place, before):
            break
        quoted = quoted[1:]
    return quoted, before


def _quoted(message: Message) -> tuple[FailureSummary, ...]:
    if message.quoted is None:
        return ()
    users = [frame for frame in message.quoted.frames if not frame.library]
    place = users[-1].location if users else None
    return (FailureSummary(message.quoted.type, message.quoted.message, place=place),)


def _short(type_name: str) -> str:
    return type_name.rpartition(".")[2]
