"""Symbolic tensor stored in a list, dict, global or cache.

## What happens

`history.append(loss)`, `cache[key] = x` or `global last; last = x` inside traced code stores symbolic tensors.
Reading them later raises the errors that FIT401 lists: `is out of scope` as `InaccessibleTensorError` or `TypeError`,
`Cannot convert a symbolic tf.Tensor … to a numpy array`, or a `TypeError` from `float()`. The list has one element
per trace, not one per batch. A function decorated with `functools.lru_cache` has the same problem. A `tf.function`
must not modify a list or dict argument at all: `ValueError: … should not modify its Python input arguments`.

## Why

Traced code runs as Python only once. What it puts into a container is a node of the traced graph, not a value. A list
that a layer's `call` appends to also still contains the tensors of earlier traces when the next trace reads it.

## Fix

Return the value from the traced function and collect the results of the calls. In a callback, collect `logs["loss"]`.
Within one function, use a `tf.TensorArray`. Do not cache functions that create tensors.

## Known limits

A list that is created, filled and read within one traced function works and is not reported. Containers that the
function receives as arguments are not followed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.kept_tensors import ADDING, GROWING, Kept, guard_of, is_traced_by_itself
from fitdoctor.catalogue.graph.leaks import declare_leaks
from fitdoctor.catalogue.graph.own_graphs import unwrapped
from fitdoctor.catalogue.graph.reported_losses import collected_by_callback
from fitdoctor.catalogue.graph.return_instead_of_store import return_instead_of_store
from fitdoctor.diagnosis import Edit, Finding, Fix, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import FailureFacts
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.traced.symbolic import own_nodes, traced_evidence

CAUSE = Cause(
    id="FIT402",
    slug="tensor-kept-in-container",
    severity=Severity.ERROR,
    raises=("TypeError", "InaccessibleTensorError", "AttributeError", "NotImplementedError"),
)


_MODIFIED = (
    r"^(?P<function>\w+)\([^\n]*\) should not modify its Python input arguments[\s\S]*modified: (?P<name>\w+)"
)


@CAUSE.rule(
    "tf.function",
    "tensorflow",
    says=_MODIFIED,
    problem="`{function}` stores symbolic tensors in its argument `{name}`",
    remedy="return the tensor and let the caller collect it",
    subject="argument {name}",
    anywhere=True,
)
def changes_its_argument(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Report a `tf.function` that writes to a list or dict argument, which TensorFlow rejects."""
    said = re.search(_MODIFIED, failure.message) if failure is not None else None
    for function in module.functions:
        if said is not None and function.name != said["function"] or not is_traced_by_itself(function):
            continue
        given = {each.arg for each in function.node.args.args} - {"self"}
        if said is None and (function.node.args.defaults or function.node.args.kw_defaults):
            continue
        for node in own_nodes(function):
            name = _written(node, said is not None)
            if name in given and len(module.index.scopes[function.node].bindings.get(name, [])) == 1:
                yield CAUSE.finding(
                    f"`{function.name}` stores symbolic tensors in its argument `{name}`",
                    module.location(module.statement(node)),
                    *([traced_evidence(function)] if function.traced is not None else []),
                    _returned(function, node, name),
                    subject=f"argument {name}",
                )


def _written(node: ast.AST, surely: bool) -> str:
    """Return the name that a call or assignment writes into: `out` in `out.append(x)` and `out["x"] = x`."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
            changing = ADDING | {"pop", "clear", "remove"} if surely else GROWING
            return name if method in changing else ""
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()) if surely:
            return name
    return ""


def _returned(function: FunctionInfo, written: ast.AST, name: str) -> Fix:
    """Write `out.append(x)` or `out["x"] = x` in the caller, which owns the list or dict."""
    match written if isinstance(written, ast.Call) else function.module.statement(written):
        case ast.Call(args=[value], keywords=[]) | ast.Assign(value=value):
            edits = return_instead_of_store(function, written, value, name)
        case _:
            edits = ()
    return fix("return the tensor and let the caller collect it", edits)


def _fixes(kept: Kept) -> list[Fix]:
    module, guard, how = kept.module, guard_of(kept), kept.function.how
    if kept.holder == "cache":
        line = Edit(module.location(kept.node).lines, "")
        return [
            fix(f"do not cache `{kept.function.name}`, so that every trace creates its own tensor", (line,))
        ]
    if guard is not None:
        return [fix(f"recompute `{kept.place}` in every trace", unwrapped(module, guard))]
    title = "return it from the traced function and collect the results of the calls"
    remedies = [fix(title, return_instead_of_store(kept.function, kept.node, kept.value))]
    if how in ("train_step", "compute_loss", "loss"):
        title = "collect what Keras logs for each batch in the `on_train_batch_end` method of a callback"
        remedies.append(unsafe(title, collected_by_callback(kept.function, kept.node, kept.value)))
    elif how != "tf.function":
        remedies.append(fix("return it as an additional model output, or compute it after training"))
    return remedies


declare_leaks(CAUSE, False, _fixes)
