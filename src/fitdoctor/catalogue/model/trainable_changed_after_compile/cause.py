"""`trainable` changed after the training step was traced.

## What happens

No error, and no effect. A layer frozen between two `fit` calls, or in a callback, keeps learning; one unfrozen for
fine-tuning stays frozen. `summary` nevertheless shows the new state.

## Why

Keras reads `trainable` when it traces the training step, at the first batch after `compile`. Later `fit` calls reuse the
traced step. (A change after `compile` but before the first `fit` does take effect.)

## Fix

Call `compile` again after the change.

## Known limits

In a callback, the change is reported only if it comes after the first batch. Eager training reads `trainable` in every
step and is not reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.models.layer_numbers import traced_anew
from fitdoctor.catalogue.words import listing, place
from fitdoctor.diagnosis import Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, insert_before, unsafe
from fitdoctor.facts import Code, FitFacts, ModelFacts, Unknown
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT323", slug="trainable-changed-after-compile", severity=Severity.WARNING)

_AFTER_THE_FIRST_BATCH = (
    "on_epoch_end",
    "on_batch_end",
    "on_train_batch_end",
    "on_train_batch_begin",
    "on_batch_begin",
    "on_epoch_begin",
)
_COMPILES = ("compile", "make_train_function", "train_function")


@CAUSE.in_source
@CAUSE.before_fit
@mentions("trainable")
def from_model(model: ModelFacts, fit: FitFacts, project: Project) -> Iterator[Finding]:
    """Report a traced step that trains other layers than `trainable` now says."""
    if fit.method not in ("fit", "train_on_batch") or not model.trainable_changed or model.run_eagerly:
        return
    if "make_train_function" in model.overrides or "train_step" in model.overrides:
        return
    change = place(model.trainable_code) or _last_change(fit.code, project)
    names = list(dict.fromkeys(model.trainable_changed))
    layers = f"of {listing(names, 3)}" if names else ""
    yield CAUSE.certain(
        f"`trainable` {layers} changed after the training step was traced, so it has no effect on this `fit`",
        change or place(fit.code),
        Evidence(
            "`fit` reuses the step traced in the first `fit`",
            f"{len(names)} layer{'s' * (len(names) != 1)} changed since",
            fact="model.trainable_changed",
            location=place(model.compile_code, fit.code),
        ),
        _compile_again(model, fit),
        subject="trainable",
    )


def _last_change(call: Code | Unknown, project: Project) -> Location | None:
    """Return the first assignment of `trainable` since the previous `fit`, in the calling function."""
    if isinstance(call, Unknown) or not project:
        return None
    module = project.module_at(call.location.path)
    if module is None:
        return None
    cell, line = call.location.cell, call.location.line
    at = (cell or 0, line)
    scope = next(
        (
            site.function
            for site in module.method_calls("fit", "train_on_batch")
            if module.location(site.node).line == line and module.location(site.node).cell == cell
        ),
        None,
    )
    changes = [
        (position, statement)
        for statement in changes_of_trainable(module)
        if module.function_of(statement) is scope and (position := _position(module, statement)) < at
    ]
    earlier = [
        _position(module, site.node)
        for site in module.method_calls("fit", "train_on_batch")
        if site.function is scope and _position(module, site.node) < at
    ]
    since = max(earlier, default=(0, 0))
    recent = [statement for position, statement in changes if position > since]
    chosen = recent[:1] or [statement for _position_, statement in changes[-1:]]
    if not chosen:
        everywhere = list(changes_of_trainable(module))
        chosen = everywhere if len(everywhere) == 1 else []
    return module.location(chosen[0]) if chosen else None


def _position(module: Module, node: ast.AST) -> tuple[int, int]:
    location = module.location(node)
    return (location.cell or 0, location.line)


def changes_of_trainable(module: Module) -> Iterator[ast.stmt]:
    """Yield the statements `something.trainable = …`, in source order."""
    for statement in sorted(module.nodes(ast.Assign), key=lambda node: node.lineno):
        if any(
            isinstance(target, ast.Attribute) and target.attr == "trainable" for target in statement.targets
        ):
            yield statement


def _compile_again(model: ModelFacts, fit: FitFacts) -> Fix:
    title = "compile again after the change"
    compiled, call = model.compile_code, fit.code
    if isinstance(compiled, Unknown) or isinstance(call, Unknown):
        return fix(title)
    elsewhere = compiled.location.path != call.location.path or compiled.function != call.function
    if elsewhere or "\n" in compiled.text or not compiled.text.isprintable():
        return fix(title)
    return unsafe(title, insert_before(call, compiled.text))


# --- callbacks -----------------------------------------------------------------------------------------------------


@CAUSE.in_source
@mentions("trainable")
def in_callback(module: Module) -> Iterator[Finding]:
    """Report a callback that changes `trainable` while the traced step is in use."""
    if module.runs_eagerly:
        return
    for owner in module.classes:
        if owner.kind != "Callback" or _compiles(owner):
            continue
        for name in _AFTER_THE_FIRST_BATCH:
            method = owner.methods.get(name)
            for statement in _changes_in(module, method) if method is not None else ():
                if not _is_before_the_first_batch(module, statement, method):
                    yield _callback_finding(module, owner, name, statement)
                    break


def _changes_in(module: Module, method: FunctionInfo) -> Iterator[ast.stmt]:
    for statement in changes_of_trainable(module):
        if module.function_of(statement) is method:
            yield statement


def _compiles(owner: ClassInfo) -> bool:
    """Whether the class compiles again, or creates a new step."""
    return any(isinstance(node, ast.Attribute) and node.attr in _COMPILES for node in ast.walk(owner.node))


def _is_before_the_first_batch(module: Module, statement: ast.stmt, method: FunctionInfo | None) -> bool:
    """Whether the change runs at the start of epoch 0, before anything is traced."""
    if method is None or not method.name.endswith("begin"):
        return False
    around = module.parent(statement)
    while around is not None and around is not method.node:
        if isinstance(around, ast.If):
            zero = any(isinstance(node, ast.Constant) and node.value == 0 for node in ast.walk(around.test))
            return zero and any(isinstance(node, ast.Eq) for node in ast.walk(around.test))
        around = module.parent(around)
    return True


def _callback_finding(module: Module, owner: ClassInfo, name: str, statement: ast.stmt) -> Finding:
    return CAUSE.finding(
        f"`{owner.name}.{name}` changes `trainable` after the training step was traced, so it has no effect",
        module.location(statement),
        Evidence(
            "Keras reads `trainable` when it traces the step, at the first batch",
            location=module.location(statement),
        ),
        *_traced_anew(module, statement),
        fix("train in two `fit` calls, and compile again between them after the change"),
        subject=f"trainable in {owner.name}",
    )


def _traced_anew(module: Module, statement: ast.stmt) -> Iterator[Fix]:
    """Retrace the step after freezing; for unfrozen layers the optimizer would have no state."""
    function = module.function_of(statement)
    value = statement.value if isinstance(statement, ast.Assign) else None
    if function is not None and isinstance(value, ast.Constant) and value.value is False:
        yield from traced_anew(function, statement)
