"""Read the first and last batch of torch DataLoaders directly from the dataset, without starting workers.

Iterating a loader draws seeds and starts processes. Its parts do not: the indices of a batch are known or drawn from
the sampler, the samples come from the dataset, and the loader's own function collates them. All random states, and
whatever the user's code can reach, are restored.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from typing import Any

from fitdoctor.collect.arrays import Component, array_facts, map_leaves
from fitdoctor.collect.budget import Budget, Deadline
from fitdoctor.collect.codes import Codes
from fitdoctor.collect.data import Collected, Given
from fitdoctor.collect.effects import effects_of
from fitdoctor.collect.generators import batched_facts
from fitdoctor.collect.snapshot import Snapshot
from fitdoctor.facts import ArrayFacts, DataFacts, FailureSummary, Unknown
from fitdoctor.facts.data import part_path
from fitdoctor.records import replace

_PARTS = ("dataset", "datasets", "sampler", "batch_sampler", "collate_fn", "transform", "transforms",
          "target_transform")  # fmt: skip
"""The attributes that lead from a loader to user code."""


def collect_dataloader(given: Given, role: str, budget: Budget, codes: Codes) -> Collected:
    """Return facts about a DataLoader; batches are read only if side effects can be restored."""
    loader = given.x
    code, _use = codes.of_argument("x" if role == "training" else "validation_data")
    facts = DataFacts(role=role, form="dataloader", code=code, y_structure="none")
    facts = replace(facts, **_lengths(loader))
    batches, problem, reason = _read(loader, budget)
    if reason or not batches and problem is None:
        return Collected(facts, Unknown(reason or "no batch was read"), loader)
    if problem is None:
        batches, problem = _converted(batches)
    source = _source_of_batches(loader)
    if problem is not None:
        whole = codes.of_batches(source) if source is not None else Unknown("it is torch's own")
        problem = replace(problem, place=None if isinstance(whole, Unknown) else whole.location)
    if not batches:
        return Collected(replace(facts, problem=problem), Unknown("the loader raises"), loader)
    found, batch = batched_facts(
        [tuple(item) if isinstance(item, list) else item for item in batches],
        role,
        "dataloader",
        codes,
        complete=facts.batches == len(batches),
        source=source,
    )
    found = replace(found, problem=problem, code=code, **_lengths(loader))
    if problem is not None:
        return Collected(found, Unknown("Keras rejects the batches"), loader)
    found = replace(
        found, x=_of_torch(found.x), y=_of_torch(found.y), sample_weight=_of_torch(found.sample_weight)
    )
    return Collected(_with_whole_arrays(found, loader, role, budget, codes), batch, loader)


def _of_torch(arrays: tuple[ArrayFacts, ...]) -> tuple[ArrayFacts, ...]:
    """Mark the facts as torch tensors, as in the user's source, although Keras converts them to arrays."""
    return tuple(replace(array, container="torch.Tensor") for array in arrays)


