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
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.data_trail import node_of
from fitdoctor.catalogue.knowledge.data.generator_sources import generator_behind, loop_of, surely_ends
from fitdoctor.catalogue.knowledge.data.pipeline_steps import with_step_after
from fitdoctor.catalogue.words import counted, place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Severity
from fitdoctor.edits import append_arguments, fix, insert_before, remove_argument, unsafe
from fitdoctor.facts import DataFacts, FailureFacts, FitFacts, ModelFacts, TrainingFacts, Unknown
from fitdoctor.records import replace
from fitdoctor.source.keras_version import is_keras_2
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT703", slug="ran-out-of-data", severity=Severity.WARNING)


@CAUSE.in_source
@mentions("steps_per_epoch")
def from_source(fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Report the same from source alone."""
    yield from (replace(found, confidence=Confidence.LIKELY) for found in from_counts(fit, data))


@CAUSE.before_fit
def from_counts(fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
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
    elif batches % steps and fit.epochs * steps > batches:
        message = (
            f"{counted(batches, 'batch', 'batches')} cannot be divided into epochs of {counted(steps, 'step')}: "
            f"the last epoch of each pass over the data has only {batches % steps:,}"
        )
    else:
        return
    argument = fit.code.argument("steps_per_epoch") if not isinstance(fit.code, Unknown) else None
    fixes = [
        unsafe(
            "remove `steps_per_epoch`, so that an epoch is one pass over the data",
            remove_argument(fit.code, "steps_per_epoch"),
        )
    ]
    if data.form == "dataset":
        fixes.append(unsafe("repeat the dataset with `.repeat()`", with_step_after(data.code, ".repeat()")))
    yield CAUSE.finding(
        message,
        place(argument.whole if argument else None, fit.code, data.code),
        Evidence(
            "batches in one pass over the data",
            f"{batches:,}",
            f"{steps:,} per epoch, {fit.epochs:,} epochs" if fit.epochs > 1 else f"{steps:,}",
            fact="data.batches",
            location=place(data.code),
        ),
        *fixes,
        subject="training data",
        confidence=Confidence.CERTAIN,
    )


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
    argument = fit.code.argument("steps_per_epoch") if not isinstance(fit.code, Unknown) else None
    yield CAUSE.finding(
        f"the dataset ended before {fit.epochs:,} epochs of {counted(steps, 'step')}"
        if fit.epochs > 1
        else f"the dataset ended before the {counted(steps, 'step')} of the epoch",
        place(argument.whole if argument else None, fit.code, data.code),
        Evidence(
            "Keras warned that the input ran out of data",
            f"fewer than {counted(steps * fit.epochs, 'batch', 'batches')}",
            f"{steps * fit.epochs:,}",
            fact="training.ran_out",
            location=place(data.code),
        ),
        unsafe("repeat the dataset with `.repeat()`", with_step_after(data.code, ".repeat()")),
        unsafe(
            "remove `steps_per_epoch`, so that an epoch is one pass over the data",
            remove_argument(fit.code, "steps_per_epoch"),
        ),
        subject="training data",
        confidence=Confidence.CERTAIN,
    )


_WANTED = re.compile(
    r"ran out of data; interrupting training.*\(in this case, (?P<batches>\d+) batches\)", re.DOTALL
)
"""Keras 2 reports the number of batches it needs if the number of steps is set, and stops training."""


@CAUSE.after_failure
def from_warning(failure: FailureFacts) -> Iterator[Finding]:
    """Report that Keras 2 stopped because the data ran out."""
    said = _WANTED.search(failure.message)
    if said is None:
        return
    yield CAUSE.finding(
        f"the data has fewer than the {said['batches']} batches that the steps need",
        failure.location,
        Evidence(
            "Keras stopped training",
            f"fewer than {said['batches']} batches",
            said["batches"],
            fact="failure.message",
        ),
        fix("repeat the data with `.repeat()`, or remove `steps_per_epoch`"),
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
    older = isinstance(model, ModelFacts) and model.keras == 2 or is_keras_2(project)
    then = "Keras 2 then stops" if older else "later epochs get only its first two batches"
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
            "loop forever in the generator" + ("" if steps else " and set `steps_per_epoch`"),
            _going_on_for_ever(function, fit, data, project),
        ),
        fix("pass `tf.data.Dataset.from_generator` to `fit`, which restarts the generator in each epoch"),
        subject="training data",
    )


# --- generators that never end --------------------------------------------------------------------------------------


def _going_on_for_ever(
    function: FunctionInfo | None, fit: FitFacts, data: DataFacts, project: Project
) -> tuple[Edit, ...]:
    """Wrap the loop that yields in `while True:`, and set the number of steps if it is known."""
    steps: tuple[Edit, ...] = ()
    if not fit.steps_per_epoch:
        if not isinstance(data.batches, int):
            return ()
        steps = append_arguments(fit.code, f"steps_per_epoch={data.batches}")
    if function is None:
        found = node_of(project, data.code)
        written = _as_function(*found) if found is not None else ()
    else:
        written = _in_function(function)
    return (*written, *steps) if written else ()


def _in_function(function: FunctionInfo) -> tuple[Edit, ...]:
    loop = loop_of(function)
    if not isinstance(loop, ast.For) or any(map(_long_text, ast.walk(loop))):
        return ()
    code = function.module.code(loop)
    inner = code.text.replace("\n", "\n    ")
    return (Edit(code.location, f"while True:\n{code.indent}    {inner}"),)


def _as_function(module: Module, node: ast.AST) -> tuple[Edit, ...]:
    """Replace `(… for … in …)`, which can be read only once, with a generator function."""
    written = module.made_by(node) if isinstance(node, ast.expr) else node
    if not isinstance(written, ast.GeneratorExp) or any(map(_long_text, ast.walk(written))):
        return ()
    code = module.code(written)
    name = "batches_for_ever"
    lines = [f"def {name}():", "while True:"]
    for part in written.generators:
        if part.is_async:
            return ()
        lines.append(f"for {module.segment(part.target)} in {module.segment(part.iter)}:")
        lines += [f"if {module.segment(condition)}:" for condition in part.ifs]
    lines.append(f"yield {module.segment(written.elt)}")
    text = "\n".join(f"{code.indent * bool(at)}{'    ' * at}{line}" for at, line in enumerate(lines))
    taken = any(isinstance(each, ast.Name) and each.id == name for each in module.nodes(ast.Name))
    if taken or "\n" in "".join(lines):
        return ()
    # A call with a single argument shares its parentheses with the generator expression.
    around = module.parent(written)
    bare = isinstance(around, ast.Call) and not code.text.startswith("(")
    return () if bare else (*insert_before(code, f"{text}\n"), Edit(code.location, f"{name}()"))


def _long_text(node: ast.AST) -> bool:
    """Return whether text spans several lines, which indenting would change."""
    is_text = isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return is_text and node.lineno != node.end_lineno  # type: ignore[attr-defined]
