"""Collect the data of a call: its form, its contents, and the abstract batch that fit receives."""

from __future__ import annotations

import inspect
import math
import re
from typing import Any

from fitdoctor.collect import keras_2_arrays
from fitdoctor.collect.arrays import (
    Batch,
    Leaf,
    array_facts,
    components,
    dtype_name,
    first_rows,
    map_leaves,
    ordered_keys,
    rows_of,
    structure_of,
)
from fitdoctor.collect.budget import Budget, Deadline
from fitdoctor.collect.codes import Codes
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FailureSummary, Spec, Unknown
from fitdoctor.facts.data import part_path
from fitdoctor.records import dataclass


@dataclass(frozen=True)
class Given:
    """The arguments of the call, by name."""

    x: Any = None
    y: Any = None
    sample_weight: Any = None
    class_weight: Any = None
    batch_size: int | None = None
    steps: int | None = None
    validation_split: float = 0.0
    whole_batch: bool = False
    """Whether the arrays are one batch (`train_on_batch`)."""
    keras: int = 3
    """The Keras version of the model; each accepts different data."""

    @property
    def parts(self) -> tuple[Any, Any, Any]:
        """Return x, y and the weights as passed."""
        return self.x, self.y, self.sample_weight


@dataclass(frozen=True)
class Collected:
    """Facts about data, the abstract batch for the trial, and the replacement for x in the call."""

    facts: DataFacts
    batch: Batch | Unknown = Unknown("the batch is unknown")
    x: Any = None
    """What to pass as x (a peeked generator is chained back together)."""


def form_of(x: Any) -> str:
    """Return `arrays`, `dataset`, `generator`, `pydataset`, `dataloader`, `none` or `other`, without imports."""
    if x is None:
        return "none"
    names = {(base.__module__, base.__name__) for base in type(x).__mro__}
    if any(
        name in ("DatasetV2", "DistributedDataset", "DistributedDatasetsFromFunction")
        and "tensorflow" in module
        for module, name in names
    ):
        return "dataset"
    if any(
        name in ("PyDataset", "Sequence") and module.split(".")[0] in ("keras", "tf_keras")
        for module, name in names
    ):
        return "pydataset"
    if any(name == "DataLoader" and "torch.utils.data" in module for module, name in names):
        return "dataloader"
    if inspect.isgenerator(x):
        return "generator"
    if isinstance(x, (list, tuple, dict)) or hasattr(x, "shape") or hasattr(x, "__array__"):
        return "arrays"
    return "other"


def collect_data(given: Given, role: str, budget: Budget, codes: Codes) -> Collected:
    """Return facts about the training or validation data of one call."""
    form = form_of(given.x)
    if form == "dataset":
        from fitdoctor.collect.datasets import collect_dataset

        return collect_dataset(given, role, budget, codes)
    if form in ("generator", "pydataset", "dataloader"):
        from fitdoctor.collect.generators import collect_generator, collect_pydataset

        if form == "generator":
            return collect_generator(given, role, budget, codes)
        if form == "pydataset":
            return collect_pydataset(given, role, budget, codes)
        from fitdoctor.collect.loaders import collect_dataloader

        return collect_dataloader(given, role, budget, codes)
    return _collect_arrays(given, role, form, budget, codes)


# --- arrays -------------------------------------------------------------------------------------------------------


def _collect_arrays(given: Given, role: str, form: str, budget: Budget, codes: Codes) -> Collected:
    features, labels = Deadline(budget.feature_seconds), Deadline(budget.label_seconds)

    def facts(value: Any, part: str, deadline: Deadline) -> tuple[ArrayFacts, ...]:
        found = []
        for component in components(value, part_path(role, part)):
            code, use = codes.of_argument(component.path)
            found.append(array_facts(component, deadline, part != "x", use, code))
        return tuple(found)

    y = facts(given.y, "y", labels)
    weights = facts(given.sample_weight, "sample_weight", labels)
    x = facts(given.x, "x", features)
    samples = _samples(given)
    problem = _problem(given)
    batch_size, batches = _batching(given, samples)
    batch: Batch | Unknown = Unknown("Keras rejects the arrays")
    if problem is None and isinstance(samples, int):
        batch = _abstract_batch(given, _batch_axis(given, samples, batch_size))
    shown = batch if isinstance(batch, Batch) else None
    code, _use = codes.of_argument(part_path(role, "x"))
    return Collected(
        DataFacts(
            role=role,
            form=form,
            x=x,
            y=y,
            sample_weight=weights,
            x_structure=structure_of(given.x) if given.x is not None else "single",
            x_order=ordered_keys(given.x),
            y_structure=structure_of(given.y),
            samples=samples,
            batch_size=batch_size,
            batches=batches,
            endless=False,
            first_batch=batch_specs(shown, _first(samples, batch_size)),
            last_batch=_last_batch(shown, samples, batch_size),
            problem=problem,
            code=code,
            y_code=_whole_labels(given, role, codes),
        ),
        batch,
        given.x,
    )


