"""Name or argument that Keras 3 no longer has.

## What happens

Since TensorFlow 2.16, `tf.keras` is Keras 3. Code written for Keras 2 fails in many ways:

- `ValueError: Argument(s) not recognized: {'lr': 0.01}`, `TypeError: … got an unexpected keyword argument 'workers'`,
  `AttributeError: 'Sequential' object has no attribute 'predict_classes'`, `ModuleNotFoundError: No module named
  'keras.utils.np_utils'`, `KeyError: 'acc'`.
- The third positional argument of `compile` was `metrics` and is now `loss_weights`: `compile("adam", "mse",
  ["mae"])` raises `dtype='string' is not a valid dtype for Keras type promotion`.
- A layer called with a positional Python value (`self.dropout(x, training)`) raises `Only input tensors may be passed
  as positional arguments`.
- `fit` under `MultiWorkerMirroredStrategy` with two or more workers always raises `ValueError: Attempt to convert a
  value (PerReplica:…` (Keras 3.15; with 3.3 `Invalid reduction dimension 0`), whatever the data and optimizer, even
  with `run_eagerly=True`.
- `get_file(extract=True)` returned the path of the archive, next to the extracted files. Since Keras 3.6 it returns a
  folder that contains them: a path built with `os.path.dirname` or `.parent` raises `FileNotFoundError`.
- One change is silent: an optimizer's `decay=` is ignored with only a warning, so the learning rate stays constant.

## Why

Keras 3 is a rewrite. A script compares both versions and generates the lists of names and arguments that this package
uses.

## Fix

Use the new name. If there is none, the fix shows an equivalent. To keep using Keras 2, install `tf_keras` and set
`TF_USE_LEGACY_KERAS=1` before TensorFlow is imported. Keras 2 can also train with several workers; in Keras 3, use a
custom training loop with `strategy.run`. A `MultiWorkerMirroredStrategy` with one worker works in both.

## Known limits

Arguments passed as `**options` are detected only after the failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fitdoctor.catalogue.environment.removed_in_keras_3.changed_arguments import rejected_arguments
from fitdoctor.catalogue.environment.removed_in_keras_3.changed_attributes import (
    lost_attributes,
    refused_optimizers,
    tensor_shapes,
)
from fitdoctor.catalogue.environment.removed_in_keras_3.changed_behavior import (
    ends_of_uncalled_model,
    numbers_as_shapes,
    old_history_keys,
    old_optimizer_classes,
    validation_data_of_callback,
)
from fitdoctor.catalogue.environment.removed_in_keras_3.changed_names import (
    changed_calls,
    changed_imports,
    respelled_losses,
)
from fitdoctor.catalogue.environment.removed_in_keras_3.changed_positions import (
    metrics_as_loss_weights,
    single_metric,
    values_by_position,
    weights_named_by_position,
)
from fitdoctor.catalogue.environment.removed_in_keras_3.entry import CAUSE
from fitdoctor.catalogue.environment.removed_in_keras_3.extracted_files import (
    NOT_THERE,
    extracted_elsewhere,
)
from fitdoctor.catalogue.environment.removed_in_keras_3.missing_names import (
    finding_from_text,
    findings_at,
    keras_1_call,
    missing_name,
)
from fitdoctor.catalogue.rules import Rule, find, findings_from_failure, is_raised_at
from fitdoctor.diagnosis import Applicability, Confidence, Edit, Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import Code, FailureFacts, Unknown
from fitdoctor.failure.failed_line import calls_at, module_of
from fitdoctor.failure.patterns import rejected_integer
from fitdoctor.records import replace
from fitdoctor.source.conditions import is_fallback
from fitdoctor.source.fits.fit_sites import ModelSite
from fitdoctor.source.keras_version import is_keras_2
from fitdoctor.source.model_use import is_inside_keras
from fitdoctor.source.models.layer_settings import POSITIONAL
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project


def _fails_in_add_weight(failure: FailureFacts) -> bool:
    frame = failure.last_user_frame
    return frame is not None and ("add_weight(" in frame.text or "add_variable(" in frame.text)


def _reads_validation_data(failure: FailureFacts) -> bool:
    """Return whether a callback read its validation data: missing in Keras 3, None in Keras 2."""
    frame = failure.last_user_frame
    if frame is None or not frame.function.startswith("on_"):
        return False
    return (
        "NoneType" not in failure.message or failure.type == "TypeError" and "validation_data" in frame.text
    )


_BY_KEYWORD = "pass it as a keyword argument: `training=training`"
_OPTIMIZER_REJECTED = re.compile(
    r"Argument `learning_rate` should be float, or an instance"
    r"|__init__\(\) missing 1 required positional argument: 'learning_rate'"
    r"|has no attribute '_(?:set|get)_hyper'"
    r"|object has no attribute '_create_(?:hypers|slots)'"
)
_NO_DATA = ("Keras does not set `validation_data` on callbacks", "validation data in a callback")
_TABLE_RULES = (
    Rule(find=rejected_arguments),
    Rule(find=respelled_losses),
    Rule(find=lost_attributes),
    Rule(find=changed_imports),
    Rule(find=changed_calls),
    Rule(find=old_history_keys, words=(".history",)),
)
"""What the table of changes lists; `missing_names` reads their exceptions."""
_RULES = (
    Rule(
        find=metrics_as_loss_weights,
        words=("compile",),
        says=re.compile(
            r"dtype='string' is not a valid dtype for Keras type promotion|Expected `loss_weights` argument to be"
            r"|`loss_weights` must match the number of losses|Failed to convert elements of <"
        ),
        anywhere=True,
    ),
    Rule(
        find=single_metric,
        words=("compile",),
        says=re.compile("Expected `metrics` argument to be a list"),
        anywhere=True,
    ),
    Rule(
        find=refused_optimizers,
        words=("hasattr",),
        says=re.compile(r"(?i)optimizer\b.*\b(lr|learning.rate)\b"),
        anywhere=True,
    ),
    Rule(
        find=weights_named_by_position,
        words=("add_weight", "add_variable"),
        says=re.compile(
            r"`name` must be passed as a keyword argument\. Received: add_weight"
            r"|Cannot convert '\w+' to a shape|add_weight\(\) got multiple values for argument"
            r"|Could not interpret initializer identifier: [\[(]"
        ),
        fits=_fails_in_add_weight,
        problem="the first argument of `add_weight` is the shape in Keras 3, but a name is passed there",
        remedy="pass the arguments by keyword: `name=`, `shape=`",
        subject="argument name of add_weight",
        confidence=Confidence.CERTAIN,
    ),
    Rule(
        find=values_by_position,
        words=("def call", "True)", "False)", "True,", "False,"),
        says=re.compile(
            r"Only input tensors may be passed as positional arguments\. The following argument value should be passed as "
            r"a keyword argument: [^\n]{0,200}\(of type <class '(?:bool|int|float|str)'>\)"
        ),
        problem="a Keras 3 layer accepts only tensors as positional arguments, but receives a Python value",
        remedy=_BY_KEYWORD,
        subject="argument of the layer",
        confidence=Confidence.CERTAIN,
    ),
    Rule(
        find=validation_data_of_callback,
        words=("validation_data",),
        says=re.compile("has no attribute 'validation_data'|NoneType"),
        fits=_reads_validation_data,
        problem=_NO_DATA[0],
        remedy="pass the data to the callback when you create it",
        subject=_NO_DATA[1],
        confidence=Confidence.CERTAIN,
    ),
    Rule(
        find=ends_of_uncalled_model,
        words=(".input", ".output"),
        says=re.compile(
            r"^The layer (?P<layer>\S+) has never been called and thus has no defined (?P<what>input|output)\."
        ),
        problem="`{layer}` has no `{what}` because it was never called on a symbolic tensor",
        remedy="use `{what}s[0]`",
        subject="{what} of {layer}",
        confidence=Confidence.CERTAIN,
    ),
    Rule(
        find=numbers_as_shapes,
        words=("shape",),
        says=re.compile(r"Cannot convert '(?P<number>\d+)' to a shape\."),
        anywhere=True,
        problem="`{number}` is a number, but Keras 3 expects a shape",
        remedy="write a tuple, with a comma: `({number},)`",
        subject="input shape of the model",
        confidence=Confidence.CERTAIN,
    ),
    Rule(
        find=old_optimizer_classes,
        words=(
            "_resource_apply_dense",
            "_resource_apply_sparse",
            "get_updates",
            "_create_slots",
            "_prepare_local",
        ),
        says=_OPTIMIZER_REJECTED,
        anywhere=True,
    ),
)
_ONLY_AFTER_FAILURE = (
    Rule(find=extracted_elsewhere, words=("get_file",), says=NOT_THERE, anywhere=True),
    Rule(
        find=old_optimizer_classes,
        says=re.compile(""),
        types=("NotImplementedError",),
        fits=lambda failure: any(each.library and each.function == "update_step" for each in failure.frames),
        anywhere=True,
    ),
    Rule(
        find=tensor_shapes,
        says=re.compile(
            r"'tuple' object has no attribute 'as_list'|'KerasTensor' object has no attribute 'get_shape'"
        ),
    ),
    Rule(
        find=rejected_arguments,
        says=re.compile(
            r"(?:AveragePooling|AvgPool)[123]D\.__init__\(\) missing 1 required positional argument: 'pool_size'"
        ),
        problem="average pooling layers have no default `pool_size` in Keras 3",
        remedy="set `pool_size=2`, the default in Keras 2",
        subject="argument pool_size",
        confidence=Confidence.CERTAIN,
    ),
    Rule(
        says=re.compile(
            r"Could not (?:deserialize|locate function) '(?:keras\.(?:metrics|losses)\.)?"
            r"(?P<name>mse|mae|mape|msle|kld|bce)'"
        ),
        problem="the saved model was compiled with `{name}`, a short name that Keras 3 cannot load from an `.h5` file",
        remedy=(
            "load it with `compile=False`, then compile it again",
            "save and load it as `.keras`, or compile with the class (`keras.losses.MeanSquaredError()`)",
        ),
        subject="load_model",
        confidence=Confidence.CERTAIN,
    ),
)


@CAUSE.in_source
def from_source(module: Module) -> Iterator[Finding]:
    """Report what Keras 3 rejects or ignores."""
    if module.keras == 3 and not is_inside_keras(module) and not is_fallback(module):
        yield from _in_file(module)


def _in_file(module: Module) -> Iterator[Finding]:
    for rule in (*_TABLE_RULES, *_RULES):
        yield from find(rule, module)


@CAUSE.in_source
def from_numbers(site: ModelSite) -> Iterator[Finding]:
    """Report a layer whose size is a NumPy integer."""
    if site.failure is not None and site.layer is not None:
        yield from rejected_units(site.failure.message, site.layer.code)


# --- from the failure ---------------------------------------------------------------------------------------------


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report the missing name in the exception, with the fix from the source line."""
    loaded = list(saved_by_keras_2(failure))
    for finding in loaded or _from_names(failure, project):
        yield _of_keras_2(finding) if is_keras_2(project) else _with_what_is_next(finding, project)


