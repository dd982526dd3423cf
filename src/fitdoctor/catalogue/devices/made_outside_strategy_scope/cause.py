"""Model, optimizer or compile outside the scope of the strategy.

## What happens

`RuntimeError: Need to be inside "with strategy.scope()"` when the model was made before the scope and compiled in it;
`RuntimeError: Mixing different tf.distribute.Strategy objects` when `compile`, or an optimizer with state such as Adam,
stands outside. Both come when fit makes its first step. In a loop of your own with `strategy.run` on two replicas or
more, `InvalidArgumentError: You must feed a value for placeholder tensor 'cond/…/Placeholder' with dtype int32`: the
optimizer stands in the scope, but its variables, or those of a model without an `Input`, are made in the first step.

## Why

Variables are made for the strategy in whose scope they are made. The model's weights and the optimizer's state must
belong to the same one. Keras 3 makes the state of an optimizer when it is first used; inside of a `tf.function` that
runs on several replicas TensorFlow would have to make it once and on the first call only, and its way to do so fails.
Keras 2, `fit`, a single replica and SGD without momentum have no such trouble.

## Fix

Make the model, the optimizer and call `compile` inside one `with strategy.scope():`. Data, metrics and `fit` itself may
stand outside. In a loop of your own, call `optimizer.build(model.trainable_variables)` in the scope, and give the model
an `Input`.

## Known limits

A builder function counts as inside when every call of it in the file stands in a scope. That variables are made too
late is told from the failure: on one replica the same program trains, as it does on TensorFlow 2.16 with Keras 3.3.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.strategies import in_scope, scopes
from fitdoctor.catalogue.strategy_loops import built_in_scope, is_built, loops, moved_and_built
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.keras_objects import is_keras_model, kind_of_call
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT604",
    slug="made-outside-strategy-scope",
    severity=Severity.ERROR,
    raises=("RuntimeError", "InvalidArgumentError"),
)

WORDS = (
    'Need to be inside "with strategy.scope()"',
    "Mixing different tf.distribute.Strategy objects",
    "was not created in the distribution strategy scope of",
)
_MADE_LATE = pattern(
    r"feed a value for placeholder tensor '(?:[^'\n]*/)?cond/(?:[^'\n]*/)?Placeholder(?:_\d+)?'"
)
"""What is left of a variable's initial value when a tf.function makes it under a condition, on its first call."""


@CAUSE.in_source
@mentions("scope")
def from_source(module: Module) -> Iterator[Finding]:
    """One of model, optimizer and compile stands outside the only strategy's scope, another one inside."""
    for node, what in _outside(module):
        yield _finding(module, node, what, Confidence.LIKELY, [])
        return


def _outside(module: Module) -> Iterator[tuple[ast.AST, str]]:
    """What is made outside, for a model that is made or compiled inside."""
    if not scopes(module):
        return
    for site in module.method_calls("compile"):
        assert isinstance(site.node.func, ast.Attribute)
        receiver, given = site.node.func.value, site.argument("optimizer", 0)
        if not is_keras_model(module, receiver):
            continue
        maker = _maker(module, receiver)
        compiled_inside = in_scope(module, site.node)
        made_inside = isinstance(maker, ast.Call) and in_scope(module, maker)
        if compiled_inside and isinstance(maker, ast.Call) and not made_inside:
            yield maker, "the model is made"
        elif made_inside and not compiled_inside and module.keras == 3 and not _is_plain_sgd(module, given):
            yield site.node, "`compile` is called"
        origin = module.origin(given) if given is not None else None
        optimizer = origin.node if origin is not None else None
        if (
            compiled_inside
            and origin is not None
            and origin.module is module
            and isinstance(optimizer, ast.Call)
            and kind_of_call(module, optimizer) == "Optimizer"
        ):
            if not in_scope(module, optimizer) and not _is_plain_sgd(module, given):
                yield optimizer, "the optimizer is made"
    for loop in loops(module) if module.keras == 3 else ():
        inside = isinstance(loop.model_made, ast.Call) and in_scope(module, loop.model_made)
        if inside and not in_scope(module, loop.made) and not _is_plain_sgd(module, loop.made):
            if not is_built(module, loop.optimizer):
                yield loop.made, "the optimizer is made"


