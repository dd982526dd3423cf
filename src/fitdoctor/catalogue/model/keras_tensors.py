"""Symbolic tensors of functional models, and the `keras.ops` equivalents of TensorFlow functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import merged_removal, spell
from fitdoctor.source.assignments import Assignment, Path, assignments, element_of, last_assignment
from fitdoctor.source.callees import argument_for, callers_of
from fitdoctor.source.index import FUNCTIONS
from fitdoctor.source.keras_objects import kind_of_call, kind_of_value
from fitdoctor.source.module import Module

_MOST_STEPS = 40
_NO_OPERATIONS = frozenset(
    "is_tensor print function cond nest py_function numpy_function get_static_value is_symbolic_tensor "
    "device name_scope gradients hessians".split()
)
_PARTS = frozenset({"math", "nn", "image", "linalg", "signal", "strings", "sparse", "random", "experimental"})
_READS_ONLY = frozenset(
    {
        "int_shape",
        "ndim",
        "dtype",
        "is_keras_tensor",
        "get_value",
        "floatx",
        "epsilon",
        "gradients",
        "function",
    }
)

_MAY_BE_TENSORS = (ast.Name, ast.Attribute, ast.BinOp, ast.Subscript, ast.Call)


def is_keras_tensor(module: Module, expr: ast.expr) -> bool:
    """Whether an expression is certainly a tensor of a functional model."""
    return _Search().finds(module, expr)


class _Search:
    """Follows expressions back to an `Input`, each of them once."""

    def __init__(self) -> None:
        self._known: dict[ast.expr, bool] = {}

    def finds(self, module: Module, expr: ast.expr, steps: int = _MOST_STEPS) -> bool:
        if steps <= 0 or not isinstance(expr, _MAY_BE_TENSORS):
            return False
        if expr not in self._known:
            self._known[expr] = False  # a name computed from itself leads nowhere
            self._known[expr] = self._follow(module, expr, steps - 1)
        return self._known[expr]

    def _follow(self, module: Module, expr: ast.expr, steps: int) -> bool:
        if isinstance(expr, ast.Name):
            return self._named(module, expr, steps)
        if isinstance(expr, ast.Attribute):
            if expr.attr in ("output", "input"):
                return _is_of_model(module, expr.value)
            made = expr if in_trace(module, expr) else module.made_by(expr)
            return made is not expr and self.finds(module, made, steps)
        if isinstance(expr, ast.BinOp):
            return self.finds(module, expr.left, steps) or self.finds(module, expr.right, steps)
        if isinstance(expr, ast.Subscript):
            at = expr.slice.value if isinstance(expr.slice, ast.Constant) else None
            inside = isinstance(at, int) and self._part(module, expr.value, (at,), steps)
            return inside or self.finds(module, expr.value, steps)
        return isinstance(expr, ast.Call) and self._made_by_call(module, expr, steps)

    def _named(self, module: Module, name: ast.Name, steps: int) -> bool:
        found = last_assignment(module, name)
        if found is None:
            return False
        if not in_trace(module, name):
            return self._assigned(module, name, found[0], steps)
        # A traced function may read such a tensor from the enclosing code; its own names hold real tensors.
        scope = module.index.lookup(name.id, module.scope(name))
        if scope is None or in_trace(module, scope.node):
            return False
        return all(
            self._assigned(module, name, each, steps) for each in assignments(module, name.id, scope.node)
        )

    def _assigned(self, module: Module, name: ast.Name, assignment: Assignment, steps: int) -> bool:
        if assignment.how == "parameter":
            return self._given(module, name, steps)
        if assignment.value is None or assignment.how != "=":
            return False
        if assignment.path:
            return self._part(module, assignment.value, assignment.path, steps)
        return self.finds(module, assignment.value, steps)

    def _part(self, module: Module, whole: ast.expr, path: Path, steps: int) -> bool:
        """Whether an element of a list, tuple or layer output is such a tensor: `mean, spread = args`."""
        if steps <= 0:
            return False
        if not path:
            return self.finds(module, whole, steps)
        if isinstance(whole, (ast.List, ast.Tuple)):
            part = element_of(whole, path[0])
            return part is not None and self._part(module, part, path[1:], steps - 1)
        if isinstance(whole, ast.Call):
            sizes = module.resolve(whole.func).rpartition(".")[2] == "shape"
            return not sizes and self.finds(module, whole, steps - 1)
        found = last_assignment(module, whole) if isinstance(whole, ast.Name) else None
        if found is None or not isinstance(whole, ast.Name) or in_trace(module, whole):
            return False
        if found[0].how == "parameter":
            return self._given(module, whole, steps, path)
        if found[0].value is None or found[0].how != "=":
            return False
        return self._part(module, found[0].value, (*found[0].path, *path), steps - 1)

    def _given(self, module: Module, name: ast.Name, steps: int, path: Path = ()) -> bool:
        """Whether a call passes such a tensor to a parameter, or to a part of it."""
        scope = module.index.lookup(name.id, module.scope(name))
        if scope is None or not isinstance(scope.node, FUNCTIONS):
            return False
        function = module.function(scope.node)
        for caller, call in callers_of(function):
            argument = argument_for(function, call, name.id)
            if argument is not None and self._part(caller, argument, path, min(steps, 8)):
                return True
        return False

    def _made_by_call(self, module: Module, call: ast.Call, steps: int) -> bool:
        name = module.resolve(call.func)
        if name == "keras.Input":
            return not any(keyword.arg == "tensor" for keyword in call.keywords)
        if (
            is_operation(name)
            or name.startswith(("keras.ops.", "keras.layers."))
            and name.rpartition(".")[2].islower()
        ):
            return any(self.finds(module, argument, steps) for argument in arguments_of(call))
        if not call.args:
            return False
        called = call.func
        kind = kind_of_call(module, called) if isinstance(called, ast.Call) else kind_of_value(module, called)
        if kind not in ("Layer", "Model"):
            return False
        return any(self.finds(module, argument, steps) for argument in _inside(call.args[0]))


def _is_of_model(module: Module, expr: ast.expr) -> bool:
    """Whether an expression is a model or a layer, including `model.get_layer("code")`."""
    if isinstance(expr, ast.Call) and isinstance(expr.func, ast.Attribute) and expr.func.attr == "get_layer":
        return kind_of_value(module, expr.func.value) == "Model"
    return kind_of_value(module, expr) in ("Model", "Layer")


def in_trace(module: Module, node: ast.AST) -> bool:
    """Whether a node is in traced code, where tensors have values."""
    function = module.function(node) if isinstance(node, FUNCTIONS) else module.function_of(node)
    return function is not None and function.traced is not None


def arguments_of(call: ast.Call) -> Iterator[ast.expr]:
    """Yield the arguments of a call, with lists and tuples flattened."""
    for value in (*call.args, *(keyword.value for keyword in call.keywords)):
        yield from _inside(value)


def _inside(value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(value, (ast.List, ast.Tuple)):
        for element in value.elts:
            yield from _inside(element)
    else:
        yield value


def is_operation(name: str) -> bool:
    """Whether a canonical name is a TensorFlow or `keras.backend` operation that computes with its arguments."""
    if name.startswith("keras.backend."):
        rest = name.removeprefix("keras.backend.")
        return (
            rest.islower()
            and "." not in rest
            and rest not in _READS_ONLY
            and not rest.startswith(("set_", "clear_"))
        )
    if not name.startswith("tensorflow."):
        return False
    *path, last = name.removeprefix("tensorflow.").split(".")
    if (
        not last.replace("_", "").replace("2d", "").isalnum()
        or last != last.lower()
        or last in _NO_OPERATIONS
    ):
        return False
    return not path or (len(path) == 1 and path[0] in _PARTS)


def misused(module: Module) -> Iterator[ast.Call]:
    """Yield the calls that pass such a tensor to a TensorFlow operation, inner ones first."""
    search = _Search()
    found = [
        site.node
        for site in module.calls_under("tensorflow.", "keras.backend.")
        if is_operation(site.name)
        and any(search.finds(module, argument) for argument in arguments_of(site.node))
    ]
    yield from sorted(found, key=lambda node: (node.lineno, -node.col_offset))


# --- `keras.ops` equivalents ------------------------------------------------------------------------------------

_SAME = frozenset(
    "abs add subtract multiply divide square sqrt exp sin cos tan tanh sigmoid sinh cosh sign maximum minimum equal "
    "not_equal greater greater_equal less less_equal logical_and logical_or logical_not where stack expand_dims squeeze "
    "reshape transpose tile repeat zeros_like ones_like cumsum matmul round floor argmax argmin einsum cast shape "
    "stop_gradient relu relu6 softmax elu selu gelu silu softplus leaky_relu log_softmax one_hot pad split log log1p "
    "broadcast_to".split()
)
_OTHER = {
    **{f"reduce_{name}": name for name in ("mean", "sum", "max", "min", "prod", "any", "all", "std")},
    "reduce_variance": "var",
    "reduce_logsumexp": "logsumexp",
    "concat": "concatenate",
    "pow": "power",
    "clip_by_value": "clip",
    "norm": "norm",
    "l2_normalize": "normalize",
    "convert_to_tensor": "convert_to_tensor",
    "truediv": "divide",
    "ceil": "ceil",
    "rsqrt": "rsqrt",
    "unstack": "unstack",
    "resize": "image.resize",
}
_OLD_BACKEND = {
    **{
        name: name
        for name in ("mean", "sum", "max", "min", "prod", "any", "all", "std", "var", "concatenate", "clip")
    },
    "pow": "power",
    "l2_normalize": "normalize",
    "permute_dimensions": "transpose",
}
_KEYWORDS = frozenset({"axis", "keepdims", "dtype", "num_or_size_splits"})
_TURNS = frozenset({"transpose_a", "transpose_b"})
_AXIS_BY_NAME = frozenset({"l2_normalize", "gelu"})


def twin(module: Module, call: ast.Call) -> str | None:
    """Return the equivalent `keras.ops` function with the same arguments; None if there is none."""
    name = module.resolve(call.func)
    last = name.rpartition(".")[2]
    taken = _KEYWORDS | _TURNS if last == "matmul" and len(call.args) == 2 else _KEYWORDS
    if any(keyword.arg not in taken or keyword.arg == "num_or_size_splits" for keyword in call.keywords):
        return None
    if last in _AXIS_BY_NAME and len(call.args) > 1:
        return None
    if name.startswith("keras.backend."):
        return _OLD_BACKEND.get(last) or (last if last in _SAME else None)
    if ".image." in name and last != "resize":
        return None
    return _OTHER.get(last) or (last if last in _SAME else None)


def twin_edits(module: Module, call: ast.Call) -> tuple[str, tuple[Edit, ...]] | None:
    """Return how this file refers to the equivalent, and edits that replace the call."""
    name = twin(module, call)
    if name is None:
        return None
    code = module.code(call)
    known = dict(module.spellings).get("keras.ops")
    keras, imports = (known, ()) if known is not None else spell(code, "keras", "keras")
    home = keras if known is not None else f"{keras}.ops"
    text = f"{home}.{name}"
    return text, (Edit(module.location(call.func), text), *_turned(module, call, home), *imports)


def _turned(module: Module, call: ast.Call, home: str) -> Iterator[Edit]:
    """Replace `transpose_b=True`, which `keras.ops` lacks, by a transposed factor."""
    turns = [keyword for keyword in call.keywords if keyword.arg in _TURNS]
    for keyword in turns:
        if isinstance(keyword.value, ast.Constant) and keyword.value.value is True:
            factor = call.args[0 if keyword.arg == "transpose_a" else 1]
            yield Edit(module.location(factor), f"{home}.swapaxes({module.segment(factor)}, -1, -2)")
    names = [keyword.arg for keyword in turns if keyword.arg is not None]
    yield from merged_removal(module.code(call), names)
