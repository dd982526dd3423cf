"""Result that the program computes and discards.

## What happens

Nothing fails. The data is not shuffled, batched or scaled, or the model lacks a layer, although the source has a line for
it. Other errors may follow: samples without a batch axis, values up to 255, NaN that `dropna` should have removed.

## Why

Datasets, tensors, arrays and tables do not change: `ds.shuffle(1000)`, `layers.Dropout(0.5)(x)`, `x / 255` and
`df.dropna()` return something new. It is lost if it is not assigned, or if its name is assigned again before it is read,
as in `x = MaxPooling2D()(x)` followed by `x = Conv2D(32, 3)(inputs)`.

## Fix

Assign the result, and use the name in the next step.

## Known limits

The last expression of a notebook cell is its output and is not reported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.data.frame_edits import is_frame
from fitdoctor.diagnosis import Edit, Evidence, Finding, Severity
from fitdoctor.edits import replace_code, unsafe
from fitdoctor.source.callees import is_self
from fitdoctor.source.datasets import ALSO_DATASETS, ONLY_DATASETS, is_dataset
from fitdoctor.source.index import names_in
from fitdoctor.source.module import Module

CAUSE = Cause(id="FIT004", slug="result-discarded", severity=Severity.WARNING)

_STAGES = ONLY_DATASETS | ALSO_DATASETS
_PURE = frozenset(
    {
        *(
            f"numpy.{name}"
            for name in ("expand_dims", "squeeze", "reshape", "transpose", "concatenate", "stack")
        ),
        *(f"numpy.{name}" for name in ("log", "log1p", "clip", "nan_to_num", "vstack", "hstack", "divide")),
        *(
            f"tensorflow.{name}"
            for name in ("expand_dims", "squeeze", "reshape", "transpose", "concat", "one_hot")
        ),
        "keras.utils.to_categorical",
        "keras.utils.pad_sequences",
        "keras.utils.normalize",
        "sklearn.utils.shuffle",
        "numpy.random.permutation",
    }
)
_TABLE = frozenset(
    "drop dropna fillna drop_duplicates sort_values reset_index set_index rename sample".split()
)
"""Methods of pandas that return a new table, unless `inplace=True`."""
_ARITHMETIC = (ast.Div, ast.Mult, ast.Sub, ast.Add)
_BY_EFFECT = frozenset({"keras.layers.ActivityRegularization"})
"""Layers that are called for what they add to the loss."""


@CAUSE.rule("keras", "tensorflow")
def not_assigned(module: Module) -> Iterator[Finding]:
    """Find statements whose only effect would be their result."""
    for statement in module.nodes(ast.Expr):
        value = statement.value
        if not isinstance(value, (ast.Call, ast.BinOp)) or _is_shown(module, statement):
            continue
        what, kept = _result(module, value)
        if what:
            names = kept if kept and all(isinstance(each, (ast.Name, ast.Attribute)) for each in kept) else []
            target = ", ".join(map(module.segment, names))
            code = module.code(value)
            yield CAUSE.finding(
                f"{what} is not assigned, so this line has no effect",
                module.location(value),
                unsafe(
                    f"assign it: `{target} = …`" if target else "assign it, and use it",
                    replace_code(code, f"{target} = {code.text}") if target else (),
                ),
                subject="discarded result",
            )


def _is_shown(module: Module, statement: ast.Expr) -> bool:
    """Whether a statement ends the cell of a notebook, also of one saved as a script, which shows its value."""
    cell = module.location(statement).cell
    block = module.block(statement)
    after = next(iter(block[block.index(statement) + 1 :]), None)
    if cell is not None:
        return after is None or module.location(after).cell != cell
    cells = [line for line in range(1, module.text.count("\n") + 2) if _CELL.match(module.line_text(line))]
    return bool(cells) and (after is None or any(statement.lineno < line < after.lineno for line in cells))


_CELL = re.compile(r"# ?(?:%%|In\[)")
"""The line between two cells of a notebook that is saved as a script."""


def _result(module: Module, value: ast.Call | ast.BinOp) -> tuple[str, list[ast.expr]]:
    """Return what an expression computes without any effect, and what it is computed from; "" if it may have one."""
    if isinstance(value, ast.BinOp):
        root = value.left
        if isinstance(root, ast.Call) and isinstance(root.func, ast.Attribute) and root.func.attr == "astype":
            root = root.func.value
        plain = isinstance(root, (ast.Name, ast.Attribute)) and isinstance(value.op, _ARITHMETIC)
        number = isinstance(value.right, ast.Constant) and isinstance(value.right.value, (int, float))
        return ("this value", [root]) if plain and number else ("", [])
    function, name = value.func, module.called(value)
    if name in _PURE and not _writes_in_place(value, name.rpartition(".")[2]):
        several = name == "sklearn.utils.shuffle"
        return f"the result of `{name.rpartition('.')[2]}`", value.args if several else value.args[:1]
    layer = _layer_called(module, value)
    if layer:
        return f"the output of this `{layer}`", value.args[:1] if len(value.args) == 1 else []
    if isinstance(function, ast.Attribute) and not name:
        root = _first_receiver(function.value)
        # `apply` calls its function at once, which may write files.
        if function.attr in _STAGES - {"apply"} and is_dataset(module, function.value):
            return f"the dataset that `{function.attr}` returns", [] if module.resolve(root) else [root]
        named = {keyword.arg for keyword in value.keywords}
        in_place = not named.isdisjoint(("inplace", None))
        if function.attr == "sample" and "frac" not in named:
            return "", []  # a few rows to look at
        # Counts that are sorted are looked at: `df.isnull().sum().sort_values()`.
        whole = all(method in _TABLE for method in _methods(function.value))
        if function.attr in _TABLE and not in_place and whole and _is_table(module, root):
            return f"the table that `{function.attr}` returns", [root]
    return "", []


_INPUTS = {"clip": 3, "divide": 2, "log": 1, "log1p": 1}
"""How many arguments come before `out`."""


def _writes_in_place(call: ast.Call, name: str) -> bool:
    """Whether a function of NumPy writes into an array that it is given: `out=x`, `copy=False`."""
    named = any(keyword.arg in ("out", "copy", None) for keyword in call.keywords)
    return named or len(call.args) > _INPUTS.get(name, len(call.args))


def _layer_called(module: Module, value: ast.expr) -> str:
    """Return the class of the built-in layer that is called on something here, or ""."""
    if not isinstance(value, ast.Call) or not value.args:
        return ""
    maker: ast.expr = value.func
    if isinstance(maker, ast.Attribute) and is_self(module, maker.value):
        around = module.function_of(value)
        owner = module.class_of(value)
        if around is None or around.name != "call" or owner is None or owner.kind not in ("Layer", "Model"):
            return ""
        maker = module.origin(maker).node
    name = module.called(maker) if isinstance(maker, ast.Call) else ""
    known = name.startswith("keras.layers.") and name not in _BY_EFFECT
    return name.rpartition(".")[2] if known and name[13:14].isupper() else ""


def _first_receiver(node: ast.expr) -> ast.expr:
    """Return what the first method of a chain is called on."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return node


