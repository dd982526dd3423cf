"""Edits that update Keras 2 code for Keras 3: removed imports, methods and arguments."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.environment.keras_renames import OF_GENERATORS, RENAMED_ARGUMENTS, older_arguments
from fitdoctor.catalogue.environment.keras_signatures import PUBLIC_NAMES, REMOVED_OUTSIDE_TF
from fitdoctor.diagnosis import Edit, Fix, Location
from fitdoctor.edits import (
    fix,
    insert_before,
    merged_removal,
    remove_argument,
    rename_argument,
    spell,
)
from fitdoctor.facts import Argument, Code
from fitdoctor.patterns import pattern
from fitdoctor.records import replace
from fitdoctor.source.module import CallSite, Module


def input_before(module: Module, site: CallSite, code: Code, argument: Argument) -> tuple[Edit, ...]:
    """Add `Input(batch_shape=…)` or `Input(…, batch_size=…)` as a separate element or `add` call."""
    shape = code.argument("input_shape")
    if argument.name == "batch_size" and shape is None:
        return ()
    keras, imports = spell(code, "keras", "keras")
    entry = f"{keras}.Input(batch_shape={argument.text})"
    taken = remove_argument(code, argument.name)
    if argument.name == "batch_size" and shape is not None:
        entry = f"{keras}.Input({shape.text}, batch_size={argument.text})"
        taken = merged_removal(code, ("input_shape", "batch_size"))
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
        return (Edit(start, f"{entry}, "), *taken, *imports)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "add":
        model = module.segment(parent.func.value)
        return (*insert_before(module.code(parent), f"{model}.add({entry})"), *taken, *imports)
    return ()


_RATE_SETTERS = ("LearningRateScheduler", "ReduceLROnPlateau")


def decaying(code: Code, rate: Argument | None) -> Fix:
    """Replace `decay=` with a schedule that divides the learning rate by `1 + decay * step`, as Keras 2 did."""
    title = "use a learning rate schedule with the same decay"
    decay = code.argument("decay")
    if rate is None or decay is None:
        return fix(title)
    if any(code.spelling(f"keras.callbacks.{name}") for name in _RATE_SETTERS):
        # These callbacks cannot set a rate that comes from a schedule.
        text = f"learning_rate={rate.text}" if rate.name else rate.text
        title = "remove `decay`: a callback sets the learning rate, which does not work with a schedule"
        return fix(title, (Edit(rate.whole, text),), remove_argument(code, "decay"))
    keras, imports = spell(code, "keras", "keras")
    arguments = f"{rate.text}, decay_steps=1, decay_rate={decay.text}"
    schedule = f"{keras}.optimizers.schedules.InverseTimeDecay({arguments})"
    text = f"learning_rate={schedule}" if rate.name else schedule
    return fix(title, (Edit(rate.whole, text),), remove_argument(code, "decay"), imports)


def renamed_method(module: Module, node: ast.Attribute, new: str) -> tuple[Edit, ...]:
    """Rename the method and adapt its arguments; drop those that no longer exist."""
    edits: tuple[Edit, ...] = (Edit(attribute_name(module, node), new),)
    call = module.parent(node)
    if not isinstance(call, ast.Call):
        return edits
    code = module.code(call)
    gone = older_arguments(new)
    for argument in code.arguments:
        now = RENAMED_ARGUMENTS.get(argument.name) if argument.name in gone else None
        if now is not None and code.argument(now) is None:
            edits += rename_argument(code, argument.name, now)
    if node.attr in OF_GENERATORS:
        edits += _by_name(code, OF_GENERATORS[node.attr])
    return (*edits, *merged_removal(code, [name for name in gone if name not in RENAMED_ARGUMENTS]))


def _by_name(code: Code, names: tuple[str, ...]) -> tuple[Edit, ...]:
    """Pass the generator as `x` and later positional arguments by name, because the order differs."""
    edits = rename_argument(code, "generator", "x")
    positional = [argument for argument in code.arguments if not argument.name]
    for name, argument in list(zip(names, positional, strict=False))[1:]:
        start = replace(
            argument.location, end_line=argument.location.line, end_column=argument.location.column
        )
        edits += (Edit(start, f"{name}="),)
    return edits


def attribute_name(module: Module, node: ast.Attribute) -> Location:
    """Return the span of the name after the dot."""
    whole = module.location(node)
    return Location(
        whole.path,
        whole.end_line,
        whole.end_column - len(node.attr),
        whole.end_line,
        whole.end_column,
        whole.cell,
    )


def learning_rate_edit(module: Module, node: ast.Attribute) -> Edit:
    """Replace `lr` with `learning_rate`, and the removed `K.get_value` and `K.set_value` around it."""
    rate = f"{module.segment(node.value)}.learning_rate"
    call = module.parent(node)
    if isinstance(call, ast.Call) and node in call.args[:1]:
        name = module.resolve(call.func)
        if name == "keras.backend.get_value":
            return Edit(module.location(call), f"float({rate})")
        if name == "keras.backend.set_value" and len(call.args) == 2:
            return Edit(module.location(call), f"{rate}.assign({module.segment(call.args[1])})")
    return Edit(attribute_name(module, node), "learning_rate")


def variables_fix(module: Module, node: ast.Attribute) -> Fix:
    """Use `variables`, where an optimizer keeps its state."""
    if node.attr == "weights":
        return fix("use `variables`", (Edit(attribute_name(module, node), "variables"),))
    call = module.parent(node)
    values = f"[variable.numpy() for variable in {module.segment(node.value)}.variables]"
    edits = (Edit(module.location(call), values),) if isinstance(call, ast.Call) and not call.args else ()
    return fix("read the values of `variables`", edits)


def classes_fix(module: Module, node: ast.Attribute) -> tuple[str, tuple[Edit, ...]]:
    """Replace `predict_classes(x)` with the argmax of `predict(x)`, or a threshold for one sigmoid unit."""
    call = module.parent(node)
    if not isinstance(call, ast.Call):
        return "compute the class from `predict`", ()
    inner = module.segment(call).replace(".predict_classes(", ".predict(", 1)
    if _has_one_unit(module):
        return "compare the output of `predict` with 0.5", (
            Edit(module.location(call), f'({inner} > 0.5).astype("int32")'),
        )
    code = module.code(call)
    numpy = code.spelling("numpy")
    edit = Edit(
        module.location(call), f"{numpy}.argmax({inner}, axis=-1)" if numpy else f"{inner}.argmax(axis=-1)"
    )
    return "take the argmax of `predict`", (edit,)


def _has_one_unit(module: Module) -> bool:
    """Return whether the layers in the file end in one sigmoid unit, as far as they can be read."""
    last = list(module.calls_to("keras.layers.Dense"))[-1:]
    for site in last:
        units = site.argument("units", 0)
        return isinstance(units, ast.Constant) and units.value == 1
    return False


def import_fix(module: Module, node: ast.ImportFrom, alias: ast.alias, source: str) -> Fix:
    """Return the current form of an import of something that was removed."""
    root = "tensorflow.keras" if (node.module or "").startswith("tensorflow") else "keras"
    statement = module.segment(node)
    if f"{source}.{alias.name}" in REMOVED_OUTSIDE_TF:
        return fix(
            "import it from `tensorflow.keras`, which still has it",
            (Edit(module.location(node), statement.replace("from keras", "from tensorflow.keras", 1)),),
        )
    if source == "keras.layers.experimental" and alias.name == "preprocessing" and len(node.names) == 1:
        text = f"from {root} import layers as {alias.asname or alias.name}"
        return fix("import them from `layers`", (Edit(module.location(node), text),))
    if alias.name == "np_utils":
        known = alias.asname or alias.name
        return fix(
            "import `utils`, which has `to_categorical`",
            (Edit(module.location(node), f"from {root} import utils as {known}"),),
        )
    for public, names in PUBLIC_NAMES.items():
        if all(each.name in names for each in node.names) and source.startswith(public):
            return moved_import(module, node, public, root)
    for public in ("keras.layers", "keras.optimizers", "keras.models", "keras.utils"):
        if all(each.name in PUBLIC_NAMES[public] for each in node.names):
            return moved_import(module, node, public, root)
    recurrent = [each for each in node.names if each.name.startswith("CuDNN")]
    if recurrent and all(
        each.name.removeprefix("CuDNN") in PUBLIC_NAMES["keras.layers"] for each in node.names
    ):
        return fix(
            "import the standard layers, which use cuDNN automatically on a GPU",
            (_plain_import(module, node),),
        )
    if {each.name for each in node.names} == {"set_session"}:
        return _without_session(module, node)
    if source.startswith("keras.wrappers"):
        return fix("use the `scikeras` package for scikit-learn wrappers")
    return fix("use the Keras 3 replacement")


def _without_session(module: Module, node: ast.ImportFrom) -> Fix:
    """Remove the import together with its session."""
    from fitdoctor.catalogue.environment.session_setup import without_session

    title = "remove the session: Keras 3 does not use sessions"
    bound = node.names[0].asname or node.names[0].name
    reads = module.reads.get(bound, [])
    if len(reads) != 1:
        return fix(title)
    return without_session(module, reads[0], title, Edit(module.location(node).lines, ""))


_FROM = pattern(r"^from\s+[\w.]+")
_IMPORTS_KERAS = pattern(r"(?:from|import)\s+keras\b")
_KERAS = pattern(r"\bkeras\b")
_CUDNN = pattern(r"\bCuDNN(LSTM|GRU)\b(?!\s+as\b)")
_CUDNN_RENAMED = pattern(r"\bCuDNN(LSTM|GRU)(?=\s+as\b)")


def moved_import(module: Module, node: ast.ImportFrom, public: str, root: str) -> Fix:
    """Import the same names from another module."""
    target = root + public.removeprefix("keras")
    text = _FROM.sub(f"from {target}", module.segment(node), count=1)
    return fix(f"import from `{target}`", (Edit(module.location(node), text),))


def elsewhere(module: Module, func: ast.Attribute) -> Fix:
    """Import from `tensorflow.keras`, which kept most of the old backend."""
    title = "import it from `tensorflow.keras`, which still has it"
    root: ast.expr = func
    while isinstance(root, ast.Attribute):
        root = root.value
    nodes: list[ast.ImportFrom | ast.Import] = [*module.nodes(ast.ImportFrom), *module.nodes(ast.Import)]
    for node in nodes:
        bound = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        if not isinstance(root, ast.Name) or root.id not in bound or len(bound) != 1:
            continue
        text = module.segment(node)
        if _IMPORTS_KERAS.match(text) and (isinstance(node, ast.ImportFrom) or node.names[0].asname):
            return fix(title, (Edit(module.location(node), _KERAS.sub("tensorflow.keras", text, count=1)),))
    return fix("use the Keras 3 replacement, or `tf.keras` if it still has the name")


def as_keras(dotted: str) -> str:
    """Return the name below `keras`, however it is imported; "" for other packages."""
    for prefix in ("tensorflow.keras", "keras", "tf_keras"):
        if dotted == prefix or dotted.startswith(prefix + "."):
            return "keras" + dotted.removeprefix(prefix)
    return ""


def _plain_import(module: Module, node: ast.ImportFrom) -> Edit:
    """Import `LSTM as CuDNNLSTM`, so that the rest of the file can stay the same."""
    text = _CUDNN.sub(r"\1 as CuDNN\1", module.segment(node))
    return Edit(module.location(node), _CUDNN_RENAMED.sub(r"\1", text))
