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

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import BATCHED_DATA, Cause, mentions
from fitdoctor.catalogue.knowledge.data.generator_sources import (
    expression_of,
    generator_behind,
    generator_function,
    own_nodes,
)
from fitdoctor.catalogue.knowledge.data.pipeline_steps import setting, step_place, without_step, words
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import append_arguments, fix, set_argument, unsafe
from fitdoctor.facts import Code, DataFacts, FitFacts, ModelFacts, PipelineStep, Unknown
from fitdoctor.source.callees import argument_for
from fitdoctor.source.endless_loops import never_ends
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT704", slug="endless-data-without-steps", severity=Severity.ERROR, never_ends=True)

KERAS_CALLBACKS = frozenset(
    "BackupAndRestore CSVLogger EarlyStopping History LearningRateScheduler ModelCheckpoint ProgbarLogger "
    "ReduceLROnPlateau RemoteMonitor SwapEMAWeights TensorBoard TerminateOnNaN".split()
)
"""Callbacks that do not end an epoch early in normal training."""


@CAUSE.likely_in_source
@mentions(*BATCHED_DATA)
def from_source(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report endless data from source alone, which may not show everything the program does."""
    yield from from_data(model, fit, data, project)


@CAUSE.before_fit
def from_data(
    model: ModelFacts | Unknown, fit: FitFacts, data: DataFacts, project: Project
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


def _endless(data: DataFacts, project: Project) -> tuple[bool, Location | None]:
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
    fit: FitFacts, data: DataFacts, step: PipelineStep | None, argument: str, project: Project
) -> list[Fix]:
    fixes = []
    if step is not None and isinstance(step.code, Code):
        fixes.append(_without_end(step.code))
    count = _epoch_length(project, fit, data)
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


# --- lengths of epochs ----------------------------------------------------------------------------------------------


_SIZE = re.compile(r"batch|^bs$|size", re.IGNORECASE)


def _epoch_length(project: Project, fit: FitFacts, data: DataFacts) -> str:
    """Return `len(images) // 32`, based on the arguments of the generator call, or "" if unknown."""
    found = expression_of(project, data.code)
    if found is None or not isinstance(found[1], ast.Call) or isinstance(fit.code, Unknown):
        return ""
    module, call = found[0], found[1]
    code = module.code(call)
    if code.location.path != fit.code.location.path or code.function not in ("", fit.code.function):
        return ""  # these names are not those at the `fit` call
    function = generator_function(module, call.func)
    if function is None:
        return ""
    rows = next((text for name in _measured(function) if (text := _given(module, function, call, name))), "")
    sizes = [name for name in function.parameters if _SIZE.search(name)]
    size = _given(module, function, call, sizes[0]) if len(sizes) == 1 else ""
    size = size or (str(data.batch_size) if isinstance(data.batch_size, int) else "")
    return f"len({rows}) // {size}" if rows and size and not rows.isdigit() else ""


def _measured(function: FunctionInfo) -> list[str]:
    """Return the parameters whose rows are counted: `len(x)`, `x.shape[0]`."""
    found = []
    for node in own_nodes(function):
        counted: ast.expr | None = None
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "len"
            and node.args
        ):
            counted = node.args[0]
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
            first = isinstance(node.slice, ast.Constant) and node.slice.value == 0
            counted = node.value.value if first and node.value.attr == "shape" else None
        if isinstance(counted, ast.Name) and counted.id in function.parameters:
            found.append(counted.id)
    return sorted(set(found), key=function.parameters.index)


def _given(module: Module, function: FunctionInfo, call: ast.Call, name: str) -> str:
    """Return the value of a parameter: a name or number at the call, otherwise its default number."""
    value = argument_for(function, call, name)
    if value is not None:
        return module.segment(value) if isinstance(value, (ast.Name, ast.Attribute, ast.Constant)) else ""
    arguments = function.node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    defaults = dict(zip(reversed(names), reversed(arguments.defaults), strict=False))
    default = defaults.get(name)
    return function.module.segment(default) if isinstance(default, ast.Constant) else ""