def _from_names(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    name, frame = missing_name(failure, project), failure.last_user_frame
    of_keras_1 = list(keras_1_call(failure, project)) if not name or not project else []
    if of_keras_1 or not name:
        yield from of_keras_1
        return
    module = module_of(project, frame)
    if module is not None and frame is not None:
        found = [
            *findings_at(module, failure, frame, name),
            *(each for each in _in_file(module) if is_raised_at(each, module, failure)),
        ]
        if found:
            yield replace(found[0], confidence=Confidence.CERTAIN)
            return
    yield finding_from_text(failure, name)


def _of_keras_2(finding: Finding) -> Finding:
    """Reword a finding for a Keras 2 program, which lacks the name as well; its imports differ, so no edits."""
    return replace(
        finding,
        message=finding.message.replace("Keras 3", "current Keras 2"),
        fixes=tuple(fix(each.title.replace("Keras 3", "Keras")) for each in finding.fixes),
    )


def _with_what_is_next(finding: Finding, project: Project) -> Finding:
    """Add the fixes of the other Keras 2 names in the file, which would fail one after the other."""
    if not project or finding.location is None or not finding.fixes:
        return finding
    module, first = project.module_at(finding.location.path), finding.fixes[0]
    if module is None or first.applicability is not Applicability.SAFE:
        return finding
    edits = list(first.edits)
    for other in from_source(module):
        remedy = other.fixes[0] if other.fixes else None
        if other.severity is not Severity.ERROR or remedy is None:
            continue
        if remedy.applicability is Applicability.SAFE and not _touch(remedy.edits, edits):
            edits += [edit for edit in remedy.edits if edit not in edits]
    if len(edits) == len(first.edits):
        return finding
    title = f"{first.title}, and update the other Keras 2 names in this file"
    return replace(finding, fixes=(replace(first, title=title, edits=tuple(edits)), *finding.fixes[1:]))


def _touch(some: Iterable[Edit], others: list[Edit]) -> bool:
    """Return whether edits overlap with different ones."""
    return any(
        (one.path, one.cell) == (other.path, other.cell)
        and (one.line, one.column) <= (other.end_line, other.end_column)
        and (other.line, other.column) <= (one.end_line, one.end_column)
        for edit in some
        for another in others
        if edit != another
        for one, other in ((edit.location, another.location),)
    )


@CAUSE.after_failure
def from_elsewhere(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report failures that Keras 2 did not have, such as several workers or short names in saved models."""
    for finding in findings_from_failure(CAUSE, (*_RULES, *_ONLY_AFTER_FAILURE), failure, project):
        yield _with_what_is_next(finding, project)
    yield from rejected_size(failure, project)
    yield from rejected_workers(failure, project)


# --- several workers --------------------------------------------------------------------------------------------------

_STRATEGIES = ("MultiWorkerMirroredStrategy", "ParameterServerStrategy")
_CALLED = ("fit", "evaluate", "predict")
_PER_REPLICA = "Attempt to convert a value (PerReplica:"
"""Keras 3.15 tries to average the batch, a tuple, across workers."""
_REDUCTION = "Invalid reduction dimension 0 for input with 0 dimensions"
"""Keras 3.3 sums the workers' losses along an axis that does not exist."""
_NO_COORDINATOR = "need to pass this dataset to ClusterCoordinator.create_per_worker_dataset"
"""Keras 3 iterates over the dataset itself, which only a `ClusterCoordinator` may do."""


def rejected_workers(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Explain the error of a `fit` under a multi-worker strategy."""
    named = _named_strategy(project)
    if failure.called not in _CALLED or project and not named:
        return
    asked = _NO_COORDINATOR in failure.message
    if not asked and _PER_REPLICA not in failure.message and not (named and _REDUCTION in failure.message):
        return
    strategy = named or _STRATEGIES[asked]
    yield CAUSE.certain(
        f"`{failure.called}` in Keras 3 does not support several workers (`{strategy}`); Keras 2 does",
        failure.location,
        Evidence("Keras 3 could not distribute the first batch"),
        fix(
            "train with Keras 2: install `tf_keras` and set `TF_USE_LEGACY_KERAS=1` before importing TensorFlow"
        ),
        fix(
            "write a custom training loop: `strategy.experimental_distribute_dataset` and `strategy.run` work"
            if not asked
            else "write a custom training loop with `tf.distribute.coordinator.ClusterCoordinator`"
        ),
        subject=strategy,
    )


def _named_strategy(project: Project) -> str:
    """Return the multi-worker strategy that the program names; "" if none."""
    if not project:
        return ""
    return next((name for name in _STRATEGIES if any(name in module.text for module in project.modules)), "")


# --- sizes that are not an int: NumPy integers, which Keras 2 accepts, or strings -------------------------------------

_REMEDY = "convert it with `int(…)`"


def rejected_units(message: str, code: Code | Unknown) -> Iterator[Finding]:
    """Report layer units that NumPy computes, from source."""
    units = code.argument("units", 0) if isinstance(code, Code) else None
    if units is not None and rejected_integer(message) is not None:
        yield CAUSE.finding(
            "`units` is a NumPy number, but Keras 3 expects an `int`",
            units.location,
            Evidence("argument of the layer", units.text, "an `int`"),
            fix(_REMEDY, (Edit(units.location, f"int({units.text})"),)),
            subject="argument units",
        )


def rejected_size(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report a NumPy integer that a Keras 3 layer rejected."""
    said = rejected_integer(failure.message)
    if said is None or failure.type not in ("ValueError", "TypeError"):
        return
    written = _written_size(said.name, failure, project)
    edits = [] if written is None else [Edit(written.location, f"int({written.text})")]
    seen = Evidence("argument of the layer", said.number or "a different type", "an `int`")
    yield CAUSE.certain(
        f"`{said.name}` is {said.number or 'a number'}, but not an `int`: Keras 3 rejects NumPy integers and strings",
        written.location if written is not None else failure.location,
        seen,
        fix(_REMEDY, edits),
        subject=f"argument {said.name}",
    )


def _written_size(name: str, failure: FailureFacts, project: Project) -> Code | None:
    """Return the argument of that name, if the failing line creates a single layer."""
    found = []
    for call in calls_at(failure, project):
        order = POSITIONAL.get(call.name.rpartition(".")[2], ())
        argument = call.argument(name, order.index(name) if name in order else None)
        if argument is not None and ".layers." in call.name:
            found.append(call.module.code(argument))
    return found[0] if len(found) == 1 else None


# --- models saved by Keras 2 ------------------------------------------------------------------------------------------

_REJECTED = re.compile(r"Unrecognized keyword arguments passed to (?P<layer>\w+): \{'(?P<name>\w+)'")
_LOADING = re.compile(r"\b(?:load_model\w*|model_from_\w+|from_config|deserialize_keras_object)\b")


def saved_by_keras_2(failure: FailureFacts) -> Iterator[Finding]:
    """Report a saved layer with an argument that Keras 3 removed: `time_major`, `groups`."""
    match = _REJECTED.search(failure.message) or _REJECTED.search(failure.raw_message)
    frame = failure.last_user_frame
    called = [each.function for each in failure.frames if each.library] + ([frame.text] if frame else [])
    if match is None or not any(_LOADING.search(each) for each in called):
        return
    layer, name = match["layer"], match["name"]
    own = "custom_objects={" + f'"{layer}": ' + "…}"
    yield CAUSE.certain(
        f"the model was saved with Keras 2: its `{layer}` layer has the argument `{name}`, which Keras 3 does not accept",
        failure.location,
        Evidence(f"argument of the saved {layer}", name),
        fix("load it with Keras 2: install `tf_keras` and call `tf_keras.models.load_model(…)`"),
        fix(f"pass `{own}` with a subclass that drops `{name}` and forwards the other arguments"),
        fix("rebuild the model and load only its weights with `load_weights`"),
        subject="load_model",
    )
