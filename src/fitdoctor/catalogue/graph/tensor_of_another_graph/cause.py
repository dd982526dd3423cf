"""Tensor or model that belongs to another graph.

## What happens

Tensors created inside `with tf.Graph().as_default():` and used outside raise `… is out of scope` or `must be from the
same graph`. Training a Keras model inside the block raises `RuntimeError: tf.data.Dataset only supports Python-style
iteration in eager mode`.

## Why

In TensorFlow 1, every model lived in a `tf.Graph` and ran in a session. TensorFlow 2 runs eagerly and traces graphs
itself. Inside the block, operations only add nodes to that one graph, and the variables Keras 3 creates there are
nodes without values.

## Fix

Remove the `with` block. To reset the state between two models, call `keras.backend.clear_session()`.

## Known limits

A program written entirely for TensorFlow 1, with its own sessions and without Keras, works and is not reported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.graph.leaks import graph_part
from fitdoctor.catalogue.graph.own_graphs import (
    RUNS_MODEL,
    block_around,
    graph_blocks,
    graph_name,
    opens_sessions,
    switched_off,
    trains_keras,
    unwrapped,
)
from fitdoctor.catalogue.rules import certain
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.failed_line import module_of, stands_at
from fitdoctor.failure.traced_code import is_out_of_scope, made_line
from fitdoctor.source.keras_objects import kind_of_value
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.tensor_calls import returns

CAUSE = Cause(
    id="FIT405",
    slug="tensor-of-another-graph",
    severity=Severity.ERROR,
    raises=("TypeError", "ValueError", "RuntimeError", "InaccessibleTensorError"),
)

_OTHER_GRAPH = (
    "must be from the same graph",
    "is not an element of this graph",
    "are not from the same graph",
    "Attempting to capture an EagerTensor without building a function",
)
_NOT_EAGER = (
    "only supports Python-style iteration in eager mode",
    "has no attribute '_datatype_enum'",
    "has no attribute 'get_updates'",
)
"""Errors of eager code that gets a symbolic tensor; they are this cause only if the program creates a graph."""


@CAUSE.in_source
@mentions("as_default")
def from_source(module: Module, project: Project) -> Iterator[Finding]:
    """Report a block that creates Keras objects, or tensors that are used outside it."""
    if module.keras != 3 or switched_off(project) is not None:
        return
    blocks = list(graph_blocks(module))
    if not blocks:
        return
    sessions = opens_sessions(project)
    keras = trains_keras(project)
    for block in blocks:
        made = _keras_in(module, block) if keras else None
        if made is not None:
            claim = Evidence("Keras runs this inside the block's graph", location=module.location(made))
            yield _finding(module, block, blocks, claim)
            continue
        used = None if sessions else _used_outside(module, block, blocks)
        if used is not None:
            claim = Evidence("used here, outside that graph", location=module.location(used))
            yield _finding(module, block, blocks, claim)


def _keras_in(module: Module, block: ast.With) -> ast.AST | None:
    for node in ast.walk(block):
        name = module.called(node)
        if name in ("keras.Input", "keras.InputSpec", "keras.layers.InputSpec"):
            continue  # these create nothing in a graph
        if name.startswith(("keras.layers.", "keras.Sequential", "keras.Model", "keras.applications.")):
            return node
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in RUNS_MODEL
        ):
            if kind_of_value(module, node.func.value) == "Model":
                return node
    return None


def _used_outside(module: Module, block: ast.With, blocks: list[ast.With]) -> ast.AST | None:
    """Return a read, outside the graph or in another one, of a tensor that the block assigns."""
    graph = graph_name(module, block)
    for statement in ast.walk(block):
        if not isinstance(statement, ast.Assign) or not _is_tensor(module, statement.value):
            continue
        for target in statement.targets:
            for read in _reads_of(module, target):
                around = block_around(module, read, blocks)
                same = around is not None and graph and graph_name(module, around) == graph
                if around is not block and not same and not _is_looked_at(module, read):
                    return read
    return None


def _is_looked_at(module: Module, read: ast.AST) -> bool:
    """Whether the program only prints a tensor, or asks for what is known without its value."""
    match module.parent(read):
        case ast.Attribute(attr="name" | "graph" | "op" | "shape" | "dtype" | "device"):
            return True
        case ast.Call(func=ast.Name(id="print" | "type" | "repr" | "str" | "isinstance")):
            return True
    return False


def _is_tensor(module: Module, value: ast.expr) -> bool:
    if isinstance(value, ast.BinOp):
        return _is_tensor(module, value.left) or _is_tensor(module, value.right)
    return isinstance(value, ast.Call) and returns(module.resolve(value.func)) in ("tensor", "variable")


def _reads_of(module: Module, target: ast.expr) -> Iterator[ast.AST]:
    if isinstance(target, ast.Name):
        scope = module.index.lookup(target.id, module.scope(target))
        if scope is None or len(scope.bindings[target.id]) != 1:
            return
        for read in module.reads.get(target.id, []):
            if module.index.lookup(read.id, module.scope(read)) is scope:
                yield read
    elif isinstance(target, ast.Attribute):
        owner = module.class_of(target)
        for node in module.nodes(ast.Attribute):
            if node.attr == target.attr and isinstance(node.ctx, ast.Load) and module.class_of(node) == owner:
                yield node


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report an error about two graphs, or a tensor that belongs to a graph the program created."""
    other = any(words in failure.message for words in _OTHER_GRAPH)
    own = is_out_of_scope(failure) and graph_part(failure) == "graph"
    eager = any(words in failure.message for words in _NOT_EAGER)
    if not other and not own and not eager:
        return
    if project and switched_off(project) is not None:
        return
    made, used = made_line(failure), failure.last_user_frame
    evidence = [
        Evidence(claim, location=frame.location)
        for claim, frame in (
            ("created here, in a separate graph", made),
            ("used here, outside that graph", used),
        )
        if frame is not None
    ]
    found = _block_of(failure, project)
    if found is not None:
        module, block = found
        yield certain(_finding(module, block, list(graph_blocks(module))), failure, *evidence)
    elif not eager:
        yield CAUSE.certain(
            "a tensor of one graph is used in another",
            made.location if made is not None else used.location if used is not None else None,
            *evidence,
            fix(_IN_ONE_GRAPH if _TENSORFLOW_1.search(failure.message) else _WITHOUT_GRAPH),
            subject="graph",
        )


