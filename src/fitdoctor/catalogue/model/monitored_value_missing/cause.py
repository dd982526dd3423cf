"""Callback that monitors a value `fit` does not report.

## What happens

With `mode="auto"` and a name that is not a metric of the model, `EarlyStopping`, `ModelCheckpoint` and
`ReduceLROnPlateau` raise at the end of the first epoch: `ValueError: … received monitor=val_acc, but Keras isn't able to
automatically determine whether that metric should be maximized or minimized`. With an explicit mode, or for `val_loss`
without validation data, they only warn each epoch and never act: training does not stop early, no best model is chosen,
the learning rate stays the same.

With the wrong explicit mode, `mode="min"` for an accuracy or `mode="max"` for a loss, they run without an error, but treat
the worst epoch as the best: early stopping ends the training while it improves and restores the worst weights.

A custom callback that reads such a name fails: `logs["acc"]` raises `KeyError`, and `logs.get("acc")` is `None`
(`'>' not supported between instances of 'NoneType' and 'float'`). A checkpoint path that contains such a name fails at
the end of the first epoch: `KeyError: 'Failed to format this callback filepath: … Reason: 'val_acc''`. So does reading
the history that `fit` returns: `history.history["accuracy"]` raises `KeyError` if that metric was never compiled.

## Why

The names are those of the metrics passed to `compile`: `"accuracy"` gives `accuracy` and `val_accuracy`, never `acc`;
`keras.metrics.AUC(name="area")` gives `area`. Names that start with `val_` exist only if `fit` gets `validation_data` or
`validation_split`.

## Fix

Monitor a name that exists, or pass validation data to `fit`. Use `mode="max"` for a metric whose higher values are better.

## Known limits

For models with several outputs or with custom steps or metrics, and for calls with custom callbacks (which may add
values), only a `val_` name without validation data is reported. In a custom callback, only reads that raise on the spot
are reported. The mode is compared only for the loss and Keras's own metrics.
"""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Callable, Collection, Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.rules import certain
from fitdoctor.catalogue.words import listing, place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import correction, fix, set_argument, unsafe
from fitdoctor.facts import CallbackFacts, Code, FailureFacts, FitFacts, MetricFacts, ModelFacts, Unknown
from fitdoctor.failure.failed_line import at_frame, module_of
from fitdoctor.records import dataclass, replace
from fitdoctor.source.conditions import is_conditional
from fitdoctor.source.fits.fit_sites import fit_sites
from fitdoctor.source.keras_objects import is_keras_model
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.project import NO_FILES, Project

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


def _seen(what: str, name: str, names: tuple[str, ...] | None, location: Location | None) -> Evidence:
    """Return the name that is asked for, next to those that `fit` reports."""
    return Evidence(what, f"`{name}`", _reported(names), location=location)


def _reported(names: tuple[str, ...] | None) -> str:
    return listing([name for name in names or () if name not in ADDED], 8)


def _validate(code: Code | Unknown) -> Fix:
    if isinstance(code, Unknown):
        return unsafe("pass validation data to `fit`")
    return unsafe("validate on part of the data", set_argument(code, "validation_split", "0.2"))


# --- monitors and paths of Keras's callbacks ------------------------------------------------------------------------


@CAUSE.in_source
@CAUSE.before_fit
@mentions(*tuple(WATCHERS))
def from_call(model: ModelFacts, fit: FitFacts, project: Project) -> Iterator[Finding]:
    """Report a callback that monitors, or a checkpoint path with, a value that `fit` will not report."""
    if fit.method != "fit" or not model.compiled:
        return
    for callback in fit.callbacks:
        monitor = callback.setting("monitor")
        if callback.class_name not in WATCHERS or not _is_called_per_epoch(callback):
            continue
        names = available(model, fit, project)
        plain = adds_nothing(fit) and not OWN_STEPS & set(model.overrides)
        if not monitor or callback.class_name == "ModelCheckpoint" and not _saves_best(callback):
            pass  # a checkpoint that saves every epoch does not use the value
        elif monitor.startswith("val_") and not has_validation(fit) and plain:
            yield _no_validation(callback, monitor, names, fit, model.keras)
        elif names is not None and monitor not in names and not may_be_numbered(monitor, names):
            found = _missing(callback, monitor, names, fit, model.keras)
            yield replace(found, fixes=(*_reporting(monitor, model), *found.fixes))
        elif callback.setting("mode") == _WRONG_MODES.get(_better(model, monitor.removeprefix("val_"))):
            yield _reversed(callback, monitor)
        for name in _named_in_path(callback):
            if names is not None and name not in names and not may_be_numbered(name, names):
                yield _unnamed(name, names, callback, project)


