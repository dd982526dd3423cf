"""Edits that make a traced function return the value it stored, so that its callers store it outside the trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.graph.kept_reads import runs_plainly
from fitdoctor.catalogue.graph.kept_tensors import is_traced_by_itself
from fitdoctor.diagnosis import Edit, Location
from fitdoctor.edits import insert_after
from fitdoctor.records import dataclass, replace
from fitdoctor.source.callees import is_self
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.index import FUNCTIONS, names_in
from fitdoctor.source.line_edits import delete_lines
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.traced.symbolic import own_nodes

_INNER = (*FUNCTIONS, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.BoolOp)
_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)


@dataclass(frozen=True, eq=False)
class _Keeping:
    """A statement in a `tf.function` that stores a tensor, and the name under which the tensor is returned instead."""

    function: FunctionInfo
    statement: ast.Expr | ast.Assign
    value: ast.expr
    name: str
    parameter: str = ""
    """The list or dict argument that stores it; the fix removes this argument."""

    @property
    def module(self) -> Module:
        """The file of the function."""
        return self.function.module

    def kept(self, value: str, receiver: str) -> str:
        """Return the statement as a caller writes it, with the value and object names of the caller."""
        selves = ((node, receiver) for node in self._selves())
        return self.module.rewritten(self.statement, (self.value, value), *selves)

    def _selves(self) -> Iterator[ast.AST]:
        for node in ast.walk(self.statement):
            if isinstance(node, ast.Name) and self._is_holder(node) and not self._in_value(node):
                yield node

    def _is_holder(self, node: ast.Name) -> bool:
        return node.id == self.parameter if self.parameter else is_self(self.module, node)

    def _in_value(self, node: ast.AST) -> bool:
        return any(child is node for child in ast.walk(self.value))

    def receiver(self, call: ast.Call) -> str:
        """Return the object in which a caller stores the value."""
        if self.parameter:
            given = argument_of(call, self.parameter, self.function.parameters.index(self.parameter))
            return "" if given is None else self.module.segment(given)
        return self.module.segment(call.func.value) if isinstance(call.func, ast.Attribute) else ""

    def call(self, call: ast.Call) -> str:
        """Return the rewritten call."""
        if not self.parameter:
            return self.module.segment(call)
        code = self.module.code(call)
        gone = code.argument(self.parameter, self.function.parameters.index(self.parameter))
        left = [
            f"{each.name}={each.text}" if each.name else each.text for each in code.arguments if each != gone
        ]
        return f"{self.module.segment(call.func)}({', '.join(left)})"

    def place(self, receiver: str) -> str:
        """Return the assignment target in the caller, if the statement is an assignment."""
        return self.kept("", receiver).rpartition("=")[0].strip()

    @property
    def target(self) -> bool:
        """Return whether the statement assigns the value itself to one target, which can be part of a tuple."""
        return isinstance(self.statement, ast.Assign) and self.statement.value is self.value

    @property
    def moves(self) -> bool:
        """Return whether the statement means the same in a caller: it uses only `self` and globals."""
        own = self.module.index.scopes[self.function.node]
        names = [
            node
            for node in ast.walk(self.statement)
            if isinstance(node, ast.Name) and not self._in_value(node) and not self._is_holder(node)
        ]
        if any(node.id in own.bindings or node.id in own.outer for node in names):
            return False
        scopes = (self.module.index.lookup(node.id, self.module.scope(node)) for node in names)
        return all(scope is None or isinstance(scope.node, ast.Module) for scope in scopes)


def return_instead_of_store(
    function: FunctionInfo, keeping: ast.AST, value: ast.expr, parameter: str = ""
) -> tuple[Edit, ...]:
    """Return the value from the function, and store it in the callers.

    Args:
        function: the `tf.function` that stores the value.
        keeping: the statement that stores it (`self.last = x`, `history.append(x)`), or its expression.
        value: the tensor in it.
        parameter: the argument that stores it, if any.

    Returns:
        The edits; none if a caller cannot be changed this way or is unclear.
    """
    module, node = function.module, function.node
    statement = module.statement(keeping)
    if not isinstance(statement, (ast.Expr, ast.Assign)) or isinstance(node, ast.Lambda):
        return ()
    if not is_traced_by_itself(function) or not _is_always_reached(module, node, statement):
        return ()
    if isinstance(statement, ast.Assign) and len(statement.targets) != 1:
        return ()
    name = value.id if isinstance(value, ast.Name) else _free_name(module, function, statement)
    found = _Keeping(function, statement, value, name, parameter)
    calls = module.callers.get(node, [])
    if not name or not calls or not found.moves or any(source is not module for source, _call in calls):
        return ()
    given = _returned(found)
    if given is None or _reads_earlier(found):
        return ()
    edits, given_back = given
    if parameter:
        dropped = _without_parameter(found)
        if dropped is None:
            return ()
        edits.append(dropped)
    for _source, call in calls:
        at_call = _at_call(found, call, given_back)
        if not at_call:
            return ()
        edits += at_call
    return tuple(edits)


def _without_parameter(found: _Keeping) -> Edit | None:
    """Remove an argument that is used only as storage; None if the function does more with it."""
    node, module = found.function.node, found.module
    arguments = node.args.args
    at = found.function.parameters.index(found.parameter)
    uses = [
        each
        for each in own_nodes(found.function)
        if isinstance(each, ast.Name) and each.id == found.parameter
    ]
    plain = not (node.args.defaults or node.args.kwonlyargs or node.args.posonlyargs or node.args.vararg)
    fixed = any("input_signature" in module.segment(each) for each in getattr(node, "decorator_list", []))
    if len(uses) != 1 or not plain or fixed or len(arguments) < 2:
        return None
    own = module.location(arguments[at])
    if at == 0:
        after = module.location(arguments[1])
        return Edit(replace(own, end_line=after.line, end_column=after.column), "")
    before = module.location(arguments[at - 1])
    return Edit(replace(own, line=before.end_line, column=before.end_column), "")


def _is_always_reached(module: Module, node: ast.AST, statement: ast.stmt) -> bool:
    """Return whether a statement is in the function's own body or in a `with` block of it."""
    parent = module.parent(statement)
    while isinstance(parent, ast.With):
        parent = module.parent(parent)
    return parent is node


