"""Loss that becomes NaN.

## What happens

The loss of an epoch is `nan` or `inf`, and so are the weights. The model does not recover, however long training
continues.

## Why

With finite data there are two usual reasons: a learning rate so large that the weights grow without bound, or a
custom operation without a finite value or gradient for some inputs, such as `log(0)`, `0 / 0`, or the square root at
0.

## Fix

Lower the learning rate, or guard the operation: `log(maximum(x, 1e-7))`, `sqrt(maximum(x, 1e-12))`, a divisor that
cannot be 0. `keras.callbacks.TerminateOnNaN` stops the training at once.

## Known limits

The first affected step is not recorded. NaN in the data is covered by separate causes.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.data.feature_scale import data_is_finite, unscaled
from fitdoctor.catalogue.knowledge.models.learning_rate import rate_edit, rate_of, rate_place
from fitdoctor.catalogue.words import number
from fitdoctor.diagnosis import Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, unsafe, wrap
from fitdoctor.facts import DataFacts, ModelFacts, TrainingFacts
from fitdoctor.source.definitions import FunctionInfo
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import name_of

CAUSE = Cause(id="FIT001", slug="loss-became-nan", severity=Severity.WARNING, stage=2)

LARGE_RATE = 0.05
WITHOUT_VALUE = ("log", "divide", "reciprocal", "rsqrt", "acos", "asin")
WITHOUT_GRADIENT = ("sqrt", "norm")
"""Without a gradient at 0; the others, and these below 0, have no finite value."""
DIVISORS = ("reduce_std", "std", "reduce_variance", "var", "reduce_sum", "sum", "reduce_max", "max", "norm")
"""Functions whose result may be 0 and must not be a divisor."""
GUARDED_BELOW = {"log": "1e-7", "sqrt": "1e-12", "rsqrt": "1e-12"}
"""The lower bound of the argument that keeps the result finite."""


@CAUSE.while_training
def from_training(
    training: TrainingFacts, model: ModelFacts, data: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report a loss that is not finite although the data is."""
    bad = [epoch for epoch, loss in enumerate(training.losses, 1) if not math.isfinite(loss)]
    if (not bad and not training.nonfinite_weights) or data.role != "training" or not data_is_finite(data):
        return
    seen = [
        Evidence(
            "loss by epoch",
            ", ".join(f"{loss:.4g}" for loss in training.losses[:5]),
            "finite numbers",
            fact="training.losses",
        )
    ]
    if training.nonfinite_weights:
        seen.append(Evidence("weights that contain NaN", ", ".join(training.nonfinite_weights[:3])))
    what = (
        f"the loss is not finite in epoch {bad[0]}"
        if bad
        else "weights became NaN although the loss stayed finite"
    )
    fragile = None if not project else _fragile(project)
    rate = rate_of(model)
    if fragile is not None and (rate is None or rate < LARGE_RATE):
        module, function, nodes = fragile
        node = _of_predictions(nodes, function)
        what_it_does = (
            module.segment(node.func)
            if isinstance(node, ast.Call)
            else f"/ {module.segment(node.right)[:40]}"
        )
        operation = f"`{what_it_does}` in {name_of(function)}"
        yield CAUSE.finding(
            f"{what}: {operation} has no finite value or gradient for some inputs",
            module.location(node),
            *seen,
            Evidence("operation", module.segment(node)[:80]),
            _guard(module, nodes),
            subject="training",
        )
        return
    if (rate is None or rate < LARGE_RATE) and any(unscaled(model, data)):
        return  # FIT112 says why
    words = (
        f": a learning rate of {number(rate)} is too large" if rate is not None and rate >= LARGE_RATE else ""
    )
    yield CAUSE.finding(
        what + words,
        rate_place(model, project),
        *seen,
        unsafe(
            "lower the learning rate",
            rate_edit(model, project, (rate or 0.1) / 100) if rate is not None and rate >= LARGE_RATE else (),
        ),
        subject="training",
    )


