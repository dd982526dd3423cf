"""Integers reach an operation that wants floats.

## What happens

In a subclassed model, a custom layer or a `train_step`: `TypeError: Input 'b' of 'MatMul' Op has type float32
that does not match type int32 of argument 'a'`, or `Value passed to parameter 'input' has DataType int64 not
in list of allowed values`. In a loop that is not traced: `InvalidArgumentError: Value for attr 'T' of int64 is not in the
list of allowed values`.

## Why

Sequential and functional models cast what they get to the type of their `Input`. Elsewhere Keras casts floats
only: integers stay integers until a TensorFlow operation meets them together with float weights. A learning rate
schedule of one's own is called with a step that is an integer.

## Fix

Cast the data (`x.astype("float32")`), or in the model: `tf.cast(inputs, self.compute_dtype)`.

## Known limits

Two float types that do not match, as under mixed precision, are another matter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.contents import arrays_of
from fitdoctor.catalogue.data_places import maker, map_samples, rework_data
from fitdoctor.catalogue.shapes import forward_failure, went_through
from fitdoctor.catalogue.traced import at_frame, function_at, module_of, name_of, own_nodes
from fitdoctor.catalogue.words import listing, place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, insert_before, spell
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FailureFacts, FitFacts, Frame, ModelFacts, Unknown
from fitdoctor.failure.patterns import DtypeMismatch, dtype_mismatch
from fitdoctor.records import replace
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT111",
    slug="input-dtype-rejected",
    severity=Severity.ERROR,
    raises=("TypeError", "InvalidArgumentError"),
)

_INTEGERS = ("int", "uint", "bool")
_FLOATS = ("float", "half", "bfloat", "double")


@CAUSE.before_fit
def from_data(model: ModelFacts, fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """The abstract pass met integers where floats belong."""
    failure = forward_failure(data)
    if failure is None or data.role != "training":
        return
    said = _integer_met(failure.type, failure.message)
    if said is not None:
        yield _finding(said, failure.place, data, fit)


def _integer_met(kind: str, message: str) -> DtypeMismatch | None:
    """What was said, where one of the two types is an integer and the other a float."""
    said = dtype_mismatch(message)
    if said is None or kind not in ("TypeError", "ValueError", "InvalidArgumentError", "NotFoundError"):
        return None
    types = (said.found, said.expected)
    whole = any(name.startswith(_INTEGERS) for name in types)
    return said if whole and any(name.startswith(_FLOATS) for name in types) else None


def _finding(
    said: DtypeMismatch,
    where: Location | None,
    data: DataFacts | Unknown,
    fit_call: FitFacts | Unknown,
) -> Finding:
    integer = _integer_of(said)
    arrays = _integer_arrays(data, integer)
    names = listing(array.path for array in arrays) or "what comes in"
    operation = f" `{said.operation}`" if said.operation else ""
    return CAUSE.finding(
        f"{names} is of type {integer}, but the operation{operation} wants floats",
        subject="type of the features",
        location=place(where, maker(arrays[0]) if arrays else None),
        evidence=[
            replace(
                _types_that_met(said),
                fact="data.x.dtype",
                location=place(arrays[0].code, arrays[0].use) if arrays else None,
            )
        ],
        fixes=_fixes(arrays, data, fit_call),
        confidence=Confidence.CERTAIN,
    )


def _integer_of(said: DtypeMismatch) -> str:
    return next(name for name in (said.found, said.expected) if name.startswith(_INTEGERS))


def _types_that_met(said: DtypeMismatch) -> Evidence:
    return Evidence(
        claim="types that met",
        observed=_integer_of(said),
        expected=", ".join(said.allowed) or "float32",
        fact="failure.message",
    )


def _integer_arrays(data: DataFacts | Unknown, integer: str) -> list[ArrayFacts]:
    if isinstance(data, Unknown):
        return []
    return [
        array
        for array in arrays_of(data)
        if array.dtype == integer or (array in data.x and str(array.dtype).startswith(_INTEGERS))
    ][:1] or [array for array in data.y if str(array.dtype).startswith(_INTEGERS)][:1]


def _fixes(arrays: list[ArrayFacts], data: DataFacts | Unknown, fit_call: FitFacts | Unknown) -> list[Fix]:
    in_model = fix("or cast in the model: `tf.cast(inputs, tf.float32)`")
    if not arrays or isinstance(data, Unknown):
        return [fix("cast the data to float32, or in the model: `tf.cast(inputs, tf.float32)`")]
    array = arrays[0]
    title = f"cast `{array.path}` to float32"
    named = isinstance(array.code, Code) and array.container in ("numpy.ndarray", "pandas.DataFrame")
    if data.form == "arrays" and named and array in data.x:
        return [fix(title, rework_data(array, fit_call, '{}.astype("float32")')), in_model]
    edits = map_samples(data, array, "tf.cast(x, tf.float32)") if array in data.x else ()
    return [fix(f"{title}: `.map(lambda x, y: (tf.cast(x, tf.float32), y))`", edits), in_model]


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, fit: FitFacts | Unknown, data: DataFacts | Unknown, project: Project | Unknown
) -> Iterator[Finding]:
    """TensorFlow names both types."""
    said = _integer_met(failure.type, failure.message)
    if said is None or (isinstance(data, DataFacts) and data.role != "training"):
        return
    frame = failure.last_user_frame
    parameter = _parameter_at(module_of(project, frame), frame) if frame is not None else None
    if parameter is not None and (isinstance(data, Unknown) or went_through(data)):
        yield _of_parameter(said, *parameter)
    elif isinstance(data, Unknown) or not went_through(data):
        yield _finding(said, frame.location if frame else None, data, fit)


def _parameter_at(module: Module | None, frame: Frame) -> tuple[FunctionInfo, ast.Call, str] | None:
    """The call of a TensorFlow function that raised, where it is given a parameter of the function around it."""
    function = function_at(module, frame.line, frame.cell) if module is not None else None
    if module is None or function is None or isinstance(function.node, ast.Lambda):
        return None
    for call in own_nodes(function):
        if (
            isinstance(call, ast.Call)
            and at_frame(module, call, frame)
            and module.resolve(call.func).startswith(("tensorflow.", "keras.ops."))
            and len(call.args) == 1
            and isinstance(call.args[0], ast.Name)
            and call.args[0].id in function.parameters
        ):
            return function, call, call.args[0].id
    return None


def _of_parameter(said: DtypeMismatch, function: FunctionInfo, call: ast.Call, name: str) -> Finding:
    """Not the data: what the framework itself hands in, such as the step that a schedule is called with."""
    assert not isinstance(function.node, ast.Lambda)
    module = function.module
    integer = _integer_of(said)
    first = module.code(function.node.body[0])
    tf, imports = spell(first, "tensorflow", "tf")
    cast = f"{name} = {tf}.cast({name}, {tf}.float32)"
    return CAUSE.finding(
        f"`{name}` of {name_of(function)} is of type {integer}, but `{module.segment(call.func)}` wants floats",
        subject=f"type of {name}",
        location=module.location(call),
        evidence=[_types_that_met(said)],
        fixes=[fix(f"cast it first: `{cast}`", insert_before(first, cast), imports)],
        confidence=Confidence.CERTAIN,
    )
