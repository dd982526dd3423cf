"""Reads of a stored tensor that are out of scope: eager reads, reads in another trace, and reads in the next trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.graph.kept_tensors import (
    GROWING,
    Kept,
    guard_of,
    is_traced_by_itself,
    key_guard_of,
    reached_from,
)
from fitdoctor.records import dataclass
from fitdoctor.source.callees import callee, is_self, receiver
from fitdoctor.source.index import FUNCTIONS, Scope
from fitdoctor.source.keras_objects import kind_of_value
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module

_KERAS_ATTRIBUTES = frozenset(
    "loss losses metrics weights output outputs input inputs optimizer history model name dtype shape "
    "trainable variables layers kernel bias data state result value values T grad real size mean std".split()
)
"""Attributes that many objects have: on an unknown object they prove nothing."""
_INLINED = frozenset({"call", "lambda layer", "loss", "metric"})
"""Functions that run within the trace of a step."""
_DEPTH = 3


@dataclass(frozen=True, eq=False)
class Read:
    """An out-of-scope read of a stored tensor."""

    module: Module
    node: ast.expr
    how: str
    """`eager`, `trace` (another function's graph) or `again` (the next trace of the same code)."""


def fatal_reads(kept: Kept, modules: tuple[Module, ...]) -> list[Read]:
    """Return the reads of a stored tensor that fail, eager ones first."""
    if kept.holder == "cache":
        return [Read(kept.module, kept.value, "again")] if kept.function.traced is not None else []
    found: list[Read] = []
    project = kept.module.project
    together = project.programs_of(kept.module) if project is not None else modules
    for module in modules:
        for node in _reads_in(kept, module) if module in together else ():
            how = _why_fatal(kept, module, node)
            if how:
                found.append(Read(module, node, how))
    order = ("eager", "trace", "again")
    return sorted(found, key=lambda read: order.index(read.how))


# --- finding the reads --------------------------------------------------------------------------------------------


def _reads_in(kept: Kept, module: Module) -> Iterator[ast.expr]:
    if kept.scope is None:
        for node in module.nodes(ast.Attribute):
            if node.attr == kept.name and isinstance(node.ctx, ast.Load) and _is_holder(kept, module, node):
                if not _looks_only(module, node):
                    yield node
        return
    for name, scope in _names_of(kept, module):
        for read in module.reads.get(name, []):
            if module.index.lookup(name, module.scope(read)) is not scope or _is_returned(module, read):
                continue
            if not _looks_only(module, read):
                yield read


def _is_returned(module: Module, node: ast.expr) -> bool:
    """Return whether a read only passes the container on; its receiver is checked separately."""
    parent = module.parent(node)
    return isinstance(parent, ast.Return) or (
        isinstance(parent, ast.Tuple) and isinstance(module.parent(parent), ast.Return)
    )


def _is_holder(kept: Kept, module: Module, node: ast.Attribute) -> bool:
    """Return whether the object before the dot is the one that stores the tensor."""
    owner = receiver(module, node.value)
    if is_self(module, node.value):
        owner = module.class_of(node)
    if owner is not None:
        return kept.owner is not None and _related(owner, kept.owner)
    if kept.owner is not None and kept.owner.kind == "Model" and _is_callback_model(module, node.value):
        return True
    if kept.name in _KERAS_ATTRIBUTES or module.resolve(node.value) or kept.name.startswith("__"):
        return False
    known = kind_of_value(module, node.value)
    if known and kept.owner is not None and known != kept.owner.kind:
        return False
    return not _stored_elsewhere(kept, module)


def _is_callback_model(module: Module, value: ast.expr) -> bool:
    owner = module.class_of(value)
    return (
        isinstance(value, ast.Attribute)
        and value.attr == "model"
        and is_self(module, value.value)
        and owner is not None
        and owner.kind == "Callback"
    )


def _related(first: ClassInfo, second: ClassInfo) -> bool:
    return second in first.module.ancestry(first) or first in second.module.ancestry(second)


def _stored_elsewhere(kept: Kept, module: Module) -> bool:
    """Return whether another class in the program has an attribute of that name."""
    return any(
        kept.name in module.attribute_stores(other.node)
        for other in module.classes
        if kept.owner is None or not _related(other, kept.owner)
    )


def _looks_only(module: Module, node: ast.expr) -> bool:
    """Return whether a read only checks whether something exists, or clears it."""
    parent = module.parent(node)
    match parent:
        case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
            return True
        case ast.Call(func=function, args=arguments):
            return function is node or (
                node in arguments
                and module.resolve(function) in ("len", "bool", "id", "type", "isinstance", "print")
            )
        case ast.Attribute(attr=attribute):
            return attribute in (
                *("append", "extend", "insert", "appendleft", "add", "update", "setdefault"),
                *("clear", "shape", "dtype", "name", "keys", "assign", "assign_add"),
            )
        case ast.If(test=test) | ast.IfExp(test=test):
            return test is node
        case ast.UnaryOp(op=ast.Not()) | ast.BoolOp():
            return True
        case ast.Subscript(ctx=ast.Store() | ast.Del()):
            return True
        case ast.FormattedValue(format_spec=None):
            return True
    return False


def _names_of(kept: Kept, module: Module) -> Iterator[tuple[str, Scope]]:
    """Return all names of a variable: its own, its import aliases, and the results of functions that return it."""
    assert kept.scope is not None
    if module is not kept.module:
        for node in module.index.module.bindings.get(kept.name, []):
            if isinstance(node, ast.alias) and node.name == kept.name:
                yield kept.name, module.index.module
        return
    yield kept.name, kept.scope
    if isinstance(kept.scope.node, FUNCTIONS):
        yield from _returned_names(kept, module, module.function(kept.scope.node))


def _returned_names(kept: Kept, module: Module, factory: FunctionInfo) -> Iterator[tuple[str, Scope]]:
    for result in module.returns.get(factory.node, []):
        value = result.value
        if isinstance(value, ast.Name) and value.id == kept.name:
            positions: list[int | None] = [None]
        elif isinstance(value, ast.Tuple):
            positions = [
                index
                for index, part in enumerate(value.elts)
                if isinstance(part, ast.Name) and part.id == kept.name
            ]
        else:
            continue
        for source, call in module.calls_of.get(factory.node, []):
            statement = source.parent(call)
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            for position in positions:
                if isinstance(target, ast.Tuple) and position is not None and position < len(target.elts):
                    chosen: ast.expr | None = target.elts[position]
                else:
                    chosen = target if position is None else None
                scope = (
                    source.index.lookup(chosen.id, source.scope(chosen))
                    if isinstance(chosen, ast.Name)
                    else None
                )
                if isinstance(chosen, ast.Name) and scope is not None and source is module:
                    yield chosen.id, scope


def is_ever_read(name: str, modules: tuple[Module, ...]) -> bool:
    """Return whether a program uses an attribute or variable of that name at all, even only as a string."""
    for module in modules:
        for node in module.nodes(ast.Attribute):
            if node.attr == name and isinstance(node.ctx, ast.Load) and not _only_adds(module, node):
                return True
        if any(not _only_adds(module, read) for read in module.reads.get(name, [])):
            return True
        if any(node.value == name for node in module.nodes(ast.Constant)):
            return True
    return False


def _only_adds(module: Module, node: ast.expr) -> bool:
    parent = module.parent(node)
    if isinstance(parent, ast.Attribute):
        return parent.attr in GROWING
    return isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store)


