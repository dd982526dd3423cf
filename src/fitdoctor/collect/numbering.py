"""Compare how the training and the validation data number their classes or words."""

from __future__ import annotations

import re
from typing import Any

from fitdoctor.facts import Numbering

_MOST = 100_000
_CLASSES = re.compile(r"(?i)class|label|categor|vocab|target")
"""What lists of names are called whose positions are numbers; other lists are of files, say."""


def numbered_apart(training: Any, validation: Any) -> Numbering | None:
    """Return a name that two loaders of one class give different numbers."""
    if type(training) is not type(validation) or training is validation:
        return None
    ours, theirs = getattr(training, "__dict__", {}), getattr(validation, "__dict__", {})
    for attribute in ours.keys() & theirs.keys():
        first, second = _numbers(attribute, ours[attribute]), _numbers(attribute, theirs[attribute])
        for name in first.keys() & second.keys():
            if first[name] != second[name]:
                return Numbering(type(training).__name__, attribute, name, first[name], second[name])
    return None


def _numbers(attribute: str, value: Any) -> dict[str, int]:
    """Return the names that an attribute numbers from 0 or 1; none if it does something else."""
    if type(value) in (list, tuple) and _CLASSES.search(attribute) and len(value) <= _MOST:
        value = {name: number for number, name in enumerate(value) if type(name) is str}
    if type(value) is not dict or not 1 < len(value) <= _MOST:
        return {}
    if any(type(name) is not str or type(number) is not int for name, number in value.items()):
        return {}
    numbers = sorted(value.values())
    counted = numbers[0] in (0, 1) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return value if counted else {}