_WRONG_MODES = {"higher": "min", "lower": "max"}
_HIGHER = re.compile(
    r"accuracy|^auc$|^precision|^recall|f1score|fbetascore|iou$|sensitivity|specificity|^r2score$"
)
_LOWER = re.compile(r"error$|crossentropy$|divergence$|hinge$|^m[as]p?e$")
"""Classes of Keras's metrics, or the names that `compile` accepts for them, by their better values."""


def _better(model: ModelFacts, name: str) -> str:
    """Return whether `higher` or `lower` values of a loss or metric of Keras's are better; "" if unknown."""
    if name == "loss":
        return "lower"
    metric = next((each for each in model.metrics if each.name == name and each.builtin), None)
    kind = (metric.class_name or metric.name).replace("_", "").lower() if metric is not None else ""
    return "higher" if _HIGHER.search(kind) else "lower" if _LOWER.search(kind) else ""


def _reversed(callback: CallbackFacts, monitor: str) -> Finding:
    code, mode = callback.code, callback.setting("mode")
    given = code.argument("mode") if isinstance(code, Code) else None
    better = "max" if mode == "min" else "min"
    return CAUSE.certain(
        f'`{callback.class_name}` monitors `{monitor}` with `mode="{mode}"`: it treats the worst epoch as the best',
        place(given.location if given is not None else None, code),
        Evidence("mode", f'"{mode}"', f'"{better}"', fact="fit.callbacks"),
        fix(f'set `mode="{better}"`', set_argument(code, "mode", f'"{better}"')),
        subject=f"mode of {callback.class_name}",
        severity=Severity.WARNING,
    )


def _is_called_per_epoch(callback: CallbackFacts) -> bool:
    return callback.class_name != "ModelCheckpoint" or callback.setting("save_freq") in (None, "epoch")


def _saves_best(callback: CallbackFacts) -> bool:
    return callback.setting("save_best_only") == "True"


def _no_validation(
    callback: CallbackFacts, monitor: str, names: tuple[str, ...] | None, fit: FitFacts, keras: int
) -> Finding:
    raises = keras == 3 and _raises(callback, monitor, names)
    return CAUSE.certain(
        f"`{callback.class_name}` monitors `{monitor}`, but `fit` receives no validation data: {_consequence(callback)}",
        place(fit.code, callback.code),
        _seen("monitored value", monitor, names, place(callback.code)),
        _validate(fit.code),
        *_renamed(callback, monitor.removeprefix("val_"), names),
        subject=f"monitor of {callback.class_name}",
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
    keras: int = 3,
    *evidence: Evidence,
) -> Finding:
    raises = keras == 3 and _raises(callback, monitor, names)
    then = "Keras raises at the end of the first epoch" if raises else _consequence(callback)
    return CAUSE.certain(
        f"`{callback.class_name}` monitors `{monitor}`, which `fit` does not report: {then}",
        place(_monitor(callback), callback.code, fit.code if isinstance(fit, FitFacts) else None),
        _seen("monitored value", monitor, names, place(callback.code)),
        *evidence,
        *_fixes(callback, monitor, names),
        subject=f"monitor of {callback.class_name}",
        severity=Severity.ERROR if raises else Severity.WARNING,
    )


def _monitor(callback: CallbackFacts) -> Location | None:
    """Return where `monitor` is set, which may be another line than the start of a long call."""
    position = WATCHERS.get(callback.class_name)
    code = callback.code
    given = code.argument("monitor", position) if isinstance(code, Code) else None
    return given.whole if given is not None else None


def _fixes(callback: CallbackFacts, monitor: str, names: tuple[str, ...]) -> list[Fix]:
    other = closest(monitor, names)
    if other is None:
        return [unsafe(f"monitor one of {_reported(names)}")]
    # `acc` and `accuracy` are one metric; any other name is a guess.
    make = fix if is_same(monitor, other) else unsafe
    return _renamed(callback, other, names, make) or [unsafe(f"monitor `{other}`")]


