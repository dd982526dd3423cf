"""What an older Keras had and Keras 3 has not: by its import, a dotted name, or the message that speaks of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.environment.keras_3_fixes import as_keras, import_fix
from fitdoctor.catalogue.environment.keras_3_spellings import OTHER_NAMES
from fitdoctor.catalogue.environment.keras_renames import (
    DROPPED_WITH_KERAS_1,
    OLDER_HISTORY,
    older_arguments,
)
from fitdoctor.catalogue.environment.keras_signatures import (
    PUBLIC_NAMES,
    REMOVED_ARGUMENTS,
    REMOVED_ATTRIBUTES,
    REMOVED_MODULES,
    REMOVED_NAMES,
    REMOVED_OUTSIDE_TF,
)
from fitdoctor.diagnosis import Fix
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.patterns import attribute_missing, unexpected_keyword
from fitdoctor.patterns import pattern
from fitdoctor.records import replace
from fitdoctor.source.conditions import is_conditional
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

METHODS = ("fit", "compile", "evaluate", "predict", "train_on_batch", "test_on_batch", "save_weights")
"""Methods of a model whose arguments have changed."""
METHODS_OF_PARTS = ("add_weight", "apply_gradients", "adapt", "reset_states")
"""The same of layers, metrics and optimizers."""
_IMPORTED = pattern(r"(?:No module named|cannot import name) '([\w.]+)'(?: from '([\w.]+)')?")


def gone_imports(module: Module) -> Iterator[tuple[ast.ImportFrom, ast.alias, str]]:
    """The `from … import` statements that fail, with the first name that is gone and its module below `keras`."""
    for node in module.nodes(ast.ImportFrom):
        source = as_keras(node.module or "")
        if node.level or not source or is_conditional(module, node):
            continue
        outside_tf = (node.module or "").startswith("keras")
        for alias in node.names:
            if alias.name in OTHER_NAMES.get(node.module or "", {}):
                continue  # told with its other name
            full = f"{source}.{alias.name}"
            # `keras.layers.recurrent` and the like: the package has its layers, and no modules any more.
            inside = source.startswith("keras.layers.")
            if (
                inside
                or is_gone(full, outside_tf=outside_tf)
                or is_gone_module(source, outside_tf=outside_tf)
            ):
                yield node, alias, source
                break


def is_gone(full: str, *, outside_tf: bool) -> bool:
    """Whether Keras 3 has no such name; some are gone only from the package `keras`, not from `tf.keras`."""
    return (
        full in REMOVED_NAMES
        or full in _OLDER_NAMES
        or full.startswith("keras.layers.CuDNN")
        or is_gone_module(full, outside_tf=outside_tf)
    )


_OLDER_NAMES = frozenset(
    f"keras.{name}"
    for name in (
        "utils.multi_gpu_model utils.convert_all_kernels_in_model utils.HDF5Matrix layers.Merge "
        "layers.Highway layers.MaxoutDense layers.TimeDistributedDense layers.AtrousConvolution1D layers.Recurrent "
        "layers.AtrousConvolution2D layers.Deconvolution2D layers.ConvRecurrent2D models.Graph optimizers.TFOptimizer "
        "backend.image_dim_ordering backend.set_image_dim_ordering backend.is_placeholder initializers.normal "
        "initializers.uniform regularizers.l1l2 regularizers.WeightRegularizer constraints.maxnorm constraints.nonneg "
        "metrics.acc metrics.fbeta_score metrics.precision metrics.recall metrics.matthews_correlation losses.cosine "
        "losses.cosine_proximity metrics.cosine_proximity callbacks.callbacks"
    ).split()
)
"""Names of Keras 1 and the first years of Keras 2, seen to be in neither `keras` nor `tf.keras`."""
_OLDER_MODULES = frozenset(
    "keras.objectives keras.initializations keras.utils.training_utils keras.utils.visualize_util "
    "keras.backend.tensorflow_backend keras.legacy.interfaces keras.applications.resnet_v1".split()
)
"""Modules of Keras 1 and the first years of Keras 2."""


def is_gone_module(dotted: str, *, outside_tf: bool) -> bool:
    """The same of a module."""
    return (
        dotted in REMOVED_MODULES
        or dotted in _OLDER_MODULES
        or (outside_tf and dotted in REMOVED_OUTSIDE_TF)
        or dotted.startswith(("keras.wrappers.scikit_learn", "keras.engine", "keras.layers.merge"))
    )


def without_experimental(name: str) -> str:
    """The name that something of an `experimental` module has today; "" where it has none."""
    plain = name.replace("experimental.preprocessing.", "").replace("experimental.", "")
    public, _dot, last = plain.rpartition(".")
    return plain if public in ("keras.layers", "keras.optimizers") and last in PUBLIC_NAMES[public] else ""


def kind_of_owner(owner: str) -> str:
    """What a class of Keras makes, by its name in a message; "" for any other, also for models."""
    for kind in ("layer", "metric", "optimizer"):
        if owner in PUBLIC_NAMES[f"keras.{kind}s"]:
            return kind
    return ""


def owner_in_message(message: str) -> str:
    """The kind of what a message says has no such attribute; "" where it is not told."""
    attribute = attribute_missing(message)
    return kind_of_owner(attribute.owner) if attribute is not None else ""


def is_of_user(message: str, project: Project | Unknown) -> bool:
    """Whether the function that refused an argument is one of the program's own."""
    keyword = unexpected_keyword(message)
    if keyword is None or not keyword.function or isinstance(project, Unknown):
        return False
    wanted = f"{keyword.owner}.{keyword.function}" if keyword.owner else keyword.function
    return any(function.qualname == wanted for module in project.modules for function in module.functions)


