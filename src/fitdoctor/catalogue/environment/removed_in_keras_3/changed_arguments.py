"""Arguments that Keras 3 rejects, ignores or requires, although an older Keras did not: by the table of changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.environment.removed_in_keras_3.entry import CAUSE
from fitdoctor.catalogue.words import listing
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import (
    append_arguments,
    fix,
    insert_before,
    merged_removal,
    remove_argument,
    rename_argument,
    spell,
    unsafe,
)
from fitdoctor.facts import Argument, Code, Frame
from fitdoctor.failure.failed_line import at_frame
from fitdoctor.records import replace
from fitdoctor.source.conditions import knows_another_way
from fitdoctor.source.keras_changes import Change, changes, owners
from fitdoctor.source.keras_objects import defines, kind_of_value
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.saved_paths import format_rejected, saved_by_ending

_OWNERS = owners("argument")
_METHODS = frozenset(owner.rpartition(".")[2] for owner in _OWNERS if owner.split(".")[-2][:1].isupper())
_NAMES = frozenset(name for owner in _OWNERS for name in changes("argument", owner))


def rejected_arguments(module: Module, at: Frame | None) -> Iterator[Finding]:
    """Find keyword arguments that Keras 3 does not accept, and calls that lack one that it requires."""
    for site in module.calls:
        if at is None or at_frame(module, site.node, at):
            found = [*_rejected(module, site, at), *_changed_values(module, site)]
            # Asked last: few calls get here, and walking up the tree takes time.
            if found and (at is not None or not knows_another_way(module, site.node)):
                yield from found


def changes_of_call(module: Module, site: CallSite, at: Frame | None = None) -> dict[str, Change]:
    """Return the changed arguments of what a call calls; of a method, if its object is known or the call failed."""
    if site.method not in _METHODS or site.name.startswith("keras."):
        return changes("argument", site.name)
    receiver = site.receiver
    kind = kind_of_value(module, receiver)
    of_model = changes("argument", f"Model.{site.method}")
    if at is not None:
        anyhow = [changes("argument", f"{owner}.{site.method}") for owner in ("Layer", "Metric", "Optimizer")]
        return {name: change for rows in (of_model, *anyhow) for name, change in rows.items()}
    if not kind or defines(module, receiver, site.method):
        return {}
    if of_model:
        return of_model if kind == "Model" else {}
    made = module.made_by(receiver)
    cls = module.called(made)
    owner = "Layer" if kind == "Model" else kind
    return changes("argument", f"{owner}.{site.method}") | changes("argument", f"{cls}.{site.method}")


def _rejected(module: Module, site: CallSite, at: Frame | None) -> Iterator[Finding]:
    given = {keyword.arg for keyword in site.node.keywords}
    changed = changes_of_call(module, site, at) if not given.isdisjoint(_NAMES) else {}
    if given.isdisjoint(changed):
        return
    code, of_keras_1 = module.code(site.node), False
    called = site.method or site.name.rpartition(".")[2]
    for argument in code.arguments:
        change = changed.get(argument.name)
        if change is None or of_keras_1 and change.since == "2" and at is None:
            continue  # the first one raises, and its fix renames the others
        of_keras_1 = change.since == "2"
        since = "since Keras 2" if of_keras_1 else "in Keras 3"
        yield CAUSE.finding(
            f"`{called}` has no argument `{argument.name}` {since}",
            argument.whole,
            Evidence(f"Keras {1 if of_keras_1 else 2} argument", argument.name, change.new),
            _updated_call(module, site, code, argument, changed),
            subject=f"argument {argument.name} of {called}",
        )


def _updated_call(
    module: Module, site: CallSite, code: Code, argument: Argument, changed: dict[str, Change]
) -> Fix:
    """Rename and remove what the call must not pass; an argument that needs more than that has its own fix."""
    decay = code.argument("decay") if argument.name == "lr" else None
    if decay is not None and decay.text in _NO_DECAY:
        new = rename_argument(code, "lr", "learning_rate")
        return fix("use `learning_rate`, and remove `decay`", new, remove_argument(code, "decay"))
    if decay is not None:
        return _decaying(code, argument)
    if argument.name in ("batch_input_shape", "batch_size") and site.name.startswith("keras.layers."):
        shape = "batch_shape" if argument.name == "batch_input_shape" else "batch_size"
        return fix(f"add an `Input({shape}=…)` before the layer", _input_before(module, site, code, argument))
    if argument.name == "grayscale" and argument.text == "True":
        return fix('use `color_mode="grayscale"`', (Edit(argument.whole, 'color_mode="grayscale"'),))
    if argument.name == "y":
        return fix("pass it as a positional argument", (Edit(argument.whole, argument.text),))
    given = [changed[each.name] for each in code.arguments if each.name in changed]
    renamed = [each for each in given if each.new and code.argument(each.new) is None]
    if changed[argument.name] in renamed:
        edits = [edit for each in renamed for edit in rename_argument(code, each.name, each.new)]
        grouped = any(each.name in ("nb_row", "nb_col") for each in given)
        names = listing(dict.fromkeys(each.new for each in renamed))
        return fix(
            f"use {names}", () if grouped else edits, () if grouped else _kernel_size(module, site, code)
        )
    gone = [each for each in given if not each.new]
    edits = list(merged_removal(code, [each.name for each in gone]))
    title = f"remove {listing(each.name for each in gone) or f'`{argument.name}`'}"
    if all(each.safe for each in gone):
        return fix(title, edits)
    return unsafe(f"{title}: Keras 3 already sums over replicas", edits)


def _kernel_size(module: Module, site: CallSite, code: Code) -> tuple[Edit, ...]:
    """Group the kernel size in `Convolution2D(8, 3, 3)`, whose third argument is now the strides."""
    sizes = site.node.args[1:]
    if "Conv" not in site.name or "2D" not in site.name or len(sizes) != 2:
        return ()
    if not all(isinstance(each, ast.Constant) and isinstance(each.value, int) for each in sizes):
        return ()
    first, last = code.arguments[1].location, code.arguments[2].location
    span = replace(first, end_line=last.end_line, end_column=last.end_column)
    return (Edit(span, f"({', '.join(map(module.segment, sizes))})"),)


def _input_before(module: Module, site: CallSite, code: Code, argument: Argument) -> tuple[Edit, ...]:
    """Add `Input(batch_shape=…)` or `Input(…, batch_size=…)` as a separate element or `add` call."""
    shape = code.argument("input_shape")
    keras, imports = spell(code, "keras", "keras")
    entry, taken = f"{keras}.Input(batch_shape={argument.text})", remove_argument(code, argument.name)
    if argument.name == "batch_size":
        if shape is None:
            return ()
        entry = f"{keras}.Input({shape.text}, batch_size={argument.text})"
        taken = merged_removal(code, ("input_shape", "batch_size"))
    parent = module.parent(site.node)
    if isinstance(parent, ast.List):
        return (Edit(code.location.start, f"{entry}, "), *taken, *imports)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "add":
        model = module.segment(parent.func.value)
        return (*insert_before(module.code(parent), f"{model}.add({entry})"), *taken, *imports)
    return ()


# --- values, defaults and arguments without effect --------------------------------------------------------------------


def _changed_values(module: Module, site: CallSite) -> Iterator[Finding]:
    if not site.name.startswith("keras."):
        yield from _save_format(module, site) if site.method == "save" else ()
        return
    owner = site.name.rpartition(".")[0]
    yield from _missing_default(module, site)
    if owner == "keras.losses":
        yield from _automatic_reduction(module, site)
    elif owner == "keras.optimizers":
        yield from _ignored_decay(module, site)
    elif site.name in ("keras.models.save_model", "keras.saving.save_model"):
        yield from _save_format(module, site)


def _missing_default(module: Module, site: CallSite) -> Iterator[Finding]:
    """Find `AveragePooling2D()`, whose default size was 2."""
    called = site.name.rpartition(".")[2]
    for name, change in changes("default", site.name).items():
        if site.node.args or any(keyword.arg in (None, name) for keyword in site.node.keywords):
            continue
        value = change.new.partition("=")[2]
        yield CAUSE.finding(
            f"`{called}` has no default `{name}` in Keras 3",
            module.location(site.node),
            Evidence(f"`{name}`", "not set", f"{value}, the default in Keras 2"),
            fix(
                f"set `{change.new}`, the default in Keras 2",
                append_arguments(module.code(site.node), change.new),
            ),
            subject=f"argument {name} of {called}",
        )


def _automatic_reduction(module: Module, site: CallSite) -> Iterator[Finding]:
    """Find `reduction="auto"`, which meant the mean over the batch."""
    given = site.argument("reduction")
    text = module.segment(given) if given is not None else ""
    (change,) = changes("value", "keras.losses.*").values()
    if given is not None and text.endswith(("Reduction.AUTO", '"auto"', "'auto'")):
        yield CAUSE.finding(
            f"Keras 3 losses do not accept `reduction={text}`",
            module.location(given),
            Evidence("Keras 2 reduction", "auto", change.new),
            fix(
                f'use `"{change.new}"`, the mean over the batch',
                (Edit(module.location(given), f'"{change.new}"'),),
            ),
            subject="argument reduction of the loss",
        )


_NO_DECAY = ("0", "0.0", "0.", "None")


def _ignored_decay(module: Module, site: CallSite) -> Iterator[Finding]:
    """Find `decay=`, which Keras 3 accepts and ignores."""
    if not any(keyword.arg == "decay" for keyword in site.node.keywords):
        return
    code = module.code(site.node)
    argument = code.argument("decay")
    if argument is not None and argument.text not in _NO_DECAY:
        yield CAUSE.finding(
            f"`decay={argument.text}` is ignored, so the learning rate stays constant",
            argument.whole,
            Evidence("Keras 3 warns that `decay` is deprecated and ignores it"),
            _decaying(code, code.argument("learning_rate", 0)),
            subject="argument decay of the optimizer",
            severity=Severity.WARNING,
        )


_RATE_SETTERS = ("LearningRateScheduler", "ReduceLROnPlateau")


def _decaying(code: Code, rate: Argument | None) -> Fix:
    """Replace `decay=` with a schedule that divides the learning rate by `1 + decay * step`, as Keras 2 did."""
    title = "use a learning rate schedule with the same decay"
    decay = code.argument("decay")
    if rate is None or decay is None:
        return fix(title)
    new = rate.text
    imports: tuple[Edit, ...] = ()
    if any(code.spelling(f"keras.callbacks.{name}") for name in _RATE_SETTERS):
        # These callbacks cannot set a rate that comes from a schedule.
        title = "remove `decay`: a callback sets the learning rate, which does not work with a schedule"
    else:
        keras, imports = spell(code, "keras", "keras")
        arguments = f"{rate.text}, decay_steps=1, decay_rate={decay.text}"
        new = f"{keras}.optimizers.schedules.InverseTimeDecay({arguments})"
    edit = Edit(rate.whole, f"learning_rate={new}" if rate.name else new)
    return fix(title, (edit,), remove_argument(code, "decay"), imports)


def _save_format(module: Module, site: CallSite) -> Iterator[Finding]:
    """Find `save(folder, save_format="tf")`: the extension sets the format, and SavedModel needs `export`."""
    given = format_rejected(module, site)
    if given is not None:
        yield CAUSE.finding(
            "`save` has no argument `save_format` in Keras 3: the file extension sets the format",
            module.location(given),
            Evidence("Keras 2 argument", module.segment(given), "a `.keras` or `.h5` extension"),
            fix("remove `save_format` and end the path in `.keras`", saved_by_ending(module, site)),
            subject="argument save_format of save",
        )
