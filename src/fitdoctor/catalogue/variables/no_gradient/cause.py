"""A loss that no gradient passes.

## What happens

`ValueError: No gradients provided for any variable.` at the first step. The loss has a value, but it does not depend
on any weight in a way that can be differentiated.

## Why

On the way from the weights to the loss stands an operation without a gradient: `argmax`, `round`, a comparison, a
cast to whole numbers, `stop_gradient`, NumPy or `numpy_function`. Or the loss does not use the predictions at all.

## Fix

Replace the operation by a smooth one: probabilities instead of `argmax`, the product instead of a threshold, a
crossentropy instead of counted mistakes. Hard decisions belong into metrics, which need no gradient.

## Known limits

Operations inside functions that are called from the loss are looked into only in the same file, one level deep.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.gradient_ways import first_cut, losses_that_ignore_predictions, tape_cut
from fitdoctor.catalogue.traced import name_of
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.patterns import missing_gradients
from fitdoctor.source.gradients import Cut
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT505", slug="no-gradient", severity=Severity.ERROR, raises="ValueError")


@CAUSE.in_source
def from_source(module: Module) -> Iterator[Finding]:
    """Every way from `y_pred` to the value of a loss is cut."""
    for function in module.functions:
        if function.traced is not None and function.traced.how == "loss" and function.traced.direct:
            cut = first_cut(module, function)
            if cut is not None:
                yield _finding(module, cut, function, Confidence.LIKELY, [])
    for function, result in losses_that_ignore_predictions(module):
        if not _is_placeholder(result):
            yield _ignoring(module, function, result, Confidence.LIKELY, [])


def _is_placeholder(result: ast.AST) -> bool:
    """A bare number in place of a loss: written on purpose where `add_loss` or another output does the teaching."""
    value = result.value if isinstance(result, ast.Return) else result
    return isinstance(value, ast.Constant) and isinstance(value.value, (int, float))


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Keras found no gradient; the source says where it was lost."""
    missing = missing_gradients(failure.message)
    if missing is None or not missing.every:
        return
    evidence = [Evidence(claim="no gradient reached any variable", fact="failure.message")]
    frame = failure.last_user_frame
    for module in project.modules if isinstance(project, Project) else ():
        for function, cut in _cuts(module):
            yield _finding(module, cut, function, Confidence.CERTAIN, evidence)
            return
        for function, result in losses_that_ignore_predictions(module):
            yield _ignoring(module, function, result, Confidence.CERTAIN, evidence)
            return
    yield CAUSE.finding(
        "the loss does not depend on any weight in a way that can be differentiated",
        subject="loss",
        location=frame.location if frame else None,
        evidence=evidence,
        fixes=[fix("use operations that have a gradient between the weights and the loss")],
        confidence=Confidence.LIKELY,
    )


def _cuts(module: Module) -> Iterator[tuple[FunctionInfo | None, Cut]]:
    """Cuts in losses first, then in what the model computes, then under a tape."""
    for kinds in (("loss",), ("call", "lambda layer"), ("train_step",)):
        for function in module.functions:
            if function.traced is not None and function.traced.how in kinds:
                cut = first_cut(module, function)
                if cut is not None:
                    yield function, cut
    under_tape = tape_cut(module)
    if under_tape is not None:
        yield module.function_of(under_tape.node), under_tape


def _finding(
    module: Module,
    cut: Cut,
    function: FunctionInfo | None,
    confidence: Confidence,
    evidence: list[Evidence],
) -> Finding:
    where = f" in {name_of(function)}" if function is not None else ""
    return CAUSE.finding(
        f"no gradient passes {cut.what}{where}: the weights cannot learn from this loss",
        subject="loss",
        location=module.location(cut.node),
        evidence=[
            Evidence(
                claim="the operation that cuts the gradient",
                observed=module.segment(cut.node)[:80],
                location=module.location(cut.node),
            ),
            *evidence,
        ],
        fixes=[fix("replace it by an operation that has a gradient, or move it into a metric")],
        confidence=confidence,
    )


def _ignoring(
    module: Module, function: FunctionInfo, result: ast.AST, confidence: Confidence, evidence: list[Evidence]
) -> Finding:
    return CAUSE.finding(
        f"{name_of(function)} does not use the predictions: its value depends on no weight",
        subject="loss",
        location=module.location(result),
        evidence=evidence,
        fixes=[fix("compute the loss from `y_pred`")],
        confidence=confidence,
    )
