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

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.graph.handed_out import handed_out
from fitdoctor.catalogue.graph.held_tensors import held_evidence, held_message, still_held
from fitdoctor.catalogue.graph.kept_reads import Read, fatal_reads
from fitdoctor.catalogue.graph.kept_tensors import (
    GROWING,
    Kept,
    is_traced_by_itself,
    kept_tensors,
    key_guard_of,
)
from fitdoctor.catalogue.graph.leaks import (
    kept_message,
    leak_evidence,
    leak_of,
    location_of,
    read_evidence,
    subject_of,
)
from fitdoctor.catalogue.graph.own_graphs import unwrapped
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import FailureFacts, ModelFacts, TrainingFacts, Unknown
from fitdoctor.records import replace
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import own_nodes, traced_evidence

CAUSE = Cause(
    id="FIT402",
    slug="tensor-kept-in-container",
    severity=Severity.ERROR,
    raises=("TypeError", "InaccessibleTensorError", "AttributeError", "NotImplementedError"),
)


@CAUSE.in_source
@mentions("def", "lambda")
def from_source(project: Project, module: Module) -> Iterator[Finding]:
    """Report traced code that stores a tensor in an object that outlives the trace and is read outside it."""
    for kept in kept_tensors(module):
        if kept.holder != "attribute":
            reads = fatal_reads(kept, project.modules)
            if reads:
                yield _finding(kept, reads)


@CAUSE.in_source
@mentions("def", "lambda")
def changes_its_argument(module: Module) -> Iterator[Finding]:
    """Report a `tf.function` that appends to a list argument, which TensorFlow rejects."""
    for function in module.functions:
        node = function.node
        if isinstance(node, ast.Lambda) or not is_traced_by_itself(function):
            continue
        given = {argument.arg for argument in node.args.args} - {"self"}
        if node.args.defaults or node.args.kw_defaults:
            continue
        for call in own_nodes(function):
            base = (
                call.func.value
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
                else None
            )
            if (
                isinstance(base, ast.Name)
                and base.id in given
                and isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr in GROWING
                and len(module.index.scopes[node].bindings.get(base.id, [])) == 1
            ):
                yield CAUSE.finding(
                    f"`{function.name}` stores symbolic tensors in its argument `{base.id}`",
                    module.location(module.statement(call)),
                    *([traced_evidence(function)] if function.traced is not None else []),
                    _returned(function, call, base.id),
                    subject=f"argument {base.id}",
                )


def _returned(function: FunctionInfo | None, written: ast.AST | None, name: str) -> Fix:
    """Write `out.append(x)` or `out["x"] = x` in the caller, which owns the list or dict."""
    title = "return the tensor and let the caller collect it"
    if function is None or written is None:
        return fix(title)
    statement = function.module.statement(written)
    value = statement.value if isinstance(statement, ast.Assign) else None
    if isinstance(written, ast.Call) and len(written.args) == 1 and not written.keywords:
        value = written.args[0]
    edits = () if value is None else handed_out(function.module, function, statement, value, name)
    return fix(title, edits)


@CAUSE.before_fit
def before_fit(project: Project, model: ModelFacts) -> Iterator[Finding]:
    """Report the same for the class, layers and losses of the model that is about to be trained."""
    if model.run_eagerly:
        return
    living = {model.class_name, *(layer.class_name for layer in model.every_layer())}
    losses = {loss.name for loss in model.losses}
    for module in project.modules:
        for kept in kept_tensors(module):
            owner = module.class_of(kept.function.node)
            known = owner.name in living if owner is not None else kept.function.name in losses
            if kept.holder == "attribute" or not known:
                continue
            reads = fatal_reads(kept, project.modules)
            if reads:
                yield _finding(kept, reads)


def _finding(kept: Kept, reads: list[Read]) -> Finding:
    return CAUSE.finding(
        kept_message(kept),
        kept.module.location(kept.node),
        *read_evidence(kept, reads),
        *_fixes(kept),
        subject=subject_of(kept),
    )


