"""The graph of a functional model: its layers in Keras' order, and its shapes on other inputs."""

from __future__ import annotations

import ast

from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.values import LayerCall, LayerRecord, ModelRecord, Ref, Symbolic, Value
from fitdoctor.source.models.static_layers import tensors_in

_LONGEST_PATH = 64
Operation = Ref | LayerCall
"""A layer, or an operation such as `a + b`, which is its own."""


def graph_layers(run: Interpreter, record: ModelRecord) -> tuple[Ref, ...] | None:
    """Return the layers between inputs and outputs, deepest first as Keras sorts them; None if history is missing."""
    inputs, outputs = tensors_in(run, record.inputs), tensors_in(run, record.outputs)
    if inputs is None or outputs is None:
        return None
    calls = _calls_between(inputs, outputs)
    if calls is None:
        return None
    order: dict[Operation, int] = {}
    for call in calls.met:
        order.setdefault(_operation(call), len(order))
    depths = _depths(calls.finished)
    for tensor in inputs:
        if tensor.call is not None and _operation(tensor.call) not in depths:
            depths[_operation(tensor.call)] = 0
            order[_operation(tensor.call)] = -1
    ranked = sorted(depths, key=lambda operation: (-depths[operation], order[operation]))
    return tuple(operation for operation in ranked if isinstance(operation, Ref))


def input_left_out(run: Interpreter, inputs: Value, outputs: Value) -> Ref | None:
    """Return the first `Input` behind the outputs that is not among the inputs; None if there is none or it is unknown."""
    begin, end = tensors_in(run, inputs), tensors_in(run, outputs)
    walk = _calls_between(begin, end) if begin is not None and end is not None else None
    given = {tensor.call for tensor in begin or ()}
    for call in walk.met if walk is not None else ():
        made = run.record(call.layer) if call.layer is not None and call not in given else None
        if isinstance(made, LayerRecord) and made.plan.class_name == "InputLayer":
            return call.layer
    return None


def _operation(call: LayerCall) -> Operation:
    return call if call.layer is None else call.layer


class _Walk:
    """Yield the calls between outputs and inputs, on entry and on exit."""

    def __init__(self) -> None:
        self.met: list[LayerCall] = []
        self.finished: list[LayerCall] = []


def _calls_between(inputs: tuple[Symbolic, ...], outputs: tuple[Symbolic, ...]) -> _Walk | None:
    walk = _Walk()
    stops = {tensor.call for tensor in inputs}
    seen: set[LayerCall] = set()
    # an explicit stack: deep models are deeper than Python's recursion limit
    stack: list[tuple[Symbolic | None, LayerCall | None]] = [(tensor, None) for tensor in reversed(outputs)]
    while stack:
        tensor, done = stack.pop()
        if done is not None:
            walk.finished.append(done)
            continue
        assert tensor is not None
        call = tensor.call
        if call is None:
            return None
        if call in seen:
            continue
        seen.add(call)
        walk.met.append(call)
        stack.append((None, call))
        if call not in stops:
            stack.extend((one, None) for one in reversed(call.inputs))
    return walk


def _depths(finished: list[LayerCall]) -> dict[Operation, int]:
    of_calls: dict[LayerCall, int] = {}
    of_operations: dict[Operation, int] = {}
    inside = set(finished)
    for call in reversed(finished):
        operation = _operation(call)
        depth = max(of_calls.get(call, 0), of_operations.get(operation, 0))
        of_operations[operation] = of_calls[call] = depth
        for tensor in call.inputs:
            if tensor.call is not None and tensor.call in inside:
                of_calls[tensor.call] = max(depth + 1, of_calls.get(tensor.call, 0))
    return of_operations


def chain_of(run: Interpreter, record: ModelRecord) -> tuple[Ref, ...] | None:
    """The layers of a model that is a plain chain from one input to one output; None when it is not."""
    inputs, outputs = tensors_in(run, record.inputs), tensors_in(run, record.outputs)
    if inputs is None or outputs is None or len(inputs) != 1 or len(outputs) != 1:
        return None
    chain: list[Ref] = []
    call = outputs[0].call
    while call is not None and call is not inputs[0].call:
        if call.layer is None or len(call.inputs) != 1:
            return None
        chain.append(call.layer)
        call = call.inputs[0].call
    return None if call is None else tuple(reversed(chain))


def path_to(run: Interpreter, tensor: Symbolic) -> tuple[str, ...]:
    """Return the names of the layers and functions behind a tensor, last first; `?` if unknown."""
    names: list[str] = []
    while len(names) < _LONGEST_PATH:
        call = tensor.call
        if call is None:
            return (*names, "?")
        if call.inside is not None and not names:
            tensor = call.inside
            continue
        made = run.record(call.layer) if call.layer is not None else None
        if isinstance(made, ModelRecord):
            return (*names, *_path_in(run, made))
        if isinstance(made, LayerRecord):
            names.append(made.name)
        else:
            function = call.node.func if isinstance(call.node, ast.Call) else None
            names.append(run.owner(call.node).resolve(function).rpartition(".")[2] or "?")
        if len(call.inputs) != 1:
            break
        tensor = call.inputs[0]
    return tuple(names)


def _path_in(run: Interpreter, record: ModelRecord) -> tuple[str, ...]:
    """Return the names of the layers in a nested model, last first."""
    if record.kind == "sequential" and record.layers and not record.open:
        return tuple(name for layer in reversed(record.layers) for name in _names_in(run, layer))
    tensors = tensors_in(run, record.outputs) if record.kind == "functional" else None
    return path_to(run, tensors[0]) if tensors is not None and len(tensors) == 1 else ("?",)


def _names_in(run: Interpreter, layer: Ref) -> tuple[str, ...]:
    record = run.record(layer)
    if isinstance(record, LayerRecord):
        return (record.name,)
    return _path_in(run, record) if isinstance(record, ModelRecord) else ("?",)
