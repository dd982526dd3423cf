"""Imports and dotted names that Keras 3 does not have, or has under another name: by the table of changes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue.environment.removed_in_keras_3.entry import CAUSE
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix
from fitdoctor.edits import fix
from fitdoctor.records import replace
from fitdoctor.source.conditions import is_conditional, knows_another_way
from fitdoctor.source.keras_3_api import PUBLIC_NAMES
from fitdoctor.source.keras_changes import (
    Change,
    below_keras,
    changed_module,
    changed_name,
    changes,
    homes_of,
    is_import_of_old_keras,
)
from fitdoctor.source.line_edits import attribute_name, moved_import
from fitdoctor.source.module import CallSite, Module

_REPLACEMENT = "find another way in the documentation of Keras 3, or install `tf_keras`, which is Keras 2"
_PASS_TRAINING = "pass `training=True` or `training=False` where you call the model or layer"
_INSTEAD = {
    "keras.backend.function": "build a `keras.Model` from these inputs and outputs, and call it",
    "keras.backend.placeholder": "use `keras.Input`",
    "keras.backend.image_dim_ordering": "use `keras.config.image_data_format`",
    "keras.backend.set_image_dim_ordering": "use `keras.config.set_image_data_format`",
    **dict.fromkeys(
        ("keras.layers.merge", "keras.layers.Merge"),
        "use the layer for each `mode`: `Concatenate`, `Add`, `Multiply`, `Average`, `Maximum` or `Dot`",
    ),
    "keras.layers.TimeDistributedDense": "use `TimeDistributed(Dense(…))`",
    "keras.layers.AtrousConvolution1D": "use `Conv1D` with `dilation_rate`",
    "keras.layers.AtrousConvolution2D": "use `Conv2D` with `dilation_rate`",
    "keras.layers.Deconvolution2D": "use `Conv2DTranspose`",
    "keras.layers.DenseFeatures": "use preprocessing layers, or `keras.utils.FeatureSpace`",
    "keras.layers.LocallyConnected1D": "use `Conv1D`, which shares its weights, or write a custom layer",
    "keras.layers.LocallyConnected2D": "use `Conv2D`, which shares its weights, or write a custom layer",
    "keras.initializations": "use `keras.initializers`",
    **dict.fromkeys(
        (
            f"keras.regularizers.{name}"
            for name in "l1l2 activity_l1l2 WeightRegularizer ActivityRegularizer".split()
        ),
        "use `L1L2`",
    ),
    "keras.metrics.precision": "use the class `Precision`",
    "keras.metrics.recall": "use the class `Recall`",
    "keras.metrics.fbeta_score": "use the class `FBetaScore`",
    "keras.models.model_from_yaml": "use `model_from_json`",
    "keras.objectives": "use `keras.losses`",
    "keras.utils.HDF5Matrix": "read the file with `h5py`",
    "keras.utils.multi_gpu_model": "build and compile the model in the scope of a `tf.distribute.MirroredStrategy`",
    **dict.fromkeys(
        (
            f"keras.backend.{name}"
            for name in "learning_phase set_learning_phase learning_phase_scope in_train_phase in_test_phase".split()
        ),
        _PASS_TRAINING,
    ),
}
"""What to do about names that neither Keras 3 nor `tensorflow.keras` has."""


def advice(dotted: str, otherwise: str = _REPLACEMENT) -> str:
    """Return what to do about a module, or a name in a module, that Keras 3 does not have."""
    name = below_keras(dotted) or dotted
    of_layer = re.sub(r"^keras\.layers\.\w+(?=\.)", "keras.layers", name)
    known = (_INSTEAD.get(each) for each in (name, of_layer, name.rpartition(".")[0]))
    change = changed_name(name)
    if change is not None and change.kind == "name" and change.new.startswith("keras."):
        otherwise = f"use `{change.new}`"
    return next(filter(None, known), otherwise)


# --- imports ----------------------------------------------------------------------------------------------------------


def changed_imports(module: Module) -> Iterator[Finding]:
    """Find imports of names and modules that are gone, one per statement."""
    for node, gone in _rejected_imports(module):
        written = f"{node.module}.{gone.name}"
        yield CAUSE.finding(
            f"Keras 3 has no `{written}`",
            module.location(node),
            Evidence("Keras 2 name", written),
            _with_other_imports(module, node, _updated_import(module, node, gone)),
            subject=f"import of {gone.name}",
        )
    for plain in module.nodes(ast.Import):
        for alias in plain.names:
            if below_keras(alias.name) and changed_module(alias.name) and not is_conditional(module, plain):
                yield CAUSE.finding(
                    f"Keras 3 has no module `{alias.name}`",
                    module.location(plain),
                    Evidence("Keras 2 module", alias.name),
                    fix(advice(alias.name, "import from a public module such as `keras.layers`")),
                    subject=f"import of {alias.name}",
                )


def _rejected_imports(module: Module) -> Iterator[tuple[ast.ImportFrom, ast.alias]]:
    """Return the failing `from … import` statements, with the first missing name."""
    for node in module.nodes(ast.ImportFrom):
        source = node.module or ""
        if node.level or not below_keras(source) or is_conditional(module, node):
            continue
        for alias in node.names:
            change = changed_name(f"{source}.{alias.name}")
            if is_import_of_old_keras(source, alias.name) and not (change and _is_respelled(change)):
                yield node, alias
                break


def _with_other_imports(module: Module, node: ast.ImportFrom, remedy: Fix) -> Fix:
    """Add the edits for other old imports, so that the next line does not fail."""
    if not remedy.edits:
        return remedy
    others = [
        edit
        for other, alias in _rejected_imports(module)
        if other is not node
        for edit in _updated_import(module, other, alias).edits
    ]
    return replace(remedy, edits=(*remedy.edits, *others))


def _updated_import(module: Module, node: ast.ImportFrom, gone: ast.alias) -> Fix:
    """Return the current form of an import: from where Keras 3 has the names, or what they are now."""
    root = "tensorflow.keras" if (node.module or "").startswith("tensorflow") else "keras"
    source, text, place = below_keras(node.module or ""), module.segment(node), module.location(node)
    names = [alias.name for alias in node.names]
    change = changed_name(f"{node.module}.{gone.name}")
    new = change.new if change is not None else ""
    if new.startswith("tensorflow."):
        moved = text.replace("from keras", "from tensorflow.keras", 1)
        return fix("import it from `tensorflow.keras`, which still has it", (Edit(place, moved),))
    if change is not None and change.kind == "module" and new and (len(names) == 1 or new == "keras.utils"):
        package, _, last = new.rpartition(".")
        text = f"from {root}{package.removeprefix('keras')} import {last} as {gone.asname or gone.name}"
        return fix(f"import `{last}`, which has the same names", (Edit(place, text),))
    if change is not None and change.kind == "name" and new.rpartition(".")[0] == change.owner == source:
        current = new.rpartition(".")[2]
        text = re.sub(rf"\b{gone.name}\b(?=\s+as\b)", current, text)
        text = re.sub(rf"(?<!\.)\b{gone.name}\b", f"{current} as {gone.name}", text)
        return fix(f"use `{current}`", (Edit(place, text),))
    offering = homes_of(names)
    likely = ("keras.layers", "keras.optimizers", "keras.models", "keras.utils")
    for home in (*filter(source.startswith, offering), *(each for each in likely if each in offering)):
        target = root + home.removeprefix("keras")
        return fix(f"import from `{target}`", (moved_import(module, node, target),))
    plain = [name.removeprefix("CuDNN") for name in names]
    if plain != names and all(name in PUBLIC_NAMES["keras.layers"] for name in plain):
        text = moved_import(module, node, f"{root}.layers").replacement
        text = re.sub(r"\bCuDNN(LSTM|GRU)\b(?!\s+as\b)", r"\1 as CuDNN\1", text)
        text = re.sub(r"\bCuDNN(LSTM|GRU)(?=\s+as\b)", r"\1", text)
        return fix("import the standard layers, which use cuDNN automatically on a GPU", (Edit(place, text),))
    if respelled := _respelled_classes(module, node, source):
        for old, new in respelled.items():
            text = re.sub(rf"\b{old}\b(?=\s+as\b)", new, text)
            text = re.sub(rf"\b{old}\b", f"{new} as {old}", text)
        return fix("import the class by its current name", (Edit(place, text),))
    if names == ["set_session"]:
        return fix("remove the session: Keras 3 does not use sessions")
    if source.startswith("keras.wrappers"):
        return fix("use the `scikeras` package for scikit-learn wrappers")
    return fix(advice(f"{source}.{gone.name}"))


def _respelled_classes(module: Module, node: ast.ImportFrom, source: str) -> dict[str, str]:
    """Return the classes that are imported by the lower-case names of old versions, such as `adam`."""
    public = {name.lower(): name for name in PUBLIC_NAMES.get(source, ())}
    return {
        alias.name: public[alias.name]
        for alias in node.names
        if public.get(alias.name, alias.name) != alias.name
        # The module of the same name is used as `adam.Adam`.
        and not any(
            isinstance(module.parent(read), ast.Attribute)
            for read in module.reads.get(alias.asname or alias.name, ())
        )
    }


# --- dotted names -----------------------------------------------------------------------------------------------------


def changed_calls(module: Module) -> Iterator[Finding]:
    """Find calls of dotted names such as `keras.optimizers.legacy.Adam`."""
    for site in module.calls_under("keras."):
        if module.project is not None and site.name in module.project.set_names:
            continue
        if isinstance(site.node.func, ast.Attribute):
            found = list(_changed_call(module, site, site.node.func))
            yield from found if found and not knows_another_way(module, site.node) else ()


def _changed_call(module: Module, site: CallSite, called: ast.Attribute) -> Iterator[Finding]:
    text = module.segment(called)
    shown, evidence, remedy = text, Evidence("Keras 2 module", text), fix(_REPLACEMENT)
    if site.name.startswith("keras.optimizers.legacy."):
        plain = text.replace("legacy.", "", 1)
        shown = "optimizers.legacy"
        title = "use the optimizer of the same name from `keras.optimizers`"
        remedy = fix(title, (Edit(module.location(called), plain),))
    elif "experimental." in text and _without_experimental(site.name):
        plain = re.sub(r"experimental\.(?:preprocessing\.)?", "", text)
        evidence = Evidence("Keras 2 module", text, plain)
        remedy = fix("remove `experimental`", (Edit(module.location(called), plain),))
    else:
        package = "tensorflow." if module.dotted(called).startswith("tensorflow.") else ""
        change = changed_name(package + site.name) or _below_gone_module(site.name)
        if change is None or _is_respelled(change):
            return
        shown = site.name.removeprefix("keras.")
        evidence = Evidence("Keras 2 name", site.name)
        kept = change.new.startswith("tensorflow.")
        remedy = _from_tensorflow(module, called) if kept else fix(advice(site.name))
    yield CAUSE.finding(
        f"Keras 3 has no `{shown}`", module.location(called), evidence, remedy, subject=f"name {site.name}"
    )


_NEVER_PUBLIC = ("keras.wrappers.scikit_learn.", "keras.engine.", "keras.layers.merge")


def _below_gone_module(dotted: str) -> Change | None:
    """Return the change of the module of a name; of the others, the import is reported already."""
    return changed_module(dotted) if dotted.startswith(_NEVER_PUBLIC) else None


def _without_experimental(name: str) -> bool:
    """Return whether Keras 3 has the name outside its `experimental` module."""
    plain = name.replace("experimental.preprocessing.", "").replace("experimental.", "")
    home, _dot, last = plain.rpartition(".")
    return home in ("keras.layers", "keras.optimizers") and last in PUBLIC_NAMES[home]


def _from_tensorflow(module: Module, called: ast.Attribute) -> Fix:
    """Import the module from `tensorflow.keras`, which kept most of the old backend."""
    root: ast.expr = called
    while isinstance(root, ast.Attribute):
        root = root.value
    nodes: list[ast.ImportFrom | ast.Import] = [*module.nodes(ast.ImportFrom), *module.nodes(ast.Import)]
    for node in nodes:
        bound = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        if not isinstance(root, ast.Name) or bound != [root.id]:
            continue
        text = module.segment(node)
        if re.match(r"(?:from|import)\s+keras\b", text):
            if isinstance(node, ast.ImportFrom) or node.names[0].asname:
                edit = Edit(module.location(node), re.sub(r"\bkeras\b", "tensorflow.keras", text, count=1))
                return fix("import it from `tensorflow.keras`, which still has it", (edit,))
    return fix("import it from `tensorflow.keras`, which still has it")


# --- losses and metrics that are spelled differently ------------------------------------------------------------------


def respelled_losses(module: Module) -> Iterator[Finding]:
    """Find losses whose other name the module has; all of a file are one match, because the names changed together."""
    found = [each for each in _respelled(module) if not is_conditional(module, each[0])]
    if not found:
        return
    node, change = found[0]
    new = change.new.rpartition(".")[2]
    edits = [edit for each, other in found for edit in _respelling(module, each, other)]
    yield CAUSE.finding(
        f"Keras 3 has no `{change.old}`; its name is now `{new}`",
        module.location(node),
        Evidence("Keras 2 name", change.name, new),
        fix(f"use `{new}`", edits),
        subject=f"name {change.old}",
    )


_HOMES = tuple(f"{root}.{part}" for root in ("keras", "tensorflow.keras") for part in ("losses", "metrics"))


def _is_respelled(change: Change) -> bool:
    """Return whether the same module has the loss under another name."""
    return change.owner in _HOMES and change.new.rpartition(".")[0] == change.owner


def _respelled(module: Module) -> Iterator[tuple[ast.Attribute | ast.ImportFrom, Change]]:
    names = {name for home in _HOMES for name in changes("name", home)}
    for node in module.nodes(ast.Attribute):
        change = changed_name(module.dotted(node)) if node.attr in names else None
        if change is not None and _is_respelled(change):
            yield node, change
    for statement in module.nodes(ast.ImportFrom):
        for alias in statement.names if not statement.level else ():
            change = changed_name(f"{statement.module}.{alias.name}")
            if change is not None and _is_respelled(change):
                yield statement, change


def _respelling(module: Module, node: ast.Attribute | ast.ImportFrom, change: Change) -> Iterator[Edit]:
    """Return the edits for the other name; an import keeps the old one as an alias."""
    new = change.new.rpartition(".")[2]
    if isinstance(node, ast.Attribute):
        yield Edit(attribute_name(module, node), new)
        return
    for alias in node.names:
        if alias.name == change.name:
            where = module.location(alias)
            end = replace(where, end_line=where.line, end_column=where.column + len(change.name))
            yield Edit(end, new if alias.asname else f"{new} as {change.name}")