def _lengths(loader: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    size = getattr(loader, "batch_size", None)
    if isinstance(size, int):
        found["batch_size"] = size
    if _is_stream(loader.dataset):
        return found
    try:
        found.update(batches=len(loader), endless=False, samples=len(loader.dataset))
    # `__len__` is user code and may be missing.
    except Exception:
        return found
    return found


def _is_stream(dataset: Any) -> bool:
    return any(kind.__name__ == "IterableDataset" for kind in type(dataset).__mro__)


def _is_torchs(thing: Any) -> bool:
    kind = thing if isinstance(thing, type) or callable(thing) and hasattr(thing, "__code__") else type(thing)
    return str(getattr(kind, "__module__", "")).startswith("torch.utils.data")


def _source_of_batches(loader: Any) -> Any:
    """Return the user's code that assembles batches: `collate_fn`, else the dataset inside torch subsets."""
    if not _is_torchs(loader.collate_fn):
        return loader.collate_fn
    dataset = loader.dataset
    while _is_torchs(dataset) and hasattr(dataset, "dataset"):
        dataset = dataset.dataset
    return None if _is_torchs(dataset) else dataset


# --- reading ------------------------------------------------------------------------------------------------------


def _read(loader: Any, budget: Budget) -> tuple[list[Any], FailureSummary | None, str]:
    """Return the first and last batch, what reading raised, and why they were not read."""
    parts = list(_users_parts(loader))
    effects = effects_of(*parts)
    if effects.lasting:
        return [], None, f"its code has side effects: it {effects.lasting}"
    snapshot = Snapshot(loader, *parts, *effects.closures, bindings=effects.globals)
    if snapshot.random_variables or snapshot.one_shot or not snapshot.complete:
        return [], None, "reading it would advance a random state or an iterator that cannot be restored"
    if _is_stream(loader.dataset) and not effects.functions:
        return [], None, "the stream comes from library code"
    batches: list[Any] = []
    try:
        for batch in _batches(loader, Deadline(budget.dataset_seconds)):
            batches.append(batch)
    # User code may depend on setup in a worker, so an error outside one proves nothing.
    except Exception as error:
        if loader.num_workers:
            return [], None, f"reading a sample outside a worker raised {type(error).__name__}"
        return batches, FailureSummary(type(error).__name__, str(error)[:600]), ""
    finally:
        snapshot.restore()
    return batches, None, ""


def _users_parts(loader: Any) -> Iterator[Any]:
    pending, seen = [loader], {id(loader)}
    while pending:
        thing = pending.pop()
        if not _is_torchs(thing):
            yield thing
        for name in _PARTS:
            inner = getattr(thing, "__dict__", {}).get(name)
            for part in inner if isinstance(inner, (list, tuple)) else [inner]:
                if part is not None and id(part) not in seen and len(seen) < 100:
                    seen.add(id(part))
                    pending.append(part)


def _batches(loader: Any, deadline: Deadline) -> Iterator[Any]:
    dataset, collate = loader.dataset, loader.collate_fn
    size = loader.batch_size
    if _is_stream(dataset):
        elements = iter(dataset)
        for _ in range(2):
            samples = list(itertools.islice(elements, size or 1))
            if samples:
                yield collate(samples if size else samples[0])
        return
    for indices in _indices(loader):
        if isinstance(indices, (list, tuple)):
            yield collate(list(_samples(dataset, indices, deadline)))
        else:
            yield collate(dataset[indices])
        if deadline.over:
            return


def _samples(dataset: Any, indices: Any, deadline: Deadline) -> Iterator[Any]:
    """Return as many samples of a batch as time allows."""
    if callable(getattr(dataset, "__getitems__", None)) and dataset.__getitems__:
        yield from dataset.__getitems__(list(indices))
        return
    for index in indices:
        yield dataset[index]
        if deadline.over:
            return


def _indices(loader: Any) -> list[Any]:
    """Yield the indices of the first and last batch, or of two from a custom sampler."""
    sampler, batches, size = loader.sampler, loader.batch_sampler, loader.batch_size
    plain = type(sampler).__name__ in ("SequentialSampler", "RandomSampler") and _is_torchs(sampler)
    if batches is None:
        return [0] if plain and len(sampler) else list(itertools.islice(sampler, 2))
    if not plain or not size or type(batches).__name__ != "BatchSampler" or not _is_torchs(batches):
        return list(itertools.islice(batches, 2))
    # Every sample occurs once per epoch, so the shuffled order does not matter.
    rows = min(len(sampler), len(loader.dataset))
    rows -= rows % size if loader.drop_last else 0
    starts = sorted({0, (rows - 1) // size * size}) if rows else []
    return [list(range(start, min(start + size, rows))) for start in starts]


def _converted(batches: list[Any]) -> tuple[list[Any], FailureSummary | None]:
    """Return the batches converted to arrays by the Keras adapter, or what it raises."""
    module = sys.modules.get("keras.src.trainers.data_adapters.torch_data_loader_adapter")
    utils = sys.modules.get("keras.src.trainers.data_adapters.data_adapter_utils")
    if module is None or utils is None:
        return [map_leaves(_plain, item) for item in batches], None
    adapter = object.__new__(module.TorchDataLoaderAdapter)
    adapter._dataloader = batches
    try:
        signature = utils.get_tensor_spec(batches)
        wrong = next((part for part in _specs(tuple(signature)) if isinstance(part, (str, list))), None)
        if wrong is not None:
            message = "`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found "
            return batches, FailureSummary("TypeError", f"{message}{type(wrong)} which is not.")
        return list(adapter.get_numpy_iterator()), None
    except Exception as error:
        return batches, FailureSummary(type(error).__name__, str(error)[:600])


def _specs(signature: Any) -> Iterator[Any]:
    """Return the leaves of a signature: for TensorFlow, tuples and dicts are structure, lists are not."""
    if isinstance(signature, dict):
        signature = tuple(signature.values())
    if isinstance(signature, tuple):
        for part in signature:
            yield from _specs(part)
    else:
        yield signature


def _plain(value: Any) -> Any:
    return value.detach().cpu().numpy() if hasattr(value, "detach") else value


# --- what is in memory as a whole -----------------------------------------------------------------------------------


def _with_whole_arrays(facts: DataFacts, loader: Any, role: str, budget: Budget, codes: Codes) -> DataFacts:
    """Add statistics of all samples of a TensorDataset, and what creates its tensors."""
    dataset, rows = loader.dataset, None
    while type(dataset).__name__ == "Subset" and _is_torchs(dataset):
        rows = list(dataset.indices) if rows is None else [dataset.indices[row] for row in rows]
        dataset = dataset.dataset
    tensors: tuple[Any, ...] = getattr(dataset, "tensors", ())
    if (
        type(dataset).__name__ != "TensorDataset"
        or not _is_torchs(dataset)
        or not _is_torchs(loader.collate_fn)
    ):
        return facts
    found: dict[str, Any] = {}
    for index, part in enumerate(("x", "y", "sample_weight")[: len(tensors)]):
        seconds = budget.feature_seconds if part == "x" else budget.label_seconds
        arrays: tuple[ArrayFacts, ...] = getattr(facts, part)
        if len(arrays) != 1:
            return facts
        code, use = codes.of_loaded("x" if role == "training" else "validation_data", index)
        tensor = tensors[index] if rows is None else tensors[index][rows]
        whole = array_facts(
            Component(part_path(role, part), "", _plain(tensor)), Deadline(seconds), part != "x", use, code
        )
        found[part] = (replace(arrays[0], statistics=whole.statistics, code=code, use=use),)
    return replace(facts, **found)
