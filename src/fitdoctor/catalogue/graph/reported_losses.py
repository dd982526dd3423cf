"""Edits that collect batch values from Keras logs in a callback, where traced code collected tensors."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import append_arguments, spell
from fitdoctor.source.callees import is_self
from fitdoctor.source.line_edits import delete_lines
from fitdoctor.source.module import FunctionInfo
from fitdoctor.source.traced.symbolic import own_nodes


def collected_by_callback(function: FunctionInfo, adding: ast.AST, value: ast.expr) -> tuple[Edit, ...]:
    """Append the logged value in a callback instead of the tensor in traced code.

    Args:
        function: the traced function.
        adding: the `history.append(loss)` call on a global list or a list of the model.
        value: the tensor.
    """
    module = function.module
    fits = module.method_calls("fit")
    if len(fits) != 1 or not isinstance(adding, ast.Call) or not isinstance(fits[0].node.func, ast.Attribute):
        return ()
    holder = _holder(function, adding, module.segment(fits[0].node.func.value))
    key = _key(function, value)
    if not holder or not key or not isinstance(module.parent(adding), ast.Expr):
        return ()
    fit = module.code(fits[0].node)
    keras, imports = spell(fit, "keras", "keras")
    collect = f'lambda batch, logs: {holder}.append(logs["{key}"])'
    callback = f"{keras}.callbacks.LambdaCallback(on_train_batch_end={collect})"
    given = fit.argument("callbacks", 6)
    if given is None:
        added = append_arguments(fit, f"callbacks=[{callback}]")
    elif given.text.startswith("[") and given.text.endswith("]"):
        added = (Edit(given.location, f"{given.text[:-1].rstrip(', ')}, {callback}]"),)
    else:
        return ()
    return (delete_lines(module, module.statement(adding)), *added, *imports)


def _holder(function: FunctionInfo, adding: ast.Call, model: str) -> str:
    """Return the list as it is named where `fit` is called."""
    module = function.module
    if not isinstance(adding.func, ast.Attribute) or adding.func.attr != "append":
        return ""
    holder = adding.func.value
    if isinstance(holder, ast.Name):
        scope = module.index.lookup(holder.id, module.scope(holder))
        return holder.id if scope is not None and isinstance(scope.node, ast.Module) else ""
    of_model = (
        isinstance(holder, ast.Attribute)
        and is_self(module, holder.value)
        and function.owner is not None
        and function.owner.kind == "Model"
        and model.replace(".", "").isidentifier()
    )
    return f"{model}.{holder.attr}" if of_model and isinstance(holder, ast.Attribute) else ""


def _key(function: FunctionInfo, value: ast.expr) -> str:
    """Return the key under which the function logs the collected value, or "" if it does not."""
    if not isinstance(value, ast.Name):
        return ""
    logged: dict[str, str] = {}
    for each in function.module.returns.get(function.node, []):
        match each.value:
            case ast.Name(id=name):
                logged[name] = "loss"
            case ast.Dict(keys=keys, values=values):
                named = zip(keys, values, strict=True)
                logged |= {
                    entry.id: str(key.value)
                    for key, entry in named
                    if isinstance(entry, ast.Name) and isinstance(key, ast.Constant)
                }
    differentiated = (
        node.args[0]
        for node in own_nodes(function)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "gradient" and node.args
    )
    learns = any(isinstance(node, ast.Name) and node.id == value.id for node in differentiated)
    return logged.get(value.id) or ("loss" if learns and (not logged or "loss" in logged.values()) else "")
