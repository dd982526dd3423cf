"""`class_weight` for a model with several outputs.

## What happens

Keras converts class weights to sample weights before the first step, and can do so for a single y only: `ValueError:
class_weight is only supported for Models with a single output.` A list or dict that contains one array counts as
several.

## Why

With several outputs, Keras cannot tell which output's classes the keys belong to.

## Fix

Compute the weight of each sample yourself and pass one array per output, in the structure of y:
`sample_weight=[weight_of_first, weight_of_second]`.

## Known limits

None known.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.labels.targets import BINARY_LOSSES, REGRESSION, SPARSE
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Edit, Evidence, Finding, Location, Severity
from fitdoctor.edits import remove_argument, spell, unsafe
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown

CAUSE = Cause(
    id="FIT213",
    slug="class-weight-many-outputs",
    severity=Severity.ERROR,
    raises="ValueError",
    explains=("FIT212", "FIT216"),
)

_WORDS = "`class_weight` is only supported for Models with a single output"


@CAUSE.in_source
@CAUSE.before_fit
@mentions("class_weight")
def from_data(model: ModelFacts | Unknown, fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Report class weights passed with a structured y."""
    if fit.class_weight is None or data.role != "training" or data.form not in ("arrays", "dataset"):
        return
    if data.y_structure in ("list", "tuple", "dict") and data.y and not _is_one_list(data.y):
        yield _finding(model, fit, data, None)


def _is_one_list(parts: tuple[ArrayFacts, ...]) -> bool:
    """Return whether y is a list of numbers: one array for older Keras versions, another cause for Keras 3."""
    return len(parts) == 1 and parts[0].container == "list"


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, model: ModelFacts | Unknown, fit: FitFacts | Unknown, data: DataFacts | Unknown
) -> Iterator[Finding]:
    """Report the ValueError Keras raises for several outputs."""
    if _WORDS in failure.message and (isinstance(data, Unknown) or data.role == "training"):
        yield _finding(model, fit, data, failure.location)


def _finding(
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    raised_at: Location | None,
) -> Finding:
    code = fit.code if isinstance(fit, FitFacts) else Unknown("the call of fit is unknown")
    given = code.argument("class_weight") if isinstance(code, Code) else None
    count = len(data.y) if isinstance(data, DataFacts) and data.y else 0
    seen = f"y has {count} part{'s' * (count != 1)}" if count else "y has several parts"
    return CAUSE.certain(
        f"`class_weight` works with a single y, but {seen}",
        place(given.whole if given is not None else None, code, raised_at),
        Evidence(
            "structure of y",
            data.y_structure if isinstance(data, DataFacts) else "several outputs",
            "one array",
            fact="data.y_structure",
            location=place(data.y[0].use) if isinstance(data, DataFacts) and data.y else None,
        ),
        unsafe("pass `sample_weight` instead, one array per output", _as_sample_weights(model, fit, data)),
        unsafe("remove `class_weight`", remove_argument(code, "class_weight")),
        subject="class_weight",
    )


def _as_sample_weights(
    model: ModelFacts | Unknown, fit: FitFacts | Unknown, data: DataFacts | Unknown
) -> tuple[Edit, ...]:
    """Replace `class_weight` by a `sample_weight` array for every part of y that has the weighted classes."""
    if isinstance(fit, Unknown) or isinstance(data, Unknown) or not isinstance(fit.code, Code):
        return ()
    given = fit.code.argument("class_weight")
    if given is None or data.form != "arrays" or data.y_structure not in ("list", "tuple", "dict"):
        return ()
    weighed = _weighed(model, fit, data)
    names = _names(data)
    if not weighed or not names:
        return ()
    numpy, imports = spell(fit.code, "numpy", "np")
    parts = {
        array.key: f"{numpy}.array([{given.text}[int(label)] for label in {name}])"
        if array in weighed
        else f"{numpy}.ones(len({name}))"
        for array, name in zip(data.y, names, strict=True)
    }
    if data.y_structure != "dict":
        return (Edit(given.whole, f"sample_weight=[{', '.join(parts.values())}]"), *imports)
    order = model.output_names if isinstance(model, ModelFacts) and model.output_structure == "list" else ()
    if set(order) == set(parts):
        # For list outputs Keras rejects a dict of weights, so labels and weights both become lists.
        labels = fit.code.argument("y", 1)
        named = {array.key: name for array, name in zip(data.y, names, strict=True)}
        as_list = Edit(labels.location, f"[{', '.join(named[key] for key in order)}]") if labels else None
        weights = Edit(given.whole, f"sample_weight=[{', '.join(parts[key] for key in order)}]")
        return (as_list, weights, *imports) if as_list is not None else ()
    keyed = [f'"{key}": {part}' for key, part in parts.items()]
    return (Edit(given.whole, f"sample_weight={{{', '.join(keyed)}}}"), *imports)


def _names(data: DataFacts) -> list[str]:
    """Return the variable name of each part of y, or nothing if one of them has none."""
    names = [array.use.text for array in data.y if isinstance(array.use, Code)]
    if len(names) != len(data.y) or not all(name.isidentifier() for name in names):
        return []
    if data.y_structure == "dict" and len(set(names)) == 1:  # the dict itself has the name
        return [f'{name}["{array.key}"]' for array, name in zip(data.y, names, strict=True)]
    return names if len(set(names)) == len(names) else []


def _weighed(model: ModelFacts | Unknown, fit: FitFacts, data: DataFacts) -> list[ArrayFacts]:
    """Return the parts of y whose classes are weighted; if values are unknown, those with a classification loss."""
    classes = {str(key) for key in fit.class_weight.keys} if fit.class_weight is not None else set()
    found = [array for array in data.y if _classes_of(array) == classes]
    if not found and isinstance(model, ModelFacts) and len(model.losses) == len(data.y):
        unread = not any(_classes_of(array) for array in data.y)
        numbered = [loss.output for loss in model.losses if loss.name in (SPARSE, *BINARY_LOSSES)]
        others = [loss for loss in model.losses if loss.name in REGRESSION]
        if unread and len(numbered) + len(others) == len(data.y):
            keys = {str(at) for at, name in enumerate(model.output_names) if name in numbered}
            found = [array for array in data.y if array.key in keys.union(numbered)]
    return found


def _classes_of(array: ArrayFacts) -> set[str]:
    """Return the integer classes in one-dimensional labels, as strings."""
    statistics = array.statistics
    if isinstance(statistics, Unknown) or not statistics.integral or not statistics.histogram:
        return set()
    flat = isinstance(array.shape, tuple) and len(array.shape) == 1
    return {str(int(value)) for value, _count in statistics.histogram} if flat else set()
