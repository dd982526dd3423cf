"""`loss_weights` that do not match the losses: a different number, or keys that are not outputs."""

from __future__ import annotations

import ast
import re

from fitdoctor.diagnosis import Fix
from fitdoctor.edits import fix, replace_code
from fitdoctor.facts import Code, ModelFacts, Unknown
from fitdoctor.records import dataclass

_COUNTS = re.compile(r"`loss_weights` must match the number of losses, got (\d+) losses and (\d+) weights")


@dataclass(frozen=True)
class OddWeights:
    """The counts Keras reports, the argument to change, and the fix."""

    losses: int
    weights: int
    code: Code | Unknown
    change: Fix


def odd_weights(message: str, model: ModelFacts | Unknown) -> OddWeights | None:
    """Return the mismatch in the number of losses and weights, None for another message."""
    counted = _COUNTS.search(message)
    if counted is None:
        return None
    losses, weights = int(counted[1]), int(counted[2])
    loss, given = _argument(model, "loss"), _argument(model, "loss_weights")
    if losses == 1:
        repeated = replace_code(loss, f"[{', '.join([_text(loss)] * weights)}]")
        told = f"pass one loss for each of the {weights} outputs"
        return OddWeights(losses, weights, loss, fix(told, repeated if weights < 5 else ()))
    return OddWeights(losses, weights, given, fix(f"pass {losses} weights, one per loss"))


def keys_of_weights(model: ModelFacts) -> tuple[Code, list[str]] | None:
    """Return the keys of a literal `loss_weights` dict that Keras looks up by output name."""
    given = _argument(model, "loss_weights")
    # With a dict of outputs Keras uses the weights in the order of their keys and looks up no name.
    if isinstance(given, Unknown) or model.loss_structure != "dict" or model.output_structure == "dict":
        return None
    try:
        written = ast.parse(given.text.strip(), mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(written, ast.Dict):
        return None
    keys = [key.value for key in written.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
    return (given, keys) if len(keys) == len(written.keys) else None


def _argument(model: ModelFacts | Unknown, name: str) -> Code | Unknown:
    code = model.compile_code if isinstance(model, ModelFacts) else None
    argument = code.argument(name, 1 if name == "loss" else None) if isinstance(code, Code) else None
    return Unknown("not found in the call") if argument is None else Code(argument.location, argument.text)


def _text(code: Code | Unknown) -> str:
    text = "" if isinstance(code, Unknown) else code.text.strip()
    return text[1:-1].strip(" ,") if text.startswith("[") and text.endswith("]") else text