_Operation = ast.Call | ast.BinOp


def _argument(node: _Operation) -> ast.expr:
    """Return the argument of a call or the divisor of a division."""
    return node.args[0] if isinstance(node, ast.Call) else node.right


def _of_predictions(nodes: list[_Operation], function: FunctionInfo) -> _Operation:
    """Return the operation on the second parameter, the predictions of a loss, else the first operation."""
    parameters = [argument.arg for argument in function.node.args.args if argument.arg != "self"]
    for node in nodes if len(parameters) > 1 else ():
        if any(isinstance(name, ast.Name) and name.id == parameters[1] for name in ast.walk(_argument(node))):
            return node
    return nodes[0]


def _guard(module: Module, nodes: list[_Operation]) -> Fix:
    """Bound the arguments so that the operations stay finite."""
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    if not calls:
        added = (wrap(module.code(_argument(node)), "({} + 1e-7)") for node in nodes)
        return unsafe("add a small constant to the divisor", *added)
    name = module.resolve(calls[0].func)
    spelled = dict(module.spellings)
    maximum = (
        f"{spelled['tensorflow']}.maximum"
        if name.startswith("tensorflow.") and "tensorflow" in spelled
        else f"{spelled['keras']}.ops.maximum"
        if "keras" in spelled
        else ""
    )
    least = GUARDED_BELOW.get(name.rpartition(".")[2])
    if least is None or not maximum:
        return fix("guard the operation, as in `log(maximum(x, 1e-7))`, or make sure the divisor cannot be 0")
    alike = [node.args[0] for node in calls if module.resolve(node.func) == name]
    guards = (wrap(module.code(argument), f"{maximum}({{}}, {least})") for argument in alike)
    return unsafe(f"keep the argument at or above {least}", *guards)


def _fragile(project: Project) -> tuple[Module, FunctionInfo, list[_Operation]] | None:
    """Return the unguarded operations of a custom loss or layer that are not finite everywhere."""
    for kinds in (("loss",), ("call", "lambda layer", "train_step")):
        for names in (WITHOUT_VALUE, DIVISORS, WITHOUT_GRADIENT):
            for module in project.modules:
                for function in module.functions:
                    if function.traced is None or function.traced.how not in kinds:
                        continue
                    read = (
                        node for node in ast.walk(function.node) if isinstance(node, (ast.Call, ast.BinOp))
                    )
                    found = [node for node in read if _is_fragile(module, node, names)]
                    if found:
                        return module, function, found
    return None


def _is_fragile(module: Module, node: _Operation, names: tuple[str, ...]) -> bool:
    if isinstance(node, ast.BinOp):
        return names is DIVISORS and isinstance(node.op, ast.Div) and _may_be_zero(module, node.right)
    if not node.args or names is DIVISORS:
        return False
    name = module.resolve(node.func)
    if not name.startswith(("tensorflow.", "keras.")) or name.rpartition(".")[2] not in names:
        return False
    return not _is_guarded(module.segment(node.args[0]))


def _may_be_zero(module: Module, divisor: ast.expr) -> bool:
    """Whether a divisor is a deviation, a difference or a sum without an added constant."""
    made = module.made_by(divisor)
    if _is_guarded(module.segment(divisor)) or _is_guarded(module.segment(made)):
        return False
    if isinstance(made, ast.BinOp):
        sums = isinstance(made.op, ast.Add) and all(
            _may_be_zero(module, each) for each in (made.left, made.right)
        )
        return isinstance(made.op, ast.Sub) or sums
    name = module.resolve(made.func) if isinstance(made, ast.Call) else ""
    return name.startswith(("tensorflow.", "keras.")) and name.rpartition(".")[2] in DIVISORS


def _is_guarded(text: str) -> bool:
    return any(word in text for word in ("eps", "1e-", "clip", "maximum", "1.0 +", "1 +", "+ 1"))
