"""Model, optimizer or compile outside the scope of the strategy.

## What happens

`RuntimeError: Need to be inside "with strategy.scope()"` when the model was made before the scope and compiled in it
(with plain SGD a bare `AssertionError`); `RuntimeError: Mixing different tf.distribute.Strategy objects` when
`compile`, or an optimizer with state such as Adam, stands outside; `ValueError: colocate_vars_with must only be passed a
variable created in this tf.distribute.Strategy.scope()` when a part of the model, such as a pretrained one, was built
outside. All come when fit makes its first step. In a loop of your own with `strategy.run` on two replicas or
more, `InvalidArgumentError: You must feed a value for placeholder tensor 'cond/…/Placeholder' with dtype int32`: the
optimizer stands in the scope, but its variables, or those of a model without an `Input`, are made in the first step.

## Why

Variables are made for the strategy in whose scope they are made. The model's weights and the optimizer's state must
belong to the same one. Keras 3 makes the state of an optimizer when it is first used; inside of a `tf.function` that
runs on several replicas TensorFlow would have to make it once and on the first call only, and its way to do so fails.
Keras 2, `fit`, a single replica and SGD without momentum have no such trouble.

## Fix

Make the model with all its parts, the optimizer, and call `compile` inside one `with strategy.scope():`. Data and `fit`
itself may stand outside; in Keras 3 also metrics, `compile` with an optimizer that was made inside, and parts whose
weights are not trained. Where nothing but `compile` stands inside, it trains without the strategy, and that is a warning.
In a loop of your own, call `optimizer.build(model.trainable_variables)` in the scope, and give the model an `Input`.

## Known limits

Before fit it is seen by the variables themselves, for `MirroredStrategy` and `MultiWorkerMirroredStrategy`. In the source
a builder function counts as inside when every call of it in the file stands in a scope. That variables are made too
late is told from the failure: on one replica the same program trains, as it does on TensorFlow 2.16 with Keras 3.3.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.devices.scope_parts import Part, is_plain_sgd, made_outside
from fitdoctor.catalogue.devices.strategies import moved_into_scope, scopes
from fitdoctor.catalogue.devices.strategy_loops import built_in_scope, is_built, loops, moved_and_built
from fitdoctor.catalogue.words import listing
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import Code, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.patterns import pattern
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
"""Where a bare `AssertionError` comes from: an optimizer without state met a variable of another strategy."""
_MADE_LATE = pattern(
    r"feed a value for placeholder tensor '(?:[^'\n]*/)?cond/(?:[^'\n]*/)?Placeholder(?:_\d+)?'"
)
"""What is left of a variable's initial value when a tf.function makes it under a condition, on its first call."""


@CAUSE.in_source
@mentions("scope")
def from_source(module: Module) -> Iterator[Finding]:
    """One of model, optimizer and compile stands outside the only strategy's scope, another one inside."""
    for part in made_outside(module):
        yield _finding(module, part, Confidence.LIKELY, [])
        return


def _finding(module: Module, part: Part, confidence: Confidence, evidence: list[Evidence]) -> Finding:
    block, strategy = scopes(module)[0]
    unused = "" if part.raises else ": what is trained does not run under the strategy"
    return CAUSE.finding(
        f"{part.what} outside `{strategy}.scope()`{unused}",
        subject="scope of the strategy",
        location=module.location(part.node),
        evidence=[
            Evidence(claim="the scope", location=module.location(block.items[0].context_expr)),
            *evidence,
        ],
        fixes=[
            fix(
                "move it into the scope",
                moved_and_built(module, part.node, strategy),
                moved_into_scope(module, part.also, strategy) if part.also is not None else (),
            )
        ],
        severity=Severity.ERROR if part.raises else Severity.WARNING,
        confidence=confidence,
    )


