"""A callback that watches a value which fit does not have.

## What happens

With `mode="auto"` and a name that is no metric of the model, EarlyStopping, ModelCheckpoint and ReduceLROnPlateau
raise at the end of the first epoch: `ValueError: … received monitor=val_acc, but Keras isn't able to automatically
determine whether that metric should be maximized or minimized`. With a mode, or for `val_loss` without validation
data, they warn each epoch and never act: nothing stops, no best model is chosen, the rate stays. A callback of one's
own that reads such a name fails where it computes with it: `logs["acc"]` raises `KeyError`, and `logs.get("acc")` is None
(`'>' not supported between instances of 'NoneType' and 'float'`). A checkpoint whose path holds such a name fails at the
end of the first epoch, too: `KeyError: 'Failed to format this callback filepath: … Reason: 'val_acc''`.

## Why

The names are those of the metrics as they were given to `compile`: `"accuracy"` gives `accuracy` and
`val_accuracy`, never `acc`; `keras.metrics.AUC(name="area")` gives `area`. Names that begin with `val_` are there
only when fit gets `validation_data` or `validation_split`.

## Fix

Watch a name that is there, or give fit validation data.

## Known limits

Models with several outputs, models with their own steps or metrics, and fits with callbacks of the user's own
(which may add values) are judged only where no `val_` name can be there at all. Of a callback of one's own the reads are
judged that raise where they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.model.value_names import (
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
from fitdoctor.patterns import pattern
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.catalogue.model.logged_values import LoggedRead

WATCHERS = {"EarlyStopping": 0, "ModelCheckpoint": 1, "ReduceLROnPlateau": 0}
"""The callbacks that watch a value, and the position of `monitor` among their arguments."""

CAUSE = Cause(
    id="FIT322",
    slug="monitored-value-missing",
    severity=Severity.ERROR,
    raises=("ValueError", "TypeError", "KeyError"),
    # At the end of the first epoch.
    stage=2,
)

_SAID = pattern(r"(?P<callback>\w+) callback received monitor=(?P<monitor>[^,\n]+?),? but Keras isn't able")


@CAUSE.in_source
@CAUSE.before_fit
@mentions(*tuple(WATCHERS))
def from_call(model: ModelFacts, fit: FitFacts, project: Project | Unknown) -> Iterator[Finding]:
    """What the callback watches is not among what fit will have."""
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
    """A checkpoint that saves every epoch does not look at the value."""
    if callback.class_name != "ModelCheckpoint":
        return True
    return callback.setting("save_best_only") == "True" and callback.setting("save_freq") in (None, "epoch")


def _no_validation(
    callback: CallbackFacts, monitor: str, names: tuple[str, ...] | None, fit: FitFacts, keras: int
) -> Finding:
    raises = keras == 3 and _raises(callback, monitor, names)
    return CAUSE.finding(
        f"`{callback.class_name}` watches `{monitor}`, and fit gets no validation data: {_consequence(callback)}",
        subject=f"monitor of {callback.class_name}",
        location=place(fit.code, callback.code),
        evidence=[_watched(callback, monitor, names)],
        fixes=[
            unsafe("validate on a part of the data", set_argument(fit.code, "validation_split", "0.2"))
            if not isinstance(fit.code, Unknown)
            else unsafe("give fit validation data"),
            *_renamed(callback, monitor.removeprefix("val_"), names),
        ],
        confidence=Confidence.CERTAIN,
        severity=Severity.ERROR if raises else Severity.WARNING,
    )


def _consequence(callback: CallbackFacts) -> str:
    if callback.class_name == "ModelCheckpoint":
        return "it cannot tell which model is the best"
    return "it will never act"


def _raises(callback: CallbackFacts, monitor: str, names: tuple[str, ...] | None) -> bool:
    """Whether Keras 3 has to find out the direction, and cannot: the name is no metric. Keras 2 goes by the name."""
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
        f"`{callback.class_name}` watches `{monitor}`, which fit does not have: {then}",
        subject=f"monitor of {callback.class_name}",
        location=place(_monitor(callback), callback.code, fit.code if isinstance(fit, FitFacts) else None),
        evidence=[_watched(callback, monitor, names), *evidence],
        fixes=_fixes(callback, monitor, names),
        confidence=Confidence.CERTAIN,
        severity=Severity.ERROR if raises else Severity.WARNING,
    )


def _monitor(callback: CallbackFacts) -> Location | None:
    """Where the callback is told what to watch; that is another line than its beginning in a long call."""
    position = WATCHERS.get(callback.class_name)
    code = callback.code
    given = code.argument("monitor", position) if isinstance(code, Code) else None
    return given.whole if given is not None else None


def _watched(callback: CallbackFacts, monitor: str, names: tuple[str, ...] | None) -> Evidence:
    there = [name for name in names or () if name not in ADDED]
    return Evidence(
        claim="what is watched, and what fit will have",
        observed=f"`{monitor}`",
        expected=listing(there, 8),
        fact="fit.callbacks",
        location=place(callback.code),
    )


def _fixes(callback: CallbackFacts, monitor: str, names: tuple[str, ...]) -> list[Fix]:
    other = closest(monitor, names)
    if other is None:
        return [unsafe(f"watch one of {listing([name for name in names if name not in ADDED], 8)}")]
    # `acc` and `accuracy` are one metric; another one that is there is a guess.
    make = fix if other.removeprefix("val_") in twins(monitor.removeprefix("val_")) else unsafe
    return _renamed(callback, other, names, make) or [unsafe(f"watch `{other}`")]


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
    return [make(f"watch `{name}`", edits)]


def _is_call(callback: CallbackFacts) -> bool:
    """Whether the code is the very constructor call, not something that makes or holds the callback."""
    return isinstance(callback.code, Code) and callback.code.name.endswith(f".{callback.class_name}")


# --- paths of checkpoints -------------------------------------------------------------------------------------------


@CAUSE.in_source
@CAUSE.before_fit
@mentions("ModelCheckpoint")
def from_path(model: ModelFacts, fit: FitFacts, project: Project | Unknown) -> Iterator[Finding]:
    """The path of a checkpoint names a value that fit will not have."""
    if fit.method != "fit" or not model.compiled:
        return
    for callback in fit.callbacks:
        if callback.class_name != "ModelCheckpoint" or callback.setting("save_freq") not in (None, "epoch"):
            continue
        from fitdoctor.catalogue.model.checkpoint_names import named_in_path

        named = named_in_path(callback)
        names = available(model, fit, project) if named else None
        for name in named:
            if names is not None and name not in names and not may_be_numbered(name, names):
                yield _unnamed(name, names, callback, project, Confidence.CERTAIN, [])


@CAUSE.after_failure
def from_failed_path(
    failure: FailureFacts, model: ModelFacts | Unknown, fit: FitFacts | Unknown, project: Project | Unknown
) -> Iterator[Finding]:
    """Keras names the value that the path of a checkpoint asks for in vain."""
    from fitdoctor.catalogue.model.checkpoint_names import FAILED

    said = FAILED.search(failure.message)
    if said is None:
        return
    told = isinstance(model, ModelFacts) and isinstance(fit, FitFacts)
    names = available(model, fit, project) if told else None  # type: ignore[arg-type]
    frame = failure.last_user_frame
    evidence = [
        Evidence(
            claim="Keras could not format the path",
            fact="failure.message",
            location=frame.location if frame else None,
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
    from fitdoctor.catalogue.model.checkpoint_names import other_name, place_of, written_paths

    paths = written_paths(project, name)
    other = closest(name, names) if names else next(iter(twins(name.removeprefix("val_"))), None)
    if not names and other is not None and name.startswith("val_"):
        other = f"val_{other}"
    edits = [other_name(*path, name, other) for path in paths] if other is not None else []
    if edits and other is not None and callback.setting("monitor") == name:
        edits += [edit for remedy in _renamed(callback, other, names or None) for edit in remedy.edits]
    same = other is not None and other.removeprefix("val_") in twins(name.removeprefix("val_"))
    remedy = (fix if same else unsafe)(f"name `{other}` in the path", edits) if other else None
    return CAUSE.finding(
        f"the path of the checkpoint names `{name}`, which fit does not have",
        subject="path of ModelCheckpoint",
        location=place(place_of(paths), callback.code, *(each.location for each in evidence)),
        evidence=[_watched(callback, name, names), *evidence],
        fixes=[remedy or fix("name a value in the path that fit has")],
        confidence=confidence,
    )


# --- callbacks of the user's own --------------------------------------------------------------------------------------


@CAUSE.in_source
@CAUSE.before_fit
@mentions("logs")
def from_own_callback(model: ModelFacts, fit: FitFacts, project: Project) -> Iterator[Finding]:
    """A callback reads a value that fit will not have, in a way that raises."""
    given = {callback.class_name for callback in fit.callbacks} - HARMLESS
    if fit.method != "fit" or not model.compiled or not given:
        return
    from fitdoctor.catalogue.model.logged_values import logged_reads, writes_logs

    names = names_of_values(model, fit, project)
    if names is None or writes_logs(project):
        return
    for module in project.modules:
        for read in logged_reads(module):
            owner = read.function.owner
            there = _there(read, names)
            if owner is not None and owner.name in given and read.raises and read.name not in there:
                if not may_be_numbered(read.name, there):
                    yield _unlogged(read, there, fit, Confidence.LIKELY, [])


@CAUSE.after_failure
def from_failed_callback(
    failure: FailureFacts, model: ModelFacts | Unknown, fit: FitFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """A callback of the user's own failed for a value that is not in `logs`."""
    if failure.last_user_frame is None or not failure.last_user_frame.function.startswith("on_"):
        return
    from fitdoctor.catalogue.model.logged_values import failed_read

    read = failed_read(failure, project)
    if read is None:
        return
    told = isinstance(model, ModelFacts) and isinstance(fit, FitFacts)
    names = names_of_values(model, fit, project) if told else None  # type: ignore[arg-type]
    evidence = [Evidence(claim="what it failed with", observed=failure.message[:120], fact="failure.message")]
    yield _unlogged(read, _there(read, names or ()), fit, Confidence.CERTAIN, evidence)


