"""Rule out problems in calls of fit that are fully known from the source.

In most calls x is one array with the shape of the model input, and the labels match the loss. Judges of these find
nothing there, so `lint` does not import them (see `doubting`). When unsure, run the judge.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fitdoctor.facts import ArrayFacts, DataFacts, LayerFacts, ModelFacts, Shape, Unknown

if TYPE_CHECKING:
    from fitdoctor.engine import Case

INPUTS = "inputs in doubt"
"""Something may be wrong with the arrays themselves, or with x for this model."""
LABELS = "labels in doubt"
"""Something may be wrong with y, the loss and the last layer."""
METRICS = "metrics in doubt"
"""There are metrics."""


def kinds_of(cases: Iterable[Case]) -> set[frozenset[str]]:
    """Return for each case the types of its facts and what is in doubt."""
    return {frozenset(case.facts) | _doubts(case) for case in cases}


def _doubts(case: Case) -> frozenset[str]:
    models, data = case.facts.get("ModelFacts"), case.facts.get("DataFacts")
    if not isinstance(models, tuple) or not isinstance(data, tuple):
        return frozenset({INPUTS, LABELS, METRICS})
    pairs = [(model, each) for model in models for each in data]
    plain = {
        INPUTS: all(_has_plain_inputs(model, each) for model, each in pairs),
        LABELS: all(_has_plain_labels(model, each) for model, each in pairs),
        METRICS: not any(model.metrics for model in models),
    }
    return frozenset(doubt for doubt, is_plain in plain.items() if not is_plain)


def _has_plain_inputs(model: ModelFacts, data: DataFacts) -> bool:
    arrays = (*data.x, *data.y, *data.sample_weight)
    if not _is_plain_call(model, data) or not all(map(_holds_numbers, arrays)):
        return False
    wanted = model.inputs[0].shape if isinstance(model.inputs, tuple) and len(model.inputs) == 1 else None
    lengths = {array.shape[:1] for array in arrays if isinstance(array.shape, tuple)}
    found = data.x[0].shape
    if not isinstance(wanted, tuple) or not isinstance(found, tuple) or None in found or len(lengths) != 1:
        return False
    return found[1:] == wanted[1:]


def _is_plain_call(model: ModelFacts, data: DataFacts) -> bool:
    """Whether only Keras code runs, on a single array x."""
    single = data.x_structure == data.y_structure == "single" and len(data.x) == len(data.y) == 1
    known = data.problem is None and isinstance(data.trial.forward, Unknown)
    return single and known and data.form == "arrays" and not model.overrides


def _holds_numbers(array: ArrayFacts) -> bool:
    numbers = isinstance(array.dtype, str) and array.dtype.startswith(("float", "int", "uint"))
    return (
        array.container == "numpy.ndarray"
        and isinstance(array.shape, tuple)
        and bool(array.shape)
        and numbers
    )


def _has_plain_labels(model: ModelFacts, data: DataFacts) -> bool:
    if not _is_plain_call(model, data) or not model.compiled or model.kind != "sequential":
        return False
    last = model.layers[-1] if model.layers else None
    output = model.outputs[0].shape if isinstance(model.outputs, tuple) and len(model.outputs) == 1 else None
    labels = data.y[0].shape
    if last is None or not isinstance(output, tuple) or not isinstance(labels, tuple) or len(output) != 2:
        return False
    if not labels or len(model.losses) != 1 or model.losses[0].kind != "builtin":
        return False
    return _go_together(model.losses[0].name, last, labels[1:], output[1:])


_ELEMENT_BY_ELEMENT = {
    "mean_squared_error": ("linear", "None"),
    "mean_absolute_error": ("linear", "None"),
    "binary_crossentropy": ("sigmoid",),
}
"""Losses with the activations that no judge objects to."""


def _go_together(loss: str, last: LayerFacts, labels: Shape, output: Shape) -> bool:
    """Whether labels, loss and last layer are one of the standard combinations."""
    if last.class_name != "Dense" or not last.builtin or output == (None,):
        return False
    activation = last.setting("activation") or "linear"
    if loss in _ELEMENT_BY_ELEMENT:
        return activation in _ELEMENT_BY_ELEMENT[loss] and (
            labels == output or (output == (1,) and not labels)
        )
    if activation != "softmax" or output == (1,):
        return False
    if loss == "sparse_categorical_crossentropy":
        return labels in ((), (1,))
    return loss == "categorical_crossentropy" and labels == output
