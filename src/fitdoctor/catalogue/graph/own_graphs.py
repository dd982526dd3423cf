"""Graphs that a program creates in TensorFlow 1 style: `tf.Graph`, sessions, disabled eager execution."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from fitdoctor.diagnosis import Edit
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.project import Project

GRAPHS = ("tensorflow.Graph", "tensorflow.compat.v1.Graph", "tensorflow.compat.v1.get_default_graph")
SWITCHES = (
    "tensorflow.compat.v1.disable_eager_execution",
    "tensorflow.compat.v1.disable_v2_behavior",
    "tensorflow.disable_eager_execution",
    "tensorflow.disable_v2_behavior",
)
SESSIONS = (
    "tensorflow.Session",
    "tensorflow.InteractiveSession",
    "tensorflow.compat.v1.Session",
    "tensorflow.compat.v1.InteractiveSession",
    "tensorflow.compat.v1.train.MonitoredTrainingSession",
)
RUNS_MODEL = ("fit", "evaluate", "predict", "train_on_batch")


def graph_blocks(module: Module) -> Iterator[ast.With]:
    """Return the `with some_graph.as_default():` blocks."""
    for node in module.nodes(ast.With):
        if any(_is_graph_scope(module, item.context_expr) for item in node.items):
            yield node


def _is_graph_scope(module: Module, expr: ast.expr) -> bool:
    if (
        not isinstance(expr, ast.Call)
        or not isinstance(expr.func, ast.Attribute)
        or expr.func.attr != "as_default"
    ):
        return False
    value = expr.func.value
    made = value if isinstance(value, ast.Call) else module.made_by(value)
    if not isinstance(made, ast.Call) and isinstance(value, ast.Attribute):
        owner = module.class_of(value)
        stores = module.attribute_stores(owner.node).get(value.attr, []) if owner is not None else []
        statement = module.parent(stores[0]) if len(stores) == 1 else None
        made = statement.value if isinstance(statement, ast.Assign) else made
    return module.called(made) in GRAPHS


def graph_name(module: Module, block: ast.With) -> str:
    """Return the name of a block's graph, or "" if it is created inline, so that nothing else can enter it."""
    for item in block.items:
        if _is_graph_scope(module, item.context_expr):
            assert isinstance(item.context_expr, ast.Call)
            assert isinstance(item.context_expr.func, ast.Attribute)
            value = item.context_expr.func.value
            return "" if isinstance(value, ast.Call) else module.segment(value)
    return ""


def block_around(module: Module, node: ast.AST, blocks: list[ast.With]) -> ast.With | None:
    """Return the innermost of the blocks that contain a node."""
    parent = module.parent(node)
    while parent is not None:
        if isinstance(parent, ast.With) and parent in blocks:
            return parent
        parent = module.parent(parent)
    return None


def eager_switches(module: Module) -> tuple[CallSite, ...]:
    """Return the calls that disable eager execution."""
    return module.calls_to(*SWITCHES)


@lru_cache(maxsize=8)
def switched_off(project: Project) -> tuple[Module, CallSite] | None:
    """Return the first call in a program that disables eager execution."""
    for module in project.modules:
        for site in eager_switches(module):
            return module, site
    return None


@lru_cache(maxsize=8)
def makes_graphs(project: Project) -> bool:
    """Return whether a program creates or enters a graph."""
    return any(
        module.calls_to(*GRAPHS) or any(True for _ in graph_blocks(module)) for module in project.modules
    )


@lru_cache(maxsize=8)
def opens_sessions(project: Project) -> bool:
    """Return whether a program creates a session anywhere."""
    return any(module.calls_to(*SESSIONS) for module in project.modules)


def uses_keras(module: Module) -> bool:
    """Return whether a file creates Keras objects."""
    return bool(module.calls_under("keras.layers.", "keras.Model", "keras.Sequential", "keras.Input"))


@lru_cache(maxsize=8)
def trains_keras(project: Project) -> bool:
    """Return whether a program trains or runs a Keras model with Keras methods."""
    if not any(uses_keras(module) for module in project.modules):
        return False
    return any(not site.name for module in project.modules for site in module.method_calls(*RUNS_MODEL))


def unwrapped(module: Module, block: ast.With | ast.If) -> tuple[Edit, ...]:
    """Dedent the body of the block; nothing if the lines cannot be moved safely."""
    body = block.body
    if len(getattr(block, "items", [0])) != 1 or getattr(block, "orelse", []):
        return ()
    if (
        any(_spans_lines(node) for statement in body for node in ast.walk(statement))
        or body[0].lineno == block.lineno
    ):
        return ()
    whole = module.location(block)
    # Stop at the end of the last statement, so that a trailing comment stays in place.
    start, end = module.places.span(body[0])[0], module.places.span(body[-1])[1]
    lines = module.text[module.text.rfind("\n", 0, start) + 1 : end].split("\n")
    shift = body[0].col_offset - block.col_offset
    moved = [line[shift:] if line[:shift].strip() == "" else line for line in lines]
    return (Edit(whole, "\n".join(moved)[block.col_offset :]),)


def _spans_lines(node: ast.AST) -> bool:
    """Return whether a string spans several lines and would change with its indentation."""
    return (
        isinstance(node, (ast.Constant, ast.JoinedStr))
        and not (isinstance(node, ast.Constant) and not isinstance(node.value, (str, bytes)))
        and node.end_lineno != node.lineno
    )
