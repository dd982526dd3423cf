"""Reads of a stored tensor that are out of scope: eager reads, reads in another trace, and reads in the next trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.graph.kept_tensors import ADDING, Kept, guard_of, is_traced_by_itself, reached_from
from fitdoctor.records import dataclass
from fitdoctor.source.callees import callee, is_self, receiver
from fitdoctor.source.index import Scope
from fitdoctor.source.keras_objects import kind_of_value
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module

_KERAS_ATTRIBUTES = frozenset(
    "loss losses metrics weights output outputs input inputs optimizer history model name dtype shape "
    "trainable variables layers kernel bias data state result value values T grad real size mean std".split()
)
"""Attributes that many objects have: on an unknown object they prove nothing."""
_INLINED = ("call", "lambda layer", "loss", "metric")
"""Functions that run within the trace of a step."""
_STEPS = ("train_step", "test_step", "predict_step")
_ASKING = ("len", "bool", "id", "type", "isinstance", "print")
_LOOKING = ADDING | {"clear", "shape", "dtype", "name", "keys", "assign", "assign_add"}
_EAGER_CALLS = ("float", "int", "numpy.", "matplotlib.", "sklearn.", "pandas.")
_DEPTH = 3


@dataclass(frozen=True, eq=False)
class Read:
    """An out-of-scope read of a stored tensor."""

    module: Module
    node: ast.expr
    how: str
    """`eager`, `trace` (another function's graph) or `again` (the next trace of the same code)."""


def fatal_reads(kept: Kept) -> list[Read]:
    """Return the reads of a stored tensor that fail, eager ones first."""
    if kept.holder == "cache":
        return [Read(kept.module, kept.value, "again")]
    project = kept.module.project
    modules = project.programs_of(kept.module) if project is not None else (kept.module,)
    if any(_lives_in_a_trace(kept, module) for module in modules):
        return []
    found = [
        Read(module, node, how)
        for module in modules
        for node in _reads_in(kept, module)
        if not _looks_only(module, node) and (how := _why_fatal(kept, module, node))
    ]
    return sorted(found, key=lambda read: ("eager", "trace", "again").index(read.how))


def _lives_in_a_trace(kept: Kept, module: Module) -> bool:
    """Whether traced code creates the object that holds the tensor, so that every trace has its own."""
    if kept.owner is None or kept.owner.kind:
        return False
    for call in module.nodes(ast.Call):
        made = module.definition(call.func)
        if isinstance(made, ClassInfo) and _related(made, kept.owner):
            function = module.function_of(call)
            if function is not None and function.runs_traced:
                return True
    return False


# --- finding the reads --------------------------------------------------------------------------------------------


def _reads_in(kept: Kept, module: Module) -> Iterator[ast.expr]:
    if kept.scope is None:
        for node in module.attributes.get(kept.name, ()):
            if isinstance(node.ctx, ast.Load) and _is_holder(kept, module, node):
                yield node
    for name, scope in _names_of(kept, module):
        for read in module.reads.get(name, []):
            # Who receives a container that is passed on is looked at separately.
            returned = isinstance(module.statement(read), ast.Return) and not module.around(read, ast.Call)
            if not returned and module.index.lookup(name, module.scope(read)) is scope:
                yield read


def _is_holder(kept: Kept, module: Module, node: ast.Attribute) -> bool:
    """Return whether the object before the dot is the one that stores the tensor."""
    here = module.class_of(node)
    owner = here if is_self(module, node.value) else receiver(module, node.value)
    if owner is not None:
        return kept.owner is not None and _related(owner, kept.owner)
    kind = kept.owner.kind if kept.owner is not None else ""
    if kind == "Model" and module.own_attribute(node.value) == "model" and here and here.kind == "Callback":
        return True
    if kept.name in _KERAS_ATTRIBUTES or module.resolve(node.value) or kept.name.startswith("__"):
        return False
    known = kind_of_value(module, node.value)
    if known and kept.owner is not None and known != kind:
        return False
    return not any(  # another class has an attribute of that name
        kept.name in module.attribute_stores(other.node)
        for other in module.classes
        if kept.owner is None or not _related(other, kept.owner)
    )


def _related(first: ClassInfo, second: ClassInfo) -> bool:
    return second in first.ancestry or first in second.ancestry


def _looks_only(module: Module, node: ast.expr) -> bool:
    """Return whether a read only checks whether something exists, or clears it."""
    match module.parent(node):
        case ast.Call(func=function, args=arguments):
            return function is node or node in arguments and module.resolve(function) in _ASKING
        case ast.Attribute(attr=attribute):
            return attribute in _LOOKING
        case ast.If(test=test) | ast.IfExp(test=test):
            return test is node
        case (
            ast.Compare(ops=[ast.Is() | ast.IsNot()])
            | ast.UnaryOp(op=ast.Not())
            | ast.BoolOp()
            | ast.Subscript(ctx=ast.Store() | ast.Del())
            | ast.FormattedValue(format_spec=None)
        ):
            return True
    return False


def _names_of(kept: Kept, module: Module) -> Iterator[tuple[str, Scope]]:
    """Return all names of a variable: its own, its import aliases, and the results of functions that return it."""
    if kept.scope is None:
        return
    if module is not kept.module:
        bound = module.index.module.bindings.get(kept.name, [])
        if any(isinstance(node, ast.alias) and node.name == kept.name for node in bound):
            yield kept.name, module.index.module
        return
    yield kept.name, kept.scope
    for result in module.returns.get(kept.scope.node, []):
        for _source, call in module.calls_of.get(kept.scope.node, []):
            statement = module.parent(call)
            pair = result.value, statement.targets[0] if isinstance(statement, ast.Assign) else None
            returned, targets = (each.elts if isinstance(each, ast.Tuple) else [each] for each in pair)
            for part, target in zip(returned, targets, strict=False):
                if getattr(part, "id", "") == kept.name and isinstance(target, ast.Name):
                    scope = module.index.lookup(target.id, module.scope(target))
                    yield from [(target.id, scope)] if scope is not None else []


def is_ever_read(name: str, modules: tuple[Module, ...]) -> bool:
    """Return whether a program uses an attribute or variable of that name at all, even only as a string."""
    for module in modules:
        attributes = [each for each in module.attributes.get(name, ()) if isinstance(each.ctx, ast.Load)]
        for node in (*attributes, *module.reads.get(name, [])):
            parent = module.parent(node)
            stored = isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store)
            if not stored and getattr(parent, "attr", "") not in ADDING:
                return True
        if any(node.value == name for node in module.nodes(ast.Constant)):
            return True
    return False


