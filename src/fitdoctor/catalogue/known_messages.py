"""What Keras and TensorFlow say when no judge of a cause has more than the words of the message.

The judges of the causes come first: they compare the message with the program and the data. The records of
`known_messages.txt` are for a text without either: a line from a log, a traceback of an older version, a message pasted
into a question.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

from fitdoctor.catalogue import Cause, catalogue
from fitdoctor.catalogue.rules import Rule, findings_from_failure, match_message
from fitdoctor.diagnosis import Confidence, Finding
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.frames import is_framework
from fitdoctor.failure.raised_by import (
    KERAS_CALL,
    is_beside_keras,
    is_of_another_library,
    raised_by,
    raised_by_backend,
)
from fitdoctor.records import dataclass, replace
from fitdoctor.source.models.merge_rules import MERGES
from fitdoctor.source.project import NO_FILES

BY_MESSAGE, BY_TYPE = "raised here", "raised by TensorFlow here"
"""The subject of a finding says what it rests on."""


@dataclass(frozen=True)
class KnownMessage:
    """A record of the table."""

    cause: str
    rule: Rule
    quoted: bool = False
    """Whether it counts only for an exception of a framework that the text shows, or whose message quotes a value."""


def _pattern(values: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(KERAS_CALL.pattern if value == "KERAS_CALL" else value for value in values))


def _names(values: list[str]) -> tuple[str, ...]:
    return tuple("" if name == "-" else name for name in values[0].split(", "))


_FIELDS: dict[str, Callable[[list[str]], Any]] = {
    "says": _pattern,
    "types": _names,
    "raised_in": _names,
    "place": _pattern,
    "node": _pattern,
    "of_framework": bool,
    "problem": "".join,
    "remedy": tuple,
    "also": _names,
    "confidence": lambda values: Confidence(values[0]),
    "subject": "".join,
}
"""The fields of a rule, and how to read their lines."""


@functools.cache
def known_messages() -> tuple[KnownMessage, ...]:
    """Return the records of `known_messages.txt`, in their order."""
    path = os.path.join(os.path.dirname(__file__), "known_messages.txt")
    with open(path, encoding="utf-8") as file:
        text = "".join(line for line in file if not line.startswith("#"))
    return tuple(_record(lines.split("\n")) for lines in re.split(r"\n{2,}", text.strip("\n")))


def _record(lines: list[str]) -> KnownMessage:
    fields: dict[str, list[str]] = {}
    for line in lines[1:]:
        name, _, value = line.partition(": ")
        fields.setdefault(name, []).append(value)
    quoted = bool(fields.pop("quoted", ()))
    fields = {"says": [], "subject": [BY_MESSAGE]} | fields
    return KnownMessage(
        lines[0], Rule(**{name: _FIELDS[name](values) for name, values in fields.items()}), quoted
    )


_RECEIVED = re.compile(r"\b(?:[Rr]eceived|Got|Found|You passed)\b:? ?[`'\"(\[<]?\w+")
"""Without a traceback, the style in which Keras quotes the rejected value."""


def known_by_words(failure: FailureFacts) -> dict[str, Cause]:
    """Return the cause that a message shows by its words alone, with a judge that says so; {} if there is none."""
    known = next(_matching(failure), None)
    if known is None:
        return {}
    cause, rule = replace(catalogue()[known.cause], judges=[]), known.rule

    def from_words(failure: FailureFacts) -> Iterator[Finding]:
        yield from findings_from_failure(cause, [rule], failure, NO_FILES)

    cause.after_failure(from_words)
    return {known.cause: cause}


_RAISES = re.compile(r"raise [A-Z]\w+(?:Error|Exception)\(")
_OF_NO_LIBRARY = ("SIGABRT", "DisconnectedInputError")
"""A crash, and what Theano raises for Keras: they are about the model, wherever they come from."""


def _is_own(failure: FailureFacts) -> bool:
    """Whether Keras or TensorFlow raised it, as far as the text shows."""
    last = failure.frames[-1] if failure.frames else None
    return last is None or not last.library or is_framework(last.path)


_OF_ANOTHER_TASK = "Check the task logs for an earlier error"


def _matching(failure: FailureFacts) -> Iterator[KnownMessage]:
    """Yield the records that match."""
    if _OF_ANOTHER_TASK in failure.message:
        return  # the error of that task is the reason
    beside = is_beside_keras(failure)
    elsewhere = is_of_another_library(failure.frames) or bool(raised_by(failure))
    if elsewhere and not beside and failure.type not in _OF_NO_LIBRARY and not raised_by_backend(failure):
        return
    last = failure.frames[-1] if failure.frames else None
    if last is not None and not last.library and _RAISES.match(last.text):
        return  # an exception of the program's own
    quoted = any(frame.library for frame in failure.frames) or _RECEIVED.search(failure.message)
    for known in known_messages():
        if known.rule.subject == BY_TYPE and beside or known.quoted and not (quoted and _is_own(failure)):
            continue
        merges = known.cause == "FIT320" and failure.layer_class in MERGES
        if not merges and match_message(failure, known.rule) is not None:
            yield known