# --- judging a read -----------------------------------------------------------------------------------------------


def _why_fatal(kept: Kept, module: Module, node: ast.expr) -> str:
    """Return why a read fails, or "" if it may work."""
    reader = module.function_of(node)
    if reader is None or reader.traced is None or reader.traced.eager:
        eager = runs_plainly(module, reader) or _is_eager_use(module, node)
        return "eager" if eager and not _called_eagerly(kept, module, reader, node) else ""
    if kept.grows:
        return "again" if _finds_earlier_traces(kept, module) else ""
    filled_once = key_guard_of(kept)
    if filled_once is not None and kept.function.traced is not None and kept.function.traced.how in _INLINED:
        asks = any(child is node for child in ast.walk(filled_once))
        return "again" if reader.node is kept.function.node and not asks else ""
    if kept.holder == "container":
        return "trace" if _is_another_trace(kept, module, reader) else ""
    if guard_of(kept) is not None:
        guard = guard_of(kept)
        inside = guard is not None and any(child is node for child in ast.walk(guard))
        return "" if inside else "again"
    if reader.node is kept.function.node:
        return "again" if _is_before_every_store(kept, module, node) else ""
    return "trace" if _is_another_trace(kept, module, reader) else ""


def runs_plainly(module: Module, function: FunctionInfo | None, depth: int = _DEPTH) -> bool:
    """Return whether code certainly runs eagerly: at module level, in a callback, or called from these."""
    if function is None:
        return True
    if function.owner is not None and function.owner.kind == "Callback":
        return True
    # One program may switch to eager execution, and another that uses the same function does not.
    if function.traced is not None or depth == 0:
        return False
    calls = module.project.calls_of if module.project is not None else module.calls_of
    callers = calls.get(function.node, [])
    return any(runs_plainly(source, source.function_of(call), depth - 1) for source, call in callers)


_EAGER_CALLS = ("float", "int", "numpy.", "matplotlib.", "sklearn.", "pandas.")


def _is_eager_use(module: Module, node: ast.expr) -> bool:
    """Return whether the read needs a concrete value."""
    parent = module.parent(node)
    if isinstance(parent, ast.Attribute) and parent.attr in ("numpy", "item", "tolist"):
        return True
    return isinstance(parent, ast.Call) and module.resolve(parent.func).startswith(_EAGER_CALLS)


def _called_eagerly(kept: Kept, module: Module, reader: FunctionInfo | None, node: ast.expr) -> bool:
    """Return whether the reader may call the model or layer first, which stores a value."""
    tracing = kept.function.traced
    if tracing is not None and tracing.how not in _INLINED:
        return False  # a step, tf.function or map function never runs eagerly
    return _calls_an_object(module, reader, node, _DEPTH)


