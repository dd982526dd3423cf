"""Failed matrix products: a factor that needs a transpose, or a weight of the wrong size."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.graph.traced import own_nodes, stands_at
from fitdoctor.diagnosis import Edit, Fix, Location
from fitdoctor.edits import append_arguments, fix, replace_code, unsafe
from fitdoctor.failure.patterns import OperationShapes
from fitdoctor.source.module import FunctionInfo, Module


def transposed(function: FunctionInfo, place: Location, shapes: OperationShapes | None) -> Fix | None:
    """Transpose the second factor if the last axes of both agree."""
    if shapes is None or not shapes.is_product or len(shapes.shapes) != 2:
        return None
    first, second = shapes.shapes
    if len(first) < 2 or len(second) < 2 or first[-1] is None or first[-1] != second[-1]:
        return None
    module = function.module
    products = [
        node
        for node in own_nodes(function)
        if isinstance(node, ast.Call)
        and stands_at(module.location(node), place.line, place.cell)
        and module.resolve(node.func).rpartition(".")[2] == "matmul"
        and len(node.args) == 2
        and not node.keywords
    ]
    if len(products) != 1:
        return None
    product = products[0]
    title = "transpose the second factor"
    edits: tuple[Edit, ...]
    if module.resolve(product.func).startswith("tensorflow."):
        edits = append_arguments(module.code(product), "transpose_b=True")
    else:
        home = module.segment(product.func).rpartition(".")[0]
        turned = f"{home}.swapaxes({module.segment(product.args[1])}, -1, -2)"
        edits = replace_code(module.code(product.args[1]), turned) if home else ()
    return fix(title, edits)


def weight_of_another_size(
    function: FunctionInfo, shapes: OperationShapes | None
) -> tuple[Location, list[Fix]] | None:
    """Return the only call that sized a custom layer for the wrong number of features: `Linear(1, 32)` after 16 units."""
    if shapes is None or not shapes.is_product or len(shapes.shapes) != 2:
        return None
    given, weight = shapes.shapes
    if len(weight) != 2 or given[-1] is None or weight[0] is None:
        return None
    module, owner = function.module, function.module.class_of(function.node)
    init = module.method(owner, "__init__") if owner is not None else None
    if owner is None or init is None:
        return None
    sizes = [
        size
        for name in _first_sizes(module, owner.node, init)
        for call in module.calls
        if module.definition(call.node.func) is owner
        for size in [call.argument(name, init.parameters.index(name) - 1)]
        if isinstance(size, ast.Constant) and size.value == weight[0]
    ]
    if len(sizes) != 1:
        return None
    told = f"size the layer for the {given[-1]} features of its input"
    return module.location(sizes[0]), [unsafe(told, replace_code(module.code(sizes[0]), str(given[-1])))]


def _first_sizes(module: Module, owner: ast.ClassDef, init: FunctionInfo) -> Iterator[str]:
    """Yield the `__init__` parameters that are the first size of a weight."""
    kept = {
        ast.unparse(node.targets[0]): node.value.id
        for node in own_nodes(init)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)
    }
    for call in module.method_calls("add_weight"):
        shape = call.argument("shape", 0)
        if not isinstance(shape, (ast.Tuple, ast.List)) or len(shape.elts) != 2:
            continue
        inside = module.class_of(call.node)
        name = ast.unparse(shape.elts[0])
        name = kept.get(name, name)
        if inside is not None and inside.node is owner and name in init.parameters[1:]:
            yield name