def _whole_labels(given: Given, role: str, codes: Codes) -> Code | Unknown:
    if structure_of(given.y) == "single":
        return Unknown("y is one array")
    return codes.of_argument(part_path(role, "y"))[0]


def _samples(given: Given) -> int | Unknown:
    sizes = {
        rows
        for part in (given.x, given.y, given.sample_weight)
        for component in components(part, "")
        if (rows := _length(component.value)) is not None
    }
    if len(sizes) == 1:
        return sizes.pop()
    return Unknown("x, y and the weights differ in length" if sizes else "no array has a length")


def _length(value: Any) -> int | None:
    return len(value) if isinstance(value, (list, tuple)) else rows_of(value)


def _batching(given: Given, samples: int | Unknown) -> tuple[int | Unknown, int | Unknown]:
    if given.whole_batch:
        return samples, 1
    if isinstance(samples, Unknown):
        return given.batch_size or 32, samples
    rows = _training_rows(given, samples)
    size = given.batch_size
    if not isinstance(size, int) or size <= 0:
        size = math.ceil(rows / given.steps) if given.steps else 32
    return size, math.ceil(rows / size) if size else 0


def _training_rows(given: Given, samples: int) -> int:
    if 0 < given.validation_split < 1:
        return math.floor(samples * (1.0 - given.validation_split))
    return samples


def _batch_axis(given: Given, samples: int, batch_size: int | Unknown) -> int | None:
    """Return the batch axis as Keras traces it: fixed if all batches have the same size, else open."""
    if given.whole_batch:
        return samples
    rows = _training_rows(given, samples)
    return batch_size if isinstance(batch_size, int) and batch_size and rows % batch_size == 0 else None


def _first(samples: int | Unknown, batch_size: int | Unknown) -> int | None:
    if isinstance(samples, Unknown) or isinstance(batch_size, Unknown):
        return None
    return min(samples, batch_size)


def _last_batch(batch: Batch | None, samples: int | Unknown, batch_size: int | Unknown) -> tuple[Spec, ...]:
    if isinstance(samples, Unknown) or isinstance(batch_size, Unknown) or not batch_size:
        return ()
    rest = samples % batch_size
    return batch_specs(batch, rest) if rest and samples > batch_size else ()


def batch_specs(batch: Batch | None, rows: int | None) -> tuple[Spec, ...]:
    """Return the flattened specs of a batch, x, y, then the weights, each named by its path."""
    if batch is None:
        return ()
    specs = []
    for part in ("x", "y", "sample_weight"):
        for component in _leaves(getattr(batch, part), part):
            leaf = component[1]
            shape = None if leaf.shape is None else ((rows, *leaf.shape[1:]) if leaf.shape else ())
            specs.append(Spec(Unknown("unknown rank") if shape is None else shape, leaf.dtype, component[0]))
    return tuple(specs)


def _leaves(value: Any, path: str) -> list[tuple[str, Leaf]]:
    if isinstance(value, Leaf):
        return [(path, value)]
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in _leaves(item, f"{path}[{key!r}]")]
    if isinstance(value, (list, tuple)):
        return [found for i, item in enumerate(value) for found in _leaves(item, f"{path}[{i}]")]
    return []


