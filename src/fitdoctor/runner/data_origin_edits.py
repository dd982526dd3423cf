"""Repairs at the expression that first made data bad."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from fitdoctor.catalogue.inputs.embedding_fed_floats.cause import PAD_WITH_ZERO
from fitdoctor.catalogue.knowledge.data.value_changes import padded_with_zero
from fitdoctor.diagnosis import Applicability, Edit, Finding, Fix, Location
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.origins import origin

_OF_EVERY_USE = ("range", "non-finite", "dtype", "objects")
"""Aspects that one conversion of the values corrects, wherever it is done."""
_PLACEHOLDER = "converted"


def fixes_at(finding: Finding, module: Module, node: ast.expr, aspect: str, wanted: Any) -> tuple[Fix, ...]:
    """Return the repairs of a finding that edit the first bad expression.

    Args:
        finding: the finding.
        module: the file of the expression.
        node: the expression.
        aspect: the aspect of the data that is wrong.
        wanted: the aspect as it reached `fit`.
    """
    edits: tuple[Edit, ...] = ()
    if finding.id in ("FIT203", "FIT208") and aspect == "range" and wanted[0] == 1:
        edits = tuple(_counted_from_0(module, node))
        title = "count the classes from 0 where the labels are made"
        return (Fix(title, Applicability.SAFE, edits),) if edits else ()
    if finding.id == "FIT208" and tuple(wanted) == (-1, 1):
        edits = tuple(_zero_for_minus_one(module, node))
        title = "use 0 instead of -1 where the labels are made"
        if edits:
            return (Fix(title, Applicability.UNSAFE, edits),)
    if finding.id == "FIT214" and list(wanted) == [0, 0]:
        edits = tuple(_divided_exactly(module, node))
        title = "divide with `/` where the weights are made: `//` rounds down to integers"
        return (Fix(title, Applicability.UNSAFE, edits),) if edits else ()
    if aspect == "split":
        edits = tuple(_split_first(module, node))
        title = "split first, and copy rows of the training part only"
        return (Fix(title, Applicability.UNSAFE, edits),) if edits else ()
    if aspect == "own-scale":
        edits = tuple(_fitted_once(module, node))
        title = "fit the scaler to the training data only, and scale the validation data with it"
        return (Fix(title, Applicability.UNSAFE, edits),) if edits else ()
    if aspect == "non-finite":
        made = tuple(_kept_finite(module, node))
        if made:
            return made
    if aspect == "fractions" and isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        # Only a user's function is called here; a scaler is the judge's own matter.
        edits = (Edit(module.location(node), module.segment(node.args[0])),)
    if aspect == "fractions" and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        edits = (Edit(module.location(node), module.segment(node.left)),)
    first = next(iter(finding.fixes), None)
    if first is not None and first.title == PAD_WITH_ZERO:
        edits = padded_with_zero(module, node)
    if edits:
        return (replace(first, edits=edits),) if first is not None else ()
    only = _only_there(finding, module, node)
    if only:
        return only
    if aspect not in _OF_EVERY_USE and (aspect, finding.id) != ("scale", "FIT208"):
        return ()
    return tuple(moved for fix in finding.fixes if (moved := _moved(fix, module, node)) is not None)


def prepared_alike(module: Module, node: ast.expr, applied: ast.AST, operand: ast.AST) -> Fix:
    """Return the repair that prepares an expression as another one prepares the training data.

    Args:
        module: the file of all three.
        node: the expression.
        applied: the preparation.
        operand: the training data in it.
    """
    whole, text = module.segment(applied), module.segment(node)
    start = whole.find(module.segment(operand))
    if isinstance(node, ast.BinOp):
        text = f"({text})"
    # A scaler is fitted to the training data only.
    before, after = whole[:start], whole[start + len(module.segment(operand)) :]
    text = f"{before.replace('.fit_transform(', '.transform(')}{text}{after}"
    title = f"prepare the validation data like the training data: `{text}`"
    return Fix(title, Applicability.UNSAFE, (Edit(module.location(node), text),))


def _only_there(finding: Finding, module: Module, node: ast.expr) -> tuple[Fix, ...]:
    """Return the fixes that change several places, with the edits of the bad expression alone."""
    here = module.location(node)
    found = []
    for fix in finding.fixes:
        edits = tuple(
            edit
            for edit in fix.edits
            if edit.location.path == here.path
            and edit.location.cell == here.cell
            and here.line <= edit.location.line <= here.end_line
        )
        if 0 < len(edits) < len(fix.edits) and all(edit.location.column > 1 for edit in edits):
            found.append(replace(fix, edits=edits))
    return tuple(found)


def _moved(fix: Fix, module: Module, node: ast.expr) -> Fix | None:
    """Return a fix that converts an argument of `fit`, converting it where it is made: every later use needs it, too.

    A fix that is safe at the call changes more here; it stays there.
    """
    if fix.applicability is not Applicability.UNSAFE or len(fix.edits) != 1 or module.project is None:
        return None
    edit = fix.edits[0]
    place = edit.location
    owner = module.project.module_at(place.path)
    if owner is None or place.line != place.end_line or _is_setting(owner, place):
        return None
    argument = owner.line_text(place.line, place.cell)[place.column - 1 : place.end_column - 1]
    if not argument:  # it adds a line
        return None
    before, found, after = edit.replacement.partition(argument)
    if not found or argument in after or not before + after:
        return None
    try:
        conversion = ast.parse(f"{before}{_PLACEHOLDER}{after}", mode="eval")
    except SyntaxError:
        return None
    names = [each for each in ast.walk(conversion) if isinstance(each, ast.Name) and each.id != _PLACEHOLDER]
    # A name such as `np` must mean the same thing there.
    if any(not owner.resolve(each) or owner.resolve(each) != module.resolve(each) for each in names):
        return None
    text = module.segment(node)
    enclosed = before.endswith("(") and after.startswith((")", ","))
    if not enclosed and not isinstance(node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript)):
        text = f"({text})"
    edits = (Edit(module.location(node), f"{before}{text}{after}"),)
    return replace(fix, title=f"{fix.title}, where the data is created", edits=edits)


def _is_setting(module: Module, place: Location) -> bool:
    """Whether it is in the call of a layer: its size is no data."""
    calls = (each for each in module.nodes(ast.Call) if ".layers." in module.resolve(each.func))
    return any(_contains(module.location(each), place) for each in calls)


def _contains(whole: Location, part: Location) -> bool:
    ends = (part.end_line, part.end_column) <= (whole.end_line, whole.end_column)
    return whole.cell == part.cell and (whole.line, whole.column) <= (part.line, part.column) and ends


def _counted_from_0(module: Module, node: ast.expr) -> Iterator[Edit]:
    """Yield the edits that make an expression give class numbers from 0 instead of 1."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _is_one(node.right):
        yield Edit(module.location(node), module.segment(node.left))
        return
    if isinstance(node, ast.Dict):
        yield from _numbered_from_0(module, node)
        return
    counted = [
        edit for call in ast.walk(node) if isinstance(call, ast.Call) for edit in _from_0(module, call)
    ]
    if len(counted) == 1:
        yield from counted


