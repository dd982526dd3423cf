"""Trace the training step of a model abstractly, as fit would, into plain data, and restore everything.

The step is traced in a function graph. Variables that the model or its optimizer would create are created in a scratch
graph, where they take no memory; existing ones are only referenced.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from fitdoctor.collect.arrays import Batch, Leaf, map_leaves
from fitdoctor.collect.effects import effects_of
from fitdoctor.collect.layers import every_layer
from fitdoctor.collect.model import is_compiled, keras_version
from fitdoctor.collect.scratch import made_in, no_eager_draws, silence
from fitdoctor.collect.snapshot import Snapshot
from fitdoctor.collect.strategies import strategy_of
from fitdoctor.collect.trial import code_carriers
from fitdoctor.facts import Unknown
from fitdoctor.memory.kernels import BRANCHES, LIST_STARTS, LOOPS
from fitdoctor.memory.step import Dim, Operation, Step, Tensor, Variable
from fitdoctor.records import replace

CALLS = ("PartitionedCall", "StatefulPartitionedCall")


def trace_step(model: Any, batch: Batch, size: int) -> Step | Unknown:
    """Return the training step for a batch of that size, without side effects.

    Args:
        model: the model.
        batch: the structure of a batch; None in a first axis is the batch axis.
        size: the number of samples.
    """
    reason = _reason_against(model)
    if reason:
        return Unknown(reason)
    effects = effects_of(*code_carriers(model))
    if effects.lasting:
        return Unknown(f"its code has side effects: it {effects.lasting}")
    snapshot = Snapshot(model, *effects.closures, bindings=effects.globals)
    if not snapshot.complete:
        return Unknown("the model references too many objects to restore")
    try:
        with silence(), no_eager_draws():
            return _traced(model, batch, size)
    # The step of a user model may raise anything.
    except Exception as error:
        from fitdoctor.failure.living import message_of
        from fitdoctor.failure.messages import read_message

        lines = read_message(message_of(error)).text.strip().splitlines()
        return Unknown(f"tracing the step raised {type(error).__name__}: {lines[0] if lines else ''}")
    finally:
        snapshot.restore()


def _reason_against(model: Any) -> str:
    if keras_version(model) == 3 and (
        "keras.src.backend.tensorflow" not in sys.modules
        or sys.modules["keras"].backend.backend() != "tensorflow"
    ):
        return "the backend is not TensorFlow"
    if not is_compiled(model):
        return "the model is not compiled"
    if getattr(strategy_of(model), "num_replicas_in_sync", 1) > 1:
        return "the model runs under a distribution strategy"
    return ""


def _traced(model: Any, batch: Batch, size: int) -> Step:
    import tensorflow as tf
    from tensorflow.python.framework import func_graph

    def spec(leaf: Leaf) -> Any:
        shape = leaf.shape
        if shape is not None and shape and shape[0] is None:
            shape = (size, *shape[1:])
        return tf.TensorSpec(shape, "string" if leaf.dtype in ("str", "object") else leaf.dtype)

    parts = [map_leaves(spec, part) for part in (batch.x, batch.y, batch.sample_weight)]
    while parts and parts[-1] is None:
        parts.pop()
    calls = _Calls()
    in_scratch = made_in(tf.Graph())
    inline = tf.config.functions_run_eagerly()

    def step(*data: Any) -> Any:
        with tf.variable_creator_scope(in_scratch):
            return model.train_step(data)

    with tf.variable_creator_scope(in_scratch), calls.noted(model):
        # A traced tf.function would cache what it captured here, and fit would reuse it.
        tf.config.run_functions_eagerly(True)
        try:
            graph = func_graph.func_graph_from_py_func(
                "fitdoctor_step", step, args=(), kwargs={}, signature=tuple(parts)
            )
        finally:
            tf.config.run_functions_eagerly(inline)
    return _Reader(graph, calls, _variables_of(model)).step()


# --- which layer an operation belongs to --------------------------------------------------------------------------


class _Calls:
    """Records which operations were created during which layer call."""

    def __init__(self) -> None:
        self.ranges: list[tuple[Any, int, int, str]] = []
        """(graph, first operation, end, layer), inner calls before outer ones."""

    @contextlib.contextmanager
    def noted(self, model: Any) -> Iterator[None]:
        """Record every layer call."""
        owner: Any = next(
            (base for base in type(model).__mro__ if base.__name__ == "Layer" and "__call__" in vars(base)),
            None,
        )
        if owner is None:
            yield
            return
        original = owner.__call__
        owner.__call__ = self._noting(original)
        try:
            yield
        finally:
            owner.__call__ = original

    def _noting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        import functools

        import tensorflow as tf

        @functools.wraps(original)
        def call(layer: Any, *args: Any, **kwargs: Any) -> Any:
            graph = tf.compat.v1.get_default_graph()
            before = _count(graph)
            try:
                return original(layer, *args, **kwargs)
            finally:
                self.ranges.append((graph, before, _count(graph), str(getattr(layer, "name", ""))))

        return call

    def layers(self, graph: Any) -> dict[int, str]:
        """Return the innermost layer of each operation of a graph, by position."""
        found: dict[int, str] = {}
        for owner, start, end, layer in self.ranges:
            if owner is graph:
                for index in range(start, end):
                    found.setdefault(index, layer)
        return found


def _count(graph: Any) -> int:
    return len(graph.get_operations())


# --- variables ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Found:
    handle: Any
    variable: Variable


def _variables_of(model: Any) -> list[_Found]:
    """Yield every variable of the model and its optimizer once."""
    found: list[_Found] = []
    seen: set[int] = set()
    owners = {id(weight): str(layer.name) for layer in every_layer(model) for weight in _own_weights(layer)}
    trainable = {id(weight) for weight in model.trainable_variables}
    groups: list[tuple[str, Any]] = [("weights", model.variables)]
    for name in vars(model):
        candidate: Any = getattr(model, name, None)
        if type(candidate).__name__ == "LossScaleOptimizer" or hasattr(candidate, "apply_gradients"):
            groups.append(("optimizer", _called_or_value(candidate.variables)))
    groups.append(("metrics", getattr(model, "metrics_variables", ())))
    for kind, variables in groups:
        for variable in variables:
            if id(variable) in seen:
                continue
            seen.add(id(variable))
            own = "frozen weights" if kind == "weights" and id(variable) not in trainable else kind
            found.append(_Found(_handle(variable), _described(variable, own, owners.get(id(variable), ""))))
    return found


def _called_or_value(variables: Any) -> Any:
    return variables() if callable(variables) else variables


def _own_weights(layer: Any) -> list[Any]:
    return [
        *vars(layer).get("_trainable_variables", ()),
        *vars(layer).get("_non_trainable_variables", ()),
        *vars(layer).get("_trainable_weights", ()),
        *vars(layer).get("_non_trainable_weights", ()),
    ]


def _handle(variable: Any) -> Any:
    return getattr(getattr(variable, "_value", variable), "handle", None)


def _described(variable: Any, kind: str, layer: str) -> Variable:
    import tensorflow as tf

    elements = 1
    for axis in variable.shape:
        elements *= int(axis)
    name = getattr(variable, "path", None) or variable.name
    return Variable(str(name), kind, elements * int(tf.as_dtype(variable.dtype).size), layer)


# --- from the graph to plain data ---------------------------------------------------------------------------------


class _Reader:
    """Converts a function graph to a step."""

    def __init__(self, graph: Any, calls: _Calls, variables: list[_Found]) -> None:
        self._graph = graph
        self._calls = calls
        self._found = variables
        self._operations: list[Operation] = []
        self._tensors: list[Tensor] = []
        self._index: dict[int, int] = {}
        """By tensor identity."""
        self._made: dict[int, tuple[int, ...]] = {}
        """By operation identity: the resulting operations."""
        self._keep: list[Any] = []
        self._scopes: dict[str, str] = {}

    def step(self) -> Step:
        """Return the whole step."""
        handles = {id(found.handle): place for place, found in enumerate(self._found)}
        leads: list[tuple[int, int]] = []
        arguments = []
        for external, internal in self._graph.captures:
            place = self._tensor(internal)
            if id(external) in handles:
                leads.append((place, handles[id(external)]))
        captured = {id(internal) for _external, internal in self._graph.captures}
        for internal in self._graph.inputs:
            if id(internal) not in captured:
                arguments.append(self._tensor(internal))
        self._read(self._graph)
        results = tuple(self._tensor(tensor) for tensor in self._graph.outputs)
        wanted = [index for op in self._graph.control_outputs for index in self._made.get(id(op), ())]
        traced = self._count()
        self._prune(results, wanted)
        self._settle_stages()
        return Step(
            tuple(self._operations),
            tuple(self._tensors),
            tuple(arguments),
            results,
            tuple(leads),
            tuple(found.variable for found in self._found),
            self._gradients(),
            traced,
        )

    def body(self) -> Step:
        """Return the body of a loop or branch."""
        arguments = tuple(self._tensor(tensor) for tensor in self._graph.inputs)
        self._read(self._graph)
        results = tuple(self._tensor(tensor) for tensor in self._graph.outputs)
        wanted = [index for op in self._graph.control_outputs for index in self._made.get(id(op), ())]
        traced = self._count()
        self._prune(results, wanted)
        return Step(tuple(self._operations), tuple(self._tensors), arguments, results, traced=traced)

    def _count(self) -> int:
        return sum(1 + sum(body.traced for body in op.bodies) for op in self._operations)

    def _prune(self, results: tuple[int, ...], wanted: list[int]) -> None:
        """Remove unused operations, as TensorFlow does before running a function."""
        maker = {t: index for index, op in enumerate(self._operations) for t in op.outputs}
        pending = [*wanted, *(maker[t] for t in results if t in maker)]
        pending += [index for index, op in enumerate(self._operations) if _has_effect(op.type)]
        needed: set[int] = set()
        while pending:
            index = pending.pop()
            if index not in needed:
                needed.add(index)
                operation = self._operations[index]
                pending.extend(operation.controls)
                pending.extend(maker[t] for t in operation.inputs if t in maker)
        place = {old: new for new, old in enumerate(sorted(needed))}
        self._operations = [
            replace(op, controls=tuple(place[control] for control in op.controls))
            for index, op in enumerate(self._operations)
            if index in needed
        ]

    def _tensor(self, tensor: Any) -> int:
        if id(tensor) not in self._index:
            self._keep.append(tensor)
            self._index[id(tensor)] = len(self._tensors)
            self._tensors.append(_tensor_of(tensor))
        return self._index[id(tensor)]

    def _read(self, graph: Any) -> None:
        layers = self._calls.layers(graph)
        for position, operation in enumerate(graph.get_operations()):
            self._keep.append(operation)
            if operation.type in ("Placeholder",):
                self._made[id(operation)] = ()
            elif operation.type in CALLS:
                self._inline(operation)
            else:
                self._add(operation, layers.get(position, ""))

    def _inline(self, call: Any) -> None:
        from tensorflow.python.framework import function_def_to_graph

        name = call.get_attr("f").name
        inner = function_def_to_graph.function_def_to_graph(call.graph._get_function(name).cached_definition)
        self._keep.append(inner)
        for outside, inside in zip(call.inputs, inner.inputs, strict=True):
            self._index[id(inside)] = self._tensor(outside)
        start = len(self._operations)
        self._read(inner)
        for outside, inside in zip(call.outputs, inner.outputs, strict=True):
            self._index[id(outside)] = self._tensor(inside)
        self._made[id(call)] = tuple(range(start, len(self._operations)))

    def _add(self, operation: Any, layer: str) -> None:
        name = str(operation.name)
        backward = name.startswith("gradient_tape/") or "/gradient_tape/" in name
        scope = name.removeprefix("gradient_tape/").rpartition("/")[0]
        if layer and not backward:
            self._scopes.setdefault(scope, layer)
        elif backward:
            layer = self._layer_of(scope)
        controls = tuple(
            dict.fromkeys(
                index for control in operation.control_inputs for index in self._made.get(id(control), ())
            )
        )
        bodies, rounds = self._bodies(operation)
        kind, inputs = _simplified(operation)
        self._made[id(operation)] = (len(self._operations),)
        self._operations.append(
            Operation(
                name,
                kind,
                tuple(self._tensor(tensor) for tensor in inputs),
                tuple(self._tensor(tensor) for tensor in operation.outputs),
                controls,
                self._stage(operation, backward),
                layer,
                bodies,
                rounds,
            )
        )

    def _stage(self, operation: Any, backward: bool) -> str:
        if backward:
            return "backward"
        stages = {
            self._operations[index].stage
            for maker in (*(tensor.op for tensor in operation.inputs), *operation.control_inputs)
            for index in self._made.get(id(maker), ())
        }
        return "update" if stages & {"backward", "update"} else "forward"

    def _layer_of(self, scope: str) -> str:
        while scope:
            if scope in self._scopes:
                return self._scopes[scope]
            scope = scope.rpartition("/")[0]
        return ""

    def _bodies(self, operation: Any) -> tuple[tuple[Step, ...], Dim]:
        if operation.type in LOOPS:
            from tensorflow.python.ops import while_v2

            graph = while_v2._get_graph(operation, "body", "_body_graph")
            return (_Reader(graph, self._calls, []).body(),), Dim(_rounds(operation))
        if operation.type in BRANCHES:
            from tensorflow.python.ops import cond_v2

            graphs = cond_v2.get_func_graphs(operation)
            return tuple(_Reader(graph, self._calls, []).body() for graph in graphs), Dim(1)
        if operation.type in LIST_STARTS:
            room = _constant(operation.inputs[1])
            return (), Dim(-1 if room is None or operation.type == "EmptyTensorList" else room)
        return (), Dim(1)

    def _settle_stages(self) -> None:
        """Assign to the backward pass whatever it needs, such as custom gradients."""
        maker = {t: index for index, op in enumerate(self._operations) for t in op.outputs}
        needed: set[int] = set()
        for index in range(len(self._operations) - 1, -1, -1):
            operation = self._operations[index]
            if operation.stage == "backward" or index in needed:
                needed.update(maker[t] for t in operation.inputs if t in maker)
                if operation.stage == "update":
                    self._operations[index] = replace(operation, stage="backward")

    def _gradients(self) -> frozenset[int]:
        """Return the tensors that the backward pass produces and the update consumes."""
        backward = {t for op in self._operations if op.stage == "backward" for t in op.outputs}
        taken = {t for op in self._operations if op.stage == "update" for t in op.inputs}
        return frozenset(backward & taken)


def _rounds(loop: Any) -> int:
    """Return the maximum number of iterations of a loop, 1 if unknown."""
    limit = _constant(loop.inputs[1]) if len(loop.inputs) > 1 else None
    if limit is not None and limit > 0:
        return limit
    for tensor in loop.inputs:
        maker = tensor.op
        # The backward loop runs as often as the forward loop that filled its lists,
        if maker.type in LOOPS and tensor.dtype.name == "variant":
            return _rounds(maker)
        # and a loop over a list usually runs to its end.
        if maker.type == "TensorListFromTensor" and maker.inputs[0].shape.rank:
            length = maker.inputs[0].shape[0]
            if length:
                return int(length)
    return 1


def _constant(tensor: Any) -> int | None:
    """Return an integer that the graph computes from constants only."""
    from tensorflow.python.client import pywrap_tf_session

    if tensor.shape.rank != 0 or not tensor.dtype.is_integer:
        return None
    value = pywrap_tf_session.TF_TryEvaluateConstant_wrapper(tensor.graph._c_graph, tensor._as_tf_output())
    return None if value is None else int(value)


NEUTRAL = {"Mul": 1.0, "RealDiv": 1.0, "AddV2": 0.0, "Sub": 0.0}


def _simplified(operation: Any) -> tuple[str, list[Any]]:
    """Return type and inputs without no-ops such as `1.0 * x`, which TensorFlow's optimizer removes."""
    from tensorflow.python.framework import tensor_util

    inputs = list(operation.inputs)
    neutral = NEUTRAL.get(operation.type)
    if neutral is None:
        return str(operation.type), inputs
    places = (1,) if operation.type in ("RealDiv", "Sub") else (1, 0)
    for place in places:
        number, other = inputs[place], inputs[1 - place]
        if number.shape.rank != 0 or number.op.type != "Const" or operation.outputs[0].shape != other.shape:
            continue
        value = tensor_util.constant_value(number)
        if value is not None and float(value) == neutral:
            return "Identity", [other]
    return str(operation.type), inputs


def _has_effect(kind: str) -> bool:
    return kind.startswith(("Assign", "ResourceScatter", "ResourceApply", "ResourceSparseApply"))


def _tensor_of(tensor: Any) -> Tensor:
    dtype = tensor.dtype
    size = 0 if dtype.name in ("resource", "variant", "string") else int(dtype.size)
    shape = tensor.shape
    if shape.rank is None or any(axis is None for axis in shape.as_list()):
        return Tensor(size, None)
    return Tensor(size, tuple(Dim(int(axis)) for axis in shape.as_list()))
