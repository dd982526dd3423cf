"""Edits of the DataFrame that features and labels come from, and of the rows passed to fit."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.knowledge.data.data_trail import Link, node_of, trail
from fitdoctor.catalogue.knowledge.data.shapes import input_shape_edit, shape_argument
from fitdoctor.diagnosis import Edit, Location
from fitdoctor.edits import insert_before, rework, set_argument, spell, wrap
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.records import dataclass
from fitdoctor.source.callees import callee, returned_by
from fitdoctor.source.module import Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import Project

_PICKING = frozenset({"drop", "filter", "pop", "select_dtypes", "get", "sort_index", "reset_index"})
_WINDOWS = frozenset({"iloc", "loc"})
_DEPTH = 6


@dataclass(frozen=True, eq=False)
class Picked:
    """A selection of columns from a named DataFrame."""

    module: Module
    node: ast.expr
    """The selecting expression: `df.drop("y", axis=1)`, `df[["a", "b"]]`."""
    frame: ast.Name
    column: str = ""
    """The only selected column, if known."""


def picked_from(project: Project, data: DataFacts, array: ArrayFacts) -> list[Picked]:
    """Yield the selections an array comes from, nearest to fit first."""
    return [picked for link in trail(project, data, array) for picked in _picked(link)]


def _picked(link: Link) -> Iterator[Picked]:
    node = link.node
    base: ast.expr
    parts: list[ast.expr]
    whole = _as_array(node)
    if whole is not None:
        node, base, parts = whole, whole, []
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _PICKING:
        base, parts = node.func.value, node.args if node.func.attr in ("pop", "get") else []
    elif isinstance(node, ast.Subscript):
        base, parts = node.value, [node.slice]
        if isinstance(base, ast.Attribute) and base.attr in _WINDOWS:
            base, parts = base.value, []
    elif isinstance(node, ast.Attribute) and node.attr not in _WINDOWS:
        base, parts = node.value, [ast.Constant(node.attr)]
    else:
        return
    if not isinstance(base, ast.Name) or _changes(link.module, node, base.id):
        return
    if isinstance(node, ast.expr) and is_frame(link.module, base):
        name = parts[0].value if len(parts) == 1 and isinstance(parts[0], ast.Constant) else ""
        yield Picked(link.module, node, base, name if isinstance(name, str) else "")


def _as_array(node: ast.AST) -> ast.Name | None:
    """Return the DataFrame behind `df.values` or `df.to_numpy()`."""
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        node = node.func
        wanted = "to_numpy"
    else:
        wanted = "values"
    if isinstance(node, ast.Attribute) and node.attr == wanted and isinstance(node.value, ast.Name):
        return node.value
    return None


def _changes(module: Module, node: ast.AST, frame: str) -> bool:
    """Whether the statement writes into the frame, or makes it anew: nothing is picked from it there."""
    statement = module.statement(node)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AugAssign):
        targets = [statement.target]
    names = {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    return frame in names


def is_frame(module: Module, expr: ast.expr, depth: int = _DEPTH) -> bool:
    """Whether an expression surely gives a pandas frame."""
    if depth == 0:
        return False
    if isinstance(expr, ast.Name):
        made = module.made_by(expr)
        return made is not expr and is_frame(module, made, depth - 1)
    if isinstance(expr, ast.Subscript):
        # A single column is a Series; rows and several columns stay a DataFrame.
        return not isinstance(expr.slice, ast.Constant) and is_frame(module, expr.value, depth - 1)
    if isinstance(expr, ast.Attribute) and expr.attr in _WINDOWS:
        return is_frame(module, expr.value, depth - 1)
    if not isinstance(expr, ast.Call):
        return False
    name = module.resolve(expr.func)
    if name:
        return name.startswith("pandas.read_") or name in (
            "pandas.DataFrame",
            "pandas.concat",
            "pandas.merge",
            "pandas.get_dummies",
        )
    function = callee(module, expr)
    if function is not None:
        returned = returned_by(function)
        return returned is not None and is_frame(function.module, returned, depth - 1)
    arrays = ("to_numpy", "mean", "sum", "tolist", "items", "to_dict", "squeeze")
    return (
        isinstance(expr.func, ast.Attribute)
        and expr.func.attr not in arrays
        and is_frame(module, expr.func.value, depth - 1)
    )


# --- the whole table ----------------------------------------------------------------------------------------------


def with_whole_rows(
    project: Project,
    data: DataFacts,
    infinite: bool = False,
    column_of: ArrayFacts | None = None,
    made: Location | None = None,
) -> tuple[Edit, ...]:
    """Drop the rows with missing values from the DataFrame before anything is selected from it.

    Args:
        project: the source.
        data: the data passed to fit.
        infinite: whether infinite values count as missing.
        column_of: consider only this array, if it is one column.
        made: where the missing values come from; nothing is dropped if that is later.
    """
    if data.form not in ("arrays", "dataset") or data.role != "training":
        return ()
    ways = [picked_from(project, data, array) for array in (*data.x, *data.y)]
    found = _from_one_frame(ways)
    if not found:
        return ()
    module, name = found[0].module, found[0].frame.id
    column = ""
    if column_of is not None and data.form == "arrays":
        own = [each for each in picked_from(project, data, column_of) if each.frame.id == name]
        column = own[0].column if own else ""
    first = min(found, key=lambda each: module.places.span(each.node)[0])
    code = module.code(first.node)
    here = module.location(first.node)
    if made is not None and (made.path, made.cell) == (here.path, here.cell) and made.line >= here.line:
        return ()
    split = _split_of(module, first.frame)
    if split is not None:
        # Both parts come from it, and both have missing values.
        code, name = module.code(split), module.segment(split.args[0])
    dropped = f'.dropna(subset=["{column}"])' if column else ".dropna()"
    if not infinite:
        return insert_before(code, f"{name} = {name}{dropped}")
    numpy, imports = spell(code, "numpy", "np")
    finite = f".replace([{numpy}.inf, -{numpy}.inf], {numpy}.nan)"
    edits = insert_before(code, f"{name} = {name}{finite}{dropped}")
    return (*edits, *imports) if edits else ()


_SPLIT = "sklearn.model_selection.train_test_split"


def _split_of(module: Module, frame: ast.Name) -> ast.Call | None:
    """Return the call that splits a named DataFrame into this part and the rest."""
    for call in module.calls_to(_SPLIT):
        statement = module.statement(call.node)
        targets = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(targets, ast.Tuple) or len(call.node.args) != 1 or len(targets.elts) != 2:
            continue
        names = [part.id for part in targets.elts if isinstance(part, ast.Name)]
        whole = call.node.args[0]
        if frame.id in names and isinstance(whole, ast.Name) and module.scope(whole) is module.scope(frame):
            return call.node
    return None


def _from_one_frame(ways: list[list[Picked]]) -> list[Picked]:
    """Return all selections from the nearest DataFrame that every array comes from."""
    for nearest in ways[0] if ways else []:
        scope = nearest.module.scope(nearest.frame).node
        found = [
            [
                each
                for each in way
                if each.frame.id == nearest.frame.id and each.module.scope(each.frame).node is scope
            ]
            for way in ways
        ]
        if all(found):
            return [each for way in found for each in way]
    return []


def with_dummies(
    project: Project, fit: FitFacts | Unknown, data: DataFacts, array: ArrayFacts
) -> tuple[Edit, ...]:
    """One-hot encode the text columns where columns are selected, else where the table is created."""
    picked = next(iter(picked_from(project, data, array)), None)
    code = picked.module.code(picked.node) if picked is not None else array.use
    pandas, imports = spell(code, "pandas", "pd")
    encoded = f"{pandas}.get_dummies({{}}, dtype=float)"
    if picked is not None:
        return (*wrap(code, encoded), *imports)
    # Encoded separately, training and validation columns could differ.
    alone = isinstance(fit, FitFacts) and "validation_data" not in fit.given
    table = _table_behind(project, array) if alone else None
    if table is not None:
        pandas, imports = spell(table, "pandas", "pd")
        return (*wrap(table, f"{pandas}.get_dummies({{}}, dtype=float)"), *imports)
    if array.container != "pandas.DataFrame" or not alone:
        return ()
    edits = rework(array.code, array.use, encoded)
    return (*edits, *imports) if edits else ()


def _table_behind(project: Project, array: ArrayFacts) -> Code | None:
    """Return the table that an array is converted from: `df` in `df.to_numpy()` or `df.values`."""
    found = node_of(project, array.use)
    if found is None or not isinstance(found[1], ast.expr):
        return None
    made = origin(found[0], found[1])
    node = made.node.func if isinstance(made.node, ast.Call) else made.node
    if made.path or not isinstance(node, ast.Attribute) or node.attr not in ("to_numpy", "values"):
        return None
    return made.module.code(node.value)


def with_numbers(
    project: Project, data: DataFacts, array: ArrayFacts, columns: list[str], others_fit: bool
) -> tuple[Edit, ...]:
    """Parse numeric strings of a table; drop or fill what is not a number.

    Args:
        project: the source.
        data: the data passed to fit.
        array: the features.
        columns: the columns that contain them.
        others_fit: whether all other columns contain numbers.
    """
    way = picked_from(project, data, array)
    if not way:
        return ()
    # `df.values` selects no columns.
    picked = next((each for each in way if each.node is not each.frame), way[0])
    pandas, imports = spell(picked.module.code(picked.node), "pandas", "pd")
    read = f'.apply({pandas}.to_numeric, errors="coerce")'
    found = _from_one_frame([picked_from(project, data, one) for one in (*data.x, *data.y)])
    names = _names_of(picked, array, columns)
    if not names or not found:
        filled = ".pipe(lambda table: table.fillna(table.median()))"
        code = picked.module.code(picked.node)
        return (*wrap(code, f"{{}}{read}{filled}"), *imports) if others_fit else ()
    module, table = found[0].module, found[0].frame.id
    code = module.code(min(found, key=lambda each: module.places.span(each.node)[0]).node)
    lines = (f"{table}[{names}] = {table}[{names}]{read}", f"{table} = {table}.dropna(subset={names})")
    return (*insert_before(code, f"\n{code.indent}".join(lines)), *imports)


def _names_of(picked: Picked, array: ArrayFacts, columns: list[str]) -> str:
    """Return the list of column names as source text, "" if unknown."""
    if array.container == "pandas.DataFrame":
        known = columns
    else:
        chosen = picked.node.slice if isinstance(picked.node, ast.Subscript) else None
        listed = (
            [getattr(part, "value", None) for part in chosen.elts] if isinstance(chosen, ast.List) else []
        )
        places = [int(name) for name in columns if name.isdigit() and int(name) < len(listed)]
        known = [name for place in places if isinstance(name := listed[place], str)]
    quoted = [f'"{name}"' for name in known if '"' not in name]
    return f"[{', '.join(quoted)}]" if len(quoted) == len(columns) else ""


# --- the rows that fit is given -----------------------------------------------------------------------------------


def select_rows(
    project: Project, fit: FitFacts | Unknown, data: DataFacts, name: str, condition: str
) -> tuple[Edit, ...]:
    """Keep only some of the samples: before the split, else in the arguments of fit.

    Args:
        project: the source.
        fit: the call.
        data: its arrays.
        name: the name of the selection.
        condition: true for the samples to keep, with `{}` for the labels and `np` for NumPy.
    """
    if isinstance(fit, Unknown) or data.form != "arrays" or data.role != "training" or len(data.y) != 1:
        return ()
    given = (*data.x, *data.y, *data.sample_weight)
    known = [array.use for array in given if isinstance(array.use, Code)]
    if len(known) != len(given) or len({use.location for use in known}) != len(known):
        return ()
    if any(array.container in ("list", "tuple") for array in given):
        return ()
    numpy, imports = spell(fit.code, "numpy", "np")
    template = f"{name} = {condition.replace('np.', f'{numpy}.')}"
    before, names = _before_split(project, known) or (fit.code, [use.text for use in known])
    mask = template.replace("{}", names[len(data.x)])
    if all(text.isidentifier() for text in names) and len(set(names)) == len(names):
        indent = before.indent if isinstance(before, Code) else ""
        selected = ", ".join(f"{text}[{name}]" for text in names)
        edits = insert_before(before, f"{mask}\n{indent}{', '.join(names)} = {selected}")
        return (*edits, *imports) if edits else ()
    edits = insert_before(fit.code, mask)
    changed = tuple(edit for use in known for edit in wrap(use, f"{{}}[{name}]"))
    return (*edits, *changed, *imports) if edits else ()


def _before_split(project: Project, uses: list[Code]) -> tuple[Code, list[str]] | None:
    """Return the call that splits the arrays, and their names before it."""
    module = project.module_at(uses[0].location.path)
    for call in module.calls_to(_SPLIT) if module is not None else ():
        assert module is not None
        statement = module.statement(call.node)
        targets = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(targets, ast.Tuple) or len(targets.elts) != 2 * len(call.node.args):
            continue
        parts = [module.segment(part) for part in targets.elts]
        whole = [module.segment(argument) for argument in call.node.args]
        if all(use.text in parts[::2] for use in uses) and all(text.isidentifier() for text in whole):
            return module.code(call.node), [whole[parts.index(use.text) // 2] for use in uses]
    return None


def width_taken_from(model: ModelFacts | Unknown, array: ArrayFacts, project: Project) -> tuple[Edit, ...]:
    """Replace a literal number of columns by `X.shape[1]` in the `Input`, because a fix of `X` changes it."""
    if isinstance(model, Unknown) or not project or not isinstance(array.use, Code):
        return ()
    code, name = model.input_code, array.use.text
    if isinstance(code, Unknown) or code.function or not name.isidentifier():
        return ()
    module = project.module_at(code.location.path)
    made = module.assignments(name) if module is not None else ()
    if not made or any(getattr(each.target, "lineno", 0) >= code.location.line for each in made):
        return ()
    width = array.shape[1] if isinstance(array.shape, tuple) and len(array.shape) == 2 else None
    if code.argument("input_dim") is not None:
        written = code.argument("input_dim")
        fixed = written is not None and written.text == str(width)
        return set_argument(code, "input_dim", f"{name}.shape[1]") if fixed else ()
    fixed = shape_argument(code).replace(" ", "") in (f"({width},)", f"[{width}]", f"[{width},]")
    return input_shape_edit(code, f"({name}.shape[1],)") if fixed else ()
