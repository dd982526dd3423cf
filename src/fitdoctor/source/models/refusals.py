"""Layers that Keras would refuse to make or to call, as they are told to the listener."""

from __future__ import annotations

import ast

from fitdoctor.records import dataclass
from fitdoctor.source.interpreter.values import Arguments, Array, LayerRecord, ModelRecord, Ref, Symbolic
from fitdoctor.source.models.layer_settings import Dims, LayerPlan, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter


@dataclass(frozen=True)
class Failure:
    """A layer that Keras would refuse to call."""

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
    """Tell of a `Dense` whose units are a whole number of NumPy's: Keras 3 takes an `int`."""
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
    """Tell of a layer that is given another layer instead of that layer's output."""
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
