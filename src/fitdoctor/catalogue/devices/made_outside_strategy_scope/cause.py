"""Model, optimizer or `compile` outside the strategy scope.

## What happens

All of these errors come with the first step of `fit`:

- `RuntimeError: Need to be inside "with strategy.scope()"` if the model is created before the scope and compiled in it
  (with plain SGD, a bare `AssertionError`).
- `RuntimeError: Mixing different tf.distribute.Strategy objects` if `compile`, or an optimizer with state such as Adam,
  is outside.
- `ValueError: colocate_vars_with must only be passed a variable created in this tf.distribute.Strategy.scope()` if a part
  of the model, such as a pretrained backbone, is built outside.

In a custom training loop with `strategy.run` on two or more replicas, the error is `InvalidArgumentError: You must feed a
value for placeholder tensor 'cond/…/Placeholder' with dtype int32`. The optimizer is in the scope, but its variables, or
those of a model without an `Input`, are created in the first step.

## Why

A variable belongs to the strategy in whose scope it is created. The model's weights and the optimizer's state must
belong to the same strategy. Keras 3 creates the optimizer's state on first use. Inside a `tf.function` that runs on
several replicas, TensorFlow would have to create that state once, on the first call only, and fails to do so. Keras 2,
`fit`, a single replica and SGD without momentum are not affected.

## Fix

Create the model with all its parts and the optimizer, and call `compile`, inside one `with strategy.scope():`. The data
and the call to `fit` may be outside. In Keras 3, so may metrics, `compile` with an optimizer created inside, and parts
whose weights are not trained. If only `compile` is inside, the model trains without the strategy; that is a warning. In a
custom training loop, call `optimizer.build(model.trainable_variables)` in the scope and give the model an `Input`.

## Known limits

Before `fit`, the check reads the variables themselves, for `MirroredStrategy` and `MultiWorkerMirroredStrategy`. `lint`
counts a builder function as inside if every call to it in the file is inside a scope. Variables created too late are
reported only after the failure: the same program trains on one replica, and on TensorFlow 2.16 with Keras 3.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.devices.scope_parts import Part, is_plain_sgd, made_outside
from fitdoctor.catalogue.devices.strategies import moved_into_scope, scopes
from fitdoctor.catalogue.devices.strategy_loops import built_in_scope, is_built, loops, moved_and_built
from fitdoctor.catalogue.words import listing
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import Code, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT604",
    slug="made-outside-strategy-scope",
    severity=Severity.ERROR,
    raises=("RuntimeError", "InvalidArgumentError", "ValueError", "AssertionError"),
)

WORDS = (
    'Need to be inside "with strategy.scope()"',
    "Mixing different tf.distribute.Strategy objects",
    "was not created in the distribution strategy scope of",
    "was created inside a different distribution strategy scope than the model",
    "must only be passed a variable created in this tf.distribute.Strategy.scope()",
)
_UPDATED = "extended.update("
"""The line that raises a bare `AssertionError` when a stateless optimizer updates a variable of another strategy."""
_MADE_LATE = re.compile(
    r"feed a value for placeholder tensor '(?:[^'\n]*/)?cond/(?:[^'\n]*/)?Placeholder(?:_\d+)?'"
)
"""The placeholder for the initial value of a variable that a `tf.function` creates conditionally, on its first call."""


@CAUSE.in_source
@mentions("scope")
def from_source(module: Module) -> Iterator[Finding]:
    """Report a model, optimizer or `compile` call outside the scope while another one is inside."""
    for part in made_outside(module):
        yield _finding(module, part)
        return


def _finding(module: Module, part: Part, *evidence: Evidence) -> Finding:
    block, strategy = scopes(module)[0]
    unused = "" if part.raises else ", so training does not use the strategy"
    return CAUSE.finding(
        f"{part.what} outside `{strategy}.scope()`{unused}",
        module.location(part.node),
        Evidence("the scope is opened here", location=module.location(block.items[0].context_expr)),
        *evidence,
        fix(
            "move this line into the scope",
            moved_and_built(module, part.node, strategy),
            moved_into_scope(module, part.also, strategy) if part.also is not None else (),
        ),
        subject="scope of the strategy",
        severity=Severity.ERROR if part.raises else Severity.WARNING,
    )


@CAUSE.before_fit
def from_variables(fit: FitFacts, model: ModelFacts, project: Project) -> Iterator[Finding]:
    """Report weights or optimizer variables that belong to another strategy than the model."""
    wrong = _wrong_part(model) if fit.method in ("fit", "train_on_batch") else ""
    if wrong:
        seen = Evidence(
            wrong,
            "created under another strategy, or none",
            model.scope.strategy or "no strategy, like the model",
            fact="model.scope",
        )
        # A custom `train_step` may not use the optimizer or some of the layers.
        sure = Confidence.LIKELY if "train_step" in model.overrides else Confidence.CERTAIN
        yield replace(_placed(project, model, seen, None), confidence=sure)


def _wrong_part(model: ModelFacts) -> str:
    """Describe the part that `fit` cannot train together with the rest; "" if there is none."""
    scope = model.scope
    if scope.strategy and scope.layers:
        return f"the weights of {listing(scope.layers)}"
    if not scope.strategy and scope.optimizer == "other":
        return "the variables of the optimizer"
    if model.keras == 3 and scope.optimizer != "same" and scope.optimizer_keeps_state:
        return "the variables of the optimizer"
    return ""


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project, model: ModelFacts | Unknown) -> Iterator[Finding]:
    """Read TensorFlow's error about two strategies and find the part outside the scope in the source."""
    bare = failure.type == "AssertionError" and not failure.message.strip()
    updated = bare and bool(failure.frames) and _UPDATED in failure.frames[-1].text
    if not updated and not any(words in failure.message for words in WORDS):
        return
    seen = Evidence("TensorFlow found variables of two strategies")
    yield replace(_placed(project, model, seen, failure.location), confidence=Confidence.CERTAIN)


