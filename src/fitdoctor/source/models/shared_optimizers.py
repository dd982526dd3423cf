"""One optimizer that trains two models: Keras builds it for the variables of the first."""

from __future__ import annotations

import ast

from fitdoctor.records import dataclass
from fitdoctor.source.fits.compile_facts import compile_argument
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.values import Compiled, Made, ModelRecord, Ref
from fitdoctor.source.models.static_models import layers_of, trainable_now

TRAINING = frozenset(("fit", "train_on_batch", "fit_generator"))


@dataclass(frozen=True, eq=False)
class SharedOptimizer:
    """Where an optimizer is created, and where the second model is compiled with it."""

    made: ast.Call
    compiled: ast.Call


def shared_optimizer(run: Interpreter, model: Ref, record: ModelRecord) -> SharedOptimizer | None:
    """Return the optimizer of the model being trained, if it has already trained another."""
    if not isinstance(record.compiled, Compiled):
        return None
    call = record.compiled.call
    made = compile_argument(run, call, "optimizer")[0]
    if not isinstance(made, Made) or not made.name.startswith("keras.optimizers.") or ".legacy." in made.name:
        return None
    if not any(learns for _, learns in trainable_now(run, record)):
        # a frozen discriminator leaves the optimizer to the next model
        return None
    # Optimizers are compared by value: creating one again gives another value.
    known = next((at for at, other in enumerate(run.optimizers) if other is made), None)
    if known is None:
        known = len(run.optimizers)
        run.optimizers.append(made)
    frame = run.state.names(run.trained)
    before = frame.get(str(known))
    if before is None:
        frame[str(known)] = model
        return None
    if not isinstance(before, Ref) or before == model or not isinstance(made.node, ast.Call):
        return None
    first = run.model(before)
    own, others = layers_of(run, record), None if first is None else layers_of(run, first)
    if not own or not others or not set(own).isdisjoint(others):
        return None
    return SharedOptimizer(made.node, call.node)
