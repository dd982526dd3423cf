"""`add_loss` called where it has no effect, or the removed `add_metric`.

## What happens

- In `build` or `__init__`, Keras accepts the `add_loss` call and then drops the loss: it clears a layer's losses
  before each step. Training runs without the penalty.
- `model.add_loss(tensor)` on a functional model raises a `NotImplementedError` with an empty message.
- `add_loss(lambda: …)` raises `ValueError: add_loss() can only be called from inside build() or call(), on a tensor
  input`.
- `add_metric` raises an error: Keras 3 removed the method.

## Why

Keras 3 collects the losses that `call` adds while the step is traced. A tensor computed anywhere else is not part of
that step.

## Fix

Call `add_loss` inside `call`, where the tensor is computed. In a functional model, do it in a small layer that
returns its input unchanged. Replace `add_metric` with a `keras.metrics.Mean` that you store on the layer and update
in `call`.

## Known limits

A penalty that depends only on a weight can be a regularizer of that weight instead. Regularizers also work when the
weight is created in `build`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.graph.loss_layers import in_a_layer
from fitdoctor.catalogue.graph.traced import at_frame, module_of
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, insert_after, insert_before, spell
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.patterns import attribute_missing
from fitdoctor.patterns import pattern
from fitdoctor.source.callees import is_self
from fitdoctor.source.keras_objects import kind_of_value
from fitdoctor.source.line_edits import delete_lines, with_comment
from fitdoctor.source.module import CallSite, ClassInfo, FunctionInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT410",
    slug="add-loss-misplaced",
    severity=Severity.ERROR,
    raises=("NotImplementedError", "ValueError", "AttributeError"),
)

_LAMBDA = "`add_loss()` can only be called from inside"
_METRIC = pattern(r"`add_metric\(\)` method is deprecated")


@CAUSE.in_source
@mentions("add_loss", "add_metric")
def from_source(module: Module) -> Iterator[Finding]:
    """Report calls in places where Keras 3 drops or rejects them."""
    if module.keras != 3:
        return
    for site in module.method_calls("add_loss", "add_metric"):
        found = _judged(module, site)
        if found is not None:
            yield found


def _judged(module: Module, site: CallSite, evidence: tuple[Evidence, ...] = ()) -> Finding | None:
    owner = _layer_around(module, site)
    sure = Confidence.CERTAIN if evidence else Confidence.LIKELY
    if owner is not None and site.function is not None:
        if site.method == "add_metric":
            return _metric(module, site, owner, sure, evidence)
        if site.node.args and isinstance(site.node.args[0], ast.Lambda):
            return _callable(module, site, sure, evidence)
        if site.function.name in ("build", "__init__"):
            return _dropped(module, site, owner, site.function)
        return None
    receiver = site.node.func.value if isinstance(site.node.func, ast.Attribute) else None
    if (
        receiver is None
        or is_self(module, receiver)
        or kind_of_value(module, receiver) not in ("Model", "Layer")
    ):
        return None
    if site.method == "add_metric":
        return _metric(module, site, None, sure, evidence)
    if _is_functional(module, receiver) and not _is_constant(module, site):
        return _on_functional(module, site, sure, evidence)
    return None


def _layer_around(module: Module, site: CallSite) -> ClassInfo | None:
    """Return the custom layer or model whose method makes the call on `self`."""
    function = site.node.func
    if not isinstance(function, ast.Attribute) or not is_self(module, function.value):
        return None
    owner = module.class_of(site.node)
    if owner is None or owner.kind not in ("Layer", "Model"):
        return None
    return None if module.method(owner, site.method) is not None else owner


def _is_functional(module: Module, receiver: ast.expr) -> bool:
    """Return whether the model was created by `keras.Model(inputs, outputs)`."""
    made = module.origin(receiver)
    if not isinstance(made.node, ast.Call):
        return False
    return made.module.resolve(made.node.func) == "keras.Model" and bool(made.node.args or made.node.keywords)


def _is_constant(module: Module, site: CallSite) -> bool:
    """Return whether a plain number or eager constant is added, which Keras accepts (and drops)."""
    made = module.made_by(site.node.args[0]) if site.node.args else None
    return isinstance(made, ast.Constant) or (
        isinstance(made, ast.Call) and module.resolve(made.func) == "tensorflow.constant"
    )


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report the call that Keras rejected; for a functional model the message is empty."""
    frame = failure.last_user_frame
    if frame is None:
        return
    missing = attribute_missing(failure.message)
    silent = (
        failure.type == "NotImplementedError" and not failure.message.strip() and "add_loss" in frame.text
    )
    gone = (missing is not None and missing.name == "add_metric") or bool(_METRIC.search(failure.message))
    if not silent and not gone and _LAMBDA not in failure.message:
        return
    evidence = (
        Evidence(
            claim=f"Keras raised {failure.type}" + (" without a message" if silent else ""),
            observed=failure.message.split("\n")[0][:120],
            fact="failure.message",
            location=frame.location,
        ),
    )
    module = module_of(project, frame)
    for site in module.method_calls("add_loss", "add_metric") if module is not None else ():
        assert module is not None
        if at_frame(module, site.node, frame):
            found = _judged(module, site, evidence)
            if found is not None:
                yield found
                return
    told = (
        "Keras 3 removed `add_metric`" if gone else "`add_loss` did not receive a tensor computed in `call`"
    )
    yield CAUSE.finding(
        "a functional model does not accept symbolic tensors in `add_loss`" if silent else told,
        subject="add_metric" if gone else "add_loss",
        location=frame.location,
        evidence=evidence,
        fixes=[_advice(gone)],
        confidence=Confidence.CERTAIN,
    )