def _problem(given: Given) -> FailureSummary | None:
    """Return what Keras raises for these arrays, by running its adapters on their first rows."""
    adapters = _keras_adapters(given)
    if adapters is None or given.whole_batch:
        return None
    arrays = given.parts
    if given.x is None and given.y is None:
        return None
    try:
        if given.keras == 2:
            keras_2_arrays.refuse(arrays)
            return None
        if not adapters.array_data_adapter.can_convert_arrays(arrays):
            return _unrecognised(given)
        import keras

        utils = keras.src.trainers.data_adapters.data_adapter_utils
        utils.check_data_cardinality(utils.pack_x_y_sample_weight(*arrays))
        if any(rows_of(item) == 0 for item in _flat(arrays)):
            return None
        heads = map_leaves(first_rows, list(arrays))
        adapters.ArrayDataAdapter(
            *heads[:2], sample_weight=heads[2], class_weight=given.class_weight, shuffle=False
        )
        _converted(arrays)
    except Exception as error:
        return FailureSummary(type(error).__name__, without_values(str(error)))
    return None


def _unrecognised(given: Given) -> FailureSummary | None:
    if form_of(given.x) not in ("arrays", "other"):
        return None
    kind = type(given.x)
    return FailureSummary("ValueError", f"Unrecognized data type: x (of type {kind})")


def _flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _flat(item)]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _flat(item)]
    return [] if value is None else [value]


def without_values(message: str) -> str:
    """Remove the quoted arrays from a Keras message."""
    message = re.split(r"(?:\n- )?\b(?:x|y|sample_weight)=|\n- y:|Received invalid input:", message)[0]
    return message.strip()[:600]


def _head(value: Any) -> Any:
    # Keras checks all elements of a one-dimensional object array for strings.
    if getattr(value, "ndim", 0) == 1 and str(getattr(value, "dtype", "")) == "object":
        return value
    return first_rows(value)


def _converted(structure: Any) -> Any:
    """Return the first rows of the structure, converted to tensors by Keras."""
    import keras
    import tensorflow as tf

    slicing = keras.src.trainers.data_adapters.array_slicing
    heads = map_leaves(_head, list(structure) if isinstance(structure, tuple) else structure)
    converted = slicing.convert_to_sliceable(heads, target_backend="tensorflow")

    def tensor(value: Any) -> Any:
        composite = hasattr(value, "dense_shape") or type(value).__name__ == "RaggedTensor"
        return value if composite else tf.convert_to_tensor(value)

    return map_leaves(tensor, converted)


def _abstract_batch(given: Given, axis: int | None) -> Batch | Unknown:
    if _keras_adapters(given) is None:
        return _plain_batch(given, axis)
    whole = (given.x, given.y, _weights(given))
    try:
        heads = (
            keras_2_arrays.converted(whole)
            if given.keras == 2
            else [None if part is None else _converted([part])[0] for part in whole]
        )
        parts = [
            None if head is None else map_leaves(lambda tensor: _leaf(tensor, axis), head) for head in heads
        ]
    # A failed conversion is reported as a problem of the data, without a batch.
    except Exception as error:
        return Unknown(f"converting the arrays raised {type(error).__name__}")
    return Batch(*parts)


def _weights(given: Given) -> Any:
    """Return the sample weights that fit uses; class weights become sample weights."""
    if given.sample_weight is None and given.class_weight is not None and given.y is not None:
        import numpy as np

        return np.ones((1,), "float32")
    return given.sample_weight


def _leaf(tensor: Any, axis: int | None) -> Leaf:
    sparse = hasattr(tensor, "dense_shape")
    ragged = type(tensor).__name__ == "RaggedTensor"
    shape = tuple(None if size is None else int(size) for size in tensor.shape)
    return Leaf((axis, *shape[1:]) if shape else (), dtype_name(tensor.dtype), sparse, ragged)


def _plain_batch(given: Given, axis: int | None) -> Batch | Unknown:
    """Return the batch without Keras: unchanged shapes, floats as float32."""

    def leaf(value: Any) -> Leaf:
        shape = tuple(int(size) for size in value.shape)
        dtype = dtype_name(getattr(value, "dtype", "float32"))
        return Leaf((axis, *shape[1:]), "float32" if dtype == "float64" else dtype)

    try:
        return Batch(*(map_leaves(leaf, part) for part in (given.x, given.y, _weights(given))))
    except (AttributeError, TypeError, ValueError) as error:
        return Unknown(f"not an array: {error}")


def _keras_adapters(given: Given) -> Any:
    """Return the data adapters of the imported Keras, else None."""
    import sys

    if given.keras == 2:
        return keras_2_arrays.adapters()
    return sys.modules.get("keras.src.trainers.data_adapters")
