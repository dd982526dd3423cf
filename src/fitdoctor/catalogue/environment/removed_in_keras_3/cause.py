"""A name or argument that Keras 3 no longer has.

## What happens

Since TensorFlow 2.16, `tf.keras` is Keras 3. Code for Keras 2 meets `ValueError: Argument(s) not recognized: {'lr':
0.01}`, `TypeError: … got an unexpected keyword argument 'workers'`, `AttributeError: 'Sequential' object has no
attribute 'predict_classes'`, `ModuleNotFoundError: No module named 'keras.utils.np_utils'`, `KeyError: 'acc'`. One is
silent: `decay=` of an optimizer is ignored with a mere warning, and the learning rate stays as it is.

## Why

Keras 3 was written anew. What it takes is listed in this package by a script that compares both versions.

## Fix

Use the new name. Where there is none, the fix says what does the same. To go on with Keras 2 as it was, install
`tf_keras` and set `TF_USE_LEGACY_KERAS=1` before TensorFlow is imported.

## Known limits

Arguments that are passed on as `**options` are seen only when they raise.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.compile_positions import metrics_as_loss_weights, refuses_loss_weights
from fitdoctor.catalogue.keras_renames import (
    OLDER_HISTORY,
    RENAMED_ARGUMENTS,
    RENAMED_METHODS,
    older_arguments,
)
from fitdoctor.catalogue.keras_signatures import (
    PUBLIC_NAMES,
    REMOVED_ARGUMENTS,
    REMOVED_ATTRIBUTES,
    REMOVED_MODULES,
    REMOVED_NAMES,
    REMOVED_OUTSIDE_TF,
)
from fitdoctor.catalogue.traced import module_of
from fitdoctor.catalogue.words import listing
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, insert_before, merged_removal, remove_argument, rename_argument
from fitdoctor.facts import Argument, Code, FailureFacts, Unknown
from fitdoctor.failure.patterns import attribute_missing, unexpected_keyword
from fitdoctor.source.keras_objects import defines, is_keras_model, kind_of_value
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT902",
    slug="removed-in-keras-3",
    severity=Severity.ERROR,
    raises=("ValueError", "TypeError", "AttributeError", "ImportError", "ModuleNotFoundError", "KeyError"),
    explains=("FIT106",),
)

METHODS = ("fit", "compile", "evaluate", "predict", "train_on_batch", "test_on_batch")


# --- from the source ----------------------------------------------------------------------------------------------


@CAUSE.in_source
def from_source(module: Module) -> Iterator[Finding]:
    """Calls, attributes, imports and history keys that Keras 3 refuses."""
    if module.keras != 3:
        return
    yield from _arguments(module)
    yield from _positions(module, Confidence.LIKELY)
    yield from _attributes(module)
    yield from _imports(module)
    yield from _names(module)
    yield from _history_keys(module)


def _arguments(module: Module) -> Iterator[Finding]:
    for site in module.calls:
        for code, argument in _refused(module, site):
            yield _argument_finding(module, site, code, argument, Confidence.LIKELY)
        yield from _ignored_decay(module, site)


def _positions(module: Module, confidence: Confidence) -> Iterator[Finding]:
    """`compile("adam", "mse", ["mae"])`: the third was `metrics`, and is `loss_weights`."""
    for _call, metrics in metrics_as_loss_weights(module):
        where = module.location(metrics)
        yield CAUSE.finding(
            "the third argument of `compile` is `loss_weights` in Keras 3, and metrics are given there",
            subject="argument metrics of compile",
            location=where,
            evidence=[
                Evidence("third by position", module.segment(metrics), "weights of the losses, or a keyword")
            ],
            fixes=[fix("name it: `metrics=`", (Edit(where, f"metrics={module.segment(metrics)}"),))],
            confidence=confidence,
        )


def _refused(module: Module, site: CallSite) -> Iterator[tuple[Code, Argument]]:
    """The keywords of a call that Keras 3 does not take."""
    gone = frozenset(REMOVED_ARGUMENTS.get(site.name, ()) if "." in site.name else ())
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
    if argument.name == "batch_input_shape":
        return fix(
            "put an `Input(batch_shape=…)` before the layer", _input_before(module, site, code, argument)
        )
    if new is not None and code.argument(new) is None:
        return fix(f"write `{new}`", rename_argument(code, argument.name, new))
    # One fix for the whole call: each of them would be refused in turn.
    gone = older_arguments(site.method) or frozenset(REMOVED_ARGUMENTS.get(site.name, ()))
    names = [each.name for each in code.arguments if each.name in gone and each.name not in RENAMED_ARGUMENTS]
    return fix(
        f"remove {listing(names)}",
        merged_removal(code, names),
    )


def _input_before(module: Module, site: CallSite, code: Code, argument: Argument) -> tuple[Edit, ...]:
    """`Input(batch_shape=…)` as an element, or an `add`, of its own."""
    keras = code.spelling("keras")
    if keras is None:
        return ()
    entry = f"{keras}.Input(batch_shape={argument.text})"
    taken = remove_argument(code, argument.name)
    parent = module.parent(site.node)
    if isinstance(parent, ast.List):
        start = Location(
            code.location.path,
            code.location.line,
            code.location.column,
            code.location.line,
            code.location.column,
            code.location.cell,
        )
        return (Edit(start, f"{entry}, "), *taken)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "add":
        model = module.segment(parent.func.value)
        return (*insert_before(module.code(parent), f"{model}.add({entry})"), *taken)
    return ()


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
    rate = code.argument("learning_rate", 0)
    keras = code.spelling("keras")
    edits: tuple[Edit, ...] = ()
    if rate is not None and keras is not None and not rate.name.startswith("lr"):
        arguments = f"{rate.text}, decay_steps=1, decay_rate={argument.text}"
        schedule = f"{keras}.optimizers.schedules.InverseTimeDecay({arguments})"
        edits = (Edit(rate.location, schedule), *remove_argument(code, "decay"))
    yield CAUSE.finding(
        f"`decay={argument.text}` is ignored: the learning rate stays as it is",
        subject="argument decay of the optimizer",
        location=argument.whole,
        evidence=[Evidence(claim="Keras 3 warns that `decay` is deprecated, and does nothing with it")],
        fixes=[fix("use a learning-rate schedule that decays the same way", edits)],
        severity=Severity.WARNING,
    )


def _attributes(module: Module) -> Iterator[Finding]:
    """Methods of a model and attributes of an optimizer that are gone."""
    for node in module.nodes(ast.Attribute):
        if node.attr in REMOVED_ATTRIBUTES["model"] and isinstance(module.parent(node), ast.Call):
            if is_keras_model(module, node.value) and not defines(module, node.value, node.attr):
                yield _method_finding(module, node, Confidence.LIKELY)
        elif node.attr in REMOVED_ATTRIBUTES["optimizer"] and _is_optimizer(module, node.value):
            yield _optimizer_finding(module, node, Confidence.LIKELY)


def _is_optimizer(module: Module, expr: ast.expr) -> bool:
    if isinstance(expr, ast.Attribute) and expr.attr == "optimizer":
        owner = expr.value
        # `self.model.optimizer` in a callback is the model that is being trained.
        if isinstance(owner, ast.Attribute) and owner.attr == "model" and isinstance(owner.value, ast.Name):
            around = module.class_of(expr)
            if owner.value.id == "self" and around is not None and around.kind == "Callback":
                return True
        return is_keras_model(module, owner)
    return kind_of_value(module, expr) == "Optimizer"


def _method_finding(module: Module, node: ast.Attribute, confidence: Confidence) -> Finding:
    new = RENAMED_METHODS.get(node.attr)
    title = f"call `{new}`" if new else "call the model or use what Keras 3 offers"
    edits: tuple[Edit, ...] = ()
    if new is not None:
        edits = (Edit(_attribute_name(module, node), new),)
    elif node.attr == "predict_classes":
        title, edits = _classes_fix(module, node)
    return CAUSE.finding(
        f"a Keras 3 model has no `{node.attr}`",
        subject=f"method {node.attr}",
        location=module.location(node),
        evidence=[Evidence(claim="a method of Keras 2", observed=node.attr, expected=new or "")],
        fixes=[fix(title, edits)],
        confidence=confidence,
    )


def _attribute_name(module: Module, node: ast.Attribute) -> Location:
    """The span of the name after the dot."""
    whole = module.location(node)
    return Location(
        whole.path,
        whole.end_line,
        whole.end_column - len(node.attr),
        whole.end_line,
        whole.end_column,
        whole.cell,
    )


def _classes_fix(module: Module, node: ast.Attribute) -> tuple[str, tuple[Edit, ...]]:
    """`predict_classes(x)` is the argmax of `predict(x)`, or a threshold for one sigmoid unit."""
    call = module.parent(node)
    if not isinstance(call, ast.Call):
        return "take the class from `predict`", ()
    inner = module.segment(call).replace(".predict_classes(", ".predict(", 1)
    if _has_one_unit(module, node.value):
        return "compare `predict` with 0.5", (
            Edit(module.location(call), f'({inner} > 0.5).astype("int32")'),
        )
    code = module.code(call)
    numpy = code.spelling("numpy")
    edit = Edit(
        module.location(call), f"{numpy}.argmax({inner}, axis=-1)" if numpy else f"{inner}.argmax(axis=-1)"
    )
    return "take the class with the largest output of `predict`", (edit,)


def _has_one_unit(module: Module, model: ast.expr) -> bool:
    """Whether the file's layers end in one sigmoid unit, as far as they can be read."""
    last = list(module.calls_to("keras.layers.Dense"))[-1:]
    for site in last:
        units = site.argument("units", 0)
        return isinstance(units, ast.Constant) and units.value == 1
    return False


