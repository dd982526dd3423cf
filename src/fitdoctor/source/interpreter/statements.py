"""Following statements: assignments, branches that are joined, loops, with-blocks, try."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from fitdoctor.records import replace
from fitdoctor.source.conditions import catches_failure
from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.binding import bind, forget_assigned
from fitdoctor.source.interpreter.other_files import frame_of
from fitdoctor.source.interpreter.state import OBJECTS_PER_TICK, State, join_states, joined
from fitdoctor.source.interpreter.values import (
    NONE,
    UNTOLD,
    Arguments,
    Array,
    Class,
    Function,
    ListRecord,
    Made,
    Method,
    Plain,
    Ref,
)

if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter


def execute(run: Interpreter, body: list[ast.stmt]) -> bool:
    """Follow statements; False if control does not reach the next one."""
    return all(_follow(run, statement) for statement in body)


def _follow(run: Interpreter, statement: ast.stmt) -> bool:
    run.tick()
    follow = _STATEMENTS.get(type(statement))
    if follow is None:
        forget_assigned(run, statement)
        return True
    return follow(run, statement)


# --- assignments ------------------------------------------------------------------------------------------------------


def _assign(run: Interpreter, statement: ast.stmt) -> bool:
    assert isinstance(statement, ast.Assign)
    value = run.evaluate(statement.value)
    for target in statement.targets:
        bind(run, target, value, statement.value)
    return True


def _annotated(run: Interpreter, statement: ast.stmt) -> bool:
    assert isinstance(statement, ast.AnnAssign)
    if statement.value is not None:
        bind(run, statement.target, run.evaluate(statement.value), statement.value)
    return True


def _augmented(run: Interpreter, statement: ast.stmt) -> bool:
    assert isinstance(statement, ast.AugAssign)
    target = statement.target
    load = _as_load(target)
    before = run.evaluate(load)
    if isinstance(before, Ref) and isinstance(run.record(before), ListRecord):
        added = run.sequence(run.evaluate(statement.value))
        items = run.sequence(before)
        joined = None if added is None or items is None else (*items, *added)
        run.update(before, ListRecord(joined, None))
        return True
    operation = ast.copy_location(ast.BinOp(load, statement.op, statement.value), statement)
    value = run.evaluate(operation)
    if isinstance(before, Array):
        run.state.written.add(before.buffer)
        value = replace(value, node=None) if isinstance(value, Array) else value
    bind(run, target, value, None)
    return True


def _as_load(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    if isinstance(target, ast.Attribute):
        return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    if isinstance(target, ast.Subscript):
        return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
    return target


# --- simple statements ------------------------------------------------------------------------------------------------


def _expression(run: Interpreter, statement: ast.stmt) -> bool:
    assert isinstance(statement, ast.Expr)
    run.evaluate(statement.value)
    return not _ends_the_program(run, statement.value)


def _ends_the_program(run: Interpreter, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and run.resolve(node.func) in ("sys.exit", "exit", "quit", "os._exit")


def _return(run: Interpreter, statement: ast.stmt) -> bool:
    assert isinstance(statement, ast.Return)
    value = NONE if statement.value is None else run.evaluate(statement.value)
    run.control[-1].returns.append((value, run.state))
    run.state = run.state.copy()
    return False


def _raise(run: Interpreter, statement: ast.stmt) -> bool:
    return False


def _break(run: Interpreter, statement: ast.stmt) -> bool:
    run.control[-1].breaks.append(run.state)
    run.state = run.state.copy()
    return False


def _continue(run: Interpreter, statement: ast.stmt) -> bool:
    run.control[-1].continues.append(run.state)
    run.state = run.state.copy()
    return False


def _delete(run: Interpreter, statement: ast.stmt) -> bool:
    assert isinstance(statement, ast.Delete)
    for target in statement.targets:
        if isinstance(target, ast.Name):
            run.forget(target.id)
        elif isinstance(target, ast.Subscript):
            _delete_item(run, target)
    return True


def _delete_item(run: Interpreter, target: ast.Subscript) -> None:
    receiver, key = run.evaluate(target.value), run.evaluate(target.slice)
    if isinstance(receiver, Array) and isinstance(key, Plain):
        from fitdoctor.source.data.tables import rebind, without_columns

        rebind(run, target.value, receiver, without_columns(receiver, (str(key.value),)))
    else:
        run.state.touch(receiver)


def _import(run: Interpreter, statement: ast.stmt) -> bool:
    assert isinstance(statement, (ast.Import, ast.ImportFrom))
    for alias in statement.names:
        run.forget((alias.asname or alias.name).partition(".")[0])
    project = run.module.project
    for imported in project.registering_in(run.module, statement) if project is not None else ():
        frame_of(run, imported)
    return True


def _global(run: Interpreter, statement: ast.stmt) -> bool:
    assert isinstance(statement, ast.Global)
    run.shared_names.setdefault(run.frame, {}).update(
        dict.fromkeys(statement.names, frame_of(run, run.module))
    )
    return True


def _nonlocal(run: Interpreter, statement: ast.stmt) -> bool:
    assert isinstance(statement, ast.Nonlocal)
    for name in statement.names:
        frame = run.parents[run.frame]
        while frame is not None and name not in run.state.frames.get(frame, {}):
            frame = run.parents[frame]
        if frame is not None:
            run.shared_names.setdefault(run.frame, {})[name] = frame
    return True


def _assert(run: Interpreter, statement: ast.stmt) -> bool:
    assert isinstance(statement, ast.Assert)
    run.evaluate(statement.test)
    return True


def _pass(run: Interpreter, statement: ast.stmt) -> bool:
    return True


def _define_function(run: Interpreter, statement: ast.stmt) -> bool:
    assert isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef))
    objects.remember_defaults(run, statement)
    function = Function(statement, run.frame, plain=isinstance(statement, ast.FunctionDef))
    for decorator in reversed(statement.decorator_list):
        if not _keeps(run, decorator, function):
            function = replace(function, plain=False)
    run.assign(statement.name, function)
    return True


def _keeps(run: Interpreter, decorator: ast.expr, defined: Function | Class) -> bool:
    """Whether a decorator leaves what it is put on as it is; one of the user's is followed, as it may register it."""
    if objects.harmless_decorator(run, decorator):
        return True
    applied = run.evaluate(decorator)
    if not isinstance(applied, (Function, Method)):
        return False
    call = ast.copy_location(ast.Call(decorator, [], []), decorator)
    return run.call(applied, Arguments((defined,), (), call)) == defined