def _is_plain_sgd(module: Module, given: ast.expr | None) -> bool:
    """Whether it is SGD without momentum: it has no variables that could be made in the wrong place."""
    made = module.made_by(given) if given is not None else None
    if isinstance(made, ast.Constant):
        return str(made.value).lower() == "sgd"
    return (
        isinstance(made, ast.Call)
        and module.resolve(made.func) == "keras.optimizers.SGD"
        and not any(keyword.arg in (None, "momentum", "use_ema") for keyword in made.keywords)
        and len(made.args) < 2
    )


def _maker(module: Module, receiver: ast.expr) -> ast.expr:
    """The call that gave the model in the flow of the program; a builder function is not followed."""
    if isinstance(receiver, ast.Name):
        before = [
            assignment.value
            for assignment in module.assignments(receiver.id, receiver)
            if assignment.value is not None and assignment.value.lineno < receiver.lineno
        ]
        if before and isinstance(before[-1], ast.Call):
            return before[-1]
    return module.made_by(receiver)


def _finding(
    module: Module, node: ast.AST, what: str, confidence: Confidence, evidence: list[Evidence]
) -> Finding:
    block, strategy = scopes(module)[0]
    return CAUSE.finding(
        f"{what} outside `{strategy}.scope()`",
        subject="scope of the strategy",
        location=module.location(node),
        evidence=[
            Evidence(claim="the scope", location=module.location(block.items[0].context_expr)),
            *evidence,
        ],
        fixes=[fix("move it into the scope", moved_and_built(module, node, strategy))],
        confidence=confidence,
    )


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """TensorFlow names the two strategies; the source says what stands outside."""
    if not any(words in failure.message for words in WORDS):
        return
    evidence = [Evidence(claim="TensorFlow met variables of two strategies", fact="failure.message")]
    for module in project.modules if isinstance(project, Project) else ():
        for node, what in _outside(module):
            yield _finding(module, node, what, Confidence.CERTAIN, evidence)
            return
    frame = failure.last_user_frame
    yield CAUSE.finding(
        "model, optimizer and compile do not all stand in the scope of one strategy",
        subject="scope of the strategy",
        location=frame.location if frame else None,
        evidence=evidence,
        fixes=[fix("make the model, the optimizer and call `compile` inside `with strategy.scope():`")],
        confidence=Confidence.CERTAIN,
    )


@CAUSE.after_failure
def from_late_variables(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """A traced step on several replicas made variables: the value that they begin with never arrived."""
    if failure.type != "InvalidArgumentError" or _MADE_LATE.search(failure.message) is None:
        return
    evidence = [Evidence(claim="TensorFlow lost the initial value of a variable", fact="failure.message")]
    for module in project.modules if isinstance(project, Project) else ():
        for loop in loops(module):
            name = module.segment(loop.optimizer)
            late = not is_built(module, loop.optimizer) and not _is_plain_sgd(module, loop.made)
            whose, node = (f"`{name}`", loop.made) if late else ("the model", loop.model_made or loop.made)
            yield CAUSE.finding(
                f"the variables of {whose} are made in the first step, in several replicas at once",
                subject="scope of the strategy",
                location=module.location(node),
                evidence=evidence,
                fixes=[
                    _built(name, built_in_scope(module, loop)) if late else fix("give the model an `Input`")
                ],
                confidence=Confidence.CERTAIN,
            )
            return
    frame = failure.last_user_frame
    yield CAUSE.finding(
        "variables are made in the first call of a traced step, in several replicas at once",
        subject="scope of the strategy",
        location=frame.location if frame else None,
        evidence=evidence,
        fixes=[_built("optimizer", ())],
    )


def _built(optimizer: str, edits: tuple[Edit, ...]) -> Fix:
    return fix(
        f"make them in the scope: `{optimizer}.build(…)`, with the variables of a model that has an `Input`",
        edits,
    )
