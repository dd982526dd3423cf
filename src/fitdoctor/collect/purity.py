"""Decide whether a traced function is pure: no random state, no variable writes, no Python."""

from __future__ import annotations

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


def is_pure(function: Any) -> bool:
    """Whether a concrete function only computes and reads."""
    from tensorflow.python.framework import op_def_registry

    try:
        definition = function.graph.as_graph_def()
    # A graph that is too large to serialize is not checked.
    except Exception:
        return False
    nodes = list(definition.node)
    for inner in definition.library.function:
        nodes.extend(inner.node_def)
    names = {node.op for node in nodes}
    functions = {inner.signature.name for inner in definition.library.function}
    return all(name in functions or _is_harmless(op_def_registry, name) for name in names)


def _is_harmless(registry: Any, name: str) -> bool:
    if name in READERS or name in CALLS:
        return True
    definition = registry.get(name)
    return definition is not None and not definition.is_stateful
