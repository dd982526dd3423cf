"""Model not compiled.

## What happens

`fit` and `evaluate` raise `ValueError: You must call compile() before using the model.` before any other check. A wrong
input shape or loss shows only after `compile` is added.

## Why

`compile` is missing; it was called on another model (one that this model was built from, or an earlier instance); or the
model overrides `compile` without calling `super().compile()`.

## Fix

Call `model.compile(optimizer=…, loss=…)` before `fit`. The labels and the output determine the loss:

- integer class labels and one unit per class: `sparse_categorical_crossentropy`
- one-hot labels: `categorical_crossentropy`
- labels 0 and 1 and one sigmoid unit: `binary_crossentropy`
- other numbers: `mse`

## Known limits

`lint` assumes that a model is compiled if it passes through code that cannot be followed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting
from fitdoctor.catalogue.knowledge.labels.loss_choice import suggested_loss
from fitdoctor.catalogue.prefilter import LABELS
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, insert_before, unsafe
from fitdoctor.facts import DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT301", slug="not-compiled", severity=Severity.ERROR, raises="ValueError", stage=0)

NEEDS_COMPILE = frozenset({"fit", "evaluate", "train_on_batch", "test_on_batch"})


@CAUSE.in_source
@doubting(LABELS)
@CAUSE.before_fit
def from_model(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a model that Keras does not consider compiled."""
    if model.compiled or fit.method not in NEEDS_COMPILE or data.role != "training":
        return
    override = _override(model, project)
    if override is not None:
        yield _override_finding(model, *override)
        return
    yield CAUSE.certain(
        f"`{fit.method}` is called on a model that is not compiled",
        place(fit.code),
        Evidence(
            "`compile` is never called on this model", fact="model.compiled", location=place(model.code)
        ),
        *_fixes(model, fit, data),
        subject="model",
    )


def _override(model: ModelFacts, project: Project) -> tuple[Module, FunctionInfo] | None:
    """Return the model's `compile` override if it does not call the base method."""
    for module in project.modules:
        for owner in module.classes:
            method = module.method(owner, "compile") if owner.name == model.class_name else None
            if method is not None and not _calls_base(method):
                return method.module, method
    return None


def _calls_base(method: FunctionInfo) -> bool:
    """Whether a method calls `super().compile(…)`, `super(GAN, self).compile(…)` or `keras.Model.compile(self, …)`."""
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "compile"
        for node in ast.walk(method.node)
    )


def _override_finding(model: ModelFacts, module: Module, method: FunctionInfo) -> Finding:
    assert isinstance(method.node, ast.FunctionDef)
    first = method.node.body[0]
    return CAUSE.finding(
        f"`{model.class_name}.compile` does not call `super().compile()`, so the model stays uncompiled",
        module.location(first),
        Evidence("the model overrides `compile` here", location=module.location(method.node)),
        fix("call `super().compile()` first", insert_before(module.code(first), "super().compile()")),
        subject="model",
    )


def _fixes(model: ModelFacts, fit: FitFacts, data: DataFacts) -> list[Fix]:
    loss = suggested_loss(model, data)
    receiver = fit.model if _NAME.match(fit.model) else None  # a name can be repeated, `build()` cannot
    if loss is None or receiver is None:
        return [fix(f"call `{receiver or 'model'}.compile(optimizer=…, loss=…)` first")]
    line = f'{receiver}.compile(optimizer="adam", loss="{loss}")'
    return [
        unsafe(
            f"compile with `{loss}`, the loss that matches the labels and the output",
            insert_before(fit.code, line),
        )
    ]


_NAME = re.compile(r"[A-Za-z_][\w.]*$")


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    fit: FitFacts | Unknown,
    model: ModelFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project,
) -> Iterator[Finding]:
    """Explain the Keras error."""
    if "must call `compile()` before" not in failure.message and (
        "must compile your model before" not in failure.message
    ):
        return
    remedy = fix("call `compile(optimizer=…, loss=…)` on this model first")
    if isinstance(fit, FitFacts) and isinstance(model, ModelFacts) and isinstance(data, DataFacts):
        found = list(from_model(model, fit, data, project))
        if found:
            yield found[0]
            return
    yield CAUSE.certain(
        "the model is not compiled",
        failure.location,
        Evidence("Keras does not train an uncompiled model"),
        remedy,
        subject="model",
    )


CAUSE.message(
    r"'(?:Model|Sequential|Functional)' object has no attribute '(?P<name>loss|optimizer|total_loss)'",
    "the model has no `{name}`, because it is not compiled",
    "call `compile(optimizer=…, loss=…)` on this model first",
    subject="model",
    types=("AttributeError",),
    fits=lambda failure: not any(frame.library and frame.function == "fit" for frame in failure.frames),
)
CAUSE.message(
    r"'(?:Model|Sequential|Functional)' object has no attribute '_compile_(?:metrics|time_distribution_strategy)'",
    "the model is not compiled",
    "call `compile(optimizer=…, loss=…)` on this model first",
    subject="model",
    types=("AttributeError",),
)
