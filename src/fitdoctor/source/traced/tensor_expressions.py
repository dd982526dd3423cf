"""Finds the expressions of a function that are certainly symbolic tensors, given the values of its names."""

from __future__ import annotations

import ast
from collections.abc import Callable

from fitdoctor.records import dataclass
from fitdoctor.source.callees import argument_for, callee, is_self
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.index import FUNCTIONS, parameters_of
from fitdoctor.source.module import FunctionInfo
from fitdoctor.source.traced.decided_branches import holds_in_a_graph, holds_wherever_traced
from fitdoctor.source.traced.other_backends import holds_on_tensorflow
from fitdoctor.source.traced.tensor_calls import returns
from fitdoctor.source.traced.tensor_holders import held_by, made
from fitdoctor.source.traced.tensor_parameters import asks_for_structure, is_taken_apart, used_as_structure
from fitdoctor.source.traced.tensor_values import (
    MEMBER,
    NOTHING,
    NUMERIC,
    SOME,
    TAPE,
    TENSOR,
    TENSORS,
    VARIABLE,
    Env,
    Value,
    arithmetic,
    each,
    holds_tensor,
    item,
    join,
    part,
)

_MAX_DEPTH = 120
_STATIC_ATTRIBUTES = frozenset(
    "shape dtype name ndim device graph op rank static_shape is_sparse numpy get_shape set_shape".split()
)


_ASKS_EAGER = frozenset(
    ("tensorflow.executing_eagerly", "tensorflow.inside_function", "tensorflow.compat.v1.executing_eagerly")
)
_LISTS = frozenset({"trainable_variables", "trainable_weights", "variables", "weights"})
_CALLED_OTHERWISE = ("__init__", "call", "__call__")
"""Methods that Keras runs when an object is created or called."""


@dataclass(eq=False)
class Budget:
    """What may still be looked at; the functions that are called draw on the same one."""

    expressions: int
    calls: int


Follow = Callable[[FunctionInfo, Env, Env, Budget], Value]
"""Gives what a function returns whose parameters, and the names around it, hold these values."""


