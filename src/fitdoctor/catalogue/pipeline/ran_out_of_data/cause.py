"""Fewer batches than the epochs need.

## What happens

Training continues, but the epochs are not what they seem. A dataset of 10 batches with `steps_per_epoch=20` results
in epochs of 10 batches. With `steps_per_epoch=3`, every fourth epoch has only one batch, and its loss means little.
If a generator ends, the second epoch is empty, and every later epoch trains on the same two batches: the ones that
Keras read to inspect the data. The loss still decreases.

## Why

With `steps_per_epoch`, an epoch continues where the previous one stopped. When the data ends, Keras ends the epoch,
warns "Your input ran out of data" and restarts the dataset. A Python generator cannot be restarted.

## Fix

Remove `steps_per_epoch`, or make the dataset endless with `.repeat()`. With a generator, loop forever and set
`steps_per_epoch`, or pass `tf.data.Dataset.from_generator` to `fit`, which calls the function again for each epoch.

## Known limits

The warning alone proves nothing, because Keras also issues it for every dataset whose length TensorFlow does not
know. For such a dataset, it counts only after training, with `steps_per_epoch` and without validation or callbacks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.generator_sources import generator_behind, loop_of, surely_ends
from fitdoctor.catalogue.knowledge.data.pipeline_steps import with_step_after
from fitdoctor.catalogue.words import counted, place
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import append_arguments, fix, remove_argument, unsafe
from fitdoctor.facts import DataFacts, FitFacts, ModelFacts, TrainingFacts, Unknown
from fitdoctor.records import replace
from fitdoctor.source.keras_version import is_keras_2
from fitdoctor.source.module import FunctionInfo
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT703", slug="ran-out-of-data", severity=Severity.WARNING)


@CAUSE.likely_in_source
@CAUSE.before_fit
@mentions("steps_per_epoch")
def from_counts(
    fit: FitFacts, data: DataFacts, project: Project, model: ModelFacts | Unknown
) -> Iterator[Finding]:
    """Report more steps than batches, or steps that do not divide them."""
    steps, batches = fit.steps_per_epoch, data.batches
    if (
        fit.method != "fit"
        or data.role != "training"
        or not steps
        or not isinstance(batches, int)
        or batches < 1
    ):
        return
    if data.form not in ("dataset", "arrays", "pydataset", "dataloader") or data.endless is True:
        return
    if data.form == "arrays" and fit.batch_size is None:
        return  # Keras splits the arrays into one batch per step
    if steps > batches:
        message = f"an epoch has {counted(steps, 'step')}, but the data ends after {counted(batches, 'batch', 'batches')}"
    elif steps == batches or fit.epochs * steps <= batches:
        return
    elif _in_keras_2(model, project):
        if data.form != "dataset":
            return  # Keras 2 starts every epoch at the first row again
        needed = counted(fit.epochs * steps, "batch", "batches")
        message = f"training takes {needed}, but the data ends after {batches:,}, and Keras 2 then stops"
    elif batches % steps:
        message = (
            f"{counted(batches, 'batch', 'batches')} cannot be divided into epochs of {counted(steps, 'step')}: "
            f"the last epoch of each pass over the data has only {batches % steps:,}"
        )
    else:
        return
    yield CAUSE.certain(
        message,
        _steps_place(fit, data),
        Evidence(
            "batches in one pass over the data",
            f"{batches:,}",
            f"{steps:,} per epoch, {fit.epochs:,} epochs" if fit.epochs > 1 else f"{steps:,}",
            fact="data.batches",
            location=place(data.code),
        ),
        *_passes(fit, data),
        subject="training data",
    )


def _in_keras_2(model: ModelFacts | Unknown, project: Project) -> bool:
    return isinstance(model, ModelFacts) and model.keras == 2 or is_keras_2(project)


def _steps_place(fit: FitFacts, data: DataFacts) -> Location | None:
    argument = fit.code.argument("steps_per_epoch") if not isinstance(fit.code, Unknown) else None
    return place(argument.whole if argument else None, fit.code, data.code)


def _passes(fit: FitFacts, data: DataFacts) -> Iterator[Fix]:
    """Let an epoch be one pass over the data, or let the data have no end."""
    title = "remove `steps_per_epoch`, so that an epoch is one pass over the data"
    yield unsafe(title, remove_argument(fit.code, "steps_per_epoch"))
    if data.form == "dataset":
        yield unsafe("repeat the dataset with `.repeat()`", with_step_after(data.code, ".repeat()"))


@CAUSE.while_training
def while_running(
    training: TrainingFacts,
    fit: FitFacts,
    data: DataFacts,
    project: Project,
    model: ModelFacts | Unknown,
) -> Iterator[Finding]:
    """Report Keras's warning for a dataset or generator of unknown length."""
    steps = fit.steps_per_epoch
    if data.form == "generator" and not _has_steps(fit) and len(training.losses) > 1:
        # Without `steps_per_epoch`, the first epoch ends only because the generator does.
        known = replace(data, batches=training.batches)
        yield _exhausted(fit, known, project, model, "the first epoch ended with it", 1)
        return
    # Validation and callbacks on data of unknown length end with the same warning.
    if not training.ran_out or not steps or fit.has_validation or fit.callbacks:
        return
    if (
        data.role != "training"
        or data.form not in ("dataset", "generator")
        or isinstance(data.batches, int)
        or data.endless is True
    ):
        return
    if data.form == "generator":
        observed = f"fewer than {counted(steps * fit.epochs, 'batch', 'batches')}"
        yield _exhausted(fit, data, project, model, observed, None)
        return
    yield CAUSE.certain(
        f"the dataset ended before {fit.epochs:,} epochs of {counted(steps, 'step')}"
        if fit.epochs > 1
        else f"the dataset ended before the {counted(steps, 'step')} of the epoch",
        _steps_place(fit, data),
        Evidence(
            "Keras warned that the input ran out of data",
            f"fewer than {counted(steps * fit.epochs, 'batch', 'batches')}",
            f"{steps * fit.epochs:,}",
            fact="training.ran_out",
            location=place(data.code),
        ),
        *reversed(list(_passes(fit, data))),
        subject="training data",
    )


