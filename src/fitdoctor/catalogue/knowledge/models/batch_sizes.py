"""Batch sizes hard-coded in a model, which the shorter last batch does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.knowledge.labels.label_shapes import shapes_of_failure
from fitdoctor.facts import DataFacts, FailureFacts, FitFacts, ModelFacts, Shape
from fitdoctor.records import dataclass
from fitdoctor.source.assignments import last_assignment
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import Project

RESHAPES = frozenset({"tensorflow.reshape", "keras.ops.reshape", "keras.backend.reshape"})


@dataclass(frozen=True)
class FixedBatch:
    """The rows of a batch, and the rows that the model returned for it."""

    rows: int
    fixed: int


def fixed_batch(failure: FailureFacts) -> FixedBatch | None:
    """Read both row counts from the error of a loss whose labels and outputs differ only in number."""
    shapes = shapes_of_failure(failure)
    if shapes is None or not shapes.target or not shapes.output:
        return None
    rows, fixed = shapes.target[0], shapes.output[0]
    if rows is None or fixed is None or not 1 < fixed > rows or shapes.target[1:] != shapes.output[1:]:
        return None
    return FixedBatch(rows, fixed)


def reshape_to(project: Project, rows: int) -> tuple[Module, ast.Call] | None:
    """Return the only reshape of the program whose first size is `rows`."""
    found = []
    for module in project.modules:
        for site in module.calls:
            shape = site.node.args[1] if len(site.node.args) > 1 else None
            if site.name not in RESHAPES or not isinstance(shape, (ast.Tuple, ast.List)) or not shape.elts:
                continue
            first = origin(module, shape.elts[0]).node
            if isinstance(first, ast.Constant) and first.value == rows:
                found.append((module, site.node))
    return found[0] if len(found) == 1 else None


def rows_left_over(fit: FitFacts, data: DataFacts) -> int:
    """Return the rows of the last batch if it is certainly shorter than the others; else 0."""
    given = {"validation_split", "steps_per_epoch", "**"} & set(fit.given)
    if fit.method != "fit" or data.role != "training" or data.form != "arrays" or given:
        return 0
    size = fit.batch_size
    if size is None or not isinstance(data.samples, int) or data.samples <= size:
        return 0
    return data.samples % size


def reshaped_in_call(model: ModelFacts, project: Project, rows: int) -> tuple[Module, ast.Call] | None:
    """Return the reshape of the inputs to `rows` rows in the `call` of the model or one of its layers."""
    found = reshape_to(project, rows)
    if found is None:
        return None
    module, call = found
    function, shape = module.function_of(call), call.args[1]
    owner = function.owner if function is not None else None
    names = {model.class_name, *(layer.class_name for layer in model.every_layer())}
    if function is None or owner is None or function.name != "call" or owner.name not in names:
        return None
    lengths = [origin(module, part).node for part in getattr(shape, "elts", ())]
    told = all(isinstance(part, ast.Constant) and isinstance(part.value, int) for part in lengths)
    return found if told and _reaches(function, call.args[0]) else None


def _reaches(function: FunctionInfo, value: ast.expr) -> bool:
    """Whether a value is computed row by row, by layers and arithmetic, from the function's arguments."""
    waiting, seen = [value], set[str]()
    while waiting:
        nodes = list(ast.walk(waiting.pop()))
        if any(isinstance(node, ast.Subscript) or _mixes_rows(function.module, node) for node in nodes):
            return False
        names = {node.id for node in nodes if isinstance(node, ast.Name)} - seen
        if names & set(function.parameters[1:]):
            return True
        seen |= names
        waiting += [
            node.value
            for node in ast.walk(function.node)
            if isinstance(node, ast.Assign)
            and node.lineno < value.lineno
            and any(isinstance(each, ast.Name) and each.id in names for each in node.targets)
        ]
    return False


def _mixes_rows(module: Module, node: ast.AST) -> bool:
    """Whether a library function may change the number of rows."""
    name = module.resolve(node.func) if isinstance(node, ast.Call) else ""
    return bool(name) and not name.startswith(("tensorflow.nn.", "keras.activations.", "tensorflow.cast"))


