"""Edits that collect batch values from Keras logs in a callback, where traced code collected tensors."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import append_arguments, spell
from fitdoctor.records import replace
from fitdoctor.source.callees import is_self
from fitdoctor.source.line_edits import delete_lines
from fitdoctor.source.module import CallSite, FunctionInfo
from fitdoctor.source.traced.symbolic import own_nodes


def collected_by_callback(function: FunctionInfo, adding: ast.AST, value: ast.expr) -> tuple[Edit, ...]:
    """Append the logged value in a callback instead of the tensor in traced code; a step logs it if it does not yet.

    Args:
        function: the traced function.
        adding: the `history.append(loss)` call on a global list or a list of the model.
        value: the tensor.
    """
    module = function.module
    modules = module.project.modules if module.project is not None else (module,)
    fits = [site for each in modules for site in each.method_calls("fit")]
    if len(fits) != 1 or not isinstance(adding, ast.Call):
        return ()
    holder = _holder(function, adding, fits[0])
    key = _key(function, value)
    instead: tuple[Edit, ...] = (delete_lines(module, module.statement(adding)),)
    if not key:
        key = holder.rpartition(".")[2]
        instead = _logged(function, adding, value, key)
    if not holder or not instead or not isinstance(module.parent(adding), ast.Expr):
        return ()
    fit = fits[0].module.code(fits[0].node)
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
    return (*instead, *added, *imports)


def _logged(function: FunctionInfo, adding: ast.Call, value: ast.expr, key: str) -> tuple[Edit, ...]:
    """Add the value to the dict that a `train_step` returns, in place of the line that collects it."""
    module, returns = function.module, function.module.returns.get(function.node, [])
    given = returns[0].value if len(returns) == 1 and function.name == "train_step" else None
    if not isinstance(given, ast.Dict) or not given.values or not key:
        return ()
    statement = module.statement(adding)
    if isinstance(value, ast.Name):
        name, kept = value.id, delete_lines(module, statement)
    elif key in module.index.scopes[function.node].bindings:
        return ()
    else:
        name, kept = key, Edit(module.location(statement), f"{key} = {module.segment(value)}")
    end = module.location(given.values[-1])
    place = replace(end, line=end.end_line, column=end.end_column)
    return kept, Edit(place, f', "{key}": {name}')


def _holder(function: FunctionInfo, adding: ast.Call, fit: CallSite) -> str:
    """Return the list as it is named where `fit` is called."""
    module, model = function.module, fit.module.segment(fit.receiver)
    if not isinstance(adding.func, ast.Attribute) or adding.func.attr != "append":
        return ""
    holder = adding.func.value
    if isinstance(holder, ast.Name):
        scope = module.index.lookup(holder.id, module.scope(holder))
        is_global = scope is not None and isinstance(scope.node, ast.Module)
        return holder.id if is_global and fit.module is module else ""
    of_model = (
        isinstance(holder, ast.Attribute)
        and is_self(module, holder.value)
        and function.owner is not None
        and function.owner.kind == "Model"
        and model.replace(".", "").isidentifier()
    )
    return f"{model}.{holder.attr}" if of_model and isinstance(holder, ast.Attribute) else ""


def _key(function: FunctionInfo, value: ast.expr) -> str:
    """Return the log key of the collected value, or "" if it is not the loss."""
    if not isinstance(value, ast.Name):
        return ""
    returns = [each.value for each in function.module.returns.get(function.node, [])]
    for given in returns:
        if isinstance(given, ast.Name) and given.id == value.id:
            return "loss"
        if not isinstance(given, ast.Dict):
            continue
        for key, entry in zip(given.keys, given.values, strict=True):
            if isinstance(entry, ast.Name) and entry.id == value.id and isinstance(key, ast.Constant):
                return str(key.value)
    reported = {
        key.value
        for given in returns
        if isinstance(given, ast.Dict)
        for key in given.keys
        if isinstance(key, ast.Constant)
    }
    learns = any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "gradient"
        and bool(node.args)
        and isinstance(node.args[0], ast.Name)
        and node.args[0].id == value.id
        for node in own_nodes(function)
    )
    return "loss" if learns and (not reported or "loss" in reported) else ""