# --- judging a read -----------------------------------------------------------------------------------------------


def _why_fatal(kept: Kept, module: Module, node: ast.expr) -> str:
    """Return why a read fails, or "" if it may work."""
    reader, how = module.function_of(node), kept.function.how
    if reader is None or not reader.runs_traced:
        if not runs_plainly(module, reader) and not _needs_value(module, node):
            return ""
        # A model or layer that is called directly stores a value; a step, tf.function or map function never does.
        called_before = how in _INLINED and _calls_an_object(module, reader, node, _DEPTH)
        return "" if called_before else "eager"
    same = reader.node is kept.function.node
    guard = guard_of(kept)
    if kept.grows:
        return "again" if how in ("call", "lambda layer") and not _is_emptied(kept, module) else ""
    if guard is not None and (kept.holder == "attribute" or how in _INLINED):
        asks = any(child is node for child in ast.walk(guard))
        return "again" if not asks and (same or kept.holder == "attribute") else ""
    if same and kept.holder == "attribute":
        return "again" if _is_before_every_store(kept, module, node) else ""
    return "trace" if _is_another_trace(kept, module, reader) else ""


def runs_plainly(module: Module, function: FunctionInfo | None, depth: int = _DEPTH) -> bool:
    """Return whether code certainly runs eagerly: at module level, in a callback, or called from these."""
    if function is None or function.owner is not None and function.owner.kind == "Callback":
        return True
    # One program may switch to eager execution, and another that uses the same function does not.
    if function.traced is not None or depth == 0:
        return False
    callers = module.calls_of.get(function.node, [])
    return any(runs_plainly(source, source.function_of(call), depth - 1) for source, call in callers)