def _free_name(module: Module, function: FunctionInfo, statement: ast.stmt) -> str:
    """Return an unused name for the value, preferably that of the attribute."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    wanted = target.attr.lstrip("_") if isinstance(target, ast.Attribute) else "kept"
    used = names_in(function.node)
    return "" if wanted in used else wanted


@dataclass(frozen=True)
class _Given:
    """The values that a function returns before the edits."""

    count: int
    at: int | None = None
    """The index of the value among them, if it is already returned."""


def _gives_nothing(statement: ast.Return) -> bool:
    return (
        statement.value is None or isinstance(statement.value, ast.Constant) and statement.value.value is None
    )


def _returned(found: _Keeping) -> tuple[list[Edit], _Given] | None:
    """Return the edits inside the function and its previous return values, or None if it cannot be edited."""
    module, node = found.module, found.function.node
    assert not isinstance(node, ast.Lambda)
    returns = module.returns.get(node, [])
    edits = list(_own_reads(found))
    if not returns:
        if found.statement is node.body[-1]:
            text = f"return {module.segment(found.value)}"
            return [*edits, Edit(module.location(found.statement), text)], _Given(0)
        end = insert_after(module.code(node.body[-1]), f"return {found.name}")
        return [*edits, *_without_keeping(found), *end], _Given(0)
    if returns == [node.body[-1]] and _gives_nothing(returns[0]):
        end = (Edit(module.location(returns[0]), f"return {found.name}"),)
        return [*edits, *_without_keeping(found), *end], _Given(0)
    after = module.places.span(found.statement)[1]
    if any(
        each.value is None
        or module.places.span(each)[0] < after
        or not _is_always_reached(module, node, each)
        for each in returns
    ):
        return None
    given = {_given(each.value, found.name) for each in returns if each.value is not None}
    if len(given) != 1:
        return None
    before = given.pop()
    if before.at is None:
        for each in returns:
            assert each.value is not None
            text = module.segment(each.value)
            edits.append(_added(module.location(each.value), text, each.value, found.name))
    return [*edits, *_without_keeping(found)], before


def _given(value: ast.expr, name: str) -> _Given:
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    names = [part.id if isinstance(part, ast.Name) else "" for part in parts]
    return _Given(len(parts), names.index(name) if name in names else None)


def _added(place: Location, text: str, value: ast.expr, name: str) -> Edit:
    """Add a value to `return loss`."""
    inside = 1 if isinstance(value, ast.Tuple) and text.startswith("(") else 0
    column = place.end_column - inside
    end = replace(place, line=place.end_line, column=column, end_column=column)
    return Edit(end, f", {name}")


def _without_keeping(found: _Keeping) -> Iterator[Edit]:
    """Delete the line, or name the value in it."""
    if not isinstance(found.value, ast.Name):
        text = f"{found.name} = {found.module.segment(found.value)}"
        yield Edit(found.module.location(found.statement), text)
        return
    yield delete_lines(found.module, found.statement)


def _own_reads(found: _Keeping) -> Iterator[Edit]:
    """Replace the function's own reads of the attribute with the new name."""
    for node in own_reads(found.function, found.statement):
        yield Edit(found.module.location(node), found.name)


