"""Finds the Keras or TensorFlow function that the user's code was calling when it failed."""

from __future__ import annotations

import ast
import builtins
import itertools
import keyword
import re

from fitdoctor.facts import Frame, Unknown
from fitdoctor.failure.frames import is_framework
from fitdoctor.failure.raised_by import is_of_another_library

_METHODS = frozenset(
    """fit evaluate predict compile build train_on_batch test_on_batch predict_on_batch fit_generator
    evaluate_generator predict_generator add summary save save_weights load_weights load_model map batch
    from_generator from_tensor_slices gradient apply_gradients minimize""".split()
)
_OPENED = re.compile(r"([A-Za-z_][\w.]*)\s*\(")
_LONGEST = 2000


def called_function(frames: tuple[Frame, ...]) -> str:
    """Return the name of the user's first call into the framework, or ""."""
    entered = _entry(frames)
    if entered is not None:
        return called_in(entered)
    users = [frame for frame in frames if not frame.library]
    if not users or is_of_another_library(frames):
        return ""
    # The framework's frames may be missing; then only a name that certainly belongs to it counts.
    last = users[-1]
    if not isinstance(last.code, Unknown) and last.code.name.startswith(
        ("keras.", "tensorflow.", "tf_keras.")
    ):
        return last.code.name.rpartition(".")[2]
    name = called_in(last)
    return name if name in _METHODS else ""


def _entry(frames: tuple[Frame, ...]) -> Frame | None:
    for frame, following in itertools.pairwise(frames):
        if not frame.library and is_framework(following.path):
            return frame
    return None


def called_in(frame: Frame) -> str:
    """Return the name of the call in progress in a frame."""
    if not isinstance(frame.code, Unknown):
        name = frame.code.name or _name_of(frame.code.text)
        if name:
            return name.rpartition(".")[2]
    return _name_of(frame.text)


def _name_of(text: str) -> str:
    """Return the outermost call in a line of code that may be cut at either end."""
    text = text.strip()[:_LONGEST]
    name = _parsed_name(text)
    if name is not None:
        return name
    opened = [match[1] for match in _OPENED.finditer(text)]
    names = [
        name.rpartition(".")[2]
        for name in opened
        if not keyword.iskeyword(name) and not hasattr(builtins, name)
    ]
    known = [name for name in names if name in _METHODS]
    return (known or names or [""])[0]


def _parsed_name(text: str) -> str | None:
    for source in (text, text + "\n    pass", text.rstrip(",") + ")"):
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        return _outermost_call(tree)
    return None


def _outermost_call(tree: ast.Module) -> str | None:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    # `float(tf.reduce_mean(x))`: skip the builtin, the inner call is the framework's.
    names = [name for name in map(_call_name, calls) if name and not hasattr(builtins, name)]
    known = [name for name in names if name in _METHODS]
    return next(iter(known or names), None)


def _call_name(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    if isinstance(call.func, ast.Name):
        return call.func.id
    if isinstance(call.func, ast.Call):
        return _call_name(call.func)
    return ""
