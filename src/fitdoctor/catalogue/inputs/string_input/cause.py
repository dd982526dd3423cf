"""String data passed to a numeric model.

## What happens

The labels are strings such as `"setosa"`, or x has a column of words. Keras rejects a NumPy array of strings at once
(`Invalid dtype: str192`, `Invalid dtype: str`). An object array or a tensor of strings gets as far as the first
operation on it: `Cast string to float is not supported` in a `Graph execution error`, or `dtype='string' is not a
valid dtype for Keras type promotion`. `to_categorical` of class names raises `invalid literal for int()`.

## Why

Keras does not encode text by itself. A model that accepts text, through `TextVectorization` or `StringLookup`, needs
a tensor of strings: `fit` in Keras 3 does not support NumPy's string dtype. Numbers read from a text file may still
be strings.

## Fix

Numbers stored as text: `.astype("float32")`. Class names: `keras.layers.StringLookup`, scikit-learn's `LabelEncoder`
or `np.unique(y, return_inverse=True)`. Features: a `StringLookup` or `TextVectorization` layer.

## Known limits

In a dataset, strings are not checked for being numbers stored as text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting
from fitdoctor.catalogue.inputs.contents import arrays_of, is_text
from fitdoctor.catalogue.knowledge.data.data_places import (
    maker,
    map_samples,
    part_words,
    rework_data,
    shaping_step,
    suspect,
    validation_part,
)
from fitdoctor.catalogue.knowledge.data.data_trail import origin_of
from fitdoctor.catalogue.knowledge.data.dropped_steps import result_dropped
from fitdoctor.catalogue.knowledge.data.shapes import forward_failure
from fitdoctor.catalogue.prefilter import INPUTS
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, rework, rework_place, spell, wrap
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FailureFacts, FitFacts, Frame, ModelFacts, Unknown
from fitdoctor.failure.failed_line import module_of
from fitdoctor.records import replace
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT106",
    slug="string-input",
    severity=Severity.ERROR,
    aspect="objects",
    raises=("ValueError", "UnimplementedError"),
    explains=("FIT101", "FIT102", "FIT304"),
)

_REFUSED = re.compile(
    r"Invalid dtype: (?:str|bytes)\d*|Cast string to \w+ is not supported|could not convert string to float"
    r"|dtype='?string'? is not a valid dtype|Unsupported object type str"
)


_STRINGS = re.compile(r"dtype=string\b")


def _is_fed_strings(failure: FailureFacts) -> bool:
    """Whether the model rejected the shape of what it could only cast: a tensor of strings."""
    given = dict(failure.arguments).get("inputs", "")
    return bool(_STRINGS.search(given)) and failure.message.startswith("Invalid input shape")


@CAUSE.before_fit
def from_data(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report an array of strings that Keras, the model or the loss certainly rejects."""
    for array in arrays_of(data):
        if is_text(array) and _is_refused(array, model, data):
            yield _finding(array, model, fit, data, project)