_TENSORFLOW_1 = re.compile(r"is not an element of this graph")
"""TensorFlow 2 says so only in programs that use its graphs explicitly."""
_IN_ONE_GRAPH = (
    "build, load and call the model in one thread, graph and session; with TensorFlow 1, elsewhere inside "
    "`with graph.as_default():` of the graph that it was built in"
)
_WITHOUT_GRAPH = "remove `tf.Graph().as_default()` so that everything runs eagerly"


def _block_of(failure: FailureFacts, project: Project) -> tuple[Module, ast.With] | None:
    """Return the block in which the tensor was created, else one in the traceback, else the only one."""
    for frame in (*reversed(failure.made_at), *reversed(failure.user_frames)):
        module = module_of(project, frame)
        for block in graph_blocks(module) if module is not None else ():
            assert module is not None
            if stands_at(module.location(block), frame.line, frame.cell):
                return module, block
    if not project:
        return None
    every = [(module, block) for module in project.modules for block in graph_blocks(module)]
    return every[0] if len(every) == 1 else None


def _finding(module: Module, block: ast.With, blocks: list[ast.With], *used: Evidence) -> Finding:
    return CAUSE.finding(
        "objects created in this block belong to its own `tf.Graph`, but they are used outside it",
        module.location(block.items[0].context_expr),
        *used,
        _without_blocks(module, blocks),
        subject="graph",
    )


def _without_blocks(module: Module, blocks: list[ast.With]) -> Fix:
    title = "remove the `as_default()` block so that everything runs eagerly"
    edits: list[Edit] = []
    for block in blocks:
        moved = unwrapped(module, block)
        if not moved or block_around(module, block, blocks) is not None:
            return fix(title)
        edits += moved
    return fix(title, edits)


CAUSE.message(
    r"Error while reading resource variable (?P<name>\S+) from Container: [\s\S]*variable was uninitialized"
    r"|Attempting to use uninitialized value (?P<older>\S+)",
    "a variable has no value in this session: it was not initialized here, or belongs to another graph or session",
    "run `tf.global_variables_initializer()` in this session, or use the model in the session that created it; in "
    "TensorFlow 2, remove the sessions",
    subject="model",
    types=("FailedPreconditionError", "NotFoundError"),
)
CAUSE.message(
    r"You must feed a value for placeholder tensor '(?P<name>[^']+)'",
    "the graph needs a value for `{name}`: it is not in `feed_dict`, or belongs to a model that is not run",
    "pass it in `feed_dict`, or connect the models by calling one on the other's output; in TensorFlow 2, remove "
    "sessions and placeholders",
    subject="model",
    types=("InvalidArgumentError",),
)