def _optimizer_finding(module: Module, node: ast.Attribute, confidence: Confidence) -> Finding:
    if node.attr == "lr":
        everywhere = [
            _learning_rate_edit(module, each)
            for each in module.nodes(ast.Attribute)
            if each.attr == "lr" and (each is node or _is_optimizer(module, each.value))
        ]
        remedy = fix("write `learning_rate`", everywhere)
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


def _learning_rate_edit(module: Module, node: ast.Attribute) -> Edit:
    """`learning_rate` for `lr`; `K.get_value` and `K.set_value` around it are gone with Keras 2, too."""
    rate = f"{module.segment(node.value)}.learning_rate"
    call = module.parent(node)
    if isinstance(call, ast.Call) and node in call.args[:1]:
        name = module.resolve(call.func)
        if name == "keras.backend.get_value":
            return Edit(module.location(call), f"float({rate})")
        if name == "keras.backend.set_value" and len(call.args) == 2:
            return Edit(module.location(call), f"{rate}.assign({module.segment(call.args[1])})")
    return Edit(_attribute_name(module, node), "learning_rate")


def _imports(module: Module) -> Iterator[Finding]:
    """Imports of modules and names that are not there any more."""
    for node in module.nodes(ast.ImportFrom):
        source = _as_keras(node.module or "")
        if node.level or not source:
            continue
        for alias in node.names:
            full = f"{source}.{alias.name}"
            outside_tf = (node.module or "").startswith("keras")
            if _is_gone(full, outside_tf=outside_tf) or _is_gone_module(source, outside_tf=outside_tf):
                if not _is_tried(module, node):
                    yield _import_finding(module, node, alias, source, Confidence.LIKELY)
                    break
    for plain in module.nodes(ast.Import):
        for alias in plain.names:
            source = _as_keras(alias.name)
            outside_tf = alias.name.startswith("keras")
            if source and _is_gone_module(source, outside_tf=outside_tf) and not _is_tried(module, plain):
                yield CAUSE.finding(
                    f"Keras 3 has no module `{alias.name}`",
                    subject=f"import of {alias.name}",
                    location=module.location(plain),
                    fixes=[fix("import from the public modules, such as `keras.layers`")],
                )


