"""A model called on tensors, as a layer is: what comes out, and what it refuses."""

from __future__ import annotations

from fitdoctor.facts import Unknown
from fitdoctor.source.fits.own_loops import tell_call
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.values import (
    UNTOLD,
    Arguments,
    Array,
    Items,
    LayerCall,
    LayerRecord,
    ModelRecord,
    Ref,
    Symbolic,
    Value,
)
from fitdoctor.source.models.layer_settings import Dims, LayerPlan, Refused, shown
from fitdoctor.source.models.model_shapes import input_shapes, model_outputs
from fitdoctor.source.models.refusals import Failure
from fitdoctor.source.models.static_layers import applied, call_layer, follow_call, inside_of, tensors_in

MODEL = "Model"
"""The class name that a refusal gives for a model that is called as a layer."""


def call_as_layer(run: Interpreter, ref: Ref, arguments: Arguments) -> Value:
    """A layer or a model called on tensors."""
    record = run.record(ref)
    if isinstance(record, LayerRecord):
        return call_layer(run, ref, arguments)
    assert isinstance(record, ModelRecord)
    given = arguments.positional[0] if arguments.positional else arguments.get("inputs") or UNTOLD
    tensors = tensors_in(run, given)
    if tensors is None:
        run.touch(arguments)
        return UNTOLD
    tell_call(run, ref, given, arguments)
    if record.kind == "subclassed" and record.owner is not None:
        made = follow_call(run, ref, record.owner, arguments)
        if isinstance(made, (Symbolic, Array)):
            call = LayerCall(ref, tensors, run.fresh(), arguments.node, inside_of(run, ref, made))
            return Symbolic(made.dims, made.dtype if isinstance(made.dtype, str) else "", call)
        return UNTOLD
    if _refuses(run, ref, record, tensors, arguments):
        return UNTOLD
    outputs = model_outputs(run, ref, tuple(tensor.dims for tensor in tensors))
    call = LayerCall(ref, tensors, run.fresh(), arguments.node)
    if outputs is None:
        single = record.kind == "sequential" or isinstance(record.outputs, Symbolic)
        return Symbolic(UNTOLD, "float32", call) if single else UNTOLD
    made_of = tuple(Symbolic(dims, "float32", call, at) for at, dims in enumerate(outputs))
    if record.kind == "functional" and not isinstance(record.outputs, Symbolic):
        return run.new_list(made_of) if isinstance(record.outputs, Items) else UNTOLD
    return made_of[0]


def _refuses(
    run: Interpreter, ref: Ref, record: ModelRecord, tensors: tuple[Symbolic, ...], arguments: Arguments
) -> bool:
    """Whether a model with an `Input` is called on a tensor with an axis of another length."""
    own = input_shapes(run, record)
    if own is None or len(own) != 1 or len(tensors) != 1 or record.open:
        return False
    wanted, found = own[0], tensors[0].dims
    if isinstance(wanted, Unknown) or isinstance(found, Unknown) or len(wanted) != len(found):
        return False
    pairs = zip(wanted[1:], found[1:], strict=True)
    if not any(isinstance(one, int) and isinstance(other, int) and one != other for one, other in pairs):
        return False
    # On a tensor of Keras it checks its shape; on a living one its layers do.
    symbolic = tensors[0].call is not None and not any(
        getattr(node, "name", "") == "call" for node in run.active
    )
    if record.kind == "sequential" and not symbolic and not _refuses_inside(run, record, found):
        return False
    if run.reporting and tensors[0].call is not None:
        words = (
            f"Invalid input shape for input Tensor. Expected shape {shown(wanted)}, but input has incompatible "
            f"shape {shown(found)}"
        )
        inside = LayerRecord(LayerPlan(MODEL, {}, None, False), record.name, False, record.node)
        place = run.allocate(inside)
        history = tensors[0].call.layer
        failure = Failure(
            Refused("ValueError", words), place, inside, (found,), history, arguments.node, None, tensors
        )
        run.listener.refusal(run, failure)
    return True


def _refuses_inside(run: Interpreter, record: ModelRecord, dims: Dims) -> bool:
    """Whether a layer of a sequential model refuses what the tensor becomes."""
    for layer in record.layers or ():
        inside = run.record(layer)
        if not isinstance(inside, LayerRecord) or inside.owner is not None:
            return False
        made = applied(inside, (Symbolic(dims),), frozenset())
        if made.refusal is not None:
            return True
        if isinstance(made.outputs, Unknown) or len(made.outputs) != 1:
            return False
        dims = made.outputs[0]
    return False