def _methods(node: ast.expr) -> Iterator[str]:
    """Yield the methods of a chain that follow what the first one is called on."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield node.func.attr
        node = node.func.value


def _is_table(module: Module, node: ast.expr) -> bool:
    """Whether an expression is certainly a table of pandas or a column of one."""
    return is_frame(module, node.value if isinstance(node, ast.Subscript) else node)


@CAUSE.rule("keras", "tensorflow")
def assigned_again(module: Module) -> Iterator[Finding]:
    """Find outputs of layers and datasets whose name is assigned again before anything reads it."""
    for first in module.nodes(ast.Assign):
        match first.targets:
            case [ast.Name(id=name)]:
                pass
            case _:
                continue
        layer = _layer_called(module, first.value)
        if not layer and not _is_stage(module, first.value):
            continue
        again = _next_store(module, first, name)
        if again is None or not (_layer_called(module, again.value) or _is_stage(module, again.value)):
            continue
        if _begins_anew(module, first, again) or (not layer and _is_restated(module, first, name)):
            continue
        what = f"the output of `{layer}`" if layer else "this dataset"
        yield CAUSE.finding(
            f"{what} is not used: `{name}` is assigned again before anything reads it",
            module.location(again),
            Evidence(f"`{name}` is assigned first", location=module.location(first)),
            unsafe(f"use `{name}` here", _continued(module, again.value, name)),
            subject="discarded result",
        )


def _begins_anew(module: Module, first: ast.Assign, again: ast.Assign) -> bool:
    """Whether what the first assignment reads is assigned again in between: another model or pipeline begins."""
    block = module.block(first)
    between = block[block.index(first) + 1 : block.index(again)]
    read = names_in(first.value)
    return any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in read
        for statement in between
        for node in ast.walk(statement)
    )


def _is_restated(module: Module, first: ast.Assign, name: str) -> bool:
    """Whether the same stages follow in the same cell, as in a tutorial that shows two ways."""
    block, cell = module.block(first), module.location(first).cell
    later = [
        each.value
        for each in block[block.index(first) + 1 :]
        if isinstance(each, ast.Assign)
        and name in [getattr(target, "id", "") for target in each.targets]
        and module.location(each).cell == cell
    ]
    return set(_methods(first.value)) <= {stage for value in later for stage in _methods(value)}


def _is_stage(module: Module, value: ast.expr) -> bool:
    function = value.func if isinstance(value, ast.Call) else None
    return (
        isinstance(function, ast.Attribute)
        and function.attr in _STAGES
        and is_dataset(module, function.value)
    )


def _next_store(module: Module, first: ast.Assign, name: str) -> ast.Assign | None:
    """Return the next assignment of a name in the same block, if nothing in between may read it."""
    block, cell = module.block(first), module.location(first).cell
    for statement in block[block.index(first) + 1 :]:
        if module.location(statement).cell != cell:
            return None
        mentioned = [each for each in ast.walk(statement) if isinstance(each, ast.Name) and each.id == name]
        if not mentioned:
            if isinstance(statement, (ast.Return, ast.Raise, ast.FunctionDef, ast.ClassDef)):
                return None
            continue
        stores = isinstance(statement, ast.Assign) and [getattr(each, "id", "") for each in statement.targets]
        return (
            statement
            if stores == [name] and len(mentioned) == 1 and isinstance(statement, ast.Assign)
            else None
        )
    return None


def _continued(module: Module, value: ast.expr, name: str) -> tuple[Edit, ...]:
    """Write a name in place of what a layer is called on, or a dataset is made from."""
    if _layer_called(module, value):
        given = value.args[0] if isinstance(value, ast.Call) and len(value.args) == 1 else None
    else:
        given = _first_receiver(value)
    return (Edit(module.location(given), name),) if isinstance(given, ast.Name) else ()