def _as_keras(dotted: str) -> str:
    """The name below `keras`, however it is imported; "" for other packages."""
    for prefix in ("tensorflow.keras", "keras"):
        if dotted == prefix or dotted.startswith(prefix + "."):
            return "keras" + dotted.removeprefix(prefix)
    return ""


def _is_gone(full: str, *, outside_tf: bool) -> bool:
    return full in REMOVED_NAMES or _is_gone_module(full, outside_tf=outside_tf)


def _is_gone_module(dotted: str, *, outside_tf: bool) -> bool:
    return (
        dotted in REMOVED_MODULES
        or (outside_tf and dotted in REMOVED_OUTSIDE_TF)
        or dotted.startswith(("keras.wrappers", "keras.engine"))
    )


def _is_tried(module: Module, node: ast.AST) -> bool:
    """Whether the import stands in a `try`: the program has another way."""
    parent = module.parent(node)
    while parent is not None:
        if isinstance(parent, (ast.Try, ast.If)):
            return True
        parent = module.parent(parent)
    return False


def _import_finding(
    module: Module, node: ast.ImportFrom, alias: ast.alias, source: str, confidence: Confidence
) -> Finding:
    return CAUSE.finding(
        f"Keras 3 has no `{node.module}.{alias.name}`",
        subject=f"import of {alias.name}",
        location=module.location(node),
        evidence=[Evidence(claim="a module or name of Keras 2", observed=f"{node.module}.{alias.name}")],
        fixes=[_import_fix(module, node, alias, source)],
        confidence=confidence,
    )


