"""`class_weight` keys that are not the classes in y.

## What happens

Keras looks up the weight of a sample by its integer class. With arrays, a class without a key gets weight 1. Keys
such as `"0"` and `"1"` from a JSON file, or labels from before encoding, therefore change nothing: no error, no
warning, no weighting. With a dataset, Keras builds a table up to the largest key. A class beyond it ends the
training with `InvalidArgumentError: indices[…] = 2 is not in [0, 2)`, and string keys raise a `TypeError`. A list or
an array instead of a dict raises `AttributeError: 'list' object has no attribute 'get'`.

## Why

The weights were computed on the raw labels while the model trains on encoded ones, the keys went through JSON,
classes start at 1 in one place and at 0 in the other, or one class is missing.

## Fix

Compute the weights from the labels passed to `fit` and use their integer classes as keys:
`dict(enumerate(weights))`.

## Known limits

With arrays, a dict that lists only some of the classes is accepted: the others get weight 1. Keys without a matching
class are harmless and not reported on their own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.data_trail import node_of
from fitdoctor.catalogue.knowledge.labels.targets import (
    is_class_numbers,
    is_fully_read,
    is_one_hot,
    statistics_of,
)
from fitdoctor.catalogue.words import number, place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, replace_code, unsafe, wrap
from fitdoctor.facts import ArrayFacts, ClassWeight, Code, DataFacts, FailureFacts, FitFacts, Unknown
from fitdoctor.failure.patterns import index_out_of_range
from fitdoctor.records import replace
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT212",
    slug="class-weight-keys",
    severity=Severity.WARNING,
    raises=("InvalidArgumentError", "AttributeError"),
    explains=("FIT113",),
)

_SUBJECT = "class_weight"
_LOOKED_UP_IN = ("class_weight_to_sample_weights", "make_class_weight_map_fn", "_make_class_weight_map_fn")


@CAUSE.likely_in_source
@mentions("class_weight")
def from_source(fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report an array passed instead of a dict, read from the source."""
    weights = fit.class_weight
    if weights is None or weights.keys != ("(ndarray)",):
        return
    found = node_of(project, weights.code)
    made = found[0].made_by(found[1]) if found is not None and isinstance(found[1], ast.expr) else None
    if found is not None and isinstance(made, ast.Call):
        weights = replace(weights, code=found[0].code(made))
    yield from from_data(replace(fit, class_weight=weights), data, project)


