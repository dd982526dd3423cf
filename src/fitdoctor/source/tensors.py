"""Which expressions of a traced function surely are symbolic tensors: a forward pass over its statements."""

from __future__ import annotations

import ast
import contextlib

from fitdoctor.records import dataclass, field
from fitdoctor.source.callees import argument_for, callee, is_self
from fitdoctor.source.index import FUNCTIONS, FunctionNode, parameters_of
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.tensor_calls import MAKES_LAYER, returns
from fitdoctor.source.tensor_parameters import asks_for_structure, parameters
from fitdoctor.source.tensor_values import (
    LAYER,
    LAYERS,
    NOTHING,
    NUMERIC,
    SOME,
    TENSOR,
    TENSORS,
    VARIABLE,
    Env,
    Value,
    arithmetic,
    each,
    holds_tensor,
    join,
    merge,
    part,
)


@dataclass(eq=False)
class Flow:
    """The outcome for one function."""

    values: dict[ast.AST, Value] = field(default_factory=dict)
    """The expressions of which something is known."""
    returned: Value = NOTHING
    env: Env = field(default_factory=dict)
    """What the names hold where it ends."""


def is_tensor(module: Module, expr: ast.expr) -> bool:
    """Whether an expression surely is a symbolic tensor."""
    info = module.function_of(expr)
    if info is None:
        return False
    tracing = info.traced
    if tracing is None or tracing.eager:
        return False
    return module.flow(info.node).values.get(expr, NOTHING).kind == "tensor"


def flow_of(module: Module, node: FunctionNode) -> Flow:
    """Run over a function's statements; called by the module, which keeps the outcome."""
    # Registered before it is known, so that functions that call each other come to an end.
    module.flows[node] = Flow()
    info = module.function(node)
    # Of a function with hundreds of `elif`, nothing is known.
    with contextlib.suppress(RecursionError):
        budget = _Budget(_MAX_EXPRESSIONS, _MAX_CALLS)
        module.flows[node] = _walked(info, parameters(module, info), _closure(info), budget)
    return module.flows[node]


@dataclass(eq=False)
class _Budget:
    """What may still be looked at; the functions that are called draw on the same one."""

    expressions: int
    calls: int


def _closure(info: FunctionInfo) -> Env:
    """What the traced functions around a function bind, as it is where they end."""
    scope = info.module.index.scopes[info.node].parent
    while scope is not None:
        if isinstance(scope.node, FUNCTIONS):
            outer = info.module.function(scope.node)
            if outer.traced is None or outer.traced.eager:
                return {}
            bound = scope.bindings
            env = info.module.flow(scope.node).env
            # A name that is bound twice may have held something else when the function ran.
            return {name: value for name, value in env.items() if len(bound.get(name, ())) == 1}
        scope = scope.parent
    return {}


def _walked(info: FunctionInfo, env: Env, closure: Env, budget: _Budget) -> Flow:
    flow = Flow()
    walker = _Walker(info, flow, closure, budget)
    if isinstance(info.node, ast.Lambda):
        flow.returned = walker.value(info.node.body, env)
        flow.env = env
        return flow
    ends = walker.block(info.node.body, env)
    # Where it leaves by `return` only, the last way out is what an inner function sees.
    flow.env = ends if ends is not None else walker.last
    flow.returned = NOTHING if walker.returned is None or ends is not None else walker.returned
    return flow


_MAX_DEPTH = 120
_MAX_CALLS = 3
"""How many calls of the user's functions deep a value is followed."""
_MAX_EXPRESSIONS = 50_000
_STATIC_ATTRIBUTES = frozenset(
    "shape dtype name ndim device graph op rank static_shape is_sparse numpy get_shape set_shape".split()
)


_ASKS_EAGER = frozenset(
    ("tensorflow.executing_eagerly", "tensorflow.inside_function", "tensorflow.compat.v1.executing_eagerly")
)
_CALLED_OTHERWISE = ("__init__", "call", "__call__")
"""Methods that run when an object is made or called: Keras stands between."""


