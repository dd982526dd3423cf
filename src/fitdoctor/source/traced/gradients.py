"""Determines whether a gradient flows through a user's function, and which operation blocks it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from fitdoctor.diagnosis import Location
from fitdoctor.records import dataclass
from fitdoctor.source.callees import argument_for, callee
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.index import FUNCTIONS
from fitdoctor.source.module import FunctionInfo, Module

IsRoot = Callable[[ast.expr], bool]
"""Whether an expression is where the gradient should arrive: predictions, the output of a layer."""

_CUTTING = frozenset(
    """argmax argmin round rint floor ceil sign equal not_equal greater greater_equal less less_equal logical_and
    logical_or logical_not one_hot bincount histogram_fixed_width argsort searchsorted digitize in_top_k
    is_nan isnan is_inf isinf is_finite isfinite reduce_any reduce_all count_nonzero confusion_matrix categorical
    edit_distance ctc_decode ctc_greedy_decoder ctc_beam_search_decoder non_max_suppression binary_accuracy
    categorical_accuracy sparse_categorical_accuracy top_k_categorical_accuracy numpy_function stop_gradient shape size
    rank zeros_like ones_like floordiv""".split()
)
_PY_FUNCTIONS = ("tensorflow.py_function", "tensorflow.compat.v1.py_function")
PREDICTS = ("predict", "predict_on_batch")
"""Model methods that return arrays, which tapes do not record."""
_CUTTING_LIBRARIES = ("numpy.", "math.", "sklearn.", "scipy.")
_DEEPEST = 4
"""How many calls of the user's functions are followed, one inside another."""
_LEAVES_GRADIENTS = frozenset(
    "staticmethod classmethod tensorflow.function tensorflow.autograph.experimental.do_not_convert "
    "keras.saving.register_keras_serializable keras.utils.register_keras_serializable".split()
)
"""Decorators under which a function has the gradient that its body has."""
_WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "bool")


@dataclass(frozen=True)
class Cut:
    """The operation that blocks the gradient."""

    module: Module
    """The file that contains it."""
    node: ast.expr
    what: str
    """In the user's words: `tf.argmax`, a comparison, `.numpy()`."""

    @property
    def needs_value(self) -> bool:
        """Whether it reads a tensor's value: on a symbolic tensor it raises, before a gradient could be missing."""
        return isinstance(self.node, ast.Call) and _needs_value(self.module, self.node)


@dataclass(frozen=True)
class _Reach:
    """How an expression depends on the roots."""

    open: bool = False
    """Whether some path is differentiable."""
    cut: Cut | None = None
    """The first operation that blocks a path."""

    def __or__(self, other: _Reach) -> _Reach:
        return _Reach(self.open or other.open, self.cut or other.cut)


_NOTHING = _Reach()


def cut_on_the_way(module: Module, body: Iterable[ast.stmt], is_root: IsRoot, wanted: str = "") -> Cut | None:
    """Return the operation that blocks every path from the roots to the returned value.

    Args:
        module: the file.
        body: the statements, read from top to bottom; both sides of a branch count.
        is_root: tells the expressions that the gradient should reach.
        wanted: the name whose value matters; what is returned when it is "".

    Returns:
        None if some path is open, if there is no path at all, or if unknown.
    """
    reading = _Reading(module, is_root)
    reading.read(body)
    reach = reading.names.get(wanted, _NOTHING) if wanted else reading.returned
    return None if reach.open else reach.cut


def cut_at(module: Module, line: Location) -> Cut | None:
    """The first operation on a line that blocks a gradient."""
    reading = _Reading(module, lambda _expr: False)
    for node in (each for kind in (ast.Call, ast.Compare, ast.BinOp) for each in module.nodes(kind)):
        place = module.location(node)
        if place.cell == line.cell and place.line <= line.line <= place.end_line:
            what = reading.cut_by(node)
            if what:
                return Cut(module, node, what)
    return None


def body_of(function: FunctionInfo) -> list[ast.stmt]:
    """The statements of a function; a lambda returns what it says."""
    if isinstance(function.node, ast.Lambda):
        return [ast.Return(function.node.body)]
    return function.node.body