def _needs_value(module: Module, node: ast.expr) -> bool:
    """Return whether the read needs a concrete value."""
    parent = module.parent(node)
    converted = getattr(parent, "attr", "") in ("numpy", "item", "tolist")
    return converted or module.called(parent).startswith(_EAGER_CALLS)


def _calls_an_object(
    module: Module, function: FunctionInfo | None, before: ast.expr | None, depth: int
) -> bool:
    """Return whether a function may call a model or layer, before one of its expressions."""
    for call in module.calls:
        if call.function != function:
            continue
        position = call.node.lineno, call.node.col_offset
        if before is not None and position > (before.lineno, before.col_offset):
            continue
        if _is_object_call(module, call.node):
            return True
        called = callee(module, call.node) if depth else None
        if called is not None and called.traced is None:
            if _calls_an_object(called.module, called, None, depth - 1):
                return True
    return False


def _is_object_call(module: Module, call: ast.Call) -> bool:
    """Return whether a possible model or layer is called: `model(x)`, `self.encoder(x)`, `layers[0](x)`."""
    if not call.args or all(_is_symbolic_input(module, argument) for argument in call.args):
        return False
    match call.func:
        case ast.Subscript():
            return True
        case function if module.resolve(function):
            return False
        case ast.Name() as function:
            definition = module.definition(function)
            return definition is None or isinstance(definition, FunctionInfo) and definition.name == "call"
        case ast.Attribute(attr="call" | "__call__" | "model"):
            return True
        case ast.Attribute() as function if callee(module, call) is None:
            return bool(module.own_attribute(function)) or kind_of_value(module, function) in (
                "Model",
                "Layer",
            )
    return False


def _is_symbolic_input(module: Module, argument: ast.expr) -> bool:
    """Return whether an argument is a layer output or an `Input`, so that the call builds a functional model."""
    made = module.made_by(argument)
    if not isinstance(made, ast.Call):
        return False
    layer = isinstance(made.func, ast.Name) and kind_of_value(module, made.func) in ("Model", "Layer")
    return layer or isinstance(made.func, ast.Call) or module.called(made) == "keras.Input"


def _is_emptied(kept: Kept, module: Module) -> bool:
    """Return whether a growing container loses the tensors of earlier traces."""
    cleared = [call.receiver for call in module.method_calls("clear", "pop")]
    if any(kept.name in (getattr(base, "attr", ""), getattr(base, "id", "")) for base in cleared):
        return True
    if any(kept.name in ast.dump(node) for node in module.nodes(ast.Delete)):
        return True
    if kept.scope is not None:
        return len(kept.scope.bindings.get(kept.name, [])) > 1
    setting = (kept.module.function_of(store) for store in kept.stores())
    return any(function is not None and function.name != "__init__" for function in setting)


def _is_before_every_store(kept: Kept, module: Module, node: ast.expr) -> bool:
    """Return whether a function reads the attribute before storing it, and so gets the value of the last trace."""
    stores = [store for store in kept.stores() if module.function_of(store) == kept.function]
    # Python evaluates the value of an assignment before it stores the target.
    start, own = module.places.span(node)[0], module.statement(node)
    earlier = (
        module.places.span(store)[0] < start and module.statement(store) is not own for store in stores
    )
    return bool(stores) and not any(earlier)


def _is_another_trace(kept: Kept, module: Module, reader: FunctionInfo) -> bool:
    """Return whether the reader certainly runs in another graph than the function that stores the tensor."""
    writer = kept.function
    for other in (module.function_of(store) for store in kept.stores()):
        if other is not None and other != writer and (other == reader or other.how in _INLINED):
            return False
    if reader.node in reached_from(writer):
        return False
    if is_traced_by_itself(writer):
        return True
    if "map" in (writer.how, reader.how):
        return writer.how != reader.how
    both = writer.how in _STEPS and reader.how in _STEPS
    return both and writer.how != reader.how and not is_traced_by_itself(reader)
