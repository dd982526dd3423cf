"""A name or argument that Keras 3 no longer has.

## What happens

Since TensorFlow 2.16, `tf.keras` is Keras 3. Code for Keras 2 meets `ValueError: Argument(s) not recognized: {'lr':
0.01}`, `TypeError: … got an unexpected keyword argument 'workers'`, `AttributeError: 'Sequential' object has no
attribute 'predict_classes'`, `ModuleNotFoundError: No module named 'keras.utils.np_utils'`, `KeyError: 'acc'`. The third
argument of `compile` by position was `metrics` and is `loss_weights`: `compile("adam", "mse", ["mae"])` ends in
`dtype='string' is not a valid dtype for Keras type promotion`. One is silent: `decay=` of an optimizer is ignored with a
mere warning, and the learning rate stays as it is. `fit` under `MultiWorkerMirroredStrategy` with two workers or more
always ends with `ValueError: Attempt to convert a value (PerReplica:…` (Keras 3.15; with 3.3 `Invalid reduction
dimension 0`), whatever data and optimizer, also with `run_eagerly=True`.

## Why

Keras 3 was written anew. What it takes is listed in this package by a script that compares both versions.

## Fix

Use the new name. Where there is none, the fix says what does the same. To go on with Keras 2 as it was, install
`tf_keras` and set `TF_USE_LEGACY_KERAS=1` before TensorFlow is imported. That also trains with several workers; so does
a loop of one's own with `strategy.run` in Keras 3. A `MultiWorkerMirroredStrategy` of one worker trains in both.

## Known limits

Arguments that are passed on as `**options` are seen only when they raise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.compile_positions import metrics_by_position, refuses_loss_weights
from fitdoctor.catalogue.keras_1 import arguments_of_keras_1, refused_in_words, renamed
from fitdoctor.catalogue.keras_2_today import is_keras_2, of_keras_2
from fitdoctor.catalogue.keras_3_fixes import (
    as_keras,
    attribute_name,
    classes_fix,
    decaying,
    elsewhere,
    import_fix,
    input_before,
    learning_rate_edit,
    renamed_method,
    variables_fix,
)
from fitdoctor.catalogue.keras_3_gone import (
    METHODS,
    gone_imports,
    gone_in_message,
    is_gone,
    is_gone_module,
    is_tried,
    with_other_imports,
    without_experimental,
)
from fitdoctor.catalogue.keras_callbacks import missed_validation_data, reads_validation_data
from fitdoctor.catalogue.keras_defaults import missed_pool_size, without_pool_size
from fitdoctor.catalogue.keras_history import key_edits, older_keys
from fitdoctor.catalogue.keras_renames import (
    OLDER_HISTORY,
    RENAMED_ARGUMENTS,
    RENAMED_METHODS,
    RENAMED_OF_LAYERS,
    older_arguments,
    refused_by_class,
)
from fitdoctor.catalogue.keras_saving import format_refused, saved_by_ending, short_name_in_h5
from fitdoctor.catalogue.keras_signatures import REMOVED_ATTRIBUTES
from fitdoctor.catalogue.traced import at_frame, module_of, stands_at
from fitdoctor.catalogue.weight_positions import named_by_position, refused_position
from fitdoctor.catalogue.words import listing
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, merged_removal, rename_argument
from fitdoctor.facts import Argument, Code, FailureFacts, Frame, Unknown
from fitdoctor.records import replace
from fitdoctor.source.keras_objects import defines, is_keras_model, is_keras_optimizer, reads_keras_layer
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT902",
    slug="removed-in-keras-3",
    severity=Severity.ERROR,
    raises=("ValueError", "TypeError", "AttributeError", "ImportError", "ModuleNotFoundError", "KeyError"),
    explains=("FIT106", "FIT302", "FIT309"),
)


# --- from the source ----------------------------------------------------------------------------------------------


@CAUSE.in_source
def from_source(module: Module) -> Iterator[Finding]:
    """Calls, attributes, imports and history keys that Keras 3 refuses."""
    if module.keras != 3:
        return
    yield from _arguments(module)
    yield from metrics_by_position(CAUSE, module, Confidence.LIKELY)
    yield from named_by_position(CAUSE, module, Confidence.LIKELY)
    yield from _attributes(module)
    yield from _imports(module)
    yield from _names(module)
    yield from reads_validation_data(CAUSE, module)
    for node in older_keys(module):
        yield _history_finding(module, node, Confidence.LIKELY)


def _arguments(module: Module) -> Iterator[Finding]:
    for site in module.calls:
        if not site.node.keywords:
            continue
        for code, argument in _refused(module, site):
            yield _argument_finding(module, site, code, argument, Confidence.LIKELY)
        yield from _of_keras_1(module, site)
        yield from _ignored_decay(module, site)
        yield from _automatic_reduction(module, site)
        yield from _saved_as_format(module, site)
        yield from without_pool_size(CAUSE, module, site)


def _of_keras_1(module: Module, site: CallSite) -> Iterator[Finding]:
    """Arguments that were renamed with Keras 2; one finding a call, since the first of them raises."""
    for argument, new in arguments_of_keras_1(module, site)[:1]:
        called = site.name.rpartition(".")[2]
        yield CAUSE.finding(
            f"`{called}` takes no `{argument.name}` since Keras 2",
            subject=f"argument {argument.name} of {called}",
            location=argument.whole,
            evidence=[Evidence(claim="an argument of Keras 1", observed=argument.name, expected=new)],
            fixes=[fix("use the names of today", renamed(module, site))],
        )


def _refused(module: Module, site: CallSite) -> Iterator[tuple[Code, Argument]]:
    """The keywords of a call that Keras 3 does not take."""
    gone = refused_by_class(site.name)
    if site.method in METHODS:
        gone = older_arguments(site.method)
    names = {keyword.arg for keyword in site.node.keywords} & gone
    if not names or (site.method in METHODS and not site.name and not _is_keras_own(module, site)):
        return
    code = module.code(site.node)
    for argument in code.arguments:
        if argument.name in names:
            yield code, argument


def _is_keras_own(module: Module, site: CallSite) -> bool:
    assert isinstance(site.node.func, ast.Attribute)
    receiver = site.node.func.value
    return is_keras_model(module, receiver) and not defines(module, receiver, site.method)


def _argument_finding(
    module: Module, site: CallSite, code: Code, argument: Argument, confidence: Confidence
) -> Finding:
    called = site.method or site.name.rpartition(".")[2]
    return CAUSE.finding(
        f"`{called}` of Keras 3 takes no `{argument.name}`",
        subject=f"argument {argument.name} of {called}",
        location=argument.whole,
        evidence=[Evidence(claim="an argument of Keras 2", observed=argument.name)],
        fixes=[_argument_fix(module, site, code, argument)],
        confidence=confidence,
    )


def _argument_fix(module: Module, site: CallSite, code: Code, argument: Argument) -> Fix:
    new = RENAMED_ARGUMENTS.get(argument.name)
    if argument.name == "lr" and code.argument("decay") is not None:
        return decaying(code, argument)
    if argument.name in ("batch_input_shape", "batch_size"):
        shape = "batch_shape" if argument.name == "batch_input_shape" else "batch_size"
        return fix(f"put an `Input({shape}=…)` before the layer", input_before(module, site, code, argument))
    if new is not None and code.argument(new) is None:
        return fix(f"write `{new}`", rename_argument(code, argument.name, new))
    # One fix for the whole call: each of them would be refused in turn.
    gone = older_arguments(site.method) or refused_by_class(site.name)
    names = [each.name for each in code.arguments if each.name in gone and each.name not in RENAMED_ARGUMENTS]
    return fix(
        f"remove {listing(names)}",
        merged_removal(code, names),
    )


def _ignored_decay(module: Module, site: CallSite) -> Iterator[Finding]:
    """`decay=` is accepted and does nothing."""
    if not site.name.startswith("keras.optimizers.") or ".legacy" in site.name or ".schedules" in site.name:
        return
    if not any(keyword.arg == "decay" for keyword in site.node.keywords):
        return
    code = module.code(site.node)
    argument = code.argument("decay")
    if argument is None or argument.text in ("0", "0.0", "None"):
        return
    yield CAUSE.finding(
        f"`decay={argument.text}` is ignored: the learning rate stays as it is",
        subject="argument decay of the optimizer",
        location=argument.whole,
        evidence=[Evidence(claim="Keras 3 warns that `decay` is deprecated, and does nothing with it")],
        fixes=[decaying(code, code.argument("learning_rate", 0))],
        severity=Severity.WARNING,
    )


def _automatic_reduction(module: Module, site: CallSite) -> Iterator[Finding]:
    """`reduction="auto"` meant the mean over the batch, and has no other name than that now."""
    given = site.argument("reduction") if site.name.startswith("keras.losses.") else None
    text = module.segment(given) if given is not None else ""
    if given is None or not text.endswith(("Reduction.AUTO", '"auto"', "'auto'")):
        return
    yield CAUSE.finding(
        f"losses of Keras 3 take no `reduction={text}`",
        subject="argument reduction of the loss",
        location=module.location(given),
        evidence=[Evidence("a reduction of Keras 2", "auto", "sum_over_batch_size")],
        fixes=[fix("name the mean over the batch", (Edit(module.location(given), '"sum_over_batch_size"'),))],
    )


def _saved_as_format(module: Module, site: CallSite) -> Iterator[Finding]:
    """`save(folder, save_format="tf")`: the format follows from the ending, and SavedModel is for `export`."""
    refused = format_refused(module, site)
    if refused is None:
        return
    yield CAUSE.finding(
        "`save` of Keras 3 takes no `save_format`: the ending of the path says it",
        subject="argument save_format of save",
        location=module.location(refused),
        evidence=[
            Evidence("an argument of Keras 2", module.segment(refused), "an ending: `.keras` or `.h5`")
        ],
        fixes=[fix("leave it out, and end the path in `.keras`", saved_by_ending(module, site))],
    )


def _attributes(module: Module) -> Iterator[Finding]:
    """Methods of a model and attributes of an optimizer that are gone."""
    for node in module.nodes(ast.Attribute):
        if node.attr in REMOVED_ATTRIBUTES["model"] and isinstance(module.parent(node), ast.Call):
            if is_keras_model(module, node.value) and not defines(module, node.value, node.attr):
                yield _method_finding(module, node, Confidence.LIKELY)
        elif node.attr in REMOVED_ATTRIBUTES["optimizer"] and is_keras_optimizer(module, node.value):
            # A new attribute may be set; the one that set the learning rate does nothing any more.
            if isinstance(node.ctx, ast.Load) or node.attr == "lr":
                yield _optimizer_finding(module, node, Confidence.LIKELY)
        elif node.attr in REMOVED_ATTRIBUTES["layer"] and reads_keras_layer(module, node):
            yield _layer_finding(module, node, Confidence.LIKELY)


def _layer_finding(module: Module, node: ast.Attribute, confidence: Confidence) -> Finding:
    new = RENAMED_OF_LAYERS.get(node.attr)
    edits = (Edit(attribute_name(module, node), new),) if new else ()
    return CAUSE.finding(
        f"a Keras 3 layer has no `{node.attr}`",
        subject=f"attribute {node.attr} of a layer",
        location=module.location(node),
        evidence=[Evidence(claim="an attribute of Keras 2", observed=node.attr, expected=new or "")],
        fixes=[fix(f"write `{new}`" if new else "use what Keras 3 offers instead", edits)],
        confidence=confidence,
    )


def _method_finding(module: Module, node: ast.Attribute, confidence: Confidence) -> Finding:
    new = RENAMED_METHODS.get(node.attr)
    title = f"call `{new}`" if new else "call the model or use what Keras 3 offers"
    edits: tuple[Edit, ...] = ()
    if new is not None:
        edits = renamed_method(module, node, new)
    elif node.attr == "predict_classes":
        title, edits = classes_fix(module, node)
    return CAUSE.finding(
        f"a Keras 3 model has no `{node.attr}`",
        subject=f"method {node.attr}",
        location=module.location(node),
        evidence=[Evidence(claim="a method of Keras 2", observed=node.attr, expected=new or "")],
        fixes=[fix(title, edits)],
        confidence=confidence,
    )


def _optimizer_finding(module: Module, node: ast.Attribute, confidence: Confidence) -> Finding:
    if node.attr == "lr":
        everywhere = [
            learning_rate_edit(module, each)
            for each in module.nodes(ast.Attribute)
            if each.attr == "lr" and (each is node or is_keras_optimizer(module, each.value))
        ]
        remedy = fix("write `learning_rate`", everywhere)
    elif node.attr in ("weights", "get_weights"):
        remedy = variables_fix(module, node)
    elif node.attr == "minimize":
        remedy = fix("compute the gradients in a `tf.GradientTape` and call `apply_gradients`")
    else:
        remedy = fix("use `apply_gradients` or `apply`")
    return CAUSE.finding(
        f"a Keras 3 optimizer has no `{node.attr}`",
        subject=f"attribute {node.attr} of the optimizer",
        location=module.location(node),
        evidence=[Evidence(claim="an attribute of Keras 2", observed=node.attr)],
        fixes=[remedy],
        confidence=confidence,
    )


def _imports(module: Module) -> Iterator[Finding]:
    """Imports of modules and names that are not there any more."""
    for node, gone, source in gone_imports(module):
        yield _import_finding(module, node, gone, source, Confidence.LIKELY)
    for plain in module.nodes(ast.Import):
        for alias in plain.names:
            source = as_keras(alias.name)
            outside_tf = alias.name.startswith("keras")
            if source and is_gone_module(source, outside_tf=outside_tf) and not is_tried(module, plain):
                yield CAUSE.finding(
                    f"Keras 3 has no module `{alias.name}`",
                    subject=f"import of {alias.name}",
                    location=module.location(plain),
                    fixes=[fix("import from the public modules, such as `keras.layers`")],
                )


def _import_finding(
    module: Module, node: ast.ImportFrom, alias: ast.alias, source: str, confidence: Confidence
) -> Finding:
    return CAUSE.finding(
        f"Keras 3 has no `{node.module}.{alias.name}`",
        subject=f"import of {alias.name}",
        location=module.location(node),
        evidence=[Evidence(claim="a module or name of Keras 2", observed=f"{node.module}.{alias.name}")],
        fixes=[with_other_imports(module, node, import_fix(module, node, alias, source))],
        confidence=confidence,
    )


def _names(module: Module) -> Iterator[Finding]:
    """Dotted names in the code, such as `keras.optimizers.legacy.Adam`."""
    for site in module.calls:
        if not site.name.startswith("keras.") or not isinstance(site.node.func, ast.Attribute):
            continue
        spelt = module.dotted(site.node.func)
        if ".legacy." in site.name and site.name.startswith("keras.optimizers."):
            yield _legacy_finding(module, site)
        elif "experimental." in module.segment(site.node.func) and without_experimental(site.name):
            yield _experimental_finding(module, site)
        elif is_gone(site.name, outside_tf=spelt.startswith("keras.")) and "experimental" not in site.name:
            yield CAUSE.finding(
                f"Keras 3 has no `{site.name.removeprefix('keras.')}`",
                subject=f"name {site.name}",
                location=module.location(site.node.func),
                fixes=[elsewhere(module, site.node.func)],
            )


def _experimental_finding(module: Module, site: CallSite) -> Finding:
    text = module.segment(site.node.func)
    plain = text.replace("experimental.preprocessing.", "").replace("experimental.", "")
    return CAUSE.finding(
        f"Keras 3 has no `{text}`",
        subject=f"name {site.name}",
        location=module.location(site.node.func),
        evidence=[Evidence(claim="a module of Keras 2", observed=text, expected=plain)],
        fixes=[fix("leave out `experimental`", (Edit(module.location(site.node.func), plain),))],
    )


def _legacy_finding(module: Module, site: CallSite) -> Finding:
    text = module.segment(site.node.func)
    return CAUSE.finding(
        "Keras 3 has no `optimizers.legacy`",
        subject=f"name {site.name}",
        location=module.location(site.node.func),
        evidence=[Evidence(claim="a module of Keras 2", observed=text)],
        fixes=[
            fix(
                "use the optimizer of the same name",
                (Edit(module.location(site.node.func), text.replace("legacy.", "", 1)),),
            )
        ],
    )


def _history_finding(module: Module, node: ast.Subscript, confidence: Confidence) -> Finding:
    assert isinstance(node.slice, ast.Constant)
    old = str(node.slice.value)
    return CAUSE.finding(
        f"the history has no `{old}`: the metric `accuracy` is kept as `{OLDER_HISTORY[old]}`",
        subject=f"history key {old}",
        location=module.location(node),
        evidence=[Evidence(claim="the key", observed=old, expected=OLDER_HISTORY[old])],
        fixes=[fix(f"write `{OLDER_HISTORY[old]}`", key_edits(module, node))],
        confidence=confidence,
    )


# --- from the failure ---------------------------------------------------------------------------------------------


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """The exception names what is gone; the source at that line says how it is written."""
    older = is_keras_2(project)
    for finding in _told_by(failure, project):
        yield of_keras_2(finding) if older else finding


def _told_by(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    if isinstance(project, Project) and refuses_loss_weights(failure.message):
        for read in project.modules:
            yield from metrics_by_position(CAUSE, read, Confidence.CERTAIN)
    gone = gone_in_message(failure)
    frame = failure.last_user_frame
    if gone is None:
        yield from _refused_call(failure, project)
        return
    if frame is not None and isinstance(project, Project):
        module = module_of(project, frame)
        for finding in _certain(module, frame, gone) if module is not None else ():
            yield finding
            return
    new = RENAMED_ARGUMENTS.get(gone) or RENAMED_METHODS.get(gone) or OLDER_HISTORY.get(gone)
    yield CAUSE.finding(
        f"Keras 3 has no `{gone}`",
        subject=f"name {gone}",
        location=frame.location if frame else None,
        evidence=[
            Evidence(claim="Keras refused it", observed=gone, expected=new or "", fact="failure.message")
        ],
        fixes=[fix(f"write `{new}`" if new else "use what Keras 3 offers instead")],
        confidence=Confidence.CERTAIN,
    )


@CAUSE.after_failure
def from_elsewhere(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Keras 2 trained with several workers, and loaded what was saved under a short name."""
    from fitdoctor.catalogue.several_workers import refused_to_several_workers
    from fitdoctor.catalogue.whole_numbers import numpy_number

    yield from numpy_number(CAUSE, failure, project)
    yield from short_name_in_h5(CAUSE, failure)
    yield from missed_validation_data(CAUSE, failure, project)
    yield from missed_pool_size(CAUSE, failure, project)
    yield from refused_position(CAUSE, failure, project)
    yield from refused_to_several_workers(CAUSE, failure, project)