def stateful_input(project: Project) -> tuple[Module, ast.Call] | None:
    """Return the only input with a fixed batch size, if the program has a stateful layer."""
    modules = project.modules
    sites = [(module, site.node) for module in modules for site in module.calls]
    if not any(argument_of(node, "stateful") is not None for _module, node in sites):
        return None
    inputs = [
        (module, node)
        for module, node in sites
        if any(argument_of(node, name) is not None for name in ("batch_shape", "batch_input_shape"))
        or (argument_of(node, "batch_size") is not None and module.resolve(node.func).startswith("keras."))
    ]
    return inputs[0] if len(inputs) == 1 else None


def rows_that_differ(shapes: tuple[Shape, ...]) -> FixedBatch | None:
    """Return the row counts of two shapes that are otherwise equal."""
    if len(shapes) != 2 or not shapes[0] or not shapes[1] or shapes[0][1:] != shapes[1][1:]:
        return None
    few, many = sorted(length or 0 for length in (shapes[0][0], shapes[1][0]))
    return FixedBatch(few, many) if 0 < few < many else None


def written_in_model(project: Project, rows: int) -> tuple[FunctionInfo, list[ast.expr]] | None:
    """Return the function that hard-codes `rows`, or half of it if it joins two parts, and the expressions.

    The function is the `call` of a custom model or layer, the function of a `Lambda`, or a training step.
    """
    functions = [
        function
        for module in project.modules
        for function in module.functions
        if function.name == "train_step"
        or function.name == "call"
        and function.owner is not None
        or function.traced is not None
        and function.traced.how == "lambda layer"
    ]
    for parts in (1, 2):
        found = [(function, _written(function, rows, parts)) for function in functions]
        found = [(function, nodes) for function, nodes in found if nodes]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _written(function: FunctionInfo, rows: int, parts: int) -> list[ast.expr]:
    """Return the expressions that hard-code the rows: one number, or as many as parts are joined."""
    known = [
        (node, in_shape)
        for node, in_shape in _first_lengths(function)
        if (number := _constant(function.module, node)) is not None and number * parts == rows
    ]
    if len(known) == parts == 1:
        return [known[0][0]]
    begin = [node for node, in_shape in known if in_shape]
    return _named_once(function, begin) if len(begin) >= parts and len(begin) == len(known) else []


def _named_once(function: FunctionInfo, nodes: list[ast.expr]) -> list[ast.expr]:
    """Return what the function assigns to a name, instead of the several places where it reads the name."""
    bound = [last_assignment(function.module, node) for node in nodes if isinstance(node, ast.Name)]
    values = {id(each[0].value): each[0].value for each in bound if each is not None}
    value = next(iter(values.values()), None)
    same = len(bound) == len(nodes) and len(values) == 1 and None not in bound
    if value is None or not same or function.module.function_of(value) is not function:
        return nodes
    return [value]


def _constant(module: Module, node: ast.expr) -> int | None:
    value = origin(module, node).node
    number = value.value if isinstance(value, ast.Constant) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _first_lengths(function: FunctionInfo) -> Iterator[tuple[ast.expr, bool]]:
    """Yield candidates for the number of rows: the first size of a shape, or a number passed to a call."""
    for node in ast.walk(function.node):
        if not isinstance(node, ast.Call):
            continue
        first = argument_of(node, "shape", 0)
        in_shape = isinstance(first, (ast.Tuple, ast.List))
        if isinstance(first, (ast.Tuple, ast.List)) and first.elts:
            first = first.elts[0]
        if isinstance(first, (ast.Constant, ast.Name)):
            yield first, in_shape


def rows_of_batch(function: FunctionInfo) -> str:
    """Return an expression for the number of rows in the batch; "" if unknown."""
    module = function.module
    for node in ast.walk(function.node):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and _is_row_count(module, node.value)
        ):
            return node.targets[0].id
    given = [name for name in function.parameters if name != "self"]
    if not given:
        return ""
    for node in ast.walk(function.node):
        taken = node.targets[0] if isinstance(node, ast.Assign) else None
        if (
            isinstance(taken, ast.Tuple)
            and isinstance(node, ast.Assign)
            and ast.unparse(node.value) == given[0]
        ):
            return f"shape({taken.elts[0].id})[0]" if isinstance(taken.elts[0], ast.Name) else ""
    return f"shape({given[0]})[0]"


def _is_row_count(module: Module, value: ast.expr) -> bool:
    """`tf.shape(x)[0]`."""
    return (
        isinstance(value, ast.Subscript)
        and isinstance(value.slice, ast.Constant)
        and value.slice.value == 0
        and isinstance(value.value, ast.Call)
        and module.resolve(value.value.func) in ("tensorflow.shape", "keras.ops.shape")
    )
