"""Arguments that an older Keras accepted and Keras 3 rejects or ignores, by method, function or class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.environment.keras_1 import arguments_of_keras_1, renamed
from fitdoctor.catalogue.environment.keras_3_fixes import decaying, input_before
from fitdoctor.catalogue.environment.keras_3_gone import METHODS, METHODS_OF_PARTS
from fitdoctor.catalogue.environment.keras_renames import RENAMED_ARGUMENTS, older_arguments, refused_by_class
from fitdoctor.catalogue.words import listing
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, merged_removal, rename_argument, unsafe
from fitdoctor.facts import Argument, Code
from fitdoctor.source.conditions import knows_another_way
from fitdoctor.source.keras_objects import defines, is_keras_model, kind_of_value
from fitdoctor.source.module import CallSite, Module


def gone_arguments(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report calls with arguments that are no longer accepted."""
    for site in module.calls:
        found = list(_of_call(cause, module, site)) if site.node.keywords else []
        # Checked last, because few calls get here and walking up the tree is expensive.
        if found and not knows_another_way(module, site.node):
            yield from found


def _of_call(cause: Cause, module: Module, site: CallSite) -> Iterator[Finding]:
    for code, argument in refused_arguments(module, site):
        yield argument_finding(cause, module, site, code, argument, Confidence.LIKELY)
    yield from of_keras_1(cause, module, site)
    yield from _ignored_decay(cause, module, site)
    yield from _automatic_reduction(cause, module, site)
    yield from _saved_as_format(cause, module, site)
    if "Pool" in site.name:
        from fitdoctor.catalogue.environment.keras_defaults import without_pool_size

        yield from without_pool_size(cause, module, site)


def of_keras_1(cause: Cause, module: Module, site: CallSite) -> Iterator[Finding]:
    """Report arguments that Keras 2 renamed, once per call, because the first one raises."""
    for argument, new in arguments_of_keras_1(module, site)[:1]:
        called = site.name.rpartition(".")[2]
        yield cause.finding(
            f"`{called}` has no argument `{argument.name}` since Keras 2",
            subject=f"argument {argument.name} of {called}",
            location=argument.whole,
            evidence=[Evidence(claim="Keras 1 argument", observed=argument.name, expected=new)],
            fixes=[fix("use the current argument names", renamed(module, site))],
        )


def refused_arguments(module: Module, site: CallSite) -> Iterator[tuple[Code, Argument]]:
    """Return the keyword arguments of a call that Keras 3 does not accept."""
    given = {keyword.arg for keyword in site.node.keywords}
    if site.method in METHODS:
        names = given & older_arguments(site.method)
        if names and not site.name and not _is_keras_own(module, site):
            return
    elif site.method in METHODS_OF_PARTS and not site.name:
        names = given & _refused_by_part(module, site)
    else:
        names = given & refused_by_class(site.name)
    if not names:
        return
    code = module.code(site.node)
    for argument in code.arguments:
        if argument.name in names:
            yield code, argument


def _is_keras_own(module: Module, site: CallSite) -> bool:
    assert isinstance(site.node.func, ast.Attribute)
    receiver = site.node.func.value
    return is_keras_model(module, receiver) and not defines(module, receiver, site.method)


def _refused_by_part(module: Module, site: CallSite) -> frozenset[str]:
    """Return the arguments that a built-in method of a layer, metric or optimizer no longer accepts."""
    assert isinstance(site.node.func, ast.Attribute)
    receiver = site.node.func.value
    kind = kind_of_value(module, receiver)
    if not kind or defines(module, receiver, site.method):
        return frozenset()
    made = module.made_by(receiver)
    name = module.resolve(made.func) if isinstance(made, ast.Call) else ""
    owner = "Layer" if kind == "Model" else kind
    return refused_by_class(f"{owner}.{site.method}") | refused_by_class(f"{name}.{site.method}")


def argument_finding(
    cause: Cause, module: Module, site: CallSite, code: Code, argument: Argument, confidence: Confidence
) -> Finding:
    """Return the finding for an argument of a call."""
    called = site.method or site.name.rpartition(".")[2]
    return cause.finding(
        f"`{called}` has no argument `{argument.name}` in Keras 3",
        subject=f"argument {argument.name} of {called}",
        location=argument.whole,
        evidence=[Evidence(claim="Keras 2 argument", observed=argument.name)],
        fixes=[_argument_fix(module, site, code, argument)],
        confidence=confidence,
    )