@CAUSE.in_source
@mentions("val_")
def from_history(module: Module, project: Project) -> Iterator[Finding]:
    """The history is asked for what a validation would have given."""
    from fitdoctor.catalogue.model.history_reads import unvalidated_reads

    yield from unvalidated_reads(CAUSE, module, project)


@CAUSE.after_failure
def from_failed_history(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """The same, when it was."""
    from fitdoctor.catalogue.model.history_reads import failed_read

    yield from failed_read(CAUSE, failure, project)


@CAUSE.after_failure
def from_failed_line(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """The same from the traceback alone: it quotes the line that reads."""
    from fitdoctor.catalogue.model.quoted_reads import quoted_reads

    if not isinstance(project, Project):
        yield from quoted_reads(CAUSE, failure)


def _there(read: LoggedRead, names: tuple[str, ...]) -> tuple[str, ...]:
    """What `logs` has when the method is called."""
    return tuple(name for name in names if read.with_validation or not name.startswith("val_"))


def _unlogged(
    read: LoggedRead,
    names: tuple[str, ...],
    fit: FitFacts | Unknown,
    confidence: Confidence,
    evidence: list[Evidence],
) -> Finding:
    there = [name for name in names if name not in ADDED]
    told = f"it has {listing(there, 8)}" if there else "its names are those of the metrics"
    owner = read.function.owner
    return CAUSE.finding(
        f"`{read.function.name}` reads `{read.name}`, which fit does not have: {told}",
        subject=f"logs of {owner.name if owner is not None else read.function.name}",
        location=read.module.location(read.node),
        evidence=[
            Evidence(
                claim="what is read, and what fit has",
                observed=f"`{read.name}`",
                expected=listing(there, 8),
                location=read.module.location(read.node),
            ),
            *evidence,
        ],
        fixes=_read_instead(read, names, fit),
        confidence=confidence,
    )


def _read_instead(read: LoggedRead, names: tuple[str, ...], fit: FitFacts | Unknown) -> list[Fix]:
    other = closest(read.name, names)
    if other is None or other.removeprefix("val_") not in twins(read.name.removeprefix("val_")):
        if read.name.startswith("val_") and isinstance(fit, FitFacts) and not has_validation(fit):
            edits = set_argument(fit.code, "validation_split", "0.2") if isinstance(fit.code, Code) else ()
            return [unsafe("validate on a part of the data", edits)]
        return [fix("read a name that fit has" + (f", such as `{other}`" if other else ""))]
    text = read.module.segment(read.key).replace(read.name, other)
    return [fix(f"read `{other}`", (Edit(read.module.location(read.key), text),))]


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    project: Project | Unknown,
) -> Iterator[Finding]:
    """Keras names the callback and the value."""
    said = _SAID.search(failure.message)
    if said is None:
        return
    monitor, name = said["monitor"], said["callback"]
    evidence = [Evidence(claim="Keras cannot tell its direction", fact="failure.message")]
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
        f"`{name}` watches `{monitor}`, "
        + (
            "of which Keras does not know whether more is better"
            if exists
            else "which is no metric of the model"
        ),
        subject=f"monitor of {name}",
        location=place(_monitor(callback), callback.code, frame.location if frame else None),
        evidence=evidence,
        fixes=[
            unsafe(
                'say `mode="max"` or `mode="min"`' if exists else "watch the name of a metric that there is"
            )
        ],
        confidence=Confidence.CERTAIN,
    )


def _callback(name: str, monitor: str, fit: FitFacts | Unknown, project: Project | Unknown) -> CallbackFacts:
    """The callback that Keras names: of the call, or else the one place in the source that makes such a one."""
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
