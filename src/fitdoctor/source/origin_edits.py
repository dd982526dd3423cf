"""Moves an edit that writes a literal over a name to where that name gets its value, also in another file."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit, Finding, Fix
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import Project


def at_their_origins(finding: Finding, project: Project) -> Finding:
    """Return the finding with every fix where its literals are written.

    If other code reads the value too, the fix as it was follows: that code may need the value as it is.
    """
    fixes: list[Fix] = []
    for fix in finding.fixes:
        moved = [_moved(edit, project) for edit in fix.edits]
        edits = tuple(
            new if new is not None else edit for edit, (new, _) in zip(fix.edits, moved, strict=True)
        )
        if edits == fix.edits:
            fixes.append(fix)
            continue
        fixes.append(replace(fix, edits=edits))
        if any(shared for _new, shared in moved):
            fixes.append(replace(fix, title=f"{fix.title}, in this place only"))
    return replace(finding, fixes=tuple(fixes)) if fixes != list(finding.fixes) else finding


def _moved(edit: Edit, project: Project) -> tuple[Edit | None, bool]:
    """Return the edit at the origin of the value, and whether other code reads it; None if it stays."""
    module = project.module_at(edit.location.path)
    new = _literal(edit.replacement)
    if module is None or new is None:
        return None, False
    node = _read_at(module, edit)
    if node is None:
        return None, False
    made = origin(module, node)
    if made.node is node or made.path or made.writes or not made.certain:
        return None, False
    text = _rewritten(made.module, made.node, new, edit.replacement)
    if text is None:
        return None, False
    return Edit(made.module.location(made.node), text), _is_shared(module, node, made.module)


def _literal(text: str) -> ast.expr | None:
    try:
        node = ast.parse(text.strip(), mode="eval").body
        ast.literal_eval(node)
    except (SyntaxError, ValueError):
        return None
    return node if isinstance(node, (ast.Constant, ast.Tuple)) else None


def _read_at(module: Module, edit: Edit) -> ast.expr | None:
    """Return the name or attribute that an edit replaces as a whole."""
    nodes: list[ast.Name | ast.Attribute | ast.Subscript] = [
        *module.nodes(ast.Name),
        *module.nodes(ast.Attribute),
        *module.nodes(ast.Subscript),
    ]
    reads = (node for node in nodes if isinstance(node.ctx, ast.Load))
    return next((node for node in reads if module.location(node) == edit.location), None)


def _rewritten(module: Module, old: ast.expr, new: ast.expr, text: str) -> str | None:
    """Return the expression with the new value; what stays of it keeps its words."""
    if isinstance(new, ast.Constant):
        same = isinstance(old, ast.Constant) and type(old.value) is type(new.value)
        return text if same else None
    if not isinstance(new, ast.Tuple):
        return None
    if isinstance(old, ast.Attribute) and old.attr == "shape":
        # The shape of all data, where that of one sample is expected.
        return f"{module.segment(old)}[1:]"
    if not isinstance(old, ast.Tuple):
        return None
    if len(new.elts) == len(old.elts) - 1 and _may_equal(old.elts[1:], new.elts):
        rest = ", ".join(module.segment(element) for element in old.elts[1:])
        return f"({rest},)" if len(new.elts) == 1 else f"({rest})"
    return text if all(isinstance(element, ast.Constant) for element in old.elts) else None


def _may_equal(old: list[ast.expr], new: list[ast.expr]) -> bool:
    return all(
        not isinstance(a, ast.Constant) or isinstance(b, ast.Constant) and a.value == b.value
        for a, b in zip(old, new, strict=True)
    )


def _is_shared(module: Module, node: ast.expr, origin_module: Module) -> bool:
    """Whether the value is read in more than one place."""
    modules = {module, origin_module}
    if isinstance(node, ast.Name):
        return sum(len(each.reads.get(node.id, ())) for each in modules) > 1
    if isinstance(node, ast.Attribute):
        return (
            sum(
                isinstance(read.ctx, ast.Load)
                for each in modules
                for read in each.attributes.get(node.attr, ())
            )
            > 1
        )
    return True