def _argument_fix(module: Module, site: CallSite, code: Code, argument: Argument) -> Fix:
    new = RENAMED_ARGUMENTS.get(argument.name)
    if argument.name == "lr" and code.argument("decay") is not None:
        return decaying(code, argument)
    if argument.name in ("batch_input_shape", "batch_size") and not site.method:
        shape = "batch_shape" if argument.name == "batch_input_shape" else "batch_size"
        return fix(f"add an `Input({shape}=…)` before the layer", input_before(module, site, code, argument))
    if argument.name == "grayscale" and argument.text == "True":
        return fix('use `color_mode="grayscale"`', (Edit(argument.whole, 'color_mode="grayscale"'),))
    if argument.name == "y":
        return fix("pass it as a positional argument", (Edit(argument.whole, argument.text),))
    if new is not None and code.argument(new) is None:
        return fix(f"use `{new}`", rename_argument(code, argument.name, new))
    # One fix for the whole call, because each argument would be rejected one after the other.
    names = [each.name for _code, each in refused_arguments(module, site)] or [argument.name]
    names = [name for name in names if name not in RENAMED_ARGUMENTS]
    if any(name.endswith(("_gradients", "_aggregation")) for name in names):
        # A program that sums over replicas by hand would sum twice.
        return unsafe(
            f"remove {listing(names)}: Keras 3 already sums over replicas", merged_removal(code, names)
        )
    return fix(f"remove {listing(names)}", merged_removal(code, names))


def _ignored_decay(cause: Cause, module: Module, site: CallSite) -> Iterator[Finding]:
    """Report `decay=`, which Keras 3 accepts and ignores."""
    if not site.name.startswith("keras.optimizers.") or ".legacy" in site.name or ".schedules" in site.name:
        return
    if not any(keyword.arg == "decay" for keyword in site.node.keywords):
        return
    code = module.code(site.node)
    argument = code.argument("decay")
    if argument is None or argument.text in ("0", "0.0", "None"):
        return
    yield cause.finding(
        f"`decay={argument.text}` is ignored, so the learning rate stays constant",
        subject="argument decay of the optimizer",
        location=argument.whole,
        evidence=[Evidence(claim="Keras 3 warns that `decay` is deprecated and ignores it")],
        fixes=[decaying(code, code.argument("learning_rate", 0))],
        severity=Severity.WARNING,
    )


def _automatic_reduction(cause: Cause, module: Module, site: CallSite) -> Iterator[Finding]:
    """Report `reduction="auto"`, which meant the mean over the batch."""
    given = site.argument("reduction") if site.name.startswith("keras.losses.") else None
    text = module.segment(given) if given is not None else ""
    if given is None or not text.endswith(("Reduction.AUTO", '"auto"', "'auto'")):
        return
    yield cause.finding(
        f"Keras 3 losses do not accept `reduction={text}`",
        subject="argument reduction of the loss",
        location=module.location(given),
        evidence=[Evidence("Keras 2 reduction", "auto", "sum_over_batch_size")],
        fixes=[
            fix(
                'use `"sum_over_batch_size"`, the mean over the batch',
                (Edit(module.location(given), '"sum_over_batch_size"'),),
            )
        ],
    )


def _saved_as_format(cause: Cause, module: Module, site: CallSite) -> Iterator[Finding]:
    """Report `save(folder, save_format="tf")`: the extension sets the format, and SavedModel needs `export`."""
    if not any(keyword.arg == "save_format" for keyword in site.node.keywords):
        return
    from fitdoctor.catalogue.environment.keras_saving import format_refused, saved_by_ending

    refused = format_refused(module, site)
    if refused is None:
        return
    yield cause.finding(
        "`save` has no argument `save_format` in Keras 3: the file extension sets the format",
        subject="argument save_format of save",
        location=module.location(refused),
        evidence=[Evidence("Keras 2 argument", module.segment(refused), "a `.keras` or `.h5` extension")],
        fixes=[fix("remove `save_format` and end the path in `.keras`", saved_by_ending(module, site))],
    )
