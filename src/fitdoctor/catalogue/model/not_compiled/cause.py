"""The model was not compiled.

## What happens

`fit` and `evaluate` raise `ValueError: You must call compile() before using the model.` before anything else is looked
at: a wrong input shape or loss shows only after `compile` is there.

## Why

`compile` was forgotten; it was called on another model (one that this model was made from, or that was made anew
since); or the model's own `compile` method does not call `super().compile()`.

## Fix

Call `model.compile(optimizer=…, loss=…)` before `fit`. Which loss fits is told by labels and output: whole class
numbers and one unit a class, `sparse_categorical_crossentropy`; one-hot rows, `categorical_crossentropy`; labels 0 and
1 and one sigmoid unit, `binary_crossentropy`; other numbers, `mse`.

## Known limits

Read from the source alone, a model that goes through code that cannot be followed counts as compiled.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.targets import (
    BINARY,
    CATEGORICAL,
    SPARSE,
    is_class_numbers,
    is_one_hot,
    last_activation,
    output_specs,
)
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, insert_before
from fitdoctor.facts import Code, DataFacts, FailureFacts, FitFacts, ModelFacts, Statistics, Unknown

CAUSE = Cause(id="FIT301", slug="not-compiled", severity=Severity.ERROR, raises="ValueError")

NEEDS_COMPILE = frozenset({"fit", "evaluate", "train_on_batch", "test_on_batch"})


@CAUSE.in_source
@CAUSE.before_fit
def from_model(model: ModelFacts, fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Keras itself says that it is not compiled."""
    if model.compiled or fit.method not in NEEDS_COMPILE or data.role != "training":
        return
    overridden = "compile" in model.overrides
    yield CAUSE.finding(
        f"`{fit.method}` is called on a model that was not compiled",
        subject="model",
        location=_override(model) or place(fit.code),
        evidence=[
            Evidence(
                claim=f"`{model.class_name}.compile` does not call `super().compile()`"
                if overridden
                else "`compile` was not called on this model",
                fact="model.compiled",
                location=place(model.code),
            )
        ],
        fixes=_fixes(model, fit.code, data, overridden),
        confidence=Confidence.LIKELY if overridden else Confidence.CERTAIN,
    )


def _override(model: ModelFacts) -> Location | None:
    return None


def _fixes(
    model: ModelFacts, call: Code | Unknown, data: DataFacts, overridden: bool
) -> list[Fix]:
    if overridden:
        return [fix("call `super().compile(…)` in your `compile`")]
    loss = suggested_loss(model, data)
    receiver = call.text.split(".fit")[0].split(".evaluate")[0] if isinstance(call, Code) else "model"
    if loss is None:
        return [fix(f"call `{receiver}.compile(optimizer=…, loss=…)` before")]
    line = f'{receiver}.compile(optimizer="adam", loss="{loss}")'
    return [fix(f"compile with the loss that labels and output suggest, `{loss}`", insert_before(call, line))]


def suggested_loss(model: ModelFacts, data: DataFacts) -> str | None:
    """The loss that goes with these labels and this output; None when that cannot be told."""
    outputs = output_specs(model, data)
    if len(outputs) != 1 or len(data.y) != 1 or isinstance(outputs[0].shape, Unknown):
        return None
    labels, units = data.y[0], outputs[0].shape[-1]
    activation = last_activation(model)
    statistics = labels.statistics if isinstance(labels.statistics, Statistics) else None
    if is_one_hot(labels) and activation == "softmax":
        return CATEGORICAL
    if activation == "softmax" and is_class_numbers(labels):
        return SPARSE
    if activation == "sigmoid" and statistics is not None and statistics.integral:
        return BINARY if (statistics.minimum, statistics.maximum) in ((0, 1), (0, 0), (1, 1)) else None
    if activation == "linear" and units == 1 or statistics is not None and not statistics.integral:
        return "mse"
    return None


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, fit: FitFacts | Unknown, model: ModelFacts | Unknown, data: DataFacts | Unknown
) -> Iterator[Finding]:
    """Keras names it."""
    if "must call `compile()` before" not in failure.message and (
        "must compile your model before" not in failure.message
    ):
        return
    frame = failure.last_user_frame
    if isinstance(fit, FitFacts) and isinstance(model, ModelFacts) and isinstance(data, DataFacts):
        found = list(from_model(model, fit, data))
        if found:
            yield found[0]
            return
    yield CAUSE.finding(
        "the model was not compiled",
        subject="model",
        location=frame.location if frame else None,
        evidence=[Evidence(claim="Keras refused to train it", fact="failure.message")],
        fixes=[fix("call `compile(optimizer=…, loss=…)` on this model before")],
        confidence=Confidence.CERTAIN,
    )
