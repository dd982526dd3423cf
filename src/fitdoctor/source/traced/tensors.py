"""Finds the certain symbolic tensors of a traced function, in a forward pass over its statements."""

from __future__ import annotations

import ast
import contextlib

from fitdoctor.records import dataclass, field
from fitdoctor.source.index import FUNCTIONS, FunctionNode
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.traced.tensor_expressions import Budget, Expressions
from fitdoctor.source.traced.tensor_parameters import parameters
from fitdoctor.source.traced.tensor_values import NOTHING, TAPE, Env, Value, arithmetic, item, join, merge


@dataclass(eq=False)
class Flow:
    """The outcome for one function."""

    values: dict[ast.AST, Value] = field(default_factory=dict)
    """The expressions of which something is known."""
    returned: Value = NOTHING
    env: Env = field(default_factory=dict)
    """What the names hold where it ends."""


def is_tensor(module: Module, expr: ast.expr, alone: bool = False) -> bool:
    """Whether an expression is a symbolic tensor where something is done that only a tensor allows.

    With `alone`, it must be certain: a list can also be looped over, and a flag also has a truth value.
    """
    info = module.function_of(expr)
    if info is None:
        return False
    tracing = info.traced
    if tracing is None or tracing.eager:
        return False
    kinds = ("tensor",) if alone else ("tensor", "member")
    return module.flow(info.node).values.get(expr, NOTHING).kind in kinds


def flow_of(module: Module, node: FunctionNode) -> Flow:
    """Run over a function's statements; called by the module, which keeps the outcome."""
    # Registered before it is known, so that functions that call each other come to an end.
    module.flows[node] = Flow()
    info = module.function(node)
    # Of a function with hundreds of `elif`, nothing is known.
    with contextlib.suppress(RecursionError):
        budget = Budget(_MAX_EXPRESSIONS, _MAX_CALLS)
        module.flows[node] = _walked(info, parameters(module, info), _closure(info), budget)
    return module.flows[node]


def _closure(info: FunctionInfo) -> Env:
    """What the traced functions around a function bind, as it is where they end."""
    scope = info.module.index.scopes[info.node].parent
    while scope is not None:
        if isinstance(scope.node, FUNCTIONS):
            outer = info.module.function(scope.node)
            if not outer.runs_traced:
                return {}
            bound = scope.bindings
            env = info.module.flow(scope.node).env
            # A name that is bound twice may have held something else when the function ran.
            return {name: value for name, value in env.items() if len(bound.get(name, ())) == 1}
        scope = scope.parent
    return {}


def _walked(info: FunctionInfo, env: Env, closure: Env, budget: Budget) -> Flow:
    flow = Flow()
    walker = _Walker(info, flow, closure, budget)
    if isinstance(info.node, ast.Lambda):
        flow.returned = walker.expressions.value(info.node.body, env)
        flow.env = env
        return flow
    ends = walker.block(info.node.body, env)
    # Where it leaves by `return` only, the last way out is what an inner function sees.
    flow.env = ends if ends is not None else walker.last
    flow.returned = NOTHING if walker.returned is None or ends is not None else walker.returned
    return flow


def _returned(info: FunctionInfo, env: Env, closure: Env, budget: Budget) -> Value:
    """Return the result of a function called from another."""
    return _walked(info, env, closure, budget).returned


_MAX_CALLS = 3
"""How many calls of the user's functions deep a value is followed."""
_MAX_EXPRESSIONS = 50_000


class _Walker:
    """Goes over statements in order; where ways meet, only what both agree on stays known."""

    def __init__(self, info: FunctionInfo, flow: Flow, closure: Env, budget: Budget) -> None:
        self.returned: Value | None = None
        self.last: Env = {}
        """What the names held at the last `return`."""
        self.expressions = Expressions(info, flow.values, closure, budget, _returned)
        self._jumps: list[list[Env]] = []

    def block(self, statements: list[ast.stmt], env: Env) -> Env | None:
        """The environment after the statements; None when they do not come to their end."""
        for statement in statements:
            after = self.statement(statement, env)
            if after is None:
                return None
            env = after
        return env

    def statement(self, node: ast.stmt, env: Env) -> Env | None:
        """The environment after one statement."""
        if isinstance(node, ast.Return):
            value = self.expressions.value(node.value, env) if node.value is not None else NOTHING
            self.returned = value if self.returned is None else join(self.returned, value)
            self.last = env
            return None
        if isinstance(node, (ast.Raise, ast.Continue, ast.Break)):
            self.expressions.parts_of(node, env)
            if self._jumps and not isinstance(node, ast.Raise):
                self._jumps[-1].append(dict(env))
            return None
        if isinstance(node, ast.If):
            self.expressions.value(node.test, env)
            env = self.expressions.doubted(node.test, env)
            holds = self.expressions.holds(node.test)
            if holds is not None:
                return self.block(node.body if holds else node.orelse, dict(env))
            return merge(self.block(node.body, dict(env)), self.block(node.orelse, dict(env)))
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            return self._loop(node, env)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                entered = self.expressions.value(item.context_expr, env)
                if item.optional_vars is not None:
                    self.expressions.bind(item.optional_vars, entered if entered == TAPE else NOTHING, env)
            return self.block(node.body, env)
        if isinstance(node, (ast.Try, ast.TryStar)):
            return self._try(node, env)
        if isinstance(node, ast.Match):
            self.expressions.value(node.subject, env)
            ways = [self.block(case.body, dict(env)) for case in node.cases]
            merged: Env | None = dict(env)
            for way in ways:
                merged = merge(merged, way)
            return merged
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            env.pop(node.name, None)
            return env
        self._simple(node, env)
        return env

    def _simple(self, node: ast.stmt, env: Env) -> None:
        if isinstance(node, ast.Assign):
            value = self.expressions.value(node.value, env)
            for target in node.targets:
                self.expressions.bind(target, value, env)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self.expressions.bind(node.target, self.expressions.value(node.value, env), env)
        elif isinstance(node, ast.AugAssign):
            before = self.expressions.value(node.target, env)
            after = self.expressions.value(node.value, env)
            self.expressions.bind(node.target, arithmetic(node.op, before, after), env)
        else:
            self.expressions.parts_of(node, env)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, env: Env) -> Env | None:
        given = None if isinstance(node, ast.While) else item(self.expressions.value(node.iter, env))
        # Once to see what the body changes, without keeping what it says of itself; then for good.
        known = dict(self.expressions.values)
        entry = merge(env, self._pass(node, given, dict(env))) or env
        self.expressions.values.clear()
        self.expressions.values.update(known)
        after = merge(entry, self._pass(node, given, dict(entry))) or entry
        return self.block(node.orelse, dict(after))

    def _pass(self, node: ast.For | ast.AsyncFor | ast.While, given: Value | None, env: Env) -> Env | None:
        if isinstance(node, ast.While):
            self.expressions.value(node.test, env)
        elif given is not None:
            self.expressions.bind(node.target, given, env)
        self._jumps.append([])
        end = self.block(node.body, env)
        for jumped in self._jumps.pop():
            end = merge(end, jumped)
        return end

    def _try(self, node: ast.Try | ast.TryStar, env: Env) -> Env | None:
        after = self.block(node.body, dict(env))
        # A handler starts anywhere in the body: only what was so before and stays so is sure.
        start = merge(dict(env), after) or dict(env)
        merged = self.block(node.orelse, dict(after)) if after is not None else None
        for handler in node.handlers:
            merged = merge(merged, self.block(handler.body, dict(start)))
        if node.finalbody:
            return self.block(node.finalbody, merged if merged is not None else dict(start))
        return merged