def _reporting(monitor: str, model: ModelFacts) -> list[Fix]:
    """Compile a model that has no metrics with the one that a callback monitors."""
    name, call = monitor.removeprefix("val_"), model.compile_code
    plain = name.replace("_", "")
    known = plain == "acc" or _HIGHER.search(plain) or _LOWER.search(plain)
    if not known or model.metrics or isinstance(call, Unknown) or call.argument("metrics") is not None:
        return []
    return [
        correction(
            f"report it: compile with `{name}` as a metric", set_argument(call, "metrics", f'["{name}"]')
        )
    ]


def _renamed(
    callback: CallbackFacts,
    name: str,
    names: tuple[str, ...] | None,
    make: Callable[[str, tuple[Edit, ...]], Fix] = unsafe,
) -> list[Fix]:
    if names is not None and name not in names:
        return []
    code, position = callback.code, WATCHERS.get(callback.class_name)
    # The code may also be a factory or a variable.
    made = isinstance(code, Code) and code.name.endswith(f".{callback.class_name}")
    return [make(f"monitor `{name}`", set_argument(code, "monitor", f'"{name}"', position) if made else ())]


def _named_in_path(callback: CallbackFacts) -> list[str]:
    """Return the values in a checkpoint path (`{val_accuracy:.2f}`) other than the epoch and batch numbers."""
    try:
        fields = [field for _text, field, *_ in string.Formatter().parse(callback.setting("filepath") or "")]
    except ValueError:
        return []
    return [field for field in fields if field and field.isidentifier() and field not in ("epoch", "batch")]


def _unnamed(
    name: str,
    names: tuple[str, ...],
    callback: CallbackFacts,
    project: Project,
    *evidence: Evidence,
) -> Finding:
    paths = list(_written_paths(project, name))
    if names:
        other = closest(name, names)
    else:
        prefix = "val_" if name.startswith("val_") else ""
        other = next((prefix + twin for twin in twins(name.removeprefix("val_"))), None)
    remedy = fix("use a value that `fit` reports in the path")
    if other is not None:
        edits = [
            Edit(module.location(node), re.sub(rf"\{{{name}(?=[:}}!])", f"{{{other}", module.segment(node)))
            for module, node in paths
        ]
        if edits and callback.setting("monitor") == name:
            edits += [edit for each in _renamed(callback, other, names or None) for edit in each.edits]
        remedy = (fix if is_same(name, other) else unsafe)(f"use `{other}` in the path", edits)
    written = paths[0][0].location(paths[0][1]) if len(paths) == 1 else None
    return CAUSE.certain(
        f"the checkpoint path uses `{name}`, which `fit` does not report",
        place(written, callback.code, *(each.location for each in evidence)),
        _seen("value in the path", name, names, place(callback.code)),
        *evidence,
        remedy,
        subject="path of ModelCheckpoint",
    )


def _written_paths(project: Project, name: str) -> Iterator[tuple[Module, ast.Constant]]:
    """Yield the string literals of the program that contain the value."""
    field = re.compile(rf"\{{{name}[:}}!]")
    for module in project.modules:
        for node in module.nodes(ast.Constant) if module.calls_to("keras.callbacks.ModelCheckpoint") else ():
            # In an f-string, braces are doubled.
            whole = not isinstance(module.parent(node), ast.JoinedStr)
            if isinstance(node.value, str) and field.search(node.value) and whole:
                yield module, node