def _define_class(run: Interpreter, statement: ast.stmt) -> bool:
    assert isinstance(statement, ast.ClassDef)
    frame, run.frame = run.frame, run.new_frame(run.frame)
    inner = run.frame
    for part in statement.body:
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
            objects.remember_defaults(run, part)
        elif isinstance(part, (ast.Assign, ast.AnnAssign)):
            _follow(run, part)
    run.class_values[statement] = run.state.frames.pop(inner)
    run.frame = frame
    made = Class(statement, run.frame)
    plain = all(_keeps(run, decorator, made) for decorator in reversed(statement.decorator_list))
    run.assign(statement.name, made if plain else UNTOLD)
    return True


# --- branches ---------------------------------------------------------------------------------------------------------


def _if(run: Interpreter, statement: ast.stmt) -> bool:
    assert isinstance(statement, ast.If)
    truth = objects.truth(run, run.evaluate(statement.test))
    if truth is not None and not (run.followed_alone and _asks_a_setting(run, statement.test)):
        return execute(run, statement.body if truth else statement.orelse)
    return _either(run, [lambda: execute(run, statement.body), lambda: execute(run, statement.orelse)])


def _asks_a_setting(run: Interpreter, test: ast.expr) -> bool:
    """`if RESUME:`, `if MODE == "train":`: what no program calls as it is may be meant for another setting."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _asks_a_setting(run, operand)
        case ast.BoolOp(values=values):
            return any(_asks_a_setting(run, value) for value in values)
        case ast.Compare(left=left, comparators=[ast.Constant(value=bool() | str())]):
            return _asks_a_setting(run, left)
        case ast.Name():
            module = run.owner(test)
            scope = module.index.lookup(test.id, module.scope(test))
            return scope is not None and scope.node is module.tree
    return False


def _either(run: Interpreter, ways: list[Callable[[], bool]]) -> bool:
    """Follow each branch, and continue with what holds in all that fall through."""
    start, ends = run.state, []
    for way in ways:
        run.tick(1 + len(start.heap) // OBJECTS_PER_TICK)
        run.state = start.copy()
        if way():
            ends.append(run.state)
    if not ends:
        run.state = start
        return False
    run.state = joined(ends)
    return True


def _match(run: Interpreter, statement: ast.stmt) -> bool:
    assert isinstance(statement, ast.Match)
    run.evaluate(statement.subject)
    ways: list[Callable[[], bool]] = [lambda: True]
    for case in statement.cases:
        forget_assigned(run, case.pattern)
        ways.append(lambda case=case: execute(run, case.body))  # type: ignore[misc]
    return _either(run, ways)


def _try(run: Interpreter, statement: ast.stmt) -> bool:
    assert isinstance(statement, (ast.Try, ast.TryStar))
    if all(isinstance(part, (ast.Import, ast.ImportFrom)) for part in statement.body):
        falls = execute(run, statement.body) and execute(run, statement.orelse)
        return execute(run, statement.finalbody) and falls
    start = run.state.copy()
    expected = any(catches_failure(handler) for handler in statement.handlers)
    run.expecting_failure += expected
    falls = execute(run, statement.body)
    run.expecting_failure -= expected
    after = run.state
    ends: list[State] = []
    if falls and execute(run, statement.orelse):
        ends.append(run.state)
    for handler in statement.handlers:
        run.state = join_states(start, after)
        if handler.name:
            run.assign(handler.name, UNTOLD)
        if execute(run, handler.body):
            ends.append(run.state)
    run.state = joined(ends) if ends else after
    return execute(run, statement.finalbody) and bool(ends)


def _with(run: Interpreter, statement: ast.stmt) -> bool:
    assert isinstance(statement, (ast.With, ast.AsyncWith))
    strategies, expecting, tapes = 0, 0, 0
    for item in statement.items:
        value = run.evaluate(item.context_expr)
        strategy = objects.strategy_of(value)
        if strategy:
            run.strategies.append(strategy)
            strategies += 1
        expecting += _expects_failure(run, item.context_expr)
        tapes += isinstance(value, Made) and value.name == "tensorflow.GradientTape"
        if item.optional_vars is not None:
            bind(run, item.optional_vars, objects.entered(value), None)
    run.expecting_failure += expecting
    run.tapes += tapes
    start = run.state.copy() if expecting else None
    falls = execute(run, statement.body)
    run.expecting_failure -= expecting
    run.tapes -= tapes
    if strategies:
        del run.strategies[-strategies:]
    if start is not None:
        run.state = join_states(start, run.state)
        return True
    return falls


def _expects_failure(run: Interpreter, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if run.resolve(node.func) in ("pytest.raises", "contextlib.suppress"):
        return True
    return isinstance(node.func, ast.Attribute) and node.func.attr.startswith("assertRaises")


def _for(run: Interpreter, node: ast.stmt) -> bool:
    from fitdoctor.source.interpreter.loops import follow_for

    return follow_for(run, node)


def _while(run: Interpreter, node: ast.stmt) -> bool:
    from fitdoctor.source.interpreter.loops import follow_while

    return follow_while(run, node)


_STATEMENTS: dict[type[ast.stmt], Callable[[Interpreter, ast.stmt], bool]] = {
    ast.AnnAssign: _annotated,
    ast.Assert: _assert,
    ast.Assign: _assign,
    ast.AsyncFor: _for,
    ast.AsyncFunctionDef: _define_function,
    ast.AsyncWith: _with,
    ast.AugAssign: _augmented,
    ast.Break: _break,
    ast.ClassDef: _define_class,
    ast.Continue: _continue,
    ast.Delete: _delete,
    ast.Expr: _expression,
    ast.For: _for,
    ast.FunctionDef: _define_function,
    ast.Global: _global,
    ast.If: _if,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.Match: _match,
    ast.Nonlocal: _nonlocal,
    ast.Pass: _pass,
    ast.Raise: _raise,
    ast.Return: _return,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.While: _while,
    ast.With: _with,
}
