"""Determine how a dataset is sharded among the workers of a cluster: policy and number of files."""

from __future__ import annotations

from typing import Any

from fitdoctor.collect.pipelines import chain, inputs_of, operation_of
from fitdoctor.facts.data import Sharding
from fitdoctor.facts.unknown import Unknown

_READERS = ("TFRecordDataset", "TextLineDataset")
"""A `CsvDataset` of one file is sharded by samples."""
_IN_MEMORY = ("from_tensor_slices", "from_tensors", "range")
_PASSED_ON = ("shuffle", "options", "prefetch", "cache")


def sharding_of(dataset: Any) -> Sharding:
    """Return the sharding policy of a dataset and its number of files, without reading them."""
    try:
        policy = dataset.options().experimental_distribute.auto_shard_policy.name
        return Sharding(str(policy), _files(chain(dataset)))
    # tf.data classes are private and may change between versions.
    except Exception as error:
        return Sharding(files=Unknown(f"reading the pipeline raised {type(error).__name__}"))


def _files(items: list[Any]) -> int | Unknown:
    """Return the number of files a pipeline reads, 0 if certainly none."""
    operations = [operation_of(item) for item in items]
    sources = [operation_of(item) for item in items if not inputs_of(item)]
    readers = [item for item, operation in zip(items, operations, strict=True) if operation in _READERS]
    opening = [at for at, item in enumerate(items) if _opens_files(item)]
    if not readers and not opening:
        return (
            0
            if set(sources) <= set(_IN_MEMORY)
            else Unknown(f"the files that `{sources[0]}` reads are unknown")
        )
    if len(sources) == 1 and len(readers) == 1 and not opening:
        return _counted(readers[0]._filenames)
    if len(sources) == 1 and len(opening) == 1 and set(operations[1 : opening[0]]) <= set(_PASSED_ON):
        return _counted(items[0])
    return Unknown("the list of files cannot be determined")


def _opens_files(item: Any) -> bool:
    """Whether the function of `interleave` or `flat_map` reads files, directly or indirectly."""
    function = getattr(item, "_map_func", None)
    if function is None:
        return False
    definition = function.function.graph.as_graph_def()
    nodes = [*definition.node, *(node for inner in definition.library.function for node in inner.node_def)]
    return any(node.op.removesuffix("V2") in _READERS for node in nodes)


def _counted(names: Any) -> int | Unknown:
    """Return the length of a list, tensor or dataset of names."""
    if hasattr(names, "cardinality"):
        number = int(names.cardinality())
        return number if number >= 0 else Unknown("the number of files is unknown")
    shape = getattr(names, "shape", None)
    if shape is not None and len(shape) < 2:
        return int(shape[0]) if len(shape) else 1
    return Unknown("the number of files is unknown")
