"""Model compiled without a loss.

## What happens

`fit` and `evaluate` raise `ValueError: No loss to compute. Provide a loss argument in compile().` when they trace the
first step.

## Why

`compile` gets no `loss`, or `None`: a missing configuration key, or an argument that was not passed on. `None` for every
output has the same effect. Losses that layers add themselves (`add_loss`, regularizers) are enough for Keras. A model
with a custom `train_step` or `compute_loss` needs none.

## Fix

Pass `compile` the loss that matches the labels and the output:

- integer class labels and one unit per class: `sparse_categorical_crossentropy`
- one-hot labels: `categorical_crossentropy`
- labels 0 and 1 and one sigmoid unit: `binary_crossentropy`
- other numbers: `mse`

## Known limits

`lint` assumes that a model has a loss if one of its layers may add one.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting
from fitdoctor.catalogue.knowledge.labels.loss_choice import suggested_loss
from fitdoctor.catalogue.knowledge.labels.targets import loss_failure
from fitdoctor.catalogue.model.needed_losses import lacks_loss, says_no_loss
from fitdoctor.catalogue.prefilter import LABELS
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, set_argument
from fitdoctor.facts import Code, DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.failure.failed_line import module_of
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT303", slug="missing-loss", severity=Severity.ERROR, raises="ValueError")


@CAUSE.in_source
@doubting(LABELS)
@CAUSE.before_fit
def from_model(model: ModelFacts, fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Report a model compiled without a loss that gets none from its layers either."""
    if lacks_loss(model, fit, data):
        confidence = Confidence.CERTAIN if loss_failure(data) else Confidence.LIKELY
        yield _finding(model, data, place(fit.code), confidence)


def _finding(model: ModelFacts, data: DataFacts, call: Location | None, confidence: Confidence) -> Finding:
    code = model.compile_code
    given = None if isinstance(code, Unknown) else code.argument("loss", 1)
    observed = "no `loss`" if given is None else f"`loss={given.text}`, which is None"
    return CAUSE.finding(
        "the model is compiled without a loss",
        place(code, call),
        Evidence("argument of `compile`", observed, "a loss", fact="model.losses", location=place(code)),
        Evidence("this call needs a loss", location=call),
        *_fixes(code, suggested_loss(model, data)),
        subject="loss",
        confidence=confidence,
    )


def _fixes(code: Code | Unknown, loss: str | None) -> list[Fix]:
    if loss is None:
        return [fix("pass a loss to `compile`")]
    title = f"compile with `{loss}`, the loss that matches the labels and the output"
    return [fix(title, set_argument(code, "loss", f'"{loss}"', position=1))]


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, model: ModelFacts | Unknown, data: DataFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Explain the Keras error."""
    if not says_no_loss(failure.message):
        return
    frame = failure.last_user_frame
    call = failure.location
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
    yield CAUSE.certain(
        "the model is compiled without a loss",
        compile_place or call,
        Evidence("Keras finds no loss", location=call),
        fix("pass a loss to `compile`"),
        subject="loss",
    )


def _only_compile(module: Module | None) -> Location | None:
    """Return the only `compile` call in the file without a loss."""
    if module is None:
        return None
    bare = [
        site.node
        for site in module.method_calls("compile")
        if site.argument("loss", 1) is None or len(module.method_calls("compile")) == 1
    ]
    return module.location(bare[0]) if len(bare) == 1 else None
