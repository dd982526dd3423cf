"""Fixes for traced code that needs the value of a tensor: a tensor function, a variable, or the same line outside."""

from __future__ import annotations

import ast
from collections.abc import Collection

from fitdoctor.catalogue.graph.attribute_state import as_state
from fitdoctor.catalogue.graph.kept_tensors import is_traced_by_itself
from fitdoctor.catalogue.graph.numpy_on_symbolic_tensor.string_twins import string_edits
from fitdoctor.catalogue.graph.reported_losses import collected_by_callback
from fitdoctor.catalogue.graph.return_instead_of_store import return_instead_of_store
from fitdoctor.catalogue.knowledge.tracing.array_bodies import as_tensor_code
from fitdoctor.catalogue.words import listing
from fitdoctor.diagnosis import Edit, Fix
from fitdoctor.edits import fix, spell, unsafe
from fitdoctor.failure.traced_code import ARRAY_METHODS, CASTS, LIBRARIES, VALUE_METHODS
from fitdoctor.records import replace
from fitdoctor.source.line_edits import indent_of
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.traced.symbolic import own_nodes


def value_remedies(
    module: Module, function: FunctionInfo, use: ast.expr, uses: Collection[ast.expr]
) -> list[Fix]:
    """Return the fixes for a place that needs the value of a tensor.

    Args:
        module: the file.
        function: the traced function.
        use: the place that needs the value.
        uses: all such places in the function.
    """
    remedies: list[Fix] = []
    call = use if isinstance(use, ast.Call) else None
    if call is None:
        return [fix("print with `tf.print`, which runs as part of the graph")]
    strings = _of_strings(function, call)
    outside = _outside(module, function, call)
    # Code that calls another library has no equivalent, even if its NumPy calls do.
    twinless = _calls_library(function) or _is_written_to(module, function, call)
    twins = None if twinless else _twins(module, function, [use, *uses])
    static = _static_size(module, call)
    state = _as_state(module, function, call)
    collected = _collected(module, function, call)
    if strings is not None:
        remedies.append(strings)
    elif outside:
        remedies.append(fix("return the tensor and read its value in the caller", outside))
    elif collected is not None:
        remedies.append(collected)
    elif state is not None:
        remedies.append(state)
    elif static is not None:
        remedies.append(static)
    elif twins:
        names, edits = twins
        remedies.append(fix(f"call {listing(names)} instead", edits))
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "numpy" and _fits_as_tensor(module, call):
        remedies.append(
            fix("remove `.numpy()`", (Edit(module.location(call), module.segment(call.func.value)),))
        )
    elif module.resolve(call.func) in CASTS and _fits_as_tensor(module, call) and len(call.args) == 1:
        cast = "" if module.resolve(call.func) == "float" else "; use `tf.cast` if you need an integer"
        text = f"({module.segment(call.args[0])})"
        remedies.append(unsafe(f"keep the value as a tensor{cast}", (Edit(module.location(call), text),)))
    how = function.how
    if module.resolve(call.func).startswith(LIBRARIES) or how == "metric" and _calls_library(function):
        if how == "metric":
            remedies.append(_run_as_python(module, function))
            remedies.append(fix("compute this metric from `model.predict` in a callback's `on_epoch_end`"))
        remedies.append(fix("rewrite it with `tf` or `keras.ops` functions, or wrap it in `tf.py_function`"))
    elif not remedies:
        remedies.append(fix("use the equivalent `tf` or `keras.ops` function"))
    return remedies


_SHAPES = ("tensorflow.shape", "keras.backend.shape", "keras.ops.shape")


def _static_size(module: Module, call: ast.Call) -> Fix | None:
    """Read a size that is a plain number from the static shape: `x.shape[-1]` for `tf.shape(x)[-1]`."""
    for given in call.args:
        match module.origin(given).node:
            case ast.Subscript(value=ast.Call(args=[tensor]) as shape, slice=ast.UnaryOp(op=ast.USub())) if (
                module.called(shape) in _SHAPES
            ):
                text = f"{module.segment(tensor)}.shape"
                return fix(f"use the static shape, `{text}`", (Edit(module.location(shape), text),))
    return None


def _is_written_to(module: Module, function: FunctionInfo, call: ast.Call) -> bool:
    """Whether the function changes elements of the array that a call makes, which tensors do not allow."""
    statement = module.statement(call)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id in names
        for node in own_nodes(function)
    )


def _calls_library(function: FunctionInfo) -> bool:
    """Return whether it calls a library that does not accept tensors: `f1_score(y_true.numpy(), …)`."""
    calls = (node for node in own_nodes(function) if isinstance(node, ast.Call))
    return any(function.module.resolve(call.func).startswith(LIBRARIES) for call in calls)


def _outside(module: Module, function: FunctionInfo, call: ast.Call) -> tuple[Edit, ...]:
    """Move a line that only records the value (`history.append(loss.numpy())`, `print`) to the callers."""
    statement = module.statement(call)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if any(not isinstance(target, (ast.Attribute, ast.Subscript)) for target in targets):
        return ()
    if isinstance(call.func, ast.Attribute) and call.func.attr in VALUE_METHODS:
        return return_instead_of_store(function, statement, call.func.value)
    return return_instead_of_store(function, statement, call.args[0]) if len(call.args) == 1 else ()