def _from_0(module: Module, call: ast.Call) -> Iterator[Edit]:
    name = getattr(call.func, "id", "")
    start = next((each.value for each in call.keywords if each.arg == "start"), None)
    if name == "enumerate" and call.args and _is_one(start if start is not None else (*call.args, call)[1]):
        yield Edit(module.location(call), f"enumerate({module.segment(call.args[0])})")
    elif name == "range" and len(call.args) == 2 and _is_one(call.args[0]):
        stop = call.args[1]
        count = f"{module.segment(stop)} - 1"
        if isinstance(stop, ast.Constant) and type(stop.value) is int:
            count = str(stop.value - 1)
        elif isinstance(stop, ast.BinOp) and isinstance(stop.op, ast.Add) and _is_one(stop.right):
            count = module.segment(stop.left)
        yield Edit(module.location(call), f"range({count})")


def _numbered_from_0(module: Module, node: ast.Dict) -> Iterator[Edit]:
    """Yield the edits of a dict of the numbers 1, 2, … in any order."""
    numbers = [each.value for each in node.values if isinstance(each, ast.Constant)]
    whole = all(type(each) is int for each in numbers) and len(numbers) == len(node.values)
    if whole and sorted(set(numbers)) == list(range(1, len(set(numbers)) + 1)):  # type: ignore[type-var]
        for each in node.values:
            assert isinstance(each, ast.Constant)
            yield Edit(module.location(each), str(each.value - 1))  # type: ignore[operator]


def _zero_for_minus_one(module: Module, node: ast.expr) -> Iterator[Edit]:
    """Yield the edit of the only -1 among two values to choose from: `np.where(up, 1, -1)`, `1 if up else -1`."""
    if isinstance(node, ast.IfExp):
        values = [node.body, node.orelse]
    elif isinstance(node, ast.Dict):
        values = list(node.values)
    else:
        values = node.args[1:] if isinstance(node, ast.Call) and len(node.args) == 3 else []
    below = [each for each in values if isinstance(each, ast.UnaryOp) and isinstance(each.op, ast.USub)]
    if len(below) == 1 and module.segment(below[0]).replace(" ", "") in ("-1", "-1.0"):
        if all(module.segment(each) in ("1", "1.0") for each in values if each is not below[0]):
            yield Edit(module.location(below[0]), module.segment(below[0]).replace("-", "").replace("1", "0"))