def _advice(gone: bool) -> Fix:
    if gone:
        return fix("store a `keras.metrics.Mean` on the layer and call its `update_state` in `call`")
    return fix("call `add_loss` inside a layer's `call`, where the tensor is computed")


def _on_functional(
    module: Module, site: CallSite, sure: Confidence, evidence: tuple[Evidence, ...]
) -> Finding:
    return CAUSE.finding(
        f"`{module.segment(site.node.func)}` receives a symbolic tensor of a functional model, which Keras 3 rejects",
        subject="add_loss",
        location=module.location(site.node),
        evidence=[Evidence(claim="this is a functional model, built from inputs and outputs"), *evidence],
        fixes=[
            fix(
                "compute the loss in a layer's `call` and pass it to `self.add_loss` there",
                in_a_layer(module, site),
            ),
            fix("subclass `keras.Model` and add the term in `compute_loss`"),
        ],
        confidence=sure,
    )


def _callable(module: Module, site: CallSite, sure: Confidence, evidence: tuple[Evidence, ...]) -> Finding:
    value = site.node.args[0]
    assert isinstance(value, ast.Lambda)
    edits: tuple[Edit, ...] = ()
    if not value.args.args and site.function is not None and site.function.name == "call":
        edits = (Edit(module.location(value), module.segment(value.body)),)
    return CAUSE.finding(
        "`add_loss` receives a function, but Keras 3 accepts only tensors",
        subject="add_loss",
        location=module.location(site.node),
        evidence=evidence,
        fixes=[fix("pass the tensor itself to `add_loss`, inside `call`", edits)],
        confidence=sure,
    )


def _dropped(module: Module, site: CallSite, owner: ClassInfo, function: FunctionInfo) -> Finding:
    return CAUSE.finding(
        f"`add_loss` in `{owner.name}.{function.name}` has no effect: Keras drops it before the first step",
        subject=f"add_loss in {owner.name}",
        location=module.location(site.node),
        evidence=[
            Evidence(
                claim="Keras clears a layer's losses before each step, then collects those that `call` adds"
            )
        ],
        fixes=[_moved_to_call(module, site, owner)],
        severity=Severity.WARNING,
    )


def _moved_to_call(module: Module, site: CallSite, owner: ClassInfo) -> Fix:
    """Move the statement to the start of `call` if it needs only `self`."""
    title = "move the `add_loss` call into `call`"
    call = owner.methods.get("call")
    statement = module.statement(site.node)
    names = {
        node.id for node in ast.walk(site.node) if isinstance(node, ast.Name) and not module.resolve(node)
    } - {"self"}
    if call is None or isinstance(call.node, ast.Lambda) or names or not isinstance(statement, ast.Expr):
        return fix(title)
    if statement.lineno != statement.end_lineno:
        return fix(title)
    first = call.node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(call.node.body) > 1:
        first = call.node.body[1]
    moved = insert_before(module.code(first), with_comment(module, statement))
    return fix(title, moved, (delete_lines(module, statement),))


def _metric(
    module: Module, site: CallSite, owner: ClassInfo | None, sure: Confidence, evidence: tuple[Evidence, ...]
) -> Finding:
    return CAUSE.finding(
        "Keras 3 removed `add_metric`",
        subject="add_metric",
        location=module.location(site.node),
        evidence=evidence,
        fixes=[_tracked(module, site, owner)],
        confidence=sure,
    )


def _tracked(module: Module, site: CallSite, owner: ClassInfo | None) -> Fix:
    """Create a `keras.metrics.Mean` in `__init__` and update it in `call`."""
    title = "store a `keras.metrics.Mean` on the layer and update it in `call`"
    name = next((item.value for item in site.node.keywords if item.arg == "name"), None)
    init = owner.methods.get("__init__") if owner is not None else None
    if init is None or isinstance(init.node, ast.Lambda) or not site.node.args:
        return fix(title)
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str) or not name.value.isidentifier():
        return fix(title)
    after = next(
        (
            statement
            for statement in init.node.body
            if isinstance(statement, ast.Expr) and "super(" in module.segment(statement)
        ),
        None,
    )
    if after is None:
        return fix(title)
    keras, imports = spell(module.code(site.node), "keras", "keras")
    made = f'self.{name.value}_tracker = {keras}.metrics.Mean(name="{name.value}")'
    updated = f"self.{name.value}_tracker.update_state({module.segment(site.node.args[0])})"
    return fix(
        title,
        insert_after(module.code(after), made),
        (Edit(module.location(site.node), updated),),
        imports,
    )
