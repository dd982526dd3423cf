"""Names that an older Keras had and Keras 3 does not: by import, dotted name or error message."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.environment.keras_3_fixes import as_keras, import_fix
from fitdoctor.catalogue.environment.keras_3_spellings import OTHER_NAMES
from fitdoctor.catalogue.environment.keras_signatures import (
    PUBLIC_NAMES,
    REMOVED_MODULES,
    REMOVED_NAMES,
    REMOVED_OUTSIDE_TF,
)
from fitdoctor.diagnosis import Fix
from fitdoctor.records import replace
from fitdoctor.source.conditions import is_conditional
from fitdoctor.source.module import Module

METHODS = ("fit", "compile", "evaluate", "predict", "train_on_batch", "test_on_batch", "save_weights")
"""Model methods whose arguments have changed."""
METHODS_OF_PARTS = ("add_weight", "apply_gradients", "adapt", "reset_states")
"""The same for layers, metrics and optimizers."""


def gone_imports(module: Module) -> Iterator[tuple[ast.ImportFrom, ast.alias, str]]:
    """Return the failing `from … import` statements, with the first missing name and its module below `keras`."""
    for node in module.nodes(ast.ImportFrom):
        source = as_keras(node.module or "")
        if node.level or not source or is_conditional(module, node):
            continue
        outside_tf = (node.module or "").startswith("keras")
        for alias in node.names:
            if alias.name in OTHER_NAMES.get(node.module or "", {}):
                continue  # reported with its other name
            full = f"{source}.{alias.name}"
            # `keras.layers.recurrent` and similar: the package still has the layers, but not these modules.
            inside = source.startswith("keras.layers.")
            if (
                inside
                or is_gone(full, outside_tf=outside_tf)
                or is_gone_module(source, outside_tf=outside_tf)
            ):
                yield node, alias, source
                break


def is_gone(full: str, *, outside_tf: bool) -> bool:
    """Return whether Keras 3 lacks a name; some are missing only from `keras`, not from `tf.keras`."""
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
"""Names of Keras 1 and early Keras 2, verified to be in neither `keras` nor `tf.keras`."""
_OLDER_MODULES = frozenset(
    "keras.objectives keras.initializations keras.utils.training_utils keras.utils.visualize_util "
    "keras.backend.tensorflow_backend keras.legacy.interfaces keras.applications.resnet_v1".split()
)
"""Modules of Keras 1 and early Keras 2."""


def is_gone_module(dotted: str, *, outside_tf: bool) -> bool:
    """Return whether Keras 3 lacks a module."""
    return (
        dotted in REMOVED_MODULES
        or dotted in _OLDER_MODULES
        or (outside_tf and dotted in REMOVED_OUTSIDE_TF)
        or dotted.startswith(("keras.wrappers.scikit_learn", "keras.engine", "keras.layers.merge"))
    )


def without_experimental(name: str) -> str:
    """Return the current name of something from an `experimental` module, or "" if it has none."""
    plain = name.replace("experimental.preprocessing.", "").replace("experimental.", "")
    public, _dot, last = plain.rpartition(".")
    return plain if public in ("keras.layers", "keras.optimizers") and last in PUBLIC_NAMES[public] else ""


def with_other_imports(module: Module, node: ast.ImportFrom, remedy: Fix) -> Fix:
    """Add the edits for other old imports, so that the next line does not fail."""
    if not remedy.edits:
        return remedy
    others = [
        edit
        for other, alias, source in gone_imports(module)
        if other is not node
        for edit in import_fix(module, other, alias, source).edits
    ]
    return replace(remedy, edits=(*remedy.edits, *others))
