"""Callback that monitors a value `fit` does not report.

## What happens

With `mode="auto"` and a name that is not a metric of the model, `EarlyStopping`, `ModelCheckpoint` and
`ReduceLROnPlateau` raise at the end of the first epoch: `ValueError: … received monitor=val_acc, but Keras isn't able to
automatically determine whether that metric should be maximized or minimized`. With an explicit mode, or for `val_loss`
without validation data, they only warn each epoch and never act: training does not stop early, no best model is chosen,
the learning rate stays the same.

A custom callback that reads such a name fails: `logs["acc"]` raises `KeyError`, and `logs.get("acc")` is `None`
(`'>' not supported between instances of 'NoneType' and 'float'`). A checkpoint path that contains such a name fails at
the end of the first epoch: `KeyError: 'Failed to format this callback filepath: … Reason: 'val_acc''`. So does reading
the history that `fit` returns: `history.history["accuracy"]` raises `KeyError` if that metric was never compiled.

## Why

The names are those of the metrics passed to `compile`: `"accuracy"` gives `accuracy` and `val_accuracy`, never `acc`;
`keras.metrics.AUC(name="area")` gives `area`. Names that start with `val_` exist only if `fit` gets `validation_data` or
`validation_split`.

## Fix

Monitor a name that exists, or pass validation data to `fit`.

## Known limits

For models with several outputs or with custom steps or metrics, and for calls with custom callbacks (which may add
values), only a `val_` name without validation data is reported. In a custom callback, only reads that raise on the spot
are reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.model.monitored_value_missing.value_names import (
    ADDED,
    HARMLESS,
    OWN_STEPS,
    adds_nothing,
    available,
    closest,
    has_validation,
    may_be_numbered,
    names_of_values,
    twins,
)
from fitdoctor.catalogue.words import listing, place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, set_argument, unsafe
from fitdoctor.facts import CallbackFacts, Code, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.source.module import ClassInfo, Module
from fitdoctor.source.project import Project

if TYPE_CHECKING:
    from fitdoctor.catalogue.model.monitored_value_missing.logged_values import LoggedRead

WATCHERS = {"EarlyStopping": 0, "ModelCheckpoint": 1, "ReduceLROnPlateau": 0}
"""Callbacks that monitor a value, with the position of their `monitor` argument."""

CAUSE = Cause(
    id="FIT322",
    slug="monitored-value-missing",
    severity=Severity.ERROR,
    raises=("ValueError", "TypeError", "KeyError"),
    # Raised at the end of the first epoch.
    stage=2,
)

_SAID = re.compile(
    r"(?P<callback>\w+) callback received monitor=(?P<monitor>[^,\n]+?),? but Keras isn't able"
)


@CAUSE.in_source
@CAUSE.before_fit
@mentions(*tuple(WATCHERS))
def from_call(model: ModelFacts, fit: FitFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report a callback whose monitored value `fit` will not report."""
    if fit.method != "fit" or not model.compiled:
        return
    for callback in fit.callbacks:
        monitor = callback.setting("monitor")
        if callback.class_name not in WATCHERS or not monitor or not _acts_on_it(callback):
            continue
        names = available(model, fit, project)
        plain = adds_nothing(fit) and not OWN_STEPS & set(model.overrides)
        if monitor.startswith("val_") and not has_validation(fit) and plain:
            yield _no_validation(callback, monitor, names, fit, model.keras)
        elif names is not None and monitor not in names and not may_be_numbered(monitor, names):
            yield _missing(callback, monitor, names, fit, [], model.keras)


def _acts_on_it(callback: CallbackFacts) -> bool:
    """Whether the callback uses the value: a checkpoint that saves every epoch does not."""
    if callback.class_name != "ModelCheckpoint":
        return True
    return callback.setting("save_best_only") == "True" and callback.setting("save_freq") in (None, "epoch")


def _no_validation(
    callback: CallbackFacts, monitor: str, names: tuple[str, ...] | None, fit: FitFacts, keras: int
) -> Finding:
    raises = keras == 3 and _raises(callback, monitor, names)
    return CAUSE.finding(
        f"`{callback.class_name}` monitors `{monitor}`, but `fit` receives no validation data: {_consequence(callback)}",
        place(fit.code, callback.code),
        _watched(callback, monitor, names),
        unsafe("validate on part of the data", set_argument(fit.code, "validation_split", "0.2"))
        if not isinstance(fit.code, Unknown)
        else unsafe("pass validation data to `fit`"),
        *_renamed(callback, monitor.removeprefix("val_"), names),
        subject=f"monitor of {callback.class_name}",
        confidence=Confidence.CERTAIN,
        severity=Severity.ERROR if raises else Severity.WARNING,
    )