def _refused_call(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """A layer or model that was called as in Keras 1: the message names what is missing, or the first odd one."""
    frame = failure.last_user_frame
    if frame is None or failure.type not in ("TypeError", "ValueError"):
        return
    words = ("missing", "keyword arguments passed to", "Keyword argument not understood")
    if not any(each in failure.message for each in words):
        return
    if isinstance(project, Unknown):
        yield from refused_in_words(CAUSE, failure, frame)
        return
    module = module_of(project, frame)
    if module is None:
        return
    for site in module.calls:
        if at_frame(module, site.node, frame):
            for finding in _of_keras_1(module, site):
                yield replace(finding, confidence=Confidence.CERTAIN)


def _certain(module: Module, frame: Frame, gone: str) -> Iterator[Finding]:
    """What the source says about that line, as a certainty: it has failed."""
    for site in module.calls:
        refuses = site.method in METHODS or gone in refused_by_class(site.name)
        if refuses and at_frame(module, site.node, frame):
            code = module.code(site.node)
            for argument in code.arguments:
                if argument.name == gone:
                    yield _argument_finding(module, site, code, argument, Confidence.CERTAIN)
    for node in module.nodes(ast.Attribute):
        if node.attr == gone and at_frame(module, node, frame):
            if node.attr in REMOVED_ATTRIBUTES["optimizer"]:
                yield _optimizer_finding(module, node, Confidence.CERTAIN)
            elif node.attr in REMOVED_ATTRIBUTES["model"] and isinstance(module.parent(node), ast.Call):
                yield _method_finding(module, node, Confidence.CERTAIN)
            elif node.attr in REMOVED_ATTRIBUTES["layer"]:
                yield _layer_finding(module, node, Confidence.CERTAIN)
    for finding in _names(module):
        if finding.location is not None and stands_at(finding.location, frame.line, frame.cell):
            yield replace(finding, confidence=Confidence.CERTAIN)
    for subscript in module.nodes(ast.Subscript):
        key = subscript.slice.value if isinstance(subscript.slice, ast.Constant) else None
        if key in OLDER_HISTORY and at_frame(module, subscript, frame):
            yield _history_finding(module, subscript, Confidence.CERTAIN)
    for finding in from_source(module):
        if finding.location is not None and stands_at(finding.location, frame.line, frame.cell):
            yield replace(finding, confidence=Confidence.CERTAIN)
