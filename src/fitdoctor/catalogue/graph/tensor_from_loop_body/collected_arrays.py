"""Fix for a list that a graph loop fills: a `tf.TensorArray` as a loop variable."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.graph.graph_parts import Escape
from fitdoctor.diagnosis import Edit, Fix
from fitdoctor.edits import fix, unsafe
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import Module
from fitdoctor.source.traced.tracing import functions_in


def collected(escape: Escape) -> Fix | None:
    """Turn a list that is stacked after the loop into a TensorArray."""
    module, name = escape.module, escape.holder
    tf = dict(module.spellings).get("tensorflow")
    made = _made_empty(escape)
    if tf is None or made is None or not isinstance(escape.node, ast.Call):
        return None
    carried = list(_carried(escape)) if isinstance(escape.part, ast.Call) else []
    read = _read_on(escape, made, tf)
    if read is None or isinstance(escape.part, ast.Call) and not carried:
        return None
    written = f"{name} = {name}.write({name}.size(), {module.segment(escape.value)})"
    # The last batch may be smaller.
    loose = ", infer_shape=False" if any(edit.replacement.endswith(".concat()") for edit in read) else ""
    kind = _type(escape, made)
    told = " of dtype float32 (adjust the dtype if yours differs)" if kind == "float32" else ""
    array = f"{tf}.TensorArray({kind if '.' in kind else f'{tf}.{kind}'}, size=0, dynamic_size=True{loose})"
    edits = (Edit(module.location(made.value), array), Edit(module.location(escape.node), written))
    # A wrong guess of the dtype fails only at run time, so the fix is unsafe.
    make = unsafe if told else fix
    return make(f"collect the tensors in a `tf.TensorArray`{told}", edits, read, carried)


def _made_empty(escape: Escape) -> ast.Assign | None:
    """Return where the list is created empty; any later assignment must stack the list itself."""
    module, name = escape.module, escape.holder
    statements = [
        module.parent(node) for node in module.index.scopes[escape.function.node].bindings.get(name, [])
    ]
    lists = [
        each
        for each in statements
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.List) and not each.value.elts
    ]
    stacks = [each for each in statements if each not in lists]
    if len(lists) != 1 or not all(
        isinstance(each, ast.Assign) and _is_stack(each.value, name) for each in stacks
    ):
        return None
    return lists[0]


def _is_stack(value: ast.expr, name: str) -> bool:
    """Return whether a value is a call on the list of that name: `path = tf.stack(path, axis=1)`."""
    first = value.args[0] if isinstance(value, ast.Call) and value.args else None
    return isinstance(first, ast.Name) and first.id == name


def _read_on(escape: Escape, made: ast.Assign, tf: str) -> list[Edit] | None:
    """Return the edits for the places that read the list, or None if one of them does more than stack it."""
    module, name = escape.module, escape.holder
    scope = module.index.scopes[escape.function.node]
    stacked = [
        node.lineno
        for node in scope.bindings.get(name, [])
        if isinstance(node, ast.Name) and module.parent(node) is not made
    ]
    own = {id(node) for node in ast.walk(escape.node)}
    edits = []
    for use in module.reads.get(name, []):
        if id(use) in own or module.index.lookup(name, module.scope(use)) is not scope:
            continue
        if stacked and use.lineno > min(stacked):  # by then the name refers to a tensor
            continue
        joined = _joined(module, module.parent(use), name, tf)
        if not joined:
            return None
        edits.append(Edit(module.location(module.parent(use) or use), joined))
    return edits


def _joined(module: Module, call: ast.AST | None, name: str, tf: str) -> str:
    """Return the TensorArray equivalent of a call that stacks or joins the list."""
    if not isinstance(call, ast.Call):
        return ""
    called = module.resolve(call.func)
    axis = argument_of(call, "axis", 1)
    at = axis.value if isinstance(axis, ast.Constant) else None if axis is not None else 0
    if len(call.args) > 2 or any(keyword.arg != "axis" for keyword in call.keywords):
        return ""
    if called == "tensorflow.convert_to_tensor" or called == "tensorflow.stack" and at == 0:
        return f"{name}.stack()"
    if called == "tensorflow.stack" and at == 1:
        return f"{tf}.experimental.numpy.moveaxis({name}.stack(), 0, 1)"
    return f"{name}.concat()" if called == "tensorflow.concat" and axis is not None and at == 0 else ""


# --- types --------------------------------------------------------------------------------------------------------


def _type(escape: Escape, made: ast.Assign) -> str:
    """Infer the dtype of the elements from a name defined before the list, or from the operation that computes them."""
    module, value = escape.module, escape.value
    if not isinstance(value, ast.Name):
        return _type_of(module, value)
    if isinstance(escape.part, ast.Call):
        return _type_of_first(escape, value.id)
    bindings = module.index.scopes[escape.function.node].bindings.get(value.id, [])
    if any(getattr(node, "lineno", made.lineno) < made.lineno for node in bindings):
        return f"{value.id}.dtype"
    return _type_of(module, module.made_by(value))


def _type_of_first(escape: Escape, name: str) -> str:
    """Return the dtype of a loop variable's initial value, if that value has a name."""
    body, variables = _body(escape), _variables(escape)
    if body is None or variables is None:
        return "float32"
    names = [parameter.arg for parameter in body.args.args]
    first = variables.elts[names.index(name)] if name in names[: len(variables.elts)] else None
    # A parameter of the enclosing function has a value wherever the list is created.
    named = isinstance(first, ast.Name) and first.id in escape.function.parameters
    return f"{first.id}.dtype" if named and isinstance(first, ast.Name) else "float32"