def _calls_an_object(
    module: Module, function: FunctionInfo | None, before: ast.expr | None, depth: int
) -> bool:
    for call in module.calls:
        if call.function is None and function is not None or call.function is not None and function is None:
            continue
        if function is not None and call.function is not None and call.function.node is not function.node:
            continue
        if before is not None and (call.node.lineno, call.node.col_offset) > (
            before.lineno,
            before.col_offset,
        ):
            continue
        if _is_object_call(module, call.node):
            return True
        called = callee(module, call.node) if depth else None
        if (
            called is not None
            and called.traced is None
            and _calls_an_object(called.module, called, None, depth - 1)
        ):
            return True
    return False


def _is_object_call(module: Module, call: ast.Call) -> bool:
    """Return whether a possible model or layer is called: `model(x)`, `self.encoder(x)`, `layers[0](x)`."""
    function = call.func
    if not call.args or all(_is_symbolic_input(module, argument) for argument in call.args):
        return False
    if isinstance(function, ast.Subscript):
        return True
    if isinstance(function, ast.Name):
        if module.resolve(function):
            return False
        definition = module.definition(function)
        return definition is None or (isinstance(definition, FunctionInfo) and definition.name == "call")
    if isinstance(function, ast.Attribute) and not module.resolve(function):
        if function.attr in ("call", "__call__", "model"):
            return True
        if callee(module, call) is not None:
            return False
        return is_self(module, function.value) or kind_of_value(module, function) in ("Model", "Layer")
    return False


def _is_symbolic_input(module: Module, argument: ast.expr) -> bool:
    """Return whether an argument is a layer output or an `Input`, so that the call builds a functional model."""
    made = module.made_by(argument)
    if not isinstance(made, ast.Call):
        return False
    if module.resolve(made.func) == "keras.Input":
        return True
    return isinstance(made.func, ast.Call) or (
        isinstance(made.func, ast.Name) and kind_of_value(module, made.func) in ("Model", "Layer")
    )


def _finds_earlier_traces(kept: Kept, module: Module) -> bool:
    """Return whether a growing container still contains tensors from an earlier trace of a layer."""
    tracing = kept.function.traced
    if tracing is None or tracing.how not in ("call", "lambda layer"):
        return False
    return not _is_emptied(kept, module)


def _is_emptied(kept: Kept, module: Module) -> bool:
    for call in module.method_calls("clear", "pop"):
        base = call.node.func.value if isinstance(call.node.func, ast.Attribute) else None
        if getattr(base, "attr", None) == kept.name or getattr(base, "id", None) == kept.name:
            return True
    for node in module.nodes(ast.Delete):
        if kept.name in ast.dump(node):
            return True
    if kept.owner is not None:
        stores = kept.module.attribute_stores(kept.owner.node).get(kept.name, [])
        return any(_in_other_than_init(kept.module, store) for store in stores)
    bound = kept.scope.bindings.get(kept.name, []) if kept.scope is not None else []
    return len(bound) > 1


def _in_other_than_init(module: Module, store: ast.AST) -> bool:
    function = module.function_of(store)
    return function is not None and function.name != "__init__"


def _is_before_every_store(kept: Kept, module: Module, node: ast.expr) -> bool:
    """Return whether a function reads the attribute before storing it, and so gets the value of the last trace."""
    stores = [
        store
        for store in (module.attribute_stores(kept.owner.node) if kept.owner is not None else {}).get(
            kept.name, []
        )
        if module.function_of(store) is not None and module.function_of(store) == kept.function
    ]
    if not stores:
        return False
    own = module.statement(node)
    # Python evaluates the value of an assignment before it stores the target.
    earlier = [
        store
        for store in stores
        if module.statement(store) is not own
        and (getattr(store, "lineno", 0), getattr(store, "col_offset", 0)) < (node.lineno, node.col_offset)
    ]
    return not earlier


def _is_another_trace(kept: Kept, module: Module, reader: FunctionInfo) -> bool:
    """Return whether the reader certainly runs in another graph than the function that stores the tensor."""
    if _stores_too(kept, module, reader):
        return False
    writer = kept.function
    if writer.traced is None or reader.traced is None or reader.node in reached_from(writer):
        return False
    if is_traced_by_itself(writer):
        return True
    first, second = writer.traced.how, reader.traced.how
    if "map" in (first, second):
        return first != second
    steps = ("train_step", "test_step", "predict_step")
    return first in steps and second in steps and first != second and not is_traced_by_itself(reader)


def _stores_too(kept: Kept, module: Module, reader: FunctionInfo) -> bool:
    stores = module.attribute_stores(kept.owner.node).get(kept.name, []) if kept.owner is not None else []
    others = [
        function
        for function in (module.function_of(store) for store in stores)
        if function is not None and function.node is not kept.function.node and function.traced is not None
    ]
    return any(
        function.node is reader.node or (function.traced is not None and function.traced.how in _INLINED)
        for function in others
    )
