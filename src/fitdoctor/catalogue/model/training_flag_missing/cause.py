"""Training step that calls the model in inference mode.

## What happens

A custom training step runs without an error, but dropout drops nothing, and batch normalization uses its initial mean
and variance, which it never updates. The model overfits, or learns worse than the same model does with `fit`.

## Why

`fit` calls the model with `training=True`. A custom training loop or `train_step` has to do so itself: without the argument,
Keras calls the layers in inference mode, also below a `GradientTape`.

## Fix

Write `model(x, training=True)` in the training step. Pass `training=False`, or nothing, for validation and
prediction.

## Known limits

Only calls below the tape that computes the gradients of the same model are reported. Layers of `keras.applications` do not
count, since their batch normalization is often meant to stay as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.models.model_code import calls_in_model, trained_models
from fitdoctor.catalogue.knowledge.tracing.gradient_ways import Tape, is_layer_call, tapes
from fitdoctor.diagnosis import Evidence, Finding, Severity
from fitdoctor.edits import set_argument, unsafe
from fitdoctor.records import dataclass
from fitdoctor.source.callees import is_self
from fitdoctor.source.definitions import FunctionInfo, argument_of
from fitdoctor.source.index import walk
from fitdoctor.source.module import Module

CAUSE = Cause(id="FIT332", slug="training-flag-missing", severity=Severity.WARNING)

_IDLE = {
    "BatchNormalization": "never updates its mean and variance",
    **dict.fromkeys(
        "Dropout SpatialDropout1D SpatialDropout2D SpatialDropout3D AlphaDropout GaussianDropout".split(),
        "drops nothing",
    ),
    "GaussianNoise": "adds no noise",
}
"""What a layer does not do in inference mode."""


@CAUSE.rule("GradientTape")
def called_for_inference(module: Module) -> Iterator[Finding]:
    """Find calls, below a tape, of the model that it trains which leave `training` out."""
    if module.calls_to("keras.backend.set_learning_phase", "keras.backend.learning_phase_scope"):
        return
    for tape in tapes(module):
        calls: dict[str, list[ast.Call]] = {}
        for call in _calls_of_trained(tape):
            calls.setdefault(module.segment(call.func), []).append(call)
        for model, several in calls.items():
            idle = {each.kind: each for each in _idle_layers(module, several[0].func)}
            if not idle:
                continue
            effects = " and ".join(f"`{kind}` {_IDLE[kind]}" for kind in idle)
            yield CAUSE.finding(
                f"without `training=True`, `{model}` is called in inference mode: {effects}",
                module.location(several[0]),
                *(
                    Evidence(f"`{kind}` is a layer of this model", location=each.module.location(each.maker))
                    for kind, each in idle.items()
                ),
                unsafe(
                    "pass `training=True`",
                    *(set_argument(module.code(call), "training", "True") for call in several),
                ),
                subject=f"call of {model}",
            )


def _calls_of_trained(tape: Tape) -> Iterator[ast.Call]:
    """Yield the calls below a tape of a model whose gradients it computes, if they do not say whether they train."""
    module = tape.module
    trained = trained_models(tape)
    # Where one call trains, another one may predict: the targets of a Q-network, say.
    told = {
        module.segment(node.func)
        for node in tape.nodes
        if isinstance(node, ast.Call) and any(keyword.arg == "training" for keyword in node.keywords)
    }
    for node in tape.nodes:
        if not isinstance(node, ast.Call) or len(node.args) != 1 or module.segment(node.func) in told:
            continue
        part = "self" in trained and isinstance(node.func, ast.Attribute) and is_self(module, node.func.value)
        if module.segment(node.func) in trained or part and is_layer_call(module, node):
            # A `call` may have a flag of another name: `is_training`.
            if all(keyword.arg is not None and "train" not in keyword.arg for keyword in node.keywords):
                yield node


@dataclass(frozen=True)
class _Layer:
    """A layer that does nothing, or something else, in inference mode."""

    kind: str
    module: Module
    maker: ast.Call


def _idle_layers(module: Module, model: ast.expr) -> Iterator[_Layer]:
    """Yield the layers of a model that need `training=True`, unless its own code decides on that."""
    decided: set[ast.AST] = set()
    found: list[_Layer] = []
    for here, call in calls_in_model(module, model, _may_train, _leaves_it_open):
        if isinstance(argument_of(call, "training"), ast.Constant):
            decided.update(walk(here.origin(call.func).node))
        kind = here.called(call).removeprefix("keras.layers.")
        if kind in _IDLE and getattr(argument_of(call, "rate", 0), "value", 1) != 0:
            found.append(_Layer(kind, here, call))
    yield from (layer for layer in found if layer.maker not in decided)


def _leaves_it_open(methods: list[FunctionInfo]) -> bool:
    """Whether the `call` of a class does not train by default."""
    for method in methods:
        arguments = method.node.args
        named = dict(
            zip([each.arg for each in reversed(arguments.args)], reversed(arguments.defaults), strict=False)
        )
        default = named.get("training")
        if method.name == "call" and isinstance(default, ast.Constant) and default.value is True:
            return False
    return True


def _may_train(module: Module, name: ast.Name) -> bool:
    """Whether no program sets `trainable` of a part, which may then be meant to run in inference mode."""
    return not any(
        isinstance(each.ctx, ast.Store) and getattr(each.value, "id", "") == name.id
        for each in module.attributes.get("trainable", ())
    )