@CAUSE.while_training
def after_tracing(training: TrainingFacts, project: Project) -> Iterator[Finding]:
    """Report tensors that the running program still references in a container or closure after tracing."""
    for still in still_held(training, project):
        if still.on_attribute:
            continue
        if still.kept is not None and still.reads:
            found = _finding(still.kept, still.reads)
            yield replace(found, evidence=(*found.evidence, held_evidence(still)))
            continue
        yield CAUSE.finding(
            held_message(still),
            still.location,
            held_evidence(still),
            fix("collect the results of the traced call instead, or delete the line"),
            subject=subject_of(still.kept)
            if still.kept is not None
            else f"tensor stored in {still.held.path}",
            confidence=Confidence.CERTAIN,
            severity=still.severity,
        )


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report a tensor used outside its trace that a container stores."""
    leak = leak_of(failure, project)
    if leak is None or leak.on_attribute:
        return
    holder = f" in `{leak.held.path.partition('[')[0]}`" if leak.held is not None else ""
    yield CAUSE.finding(
        kept_message(leak.kept)
        if leak.kept is not None
        else f"a symbolic tensor was stored{holder} and used outside its trace",
        location_of(leak),
        *leak_evidence(leak),
        *(
            _fixes(leak.kept)
            if leak.kept is not None
            else [fix("return the tensor from the traced function")]
        ),
        subject=subject_of(leak.kept) if leak.kept is not None else "stored tensor",
        confidence=Confidence.CERTAIN
        if leak.kept is not None or leak.held is not None
        else Confidence.LIKELY,
    )


_MODIFIED = re.compile(
    r"^(?P<function>\w+)\([^\n]*\) should not modify its Python input arguments.*modified: (?P<names>[\w, ]+)",
    re.DOTALL,
)


@CAUSE.after_failure
def from_modified_argument(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report a `tf.function` that modifies a list or dict argument."""
    said = _MODIFIED.match(failure.message)
    if said is None:
        return
    names = [name.strip() for name in said["names"].split(",")]
    function, written = _place_of_change(said["function"], names, project)
    place = function.module.location(function.module.statement(written)) if function and written else None
    called = failure.last_user_frame
    yield CAUSE.finding(
        f"`{said['function']}` stores symbolic tensors in its argument `{names[0]}`",
        place or (called.location if called is not None else None),
        *([Evidence("called here", location=called.location)] if called is not None else []),
        _returned(function, written, names[0]),
        subject=f"argument {names[0]}",
        confidence=Confidence.CERTAIN,
    )


def _place_of_change(
    name: str, arguments: list[str], project: Project | Unknown
) -> tuple[FunctionInfo, ast.AST] | tuple[None, None]:
    """Return the function, and the node in it that writes to the argument."""
    if isinstance(project, Unknown):
        return None, None
    for module in project.modules:
        for function in module.functions:
            if function.name != name:
                continue
            for node in own_nodes(function):
                base = _written_base(node)
                if isinstance(base, ast.Name) and base.id in arguments:
                    return function, node
    return None, None


def _written_base(node: ast.AST) -> ast.expr | None:
    """Return the object that a call or assignment writes into: `out` in `out.append(x)` and `out["x"] = x`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        changing = (*GROWING, "add", "update", "setdefault", "pop", "clear", "remove")
        return node.func.value if node.func.attr in changing else None
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return node.value
    return None


def _fixes(kept: Kept) -> list[Fix]:
    if kept.holder == "cache":
        return [_without_cache(kept)]
    guard = key_guard_of(kept)
    if guard is not None:
        return [fix(f"recompute `{kept.place}` in every trace", unwrapped(kept.module, guard))]
    title = "return it from the traced function and collect the results of the calls"
    remedies = [fix(title, handed_out(kept.module, kept.function, kept.node, kept.value))]
    how = kept.function.traced.how if kept.function.traced is not None else ""
    if how in ("train_step", "compute_loss", "loss"):
        from fitdoctor.catalogue.graph.reported_losses import collected_by_callback

        title = "collect what Keras logs for each batch in the `on_train_batch_end` method of a callback"
        remedies.append(unsafe(title, collected_by_callback(kept.function, kept.node, kept.value)))
    elif how != "tf.function":
        remedies.append(fix("return it as an additional model output, or compute it after training"))
    return remedies


def _without_cache(kept: Kept) -> Fix:
    """Delete the decorator line."""
    line = kept.module.location(kept.node).lines
    return fix(
        f"do not cache `{kept.function.name}`, so that every trace creates its own tensor", (Edit(line, ""),)
    )
