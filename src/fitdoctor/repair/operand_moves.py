"""General moves on the operands of an operation that rejected their shapes, if the changed shapes would pass."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from fitdoctor.catalogue.model.reductions import axes_taken_away
from fitdoctor.diagnosis import Edit, Fix, Location
from fitdoctor.edits import append_arguments, fix, replace_code, set_argument, spell, unsafe, wrap
from fitdoctor.facts import FailureSummary, Shape
from fitdoctor.failure.failed_line import stands_at
from fitdoctor.failure.shapes import operation_shapes, shapes_in
from fitdoctor.records import dataclass
from fitdoctor.source.module import Module

_NUMPY = re.compile(r"operands could not be broadcast together with shapes (.+)")
_PRODUCTS = frozenset({"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"})
_OPERATORS: dict[str, type[ast.operator]] = {
    "Sub": ast.Sub,
    "Add": ast.Add,
    "AddV2": ast.Add,
    "Mul": ast.Mult,
    "RealDiv": ast.Div,
    "Pow": ast.Pow,
    "MatMul": ast.MatMult,
    "BatchMatMulV2": ast.MatMult,
}
_ELEMENTWISE = frozenset(
    "add subtract multiply divide maximum minimum pow power squared_difference equal less greater".split()
)


@dataclass(frozen=True, eq=False)
class _Operation:
    """An expression with two operands."""

    left: ast.expr
    right: ast.expr


@dataclass(frozen=True)
class _Move:
    """A change of one operand, and the resulting shape."""

    title: str
    edits: tuple[Edit, ...]
    shape: Shape
    sure: bool = True
    """Whether the move only changes the form of the values, without computing others."""


def operand_proposals(refusal: FailureSummary, module: Module) -> Iterator[Fix]:
    """Yield changes of one operand that make its shape compatible; safe if there is only one."""
    shapes, operation = _refused_shapes(refusal.message)
    if refusal.place is None or len(shapes) != 2:
        return
    found: list[_Move] = []
    for each in _operations(module, refusal.place, operation):
        for position, operand in enumerate((each.left, each.right)):
            own, other = shapes[position], shapes[1 - position]
            passes = _multiplies(position) if operation in _PRODUCTS else _broadcasts
            moves = (
                *_moves(module, operand, own),
                *_turned(module, operand, own, other),
                *_other_axis(module, operand, own, other),
            )
            found += [move for move in moves if move.edits and passes(move.shape, other)]
    alone = sum(move.sure for move in found) == 1
    for move in found:
        make = fix if move.sure and alone else unsafe
        yield make(move.title, move.edits)


def _refused_shapes(message: str) -> tuple[tuple[Shape, ...], str]:
    by_numpy = _NUMPY.search(message)
    if by_numpy is not None:
        return shapes_in(by_numpy[1].replace(" (", ", (")), ""
    said = operation_shapes(message)
    return ((), "") if said is None else (said.shapes, said.operation)


# --- where --------------------------------------------------------------------------------------------------------


def _operations(module: Module, place: Location, operation: str) -> Iterator[_Operation]:
    """Yield the operations of that kind on the line; any with two operands if the kind is unknown."""
    operator = _OPERATORS.get(operation)
    for node in ast.walk(module.tree):
        if not isinstance(node, (ast.BinOp, ast.Call)) or not stands_at(
            module.location(node), place.line, place.cell
        ):
            continue
        if isinstance(node, ast.BinOp):
            if operator is None or isinstance(node.op, operator):
                yield _Operation(node.left, node.right)
        elif len(node.args) == 2:
            name = module.resolve(node.func).rpartition(".")[2]
            wanted = {"matmul", "dot"} if operation in _PRODUCTS else _ELEMENTWISE
            if name in wanted:
                yield _Operation(node.args[0], node.args[1])


# --- what ---------------------------------------------------------------------------------------------------------


def _moves(module: Module, operand: ast.expr, shape: Shape) -> Iterator[_Move]:
    """Yield moves with their shapes: keep the reduced axis, add an axis, drop one of length 1, transpose."""
    text = module.segment(operand)
    code = module.code(operand)
    made = operand if isinstance(operand, ast.Call) else module.made_by(operand)
    axes = axes_taken_away(module, made)
    if isinstance(made, ast.Call) and len(axes) == 1:
        rank = len(shape) + 1
        kept = _with_axis(shape, axes[0] % rank)
        yield _Move(
            f"keep the reduced axis of `{text}` with length 1: `keepdims=True`",
            append_arguments(module.code(made), "keepdims=True"),
            kept,
        )
        return  # to add the axis again would say the same in a longer way
    for axis in range(len(shape), -1, -1):
        index = "..., None" if axis == len(shape) else ", ".join([":"] * axis + ["None"])
        yield _Move(
            f"give `{text}` an axis: `{text}[{index}]`", wrap(code, f"{{}}[{index}]"), _with_axis(shape, axis)
        )
    for axis, length in enumerate(shape):
        if length == 1 and len(shape) > 1:
            index = "..., 0" if axis == len(shape) - 1 else ", ".join([":"] * axis + ["0"])
            short = (*shape[:axis], *shape[axis + 1 :])
            yield _Move(f"drop the axis of length 1: `{text}[{index}]`", wrap(code, f"{{}}[{index}]"), short)


def _turned(module: Module, operand: ast.expr, shape: Shape, other: Shape) -> Iterator[_Move]:
    """Return the transpose of a matrix whose axes are swapped relative to the other operand."""
    if len(shape) == len(other) == 2 and shape[0] != shape[1]:
        text, code = module.segment(operand), module.code(operand)
        if isinstance(operand, ast.Call) and module.resolve(operand.func).endswith(".transpose"):
            inner = module.segment(operand.args[0]) if len(operand.args) == 1 else ""
            if inner and not operand.keywords:
                yield _Move(f"remove `{text}`: `{inner}`", replace_code(code, inner), (shape[1], shape[0]))
            return
        tensorflow, imports = spell(code, "tensorflow", "tf")
        turned = wrap(code, f"{tensorflow}.transpose({{}})")
        yield _Move(f"transpose `{text}`", (*turned, *imports), (shape[1], shape[0]))


def _other_axis(module: Module, operand: ast.expr, shape: Shape, other: Shape) -> Iterator[_Move]:
    """Return a reduction over another axis, if the axis reduced now has a length that the other operand needs."""
    made = operand if isinstance(operand, ast.Call) else module.made_by(operand)
    axes = axes_taken_away(module, made)
    if not isinstance(made, ast.Call) or len(axes) != 1 or len(axes) > len(shape):
        return
    taken = axes[0] % (len(shape) + 1)
    for length in dict.fromkeys(length for length in other if length is not None):
        whole = (*shape[:taken], length, *shape[taken:])
        for axis in range(len(whole)):
            if axis != taken:
                yield _Move(
                    f"reduce over axis {axis} in `{module.segment(made)}`",
                    set_argument(module.code(made), "axis", str(axis), position=1),
                    (*whole[:axis], *whole[axis + 1 :]),
                    sure=False,
                )


def _with_axis(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], 1, *shape[axis:])


# --- which pass ---------------------------------------------------------------------------------------------------


def _broadcasts(shape: Shape, other: Shape) -> bool:
    """Whether two shapes broadcast without both growing: a table of all pairs is rarely intended."""
    rank = max(len(shape), len(other))
    one, two = ((1,) * (rank - len(each)) + tuple(each) for each in (shape, other))
    pairs = list(zip(one, two, strict=True))
    if any(a != b and 1 not in (a, b) for a, b in pairs):
        return False
    together = tuple(b if a == 1 else a for a, b in pairs)
    return together in (tuple(shape), tuple(other))


def _multiplies(position: int) -> Callable[[Shape, Shape], bool]:
    """Whether two matrices can be multiplied when the operand at that position has the first shape."""

    def passes(shape: Shape, other: Shape) -> bool:
        first, second = (shape, other) if position == 0 else (other, shape)
        if len(first) < 2 or len(second) < 2 or len(first) != len(second):
            return False
        return first[-1] == second[-2] and first[:-2] == second[:-2]

    return passes
