"""Give the functions of a pipeline a form that may be called: no random state, no variable writes, no Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

READERS = frozenset(
    ("ReadFile", "ReadVariableOp", "ResourceGather", "LookupTableFindV2", "LookupTableSizeV2", "LookupTableExportV2",
     "MatchingFiles", "VarIsInitializedOp", "Placeholder", "PlaceholderWithDefault", "NoOp", "Assert", "TensorArrayV3",
     "TensorListReserve", "EmptyTensorList")
)  # fmt: skip
"""Operations that TensorFlow marks as stateful although they only read."""
CALLS = frozenset(
    ("PartitionedCall", "StatefulPartitionedCall", "If", "StatelessIf", "While", "StatelessWhile", "Case",
     "StatelessCase", "SymbolicGradient")
)  # fmt: skip
"""Operations that call functions of the graph library, all of which are checked."""
RANDOM = frozenset(
    ("RandomUniform", "RandomUniformInt", "RandomStandardNormal", "TruncatedNormal", "RandomShuffle")
)
"""Operations whose kernels hold their own random state: a copy of the operation has another one."""
_SEED = 7
_SUFFIX = "_fitdoctor"


def callable_form(function: Any) -> Callable[..., Any] | None:
    """Return a function with the same results as a traced one that only computes and reads; None if there is none.

    Random numbers are drawn in a copy of the function, so that those of the user's do not change.
    """
    try:
        definition = function.graph.as_graph_def()
    # A graph that is too large to serialize is not checked.
    except Exception:
        return None
    names = {node.op for node in _nodes(definition)} - {
        inner.signature.name for inner in definition.library.function
    }
    harmful = {name for name in names if not _is_harmless(name)}
    if not harmful:
        return function  # type: ignore[no-any-return]
    if not harmful <= RANDOM | {"AssignVariableOp"}:
        return None
    if "AssignVariableOp" in harmful and not _draw_seeds(function, definition):
        return None
    return _copied(function, definition)


def _nodes(definition: Any) -> Iterator[Any]:
    yield from definition.node
    for inner in definition.library.function:
        yield from inner.node_def


def _is_harmless(name: str) -> bool:
    from tensorflow.python.framework import op_def_registry

    if name in READERS or name in CALLS:
        return True
    definition = op_def_registry.get(name)
    return definition is not None and not definition.is_stateful


def _draw_seeds(function: Any, definition: Any) -> bool:
    """Draw the seeds that Keras' random layers keep in variables, instead of counting them up.

    Returns:
        Whether the function writes nothing else.
    """
    if any(node.op == "AssignVariableOp" for inner in definition.library.function for node in inner.node_def):
        return False
    states = {node.input[0] for node in definition.node if node.op == "AssignVariableOp"}
    shapes = {
        tensor.op.name: variable.shape.as_list()
        for tensor in function.graph.inputs
        for variable in function.graph.variables
        if any(own is tensor for outer, own in function.graph.captures if outer is variable.handle)
    }
    if any(shapes.get(state) != [2] for state in states):
        return False
    for node in list(definition.node):
        if node.op == "AssignVariableOp":
            kept = [name for name in node.input if name.startswith("^")]
            node.op = "NoOp"
            node.ClearField("attr")
            del node.input[:]
            node.input.extend(kept)
        elif node.op == "ReadVariableOp" and node.input[0] in states:
            _draw(definition, node)
    return True


def _draw(definition: Any, node: Any) -> None:
    """Turn a node that reads a seed into one that converts a random number to its dtype."""
    import tensorflow as tf

    dtype = node.attr["dtype"].type
    inputs = []
    for name, value in (("shape", [2]), ("low", 0), ("high", 2**31 - 1)):
        made = definition.node.add(name=f"{node.name}/{name}", op="Const")
        made.attr["dtype"].type = tf.int32.as_datatype_enum
        made.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value, tf.int32))
        inputs.append(made.name)
    drawn = definition.node.add(name=f"{node.name}/drawn", op="RandomUniformInt", input=inputs)
    drawn.attr["T"].type = drawn.attr["Tout"].type = tf.int32.as_datatype_enum
    node.op = "Cast"
    node.ClearField("attr")
    node.attr["SrcT"].type, node.attr["DstT"].type = tf.int32.as_datatype_enum, dtype
    del node.input[:]
    node.input.append(drawn.name)


def _copied(function: Any, definition: Any) -> Callable[..., Any] | None:
    """Return a copy of a function, with kernels and seeds of its own."""
    import tensorflow as tf

    inner = {each.signature.name for each in definition.library.function}
    for each in definition.library.function:
        each.signature.name += _SUFFIX
    for gradient in definition.library.gradient:
        gradient.function_name += _SUFFIX
    for number, node in enumerate(_nodes(definition)):
        if node.op in inner:
            node.op += _SUFFIX
        for value in node.attr.values():
            for called in (value.func, *value.list.func):
                if called.name in inner:
                    called.name += _SUFFIX
        if node.op in RANDOM:
            node.attr["seed"].i, node.attr["seed2"].i = _SEED, number + 1
    graph = function.graph
    try:
        whole = tf.compat.v1.wrap_function(lambda: tf.graph_util.import_graph_def(definition, name=""), [])
        copy = whole.prune([each.name for each in graph.inputs], [each.name for each in graph.outputs])
    # A graph with parts that cannot be imported is not read.
    except Exception:
        return None
    captured = list(function.captured_inputs)
    return lambda *element: copy(*element, *captured)
