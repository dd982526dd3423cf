"""Array of Python objects instead of numbers.

## What happens

`ValueError: Invalid dtype: object` (Keras 2: `Failed to convert a NumPy array to a Tensor`), without naming the
column or row. A DataFrame with a string column raises `could not convert string to float`; pandas dtypes raise
`Invalid dtype: Float64`, `datetime64` or `category`.

## Why

NumPy falls back to Python objects if the elements have no common dtype: a bool column next to float columns in
`.values` (as `get_dummies` creates them), `Decimal` from a database, rows of different lengths, `None`.

## Fix

It depends on the contents. Cast mixed numbers with `.astype("float32")`, pad rows of different lengths
(`keras.utils.pad_sequences`), encode strings, and fill missing values first.

## Known limits

The contents of an object array are judged by its first rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.inputs.contents import NUMBERS, TEXT, arrays_of, is_refused, kinds
from fitdoctor.catalogue.knowledge.data.data_places import (
    maker,
    part_words,
    rework_data,
    reworked,
    shaping_step,
    suspect,
)
from fitdoctor.catalogue.knowledge.data.data_trail import origin_of
from fitdoctor.catalogue.knowledge.data.frame_edits import width_taken_from, with_dummies, with_numbers
from fitdoctor.catalogue.words import listing, place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, spell, unsafe
from fitdoctor.facts import ArrayFacts, DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.failure.failed_line import raised_here
from fitdoctor.failure.frames import is_framework
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT105", slug="object-dtype-input", severity=Severity.ERROR, aspect="objects", raises="ValueError"
)

_REFUSED = re.compile(
    r"Invalid dtype: (?!str|bytes)(?P<dtype>[\w\[\]]+)|Unsupported object type (?P<kind>[\w.]+)"
    r"|could not convert string to float"
)
_NULLABLE = re.compile(r"(?:Float|Int|UInt)\d+|boolean")


@CAUSE.before_fit
def from_data(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report arrays whose dtype Keras rejects."""
    said = data.problem.message if data.problem is not None else ""
    # For a table, Keras reports the dtype of one column, such as the pandas dtype for text.
    if _REFUSED.search(said) or "Invalid dtype: str" in said or _is_one_object(data):
        yield from _findings(model, fit, data, project)


def _is_one_object(data: DataFacts) -> bool:
    """Whether Keras failed to count an array that holds one thing: NumPy does not open a sparse matrix, or a set."""
    asked = data.problem is not None and data.problem.message == "tuple index out of range"
    return asked and any(array.shape == () and array.dtype == "object" for array in arrays_of(data))