class _Walker:
    """Goes over statements in order; where ways meet, only what both agree on stays known."""

    def __init__(self, info: FunctionInfo, flow: Flow, closure: Env, budget: _Budget) -> None:
        self.module = info.module
        self.info = info
        self.values = flow.values
        self.returned: Value | None = None
        self.last: Env = {}
        self._closure = closure
        self._budget = budget
        self._jumps: list[list[Env]] = []
        self._depth = 0
        self._owner = self.module.class_of(info.node)

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
            value = self.value(node.value, env) if node.value is not None else NOTHING
            self.returned = value if self.returned is None else join(self.returned, value)
            self.last = env
            return None
        if isinstance(node, (ast.Raise, ast.Continue, ast.Break)):
            self._expressions(node, env)
            if self._jumps and not isinstance(node, ast.Raise):
                self._jumps[-1].append(dict(env))
            return None
        if isinstance(node, ast.If):
            self.value(node.test, env)
            env = self._doubted(node.test, env)
            return merge(self.block(node.body, dict(env)), self.block(node.orelse, dict(env)))
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            return self._loop(node, env)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                self.value(item.context_expr, env)
                if item.optional_vars is not None:
                    self.bind(item.optional_vars, NOTHING, env)
            return self.block(node.body, env)
        if isinstance(node, (ast.Try, ast.TryStar)):
            return self._try(node, env)
        if isinstance(node, ast.Match):
            self.value(node.subject, env)
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
            value = self.value(node.value, env)
            for target in node.targets:
                self.bind(target, value, env)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self.bind(node.target, self.value(node.value, env), env)
        elif isinstance(node, ast.AugAssign):
            before = self.value(node.target, env)
            after = self.value(node.value, env)
            self.bind(node.target, arithmetic(before, after), env)
        else:
            self._expressions(node, env)

    def _expressions(self, node: ast.AST, env: Env) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child, env)

    def _doubted(self, test: ast.expr, env: Env) -> Env:
        """Without what a test puts in question: in `if tf.executing_eagerly():` nothing is symbolic."""
        doubted: set[str] = set()
        for node in ast.walk(test):
            name = self.module.resolve(node.func) if isinstance(node, ast.Call) else ""
            if name in _ASKS_EAGER or (name == "isinstance" and self._asks_for_array(node)):
                return dict.fromkeys(env, NOTHING)
            if name in ("isinstance", "hasattr", "callable", "type") and isinstance(node, ast.Call):
                if not asks_for_structure(self.module, node):
                    doubted |= {argument.id for argument in node.args[:1] if isinstance(argument, ast.Name)}
        return {name: NOTHING if name in doubted else value for name, value in env.items()}

    def _asks_for_array(self, test: ast.AST) -> bool:
        """Whether `isinstance` asks for an array of NumPy: code that also runs eagerly goes its own way there."""
        kinds = ast.walk(test.args[1]) if isinstance(test, ast.Call) and len(test.args) == 2 else ()
        return any(self.module.resolve(kind) == "numpy.ndarray" for kind in kinds)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, env: Env) -> Env | None:
        item = None if isinstance(node, ast.While) else part(self.value(node.iter, env), None)
        # Once to see what the body changes, without keeping what it says of itself; then for good.
        known = dict(self.values)
        entry = merge(env, self._pass(node, item, dict(env))) or env
        self.values.clear()
        self.values.update(known)
        after = merge(entry, self._pass(node, item, dict(entry))) or entry
        return self.block(node.orelse, dict(after))

    def _pass(self, node: ast.For | ast.AsyncFor | ast.While, item: Value | None, env: Env) -> Env | None:
        if isinstance(node, ast.While):
            self.value(node.test, env)
        elif item is not None:
            self.bind(node.target, item, env)
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

    def bind(self, target: ast.expr, value: Value, env: Env) -> None:
        """Give a target a value, part by part where it is a tuple."""
        if isinstance(target, ast.Name):
            env[target.id] = value
            self._record(target, value)
        elif isinstance(target, ast.Attribute):
            if is_self(self.module, target.value):
                env[f"self.{target.attr}"] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            starred = any(isinstance(element, ast.Starred) for element in target.elts)
            for position, element in enumerate(target.elts):
                self.bind(element, part(value, None if starred else position), env)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, Value("each", (value,)) if value.kind else NOTHING, env)
        else:
            self.value(target, env)

    def _record(self, node: ast.AST, value: Value) -> None:
        if value.kind:
            self.values[node] = value

    # --- expressions ----------------------------------------------------------------------------------------------

    def value(self, node: ast.expr, env: Env) -> Value:
        """What an expression gives; noted when it is a tensor."""
        self._budget.expressions -= 1
        if self._depth > _MAX_DEPTH or self._budget.expressions < 0:
            return NOTHING
        self._depth += 1
        try:
            value = self._value(node, env)
        finally:
            self._depth -= 1
        self._record(node, value)
        return value

    def _value(self, node: ast.expr, env: Env) -> Value:
        match node:
            case ast.Name():
                return env[node.id] if node.id in env else self._from_outside(node)
            case ast.Constant() | ast.Lambda():
                return NOTHING
            case ast.Call():
                return self._call(node, env)
            case ast.Attribute():
                return self._attribute(node, env)
            case ast.BinOp():
                left, right = self.value(node.left, env), self.value(node.right, env)
                text = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
                return NOTHING if text and isinstance(node.op, ast.Mod) else arithmetic(left, right)
            case ast.UnaryOp():
                value = self.value(node.operand, env)
                return TENSOR if value.kind in NUMERIC and not isinstance(node.op, ast.Not) else NOTHING
            case ast.Compare():
                return self._compare(node, env)
            case ast.BoolOp():
                for operand in node.values:
                    self.value(operand, env)
                    env = self._doubted(operand, env)
                return NOTHING
            case ast.IfExp():
                self.value(node.test, env)
                env = self._doubted(node.test, env)
                return join(self.value(node.body, env), self.value(node.orelse, env))
            case ast.Subscript():
                return self._subscript(node, env)
            case ast.Tuple() | ast.List():
                return self._written_out(node, env)
            case ast.Dict():
                for key in node.keys:
                    if key is not None:
                        self.value(key, env)
                return each([self.value(value, env) for value in node.values])
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, env)
            case ast.NamedExpr():
                value = self.value(node.value, env)
                self.bind(node.target, value, env)
                return value
            case ast.Starred():
                return self.value(node.value, env)
        self._expressions(node, env)
        return NOTHING

    def _from_outside(self, name: ast.Name) -> Value:
        """A name that an enclosing function binds, or a layer, loss or variable that the file makes globally."""
        scope = self.module.index.lookup(name.id, self.module.scope(name))
        if scope is None or scope.node is self.info.node:
            return NOTHING
        if isinstance(scope.node, FUNCTIONS):
            return self._closure.get(name.id, NOTHING)
        return self._made(self.module.made_by(name))

    def _made(self, expr: ast.expr | None) -> Value:
        """What an expression outside of traced code makes: a layer, a variable, lists of them."""
        if isinstance(expr, ast.Call):
            name = self.module.resolve(expr.func)
            if returns(name) == "variable" or (
                isinstance(expr.func, ast.Attribute) and expr.func.attr in ("add_weight", "add_variable")
            ):
                return VARIABLE
            if name.startswith(MAKES_LAYER):
                return LAYER
            found = self.module.definition(expr.func)
            if isinstance(found, ClassInfo) and found.kind in ("Layer", "Model", "Loss"):
                return LAYER
        if isinstance(expr, (ast.List, ast.Tuple)) and expr.elts:
            return each([self._made(element) for element in expr.elts])
        if isinstance(expr, ast.ListComp):
            made = self._made(expr.elt)
            return Value("each", (made,)) if made.kind else NOTHING
        return NOTHING

    def _attribute(self, node: ast.Attribute, env: Env) -> Value:
        if is_self(self.module, node.value):
            known = env.get(f"self.{node.attr}")
            return known if known is not None else self._own(node.attr)
        base = self.value(node.value, env)
        if node.attr in _STATIC_ATTRIBUTES or base.kind != "tensor":
            return NOTHING
        return TENSOR if node.attr in ("T", "real", "imag", "values") else NOTHING

    def _own(self, attribute: str) -> Value:
        """What `self.attribute` holds, by every assignment of the class."""
        owner = self._owner
        if owner is None or owner.kind not in ("", "Layer", "Model", "Loss", "Metric"):
            return NOTHING
        if owner.kind == "Model" and attribute == "layers":
            return LAYERS
        for ancestor in self.module.ancestry(owner):
            stores = ancestor.module.attribute_stores(ancestor.node).get(attribute, [])
            if stores:
                return self._stored(ancestor, stores)
        return NOTHING

    def _stored(self, owner: ClassInfo, stores: list[ast.AST]) -> Value:
        values = set()
        for store in stores:
            statement = owner.module.parent(store)
            value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
            if isinstance(value, ast.Constant) and value.value is None:
                continue
            if isinstance(value, ast.List) and not value.elts:
                values.add(self._appended(owner, store))
            elif owner.kind == "Model" and isinstance(value, ast.Name) and _is_parameter(owner.module, value):
                values.add(Value("given"))
            else:
                values.add(self._made(value))
        return values.pop() if len(values) == 1 else NOTHING

    def _appended(self, owner: ClassInfo, store: ast.AST) -> Value:
        """What `self.x.append(…)` puts into a list that starts empty."""
        wanted = getattr(store, "attr", "")
        values = []
        for call in owner.module.method_calls("append"):
            value = call.node.func.value if isinstance(call.node.func, ast.Attribute) else None
            if isinstance(value, ast.Attribute) and value.attr == wanted and call.node.args:
                values.append(self._made(call.node.args[0]))
        return each(values)

    def _compare(self, node: ast.Compare, env: Env) -> Value:
        operands = [self.value(node.left, env), *(self.value(item, env) for item in node.comparators)]
        if any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops):
            return NOTHING
        # `tensor == None` is Python's False.
        constants = [item.value for item in (node.left, *node.comparators) if isinstance(item, ast.Constant)]
        if None in constants:
            return NOTHING
        return TENSOR if any(value.kind in NUMERIC for value in operands) else NOTHING

    def _subscript(self, node: ast.Subscript, env: Env) -> Value:
        base = self.value(node.value, env)
        self.value(node.slice, env)
        if isinstance(node.slice, ast.Slice) and base.kind in ("parts", "each"):
            return each(base.parts)
        key = _constant_index(node.slice)
        return part(base, key)

    def _written_out(self, node: ast.Tuple | ast.List, env: Env) -> Value:
        parts = [self.value(element, env) for element in node.elts]
        if any(isinstance(element, ast.Starred) for element in node.elts):
            return NOTHING
        return Value("parts", tuple(parts)) if parts else NOTHING

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, env: Env
    ) -> Value:
        inner = dict(env)
        for generator in node.generators:
            self.bind(generator.target, part(self.value(generator.iter, inner), None), inner)
            for condition in generator.ifs:
                self.value(condition, inner)
        if isinstance(node, ast.DictComp):
            self.value(node.key, inner)
            value = self.value(node.value, inner)
        else:
            value = self.value(node.elt, inner)
        return Value("each", (value,)) if value.kind else NOTHING

    # --- calls ----------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, env: Env) -> Value:
        arguments = [self.value(argument, env) for argument in node.args]
        arguments += [self.value(keyword.value, env) for keyword in node.keywords]
        name = self.module.resolve(node.func)
        given = any(holds_tensor(value) for value in arguments)
        if name:
            return self._named_call(name, node, arguments, env)
        if isinstance(node.func, ast.Attribute):
            known = self._method_call(node, node.func, env, given)
            if known is not None:
                return known
        found = callee(self.module, node)
        if found is not None and found.name not in _CALLED_OTHERWISE:
            return self._returned(found, node, env)
        if is_self(self.module, node.func):
            return TENSOR if given else NOTHING
        called = self.value(node.func, env)
        if called.kind == "layer" and any(not isinstance(argument, ast.Constant) for argument in node.args):
            return TENSOR  # whatever it was given: in a graph a layer's outputs are symbolic
        return TENSOR if called.kind == "given" and given else NOTHING

    def _named_call(self, name: str, node: ast.Call, arguments: list[Value], env: Env) -> Value:
        given = any(holds_tensor(value) for value in arguments)
        kind = returns(name)
        if kind == "several":
            return TENSORS
        if kind == "list and tensor":
            return Value("parts", (TENSORS, TENSOR))
        if kind == "variable":
            return VARIABLE
        if kind == "tensor":
            return TENSOR
        if kind == "some":
            return SOME
        if name.endswith("unpack_x_y_sample_weight") and given:
            return Value("parts", (TENSOR, TENSOR, NOTHING))
        if name in ("abs", "pow", "sum") and given:
            return TENSOR
        if name in ("list", "tuple", "reversed", "sorted") and arguments:
            return arguments[0] if arguments[0].kind in ("parts", "each") else NOTHING
        if name == "zip":
            return Value("each", (Value("parts", tuple(part(value, None) for value in arguments)),))
        if name == "enumerate" and arguments:
            return Value("each", (Value("parts", (NOTHING, part(arguments[0], None))),))
        found = callee(self.module, node)
        if found is not None and found.name not in _CALLED_OTHERWISE:
            return self._returned(found, node, env)
        return self._made(node)

    def _returned(self, function: FunctionInfo, call: ast.Call, env: Env) -> Value:
        """What a function of the user's gives back for these arguments."""
        if self._budget.calls == 0 or function.node in function.module.generators:
            return NOTHING
        inner: Env = {}
        for parameter in parameters_of(function.node.args):
            argument = argument_for(function, call, parameter.arg)
            inner[parameter.arg] = self.values.get(argument, NOTHING) if argument is not None else NOTHING
        around = function.module.index.scopes[function.node].parent
        nested = around is not None and around.node is self.info.node
        self._budget.calls -= 1
        try:
            return _walked(function, inner, env if nested else {}, self._budget).returned
        finally:
            self._budget.calls += 1

    def _method_call(self, node: ast.Call, function: ast.Attribute, env: Env, given: bool) -> Value | None:
        if is_self(self.module, function.value):
            if function.attr in ("compute_loss", "compiled_loss") and given:
                return TENSOR
            return None
        if _is_super_call(function) and given:
            return None
        base = self.value(function.value, env)
        if base == SOME and function.attr in ("values", "get", "pop"):
            return TENSORS if function.attr == "values" else TENSOR
        if base == SOME and function.attr == "items":
            return Value("each", (Value("parts", (NOTHING, TENSOR)),))
        if base.kind == "each" and function.attr in ("values", "get", "pop"):
            return base if function.attr == "values" else base.parts[0]
        if base.kind == "each" and function.attr == "items":
            return Value("each", (Value("parts", (NOTHING, base.parts[0])),))
        if base.kind == "variable":
            return TENSOR if function.attr in ("value", "read_value") else NOTHING
        return NOTHING if base.kind in ("tensor", "some") else None


def _constant_index(index: ast.expr) -> object:
    if isinstance(index, ast.Constant):
        return index.value
    if (
        isinstance(index, ast.UnaryOp)
        and isinstance(index.op, ast.USub)
        and isinstance(index.operand, ast.Constant)
        and isinstance(index.operand.value, int)
    ):
        return -index.operand.value
    return None


def _is_parameter(module: Module, name: ast.Name) -> bool:
    scope = module.index.lookup(name.id, module.scope(name))
    return scope is not None and all(isinstance(node, ast.arg) for node in scope.bindings[name.id])


def _is_super_call(function: ast.Attribute) -> bool:
    value = function.value
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "super"