def _type_of(module: Module, value: ast.expr) -> str:
    name = module.resolve(value.func).rpartition(".")[2] if isinstance(value, ast.Call) else ""
    if name not in ("argmax", "argmin", "cast") or not isinstance(value, ast.Call):
        return "float32"
    given = argument_of(value, "dtype", 1) if name == "cast" else argument_of(value, "output_type", 2)
    return "int64" if given is None else module.segment(given)


# --- tf.while_loop ------------------------------------------------------------------------------------------------


def _carried(escape: Escape) -> Iterator[Edit]:
    """Pass the array to `tf.while_loop` as an additional loop variable; nothing if its arguments are not literal."""
    module, name, call = escape.module, escape.holder, escape.part
    assert isinstance(call, ast.Call)
    body, variables, statement = _body(escape), _variables(escape), module.statement(call)
    condition = [info.node for info in functions_in(module, call.args[0])] if call.args else []
    returns = [] if body is None else _returns(module, body)
    if body is None or variables is None or len(condition) != 1 or not returns or len(call.args) > 3:
        return
    if any(keyword.arg not in ("cond", "body", "loop_vars") for keyword in call.keywords):
        return
    given = list(_given_back(module, statement, call, name))
    if not given or not condition[0].args.args or not body.args.args:
        return
    yield from given
    yield _behind(module, variables.elts[-1], f", {name}")
    for node in (condition[0], body):
        yield _behind(module, node.args.args[-1], f", {name}")
    for each in returns:
        yield _behind(module, each.elts[-1], f", {name}")


def _body(escape: Escape) -> ast.FunctionDef | None:
    """Return the loop body if it is a named function."""
    around = escape.module.function_of(escape.node)
    return around.node if around is not None and isinstance(around.node, ast.FunctionDef) else None


def _variables(escape: Escape) -> ast.List | ast.Tuple | None:
    assert isinstance(escape.part, ast.Call)
    given = argument_of(escape.part, "loop_vars", 2)
    return given if isinstance(given, (ast.List, ast.Tuple)) and given.elts else None


def _returns(module: Module, body: ast.FunctionDef) -> list[ast.List | ast.Tuple]:
    """Return the values that the loop body returns if each is a literal list or tuple."""
    values = [each.value for each in module.returns.get(body, [])]
    tuples = [value for value in values if isinstance(value, (ast.List, ast.Tuple)) and value.elts]
    return tuples if len(tuples) == len(values) else []


def _given_back(module: Module, statement: ast.stmt, call: ast.Call, name: str) -> Iterator[Edit]:
    """Unpack the array from the result of the loop."""
    if isinstance(statement, ast.Expr) and statement.value is call:
        yield Edit(module.location(call).start, f"*_, {name} = ")
    elif isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, (ast.Tuple, ast.List)) and target.elts:
            yield _behind(module, target.elts[-1], f", {name}")
        elif isinstance(target, ast.Name) and not module.reads.get(target.id):
            yield Edit(module.location(target), f"*{target.id}, {name}")


def _behind(module: Module, node: ast.AST, text: str) -> Edit:
    return Edit(module.location(node).end, text)