CAUSE.message(  # of Keras 2, which stops training
    r"(?s)ran out of data; interrupting training.*\(in this case, (?P<batches>\d+) batches\)",
    "the data has fewer than the {batches} batches that the steps need",
    "repeat the data with `.repeat()`, or remove `steps_per_epoch`",
    subject="steps_per_epoch",
)


@CAUSE.in_source
@CAUSE.before_fit
@mentions("yield", "enerator", "Sequence", "iter", "for")
def from_generator(
    fit: FitFacts, data: DataFacts, project: Project, model: ModelFacts | Unknown
) -> Iterator[Finding]:
    """Report a generator that ends before the last epoch."""
    if fit.method != "fit" or data.role != "training" or data.form != "generator" or fit.epochs < 2:
        return
    steps = fit.steps_per_epoch
    function = generator_behind(project, data.code)
    if isinstance(data.batches, int):
        wanted = (steps or data.batches) * fit.epochs
        if data.batches >= wanted or not data.batches:
            return
        observed = counted(data.batches, "batch", "batches")
        lasts = data.batches // steps if steps else 1
    else:
        if steps or function is None or not surely_ends(function):
            return
        observed, lasts = f"`{function.name}` ends after one pass", 1
    yield _exhausted(fit, data, project, model, observed, max(lasts, 1))


def _exhausted(
    fit: FitFacts,
    data: DataFacts,
    project: Project,
    model: ModelFacts | Unknown,
    observed: str,
    lasts: int | None,
) -> Finding:
    """Report a generator that ends too early, and after how many epochs, if that is known."""
    steps = fit.steps_per_epoch
    function = generator_behind(project, data.code)
    loop = loop_of(function) if function is not None else None
    place_of_loop = function.module.location(loop) if function is not None and loop is not None else None
    then = (
        "Keras 2 then stops" if _in_keras_2(model, project) else "later epochs get only its first two batches"
    )
    when = f"after {lasts:,} of" if lasts is not None else "before the end of"
    return CAUSE.finding(
        f"the generator is exhausted {when} {counted(fit.epochs, 'epoch')}; {then}",
        place(place_of_loop, data.code, fit.code),
        Evidence(
            "batches from the generator",
            observed,
            f"{steps * fit.epochs:,} batches" if steps else f"batches for {fit.epochs:,} epochs",
            fact="data.batches",
            location=place(fit.code),
        ),
        unsafe(
            "loop forever in the generator" + ("" if _has_steps(fit) else " and set `steps_per_epoch`"),
            _going_on_for_ever(function, fit, data),
        ),
        fix("pass `tf.data.Dataset.from_generator` to `fit`, which restarts the generator in each epoch"),
        subject="training data",
    )


# --- generators that never end --------------------------------------------------------------------------------------


def _going_on_for_ever(function: FunctionInfo | None, fit: FitFacts, data: DataFacts) -> tuple[Edit, ...]:
    """Wrap the loop that yields in `while True:`, and set the number of steps if it is known."""
    loop = loop_of(function) if function is not None else None
    if function is None or not isinstance(loop, ast.For) or any(map(_long_text, ast.walk(loop))):
        return ()
    steps: tuple[Edit, ...] = ()
    if not _has_steps(fit):
        if not isinstance(data.batches, int):
            return ()
        steps = append_arguments(fit.code, f"steps_per_epoch={data.batches}")
    module = function.module
    block = module.block(loop)
    before = block[: block.index(loop)]
    ordered = next((at for at, each in enumerate(before) if _draws_order(each)), len(before))
    first, code = module.code(block[ordered]), module.code(loop)
    whole = replace(first.location, end_line=code.location.end_line, end_column=code.location.end_column)
    inner = f"\n{code.indent}".join(module.segment(each) for each in (*before[ordered:], loop))
    inner = inner.replace("\n", "\n    ")
    return (Edit(whole, f"while True:\n{code.indent}    {inner}"), *steps)


def _draws_order(statement: ast.stmt) -> bool:
    """Whether a statement draws a random order, which each pass should do again."""
    return any(
        isinstance(each, ast.Attribute) and each.attr in ("permutation", "shuffle", "sample")
        for each in ast.walk(statement)
    )


def _has_steps(fit: FitFacts) -> bool:
    return bool(fit.steps_per_epoch) or "steps_per_epoch" in fit.given


def _long_text(node: ast.AST) -> bool:
    """Return whether text spans several lines, which indenting would change."""
    is_text = isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return is_text and node.lineno != node.end_lineno  # type: ignore[attr-defined]
