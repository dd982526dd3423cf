"""Find what grows during training: lists of tensors, and functions retraced at every call."""

from __future__ import annotations

import collections
import math
import sys
from collections.abc import Mapping
from types import CodeType
from typing import Any

from fitdoctor.facts import KeptTensors, RetracedFunction
from fitdoctor.failure.frames import frame_of, is_library
from fitdoctor.failure.leaks import reached

SECONDS = 0.2
FEWEST_TENSORS = 20
LEAST_BYTES = 16 << 20
"""Smaller lists are not reported."""
FEWEST_TRACES = 20
LAST_TRACED = 9
"""The number of traces among the last ten calls, which TensorFlow records."""


def kept_tensors(roots: Mapping[str, object]) -> tuple[KeptTensors, ...]:
    """Return lists of many eager tensors reachable from the user's objects, without running user code."""
    found: dict[int, KeptTensors] = {}
    for place in reached(roots, seconds=SECONDS):
        value = place.value
        if not issubclass(type(value), (list, collections.deque)) or len(value) < FEWEST_TENSORS:
            continue
        sizes = [_bytes(item) for item in list(value)]
        number = sum(size > 0 for size in sizes)
        if number >= FEWEST_TENSORS and sum(sizes) >= LEAST_BYTES:
            found.setdefault(id(value), KeptTensors(place.path, place.attribute, number, sum(sizes)))
    return tuple(found.values())


def _bytes(item: Any) -> int:
    """Return the bytes of an eager tensor or a tuple of them, else 0."""
    if issubclass(type(item), (tuple, list)):
        return sum(_bytes(part) for part in item if not issubclass(type(part), (tuple, list)))
    if type(item).__name__ != "EagerTensor" or item.dtype.name in ("variant", "resource", "string"):
        return 0
    return math.prod(int(axis) for axis in item.shape) * int(item.dtype.size)


def retraced_functions() -> tuple[RetracedFunction, ...]:
    """Return the user's functions that were retraced in nearly all recent calls."""
    module = sys.modules.get("tensorflow.python.eager.polymorphic_function.polymorphic_function")
    manager = getattr(module, "_frequent_tracing_detector_manager", None)
    try:
        suspects = {
            code
            for key, seen in list(manager._detectors.items())  # type: ignore[union-attr]
            if len(seen._calls_per_tracings) >= LAST_TRACED
            and (code := _code(key)) is not None
            and not is_library(code.co_filename)
        }
        traces = _traces(suspects) if suspects else {}
    # TensorFlow internals, which may change between versions.
    except (AttributeError, TypeError, RuntimeError):
        return ()
    return tuple(
        RetracedFunction(
            code.co_name, count, frame_of(code.co_filename, code.co_firstlineno, code.co_name).location
        )
        for code, count in traces.items()
        if count >= FEWEST_TRACES
    )


def _code(function: Any) -> CodeType | None:
    """Return the code object of a function or of what it wraps."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = function if isinstance(function, CodeType) else getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None


def _traces(suspects: set[CodeType]) -> dict[CodeType, int]:
    """Return the trace count of each function over all its TensorFlow wrappers."""
    import gc

    found: dict[CodeType, int] = {}
    for thing in gc.get_objects():
        if type(thing).__name__ != "Function" or not type(thing).__module__.startswith("tensorflow."):
            continue
        code = _code(thing.python_function)
        if code in suspects and code is not None:
            found[code] = found.get(code, 0) + int(thing.experimental_get_tracing_count())
    return found