_UNDECIDED = re.compile(
    r"(?P<callback>\w+) callback received monitor=(?P<monitor>[^,\n]+?),? but Keras isn't able"
)
_UNFORMATTED = re.compile(r"Failed to format this callback filepath: [\s\S]*Reason: [\\']*(?P<name>\w+)")


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, model: ModelFacts | Unknown, fit: FitFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Read the callback and the value from the Keras error."""
    said, path = _UNDECIDED.search(failure.message), _UNFORMATTED.search(failure.message)
    here = failure.location
    given = fit.callbacks if isinstance(fit, FitFacts) else ()
    names = available(model, fit, project) if said or path else None
    if path:
        evidence = Evidence("Keras cannot format the path", location=here)
        saver = next((each for each in given if each.setting("filepath")), CallbackFacts("ModelCheckpoint"))
        yield _unnamed(path["name"], names or (), saver, project, evidence)
    if said is None:
        return
    monitor, name = said["monitor"], said["callback"]
    evidence = Evidence("Keras cannot tell whether to maximize or minimize it")
    callback = _callback(name, monitor, given, project)
    if names is not None and monitor not in names:
        yield _missing(callback, monitor, names, fit, 3, evidence)
        return
    problem, remedy = "which is not a metric of the model", "monitor a metric that the model has"
    if names is not None:
        problem = "but Keras does not know whether to maximize or minimize it"
        remedy = 'set `mode="max"` or `mode="min"`'
    yield CAUSE.certain(
        f"`{name}` monitors `{monitor}`, {problem}",
        place(_monitor(callback), callback.code, here),
        evidence,
        unsafe(remedy),
        subject=f"monitor of {name}",
    )


def _callback(name: str, monitor: str, given: tuple[CallbackFacts, ...], project: Project) -> CallbackFacts:
    """Return the callback that Keras names: from the call, else the only one in the source that matches."""
    for callback in given:
        if callback.class_name == name and callback.setting("monitor") == monitor:
            return callback
    found = [
        module.code(site.node)
        for module in project.modules
        for site in module.calls_to(f"keras.callbacks.{name}")
        if monitor in module.segment(site.node)
    ]
    code = found[0] if len(found) == 1 else Unknown()
    return CallbackFacts(name, (("monitor", monitor), ("mode", "auto")), code)


# --- custom callbacks -----------------------------------------------------------------------------------------------

_AT_EPOCHS = ("on_epoch_end", "on_train_end")
_AT_BATCHES = ("on_batch_end", "on_train_batch_end", "on_train_batch_begin", "on_batch_begin")


@dataclass(frozen=True, eq=False)
class _LoggedRead:
    """`logs["name"]` or `logs.get("name")` in a method that Keras calls."""

    module: Module
    function: FunctionInfo
    owner: ClassInfo
    node: ast.expr
    """The whole read expression."""
    key: ast.Constant

    @property
    def name(self) -> str:
        """The name of the value read."""
        return str(self.key.value)

    @property
    def raises(self) -> bool:
        """Whether the read of a missing value raises: a `KeyError`, or arithmetic with None."""
        body = list(ast.walk(self.function.node))
        named = [node for node in body if isinstance(node, ast.Constant) and node.value == self.name]
        if len(named) > 1 or any(isinstance(node, ast.Try) for node in body):
            return False  # the method checks first, or catches the exception
        if isinstance(self.node, ast.Subscript):
            return True
        parent = self.module.parent(self.node)
        if isinstance(parent, ast.Compare):
            return not any(isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)) for op in parent.ops)
        return isinstance(parent, ast.BinOp) and not isinstance(parent.op, ast.Mod)

    def there(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names in `logs` when the method is called."""
        validated = self.function.name in _AT_EPOCHS
        return tuple(name for name in names if validated or not name.startswith("val_"))


def _logged_reads(module: Module) -> Iterator[_LoggedRead]:
    """Yield the reads of `logs` in a file's callbacks."""
    reads: list[tuple[ast.expr, ast.expr, ast.expr]] = [
        (node, node.value, node.slice)
        for node in module.nodes(ast.Subscript)
        if isinstance(node.ctx, ast.Load)
    ]
    reads += [
        (call.node, call.node.func.value, call.node.args[0])
        for call in module.method_calls("get")
        if len(call.node.args) == 1 and isinstance(call.node.func, ast.Attribute)
    ]
    for node, holder, key in reads:
        if not isinstance(holder, ast.Name) or not isinstance(key, ast.Constant):
            continue
        function = module.function_of(node)
        if function is None or function.owner is None or not isinstance(key.value, str):
            continue
        known = function.name in _AT_EPOCHS + _AT_BATCHES and function.owner.kind == "Callback"
        if known and function.parameters and function.parameters[-1] == holder.id:
            yield _LoggedRead(module, function, function.owner, node, key)


def _writes_logs(project: Project) -> bool:
    """Whether a callback of the program adds values to `logs`."""
    return any(
        isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id == "logs"
        for module in project.modules
        for node in module.nodes(ast.Subscript)
    ) or any("logs.update(" in module.text or "logs.setdefault(" in module.text for module in project.modules)


