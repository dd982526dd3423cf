"""The loss became NaN.

## What happens

The loss of an epoch is `nan` or `inf`, and so are the weights: nothing that is trained on from there has a value.

## Why

With finite data there are two usual ways: a learning rate so large that the weights grow without bound, or an
operation of one's own that has no finite value or gradient where the data leads it, `log(0)`, `0 / 0`, the square root
at 0.

## Fix

Lower the learning rate, or guard the operation: `log(x + 1e-7)`, `sqrt(x + 1e-12)`, a sum in the divisor that cannot be
0. `keras.callbacks.TerminateOnNaN` ends such a training at once.

## Known limits

Which step was the first is not recorded. NaN in the data has causes of its own.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.learning_rate import rate_edit, rate_of, rate_place
from fitdoctor.catalogue.traced import name_of
from fitdoctor.catalogue.words import number, place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import DataFacts, ModelFacts, Statistics, TrainingFacts, Unknown
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT001", slug="loss-became-nan", severity=Severity.WARNING)

LARGE_RATE = 0.05
FRAGILE = ("log", "sqrt", "divide", "norm", "reciprocal", "rsqrt", "acos", "asin")


@CAUSE.while_training
def from_training(
    training: TrainingFacts, model: ModelFacts, data: DataFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """An epoch's loss is not finite, though the data is."""
    bad = [epoch for epoch, loss in enumerate(training.losses, 1) if not math.isfinite(loss)]
    if (not bad and not training.nonfinite_weights) or data.role != "training" or not _is_finite(data):
        return
    seen = [
        Evidence(
            claim="loss by epoch",
            observed=", ".join(f"{loss:.4g}" for loss in training.losses[:5]),
            expected="finite numbers",
            fact="training.losses",
        )
    ]
    if training.nonfinite_weights:
        seen.append(
            Evidence(claim="weights that hold NaN", observed=", ".join(training.nonfinite_weights[:3]))
        )
    what = f"the loss of epoch {bad[0]} is not finite" if bad else "weights became NaN under a finite loss"
    fragile = None if isinstance(project, Unknown) else _fragile(project)
    rate = rate_of(model)
    if fragile is not None and (rate is None or rate < LARGE_RATE):
        module, node, function = fragile
        yield CAUSE.finding(
            f"{what}: {function} has no finite value or gradient everywhere",
            subject="training",
            location=module.location(node),
            evidence=[*seen, Evidence(claim="the operation", observed=module.segment(node)[:80])],
            fixes=[fix("guard the operation, such as `log(x + 1e-7)` or `sqrt(x + 1e-12)`")],
            confidence=Confidence.LIKELY,
        )
        return
    words = (
        f": the learning rate of {number(rate)} is large" if rate is not None and rate >= LARGE_RATE else ""
    )
    yield CAUSE.finding(
        what + words,
        subject="training",
        location=_place(model),
        evidence=seen,
        fixes=[
            unsafe(
                "lower the learning rate",
                rate_edit(model, (rate or 0.1) / 100) if rate is not None and rate >= LARGE_RATE else (),
            )
        ],
        confidence=Confidence.LIKELY,
    )


def _is_finite(data: DataFacts) -> bool:
    """Whether NaN in the data is ruled out as the reason, as far as it was looked at."""
    return not any(
        isinstance(array.statistics, Statistics) and array.statistics.nan + array.statistics.inf > 0
        for array in (*data.x, *data.y, *data.sample_weight)
    )


def _place(model: ModelFacts) -> Location | None:
    return rate_place(model) or place(model.compile_code)


def _fragile(project: Project) -> tuple[Module, ast.AST, str] | None:
    """The first operation in a loss or layer of the user's that is not finite everywhere, and not guarded."""
    for kinds in (("loss",), ("call", "lambda layer", "train_step")):
        for module in project.modules:
            for function in module.functions:
                if function.traced is None or function.traced.how not in kinds:
                    continue
                for node in ast.walk(function.node):
                    if _is_fragile(module, node):
                        return module, node, f"`{module.segment(node.func)}` in {name_of(function)}"  # type: ignore[attr-defined]
    return None


def _is_fragile(module: Module, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not node.args:
        return False
    name = module.resolve(node.func)
    if not name.startswith(("tensorflow.", "keras.")) or name.rpartition(".")[2] not in FRAGILE:
        return False
    text = module.segment(node.args[0])
    guarded = any(word in text for word in ("eps", "1e-", "clip", "maximum", "1.0 +", "1 +", "+ 1"))
    return not guarded
