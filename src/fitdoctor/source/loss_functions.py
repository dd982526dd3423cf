"""The crossentropy that a custom loss function applies to the predictions as they are."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from fitdoctor.facts import Code, InnerLoss
from fitdoctor.source.assignments import last_assignment
from fitdoctor.source.callees import argument_for, callee, is_self
from fitdoctor.source.keras_names import canonical_loss, snake_case
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.origins import origin

WITH_LOGITS = {
    "tensorflow.nn.sigmoid_cross_entropy_with_logits": "sigmoid",
    "tensorflow.nn.weighted_cross_entropy_with_logits": "sigmoid",
    "tensorflow.nn.softmax_cross_entropy_with_logits": "softmax",
    "tensorflow.nn.sparse_softmax_cross_entropy_with_logits": "softmax",
}
_KERAS = {
    "binary_crossentropy": "sigmoid",
    "binary_focal_crossentropy": "sigmoid",
    "categorical_crossentropy": "softmax",
    "categorical_focal_crossentropy": "softmax",
    "sparse_categorical_crossentropy": "softmax",
}
_PASSES_ON = ("cast", "convert_to_tensor", "identity", "reshape", "squeeze", "expand_dims")
_DEEPEST = 3
_MOST_STEPS = 12


_WITHOUT_VALUES = ("shape", "dtype", "ndim", "name")


def read_of(function: FunctionInfo, names: Iterable[str]) -> Code | None:
    """Return the first place at which a function reads the values of one of these names of the enclosing code."""
    module, wanted = function.module, set(names)
    for node in ast.walk(function.node) if wanted else ():
        if not isinstance(node, ast.Name) or node.id not in wanted or not isinstance(node.ctx, ast.Load):
            continue
        scope = module.index.lookup(node.id, module.scope(node))
        parent = module.parent(node)
        if scope is not None and scope.node is function.node:
            continue  # a parameter or a local name
        if not (isinstance(parent, ast.Attribute) and parent.attr in _WITHOUT_VALUES):
            return module.code(node)
    return None


def names_read(function: FunctionInfo) -> set[str]:
    """Return the names that a function reads, its own and those of the enclosing code."""
    return {node.id for node in ast.walk(function.node) if isinstance(node, ast.Name)}


def inner_loss(function: FunctionInfo) -> InnerLoss | None:
    """Return the only crossentropy that a loss applies to its predictions; None if there is none, or several differ."""
    parameters = [name for name in function.parameters if name not in ("self", "cls")]
    if len(parameters) < 2:
        return None
    found = list(_inside(function, parameters[1], 0))
    same = {(one.activation, one.from_logits) for one in found}
    return found[0] if len(same) == 1 else None


def _inside(function: FunctionInfo, predictions: str, depth: int) -> Iterator[InnerLoss]:
    module = function.module
    for site in module.calls_in.get(function.node, ()):
        call = site.node
        known = _crossentropy(module, call)
        if known is not None:
            activation, from_logits, given = known
            if given is not None and is_parameter(function, given, predictions):
                if _in_branch(function, call):
                    return  # which loss it is depends on a setting
                yield InnerLoss(module.segment(call.func), activation, from_logits, module.code(call))
            continue
        helper = callee(module, call) if depth < _DEEPEST else None
        if helper is None or helper.node is function.node:
            continue
        for parameter in helper.parameters:
            given = argument_for(helper, call, parameter)
            if given is not None and is_parameter(function, given, predictions):
                yield from _inside(helper, parameter, depth + 1)


def _in_branch(function: FunctionInfo, node: ast.AST) -> bool:
    """Whether a node runs only under a condition."""
    around = function.module.parent(node)
    while around is not None and around is not function.node:
        if isinstance(around, (ast.If, ast.IfExp, ast.Try, ast.For, ast.While, ast.BoolOp)):
            return True
        around = function.module.parent(around)
    return False


def _crossentropy(module: Module, call: ast.Call) -> tuple[str, bool, ast.expr | None] | None:
    """Return the activation that a loss belongs to, whether it expects logits, and its predictions."""
    name = module.resolve(call.func)
    if name in WITH_LOGITS:
        return WITH_LOGITS[name], True, _argument(call, "logits", 1)
    short = name.rpartition(".")[2]
    if short in _KERAS and name.startswith(
        ("keras.losses.", "keras.backend.", "keras.ops.", "keras.metrics.")
    ):
        flag = _flag(_argument(call, "from_logits", 2))
        predictions = _argument(call, "y_pred", 1) or _argument(call, "output", 1)
        return None if flag is None else (_KERAS[short], flag, predictions)
    kind, constructor = made_loss(module, call.func) or ("", call)
    if kind not in _KERAS:
        return None
    flag = _flag(_argument(constructor, "from_logits", 0))
    return None if flag is None else (_KERAS[kind], flag, _argument(call, "y_pred", 1))


def loss_called(module: Module, call: ast.Call) -> str:
    """Return the loss of Keras that is called, as a function or as an object; "" for anything else."""
    home, _dot, name = module.called(call).rpartition(".")
    if home in ("keras.losses", "keras.metrics") and name.islower():
        return canonical_loss(name)
    made = made_loss(module, call.func)
    return made[0] if made is not None else ""


def made_loss(module: Module, function: ast.expr) -> tuple[str, ast.Call] | None:
    """Return a Keras loss object that is called: `self.base(y_true, y_pred)`, `BinaryCrossentropy()(…)`."""
    if isinstance(function, ast.Attribute) and not is_self(module, function.value):
        return None
    end = origin(module, function)
    if not isinstance(end.node, ast.Call) or not end.certain or end.path:
        return None
    name = end.module.resolve(end.node.func)
    kind = snake_case(name.rpartition(".")[2])
    return (kind, end.node) if name.startswith("keras.losses.") else None


def _argument(call: ast.Call, name: str, position: int) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    starred = any(isinstance(each, ast.Starred) for each in call.args)
    return call.args[position] if position < len(call.args) and not starred else None


def _flag(value: ast.expr | None) -> bool | None:
    """Return the value of `from_logits`; None if it is not written out."""
    if value is None:
        return False
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, bool) else None


def is_parameter(function: FunctionInfo, expr: ast.expr, name: str) -> bool:
    """Whether an expression is a parameter as it was passed, apart from its dtype and shape."""
    module = function.module
    for _ in range(_MOST_STEPS):
        if isinstance(expr, ast.Call) and expr.args:
            if module.resolve(expr.func).rpartition(".")[2] not in _PASSES_ON:
                return False
            expr = expr.args[0]
            continue
        found = last_assignment(module, expr) if isinstance(expr, ast.Name) else None
        if found is None or not found[1]:
            return False
        assignment = found[0]
        if isinstance(assignment.target, ast.arg):
            return assignment.target.arg == name and module.function_of(expr) is function
        if assignment.how != "=" or assignment.path or assignment.value is None:
            return False
        expr = assignment.value
    return False
