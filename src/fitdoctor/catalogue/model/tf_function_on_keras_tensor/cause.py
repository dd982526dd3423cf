"""TensorFlow function called on a Keras tensor.

## What happens

`ValueError: A KerasTensor cannot be used as input to a TensorFlow function` when the model is created. Functions of the
old `keras.backend` raise the same error, or an `AttributeError` such as `'str' object has no attribute 'base_dtype'`.

## Why

In Keras 3, `Input` and layers return a Keras placeholder that has only a shape and a dtype. TensorFlow can compute with it
only inside a layer, where real tensors arrive. Keras 2 wrapped the function in a layer automatically.

## Fix

Use the equivalent function in `keras.ops`, which accepts both kinds of tensors. Or call the TensorFlow function in a layer
(`Lambda`, or a `Layer` with a `call`). Arithmetic (`a + b`, `a * tf.constant(2.0)`) and indexing need no change.

For a loss or metric that reads such a tensor from the enclosing code (`z_mean` of a variational autoencoder), another
function does not help: the tensor has no values during training. Add the term in a layer that is called on the tensor
(`self.add_loss(…)` in its `call`), or add the tensor to the model's outputs.

## Known limits

`lint` follows a tensor back to its `Input`. A tensor that passes through lists or unknown code is not detected.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.models.layer_source import spell_layer
from fitdoctor.catalogue.model.keras_tensors import (
    arguments_of,
    in_trace,
    is_keras_tensor,
    is_operation,
    misused,
    twin_edits,
)
from fitdoctor.catalogue.rules import certain
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.failure.failed_line import at_frame, calls_at, module_of
from fitdoctor.failure.traced_code import VALUE_METHODS
from fitdoctor.source.callees import callers_of
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import name_of

CAUSE = Cause(
    id="FIT312",
    slug="tf-function-on-keras-tensor",
    severity=Severity.ERROR,
    raises=("ValueError", "AttributeError", "TypeError"),
    explains=("FIT407",),
)

_SAID = (
    "KerasTensor cannot be used as input to a TensorFlow function",
    "Could not build a TypeSpec for <KerasTensor",
    "Inputs to eager execution function cannot be Keras symbolic tensors",
    "Cannot convert a symbolic Keras input/output to a numpy array",
)


@CAUSE.in_source
@mentions("tensorflow")
def from_source(module: Module) -> Iterator[Finding]:
    """Report TensorFlow operations on tensors that come from an `Input`."""
    if module.keras < 3 or "Input" not in module.text and ".output" not in module.text:
        return
    # Keras 3 itself has no `keras.backend.sum`, whatever it is called on; `tf.keras` still has.
    calls = [
        call
        for call in misused(module)
        if in_trace(module, call) or not module.dotted(call.func).startswith("keras.backend.")
    ]
    for call in calls[:1]:
        yield _finding(module, call, calls)


def _finding(module: Module, call: ast.Call, calls: list[ast.Call]) -> Finding:
    if in_trace(module, call):
        return _in_training(module, call)
    name = module.segment(call.func)
    tensor = next((each for each in call.args if is_keras_tensor(module, each)), None)
    what = (
        f"`{module.segment(tensor)}`, a symbolic tensor"
        if isinstance(tensor, ast.Name)
        else "a symbolic tensor"
    )
    return CAUSE.finding(
        f"`{name}` cannot compute with {what} of a functional model",
        module.location(call),
        Evidence(
            f"`{name}` is a TensorFlow operation",
            "a KerasTensor",
            "a tensor with values",
            location=module.location(call),
        ),
        *_fixes(module, call, calls),
        subject=f"function {name}",
    )


@CAUSE.in_source
@CAUSE.before_fit
@mentions("Input")
def from_loss(model: ModelFacts, fit: FitFacts) -> Iterator[Finding]:
    """Report a loss that reads a tensor of the functional model from the enclosing code."""
    if model.keras >= 3 and fit.method in ("fit", "train_on_batch", "evaluate"):
        yield from _captured(model)


def _captured(model: ModelFacts) -> Iterator[Finding]:
    for loss in model.losses:
        if loss.captured is None:
            continue
        where = loss.captured.location
        yield CAUSE.finding(
            f"`{loss.name}` reads `{loss.captured.text}` of the functional model, which has no values during training",
            where,
            Evidence(
                "a tensor of a functional model is a placeholder",
                "a KerasTensor",
                "the function's own arguments: labels and predictions",
                location=where,
            ),
            *list(_TERM_ELSEWHERE),
            subject=f"tensor in {loss.name}",
        )
        return


_TERM_ELSEWHERE = (
    fix("compute this term in the `call` of a layer called on the tensor, with `self.add_loss(…)`"),
    fix("add the tensor to the model's outputs, and read it from the predictions"),
)


def _in_training(module: Module, call: ast.Call) -> Finding:
    """Report traced code that reads a tensor of the enclosing functional model; `keras.ops` does not help there."""
    function = module.function_of(call)
    read = next((each for each in arguments_of(call) if is_keras_tensor(module, each)), None)
    tensor = next((node for node in ast.walk(read) if isinstance(node, ast.Name)), None) if read else None
    what = f"`{tensor.id}`" if tensor is not None else "a tensor"
    where = name_of(function) if function is not None else "traced code"
    layer = function is not None and _is_of_layer(module, function)
    return CAUSE.finding(
        f"{where} reads {what} of the functional model, which has no values during training",
        module.location(call),
        Evidence(
            "a tensor of a functional model is a placeholder",
            "a KerasTensor",
            "the layer's own inputs" if layer else "the function's own arguments: labels and predictions",
            location=module.location(read if read is not None else call),
        ),
        *([fix(f"pass {what} to the layer, in a list with its other inputs")] if layer else _TERM_ELSEWHERE),
        subject=f"tensor in {where.strip('`')}",
    )


def _is_of_layer(module: Module, function: FunctionInfo) -> bool:
    """Whether the function is a method of a layer, or what a `Lambda` layer computes."""
    if function.owner is not None:
        return function.owner.kind == "Layer"
    call = module.parent(function.node)
    return isinstance(call, ast.Call) and module.resolve(call.func) == "keras.layers.Lambda"


_BY_HAND = fix("use a layer (`Reshape`) or the static `x.shape`, or call it in a `Lambda` layer")


def _fixes(module: Module, call: ast.Call, calls: list[ast.Call]) -> list[Fix]:
    """Replace this call, and all others that would fail next, by their `keras.ops` equivalents."""
    sizes = [each for each in calls if module.resolve(each.func).rpartition(".")[2] == "shape"]
    whole = _function_in_lambda(module, calls)
    if sizes and whole:
        return [fix("call the function in a `Lambda` layer", whole), _BY_HAND]
    if sizes:
        # `keras.ops.shape` returns None for the batch axis, so code that computes with it must change.
        return [_BY_HAND]
    own = twin_edits(module, call)
    others = [twin_edits(module, other) for other in calls if other is not call]
    fixes = []
    if own is not None and all(other is not None for other in others):
        edits = dict.fromkeys(
            [*own[1], *(edit for other in others if other is not None for edit in other[1])]
        )
        fixes.append(fix(f"use `{own[0]}`", edits))
    elif whole:
        fixes.append(fix("call the function in a `Lambda` layer", whole))
    elif own is not None:
        fixes.append(fix(f"use `{own[0]}`", own[1]))
    fixes.append(fix("call the function in a `Lambda` layer", () if fixes else _in_lambda(module, call)))
    return fixes


def _function_in_lambda(module: Module, calls: list[ast.Call]) -> tuple[Edit, ...]:
    """Turn `sampling([mean, spread])` into `Lambda(sampling)([mean, spread])`, if it contains all failing calls."""
    functions = {module.function_of(call) for call in calls}
    function = functions.pop() if len(functions) == 1 else None
    if function is None or function.owner is not None or not isinstance(function.node, ast.FunctionDef):
        return ()
    layers = [site.node for site in module.calls_under("keras.layers.")]
    if any(module.function_of(layer) is function for layer in layers):
        return ()  # a `Lambda` would hide its weights
    edits: list[Edit] = []
    for caller, made in callers_of(function):
        if (
            caller is not module
            or len(made.args) != 1
            or made.keywords
            or not isinstance(made.func, ast.Name)
        ):
            return ()
        spelling, imports = spell_layer(module, layers[0] if layers else made, "Lambda")
        edits += [Edit(module.location(made.func), f"{spelling}({made.func.id})"), *imports]
    return tuple(dict.fromkeys(edits))


def _in_lambda(module: Module, call: ast.Call) -> tuple[Edit, ...]:
    """Turn `tf.f(x, 2)` into `Lambda(lambda t: tf.f(t, 2))(x)`."""
    if not call.args or not is_keras_tensor(module, call.args[0]):
        return ()
    if any(is_keras_tensor(module, each) for each in call.args[1:]):
        return ()
    beside = next((site.node for site in module.calls if site.name.startswith("keras.layers.")), call)
    spelling, imports = spell_layer(module, beside, "Lambda")
    first, whole = module.location(call.args[0]), module.location(call)
    text = module.segment(call)
    if whole.line != whole.end_line or first.line != whole.line:
        return ()
    start = first.column - whole.column
    inner = text[:start] + "t" + text[start + first.end_column - first.column :]
    return (Edit(whole, f"{spelling}(lambda t: {inner})({module.segment(call.args[0])})"), *imports)


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project, model: ModelFacts | Unknown) -> Iterator[Finding]:
    """Explain the Keras error, and the different one of the old backend."""
    told = any(words in failure.message for words in _SAID)
    captured = list(_captured(model)) if told and isinstance(model, ModelFacts) else []
    if captured:
        yield certain(captured[0], failure)
        return
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if frame is None or module is None:
        if told:
            yield _from_line(failure.location)
        return
    calls = list(misused(module))
    here = [call for call in calls if at_frame(module, call, frame)]
    if here and (told or failure.type in ("AttributeError", "TypeError")):
        yield certain(_finding(module, here[0], calls), failure)
    elif told:
        # The innermost call on the line runs first.
        on_line = [site.node for site in calls_at(failure, project) if is_operation(site.name)]
        on_line.sort(key=lambda node: -node.col_offset)
        yield (
            certain(_finding(module, on_line[0], on_line), failure) if on_line else _from_line(frame.location)
        )


def _from_line(location: Location | None) -> Finding:
    return CAUSE.certain(
        "a TensorFlow function is called on a tensor of a functional model",
        location,
        Evidence("Keras rejects the call", location=location),
        fix("use the equivalent function in `keras.ops`, or a `Lambda` layer"),
        subject="function",
    )


CAUSE.message(
    rf"'KerasTensor' object has no attribute '(?P<name>{'|'.join(sorted(VALUE_METHODS))})'",
    "a symbolic tensor of a functional model has no values, so it has no `{name}`",
    "to get values, call the model on data or use `model.predict`; while building the model, use layers and `keras.ops`",
    subject="symbolic tensor",
    types=("AttributeError",),
    confidence=Confidence.CERTAIN,
)
