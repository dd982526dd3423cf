"""Class numbers with a loss that wants one-hot rows.

## What happens

`categorical_crossentropy` compares each output row with a row of the same width. Given class numbers of shape (n,) or
(n, 1), fit raises before the first step: `ValueError: Arguments target and output must have the same rank (ndim)` or
`… must have the same shape`.

## Why

The labels are class numbers (0, 1, 2, …) and the loss expects one-hot rows. The two crossentropies compute the same;
they differ in how they read the labels.

## Fix

Use `sparse_categorical_crossentropy` (and `sparse_categorical_accuracy`, or plain `"accuracy"`), or turn the labels
into one-hot rows with `keras.utils.to_categorical`.

## Known limits

With one output unit the same labels are accepted and the loss is 0 for ever: that is `softmax-over-one-unit`.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.targets import CATEGORICAL, SPARSE, Target, is_class_numbers, targets
from fitdoctor.catalogue.words import number, place, shape_words
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, rework, spell
from fitdoctor.facts import Code, DataFacts, FailureFacts, MetricFacts, ModelFacts, Unknown
from fitdoctor.failure.patterns import target_and_output

CAUSE = Cause(
    id="FIT201",
    slug="integer-labels-with-categorical-loss",
    severity=Severity.ERROR,
    raises="ValueError",
    explains=("FIT205", "FIT218"),
)


@CAUSE.in_source
@CAUSE.before_fit
def from_data(model: ModelFacts, data: DataFacts) -> Iterator[Finding]:
    """Flat whole numbers meet `categorical_crossentropy`."""
    for target in targets(model, data):
        if target.loss is None or target.loss.kind != "builtin" or target.loss.name != CATEGORICAL:
            continue
        if target.units in (None, 1) or not is_class_numbers(target.labels):
            continue
        proof = data.trial.loss
        proven = not isinstance(proof, Unknown) and not proof.ok
        if not isinstance(proof, Unknown) and proof.ok:
            continue
        yield _finding(model, target, Confidence.CERTAIN if proven else Confidence.LIKELY)


def _finding(model: ModelFacts, target: Target, confidence: Confidence) -> Finding:
    labels, loss, statistics = target.labels, target.loss, target.label_statistics
    assert labels is not None and loss is not None
    seen = ""
    if statistics is not None and statistics.minimum is not None and statistics.maximum is not None:
        seen = f", whole numbers from {number(statistics.minimum)} to {number(statistics.maximum)}"
    return CAUSE.finding(
        "`categorical_crossentropy` wants one-hot rows, but the labels are class numbers",
        subject=target.subject,
        location=place(loss.code, model.compile_code, labels.code),
        evidence=[
            Evidence(
                claim=f"shape of the labels{seen}",
                observed=shape_words(labels.shape),
                expected=shape_words(target.output.shape),
                fact="data.y.shape",
                location=place(labels.code, labels.use),
            )
        ],
        fixes=_fixes(model, target),
        confidence=confidence,
    )


def _fixes(model: ModelFacts, target: Target) -> list[Fix]:
    labels, loss = target.labels, target.loss
    if labels is None or loss is None:
        return []
    sparse = fix(
        "use the loss for class numbers, `sparse_categorical_crossentropy`",
        _sparse_loss(loss.code),
        _sparse_metrics(model.metrics, target.name),
    )
    keras, imports = spell(labels.use, "keras", "keras")
    one_hot = fix(
        f"turn the labels into one-hot rows of {target.units}",
        rework(
            labels.code,
            labels.use,
            f"{keras}.utils.to_categorical({{}}, num_classes={target.units})",
        ),
        imports,
    )
    return [sparse, one_hot]


def _sparse_loss(code: Code | Unknown) -> tuple[Edit, ...]:
    """The same loss, spelt for class numbers."""
    if isinstance(code, Unknown):
        return ()
    return _respelt(code, ("categorical_crossentropy", "CategoricalCrossentropy"))


def _sparse_metrics(metrics: tuple[MetricFacts, ...], output: str) -> tuple[Edit, ...]:
    """Metrics that were named for one-hot rows have to follow the loss."""
    edits: list[Edit] = []
    for metric in metrics:
        if isinstance(metric.code, Code) and metric.output in ("", output):
            edits += _respelt(
                metric.code,
                ("categorical_accuracy", "CategoricalAccuracy", "TopKCategoricalAccuracy"),
            )
    return tuple(edits)


def _respelt(code: Code, words: tuple[str, ...]) -> tuple[Edit, ...]:
    """Put `sparse_` or `Sparse` before the first of the words that the piece says."""
    for word in words:
        prefix = "sparse_" if word.islower() else "Sparse"
        if word in code.text and prefix + word not in code.text:
            return (Edit(code.location, code.text.replace(word, prefix + word, 1)),)
    return ()


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, model: ModelFacts | Unknown, data: DataFacts | Unknown
) -> Iterator[Finding]:
    """The message holds both shapes: labels without a class axis against an output with one."""
    shapes = target_and_output(failure.message)
    if shapes is None or isinstance(model, ModelFacts) and not _uses_categorical(model):
        return
    labels, output = shapes.target, shapes.output
    flat = len(labels) == len(output) - 1 or (len(labels) == len(output) and labels[-1] == 1)
    if not flat or output[-1] in (None, 1):
        return
    if isinstance(model, ModelFacts) and isinstance(data, DataFacts):
        for target in targets(model, data):
            if target.labels is not None and target.loss is not None and target.loss.name == CATEGORICAL:
                if is_class_numbers(target.labels):
                    yield _finding(model, target, Confidence.CERTAIN)
                return
    frame = failure.last_user_frame
    yield CAUSE.finding(
        "`categorical_crossentropy` wants one-hot rows, but the labels are class numbers",
        subject="labels",
        location=frame.location if frame else None,
        evidence=[
            Evidence(
                claim="shape of the labels",
                observed=shape_words(labels),
                expected=shape_words(output),
                fact="failure.message",
            )
        ],
        fixes=[
            fix(f"use the loss for class numbers, `{SPARSE}`"),
            fix("turn the labels into one-hot rows with `keras.utils.to_categorical`"),
        ],
        confidence=Confidence.LIKELY,
    )


def _uses_categorical(model: ModelFacts) -> bool:
    return any(loss.name == CATEGORICAL for loss in model.losses)
