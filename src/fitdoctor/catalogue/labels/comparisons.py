"""Find custom losses, metrics and training steps that compare labels and predictions without aligning their axes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from fitdoctor.records import dataclass, field
from fitdoctor.source.module import FunctionInfo

LABELS, PREDICTIONS = "labels", "predictions"
_KEEPS_AXES = frozenset(
    "cast convert_to_tensor identity stop_gradient log log1p exp abs square sqrt clip clip_by_value negative float32 "
    "float64 to_float ensure_shape asarray array astype".split()
)
"""Functions whose result has the axes of their first argument."""
_MEETS = frozenset("subtract squared_difference multiply add divide".split())
_REFUSES = frozenset(
    "binary_crossentropy binary_focal_crossentropy sigmoid_cross_entropy_with_logits".split()
)
"""Functions that raise if labels and predictions differ in rank."""
_PARTS = ("y_true", "y_pred", "target", "output", "labels", "logits")
_UNPACKS = "unpack_x_y_sample_weight"


@dataclass
class _Walk:
    """The values of the local names of a function, up to a statement."""

    kinds: dict[str, str] = field(default_factory=dict)
    data: str = ""
    """The parameter that contains both x and y."""

    def kind(self, expr: ast.expr) -> str:
        """Return `labels` or `predictions` for an expression that keeps all their axes, else ""."""
        if isinstance(expr, ast.Name):
            return self.kinds.get(expr.id, "")
        if isinstance(expr, ast.UnaryOp):
            return self.kind(expr.operand)
        if isinstance(expr, ast.BinOp):
            sides = (expr.left, expr.right)
            plain = [side for side in sides if isinstance(side, ast.Constant)]
            other = [side for side in sides if not isinstance(side, ast.Constant)]
            return self.kind(other[0]) if len(plain) == 1 else ""
        if isinstance(expr, ast.Call):
            return self._kind_of_call(expr)
        return ""

    def _kind_of_call(self, call: ast.Call) -> str:
        function = call.func
        if isinstance(function, ast.Name) and self.kinds.get(function.id) == "model":
            return PREDICTIONS
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name not in _KEEPS_AXES:
            return ""
        if isinstance(function, ast.Attribute) and self.kind(function.value):
            return self.kind(function.value)
        return self.kind(call.args[0]) if call.args else ""

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        """Record an assignment."""
        if isinstance(target, ast.Name):
            self.kinds[target.id] = self.kind(value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for index, item in enumerate(target.elts):
                if isinstance(item, ast.Name):
                    whole = self._is_whole_batch(value)
                    self.kinds[item.id] = LABELS if whole and index == 1 else ""

    def _is_whole_batch(self, value: ast.expr) -> bool:
        if isinstance(value, ast.Call) and value.args:
            named = (
                value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
            )
            return named == _UNPACKS and self._is_whole_batch(value.args[0])
        return isinstance(value, ast.Name) and bool(self.data) and value.id == self.data


def unaligned_comparison(function: FunctionInfo, labels_at: int = 1) -> ast.expr | None:
    """Return the first expression that combines unchanged labels and predictions.

    Args:
        function: the code.
        labels_at: the position of the labels among the parameters; the predictions follow.
    """
    return _first(function, _meets, labels_at)


def refused_comparison(function: FunctionInfo) -> ast.expr | None:
    """Return the first call that rejects unchanged labels and predictions of different ranks."""
    return _first(function, _refuses)


def _first(
    function: FunctionInfo, asked: Callable[[_Walk, ast.AST], bool], labels_at: int = 1
) -> ast.expr | None:
    if isinstance(function.node, ast.Lambda) or _is_wrapped(function):
        return None
    walk = _Walk()
    parameters = function.parameters
    if function.name == "train_step" and len(parameters) == 2:
        walk.kinds[parameters[0]], walk.data = "model", parameters[1]
    elif function.name == "compute_loss":
        walk.kinds.update({"y": LABELS, "y_pred": PREDICTIONS})
    elif function.name != "train_step" and len(parameters) >= labels_at + 2:
        walk.kinds.update({parameters[labels_at]: LABELS, parameters[labels_at + 1]: PREDICTIONS})
    else:
        return None
    for statement in _in_order(function.node.body):
        for expr in _expressions(statement):
            for node in ast.walk(expr):
                if asked(walk, node):
                    assert isinstance(node, ast.expr)
                    return node
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            walk.assign(statement.targets[0], statement.value)
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            walk.kinds[statement.target.id] = ""
    return None


def _is_wrapped(function: FunctionInfo) -> bool:
    """Whether a decorator of the user's may pass on other arguments than it gets."""
    assert not isinstance(function.node, ast.Lambda)
    return any(
        function.module.definition(each.func if isinstance(each, ast.Call) else each) is not None
        for each in function.node.decorator_list
    )


def _meets(walk: _Walk, node: ast.AST) -> bool:
    pair: list[ast.expr] = []
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Sub, ast.Mult, ast.Add, ast.Div)):
        pair = [node.left, node.right]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MEETS:
        pair = node.args[:2]
    return {walk.kind(side) for side in pair} == {LABELS, PREDICTIONS}


def _refuses(walk: _Walk, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    named = {keyword.arg: keyword.value for keyword in node.keywords}
    pair = [*node.args[:2], *(named[key] for key in _PARTS if key in named)]
    return name in _REFUSES and {walk.kind(side) for side in pair} == {LABELS, PREDICTIONS}


def _in_order(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in statements:
        yield statement
        for block in ("body", "orelse", "finalbody"):
            yield from _in_order(getattr(statement, block, []))


def _expressions(statement: ast.stmt) -> list[ast.expr]:
    """Yield the expressions of a statement, without those of its nested blocks."""
    return [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.expr)]