@CAUSE.likely_in_source
@doubting(INPUTS)
def from_source(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a NumPy array of strings, which Keras 3 always rejects."""
    if model.keras != 3 or data.form != "arrays":
        return
    for array in arrays_of(data):
        if array.container == "numpy.ndarray" and array.dtype == "str":
            yield _finding(array, model, fit, data, project)


def _is_refused(array: ArrayFacts, model: ModelFacts, data: DataFacts) -> bool:
    if data.problem is not None:
        return any(words in data.problem.message for words in ("Invalid dtype", "could not convert string"))
    if array in data.x:
        failure = forward_failure(data)
        told = failure is not None and "string" in failure.message
        return told or _computes_with_numbers(model) or (failure is not None and _casts(model))
    # A built-in loss casts its labels at run time, which the trial does not detect.
    own = {"train_step", "compute_loss"} & set(model.overrides)
    return (
        model.compiled
        and not own
        and bool(model.losses)
        and all(loss.kind == "builtin" for loss in model.losses)
    )


_READS_TEXT = {"TextVectorization", "StringLookup", "Hashing", "HashedCrossing"}


def _computes_with_numbers(model: ModelFacts) -> bool:
    """Whether every layer is one of Keras for numbers: a cast of strings fails only when it runs."""
    if model.kind not in ("sequential", "functional") or _takes_text(model):
        return False
    layers = list(model.every_layer())
    own = {"train_step", "call"} & set(model.overrides)
    plain = all(layer.builtin and layer.class_name not in {"Lambda", *_READS_TEXT} for layer in layers)
    return bool(layers) and plain and not own


def _casts(model: ModelFacts) -> bool:
    """Whether the inputs are of numbers: then the model casts what it is given before any layer sees it."""
    own = {"train_step", "call"} & set(model.overrides)
    return (
        model.kind == "functional"
        and not isinstance(model.inputs, Unknown)
        and not own
        and not _takes_text(model)
    )


def _takes_text(model: ModelFacts | Unknown) -> bool:
    """Whether an input of the model is of strings, or its first layer encodes them."""
    if isinstance(model, Unknown):
        return False
    inputs = () if isinstance(model.inputs, Unknown) else model.inputs
    first = [layer for layer in model.layers if layer.class_name != "InputLayer"][:1]
    return any(spec.dtype == "string" for spec in inputs) or any(
        layer.class_name in _READS_TEXT for layer in first
    )


def _finding(
    array: ArrayFacts,
    model: ModelFacts | Unknown,
    fit_call: FitFacts | Unknown,
    data: DataFacts,
    project: Project,
) -> Finding:
    step = shaping_step(data)
    dropped = result_dropped(project, fit_call, data, ("map",)) if data.form == "dataset" else None
    labels = array in data.y
    if not labels and data.form == "arrays" and not array.written_numbers:
        if _takes_text(model):
            return _as_tensor(array, data)
        if not isinstance(model, Unknown) and not model.layers and isinstance(model.inputs, Unknown):
            found = _as_tensor(array, data)  # a loaded model, which may read text
            return replace(
                found, fixes=(*found.fixes, fix("encode the strings, if the model expects numbers"))
            )
    return CAUSE.certain(
        f"`{array.path}` contains strings, but the {'loss' if labels else 'model'} expects numbers",
        place(dropped[0] if dropped else None, step.code if step else None, maker(array), array.use),
        Evidence(f"dtype of `{array.path}`", str(array.dtype), "a numeric dtype", "data.dtype"),
        *([dropped[1]] if dropped else _fixes(array, fit_call, data, labels, project)),
        subject=part_words(array, data),
    )


def _as_tensor(array: ArrayFacts, data: DataFacts) -> Finding:
    """Report a NumPy array of strings for a model that accepts text only as a tensor."""
    tensorflow, imports = spell(array.use, "tensorflow", "tf")
    # Convert it in the call only: earlier code may index it in ways only arrays support.
    # An expression that gives several arrays is a dict or a list of them.
    alone = not any(other.use == array.use for other in data.x if other is not array)
    edits = wrap(array.use, f"{tensorflow}.constant({{}})") if alone else ()
    return CAUSE.certain(
        f"`{array.path}` is a NumPy array of strings, but Keras accepts text only as a tensor",
        place(array.use, maker(array)),
        Evidence(f"dtype of `{array.path}`", str(array.dtype), "a tensor of strings", "data.dtype"),
        fix("convert it to a tensor: `tf.constant(…)`", edits, imports if edits else ()),
        subject=part_words(array, data),
    )


def _fixes(
    array: ArrayFacts, fit_call: FitFacts | Unknown, data: DataFacts, labels: bool, project: Project
) -> list[Fix]:
    if data.form != "arrays":
        first = next((step.code for step in data.pipeline), Unknown())
        layer = _adapted_layer(first, project) if array.path == "x" else ""
        edits = map_samples(data, array, f"{layer}(x)") if layer else ()
        return [
            *([fix(f"pass the output of `{layer}` instead of the texts", edits)] if edits else []),
            fix(
                "convert the strings to numbers in the pipeline: `tf.strings.to_number`, or a `StringLookup` layer"
            ),
        ]
    if array.written_numbers:
        return [fix("convert the strings to numbers", rework_data(array, fit_call, '{}.astype("float32")'))]
    if labels:
        # Encode all labels together, including those for validation: separately they may get different numbers.
        code = maker(array)
        numpy, imports = spell(rework_place(code, array.use), "numpy", "np")
        encoded = f"{numpy}.unique({{}}, return_inverse=True)[1]"
        alike = array.path == "y" and (isinstance(fit_call, Unknown) or not fit_call.has_validation)
        split = (
            not isinstance(code, Unknown)
            and not isinstance(array.use, Unknown)
            and code.target != array.use.text
        )
        edits = rework(code, array.use, encoded) if alike or split else ()
        return [fix("encode the classes as integers", edits, imports if edits else ())]
    told = fix("encode the strings: a `StringLookup` or `TextVectorization` layer, or one-hot columns")
    layer = _adapted_layer(array.use, project) if array.path == "x" else ""
    edits = wrap(array.use, f"{layer}({{}})") if layer else ()
    validation = validation_part(fit_call, 0)
    if edits and validation is not None:
        edits += wrap(validation, f"{layer}({{}})")
    return [fix(f"pass the output of `{layer}` instead of the texts", edits), told] if edits else [told]


def _adapted_layer(code: Code | Unknown, project: Project) -> str:
    """Return the name, in the file of some code, of the program's only layer with a learned vocabulary."""
    module = project.module_at(code.location.path) if project and isinstance(code, Code) else None
    adapted = [
        (call.module, call.node.func.value)
        for each in project.modules
        for call in each.method_calls("adapt")
        if isinstance(call.node.func, ast.Attribute)
    ]
    if module is None or len(adapted) != 1:
        return ""
    where, name = adapted[0]
    made = where.origin(name)
    if made.module.called(made.node).rpartition(".")[2] not in ("TextVectorization", "StringLookup"):
        return ""
    if where is module and where.function_of(name) is None:
        return module.segment(name)
    names = [
        each.targets[0].id
        for each in module.nodes(ast.Assign)
        if isinstance(each.targets[0], ast.Name)
        and module.function_of(each) is None
        and module.origin(each.value).node is made.node
    ]
    return names[0] if len(names) == 1 else ""


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project,
) -> Iterator[Finding]:
    """Report strings that TensorFlow or Keras rejects."""
    if not _REFUSED.search(failure.message) and not _is_fed_strings(failure):
        return
    if isinstance(data, DataFacts):
        found = [_finding(array, model, fit, data, project) for array in arrays_of(data) if is_text(array)]
        yield from found
        if found or data.role != "training":
            return
    if "could not convert" in failure.message:
        yield from _converted(failure)
        return
    yield CAUSE.certain(
        "the data contains strings, but the model and the loss expect numbers",
        _line(failure, data, project),
        Evidence("rejected value", failure.message.splitlines()[0][:120], "numbers"),
        fix("encode the strings as numbers before `fit`, or in the model with a `StringLookup` layer"),
        subject="labels" if "loss" in failure.node else "features",
    )