@CAUSE.before_fit
def from_variables(fit: FitFacts, model: ModelFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Variables know the strategy that they were made under: fit cannot train those of another one."""
    wrong = _wrong_part(model) if fit.method in ("fit", "train_on_batch") else ""
    if wrong:
        # A step of the program's own may leave the optimizer or some layers alone.
        sure = "train_step" not in model.overrides
        evidence = [
            Evidence(
                claim=wrong,
                observed="made under another strategy, or none",
                expected=model.scope.strategy or "no strategy, as the model",
                fact="model.scope",
            )
        ]
        confidence = Confidence.CERTAIN if sure else Confidence.LIKELY
        yield _placed(project, model, evidence, confidence, None)


def _wrong_part(model: ModelFacts) -> str:
    """What fit cannot train together with the rest, in words; "" for nothing."""
    scope = model.scope
    if scope.strategy and scope.layers:
        return f"the weights of {listing(scope.layers)}"
    if not scope.strategy and scope.optimizer == "other":
        return "the variables of the optimizer"
    if model.keras == 3 and scope.optimizer != "same" and scope.optimizer_keeps_state:
        return "the variables of the optimizer"
    return ""


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, project: Project | Unknown, model: ModelFacts | Unknown
) -> Iterator[Finding]:
    """TensorFlow names the two strategies; the source says what stands outside."""
    bare = failure.type == "AssertionError" and not failure.message.strip()
    updated = bare and bool(failure.frames) and _UPDATED in failure.frames[-1].text
    if not updated and not any(words in failure.message for words in WORDS):
        return
    evidence = [Evidence(claim="TensorFlow met variables of two strategies", fact="failure.message")]
    frame = failure.last_user_frame
    yield _placed(project, model, evidence, Confidence.CERTAIN, frame.location if frame else None)


def _placed(
    project: Project | Unknown,
    model: ModelFacts | Unknown,
    evidence: list[Evidence],
    confidence: Confidence,
    place: Location | None,
) -> Finding:
    """The finding at what stands outside: by the source, else by where the model and its layers were made."""
    for module in project.modules if isinstance(project, Project) else ():
        for part in made_outside(module):
            if part.raises:
                return _finding(module, part, confidence, evidence)
    what = "model, optimizer and compile do not all stand in the scope of one strategy"
    if isinstance(model, ModelFacts):
        code, outside = _made(model)
        what = outside or what
        place = code.location if isinstance(code, Code) else place
    return CAUSE.finding(
        what,
        subject="scope of the strategy",
        location=place,
        evidence=evidence,
        fixes=[fix("make the model, the optimizer and call `compile` inside `with strategy.scope():`")],
        confidence=confidence,
    )


def _made(model: ModelFacts) -> tuple[Code | Unknown, str]:
    """Where that was made which stands outside, and what it is; "" where both are not known."""
    scope = model.scope
    if scope.strategy and scope.layers:
        every = len(scope.layers) == sum(layer.parameters > 0 for layer in model.layers)
        if every and model.strategy == "":
            return model.code, "the model is made outside of the scope that fit is called in"
        layer = model.layer_by_name.get(scope.layers[0])
        code = layer.code if layer is not None else model.code
        return code, f"{listing(scope.layers)} of the model: made outside of the scope of its strategy"
    if not scope.strategy and scope.optimizer == "other":
        return model.code, "the model is made outside of the scope that its optimizer is made in"
    if scope.strategy and scope.optimizer != "same":
        return model.compile_code, "the optimizer is made outside of the scope of the model's strategy"
    return Unknown("nothing of it was seen"), ""


@CAUSE.after_failure
def from_late_variables(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """A traced step on several replicas made variables: the value that they begin with never arrived."""
    if failure.type != "InvalidArgumentError" or _MADE_LATE.search(failure.message) is None:
        return
    evidence = [Evidence(claim="TensorFlow lost the initial value of a variable", fact="failure.message")]
    for module in project.modules if isinstance(project, Project) else ():
        for loop in loops(module):
            name = module.segment(loop.optimizer)
            late = not is_built(module, loop.optimizer) and not is_plain_sgd(module, loop.made)
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
