"""Integer labels with a loss for one-hot labels.

## What happens

`categorical_crossentropy` compares each output row with a label row of the same width. With integer class labels of
shape (n,) or (n, 1), `fit` raises before the first step: `ValueError: Arguments target and output must have the
same rank (ndim)` or `… must have the same shape`.

## Why

The labels are integer classes (0, 1, 2, …), but the loss expects one-hot labels. Both cross-entropy losses compute
the same value; they differ only in the label format they expect.

## Fix

Use `sparse_categorical_crossentropy` (and `sparse_categorical_accuracy`, or plain `"accuracy"`), or one-hot encode
the labels with `keras.utils.to_categorical`.

## Known limits

With one output unit the same labels are accepted and the loss stays at 0: see FIT209 (`softmax-over-one-unit`) and
FIT205 (`output-units-mismatch`). A saved message does not show the values of the labels.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.labels.label_shapes import (
    CLASS_NUMBERS,
    Refused,
    explains_labels,
)
from fitdoctor.catalogue.knowledge.labels.targets import CATEGORICAL, SPARSE, metrics_for
from fitdoctor.catalogue.labels.label_edits import (
    SPARSE_METRICS,
    folder_one_hot_fix,
    one_hot_fix,
    respell,
    respell_metrics,
)
from fitdoctor.catalogue.words import number
from fitdoctor.diagnosis import Finding, Fix, Severity
from fitdoctor.edits import fix

CAUSE = Cause(
    id="FIT201",
    slug="integer-labels-with-categorical-loss",
    severity=Severity.ERROR,
    raises="ValueError",
    explains=("FIT205", "FIT207", "FIT211", "FIT218"),
)


def _explain(refused: Refused) -> Iterator[Finding]:
    if refused.is_row_of_one_class:
        return  # reported by output-units-mismatch
    loss = refused.target.loss if refused.target is not None else None
    yield refused.finding_at_loss(
        CAUSE,
        f"`{loss.name if loss else CATEGORICAL}` expects one-hot labels, but the labels are integer classes",
        f"shape of the labels{_range(refused)}",
        refused.output,
        _fixes(refused),
    )


_WORDS = mentions("ategorical", "kl_divergence", "kullback", "KLD", "kld", "KLDivergence")
explains_labels(CAUSE, _explain, CLASS_NUMBERS, narrowed=_WORDS)


def _range(refused: Refused) -> str:
    statistics = refused.statistics
    if statistics is None or statistics.minimum is None or statistics.maximum is None:
        return ""
    return f"; they are integers from {number(statistics.minimum)} to {number(statistics.maximum)}"


def _fixes(refused: Refused) -> list[Fix]:
    target = refused.target
    use_sparse = f"use `{SPARSE}`, the loss for integer class labels"
    if target is None or target.labels is None or target.loss is None:
        called = respell(refused.called, SPARSE, without=("label_smoothing", "axis"))
        return [fix(use_sparse, called), fix("one-hot encode the labels with `keras.utils.to_categorical`")]
    from_folder = folder_one_hot_fix(target)
    fixes = [from_folder] if from_folder is not None else []
    if target.loss_name == CATEGORICAL:
        edits = respell(target.loss.code, SPARSE, without=("label_smoothing", "axis"))
        if edits:
            fixes.append(
                fix(use_sparse, edits, respell_metrics(metrics_for(target.model, target), SPARSE_METRICS))
            )
        else:
            fixes.append(fix(use_sparse))
    if from_folder is None:
        fixes.append(one_hot_fix(target.labels, target))
    return fixes