@CAUSE.before_fit
def from_data(fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Check the keys against the classes in the labels."""
    weights = fit.class_weight
    if weights is None or data.role != "training" or len(data.y) != 1 or data.sample_weight:
        return
    if len(weights.keys) == 1 and weights.keys[0].startswith("("):
        yield _finding(
            fit, weights, f"`class_weight` has type `{weights.keys[0][1:-1]}`, not a dict keyed by integer class", "",
            [_numbered(weights)],
            Severity.ERROR,
        )  # fmt: skip
        return
    numbers = {value for key in weights.keys if (value := _whole(key)) is not None}
    others = [key for key in weights.keys if _whole(key) is None]
    if others and not numbers:
        yield _strings(fit, data, weights, project)
        return
    classes = _classes(data.y[0])
    if not classes or not numbers:
        return
    if data.form == "dataset" and max(classes) > max(numbers):
        yield _finding(
            fit, weights,
            f"class {max(classes)} has no weight, but with a dataset every class up to the largest needs one",
            _listed(classes), [_weight_for(weights, max(classes), numbers)], Severity.ERROR,
            # A one-hot column may never contain a 1.
            Confidence.LIKELY if is_one_hot(data.y[0]) else Confidence.CERTAIN,
        )  # fmt: skip
    elif classes - numbers and is_fully_read(data.y[0]) and numbers - classes:
        yield _finding(
            fit, weights,
            f"`class_weight` has the keys {_listed(numbers)}, but y contains the classes {_listed(classes)}",
            _listed(classes), [_renumbered(weights, classes, numbers)], Severity.WARNING,
        )  # fmt: skip


def _numbered(weights: ClassWeight) -> Fix:
    """Convert the weights to a dict; for the string `balanced` they must be computed first."""
    if weights.keys[0] == "(str)":
        return fix("compute a dict with one weight per class, such as `{0: 0.6, 1: 3.1}`")
    return fix(
        "convert the weights to a dict: `dict(enumerate(…))`", wrap(weights.code, "dict(enumerate({}))")
    )


def _strings(fit: FitFacts, data: DataFacts, weights: ClassWeight, project: Project) -> Finding:
    digits = all(key.strip("'\"").isdigit() for key in weights.keys)
    edits = wrap(weights.code, "{int(key): weight for key, weight in {}.items()}") if digits else ()
    names = _list_of_names(project, weights)
    # Encoders number the names in sorted order, so sorted keys can be numbered the same way.
    if names:
        edits = wrap(weights.code, f"{{{names}.index(name): weight for name, weight in {{}}.items()}}")
    elif (
        not digits
        and list(weights.keys) == sorted(weights.keys)
        and len(weights.keys) == len(_classes(data.y[0]))
    ):
        edits = wrap(weights.code, "dict(enumerate({}.values()))")
    raises = data.form == "dataset"
    what = "Keras rejects them" if raises else "Keras ignores them: every class has weight 1"
    repair = fix if raises else unsafe
    return _finding(
        fit, weights, f"the keys of `class_weight` are not integers; {what}", "",
        [repair("convert the keys to integer classes", edits)], Severity.ERROR if raises else Severity.WARNING,
    )  # fmt: skip


def _list_of_names(project: Project, weights: ClassWeight) -> str:
    """Return the list in the file of the weights that numbers the same names; "" if there is not exactly one."""
    if not project or isinstance(weights.code, Unknown):
        return ""
    module = project.module_at(weights.code.location.path)
    if module is None:
        return ""
    keys = {key.strip("'\"") for key in weights.keys}
    found = []
    for name in module.index.module.bindings:
        made = module.assignments(name)
        value = made[0].value if len(made) == 1 and not made[0].path else None
        parts = value.elts if isinstance(value, (ast.List, ast.Tuple)) else []
        texts = [part.value for part in parts if isinstance(part, ast.Constant)]
        if len(texts) == len(parts) == len(keys) and set(texts) == keys:
            found.append(name)
    return found[0] if len(found) == 1 else ""


def _finding(
    fit: FitFacts,
    weights: ClassWeight,
    message: str,
    classes: str,
    fixes: list[Fix],
    severity: Severity,
    confidence: Confidence = Confidence.CERTAIN,
) -> Finding:
    shown = ", ".join(weights.keys[:8]) + (", …" if len(weights.keys) > 8 else "")
    return CAUSE.finding(
        message,
        place(weights.code, fit.code),
        Evidence(
            "type of `class_weight`" if shown.startswith("(") else "keys of `class_weight`",
            shown.strip("()"),
            classes or "integers from 0",
            fact="fit.class_weight",
            location=place(weights.code),
        ),
        *fixes,
        subject=_SUBJECT,
        confidence=confidence,
        severity=severity,
    )


def _whole(key: str) -> int | None:
    """Return the integer class a key (as `repr`) matches; 1, 1.0 and True are the same key in Python."""
    try:
        value = float({"True": "1", "False": "0"}.get(key, key))
    except ValueError:
        return None
    return int(value) if value.is_integer() else None


def _classes(labels: ArrayFacts) -> set[int]:
    statistics = statistics_of(labels)
    if is_one_hot(labels) and isinstance(labels.shape, tuple) and labels.shape[-1]:
        return set(range(labels.shape[-1]))
    if statistics is None or not is_class_numbers(labels) or statistics.histogram is None:
        return set()
    return {int(value) for value, _count in statistics.histogram}


def _listed(numbers: set[int]) -> str:
    ordered = sorted(numbers)
    if len(ordered) > 2 and ordered == list(range(ordered[0], ordered[-1] + 1)):
        return f"{ordered[0]}..{ordered[-1]}"
    return ", ".join(number(value) for value in ordered[:8]) + (", …" if len(ordered) > 8 else "")


def _weight_for(weights: ClassWeight, last: int, numbers: set[int]) -> Fix:
    missing = [value for value in range(last + 1) if value not in numbers]
    extra = ", ".join(f"{value}: 1.0" for value in missing)
    title = f"add a weight for class {', '.join(map(str, missing))}"
    code = weights.code
    if (
        isinstance(code, Code)
        and code.text.startswith("{")
        and code.text.endswith("}")
        and " for " not in code.text
    ):
        written = code.text[:-1].rstrip().rstrip(",")
        return unsafe(title, (Edit(code.location, f"{written}, {extra}}}"),))
    return unsafe(title, wrap(code, f"{{**{{}}, {extra}}}"))


def _renumbered(weights: ClassWeight, classes: set[int], numbers: set[int]) -> Fix:
    title = "compute the weights from the labels passed to `fit`"
    edits: tuple[Edit, ...] = ()
    if len(classes) == len(numbers) and sorted(classes) == list(range(len(classes))):
        edits = wrap(weights.code, "dict(enumerate({}.values()))")
        title = "use the classes in y as the keys"
        if numbers == {each + 1 for each in classes}:
            edits = _from_0(weights.code) or wrap(
                weights.code, "{key - 1: weight for key, weight in {}.items()}"
            )
    return unsafe(title, edits)


def _from_0(code: Code | Unknown) -> tuple[Edit, ...]:
    """Return the edit of a dict whose keys the only `enumerate(…, 1)` in it counts."""
    text = code.text if isinstance(code, Code) and code.text.startswith("{") else ""
    counted, times = re.subn(r"\benumerate\(([^()]+), (?:start=)?1\)", r"enumerate(\1)", text)
    return replace_code(code, counted) if times == 1 else ()


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, fit: FitFacts | Unknown, data: DataFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Report a class without a weight, or keys that cannot be looked up."""
    if not _is_about_weights(failure, fit):
        return
    if isinstance(fit, FitFacts) and isinstance(data, DataFacts):
        found = [finding for finding in from_data(fit, data, project) if finding.severity is Severity.ERROR]
        yield from found
        if found or data.role != "training":
            return
    index = index_out_of_range(failure.message)
    message = (
        f"class {index.value} has no weight in `class_weight`"
        if index is not None
        else "`class_weight` is not a dict keyed by integer class"
    )
    weights = fit.class_weight.code if isinstance(fit, FitFacts) and fit.class_weight is not None else None
    yield CAUSE.finding(
        message,
        place(weights, failure.location),
        Evidence(
            "class whose weight Keras looked up",
            str(index.value) if index is not None else failure.message,
            f"0..{index.high - 1}" if index is not None else "a dict such as {0: 1.0, 1: 5.0}",
            location=failure.location,
        ),
        fix("add a key to `class_weight` for every class in y"),
        subject=_SUBJECT,
        severity=Severity.ERROR,
    )


def _is_about_weights(failure: FailureFacts, fit: FitFacts | Unknown) -> bool:
    if any(frame.function in _LOOKED_UP_IN for frame in failure.frames[-3:]):
        return True
    # Class weights are gathered in a map over the dataset; an Embedding gathers in the model.
    told = failure.raw_message or failure.message
    if index_out_of_range(failure.message) is None or failure.node != "GatherV2":
        return False
    # TensorFlow 2.16 names only the iterator.
    if "MapDataset" in told or ("IteratorGetNext" in told and _weights_are_given(failure, fit)):
        return True
    return any("class_weight" in frame.text for frame in failure.definition if not frame.library)


def _weights_are_given(failure: FailureFacts, fit: FitFacts | Unknown) -> bool:
    if isinstance(fit, FitFacts):
        return fit.class_weight is not None
    frame = failure.last_user_frame
    return frame is not None and "class_weight" in frame.text
