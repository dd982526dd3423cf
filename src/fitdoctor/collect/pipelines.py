"""Read the stages of a tf.data pipeline from its dataset objects without running them."""

from __future__ import annotations

import re
from typing import Any

from fitdoctor.collect.arrays import dtype_name
from fitdoctor.collect.codes import Codes
from fitdoctor.facts import PipelineStep, Spec, Unknown
from fitdoctor.records import replace

NAMES = {
    "TensorSliceDataset": "from_tensor_slices", "TensorDataset": "from_tensors", "RangeDataset": "range",
    "FlatMapDataset": "flat_map", "ParallelMapDataset": "map", "MapDataset": "map", "ParallelBatchDataset": "batch",
    "BatchDataset": "batch", "ParallelInterleaveDataset": "interleave", "InterleaveDataset": "interleave",
    "PaddedBatchDataset": "padded_batch", "GeneratorDataset": "generator",
    "TFRecordDatasetV2": "TFRecordDataset", "TextLineDatasetV2": "TextLineDataset", "CsvDatasetV2": "CsvDataset",
    "CacheDataset": "cache", "ShuffleDataset": "shuffle", "RepeatDataset": "repeat", "TakeDataset": "take",
    "SkipDataset": "skip", "PrefetchDataset": "prefetch", "ZipDataset": "zip", "ConcatenateDataset": "concatenate",
    "FilterDataset": "filter", "WindowDataset": "window", "ShardDataset": "shard", "OptionsDataset": "options",
    "UnbatchDataset": "unbatch", "RebatchDataset": "rebatch",
    "GroupByWindowDataset": "group_by_window", "EnumerateDataset": "enumerate", "SnapshotDataset": "snapshot",
    "IgnoreErrorsDataset": "ignore_errors", "ScanDataset": "scan", "TakeWhileDataset": "take_while",
}  # fmt: skip
SETTINGS = {
    "batch": ("batch_size", "drop_remainder"), "padded_batch": ("batch_size", "drop_remainder"),
    "shuffle": ("buffer_size", "seed", "reshuffle_each_iteration"), "repeat": ("count",), "take": ("count",),
    "skip": ("count",), "prefetch": ("buffer_size",), "cache": ("filename",), "window": ("size", "shift"),
    "map": ("num_parallel_calls",), "interleave": ("cycle_length", "num_parallel_calls"),
    "shard": ("num_shards", "index"), "rebatch": ("batch_sizes",),
}  # fmt: skip
MOST_STEPS = 200


def pipeline_of(dataset: Any, codes: Codes, path: str) -> tuple[PipelineStep, ...]:
    """Return the stages from the source on; the inputs of a zip are listed one after the other."""
    steps: list[tuple[Any, PipelineStep]] = []
    for item in chain(dataset):
        operation = operation_of(item)
        if operation in ("options", "model", "adapter"):
            continue
        code = codes.of_object(item)
        step = PipelineStep(operation, _specs(item), _arguments(item, operation), code)
        steps.append((item, replace(step, callers=codes.of_callers(item))))
    shown = _without_generator_parts([step for _item, step in steps])
    if all(isinstance(step.code, Unknown) for step in shown):
        found = codes.of_pipeline(path, [step.operation for step in shown])
        shown = [replace(step, code=code) for step, code in zip(shown, found, strict=True)]
    return tuple(shown)


def chain(dataset: Any) -> list[Any]:
    """Return the dataset objects from the source on, each after its inputs."""
    found: list[Any] = []
    seen: set[int] = set()

    def visit(item: Any) -> None:
        if id(item) in seen or len(seen) >= MOST_STEPS:
            return
        seen.add(id(item))
        for inner in inputs_of(item):
            visit(inner)
        found.append(item)

    visit(dataset)
    return found


def inputs_of(dataset: Any) -> list[Any]:
    """Return the input datasets of a dataset."""
    attributes = vars(dataset) if hasattr(dataset, "__dict__") else {}
    single = attributes.get("_input_dataset")
    if single is not None:
        return [single]
    several = attributes.get("_input_datasets") or attributes.get("_datasets")
    if isinstance(several, dict):
        return list(several.values())
    if isinstance(several, (list, tuple)):
        return [item for item in several if hasattr(item, "element_spec")]
    inner = attributes.get("_dataset")
    return [inner] if hasattr(inner, "element_spec") else []


def operation_of(dataset: Any) -> str:
    """Return `map`, `batch`, `from_tensor_slices`, … for the class of a dataset object."""
    name = type(dataset).__name__.lstrip("_")
    if name in NAMES:
        return NAMES[name]
    plain = re.sub(r"^_+|(?:Dataset)?(?:V\d)?$", "", name)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain).lower() or name


def _without_generator_parts(steps: list[PipelineStep]) -> list[PipelineStep]:
    """Merge the three datasets that `from_generator` consists of into one stage."""
    shown: list[PipelineStep] = []
    for step in steps:
        if (
            step.operation == "flat_map"
            and len(shown) == 1
            and shown[0].operation in ("from_tensors", "from_tensor_slices", "range")
        ):
            shown = [replace(step, operation="from_generator")]
        else:
            shown.append(step)
    return shown


def _specs(dataset: Any) -> tuple[Spec, ...]:
    found: list[Spec] = []

    def walk(value: Any, path: str) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                walk(item, f"{path}[{key!r}]")
        elif isinstance(value, (list, tuple)):
            for index, item in enumerate(value):
                walk(item, f"{path}[{index}]")
        elif hasattr(value, "shape") and hasattr(value, "dtype"):
            rank = getattr(value.shape, "rank", None)
            shape = (
                Unknown("unknown rank")
                if rank is None
                else tuple(None if size is None else int(size) for size in value.shape)
            )
            found.append(Spec(shape, dtype_name(value.dtype), path))

    walk(getattr(dataset, "element_spec", None), "")
    return tuple(found)


def _arguments(dataset: Any, operation: str) -> tuple[tuple[str, str], ...]:
    attributes = vars(dataset)
    found = []
    for name in SETTINGS.get(operation, ()):
        value = attributes.get(f"_{name}", attributes.get(name))
        text = _text(value)
        if text is not None:
            found.append((name, text))
    return tuple(found)


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if hasattr(value, "numpy"):
        value = value.numpy()
        value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, (bool, int, float, str)):
        return str(value)
    if isinstance(value, list) and len(value) <= 16:
        return str(value)
    return None