def _gone_of(owner: str) -> tuple[str, ...]:
    """The attributes that Keras 3 took from objects of a class, by its name."""
    kind = kind_of_owner(owner)
    if kind:
        return REMOVED_ATTRIBUTES[kind]
    # A class of the user's: names that only models and optimizers of Keras 2 had.
    return (*REMOVED_ATTRIBUTES["model"], "lr", "minimize", "compute_gradients", "aggregate_gradients")


_OF_NEW_OPTIMIZERS = pattern(r"(?P<name>\w+) is deprecated in the new (?:TF-)?Keras optimizer")
"""Keras since 2.11."""


def gone_in_message(failure: FailureFacts) -> str | None:
    """The name that the message says is not there, when it is one that an older Keras had."""
    message = failure.message
    keyword = unexpected_keyword(message)
    if keyword is not None:
        of_functions = (
            names
            for name, names in REMOVED_ARGUMENTS.items()
            if name.endswith(f".{keyword.function}") and keyword.function != "__init__"
        )
        if any(keyword.name in names for names in of_functions):
            return keyword.name
        if keyword.function in METHODS:
            # What a layer has lost, a method never took.
            return keyword.name if keyword.name in older_arguments(keyword.function) else None
        gone = {name for names in REMOVED_ARGUMENTS.values() for name in names}
        dropped = DROPPED_WITH_KERAS_1.get(keyword.owner, ())
        gone = gone.union(older_arguments("fit"), older_arguments("compile"), dropped)
        keras_call = not keyword.function or keyword.function == "__init__"
        return keyword.name if keyword.name in gone and keras_call else None
    attribute = attribute_missing(message)
    if attribute is not None:
        if failure.type == "AttributeError" and attribute.name in _gone_of(attribute.owner):
            return attribute.name
        return attribute.name if "keras" in attribute.owner else None
    imported = _IMPORTED.search(message)
    if imported and failure.type in ("ImportError", "ModuleNotFoundError"):
        full = f"{imported[2]}.{imported[1]}" if imported[2] else imported[1]
        known = as_keras(full)
        # A part that Keras 3 has is missing where something else is imported under its name: FIT907.
        return full if known and known != "keras" and known not in PUBLIC_NAMES else None
    if failure.type == "ImportError" and "is not supported in Keras 3" in message:
        return message.split("`")[1] if "`" in message else "legacy"
    changed = _OF_NEW_OPTIMIZERS.match(message)
    if changed:
        return changed["name"]
    if "`save_format` argument is deprecated" in message:
        return "save_format"
    if "argument `reduction`" in message and message.rstrip().endswith("reduction=auto"):
        return "auto"
    if failure.type == "KeyError":
        key = message.strip().strip("'\"")
        frame = failure.last_user_frame
        # In a callback it is `logs` that has no such key: FIT322.
        in_callback = frame is not None and frame.function.startswith("on_")
        return key if key in OLDER_HISTORY and not in_callback else None
    return None


def with_other_imports(module: Module, node: ast.ImportFrom, remedy: Fix) -> Fix:
    """Old programs import from several old modules: one edit alone would leave the next line failing."""
    if not remedy.edits:
        return remedy
    others = [
        edit
        for other, alias, source in gone_imports(module)
        if other is not node
        for edit in import_fix(module, other, alias, source).edits
    ]
    return replace(remedy, edits=(*remedy.edits, *others))