_CONVERSION = re.compile(r"\.astype\(|\b(?:array|asarray|convert_to_tensor|constant)\(")


def _converted(failure: FailureFacts) -> Iterator[Finding]:
    """Report a conversion to numbers, in the program itself, that fails on text."""
    frame = failure.last_user_frame
    if frame is not None and _CONVERSION.search(frame.text):
        yield CAUSE.certain(
            "the data converted to numbers here contains text",
            frame.location,
            Evidence("rejected value", failure.message.splitlines()[0][:120], "numbers"),
            fix(
                "parse numbers with `pd.to_numeric(…, errors='coerce')` and fill missing values; encode categories"
            ),
            subject="features",
        )


_NAMES = re.compile(r"invalid literal for int\(\) with base 10")


@CAUSE.after_failure
def of_class_names(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report class names passed to `to_categorical`."""
    frame = failure.last_user_frame
    if frame is None or failure.called != "to_categorical" or not _NAMES.search(failure.message):
        return
    yield CAUSE.certain(
        "`to_categorical` expects integer class labels, but receives class names",
        frame.location,
        Evidence("rejected value", "text", "numbers"),
        fix("encode the class names as integers first", *_numbered(frame, project)),
        subject="labels",
    )


def _numbered(frame: Frame, project: Project) -> tuple[tuple[Edit, ...], ...]:
    """Return the edit if one call encodes all labels: two calls might number them differently."""
    module = module_of(project, frame)
    calls = (
        [site for site in module.calls if site.name.endswith("to_categorical")] if module is not None else []
    )
    given = calls[0].argument("x", 0) if len(calls) == 1 else None
    if module is None or given is None:
        return ()
    code = module.code(given)
    numpy, imports = spell(code, "numpy", "np")
    return wrap(code, f"{numpy}.unique({{}}, return_inverse=True)[1]"), imports


def _line(failure: FailureFacts, data: DataFacts | Unknown, project: Project) -> Location | None:
    frame = failure.last_user_frame
    array = None
    if isinstance(data, DataFacts):
        array = data.y[0] if "loss" in failure.node and data.y else suspect((*data.x, *data.y))
    in_fit = failure.called == "fit" and frame is not None and ".fit(" in frame.text
    return place(origin_of(project, array) if in_fit else None, failure.location)
