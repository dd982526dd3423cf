"""Endless data without a number of steps per epoch.

## What happens

The first epoch never ends: `fit` runs forever, without an error. With endless validation data and no
`validation_steps`, training hangs in the first validation.

## Why

`.repeat()` without a count makes a dataset endless, and so does a generator with `while True`. An epoch is one pass
over the data, unless `steps_per_epoch` (for validation: `validation_steps`) sets the number of batches.

## Fix

Remove `.repeat()`, which is not needed for several epochs, or pass `steps_per_epoch`.

## Known limits

A custom callback may end the epoch, because `model.stop_training = True` takes effect between two batches. With one,
the finding is likely rather than certain. A generator counts as endless only if its function loops with `while True`,
or over the batches of an `ImageDataGenerator`, without `break`, `return` or `raise` inside.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import BATCHED_DATA, Cause, mentions
from fitdoctor.catalogue.knowledge.data.generator_sources import generator_behind
from fitdoctor.catalogue.knowledge.data.pipeline_steps import setting, step_place, without_step, words
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import append_arguments, fix, set_argument, unsafe
from fitdoctor.facts import Code, DataFacts, FitFacts, ModelFacts, PipelineStep, Unknown
from fitdoctor.records import replace
from fitdoctor.source.endless_loops import never_ends
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT704", slug="endless-data-without-steps", severity=Severity.ERROR, never_ends=True)

KERAS_CALLBACKS = frozenset(
    "BackupAndRestore CSVLogger EarlyStopping History LearningRateScheduler ModelCheckpoint ProgbarLogger "
    "ReduceLROnPlateau RemoteMonitor SwapEMAWeights TensorBoard TerminateOnNaN".split()
)
"""Callbacks that do not end an epoch early in normal training."""


@CAUSE.in_source
@mentions(*BATCHED_DATA)
def from_source(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report endless data from source alone, which may not show everything the program does."""
    for finding in from_data(model, fit, data, project):
        yield replace(finding, confidence=Confidence.LIKELY)


@CAUSE.before_fit
def from_data(
    model: ModelFacts | Unknown, fit: FitFacts, data: DataFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """Report endless data without a number of steps."""
    argument = _steps_argument(fit, data)
    if argument is None or _is_given(fit, argument) or (argument in fit.given and data.endless is not True):
        return
    endless, shown = _endless(data, project)
    if not endless:
        return
    step = _repeat(data)
    own = [callback.class_name for callback in fit.callbacks if callback.class_name not in KERAS_CALLBACKS]
    steps_may_stop = isinstance(model, Unknown) or "train_step" in model.overrides or "fit" in model.overrides
    sure = not own and not ("callbacks" in fit.given and not fit.callbacks) and not steps_may_stop
    yield CAUSE.finding(
        f"the {words(data)} is endless and `{argument}` is not set, so the first epoch never ends",
        place(step_place(step.code) if step else None, _use(fit, data), fit.code, data.code),
        Evidence(f"the {words(data)}", "endless", f"finite, or `{argument}`", fact="data.endless"),
        *([Evidence("it loops forever here", location=shown)] if shown else []),
        *_fixes(fit, data, step, argument, project),
        subject=f"{data.role} data",
        notes=[f"`{own[0]}` may end the epoch; its code was not checked"] if own else (),
        confidence=Confidence.CERTAIN if sure else Confidence.LIKELY,
    )


def _steps_argument(fit: FitFacts, data: DataFacts) -> str | None:
    if data.form not in ("dataset", "generator"):
        return None
    if fit.method == "fit":
        return "steps_per_epoch" if data.role == "training" else "validation_steps"
    return "steps" if fit.method in ("evaluate", "predict") else None


def _is_given(fit: FitFacts, argument: str) -> bool:
    """Return whether the number of steps is set."""
    if argument == "validation_steps":
        return fit.validation_steps is not None
    return fit.steps_per_epoch is not None


def _endless(data: DataFacts, project: Project | Unknown) -> tuple[bool, Location | None]:
    if data.endless is True and data.form == "dataset":
        return True, None
    if data.form != "generator" or isinstance(data.batches, int):
        return False, None
    function = generator_behind(project, data.code)
    if function is None or not never_ends(function.module, function.node):
        return data.endless is True, None
    return True, function.module.location(function.node)


def _repeat(data: DataFacts) -> PipelineStep | None:
    for step in reversed(data.pipeline):
        if step.operation == "repeat" and setting(step, "count") in (None, "-1", "None"):
            return step
    return None


def _use(fit: FitFacts, data: DataFacts) -> Location | None:
    if isinstance(fit.code, Unknown):
        return None
    name, position = ("x", 0) if data.role == "training" else ("validation_data", None)
    argument = fit.code.argument(name, position)
    return argument.whole if argument is not None else None


def _without_end(code: Code) -> Fix:
    """Stop `make_csv_dataset` and similar functions from repeating, which they do by default."""
    if code.name.endswith(("make_csv_dataset", "make_batched_features_dataset")):
        return unsafe("read the files once per epoch: `num_epochs=1`", set_argument(code, "num_epochs", "1"))
    is_step = code.text.rstrip().endswith(")") and ".repeat(" in code.text
    return unsafe("remove `repeat()`: each epoch restarts the dataset", without_step(code) if is_step else ())


def _fixes(
    fit: FitFacts, data: DataFacts, step: PipelineStep | None, argument: str, project: Project | Unknown
) -> list[Fix]:
    from fitdoctor.catalogue.pipeline.endless_data_without_steps.epoch_lengths import epoch_length

    fixes = []
    if step is not None and isinstance(step.code, Code):
        fixes.append(_without_end(step.code))
    count = epoch_length(project, fit, data)
    if isinstance(data.samples, int) and isinstance(data.batch_size, int) and data.batch_size:
        count = str(max(data.samples // data.batch_size, 1))
    # An epoch is one pass over the data; any other number is only a guess.
    make, guess = (unsafe, " (100 is a placeholder)") if not count else (fix, "")
    steps = append_arguments(fit.code, f"{argument}={count or 100}")
    fixes.append(make(f"set the number of batches per epoch with `{argument}`{guess}", steps))
    return fixes


CAUSE.message(
    r"When using a generator for validation data,\s+you must specify a\s+value for\s+`validation_steps`",
    "the validation data is a generator, and the call does not say how many batches to take from it",
    "pass `validation_steps`",
    subject="steps_per_epoch",
    types=("ValueError",),
    confidence=Confidence.CERTAIN,
)
CAUSE.message(
    r"When using (?:data tensors|iterators?|infinitely repeating datasets?|a generator)[^\n]{0,80}"
    r"(?:should|must) specify[^\n]{0,20}`(?P<name>steps(?:_per_epoch)?|validation_steps)`"
    r"|`(?P<older>steps_per_epoch|steps|validation_steps)=None` is only valid for a generator"
    r"|When passing an infinitely repeating dataset",
    "the data has no known length, and the call does not say how many batches make an epoch",
    "pass `steps_per_epoch` (`validation_steps` for the validation data)",
    subject="steps_per_epoch",
    types=("ValueError",),
    confidence=Confidence.CERTAIN,
)
