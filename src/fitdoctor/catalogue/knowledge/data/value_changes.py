"""Steps that change the values of an array: scaling, or operations that may produce NaN or negative values."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.knowledge.data.data_trail import Link, nearest, trail
from fitdoctor.diagnosis import Edit
from fitdoctor.facts import ArrayFacts, Code, DataFacts, Statistics, Unknown
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_LOGARITHMS = frozenset(
    f"{library}.{name}"
    for library in ("numpy", "math", "tensorflow.math")
    for name in ("log", "log2", "log10")
)
_ROOTS = frozenset(
    {"numpy.sqrt", "math.sqrt", "tensorflow.sqrt", "numpy.power", "numpy.arcsin", "numpy.arccos"}
)
_GAPS = frozenset(
    "shift diff pct_change rolling expanding resample interpolate reindex pivot unstack".split()
)
"""pandas methods that produce missing values."""
_JOINS = frozenset(("merge", "join", "concat"))
_TRANSFORMS = frozenset({"fit_transform", "transform"})


def maker_of_nonfinite(
    project: Project, data: DataFacts, array: ArrayFacts, statistics: Statistics
) -> Link | None:
    """Return the step nearest to fit that can produce the NaN or Inf, None if unknown."""
    nan, inf = bool(statistics.nan), bool(statistics.inf)
    return nearest(trail(project, data, array), lambda link: _makes_nonfinite(link, nan, inf))


def _makes_nonfinite(link: Link, nan: bool, inf: bool) -> bool:
    """Whether a step is one that turns ordinary numbers into NaN or Inf."""
    node = link.node
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, (ast.Div, ast.Mod)):
        divisor = node.right if isinstance(node, ast.BinOp) else node.value
        return not isinstance(divisor, ast.Constant) and not (link.filled and not inf)
    if not isinstance(node, ast.Call) or (link.filled and not inf):
        return False
    name = link.module.resolve(node.func)
    if name in _LOGARITHMS:
        return True
    if name in _ROOTS or name == "numpy.divide" or name == "numpy.true_divide":
        return nan or name.endswith("divide")
    method = node.func.attr if isinstance(node.func, ast.Attribute) and not name else ""
    if method in ("div", "divide", "truediv"):
        return True
    if inf:
        return method == "pct_change"
    return nan and (method in _GAPS or _keeps_unmatched(node, method or name.rpartition(".")[2]))


def last_decided(project: Project, array: ArrayFacts) -> Code | Unknown:
    """Return what last affected whether the values are finite; `x[:, 4] /= 100` does not."""
    code = array.code
    if isinstance(code, Unknown) or code.maker is None or not project:
        return code
    module = project.module_at(code.location.path)
    for statement in module.nodes(ast.AugAssign) if module is not None else ():
        same = statement.lineno == code.location.line and isinstance(statement.value, ast.Constant)
        if same and statement.value.value != 0:  # type: ignore[attr-defined]
            return code.maker
    return code


def _keeps_unmatched(call: ast.Call, name: str) -> bool:
    """Whether a join keeps rows that have nothing on the other side."""
    if name not in _JOINS:
        return False
    how = argument_of(call, "how")
    if how is None:
        # `merge` defaults to an inner join, `join` to a left join.
        return name != "merge"
    return isinstance(how, ast.Constant) and how.value in ("left", "right", "outer")


def scales(link: Link) -> bool:
    """Whether a step turns whole numbers into fractions: a division, or a scaler."""
    node = link.node
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Div):
            return True
        factor = node.right if isinstance(node.right, ast.Constant) else node.left
        return (
            isinstance(node.op, ast.Mult)
            and isinstance(factor, ast.Constant)
            and isinstance(factor.value, float)
            and not factor.value.is_integer()
        )
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, ast.Div)
    if isinstance(node, ast.Call):
        name = link.module.resolve(node.func)
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return method in _TRANSFORMS or name.endswith((".normalize", ".minmax_scale", ".scale", ".zscore"))
    return False


def makes_negative(link: Link) -> bool:
    """Whether a step puts in negative numbers: padding or filling with one, or a subtraction."""
    node = link.node
    if isinstance(node, ast.Call):
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        return any(_is_negative(value) for value in values)
    if isinstance(node, (ast.BinOp, ast.AugAssign)):
        return isinstance(node.op, ast.Sub)
    return isinstance(node, ast.Assign) and _is_negative(node.value)


def pads_below_zero(link: Link) -> bool:
    """Whether a step fills up sequences with a negative number."""
    node = link.node
    if not isinstance(node, ast.Call) or not link.module.resolve(node.func).endswith(".pad_sequences"):
        return False
    value = argument_of(node, "value", 5)
    return value is not None and _is_negative(value)


def padded_with_zero(module: Module, node: ast.AST) -> tuple[Edit, ...]:
    """Replace the negative number that a call fills sequences up with, where that number is written."""
    if not isinstance(node, ast.Call):
        return ()
    given = [*node.args, *_values(node)]
    ends = [module.origin(each) for each in given if isinstance(each, (ast.Name, ast.Attribute, ast.UnaryOp))]
    found = [end for end in ends if end.certain and not end.path and _is_negative(end.node)]
    return (Edit(found[0].module.location(found[0].node), "0"),) if len(found) == 1 else ()


def shifts(link: Link) -> bool:
    """Whether a step adds to the values, or picks others: what was negative before it may not be so any more."""
    node = link.node
    if isinstance(node, (ast.BinOp, ast.AugAssign)):
        return isinstance(node.op, (ast.Add, ast.Sub, ast.Mod))
    if isinstance(node, ast.Call):
        name = link.module.segment(node.func).rpartition(".")[2]
        return name in ("where", "clip", "abs", "maximum", "add")
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript)


def _is_negative(value: ast.expr) -> bool:
    if isinstance(value, ast.List):
        return any(_is_negative(element) for element in value.elts)
    return (
        isinstance(value, ast.UnaryOp)
        and isinstance(value.op, ast.USub)
        and isinstance(value.operand, ast.Constant)
        and isinstance(value.operand.value, (int, float))
    )


def becomes_whole(link: Link) -> bool:
    """Whether a step makes whole numbers of what comes before it."""
    node = link.node
    if not isinstance(node, ast.Call):
        return False
    text = link.module.segment(node.func)
    if text.endswith(".astype") or link.module.resolve(node.func) in ("tensorflow.cast", "keras.ops.cast"):
        return any("int" in link.module.segment(argument) for argument in (*node.args, *_values(node)))
    return link.module.resolve(node.func) in ("numpy.round", "numpy.rint", "numpy.floor", "numpy.argmax")


def _values(node: ast.Call) -> list[ast.expr]:
    return [keyword.value for keyword in node.keywords]