def has_own_gradient(function: FunctionInfo) -> bool:
    """Whether a decorator may give it another gradient than its body has: `@tf.custom_gradient`, or one of the user's."""
    decorators = getattr(function.node, "decorator_list", ())
    called = (one.func if isinstance(one, ast.Call) else one for one in decorators)
    return any(function.module.resolve(one) not in _LEAVES_GRADIENTS for one in called)


def is_py_function(module: Module, expr: ast.expr) -> bool:
    """Whether an expression is a call of `tf.py_function`."""
    return module.called(expr) in _PY_FUNCTIONS


def _is_put_in(expr: ast.expr) -> bool:
    return (
        isinstance(expr, ast.Call)
        and isinstance(expr.func, ast.Attribute)
        and expr.func.attr in ("append", "extend", "insert", "appendleft")
    )


def _needs_value(module: Module, call: ast.Call) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "numpy" and not call.args:
        return True
    name = module.resolve(call.func)
    return name.startswith(_CUTTING_LIBRARIES) or name in ("float", "int", "round", "bool")


class _Reading:
    """Goes through statements and keeps how each name depends on the roots."""

    def __init__(self, module: Module, is_root: IsRoot, depth: int = 0) -> None:
        self._module = module
        self._is_root = is_root
        self._depth = depth
        self.names: dict[str, _Reach] = {}
        self.returned = _NOTHING

    def read(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Assign):
            reach = self.reach(statement.value)
            for target in statement.targets:
                self._assign(target, reach)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            self._assign(statement.target, self.reach(statement.value))
        elif isinstance(statement, ast.AugAssign):
            self._assign(statement.target, self.reach(statement.value) | self.reach(statement.target))
        elif isinstance(statement, ast.Expr) and _is_put_in(statement.value):
            # `losses.append(loss)`: the list depends on what is put into it.
            assert isinstance(statement.value, ast.Call)
            assert isinstance(statement.value.func, ast.Attribute)
            held = statement.value.func.value
            reach = self.reach(held)
            for value in statement.value.args:
                reach = reach | self.reach(value)
            self._assign(held, reach)
        elif isinstance(statement, ast.Return) and statement.value is not None:
            self.returned = self.returned | self.reach(statement.value)
        elif isinstance(statement, ast.FunctionDef) and not statement.args.args:
            branch = _Reading(self._module, self._is_root, self._depth)
            branch.names = dict(self.names)
            branch.read(statement.body)
            self.names[statement.name] = branch.returned
        elif isinstance(statement, (ast.If, ast.For, ast.While)):
            # What one side leaves open stays open: only what is cut on all sides is cut.
            before = dict(self.names)
            self.read(statement.body)
            after = dict(self.names)
            self.names = dict(before)
            self.read(statement.orelse)
            for name in {*after, *self.names}:
                # Where a side does not bind a name, it is what it was, which may be a root.
                as_it_was = _Reach(open=self._is_root(ast.Name(name, ast.Load())))
                self.names[name] = after.get(name, as_it_was) | self.names.get(name, as_it_was)
        elif isinstance(statement, (ast.With, ast.Try)):
            self.read(statement.body)
            if isinstance(statement, ast.Try):
                for handler in statement.handlers:
                    self.read(handler.body)

    def _assign(self, target: ast.expr, reach: _Reach) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self._assign(element, reach)
        elif isinstance(target, ast.Name):
            self.names[target.id] = reach
        elif isinstance(target, ast.Attribute):
            self.names[ast.unparse(target)] = reach

    def reach(self, expr: ast.AST) -> _Reach:
        """How an expression depends on the roots."""
        if isinstance(expr, ast.Name) and expr.id in self.names:
            return self.names[expr.id]
        if isinstance(expr, ast.expr) and self._is_root(expr):
            return _Reach(open=True)
        if isinstance(expr, ast.Attribute):
            return _NOTHING if expr.attr in ("shape", "dtype", "ndim") else self.reach(expr.value)
        if isinstance(expr, ast.Lambda) and not expr.args.args:
            return self.reach(expr.body)  # the branches of `tf.cond(…, lambda: x, lambda: y)`
        if isinstance(expr, (*FUNCTIONS, ast.ClassDef)):
            return _NOTHING
        inner = _NOTHING
        for child in ast.iter_child_nodes(expr):
            inner = inner | self.reach(child)
        what = self.cut_by(expr) if inner.open and isinstance(expr, ast.expr) else ""
        if what and isinstance(expr, ast.expr):
            return _Reach(cut=Cut(self._module, expr, what))
        if inner.open and isinstance(expr, ast.Call) and self._leaves_tensors(expr):
            return _Reach(cut=Cut(self._module, expr, "a `py_function` that computes outside TensorFlow"))
        function = callee(self._module, expr) if isinstance(expr, ast.Call) else None
        if function is None or not isinstance(expr, ast.Call):
            return inner
        return self._through(function, expr) if inner.open else inner | self._inside(function, frozenset())

    def _through(self, function: FunctionInfo, call: ast.Call) -> _Reach:
        """A function of the user's: cut where it cuts all that it is given, open where that is not sure."""
        given = {
            name
            for name in function.parameters
            if (value := argument_for(function, call, name)) is not None and self.reach(value).open
        }
        hidden = function.name == "__init__" or has_own_gradient(function)
        if not given or self._depth >= _DEEPEST or hidden:
            return _Reach(open=True)
        reach = self._inside(function, frozenset(given))
        return reach if reach.cut is not None and not reach.open else _Reach(open=True)

    def _leaves_tensors(self, call: ast.Call) -> bool:
        """Whether a call runs a function of the user's by `tf.py_function` that takes the values of all it is given.

        Such a function is differentiated by the tensors that it computes with: NumPy's arrays are none.
        """
        if not is_py_function(self._module, call):
            return False
        run = argument_of(call, "func", 0)
        function = self._module.definition(run) if run is not None else None
        if not isinstance(function, FunctionInfo) or self._depth >= _DEEPEST:
            return False
        reach = self._inside(function, frozenset(function.parameters))
        return reach.cut is not None and not reach.open and reach.cut.needs_value

    def _inside(self, function: FunctionInfo, given: frozenset[str]) -> _Reach:
        """How what a function of the user's returns depends on these parameters, and on roots of its own."""
        if self._depth >= _DEEPEST or function.name == "__init__":
            return _NOTHING
        inside = _Reading(
            function.module,
            lambda expr: isinstance(expr, ast.Name) and expr.id in given or self._is_root(expr),
            self._depth + 1,
        )
        # A parameter may have the name of a root and be something else.
        inside.names = {name: _NOTHING for name in function.parameters if name not in given}
        inside.read(body_of(function))
        return inside.returned

    def cut_by(self, expr: ast.expr) -> str:
        """What an expression does to a gradient, in words; "" when it lets it pass."""
        if isinstance(expr, ast.Compare):
            return "a comparison"
        if isinstance(expr, ast.BinOp) and isinstance(expr.op, ast.FloorDiv):
            return "`//`"
        if not isinstance(expr, ast.Call):
            return ""
        name = self._module.resolve(expr.func)
        last = name.rpartition(".")[2]
        if isinstance(expr.func, ast.Attribute) and expr.func.attr == "numpy" and not expr.args:
            return "`.numpy()`"
        if (
            _needs_value(self._module, expr)
            or name.startswith(("tensorflow.", "keras."))
            and last in _CUTTING
        ):
            return f"`{self._module.segment(expr.func)}`"
        if name in ("tensorflow.cast", "keras.ops.cast") and len(expr.args) > 1:
            kind = self._module.segment(expr.args[1])
            return f"a cast to `{kind}`" if any(whole in kind for whole in _WHOLE) else ""
        if isinstance(expr.func, ast.Attribute) and expr.func.attr in PREDICTS:
            return f"`{self._module.segment(expr.func)}`"
        return ""
