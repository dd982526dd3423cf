"""Which step of a table's or array's making can have brought NaN or infinite values into it."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Location
from fitdoctor.facts import Code, Unknown
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_METHODS = frozenset(
    "shift diff pct_change reindex rolling resample interpolate expanding unstack pivot".split()
)
"""Methods of pandas that leave cells without a value."""
_JOINS = frozenset(("merge", "join", "concat", "append"))
_FUNCTIONS = frozenset("log log2 log10 log1p sqrt arcsin arccos power divide true_divide arctanh".split())
_FILLS = frozenset("fillna dropna nan_to_num ffill bfill".split())
_MOST_STEPS = 24


def maker_of_nonfinite(project: Project | Unknown, code: Code | Unknown) -> Location | None:
    """The step on the way back from a piece of source that can make NaN or Inf; None when none is evident."""
    if isinstance(project, Unknown) or isinstance(code, Unknown):
        return None
    module = project.module_at(code.location.path)
    node = _node_at(module, code.location) if module is not None else None
    for _ in range(_MOST_STEPS):
        if module is None or node is None:
            return None
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in _FILLS:
                return None
            if name in _METHODS | _FUNCTIONS or (name in _JOINS and _keeps_unmatched(node, name)):
                return module.location(node)
        following = _before(module, node)
        if following is None:
            return None
        module, node = following
    return None


def _keeps_unmatched(call: ast.Call, name: str) -> bool:
    how = next((keyword.value for keyword in call.keywords if keyword.arg == "how"), None)
    if how is None:
        # `merge` keeps what matches unless it is told otherwise; `join` keeps the left side.
        return name in ("join", "concat")
    return isinstance(how, ast.Constant) and how.value in ("left", "right", "outer")


def _node_at(module: Module, location: Location) -> ast.expr | None:
    best: ast.expr | None = None
    for kind in (ast.Call, ast.Subscript, ast.Attribute, ast.Name, ast.BinOp):
        for node in module.nodes(kind):
            if module.location(node) == location:
                best = node
                break
    return best


def _before(module: Module, node: ast.expr) -> tuple[Module, ast.expr] | None:
    """What the value was made from, one step back."""
    if isinstance(node, ast.Name):
        end = module.origin(node)
        return None if end.node is node else (end.module, end.node)
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        return module, node.value
    if isinstance(node, ast.BinOp):
        plain = [side for side in (node.left, node.right) if not isinstance(side, ast.Constant)]
        return (module, plain[0]) if plain else None
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and not module.resolve(node.func.value):
            return module, node.func.value
        return (module, node.args[0]) if node.args else None
    return None