class Expressions:
    """Evaluates the expressions of one function and records what is known about them."""

    def __init__(
        self, info: FunctionInfo, values: dict[ast.AST, Value], closure: Env, budget: Budget, follow: Follow
    ) -> None:
        self.module = info.module
        self.info = info
        self.values = values
        self._closure = closure
        self._budget = budget
        self._follow = follow
        self._depth = 0
        self._owner = self.module.class_of(info.node)

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
                return NOTHING if text and isinstance(node.op, ast.Mod) else arithmetic(node.op, left, right)
            case ast.UnaryOp():
                value = self.value(node.operand, env)
                return TENSOR if value.kind in NUMERIC and not isinstance(node.op, ast.Not) else NOTHING
            case ast.Compare():
                return self._compare(node, env)
            case ast.BoolOp():
                for operand in node.values:
                    self.value(operand, env)
                    env = self.doubted(operand, env)
                return NOTHING
            case ast.IfExp():
                self.value(node.test, env)
                env = self.doubted(node.test, env)
                holds = self.holds(node.test)
                if holds is not None:
                    return self.value(node.body if holds else node.orelse, env)
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
        self.parts_of(node, env)
        return NOTHING

    def _from_outside(self, name: ast.Name) -> Value:
        """A name that an enclosing function binds, or a layer, loss or variable that the file makes globally."""
        scope = self.module.index.lookup(name.id, self.module.scope(name))
        if scope is None or scope.node is self.info.node:
            return NOTHING
        if isinstance(scope.node, FUNCTIONS):
            return self._closure.get(name.id, NOTHING)
        return made(self.module, self.module.made_by(name))

    def _attribute(self, node: ast.Attribute, env: Env) -> Value:
        if is_self(self.module, node.value):
            known = env.get(f"self.{node.attr}")
            return known if known is not None else held_by(self._owner, node.attr)
        base = self.value(node.value, env)
        if node.attr in _STATIC_ATTRIBUTES or base.kind not in ("tensor", "member"):
            return NOTHING
        return TENSOR if node.attr in ("T", "real", "imag", "values") else NOTHING

    def _compare(self, node: ast.Compare, env: Env) -> Value:
        operands = [self.value(node.left, env), *(self.value(one, env) for one in node.comparators)]
        if any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops):
            return NOTHING
        # `tensor == None` is Python's False.
        constants = [one.value for one in (node.left, *node.comparators) if isinstance(one, ast.Constant)]
        if None in constants:
            return NOTHING
        return TENSOR if any(value.kind in NUMERIC for value in operands) else NOTHING

    def _subscript(self, node: ast.Subscript, env: Env) -> Value:
        base = self.value(node.value, env)
        self.value(node.slice, env)
        if isinstance(node.slice, ast.Slice):
            if base in (SOME, MEMBER):  # of a list it is a list, of a tensor a tensor
                return base
            if base.kind in ("parts", "each"):
                return each(base.parts)
        if isinstance(node.slice, ast.Tuple) and base.kind in NUMERIC:
            return TENSOR  # neither a list nor a dict of layers' outputs has such keys
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
            self.bind(generator.target, item(self.value(generator.iter, inner)), inner)
            for condition in generator.ifs:
                self.value(condition, inner)
        if isinstance(node, ast.DictComp):
            self.value(node.key, inner)
            value = self.value(node.value, inner)
        else:
            value = self.value(node.elt, inner)
        return Value("each", (value,)) if value.kind else NOTHING

    def parts_of(self, node: ast.AST, env: Env) -> None:
        """Evaluate the expressions that a node directly holds."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child, env)

    # --- names --------------------------------------------------------------------------------------------------------

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
                held = part(value, None if starred else position)
                if value == SOME and isinstance(element, ast.Name) and self._is_structure(element.id):
                    held = SOME
                self.bind(element, held, env)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, Value("each", (value,)) if value.kind else NOTHING, env)
        else:
            self.value(target, env)

    def _is_structure(self, name: str) -> bool:
        return used_as_structure(self.module, self.info.node, name)

    def _record(self, node: ast.AST, value: Value) -> None:
        if value.kind:
            self.values[node] = value

    def holds(self, test: ast.expr) -> bool | None:
        """Which way a test goes wherever it is traced: the other is for another backend, or for plain arrays."""
        for holds in (
            holds_on_tensorflow(self.module, test),
            holds_wherever_traced(self.info, test),
            holds_in_a_graph(self.module, test),
        ):
            if holds is not None:
                return holds
        return None

    def doubted(self, test: ast.expr, env: Env) -> Env:
        """Without what a test puts in question: in `if tf.executing_eagerly():` nothing is symbolic."""
        doubted: set[str] = set()
        for node in ast.walk(test):
            name = self.module.called(node)
            if name in _ASKS_EAGER or (name == "isinstance" and self._asks_for_array(node)):
                return dict.fromkeys(env, NOTHING)
            if name in ("isinstance", "hasattr", "callable", "type") and isinstance(node, ast.Call):
                asked = {argument.id for argument in node.args[:1] if isinstance(argument, ast.Name)}
                if not asks_for_structure(self.module, node):
                    doubted |= asked
                elif any(env.get(one, NOTHING).kind == "tensor" for one in asked):
                    # What is one tensor while tracing is a list where the code also runs on plain data.
                    return dict.fromkeys(env, NOTHING)
        return {name: NOTHING if name in doubted else value for name, value in env.items()}

    def _asks_for_array(self, test: ast.AST) -> bool:
        """Whether `isinstance` asks for an array of NumPy: code that also runs eagerly goes its own way there."""
        kinds = ast.walk(test.args[1]) if isinstance(test, ast.Call) and len(test.args) == 2 else ()
        return any(self.module.resolve(kind) == "numpy.ndarray" for kind in kinds)

    # --- calls ----------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, env: Env) -> Value:
        arguments = [self.value(argument, env) for argument in node.args]
        arguments += [self.value(keyword.value, env) for keyword in node.keywords]
        name = self.module.resolve(node.func)
        given = any(holds_tensor(value) for value in arguments)
        if name:
            return self._named_call(name, node, arguments, env)
        if isinstance(node.func, ast.Attribute):
            known = self._method_call(node.func, env, given)
            if known is not None:
                return known
        found = callee(self.module, node)
        if found is not None and found.name not in _CALLED_OTHERWISE:
            return self._returned(found, node, env)
        owner = self.info.owner
        if is_self(self.module, node.func) and (owner is None or owner.kind not in ("Layer", "Model")):
            return TENSOR if given else NOTHING
        called = self.value(node.func, env)
        own = called.kind == "own" or is_self(self.module, node.func)
        if (own or called.kind == "layer") and any(not isinstance(one, ast.Constant) for one in node.args):
            # whatever it was given: in a graph a layer's outputs are symbolic
            return self._output(node, MEMBER if own else TENSOR)
        return self._output(node, MEMBER) if called.kind == "given" and given else NOTHING

    def _output(self, call: ast.Call, one: Value) -> Value:
        """What a layer or model gives: several tensors, perhaps, where the function goes through them."""
        around = self.module.parent(call)
        if isinstance(around, ast.Assign) and len(around.targets) == 1:
            target = around.targets[0]
            several = isinstance(target, ast.Name) and (
                self._is_structure(target.id)
                or any(map(self._is_sliced, self.module.reads.get(target.id, ())))
            )
            return SOME if several else one
        return SOME if is_taken_apart(self.module, call) or self._is_sliced(call) else one

    def _is_sliced(self, node: ast.expr) -> bool:
        """Whether some of several outputs may be selected: `features[1:3]`."""
        around = self.module.parent(node)
        return (
            isinstance(around, ast.Subscript) and around.value is node and isinstance(around.slice, ast.Slice)
        )

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
            return self._looped(node, env) if name.endswith(".while_loop") else SOME
        if name == "tensorflow.GradientTape":
            return TAPE
        if name.endswith("unpack_x_y_sample_weight") and given:
            return Value("parts", (MEMBER, MEMBER, NOTHING))
        if name in ("abs", "pow", "sum") and given:
            return TENSOR
        if name in ("list", "tuple", "reversed", "sorted") and arguments:
            return arguments[0] if arguments[0].kind in ("parts", "each") else NOTHING
        if name == "zip":
            return Value("each", (Value("parts", tuple(item(value) for value in arguments)),))
        if name == "enumerate" and arguments:
            return Value("each", (Value("parts", (NOTHING, item(arguments[0]))),))
        found = callee(self.module, node)
        if found is not None and found.name not in _CALLED_OTHERWISE:
            return self._returned(found, node, env)
        return made(self.module, node)

    def _looped(self, call: ast.Call, env: Env) -> Value:
        """What `tf.while_loop` gives back: the structure of its variables, in which a list stays a list."""
        named = [keyword.value for keyword in call.keywords if keyword.arg == "loop_vars"]
        start = named[0] if named else call.args[2] if len(call.args) > 2 else None
        if not isinstance(start, (ast.List, ast.Tuple)):
            return NOTHING if start is None else self.value(start, env)
        # A number is made a tensor by the loop.
        return Value(
            "parts",
            tuple(TENSOR if isinstance(one, ast.Constant) else self.value(one, env) for one in start.elts),
        )

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
            return self._follow(function, inner, env if nested else {}, self._budget)
        finally:
            self._budget.calls += 1

    def _method_call(self, function: ast.Attribute, env: Env, given: bool) -> Value | None:
        if is_self(self.module, function.value):
            if function.attr in ("compute_loss", "compiled_loss") and given:
                return TENSOR
            return None
        if _is_super_call(function) and given:
            return None
        base = self.value(function.value, env)
        if base == SOME and function.attr in ("values", "get", "pop"):
            return Value("each", (MEMBER,)) if function.attr == "values" else MEMBER
        if base == SOME and function.attr == "items":
            return Value("each", (Value("parts", (NOTHING, MEMBER)),))
        if base.kind == "each" and function.attr in ("values", "get", "pop"):
            return base if function.attr == "values" else base.parts[0]
        if base.kind == "each" and function.attr == "items":
            return Value("each", (Value("parts", (NOTHING, base.parts[0])),))
        if base.kind == "variable":
            return TENSOR if function.attr in ("value", "read_value") else NOTHING
        if base.kind == "metric":
            return TENSOR if function.attr == "result" else NOTHING
        if base.kind == "tape":
            return self._gradients(function, env) if function.attr == "gradient" else NOTHING
        return NOTHING if base.kind in ("tensor", "some", "member") else None

    def _gradients(self, function: ast.Attribute, env: Env) -> Value:
        """The structure of what a tape is asked about: a list for a list, and for a list in it another one."""
        call = self.module.parent(function)
        asked = argument_of(call, "sources", 1) if isinstance(call, ast.Call) else None
        if isinstance(asked, ast.Attribute) and asked.attr in _LISTS:
            return TENSORS
        if not isinstance(asked, ast.List) or any(isinstance(each, ast.Starred) for each in asked.elts):
            return SOME
        parts = (self.value(each, env).kind for each in asked.elts)
        return Value("parts", tuple(TENSOR if kind in ("variable", "tensor") else SOME for kind in parts))


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


def _is_super_call(function: ast.Attribute) -> bool:
    value = function.value
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "super"
