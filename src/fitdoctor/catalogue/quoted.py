"""What a traceback itself tells where the source is not at hand: the lines it quotes, and what a call received."""

from __future__ import annotations

from fitdoctor.facts import FailureFacts, Shape
from fitdoctor.failure.patterns import shapes_in
from fitdoctor.patterns import pattern

_SETTINGS = ("training", "mask", "kwargs", "return_state", "initial_state")
_MAKES_VARIABLE = pattern(r"\bVariable\(|\bget_variable\(")
_MAKES_LAYER = pattern(
    r"\badd_weight\(|\b(?:layers|keras|nn|L|tfkl)\.[A-Z]\w*\(|(?<![\w.])[A-Z]\w*[a-z]\w*\("
)
"""A class that is called on the line, by Python's own way of writing names."""


def was_received(failure: FailureFacts, shape: Shape | None) -> bool | None:
    """Whether the innermost layer or model that is named was itself called with that shape; None where none is told."""
    given = [value for name, value in failure.arguments if name not in _SETTINGS]
    if not given or shape is None:
        return None
    return any(tuple(each) == tuple(shape) for value in given for each in shapes_in(value))


def made_on_last_line(failure: FailureFacts) -> str:
    """What the user's last line makes, as it is quoted: `variable`, `layer`, or "" where that does not show."""
    frame = failure.last_user_frame
    text = frame.text if frame is not None else ""
    if _MAKES_VARIABLE.search(text):
        return "variable"
    return "layer" if _MAKES_LAYER.search(text) else ""
