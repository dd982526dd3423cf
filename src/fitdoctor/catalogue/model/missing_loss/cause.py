"""Compiled without a loss.

## What happens

`fit` and `evaluate` raise `ValueError: No loss to compute. Provide a loss argument in compile().` while the first step
is traced.

## Why

`compile` was given no `loss`, or `None`: a key of a configuration that is not there, an argument that was not passed
on. A loss for every output that is `None` counts the same. Losses that layers add themselves (`add_loss`, regularisers)
are enough for Keras; a model with its own `train_step` or `compute_loss` needs none.

## Fix

Give `compile` the loss that goes with labels and output: whole class numbers and one unit a class,
`sparse_categorical_crossentropy`; one-hot rows, `categorical_crossentropy`; labels 0 and 1 and one sigmoid unit,
`binary_crossentropy`; other numbers, `mse`.

## Known limits

Read from the source alone, a model with layers that may add losses counts as having one.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting
from fitdoctor.catalogue.doubts import LABELS
from fitdoctor.catalogue.graph.traced import module_of
from fitdoctor.catalogue.labels.targets import loss_failure
from fitdoctor.catalogue.model.needed_losses import lacks_loss, says_no_loss
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, set_argument
from fitdoctor.facts import Code, DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT303", slug="missing-loss", severity=Severity.ERROR, raises="ValueError")


@CAUSE.in_source
@doubting(LABELS)
@CAUSE.before_fit
def from_model(model: ModelFacts, fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """No loss was given to compile, and none comes from elsewhere."""
    if lacks_loss(model, fit, data):
        confidence = Confidence.CERTAIN if loss_failure(data) else Confidence.LIKELY
        yield _finding(model, data, place(fit.code), confidence)


def _finding(model: ModelFacts, data: DataFacts, call: Location | None, confidence: Confidence) -> Finding:
    from fitdoctor.catalogue.labels.loss_choice import suggested_loss

    code = model.compile_code
    given = None if isinstance(code, Unknown) else code.argument("loss", 1)
    observed = "no `loss`" if given is None else f"`loss={given.text}`, which is None"
    return CAUSE.finding(
        "the model was compiled without a loss",
        subject="loss",
        location=place(code, call),
        evidence=[
            Evidence(
                claim="`compile` was given",
                observed=observed,
                expected="a loss",
                fact="model.losses",
                location=place(code),
            ),
            Evidence(claim="this call needs one", location=call),
        ],
        fixes=_fixes(code, suggested_loss(model, data)),
        confidence=confidence,
    )


def _fixes(code: Code | Unknown, loss: str | None) -> list[Fix]:
    if loss is None:
        return [fix("give `compile` a loss")]
    title = f"compile with the loss that labels and output suggest, `{loss}`"
    return [fix(title, set_argument(code, "loss", f'"{loss}"', position=1))]


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, model: ModelFacts | Unknown, data: DataFacts | Unknown, project: Project | Unknown
) -> Iterator[Finding]:
    """Keras names it."""
    if not says_no_loss(failure.message):
        return
    frame = failure.last_user_frame
    call = frame.location if frame is not None else None
    if isinstance(data, DataFacts) and data.role != "training":
        return
    if (
        isinstance(model, ModelFacts)
        and isinstance(data, DataFacts)
        and not isinstance(model.compile_code, Unknown)
    ):
        yield _finding(model, data, call, Confidence.CERTAIN)
        return
    compile_place = _only_compile(module_of(project, frame))
    yield CAUSE.finding(
        "the model was compiled without a loss",
        subject="loss",
        location=compile_place or call,
        evidence=[Evidence(claim="Keras found no loss", fact="failure.message", location=call)],
        fixes=[fix("give `compile` a loss")],
        confidence=Confidence.CERTAIN,
    )


def _only_compile(module: Module | None) -> Location | None:
    """The one call of `compile` in the file that gives no loss."""
    if module is None:
        return None
    bare = [
        site.node
        for site in module.method_calls("compile")
        if site.argument("loss", 1) is None or len(module.method_calls("compile")) == 1
    ]
    return module.location(bare[0]) if len(bare) == 1 else None
