"""Moves an edit that writes a literal over a name to where that name gets its value, also in another file."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit, Finding, Fix
from fitdoctor.edits import append_arguments, same_place
from fitdoctor.records import dataclass, replace
from fitdoctor.source.assignments import element_of
from fitdoctor.source.module import Module
from fitdoctor.source.origins import Origin, origin
from fitdoctor.source.project import Project
from fitdoctor.source.written_numbers import makes_data


@dataclass(frozen=True)
class _Moved:
    """An edit at the origin of the value that it changes."""

    edit: Edit
    shared: bool
    """Whether other code reads the value, too."""


def at_their_origins(finding: Finding, project: Project) -> Finding:
    """Return the finding with every fix where its literals are written, and on that line if it was on the fix's line.

    If other code reads the value too, the fix stays first, with the name of a constant that has the new value: that
    code may need the old one. The fix at the origin follows.
    """
    fixes: list[Fix] = []
    location = finding.location
    for fix in finding.fixes:
        moved = [_moved(edit, project) for edit in fix.edits]
        edits = tuple(new.edit if new else edit for edit, new in zip(fix.edits, moved, strict=True))
        if edits == fix.edits:
            fixes.append(fix)
        elif any(each is not None and each.shared for each in moved):
            named = tuple(_with_constant(edit, project) for edit in fix.edits)
            fixes += [
                replace(fix, edits=named),
                replace(fix, title=f"{fix.title}, wherever it is read", edits=edits),
            ]
        else:
            fixes.append(replace(fix, edits=edits))
            if fix is finding.fixes[0] and location is not None and len(edits) == 1:
                here = same_place(location, fix.edits[0].location)
                location = edits[0].location if here else location
    changed = fixes != list(finding.fixes)
    return replace(finding, fixes=tuple(fixes), location=location) if changed else finding


def _with_constant(edit: Edit, project: Project) -> Edit:
    """Return the edit with the name of the only constant of the file that has the new value, if there is one."""
    module, new = project.module_at(edit.location.path), _literal(edit.replacement)
    if module is None or not isinstance(new, ast.Constant) or type(new.value) is not int or new.value < 2:
        return edit
    names = [
        name
        for name in module.index.module.bindings
        if name.isupper() and _constant(module, name) == new.value
    ]
    return Edit(edit.location, names[0]) if len(names) == 1 else edit


def _constant(module: Module, name: str) -> object:
    """Return the value of a name that the file assigns once, to a literal."""
    assigned = module.assignments(name)
    value = assigned[0].value if len(assigned) == 1 else None
    for key in assigned[0].path if value is not None else ():
        value = element_of(value, key) if value is not None else None
    return value.value if isinstance(value, ast.Constant) else None


def _moved(edit: Edit, project: Project) -> _Moved | None:
    """Return the edit at the origin of the value; None if it stays."""
    module = project.module_at(edit.location.path)
    new = _literal(edit.replacement)
    node = _read_at(module, edit) if module is not None and new is not None else None
    if module is None or new is None or node is None:
        return None
    made = origin(module, node)
    if made.node is node or made.path or made.writes or not made.certain:
        return None
    text = _rewritten(made.module, made.node, new, edit.replacement)
    if text is None:
        return None
    place = made.module.location(made.node)
    if isinstance(node, ast.Attribute) and isinstance(made.module.parent(made.node), ast.AnnAssign):
        makers = _instances(project, made.module, made.node)
        if len(makers) > 1:
            return _given_to_one(origin(module, node.value), makers, f"{node.attr}={edit.replacement}")
    return _Moved(Edit(place, text), _is_shared(module, node, made.module) or makes_data(project, place))


def _instances(project: Project, module: Module, default: ast.AST) -> list[ast.Call]:
    """Return the calls that make instances of the class whose field has this default."""
    owner = module.class_of(default)
    return [
        call
        for each in (project.modules if owner is not None else ())
        for call in each.nodes(ast.Call)
        if owner is not None and owner.name in each.segment(call.func) and each.definition(call.func) is owner
    ]


def _given_to_one(made: Origin, makers: list[ast.Call], argument: str) -> _Moved | None:
    """Return the edit that gives an argument to one of several instances: the others keep the default of the field."""
    if not made.certain or made.node not in makers:
        return None
    added = append_arguments(made.module.code(made.node), argument)
    return _Moved(added[0], shared=False) if added else None


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
    parts = [_element(module, a, b) for a, b in zip(old.elts, new.elts, strict=False)]
    if len(old.elts) != len(new.elts) or None in parts:
        return text if all(isinstance(element, ast.Constant) for element in old.elts) else None
    return f"({', '.join(str(part) for part in parts)}{',' if len(parts) == 1 else ''})"


def _element(module: Module, old: ast.expr, new: ast.expr) -> str | None:
    """Return an element with the new value; a name that has it stays."""
    if isinstance(old, ast.Constant):
        return ast.unparse(new)
    made = origin(module, old).node
    same = isinstance(made, ast.Constant) and isinstance(new, ast.Constant) and made.value == new.value
    return module.segment(old) if same else None


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
        reads = [read for each in modules for read in each.attributes.get(node.attr, ())]
        return sum(isinstance(read.ctx, ast.Load) for read in reads) > 1
    key = ast.dump(node.slice) if isinstance(node, ast.Subscript) else ""
    return sum(ast.dump(read.slice) == key for each in modules for read in each.nodes(ast.Subscript)) > 1