def _consequence(callback: CallbackFacts) -> str:
    if callback.class_name == "ModelCheckpoint":
        return "it cannot tell which model is best"
    return "it never acts"


def _raises(callback: CallbackFacts, monitor: str, names: tuple[str, ...] | None) -> bool:
    """Whether Keras 3 has to infer the direction and cannot, as the name is not a metric. Keras 2 uses the name itself."""
    plain = monitor.removeprefix("val_")
    if callback.setting("mode") not in (None, "auto") or names is None:
        return False
    return plain != "loss" and plain not in names


def _missing(
    callback: CallbackFacts,
    monitor: str,
    names: tuple[str, ...],
    fit: FitFacts | Unknown,
    evidence: list[Evidence],
    keras: int = 3,
) -> Finding:
    raises = keras == 3 and _raises(callback, monitor, names)
    then = "Keras raises at the end of the first epoch" if raises else _consequence(callback)
    return CAUSE.finding(
        f"`{callback.class_name}` monitors `{monitor}`, which `fit` does not report: {then}",
        place(_monitor(callback), callback.code, fit.code if isinstance(fit, FitFacts) else None),
        _watched(callback, monitor, names),
        *evidence,
        *_fixes(callback, monitor, names),
        subject=f"monitor of {callback.class_name}",
        confidence=Confidence.CERTAIN,
        severity=Severity.ERROR if raises else Severity.WARNING,
    )


def _monitor(callback: CallbackFacts) -> Location | None:
    """Return where `monitor` is set, which may be another line than the start of a long call."""
    position = WATCHERS.get(callback.class_name)
    code = callback.code
    given = code.argument("monitor", position) if isinstance(code, Code) else None
    return given.whole if given is not None else None


def _watched(callback: CallbackFacts, monitor: str, names: tuple[str, ...] | None) -> Evidence:
    there = [name for name in names or () if name not in ADDED]
    return Evidence(
        "monitored value",
        f"`{monitor}`",
        listing(there, 8),
        fact="fit.callbacks",
        location=place(callback.code),
    )


def _fixes(callback: CallbackFacts, monitor: str, names: tuple[str, ...]) -> list[Fix]:
    other = closest(monitor, names)
    if other is None:
        return [unsafe(f"monitor one of {listing([name for name in names if name not in ADDED], 8)}")]
    # `acc` and `accuracy` are one metric; any other name is a guess.
    make = fix if other.removeprefix("val_") in twins(monitor.removeprefix("val_")) else unsafe
    return _renamed(callback, other, names, make) or [unsafe(f"monitor `{other}`")]


def _renamed(
    callback: CallbackFacts,
    name: str,
    names: tuple[str, ...] | None,
    make: Callable[[str, tuple[Edit, ...]], Fix] = unsafe,
) -> list[Fix]:
    if names is not None and name not in names:
        return []
    position = WATCHERS.get(callback.class_name)
    edits = set_argument(callback.code, "monitor", f'"{name}"', position) if _is_call(callback) else ()
    return [make(f"monitor `{name}`", edits)]


def _is_call(callback: CallbackFacts) -> bool:
    """Whether the code is the constructor call itself, not a factory or a variable."""
    return isinstance(callback.code, Code) and callback.code.name.endswith(f".{callback.class_name}")


# --- paths of checkpoints -------------------------------------------------------------------------------------------