def _asked(module: Module, call: ast.Call) -> ast.expr | None:
    """Return the tensor whose value is read: `loss` in `float(loss)` and `loss.numpy()`."""
    if module.resolve(call.func) == "float" and len(call.args) == 1:
        inner = call.args[0]
        again = _asked(module, inner) if isinstance(inner, ast.Call) else None
        return again if again is not None else inner
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("numpy", "item"):
        return call.func.value
    return None


def _of_strings(function: FunctionInfo, call: ast.Call) -> Fix | None:
    """Rewrite a map function that parses a path or string with `tf.strings`."""
    edits = string_edits(function)
    within = any(edit.location.line <= call.lineno <= edit.location.end_line for edit in edits)
    # Python raises an error for an unknown word; the tensor version returns the first entry.
    make = unsafe if any("argmax(" in edit.replacement for edit in edits) else fix
    return make("parse the string with `tf.strings`, which accepts tensors", edits) if within else None


def _collected(module: Module, function: FunctionInfo, call: ast.Call) -> Fix | None:
    """Replace `self.history.append(float(loss))` in a `train_step` with a callback that reads the logs."""
    tensor, adding = _asked(module, call), module.parent(call)
    while isinstance(adding, ast.Call) and _asked(module, adding) is not None:
        adding = module.parent(adding)
    if tensor is None or not isinstance(adding, ast.Call):
        return None
    edits = collected_by_callback(function, adding, tensor)
    title = "collect the values that Keras logs for each batch in a callback's `on_train_batch_end`"
    return unsafe(title, edits) if edits else None


def _as_state(module: Module, function: FunctionInfo, call: ast.Call) -> Fix | None:
    """Turn `self.mean = 0.9 * self.mean + 0.1 * float(loss)` into an update of a variable."""
    statement, tensor = module.statement(call), _asked(module, call)
    if not isinstance(statement, (ast.Assign, ast.AugAssign)) or is_traced_by_itself(function):
        return None
    if tensor is None:
        return None
    text = module.rewritten(statement.value, (call, module.segment(tensor)))
    return as_state(function, function.owner, statement, statement.value, text, scalar=True)


def _run_as_python(module: Module, function: FunctionInfo) -> Fix:
    """Run a metric in `tf.py_function`; it needs no gradient."""
    title = "run it as Python with `tf.py_function`; a metric needs no gradient"
    node = function.node
    if isinstance(node, ast.Lambda) or len(function.parameters) != 2:
        return fix(title)
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    last = body[-1] if body else None
    if not isinstance(last, ast.Return) or last.value is None or body[0].lineno == node.lineno:
        return fix(title)
    tf, imports = spell(module.code(last.value), "tensorflow", "tf")
    names = ", ".join(function.parameters)
    if len(body) == 1:
        run = f"{tf}.py_function(lambda {names}: {module.segment(last.value)}, [{names}], {tf}.float32)"
        return unsafe(title, (Edit(module.location(last.value), f"{tf}.ensure_shape({run}, ())"), *imports))
    indent = indent_of(module, body[0])
    whole = replace(
        module.location(body[0]),
        end_line=module.location(last).end_line,
        end_column=module.location(last).end_column,
    )
    start, end = module.places.span(body[0])[0], module.places.span(last)[1]
    inside = (indent + module.text[start:end]).split("\n")
    deeper = "\n".join(
        f"{indent}    {line.removeprefix(indent)}" if line.strip() else line for line in inside
    )
    run = f"{tf}.py_function(compute, [{names}], {tf}.float32)"
    text = f"def compute({names}):\n{deeper}\n\n{indent}return {tf}.ensure_shape({run}, ())"
    return unsafe(title, (Edit(whole, text), *imports))


def _fits_as_tensor(module: Module, call: ast.Call) -> bool:
    """Return whether the context accepts a tensor: arithmetic, or an argument of a `tf` or `keras` function."""
    parent = module.parent(call)
    statement = module.statement(call)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in targets):
        return False  # the tensor would leak
    if isinstance(parent, (ast.BinOp, ast.Return)):
        return True
    return module.called(parent).startswith(("tensorflow.", "keras."))


def _twins(
    module: Module, function: FunctionInfo, uses: Collection[ast.expr]
) -> tuple[tuple[str, ...], tuple[Edit, ...]] | None:
    """Return the equivalents of all array code on tensors in the function, or None if a part of it has none."""
    if not all(_is_array_code(module, use) for use in uses):
        return None
    found = as_tensor_code(module, own_nodes(function), uses)
    return (found.names, found.edits) if found is not None else None


def _is_array_code(module: Module, use: ast.expr) -> bool:
    if not isinstance(use, ast.Call):
        return False
    method = use.func.attr if isinstance(use.func, ast.Attribute) else ""
    name = module.resolve(use.func)
    return method in ARRAY_METHODS or name in CASTS or name.startswith(("numpy.", "math."))