def _import_fix(module: Module, node: ast.ImportFrom, alias: ast.alias, source: str) -> Fix:
    root = "tensorflow.keras" if (node.module or "").startswith("tensorflow") else "keras"
    statement = module.segment(node)
    if f"{source}.{alias.name}" in REMOVED_OUTSIDE_TF:
        return fix(
            "import it from `tensorflow.keras`, where it lives on",
            (Edit(module.location(node), statement.replace("from keras", "from tensorflow.keras", 1)),),
        )
    if alias.name == "np_utils":
        known = alias.asname or alias.name
        return fix(
            "import `utils`, which has `to_categorical`",
            (Edit(module.location(node), f"from {root} import utils as {known}"),),
        )
    for public, names in PUBLIC_NAMES.items():
        if all(each.name in names for each in node.names) and source.startswith(public):
            return _moved_import(module, node, public, root)
    for public in ("keras.layers", "keras.optimizers", "keras.models", "keras.utils"):
        if all(each.name in PUBLIC_NAMES[public] for each in node.names):
            return _moved_import(module, node, public, root)
    if source.startswith("keras.wrappers"):
        return fix("use the package `scikeras` for scikit-learn wrappers")
    return fix("use what Keras 3 offers instead")


def _moved_import(module: Module, node: ast.ImportFrom, public: str, root: str) -> Fix:
    target = root + public.removeprefix("keras")
    text = re.sub(r"^from\s+[\w.]+", f"from {target}", module.segment(node), count=1)
    return fix(f"import from `{target}`", (Edit(module.location(node), text),))


