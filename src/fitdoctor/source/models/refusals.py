"""Reports layers that Keras would fail to create or call to the listener."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from fitdoctor.facts import Unknown
from fitdoctor.records import dataclass
from fitdoctor.source.data import arrays
from fitdoctor.source.interpreter.values import (
    Arguments,
    Array,
    Items,
    LayerRecord,
    ModelRecord,
    Plain,
    Ref,
    Symbolic,
    Value,
)
from fitdoctor.source.models.layer_settings import Dims, LayerPlan, Refused

if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter


@dataclass(frozen=True)
class Failure:
    """A layer that would reject its input."""

    refusal: Refused
    layer: Ref
    record: LayerRecord
    inputs: tuple[Dims, ...]
    previous: Ref | None
    """The layer that its first input comes from."""
    node: ast.AST
    model: Ref | None = None
    """The sequential model that it was added to."""
    history: tuple[Symbolic, ...] = ()


def refuse_numpy_units(run: Interpreter, class_name: str, arguments: Arguments) -> None:
    """Report a `Dense` whose units are a NumPy integer: Keras 3 expects an `int`."""
    units = arguments.get("units", 0) if class_name == "Dense" else None
    if not isinstance(units, Array) or units.dims != () or units.container != "numpy.ndarray":
        return
    if run.module.keras == 3 and run.reporting and isinstance(units.dtype, str) and "int" in units.dtype:
        words = "Received an invalid value for `units`, expected a positive integer. Received: units=1"
        record = LayerRecord(LayerPlan(class_name), "dense", False, arguments.node)
        refused = Refused("ValueError", words)
        failure = Failure(refused, run.allocate(record), record, (), None, arguments.node)
        run.listener.refusal(run, failure)


def refuse_layers(run: Interpreter, ref: Ref, arguments: Arguments) -> None:
    """Report a layer called on another layer instead of its output."""
    for value in arguments.positional[:1]:
        for item in run.sequence(value) or (value,):
            passed = run.record(item) if isinstance(item, Ref) else None
            record = run.record(ref)
            if isinstance(passed, (LayerRecord, ModelRecord)) and isinstance(record, LayerRecord):
                if run.reporting and isinstance(item, Ref):
                    words = (
                        f"Only input tensors may be passed as positional arguments. Received: {passed.name}"
                    )
                    refusal = Refused("ValueError", words)
                    run.listener.refusal(run, Failure(refusal, ref, record, (), item, arguments.node))
                return


OPEN = Plain(None)
"""The batch size of a Keras tensor, as `x.shape[0]` returns it; distinct from any other None."""

_NEED_SIZES = frozenset(
    f"{library}.{name}"
    for library, names in (
        ("tensorflow", "zeros ones fill reshape tile broadcast_to random.normal random.uniform"),
        ("keras.ops", "zeros ones full reshape tile broadcast_to"),
        ("keras.random", "normal uniform"),
    )
    for name in names.split()
)
"""Functions whose size arguments must be numbers or tensors."""


def open_shape(run: Interpreter, tensor: Symbolic) -> Value:
    """`x.shape`: the batch axis of what an `Input` leads to is open."""
    shape = arrays.shape_value(tensor)
    if not isinstance(shape, Items) or not shape.items or shape.items[0] != OPEN:
        return shape
    return Items((OPEN, *shape.items[1:])) if _comes_from_input(run, tensor) else shape


def _comes_from_input(run: Interpreter, tensor: Symbolic) -> bool:
    """Whether a tensor is part of the graph of a model: on living data the batch has a length."""
    call = tensor.call
    while call is not None and call.inputs:
        call = call.inputs[0].call
    made = run.record(call.layer) if call is not None and call.layer is not None else None
    return isinstance(made, LayerRecord) and made.plan.class_name == "InputLayer"


def refuse_open_size(run: Interpreter, name: str, arguments: Arguments) -> None:
    """Report a function that gets the size of an open batch axis as a number."""
    if name not in _NEED_SIZES or not run.reporting:
        return
    for value in (*arguments.positional, *(value for _, value in arguments.keywords)):
        items = () if isinstance(value, Unknown) else run.sequence(value) or ()
        if any(item is OPEN for item in items):
            shown = ", ".join(str(item.value) if isinstance(item, Plain) else "?" for item in items)
            refused = Refused("ValueError", f"Failed to convert elements of ({shown}) to Tensor")
            record = LayerRecord(LayerPlan(name), name, False, arguments.node)
            failure = Failure(refused, run.allocate(record), record, (), None, arguments.node)
            run.listener.refusal(run, failure)
            return