@CAUSE.in_source
@CAUSE.before_fit
@mentions("logs")
def from_own_callback(model: ModelFacts, fit: FitFacts, project: Project) -> Iterator[Finding]:
    """Report a custom callback whose read of a missing value raises."""
    given = {callback.class_name for callback in fit.callbacks} - HARMLESS
    if fit.method != "fit" or not model.compiled or not given:
        return
    names = names_of_values(model, fit, project)
    if names is None or _writes_logs(project):
        return
    for module in project.modules:
        for read in _logged_reads(module):
            there = read.there(names)
            if read.owner.name in given and _is_meant(read.owner, fit, project) and read.raises:
                if read.name not in there and not may_be_numbered(read.name, there):
                    yield _unlogged(read, there, fit)


def _is_meant(owner: ClassInfo, fit: FitFacts, project: Project) -> bool:
    """Return whether the program of a fit means this class, where another script has one of the same name."""
    if project.class_named(owner.name) is owner:
        return True
    return not isinstance(fit.code, Unknown) and project.module_at(fit.code.location.path) is owner.module


@CAUSE.after_failure
def from_failed_callback(
    failure: FailureFacts, model: ModelFacts | Unknown, fit: FitFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Explain a custom callback that failed on a value missing from `logs`: a missing key, or arithmetic with None."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    of_key = failure.type == "KeyError"
    of_none = failure.type in ("TypeError", "ValueError") and "NoneType" in failure.message
    if frame is None or module is None or not frame.function.startswith("on_") or not (of_key or of_none):
        return
    reads = [read for read in _logged_reads(module) if read.function.name == frame.function]
    # `acc = logs.get("acc")` may be on one line and `if acc > 0.9` on a later one.
    here = [read for read in reads if at_frame(module, read.node, frame)] or [
        read for read in reads if _is_used_at(module, read, frame.line)
    ]
    if of_key:
        here = [read for read in here if repr(read.name) in failure.message]
    if len(here) == 1:
        names = names_of_values(model, fit, project) or ()
        yield certain(_unlogged(here[0], here[0].there(names), fit), failure)


def _is_used_at(module: Module, read: _LoggedRead, line: int) -> bool:
    statement = module.statement(read.node)
    if not isinstance(statement, ast.Assign) or statement.value is not read.node:
        return False
    names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return any(
        isinstance(node, ast.Name) and node.id in names and node.lineno == line
        for node in ast.walk(read.function.node)
    )


def _unlogged(read: _LoggedRead, names: tuple[str, ...], fit: FitFacts | Unknown) -> Finding:
    there = _reported(names)
    told = f"it reports {there}" if there else "it uses the names of the metrics"
    other = closest(read.name, names)
    if other is not None and is_same(read.name, other):
        text = read.module.segment(read.key).replace(read.name, other)
        remedy = fix(f"read `{other}`", (Edit(read.module.location(read.key), text),))
    elif read.name.startswith("val_") and isinstance(fit, FitFacts) and not has_validation(fit):
        remedy = _validate(fit.code)
    else:
        remedy = fix("read a value that `fit` reports" + (f", such as `{other}`" if other else ""))
    return CAUSE.finding(
        f"`{read.function.name}` reads `{read.name}`, which `fit` does not report: {told}",
        read.module.location(read.node),
        _seen("value read", read.name, names, read.module.location(read.node)),
        remedy,
        subject=f"logs of {read.owner.name}",
    )


# --- the history that fit returns -----------------------------------------------------------------------------------


@CAUSE.rule("history", says=r"^'\w+'$", types=("KeyError",))
def read_of_history(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Report the first read of a key that the history of a fit cannot have, for each fit and reason."""
    told: set[tuple[ast.AST, bool]] = set()
    for node in module.nodes(ast.Subscript):
        key = str(node.slice.value) if isinstance(node.slice, ast.Constant) else ""
        holder = node.value
        if not key or not isinstance(holder, ast.Attribute) or holder.attr != "history":
            continue
        if is_conditional(module, node) if failure is None else repr(key) != failure.message.strip():
            continue
        call = module.made_by(holder.value)
        unvalidated = key.startswith("val_") and _fits_without_validation(module, call)
        if (call, unvalidated) in told or failure is None and _may_validate_itself(module):
            continue
        if unvalidated:
            yield CAUSE.finding(
                f"the history has no `{key}`: `fit` receives no validation data",
                module.location(node),
                Evidence(
                    "the history comes from this call", "no validation data", location=module.location(call)
                ),
                _validate(module.code(call)),
                subject=f"history key {key}",
            )
        elif key.removeprefix("val_") == "acc":
            continue  # the older name of a metric that is there: another cause
        else:
            names = _keys_of(module, call)
            if failure is None and (names is None or key in names):
                continue
            yield _unknown(module, node, call, key, names)
        told.add((call, unvalidated))


def _may_validate_itself(module: Module) -> bool:
    """Whether a custom callback may validate and add its values."""
    project = module.project
    return (
        project is None or _writes_logs(project) or any(each.kind == "Callback" for each in project.classes)
    )


def _keys_of(module: Module, call: ast.AST) -> tuple[str, ...] | None:
    """Return the keys of the history that a `fit` call returns; None if unknown."""
    for site in fit_sites(module) if isinstance(call, ast.Call) else ():
        if place(site.fit.code) == module.location(call) and site.fit.method == "fit":
            return available(site.model, site.fit, module.project or NO_FILES) if site.metrics_known else None
    return None


def _fits_without_validation(module: Module, call: ast.AST) -> bool:
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "fit":
        return False
    # Five arguments come before the validation ones: x, y, batch_size, epochs, verbose.
    if len(call.args) > 5 or any(isinstance(each, ast.Starred) for each in call.args):
        return False
    validates = any(word.arg in ("validation_data", "validation_split", None) for word in call.keywords)
    return is_keras_model(module, call.func.value) and not validates


def _unknown(
    module: Module, node: ast.Subscript, call: ast.AST, key: str, names: tuple[str, ...] | None
) -> Finding:
    there, other = _reported(names), closest(key, names or ADDED)
    keys = f"it has {there}" if there else "its keys are the names of the compiled metrics"
    if other is not None and is_same(key, other):
        text = module.segment(node.slice).replace(key, other)
        remedy = fix(f"read `{other}`", (Edit(module.location(node.slice), text),))
        if other in ADDED:
            keys = f"this Keras calls it `{other}`, and only callbacks that change the learning rate add it"
    else:
        metric = key.removeprefix("val_")
        remedy = fix(
            f'add the metric to `compile`: `metrics=["{metric}"]`, or read a key that the history has'
        )
    return CAUSE.finding(
        f"the history has no `{key}`: {keys}",
        module.location(node),
        _seen("key read", key, names, module.location(call) if isinstance(call, ast.Call) else None),
        remedy,
        subject=f"history key {key}",
    )


# --- what a traceback shows without the source ----------------------------------------------------------------------

_READS = re.compile(r"(?:(?P<history>\.history)|\blogs)(?:\[|(?P<get>\.get\())(['\"])(?P<name>\w+)\3[\])]")

_READS_COMPUTED = re.compile(r"\.history\[(?!(['\"])\w+\1\])")
"""A key that the line computes: `history.history["val_" + name]`."""


@CAUSE.after_failure
def from_quoted_line(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report the missing value that the failing line, as the traceback quotes it, reads."""
    frame = failure.last_user_frame
    if project or frame is None:
        return
    found = {}
    for read in _READS.finditer(frame.text):
        name, of_history = read["name"], bool(read["history"])
        if not of_history and not frame.function.startswith("on_") or of_history and name == "acc":
            continue
        if read["get"]:
            fits = not of_history and failure.type != "KeyError" and "NoneType" in failure.message
        else:
            fits = failure.type == "KeyError" and repr(name) == failure.message.strip()
        if fits:
            found[name] = of_history
    key = failure.message.strip().strip("'\"")
    if not found and failure.type == "KeyError" and _READS_COMPUTED.search(frame.text) and key.isidentifier():
        found[key] = True
    if len(found) != 1:
        return
    ((name, of_history),) = found.items()
    validation = name.startswith("val_")
    remedy = "read the name of an existing metric"
    if of_history and name == "loss":  # every epoch records it
        yield CAUSE.certain(
            "the history is empty: `fit` ran no epoch with this object",
            frame.location,
            Evidence("the failing line", frame.text[:120], fact="failure.frames"),
            fix(
                "read the object that `fit` returns; a model that was only loaded or compiled has no history"
            ),
            subject="history",
        )
        return
    yield CAUSE.certain(
        f"the history has no `{name}`: "
        + ("`fit` received no validation data, or " if validation else "")
        + "there is no metric of that name"
        if of_history
        else f"`{frame.function}` reads `{name}`, which `fit` does not report: it uses the names of the metrics",
        frame.location,
        Evidence("the failing line", frame.text[:120], fact="failure.frames"),
        unsafe(f"pass validation data to `fit`, or {remedy}" if validation else remedy),
        subject=f"history key {name}" if of_history else f"logs of {frame.function}",
    )


def _has_no_line(failure: FailureFacts) -> bool:
    return failure.last_user_frame is None


_IN_CALLBACK = re.compile(r"/callbacks\.py:on_epoch_end$")
"""Where callbacks of Keras before 3 raise."""

CAUSE.message(
    r"unsupported operand type\(s\) for -: 'NoneType' and 'float'|'[<>]' not supported between",
    "a callback monitors a value that `fit` does not report",
    "monitor `loss`, or the name of an existing metric; pass validation data for `val_…` names",
    subject="callbacks",
    place=_IN_CALLBACK,
    unread=True,
)
CAUSE.message(
    r"^['\"]?(?P<name>\w*)['\"]?$",
    "the checkpoint path uses `{name}`, which `fit` does not report",
    "use a value that `fit` reports in the path; `val_…` names need validation data",
    subject="path of ModelCheckpoint",
    types=("KeyError",),
    place=_IN_CALLBACK,
    unread=True,
)
# Only a history or `logs` has such keys.
CAUSE.message(
    r"^'(?P<name>val_(?:loss|accuracy|\w+_(?:loss|accuracy)|mae|mse|auc|precision|recall))'$",
    "`fit` reports no `{name}`: it got no validation data, or there is no metric of that name",
    "pass validation data to `fit`, or read the name of an existing metric",
    subject="history key {name}",
    types=("KeyError",),
    fits=_has_no_line,
    unread=True,
)
CAUSE.message(
    r"^'(?P<name>(?:(?:sparse_)?categorical_|binary_)?accuracy)'$",
    "`fit` reports no `{name}`: there is no metric of that name",
    "read the name of an existing metric",
    subject="history key {name}",
    types=("KeyError",),
    fits=_has_no_line,
    unread=True,
)
CAUSE.message(
    r"conditioned on metric `(?P<name>\w+)` which is not available\. Available metrics are:\s*$",
    "a callback monitors `{name}`, but the epoch reported no metric at all: it had no batches",
    "check that the data yields batches, and that it does not end before the epoch",
    subject="callbacks",
    types=("UserWarning", "RuntimeWarning"),
)
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


# --- names that fit reports -------------------------------------------------------------------------------------------

HARMLESS = frozenset(
    "EarlyStopping ModelCheckpoint ReduceLROnPlateau TensorBoard CSVLogger TerminateOnNaN LearningRateScheduler "
    "BackupAndRestore ProgbarLogger History RemoteMonitor SwapEMAWeights OrbaxCheckpoint".split()
)
"""Keras callbacks, which add only the learning rate to `logs`."""
ADDED = frozenset({"learning_rate", "lr"})
OWN_STEPS = frozenset(
    {"train_step", "test_step", "compute_metrics", "metrics", "get_metrics_result", "fit", "evaluate"}
)
_SAME = {
    "acc": "accuracy", "mean_absolute_error": "mae", "mean_squared_error": "mse",
    "mean_absolute_percentage_error": "mape", "root_mean_squared_error": "rmse", "lr": "learning_rate",
}  # fmt: skip
"""Pairs of names for one metric."""


def has_validation(fit: FitFacts) -> bool:
    """Whether `fit` gets validation data."""
    return fit.has_validation or bool(
        {"validation_data", "validation_split", "validation_freq"} & set(fit.given)
    )


def adds_nothing(fit: FitFacts) -> bool:
    """Whether all callbacks are built into Keras."""
    return all(callback.class_name in HARMLESS for callback in fit.callbacks)


def available(
    model: ModelFacts | Unknown, fit: FitFacts | Unknown, project: Project
) -> tuple[str, ...] | None:
    """Return the names that `fit` will report; None if unknown."""
    return names_of_values(model, fit, project) if isinstance(fit, FitFacts) and adds_nothing(fit) else None


def names_of_values(
    model: ModelFacts | Unknown, fit: FitFacts | Unknown, project: Project
) -> tuple[str, ...] | None:
    """Return the names that `fit` will report if no callback adds any."""
    if isinstance(model, Unknown) or isinstance(fit, Unknown):
        return None
    outputs = len(model.output_names) or (len(model.outputs) if isinstance(model.outputs, tuple) else 1)
    if outputs > 1 or model.loss_structure not in ("single", "none") or model.metric_keys:
        return None
    if OWN_STEPS & set(model.overrides) or _layers_have_metrics(model, project):
        return None
    if any(_may_give_several(metric, project) for metric in model.metrics) or _adds_metrics(project):
        return None
    names = ["loss", *(metric.name for metric in model.metrics), *ADDED]
    if has_validation(fit):
        names += [f"val_{name}" for name in names[: 1 + len(model.metrics)]]
    return tuple(names)


def _layers_have_metrics(model: ModelFacts, project: Project) -> bool:
    """Whether a custom class keeps metrics, which Keras reports too."""
    own = {layer.class_name for layer in model.every_layer() if not layer.builtin}
    if model.kind == "subclassed":
        own.add(model.class_name)
    if not own:
        return False
    if not project:
        return True
    for name in own:
        owner = project.class_named(name)
        if owner is None or any(
            "metrics." in one.module.segment(one.node) or "Metric" in one.module.segment(one.node)
            for one in owner.module.ancestry(owner)
        ):
            return True
    return False


def _may_give_several(metric: MetricFacts, project: Project) -> bool:
    """Whether a metric may return a dict, so that `fit` reports its keys instead of the metric's name."""
    is_function = metric.name == metric.class_name
    if metric.builtin or is_function or not project:
        return False
    owner = project.class_named(metric.class_name)
    method = owner.module.method(owner, "result") if owner is not None else None
    if owner is None or method is None:
        return owner is None
    made = [
        method.module.made_by(statement.value)
        for statement in method.module.returns.get(method.node, ())
        if statement.value is not None
    ]
    return any(
        isinstance(value, (ast.Dict, ast.DictComp, ast.Name))
        or isinstance(value, ast.Call)
        and method.module.resolve(value.func) == "dict"
        for value in made
    )


def _adds_metrics(project: Project) -> bool:
    """Whether the program calls `add_metric`, as Keras 2 allows."""
    return any(call.method == "add_metric" for module in project.modules for call in module.calls)


def may_be_numbered(monitor: str, names: tuple[str, ...]) -> bool:
    """Whether a name differs only by Keras's numbering (`auc_1`) or a `weighted_` prefix."""
    plain = re.sub(r"_\d+$", "", monitor)
    return any(plain == re.sub(r"_\d+$", "", name) for name in names) or "weighted_" in monitor


def twins(plain: str) -> set[str]:
    """Return the other names of a metric."""
    return {_SAME.get(plain, ""), *(long for long, short in _SAME.items() if short == plain)} - {"", plain}


def is_same(name: str, other: str) -> bool:
    """Whether two names are names of one metric."""
    return other.removeprefix("val_") in twins(name.removeprefix("val_"))


def closest(monitor: str, names: Collection[str]) -> str | None:
    """Return the intended name: another name of the metric, or a similarly spelled one."""
    import difflib

    prefix = "val_" if monitor.startswith("val_") else ""
    plain = monitor.removeprefix("val_")
    for twin in twins(plain):
        if f"{prefix}{twin}" in names:
            return f"{prefix}{twin}"
    same_side = [name for name in names if name.startswith("val_") == bool(prefix) and name not in ADDED]
    metrics = [name for name in same_side if name != f"{prefix}loss"]
    close = difflib.get_close_matches(monitor, metrics, n=1, cutoff=0.6)
    if close:
        return close[0]
    return metrics[0] if len(metrics) == 1 else f"{prefix}loss" if f"{prefix}loss" in names else None
