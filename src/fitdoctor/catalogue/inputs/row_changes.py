"""Steps that change the rows of an array."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.knowledge.data.data_trail import Link

_DROPS = frozenset(
    "dropna drop_duplicates query sample head tail nlargest nsmallest filter between_time truncate".split()
)
_GROWS = frozenset(
    (
        "numpy.vstack",
        "numpy.concatenate",
        "numpy.append",
        "numpy.repeat",
        "numpy.tile",
        "pandas.concat",
        "numpy.insert",
    )
)
_LISTINGS = frozenset({"glob.glob", "glob.iglob", "os.listdir", "os.scandir", "os.walk"})
_LISTING_METHODS = frozenset({"glob", "rglob", "iterdir"})


def row_change(link: Link) -> str:
    """Return `drop` (rows filtered by value), `slice` (by position), `grow` (rows added) or `listing` (files)."""
    node = link.node
    if isinstance(node, ast.Expr):
        node = node.value  # `df.dropna(inplace=True)`
    if isinstance(node, ast.Call):
        return _of_call(link, node)
    if isinstance(node, ast.Subscript):
        return _of_subscript(link, node)
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)) and any(part.ifs for part in node.generators):
        return "drop"
    return ""


def _of_call(link: Link, call: ast.Call) -> str:
    name = link.module.resolve(call.func)
    if name in _LISTINGS:
        return "listing"
    if name in _GROWS:
        return "grow"
    if name:
        return "drop" if name in ("numpy.delete", "numpy.unique", "numpy.compress") else ""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method in _LISTING_METHODS:
        return "listing"
    if method == "drop":
        return "" if _drops_columns(call) else "drop"
    return "drop" if method in _DROPS else ""


def _drops_columns(call: ast.Call) -> bool:
    """Whether `df.drop(…)` is about columns."""
    for keyword in call.keywords:
        if keyword.arg == "columns":
            return True
        if keyword.arg == "axis":
            return isinstance(keyword.value, ast.Constant) and keyword.value.value in (1, "columns")
    return len(call.args) > 1


def _of_subscript(link: Link, node: ast.Subscript) -> str:
    index = node.slice
    if isinstance(index, ast.Tuple) and index.elts:
        index = index.elts[0]
    if isinstance(index, ast.Slice):
        return "slice" if index.lower is not None or index.upper is not None else ""
    if isinstance(index, (ast.Compare, ast.UnaryOp)) or _is_combined(index):
        return "" if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub) else "drop"
    if isinstance(index, ast.Name):
        made = link.module.made_by(index)
        return "drop" if isinstance(made, ast.Compare) or _is_combined(made) else ""
    if isinstance(index, ast.Call) and isinstance(index.func, ast.Attribute):
        return (
            "drop" if index.func.attr in ("isin", "notna", "notnull", "isna", "between", "duplicated") else ""
        )
    return ""


def _is_combined(index: ast.expr) -> bool:
    return isinstance(index, ast.BinOp) and isinstance(index.op, (ast.BitAnd, ast.BitOr))
