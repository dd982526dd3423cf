"""Recognizes tf.data pipelines in the source, as opposed to `.map` of a DataFrame or a pool."""

from __future__ import annotations

import ast

from fitdoctor.source.asked_once import asked_once
from fitdoctor.source.assignments import last_assignment
from fitdoctor.source.module import Module
from fitdoctor.source.origins import receivers

_MAKERS = (
    "tensorflow.data.",
    "tensorflow_datasets.load",
    "tensorflow_datasets.as_dataset",
    "keras.utils.image_dataset_from_directory",
    "keras.utils.text_dataset_from_directory",
    "keras.utils.audio_dataset_from_directory",
    "keras.utils.timeseries_dataset_from_array",
    "keras.preprocessing.image_dataset_from_directory",
    "keras.preprocessing.text_dataset_from_directory",
    "keras.preprocessing.timeseries_dataset_from_array",
)
ONLY_DATASETS = frozenset(
    "batch prefetch padded_batch ragged_batch unbatch shard ignore_errors with_options".split()
)
ALSO_DATASETS = frozenset(
    "map filter flat_map interleave shuffle repeat take skip cache concatenate enumerate scan take_while window zip "
    "apply snapshot unique rebatch".split()
)
"""Pipeline methods that other objects have as well."""
_OTHER_LIBRARIES = ("datasets.", "torch.", "torchvision.", "torchdata.", "ray.", "grain.", "xarray.", "dask.")
_NOT_OF_DATASETS = frozenset(
    "batched fn_kwargs remove_columns num_proc with_indices input_columns load_from_cache_file".split()
)
"""Arguments of `map` and `filter` in Hugging Face datasets, which run plain Python."""
_STEPS = 30


@asked_once(in_a_circle=False)
def is_dataset(module: Module, expr: ast.expr) -> bool:
    """Whether an expression is certainly a tf.data pipeline (or an operation on one)."""
    if isinstance(expr, ast.Call):
        name = module.resolve(expr.func)
        if name:
            return name.startswith(_MAKERS)
        if not isinstance(expr.func, ast.Attribute):
            made = module.made_by(expr)
            return made is not expr and is_dataset(module, made)
        if _says_otherwise(expr):
            return False
        if _says_so(module, expr) or _used_as_one(module, expr):
            return True
        method = expr.func.attr in ALSO_DATASETS or expr.func.attr in ONLY_DATASETS
        return method and is_dataset(module, expr.func.value)
    if isinstance(expr, ast.Name):
        return _is_dataset_name(module, expr)
    if isinstance(expr, (ast.Attribute, ast.Subscript)):
        made = module.made_by(expr)
        return made is not expr and is_dataset(module, made)
    return False


def _says_otherwise(call: ast.Call) -> bool:
    return any(keyword.arg in _NOT_OF_DATASETS for keyword in call.keywords)


def _says_so(module: Module, call: ast.Call) -> bool:
    """Arguments that only tf.data accepts."""
    if any(
        keyword.arg in ("num_parallel_calls", "cycle_length", "drop_remainder", "reshuffle_each_iteration")
        for keyword in call.keywords
    ):
        return True
    return any(module.resolve(value) == "tensorflow.data.AUTOTUNE" for value in call.args)


def _used_as_one(module: Module, call: ast.Call) -> bool:
    """Whether a method that only pipelines have is called on the result."""
    current: ast.AST = call
    for _ in range(_STEPS):
        attribute = module.parent(current)
        outer = module.parent(attribute) if isinstance(attribute, ast.Attribute) else None
        if (
            not isinstance(attribute, ast.Attribute)
            or not isinstance(outer, ast.Call)
            or outer.func is not attribute
        ):
            return False
        if attribute.attr in ONLY_DATASETS:
            return True
        if attribute.attr not in ALSO_DATASETS:
            return False
        current = outer
    return False


def _is_dataset_name(module: Module, name: ast.Name) -> bool:
    found = last_assignment(module, name)
    if found is None:
        return False
    assignment, _ = found
    if assignment.how == "parameter" and isinstance(assignment.target, ast.arg):
        kind = module.resolve(assignment.target.annotation)
        if "Dataset" in kind:
            return not kind.startswith(_OTHER_LIBRARIES)
    elif assignment.value is not None and assignment.how == "=":
        if isinstance(assignment.value, ast.Call) or not assignment.path:
            if is_dataset(module, assignment.value):
                return True
    made = module.made_by(name)
    if made is not name and made is not assignment.value and is_dataset(module, made):
        return True
    return not _is_of_another_library(module, made) and _treated_as_one(module, name)


def _is_of_another_library(module: Module, made: ast.expr) -> bool:
    """Whether a chain of methods starts from another library whose datasets also have `batch` and `map`."""
    calls = (expr for expr in receivers(module, made) if isinstance(expr, ast.Call))
    return any(
        module.resolve(call.func).startswith(_OTHER_LIBRARIES) or _says_otherwise(call) for call in calls
    )


def _treated_as_one(module: Module, name: ast.Name) -> bool:
    """Whether the same scope calls `.batch` or `.prefetch` on the name."""
    scope = module.scope(name)
    for call in module.method_calls(*ONLY_DATASETS):
        value = call.node.func.value if isinstance(call.node.func, ast.Attribute) else None
        if isinstance(value, ast.Name) and value.id == name.id and module.scope(value) is scope:
            return True
    return False
