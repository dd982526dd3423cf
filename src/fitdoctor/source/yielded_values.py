"""Maps parts of a batch to the expressions that a generator, `__getitem__` or pipeline yields."""

from __future__ import annotations

import ast

from fitdoctor.facts import ArrayFacts, Code, DataFacts, Unknown
from fitdoctor.records import replace
from fitdoctor.source.assignments import element_of
from fitdoctor.source.module import Module
from fitdoctor.source.origins import data_origin, origin

PARTS = ("x", "y", "sample_weight")
SLICES = frozenset(("from_tensor_slices", "from_tensors"))
KEEPS_ELEMENTS = frozenset(
    "batch shuffle prefetch repeat cache take skip shard rebatch unbatch ragged_batch".split()
)
"""tf.data methods that do not change the samples."""
_NOT_FOUND = Unknown("the location in the source was not found")


def only_value(module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.expr | None:
    """Return the only value that a function yields, or returns if it yields none."""
    own = [node for node in ast.walk(function) if isinstance(node, (ast.Yield, ast.Return)) and node.value]
    inside = [node for node in own if (owner := module.function_of(node)) and owner.node is function]
    yields = [node for node in inside if isinstance(node, ast.Yield)]
    values = yields or inside
    return values[0].value if len(values) == 1 else None


def part_given_out(module: Module, value: ast.expr, path: str, parts: int) -> Code | Unknown:
    """Return the code of a part of a batch (`x`, `x['image']`, `y`), if the function itself computes it."""
    name, keys = split_path(path)
    if name not in PARTS:
        return _NOT_FOUND
    position = PARTS.index(name)
    if not isinstance(value, (ast.Tuple, ast.List)):
        return module.code(value) if parts == 1 and position == 0 else _NOT_FOUND
    if len(value.elts) != parts or any(isinstance(part, ast.Starred) for part in value.elts):
        return _NOT_FOUND
    part, _rest = literal_part(value.elts[position], keys)
    made = origin(module, part)
    if made.module is module and _same_class(module, made.node, part):
        return made.code
    return module.code(part)


def _same_class(module: Module, made: ast.AST, part: ast.AST) -> bool:
    """Whether both nodes are in one function, or in methods of one class."""
    one, other = module.function_of(made), module.function_of(part)
    if one is other:
        return True
    return one is not None and other is not None and one.owner is not None and one.owner is other.owner


def placed(module: Module, facts: DataFacts, function: ast.AST) -> DataFacts:
    """Return the parts of a batch with the code in the generator or `__getitem__` that yields them."""
    value = only_value(module, function) if isinstance(function, ast.FunctionDef) else None
    if value is None:
        return facts

    def told(arrays: tuple[ArrayFacts, ...]) -> tuple[ArrayFacts, ...]:
        found = [part_given_out(module, value, array.path, facts.element_size or 1) for array in arrays]
        pairs = zip(arrays, found, strict=True)
        return tuple(replace(one, code=code) if isinstance(code, Code) else one for one, code in pairs)

    return replace(facts, x=told(facts.x), y=told(facts.y), sample_weight=told(facts.sample_weight))


def placed_slices(module: Module, facts: DataFacts, call: ast.Call) -> DataFacts:
    """Return the parts of a pipeline's elements with the code behind the arrays in `from_tensor_slices(…)`."""
    if not call.args:
        return facts

    def told(arrays: tuple[ArrayFacts, ...], position: int) -> tuple[ArrayFacts, ...]:
        found = []
        for array in arrays:
            _name, keys = split_path(array.path)
            # `validation_data[0]` has its position in the path.
            inside = keys if facts.role == "training" else keys[1:]
            keys = inside if facts.element_size == 1 else (position, *inside)
            part, rest = literal_part(call.args[0], keys)
            end = data_origin(module, part, rest)
            known = not end.path and not isinstance(end.node, ast.Name)
            found.append(replace(array, code=end.code, use=module.code(part)) if known else array)
        return tuple(found)

    return replace(facts, x=told(facts.x, 0), y=told(facts.y, 1), sample_weight=told(facts.sample_weight, 2))


def literal_part(expr: ast.expr, keys: tuple[int | str, ...]) -> tuple[ast.expr, tuple[int | str, ...]]:
    """Follow keys into literal lists, tuples and dicts."""
    while keys:
        part = element_of(expr, keys[0])
        if part is None:
            break
        expr, keys = part, keys[1:]
    return expr, keys


def split_path(path: str) -> tuple[str, tuple[int | str, ...]]:
    """Split `validation_data[0]['image']` into its name and its keys."""
    name, bracket, rest = path.partition("[")
    if not bracket:
        return name, ()
    keys: list[int | str] = []
    node: ast.expr = ast.parse(f"_[{rest}", mode="eval").body
    while isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, (int, str)):
            keys.append(node.slice.value)
        node = node.value
    return name, tuple(reversed(keys))
