"""Read what a traceback shows without the source: quoted lines, and the arguments of calls."""

from __future__ import annotations

import ast
import re

from fitdoctor.facts import FailureFacts, Shape
from fitdoctor.failure.shapes import shapes_in

_SETTINGS = ("training", "mask", "kwargs", "return_state", "initial_state")
_MAKES_VARIABLE = re.compile(
    r"\bVariable\(|\bget_variable\(|\boptimizers?\.(?:\w+\.)?[A-Z]\w*\(|\bmetrics\.[A-Z]\w*\("
)
_MAKES_LAYER = re.compile(
    r"\badd_weight\(|\b(?:layers|keras|nn|L|tfkl)\.[A-Z]\w*\(|(?<![\w.])[A-Z]\w*[a-z]\w*\("
)
"""A call of a class on the line, recognized by its capitalized name."""


def was_received(failure: FailureFacts, shape: Shape | None) -> bool | None:
    """Whether the innermost named layer or model received that shape; None if unknown."""
    given = [value for name, value in failure.arguments if name not in _SETTINGS]
    if not given or shape is None:
        return None
    return any(tuple(each) == tuple(shape) for value in given for each in shapes_in(value))


_NEED_LABELS = ("fit", "evaluate", "train_on_batch", "test_on_batch")
_UNPACKED = re.compile(r"^(?:[(\[])?(?P<names>\w+(?: *, *\w+)+) *(?:[)\]])? *= *(?P<whole>\w+)\s*(?:#.*)?$")
_GRADIENT = re.compile(
    r"(?i:\b\w*grad\w*)|\bd\w{1,3}_?d[a-z]{1,2}\b|\bd[A-Z]\w{0,3}\b|\bg\b|\b[a-z]_[txyz]{1,2}\b"
)
"""Common names of gradients."""


def gives_labels(line: str) -> bool | None:
    """Whether a source line passes labels to fit; None if unknown."""
    try:
        tree = ast.parse(line.strip())
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _NEED_LABELS
        ):
            if any(isinstance(value, ast.Starred) for value in node.args):
                return None
            return len(node.args) > 1 or any(keyword.arg in ("y", None) for keyword in node.keywords)
    return None


def unpacked_argument(failure: FailureFacts) -> list[str]:
    """Return the names into which the user's last line unpacks a tensor parameter."""
    frame = failure.last_user_frame
    found = _UNPACKED.match(frame.text) if frame is not None else None
    if found is None or not dict(failure.arguments).get(found["whole"], "").startswith(
        ("tf.Tensor(", "Tensor(")
    ):
        return []
    return [name.strip() for name in found["names"].split(",")]


def speaks_of_gradients(failure: FailureFacts) -> bool:
    """Whether the user's last line uses a name for gradients."""
    frame = failure.last_user_frame
    return frame is not None and bool(_GRADIENT.search(frame.text.partition("#")[0]))


def made_on_last_line(failure: FailureFacts) -> str:
    """Return what the user's last line creates: `variable`, `layer`, or "" if unknown."""
    frame = failure.last_user_frame
    text = frame.text if frame is not None else ""
    if _MAKES_VARIABLE.search(text):
        return "variable"
    return "layer" if _MAKES_LAYER.search(text) else ""
