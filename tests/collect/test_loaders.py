"""torch DataLoaders are read before fit; the same with torch itself where it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from fitdoctor.catalogue.pipeline.batch_structure_wrong.cause import rejected_batch
from fitdoctor.collect.budget import Budget
from fitdoctor.collect.codes import Codes
from fitdoctor.collect.data import Collected, Given, collect_data, form_of
from fitdoctor.facts import Statistics, Unknown


def of_torch(kind: type) -> type:
    """The class as torch's own would look."""
    kind.__module__ = "torch.utils.data.stand_in"
    return kind


def stack(samples: list[Any]) -> list[Any]:
    return [np.stack([np.asarray(part) for part in parts]) for parts in zip(*samples, strict=True)]


stack.__module__ = "torch.utils.data._utils.collate"


@of_torch
class SequentialSampler:
    def __init__(self, rows: int) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return self.rows


@of_torch
class BatchSampler:
    pass


@of_torch
class DataLoader:
    def __init__(self, dataset: Any, batch_size: int, num_workers: int = 0) -> None:
        self.dataset, self.batch_size, self.num_workers = dataset, batch_size, num_workers
        self.sampler = SequentialSampler(len(dataset) if hasattr(dataset, "__len__") else 0)
        self.batch_sampler, self.collate_fn, self.drop_last = BatchSampler(), stack, False

    def __len__(self) -> int:
        return (len(self.dataset) + self.batch_size - 1) // self.batch_size

    def __iter__(self) -> Iterator[Any]:
        raise AssertionError("a loader that is iterated starts its workers")


class Rows:
    def __init__(self) -> None:
        self.read: list[int] = []

    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> tuple[Any, int]:
        self.read.append(index)
        return np.full(3, np.random.rand(), "float32"), index


@of_torch
class IterableDataset:
    pass


class Stream(IterableDataset):
    def __init__(self, source: Any) -> None:
        self.source = source

    def __iter__(self) -> Iterator[Any]:
        return iter(self.source)


def collected(loader: Any, role: str = "training") -> Collected:
    return collect_data(Given(x=loader), role, Budget(), Codes())


def test_first_and_last_batch_come_from_the_dataset_and_leave_no_trace() -> None:
    loader = DataLoader(Rows(), batch_size=4)
    assert form_of(loader) == "dataloader"
    np.random.seed(3)
    facts = collected(loader).facts
    assert loader.dataset.read == [], "what the reading left on the dataset is taken back"
    assert np.random.rand() == np.random.RandomState(3).rand()
    assert (facts.batches, facts.samples, facts.batch_size) == (3, 10, 4)
    assert facts.x[0].shape == (None, 3)
    labels = facts.y[0].statistics
    assert isinstance(labels, Statistics)
    assert (labels.minimum, labels.maximum, labels.complete) == (0, 9, False)
    assert [spec.shape for spec in facts.last_batch] == [(2, 3), (2,)]


def test_a_stream_is_read_only_where_it_can_be_read_again() -> None:
    samples = [(np.zeros(3), 0), (np.ones(3), 1)]
    assert collected(DataLoader(Stream(samples), batch_size=2)).facts.x[0].shape == (2, 3)
    once = iter(samples)
    assert isinstance(collected(DataLoader(Stream(once), batch_size=2)).batch, Unknown)
    assert len(list(once)) == 2


def test_what_fails_outside_of_a_worker_proves_nothing() -> None:
    class NeedsWorker(Rows):
        def __getitem__(self, index: int) -> tuple[Any, int]:
            raise RuntimeError("no connection")

    alone, with_workers = (DataLoader(NeedsWorker(), 4, workers) for workers in (0, 2))
    assert collected(alone).facts.problem is not None
    assert collected(with_workers).facts.problem is None


def test_refusals_are_told_apart() -> None:
    messages = {
        "must contain objects that are subclass of `tf.TypeSpec` but found <class 'str'>": "a dict",
        "'TensorSpec' object is not iterable": "one tensor",
        "'numpy.ndarray' object has no attribute 'cpu'": "a `ndarray`",
        "stack expects each tensor to be equal size, but got [7] at entry 0 and [8] at entry 1": "[7] and [8]",
        "batch must contain tensors, numpy arrays, …; found <class 'PIL.Image.Image'>": "a `PIL.Image.Image`",
        "None values not supported.": None,
    }
    for message, observed in messages.items():
        found = rejected_batch(message)
        assert (found.observed if found is not None else None) == observed


def test_torch_itself() -> None:
    torch = pytest.importorskip("torch")
    data = torch.utils.data
    x, y = torch.arange(30.0).reshape(10, 3), torch.arange(10)
    train, _rest = data.random_split(data.TensorDataset(x, y), [8, 2])
    loader = data.DataLoader(train, batch_size=3, shuffle=True, num_workers=2)
    torch.manual_seed(1)
    facts = collected(loader).facts
    drawn = torch.rand(3)
    torch.manual_seed(1)
    assert torch.equal(drawn, torch.rand(3)), "no random number was drawn"
    labels = facts.y[0].statistics
    assert isinstance(labels, Statistics)
    assert labels.complete and labels.count == 8
    assert facts.x[0].shape == (None, 3) and facts.batches == 3
    generator = torch.Generator()
    state = generator.get_state()
    weighted = data.WeightedRandomSampler(torch.ones(10), 5, generator=generator)
    assert collected(data.DataLoader(data.TensorDataset(x, y), 2, sampler=weighted)).facts.x[0].shape == (
        2,
        3,
    )
    assert torch.equal(generator.get_state(), state)