def _names(module: Module) -> Iterator[Finding]:
    """Dotted names in the code, such as `keras.optimizers.legacy.Adam`."""
    for site in module.calls:
        if not site.name.startswith("keras.") or not isinstance(site.node.func, ast.Attribute):
            continue
        spelt = module.dotted(site.node.func)
        if ".legacy." in site.name and site.name.startswith("keras.optimizers."):
            yield _legacy_finding(module, site)
        elif _is_gone(site.name, outside_tf=spelt.startswith("keras.")) and "experimental" not in site.name:
            yield CAUSE.finding(
                f"Keras 3 has no `{site.name.removeprefix('keras.')}`",
                subject=f"name {site.name}",
                location=module.location(site.node.func),
                fixes=[fix("use what Keras 3 offers instead, or `tf.keras` where it lives on")],
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


def _history_keys(module: Module) -> Iterator[Finding]:
    """`history.history["acc"]` where compile asks for "accuracy"."""
    subscripts = [
        node
        for node in module.nodes(ast.Subscript)
        if isinstance(node.slice, ast.Constant)
        and node.slice.value in OLDER_HISTORY
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "history"
    ]
    if not subscripts or not _asks_for_accuracy(module):
        return
    for node in subscripts:
        yield _history_finding(module, node, Confidence.LIKELY)


def _asks_for_accuracy(module: Module) -> bool:
    """Whether every compile of the file names "accuracy" and none "acc"."""
    words = [
        constant.value
        for site in module.method_calls("compile")
        for constant in ast.walk(site.argument("metrics", 2) or ast.Tuple([], ast.Load()))
        if isinstance(constant, ast.Constant)
    ]
    return "accuracy" in words and "acc" not in words


def _history_finding(module: Module, node: ast.Subscript, confidence: Confidence) -> Finding:
    assert isinstance(node.slice, ast.Constant)
    old = str(node.slice.value)
    text = module.segment(node.slice)
    return CAUSE.finding(
        f"the history has no `{old}`: the metric `accuracy` is kept as `{OLDER_HISTORY[old]}`",
        subject=f"history key {old}",
        location=module.location(node),
        evidence=[Evidence(claim="the key", observed=old, expected=OLDER_HISTORY[old])],
        fixes=[
            fix(
                f"write `{OLDER_HISTORY[old]}`",
                (Edit(module.location(node.slice), text.replace(old, OLDER_HISTORY[old])),),
                # Both curves are read side by side: one edit alone would leave the next line failing.
                _other_history_edits(module, node),
            )
        ],
        confidence=confidence,
    )


def _other_history_edits(module: Module, node: ast.Subscript) -> list[Edit]:
    edits = []
    for other in module.nodes(ast.Subscript):
        if (
            other is not node
            and isinstance(other.slice, ast.Constant)
            and other.slice.value in OLDER_HISTORY
            and isinstance(other.value, ast.Attribute)
            and other.value.attr == "history"
        ):
            old = str(other.slice.value)
            text = module.segment(other.slice).replace(old, OLDER_HISTORY[old])
            edits.append(Edit(module.location(other.slice), text))
    return edits


# --- from the failure ---------------------------------------------------------------------------------------------


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """The exception names what is gone; the source at that line says how it is written."""
    if isinstance(project, Project) and refuses_loss_weights(failure.message):
        for read in project.modules:
            yield from _positions(read, Confidence.CERTAIN)
    gone = _gone_in_message(failure)
    if gone is None:
        return
    frame = failure.last_user_frame
    if frame is not None and isinstance(project, Project):
        module = module_of(project, frame)
        for finding in _certain(module, frame.line, gone) if module is not None else ():
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


def _certain(module: Module, line: int, gone: str) -> Iterator[Finding]:
    """What the source says about that line, as a certainty: it has failed."""
    from dataclasses import replace

    for site in module.calls:
        here = module.location(site.node)
        if here.line <= line <= here.end_line and site.method in METHODS:
            code = module.code(site.node)
            for argument in code.arguments:
                if argument.name == gone:
                    yield _argument_finding(module, site, code, argument, Confidence.CERTAIN)
    for node in module.nodes(ast.Attribute):
        here = module.location(node)
        if here.line <= line <= here.end_line and node.attr == gone:
            if node.attr in REMOVED_ATTRIBUTES["optimizer"]:
                yield _optimizer_finding(module, node, Confidence.CERTAIN)
            elif node.attr in REMOVED_ATTRIBUTES["model"] and isinstance(module.parent(node), ast.Call):
                yield _method_finding(module, node, Confidence.CERTAIN)
    for subscript in module.nodes(ast.Subscript):
        here = module.location(subscript)
        if here.line <= line <= here.end_line and isinstance(subscript.slice, ast.Constant):
            if subscript.slice.value in OLDER_HISTORY:
                yield _history_finding(module, subscript, Confidence.CERTAIN)
    for finding in from_source(module):
        if finding.location is not None and finding.location.line <= line <= finding.location.end_line:
            yield replace(finding, confidence=Confidence.CERTAIN)


def _gone_in_message(failure: FailureFacts) -> str | None:
    """The name that the message says is not there, when it is one that an older Keras had."""
    message = failure.message
    keyword = unexpected_keyword(message)
    if keyword is not None:
        gone = {name for names in REMOVED_ARGUMENTS.values() for name in names} | older_arguments("fit")
        keras_call = keyword.function in METHODS or not keyword.function or keyword.function == "__init__"
        return keyword.name if keyword.name in gone and keras_call else None
    attribute = attribute_missing(message)
    if attribute is not None:
        known = (*REMOVED_ATTRIBUTES["model"], *REMOVED_ATTRIBUTES["optimizer"])
        if attribute.name in known and failure.type == "AttributeError":
            return attribute.name
        return attribute.name if "keras" in attribute.owner else None
    imported = re.search(r"(?:No module named|cannot import name) '([\w.]+)'(?: from '([\w.]+)')?", message)
    if imported and failure.type in ("ImportError", "ModuleNotFoundError"):
        full = f"{imported[2]}.{imported[1]}" if imported[2] else imported[1]
        return full if _as_keras(full) and full not in ("keras", "tensorflow.keras") else None
    if failure.type == "ImportError" and "is not supported in Keras 3" in message:
        return message.split("`")[1] if "`" in message else "legacy"
    if failure.type == "KeyError":
        key = message.strip().strip("'\"")
        return key if key in OLDER_HISTORY else None
    return None