@CAUSE.likely_in_source
@mentions("object", "DataFrame")
def from_source(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report object arrays of rows, or lists in table cells, which Keras 3 rejects."""
    if model.keras != 3 or data.form != "arrays":
        return
    # A flat array may contain text, which is trainable; an array of unknown shape contains rows.
    ragged = [
        array
        for array in arrays_of(data)
        if array.container == "numpy.ndarray" and array.dtype == "object" and isinstance(array.shape, Unknown)
    ]
    yield from _findings(model, fit, data, project) if ragged else ()


_UNEVEN = re.compile(r"array has an inhomogeneous shape|setting an array element with a sequence")
_MAKES_ARRAY = re.compile(r"\b(?:array|asarray|stack)\(")


@CAUSE.after_failure
def from_uneven_rows(failure: FailureFacts) -> Iterator[Finding]:
    """Report rows of different lengths that NumPy cannot convert to an array."""
    frame = failure.last_user_frame
    here = (
        frame is None
        or _MAKES_ARRAY.search(frame.text)
        or failure.called in ("fit", "evaluate", "predict")
        or is_framework(failure.frames[-1].path)
    )
    if here and _UNEVEN.search(failure.message):
        yield CAUSE.finding(
            "rows of different shapes cannot be converted to one array",
            failure.location,
            raised_here(failure),
            fix("pad the rows to the same length: `keras.utils.pad_sequences(…)`"),
            fix("if numbers and arrays are mixed, convert the arrays to numbers with `.item()`"),
            subject="features",
            confidence=Confidence.CERTAIN if frame is not None else Confidence.LIKELY,
        )


def _findings(
    model: ModelFacts | Unknown, fit_call: FitFacts | Unknown, data: DataFacts, project: Project
) -> Iterator[Finding]:
    for array in arrays_of(data):
        if is_refused(array):
            step = shaping_step(data)
            yield CAUSE.certain(
                f"`{array.path}` has dtype `{array.dtype}`{_holding(array)}, but Keras expects a numeric dtype",
                place(step.code if step else None, maker(array), array.use),
                *list(_evidence(array)),
                *_fixes(array, model, fit_call, data, project),
                subject=part_words(array, data),
            )


def _holding(array: ArrayFacts) -> str:
    if not array.columns:
        return ""
    if len(array.columns) == 1:
        return f" and contains {array.columns[0].holds}" if array.columns[0].holds else ""
    odd = _odd_columns(array)
    if not odd:
        return " and contains a mix of numeric types"
    return f" because of the column{'s' if len(odd) > 1 else ''} {listing(odd, 4)}"


def _odd_columns(array: ArrayFacts) -> list[str]:
    """Return the columns that contain anything but numbers."""
    plain = {"int", "float", "bool", "NaN", ""}
    return [
        column.name
        for column in array.columns
        if not set(column.holds.split(", ")) <= plain or column.dtype in ("str", "category")
    ]


def _evidence(array: ArrayFacts) -> Iterator[Evidence]:
    for column in array.columns[:6]:
        name = f"column `{column.name}` of `{array.path}`" if column.name else f"elements of `{array.path}`"
        yield Evidence(name, column.holds or column.dtype, "numbers", "data.columns")
    if not array.columns:
        yield Evidence(f"dtype of `{array.path}`", str(array.dtype), "a numeric dtype", "data.dtype")


def _fixes(
    array: ArrayFacts,
    model: ModelFacts | Unknown,
    fit_call: FitFacts | Unknown,
    data: DataFacts,
    project: Project,
) -> list[Fix]:
    held = kinds(array)
    names = set(held)
    if array.shape == ():
        return [fix("pass a dense array: `.toarray()` for a sparse matrix, `list(…)` for a set")]
    if (
        isinstance(array.dtype, str)
        and _NULLABLE.fullmatch(array.dtype)
        or (names and names <= NUMBERS - {"NaN"})
    ):
        return [fix("cast the numbers to float32", rework_data(array, fit_call, '{}.astype("float32")'))]
    if names and names <= NUMBERS | {"None", "NAType"}:
        return [fix("fill the missing values, then cast to float32")]
    lengths = [length for length in held.values() if length is not None]
    if lengths and all(length is not None for length in held.values()):
        return [_of_rows(array, lengths, model, fit_call)]
    if names & TEXT or array.dtype in ("category", "str"):
        odd = _odd_columns(array)
        written = [column.name for column in array.columns if column.unreadable is not None]
        if array in data.x and odd and written:
            # One dummy column per number would carry no information.
            title = f"parse {listing(written)} with `pd.to_numeric(…)`, and drop or fill what is not a number"
            read = with_numbers(project, data, array, written, len(written) == len(odd))
            words = len(written) < len(odd) and read
            return [unsafe(title, read, with_dummies(project, fit_call, data, array) if words else ())]
        title = f"encode the strings{f' of {listing(odd)}' if odd else ''}: `pd.get_dummies(…, dtype=float)`"
        dummies = with_dummies(project, fit_call, data, array) if array in data.x else ()
        return [fix(title, dummies, width_taken_from(model, array, project) if dummies else ())]
    if isinstance(array.dtype, str) and array.dtype.startswith("datetime"):
        return [fix("convert the dates to numbers, such as days since the first date")]
    return [fix("convert the array to a single numeric dtype")]


def _of_rows(
    array: ArrayFacts,
    lengths: list[tuple[int, int]],
    model: ModelFacts | Unknown,
    fit_call: FitFacts | Unknown,
) -> Fix:
    low, high = min(length[0] for length in lengths), max(length[1] for length in lengths)
    if low == high:
        numpy, imports = spell(reworked(array), "numpy", "np")
        return fix("stack the rows", rework_data(array, fit_call, f"{numpy}.stack({{}})"), imports)
    expected, dtype = high, "int32"
    if isinstance(model, ModelFacts) and isinstance(model.inputs, tuple) and len(model.inputs) == 1:
        shape = model.inputs[0].shape
        if isinstance(shape, tuple) and len(shape) == 2 and shape[1] is not None:
            expected = shape[1]
        first = next((layer.class_name for layer in model.layers if layer.class_name != "InputLayer"), "")
        dtype = "int32" if first == "Embedding" or "int" in model.inputs[0].dtype else "float32"
    keras, imports = spell(reworked(array), "keras", "keras")
    padded = f'{keras}.utils.pad_sequences({{}}, maxlen={expected}, padding="post", dtype="{dtype}")'
    return unsafe(
        f"pad the rows, which have {low} to {high} elements, to {expected}",
        rework_data(array, fit_call, padded),
        imports,
    )


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project,
) -> Iterator[Finding]:
    """Report the dtype that Keras or TensorFlow rejects."""
    refused = _REFUSED.search(failure.message)
    if isinstance(data, DataFacts) and _is_one_object(data):
        yield from _findings(model, fit, data, project)
        return
    if refused is None or failure.type not in ("ValueError", "TypeError"):
        return
    if isinstance(data, DataFacts):
        found = list(_findings(model, fit, data, project))
        yield from found
        if found or any(isinstance(array.dtype, str) for array in data.x) and not failure.from_text:
            return
        if data.role != "training":
            return
    if (
        refused["dtype"] is None
        and refused["kind"] is None
        and failure.called not in ("fit", "evaluate", "predict")
        and not any(is_framework(frame.path) for frame in failure.frames)
    ):
        return
    what = refused["dtype"] or ("object" if refused["kind"] else "str")
    # NumPy names the type of the first element that it cannot store as a number.
    held = f" and contains `{refused['kind']}` objects" if refused["kind"] else ""
    frame = failure.last_user_frame
    array = data.x[0] if isinstance(data, DataFacts) and len(data.x) == 1 else None
    if isinstance(data, DataFacts):
        array = suspect((*data.x, *data.y)) or array
    if array is not None and array.dtype == "str":
        return  # reported by string-input
    yield CAUSE.certain(
        f"an array has dtype `{what}`{held}, but Keras expects a numeric dtype",
        place(origin_of(project, array), frame.location if frame else None),
        Evidence("dtype of the array", what, "a numeric dtype"),
        fix('encode, pad or drop the columns or rows that are not numeric, then use `.astype("float32")`'),
        subject="features",
    )