def _reads_earlier(found: _Keeping) -> bool:
    """Return whether the function reads the value stored by an earlier call."""
    end = found.module.places.span(found.statement)[1]
    return any(found.module.places.span(node)[0] < end for node in own_reads(found.function, found.statement))


def own_reads(function: FunctionInfo, keeping: ast.stmt) -> list[ast.Attribute]:
    """Return where a method reads the attribute of `self` that one of its statements stores."""
    target = keeping.targets[0] if isinstance(keeping, ast.Assign) else None
    if not isinstance(target, ast.Attribute) or not is_self(function.module, target.value):
        return []
    return [
        node
        for node in own_nodes(function)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and node.attr == target.attr
        and is_self(function.module, node.value)
    ]


# --- where it is called -------------------------------------------------------------------------------------------


def _at_call(found: _Keeping, call: ast.Call, given: _Given) -> tuple[Edit, ...]:
    module = found.module
    statement = module.statement(call)
    receiver = found.receiver(call)
    if not runs_plainly(module, module.function_of(call)) or not isinstance(statement, _SIMPLE):
        return ()
    if receiver and not receiver.replace(".", "").isidentifier() or _is_inside(module, call):
        return ()
    if found.parameter and not receiver:
        return ()
    text = found.call(call)
    if isinstance(statement, ast.Expr) and statement.value is call:
        if given.count == 0 or given.at is not None:
            taken = f"{text}[{given.at}]" if given.count > 1 else text
            return (Edit(module.location(call), found.kept(taken, receiver)),)
        return _unpacked(found, call, ", ".join("_" for _ in range(given.count)), receiver)
    if given.count == 0:
        return ()
    if isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1:
        return _at_assignment(found, call, statement.targets[0], given, receiver)
    return ()


def _at_assignment(
    found: _Keeping, call: ast.Call, target: ast.expr, given: _Given, receiver: str
) -> tuple[Edit, ...]:
    """For `loss = step(x)`, store the value on the next line, or unpack an additional value."""
    module = found.module
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    if len(targets) != given.count:
        return ()
    if given.at is not None:
        taken = module.segment(targets[given.at])
        shorter = (Edit(module.location(call), found.call(call)),) if found.parameter else ()
        return (*shorter, *insert_after(module.code(call), found.kept(taken, receiver)))
    names = ", ".join(module.segment(each) for each in targets)
    return _unpacked(found, call, names, receiver)


def _is_inside(module: Module, call: ast.Call) -> bool:
    """Return whether the call may run several times, or not at all, within its statement."""
    parent = module.parent(call)
    while parent is not None and not isinstance(parent, ast.stmt):
        if isinstance(parent, _INNER):
            return True
        parent = module.parent(parent)
    return False


def _unpacked(found: _Keeping, call: ast.Call, names: str, receiver: str) -> tuple[Edit, ...]:
    """Rewrite `loss = step(x)` as `loss, agent.last = step(x)`, or store the value on a separate line."""
    module = found.module
    statement, text = module.statement(call), found.call(call)
    if found.target:
        return (Edit(module.location(statement), f"{names}, {found.place(receiver)} = {text}"),)
    unpacked = Edit(module.location(statement), f"{names}, {found.name} = {text}")
    return (unpacked, *insert_after(module.code(call), found.kept(found.name, receiver)))