@CAUSE.in_source
@CAUSE.before_fit
@mentions("ModelCheckpoint")
def from_path(model: ModelFacts, fit: FitFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report a checkpoint path with a value that `fit` will not report."""
    if fit.method != "fit" or not model.compiled:
        return
    for callback in fit.callbacks:
        if callback.class_name != "ModelCheckpoint" or callback.setting("save_freq") not in (None, "epoch"):
            continue
        from fitdoctor.catalogue.model.monitored_value_missing.checkpoint_names import named_in_path

        named = named_in_path(callback)
        names = available(model, fit, project) if named else None
        for name in named:
            if names is not None and name not in names and not may_be_numbered(name, names):
                yield _unnamed(name, names, callback, project, Confidence.CERTAIN, [])


@CAUSE.after_failure
def from_failed_path(
    failure: FailureFacts, model: ModelFacts | Unknown, fit: FitFacts | Unknown, project: Project | Unknown
) -> Iterator[Finding]:
    """Read the missing value of a checkpoint path from the Keras error."""
    from fitdoctor.catalogue.model.monitored_value_missing.checkpoint_names import FAILED

    said = FAILED.search(failure.message)
    if said is None:
        return
    told = isinstance(model, ModelFacts) and isinstance(fit, FitFacts)
    names = available(model, fit, project) if told else None  # type: ignore[arg-type]
    frame = failure.last_user_frame
    evidence = [
        Evidence(
            "Keras cannot format the path", fact="failure.message", location=frame.location if frame else None
        )
    ]
    callback = next(
        (each for each in (fit.callbacks if isinstance(fit, FitFacts) else ()) if each.setting("filepath")),
        CallbackFacts("ModelCheckpoint"),
    )
    yield _unnamed(said["name"], names or (), callback, project, Confidence.CERTAIN, evidence)


def _unnamed(
    name: str,
    names: tuple[str, ...],
    callback: CallbackFacts,
    project: Project | Unknown,
    confidence: Confidence,
    evidence: list[Evidence],
) -> Finding:
    from fitdoctor.catalogue.model.monitored_value_missing.checkpoint_names import (
        other_name,
        place_of,
        written_paths,
    )

    paths = written_paths(project, name)
    other = closest(name, names) if names else next(iter(twins(name.removeprefix("val_"))), None)
    if not names and other is not None and name.startswith("val_"):
        other = f"val_{other}"
    edits = [other_name(*path, name, other) for path in paths] if other is not None else []
    if edits and other is not None and callback.setting("monitor") == name:
        edits += [edit for remedy in _renamed(callback, other, names or None) for edit in remedy.edits]
    same = other is not None and other.removeprefix("val_") in twins(name.removeprefix("val_"))
    remedy = (fix if same else unsafe)(f"use `{other}` in the path", edits) if other else None
    return CAUSE.finding(
        f"the checkpoint path uses `{name}`, which `fit` does not report",
        place(place_of(paths), callback.code, *(each.location for each in evidence)),
        _watched(callback, name, names),
        *evidence,
        remedy or fix("use a value that `fit` reports in the path"),
        subject="path of ModelCheckpoint",
        confidence=confidence,
    )


# --- custom callbacks --------------------------------------------------------------------------------------


@CAUSE.in_source
@CAUSE.before_fit
@mentions("logs")
def from_own_callback(model: ModelFacts, fit: FitFacts, project: Project) -> Iterator[Finding]:
    """Report a custom callback whose read of a missing value raises."""
    given = {callback.class_name for callback in fit.callbacks} - HARMLESS
    if fit.method != "fit" or not model.compiled or not given:
        return
    from fitdoctor.catalogue.model.monitored_value_missing.logged_values import logged_reads, writes_logs

    names = names_of_values(model, fit, project)
    if names is None or writes_logs(project):
        return
    for module in project.modules:
        for read in logged_reads(module):
            owner = read.function.owner
            there = _there(read, names)
            if owner is None or owner.name not in given or not _is_meant(owner, fit, project):
                continue
            if read.raises and read.name not in there:
                if not may_be_numbered(read.name, there):
                    yield _unlogged(read, there, fit, Confidence.LIKELY, [])


def _is_meant(owner: ClassInfo, fit: FitFacts, project: Project) -> bool:
    """Return whether the program of a fit means this class, where another script has one of the same name."""
    if project.class_named(owner.name) is owner:
        return True
    return not isinstance(fit.code, Unknown) and project.module_at(fit.code.location.path) is owner.module


@CAUSE.after_failure
def from_failed_callback(
    failure: FailureFacts, model: ModelFacts | Unknown, fit: FitFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Explain a custom callback that failed on a value missing from `logs`."""
    if failure.last_user_frame is None or not failure.last_user_frame.function.startswith("on_"):
        return
    from fitdoctor.catalogue.model.monitored_value_missing.logged_values import failed_read

    read = failed_read(failure, project)
    if read is None:
        return
    told = isinstance(model, ModelFacts) and isinstance(fit, FitFacts)
    names = names_of_values(model, fit, project) if told else None  # type: ignore[arg-type]
    evidence = [Evidence("the callback raises", failure.message[:120], fact="failure.message")]
    yield _unlogged(read, _there(read, names or ()), fit, Confidence.CERTAIN, evidence)


@CAUSE.in_source
@mentions("history")
def from_history(module: Module, project: Project) -> Iterator[Finding]:
    """Report reads of keys that the history of a fit cannot have."""
    from fitdoctor.catalogue.model.monitored_value_missing.history_reads import (
        unknown_keys,
        unvalidated_reads,
    )

    found = list(unvalidated_reads(CAUSE, module, project))
    yield from found
    told = {one.location for one in found}
    yield from (one for one in unknown_keys(CAUSE, module, project) if one.location not in told)


@CAUSE.after_failure
def from_failed_history(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain a `KeyError` from such a read of the history."""
    from fitdoctor.catalogue.model.monitored_value_missing.history_reads import failed_key, failed_read

    yield from failed_read(CAUSE, failure, project)
    yield from failed_key(CAUSE, failure, project)


@CAUSE.after_failure
def from_failed_line(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain it from the traceback alone, which quotes the line."""
    from fitdoctor.catalogue.model.monitored_value_missing.quoted_reads import quoted_reads

    if not isinstance(project, Project):
        yield from quoted_reads(CAUSE, failure)


def _there(read: LoggedRead, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names in `logs` when the method is called."""
    return tuple(name for name in names if read.with_validation or not name.startswith("val_"))


def _unlogged(
    read: LoggedRead,
    names: tuple[str, ...],
    fit: FitFacts | Unknown,
    confidence: Confidence,
    evidence: list[Evidence],
) -> Finding:
    there = [name for name in names if name not in ADDED]
    told = f"it reports {listing(there, 8)}" if there else "it uses the names of the metrics"
    owner = read.function.owner
    return CAUSE.finding(
        f"`{read.function.name}` reads `{read.name}`, which `fit` does not report: {told}",
        read.module.location(read.node),
        Evidence("value read", f"`{read.name}`", listing(there, 8), location=read.module.location(read.node)),
        *evidence,
        *_read_instead(read, names, fit),
        subject=f"logs of {owner.name if owner is not None else read.function.name}",
        confidence=confidence,
    )


def _read_instead(read: LoggedRead, names: tuple[str, ...], fit: FitFacts | Unknown) -> list[Fix]:
    other = closest(read.name, names)
    if other is None or other.removeprefix("val_") not in twins(read.name.removeprefix("val_")):
        if read.name.startswith("val_") and isinstance(fit, FitFacts) and not has_validation(fit):
            edits = set_argument(fit.code, "validation_split", "0.2") if isinstance(fit.code, Code) else ()
            return [unsafe("validate on part of the data", edits)]
        return [fix("read a value that `fit` reports" + (f", such as `{other}`" if other else ""))]
    text = read.module.segment(read.key).replace(read.name, other)
    return [fix(f"read `{other}`", (Edit(read.module.location(read.key), text),))]


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, model: ModelFacts | Unknown, fit: FitFacts | Unknown, project: Project | Unknown
) -> Iterator[Finding]:
    """Read the callback and the value from the Keras error."""
    said = _SAID.search(failure.message)
    if said is None:
        return
    monitor, name = said["monitor"], said["callback"]
    evidence = [Evidence("Keras cannot tell whether to maximize or minimize it", fact="failure.message")]
    callback = _callback(name, monitor, fit, project)
    names = (
        available(model, fit, project)
        if isinstance(model, ModelFacts) and isinstance(fit, FitFacts)
        else None
    )
    if names is not None and monitor not in names:
        yield _missing(callback, monitor, names, fit, evidence)
        return
    frame = failure.last_user_frame
    exists = names is not None
    yield CAUSE.finding(
        f"`{name}` monitors `{monitor}`, "
        + (
            "but Keras does not know whether to maximize or minimize it"
            if exists
            else "which is not a metric of the model"
        ),
        place(_monitor(callback), callback.code, frame.location if frame else None),
        *evidence,
        unsafe('set `mode="max"` or `mode="min"`' if exists else "monitor a metric that the model has"),
        subject=f"monitor of {name}",
        confidence=Confidence.CERTAIN,
    )


def _callback(name: str, monitor: str, fit: FitFacts | Unknown, project: Project | Unknown) -> CallbackFacts:
    """Return the callback that Keras names: from the call, else the only one in the source that matches."""
    for callback in fit.callbacks if isinstance(fit, FitFacts) else ():
        if callback.class_name == name and callback.setting("monitor") == monitor:
            return callback
    found: list[Code] = []
    for module in project.modules if isinstance(project, Project) else ():
        found += _makers(module, name, monitor)
    code = found[0] if len(found) == 1 else Unknown()
    return CallbackFacts(name, (("monitor", monitor), ("mode", "auto")), code)


def _makers(module: Module, name: str, monitor: str) -> list[Code]:
    return [
        module.code(site.node)
        for site in module.calls_to(f"keras.callbacks.{name}")
        if monitor in module.segment(site.node)
    ]


CAUSE.message(
    r"conditioned on metric `(?P<name>\w+)` which is not available\. Available metrics are: (?P<there>[\w,]{0,300})",
    "a callback monitors `{name}`, which `fit` does not report; it reports {there}",
    "monitor one of the names that are reported",
    subject="callbacks",
    confidence=Confidence.CERTAIN,
)
CAUSE.message(
    r"Can save best model only with (?P<name>\w+) available",
    "`ModelCheckpoint` monitors `{name}`, which `fit` does not report, so it saves nothing",
    "monitor a name that `fit` reports, such as `loss`, `val_loss` or `val_accuracy`",
    subject="callbacks",
    confidence=Confidence.CERTAIN,
)
