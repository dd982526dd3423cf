"""Recognize targets that are quantities, such as prices, by the name of their column or by how they were scaled."""

from __future__ import annotations

import ast
import re

from fitdoctor.facts import ArrayFacts, Code, Unknown
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_QUANTITIES = frozenset(
    """price prices saleprice sales revenue revenues salary salaries income wage wages cost costs rent charges profit
    temperature temperatures humidity rainfall pressure age ages mpg medv consumption demand height heights""".split()
)
_BESIDE = frozenset(
    """y x train training test val valid validation target targets scaled sale house car stock unit median mean avg
    average total log selling closing daily monthly annual yearly usd eur inr in of the per""".split()
)
"""Words that leave a quantity one; `price_range`, `is_sale` and `age_group` may be classes."""
_KEEPS_VALUES = frozenset(
    {"to_numpy", "reshape", "astype", "ravel", "flatten", "to_frame", "copy", "squeeze"}
)
_STANDARDIZES = frozenset({"StandardScaler", "RobustScaler", "PowerTransformer"})
"""Scalers that turn even 0 and 1 into other numbers; a `MinMaxScaler` leaves them."""
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def named_quantity(labels: ArrayFacts | None, project: Project | Unknown) -> str:
    """Return what shows that the targets are a quantity, as a phrase, "" if nothing does."""
    code = labels.code if labels is not None else None
    if not isinstance(code, Code) or isinstance(project, Unknown) or code.computed_with:
        return ""
    try:
        node: ast.expr = ast.parse(f"({code.text}\n)", mode="eval").body
    except SyntaxError:
        return ""
    modules = [module for module in project.modules if module.path == code.location.path]
    while (inside := _same_values(node)) is not None:
        node = inside
    if any(_standardizes(node, module) for module in modules):
        return "standardized values"
    column = _column(node)
    if not _is_quantity(column) or any(_writes(module, column) for module in project.modules):
        return ""
    return f"`{column}`"


def _same_values(node: ast.expr) -> ast.expr | None:
    """Return what `.values`, `.reshape(...)` and the like are applied to."""
    if isinstance(node, ast.Attribute) and node.attr == "values":
        return node.value
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr not in _KEEPS_VALUES or "int" in ast.unparse(node) or "bool" in ast.unparse(node):
        return None
    return node.func.value


def _standardizes(node: ast.expr, module: Module) -> bool:
    """Whether an expression is the result of a scaler that leaves no classes."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr not in ("fit_transform", "transform"):
        return False
    scaler = node.func.value
    if not isinstance(scaler, ast.Name):
        return _is_scaler(scaler)
    given = [
        each.value
        for each in module.nodes(ast.Assign)
        if any(isinstance(target, ast.Name) and target.id == scaler.id for target in each.targets)
    ]
    return bool(given) and all(map(_is_scaler, given))


def _is_scaler(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in _STANDARDIZES


def _column(node: ast.expr) -> str:
    """Return the column in `df["price"]`, `df[["price"]]`, `df.price` and `df.pop("price")`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "pop":
        key = node.args[0] if len(node.args) == 1 else None
    else:
        key = node.slice if isinstance(node, ast.Subscript) else None
    if isinstance(key, ast.List) and len(key.elts) == 1:
        key = key.elts[0]
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""


def _is_quantity(column: str) -> bool:
    words = {word.lower() for word in _WORDS.findall(column)}
    return bool(words & _QUANTITIES) and words <= _QUANTITIES | _BESIDE


def _writes(module: Module, column: str) -> bool:
    """Whether the program writes the column, which may turn the quantity into classes."""
    return any(
        isinstance(each, ast.Constant) and each.value == column
        for node in module.nodes(ast.Subscript)
        if isinstance(node.ctx, ast.Store)
        for each in ast.walk(node.slice)
    )