def _split_first(module: Module, node: ast.expr) -> Iterator[Edit]:
    """Yield the edits that move `more = copied(rows)` behind `train, test = train_test_split(more)`."""
    statement = module.parent(node)
    targets = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if statement is None or not isinstance(node, ast.Call) or not isinstance(targets, ast.Tuple):
        return
    given = [each for each in node.args if isinstance(each, ast.Name)]
    trained = [module.segment(each) for each in targets.elts[::2]]
    values = [assigned.value for each in given for assigned in module.assignments(each.id, each)]
    made = {module.parent(value) for value in values if value is not None}
    copying = made.pop() if len(made) == 1 else None
    if not isinstance(copying, ast.Assign) or not isinstance(copying.value, ast.Call):
        return
    kept = copying.targets[0]
    names = [module.segment(each) for each in (kept.elts if isinstance(kept, ast.Tuple) else [kept])]
    rows = [each for each in copying.value.args if isinstance(each, ast.Name)]
    together = [each.id for each in given] == names and len(rows) == len(names) == len(trained)
    if not together or len(given) != len(node.args) or len(rows) != len(copying.value.args):
        return
    for each, row in zip(given, rows, strict=True):
        yield Edit(module.location(each), row.id)
    call = module.rewritten(copying.value, *zip(rows, trained, strict=True))
    code = module.code(statement)
    end = replace(code.location, line=code.location.end_line, column=code.location.end_column)
    yield Edit(end, f"\n{code.indent}{', '.join(trained)} = {call}")


def _fitted_once(module: Module, node: ast.expr) -> Iterator[Edit]:
    """Yield the edit of `scaler.fit_transform(x)`; in a function, which scales the training data first, it fits once."""
    method = node.func if isinstance(node, ast.Call) else None
    if not isinstance(method, ast.Attribute) or method.attr != "fit_transform":
        return
    text, owner = module.segment(node), module.segment(method.value)
    function = module.function_of(node)
    again = text.replace(f"{owner}.fit_transform", f"{owner}.transform", 1)
    if function is None:
        yield Edit(module.location(node), again)
    elif not isinstance(method.value, ast.Call) and owner not in module.scope(node).bindings:
        yield Edit(module.location(node), f'({again} if hasattr({owner}, "n_features_in_") else {text})')


_EMPTIES = frozenset("shift rolling diff pct_change".split())
"""Methods of tables that leave rows without a value."""
_SPREAD = re.compile(r"\b(?:std|ptp|var)\b|max.* - .*min")


def _kept_finite(module: Module, node: ast.expr) -> Iterator[Fix]:
    """Yield the repair of an expression that makes missing or infinite values of others."""
    statement = module.statement(node)
    stored = statement.targets[0] if isinstance(statement, ast.Assign) else None
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        divisor = node.right
        if _SPREAD.search(module.segment(origin(module, divisor).node)):
            text = f"({module.segment(divisor)} + 1e-7)"
            yield _unsafe(
                "add a small number to the divisor, which may be 0", Edit(module.location(divisor), text)
            )
    elif isinstance(stored, ast.Subscript) and any(
        getattr(each.func, "attr", "") in _EMPTIES for each in calls
    ):
        table = module.segment(stored.value)
        around = getattr(module.parent(statement), "body", [])
        # After the last column: it may be computed from this one.
        last = [each for each in around if _stores_in(module, each, table)][-1:] or [statement]
        code = module.code(last[0])
        end = replace(code.location, line=code.location.end_line, column=code.location.end_column)
        yield _unsafe(
            "drop the rows that are left without a value",
            Edit(end, f"\n{code.indent}{table} = {table}.dropna()"),
        )
    for call in calls:
        how = next((each.value for each in call.keywords if each.arg == "how"), None)
        if isinstance(how, ast.Constant) and how.value in ("left", "outer"):
            edit = Edit(module.location(how), '"inner"')
            yield _unsafe("keep only the rows that both tables have", edit)


def _unsafe(title: str, edit: Edit) -> Fix:
    return Fix(title, Applicability.UNSAFE, (edit,))


def _stores_in(module: Module, statement: ast.stmt, table: str) -> bool:
    """Whether a statement stores a column of a table."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(each, ast.Subscript) and module.segment(each.value) == table for each in targets)


def _divided_exactly(module: Module, node: ast.expr) -> Iterator[Edit]:
    """Yield the edit of an expression with one integer division."""
    text = module.segment(node)
    whole = [each for each in ast.walk(node) if isinstance(getattr(each, "op", None), ast.FloorDiv)]
    if len(whole) == 1 and text.count("//") == 1:
        yield Edit(module.location(node), text.replace("//", "/"))


def _is_one(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1 and type(node.value) is int