def _placed(project: Project, model: ModelFacts | Unknown, seen: Evidence, place: Location | None) -> Finding:
    """Locate the part outside the scope: in the source if possible, else where the model or its layers were created."""
    for module in project.modules:
        for part in made_outside(module, failed=True):
            if part.raises:
                return _finding(module, part, seen)
    what = "the model, the optimizer and `compile` are not all in the scope of one strategy"
    if isinstance(model, ModelFacts):
        code, outside = _made(model)
        what = outside or what
        place = code.location if isinstance(code, Code) else place
    return CAUSE.finding(
        what,
        place,
        seen,
        fix("create the model and the optimizer, and call `compile`, inside `with strategy.scope():`"),
        subject="scope of the strategy",
    )


def _made(model: ModelFacts) -> tuple[Code | Unknown, str]:
    """Return where the part outside the scope was created, and a message; "" if unknown."""
    scope = model.scope
    if scope.strategy and scope.layers:
        every = len(scope.layers) == sum(layer.parameters > 0 for layer in model.layers)
        if every and model.strategy == "":
            return model.code, "the model is created outside the strategy scope that `fit` is called in"
        layer = model.layer_by_name.get(scope.layers[0])
        code = layer.code if layer is not None else model.code
        verb = "is" if len(scope.layers) == 1 else "are"
        return code, f"{listing(scope.layers)} {verb} created outside the model's strategy scope"
    if not scope.strategy and scope.optimizer == "other":
        return model.code, "the model is created outside the strategy scope of its optimizer"
    if scope.strategy and scope.optimizer != "same":
        return model.compile_code, "the optimizer is created outside the model's strategy scope"
    return Unknown("no part outside the scope was found"), ""


@CAUSE.after_failure
def from_late_variables(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report variables that a traced step on several replicas created, so that their initial values were lost."""
    if failure.type != "InvalidArgumentError" or _MADE_LATE.search(failure.message) is None:
        return
    evidence = [Evidence("TensorFlow lost the initial value of a variable")]
    for module in project.modules:
        for loop in loops(module):
            name = module.segment(loop.optimizer)
            late = not is_built(module, loop.optimizer) and not is_plain_sgd(module, loop.made)
            whose, node = (f"`{name}`", loop.made) if late else ("the model", loop.model_made or loop.made)
            yield CAUSE.certain(
                f"the variables of {whose} are created in the first step, on several replicas at once",
                module.location(node),
                *evidence,
                _built(name, built_in_scope(module, loop)) if late else fix("give the model an `Input`"),
                subject="scope of the strategy",
            )
            return
    yield CAUSE.finding(
        "variables are created in the first call of a traced step, on several replicas at once",
        failure.location,
        *evidence,
        _built("optimizer", ()),
        subject="scope of the strategy",
    )


def _built(optimizer: str, edits: tuple[Edit, ...]) -> Fix:
    return fix(
        f"create them in the scope: call `{optimizer}.build(…)` with the variables of a model that has an `Input`",
        edits,
    )
