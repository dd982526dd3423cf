"""What the judges of data pipelines say about plain facts."""

from __future__ import annotations

import pytest

from fitdoctor.catalogue import catalogue
from fitdoctor.diagnosis import Finding, Location
from fitdoctor.facts import Code, DataFacts, FitFacts, PipelineStep

CAUSES = catalogue()


def step(operation: str, line: int, **arguments: object) -> PipelineStep:
    code = Code(Location("train.py", line, 1, line, 20), f"ds.{operation}()")
    return PipelineStep(operation, (), tuple((name, str(value)) for name, value in arguments.items()), code)


def found(cause: str, judge: str, *facts: object) -> list[Finding]:
    function = next(one.function for one in CAUSES[cause].judges if one.function.__name__ == judge)
    return list(function(*facts))


@pytest.mark.parametrize(
    ("steps", "epochs", "wrong"), [(20, 3, True), (3, 6, True), (5, 4, False), (10, 9, False), (3, 3, False)]
)
def test_steps_are_counted_against_ten_batches(steps: int, epochs: int, wrong: bool) -> None:
    data = DataFacts(form="dataset", batches=10, endless=False)
    fit = FitFacts(epochs=epochs, steps_per_epoch=steps)
    assert bool(found("FIT703", "from_counts", fit, data)) is wrong


def split(**settings: object) -> list[Finding]:
    shuffle = step("shuffle", 2, buffer_size=9, **settings)
    training = DataFacts(form="dataset", pipeline=(step("from_tensor_slices", 1), shuffle, step("skip", 3)))
    validation = DataFacts(
        "validation", form="dataset", pipeline=(step("from_tensor_slices", 1), shuffle, step("take", 4))
    )
    return found("FIT713", "from_split", FitFacts(), training, validation)


def test_a_split_of_a_reshuffled_dataset_leaks() -> None:
    assert [finding.location.line for finding in split() if finding.location] == [2]


def test_a_split_of_one_fixed_order_is_right() -> None:
    assert split(reshuffle_each_iteration=False) == []


def test_a_shuffle_between_two_batches_is_right() -> None:
    pipeline = (step("from_tensor_slices", 1), step("batch", 2), step("shuffle", 3), step("batch", 4))
    data = DataFacts(form="dataset", pipeline=pipeline)
    assert found("FIT713", "from_order", FitFacts(), data) == []


@pytest.mark.parametrize(("shared", "leak"), [(2, False), (10, False), (60, True)])
def test_a_few_shared_rows_are_no_leak(shared: int, leak: bool) -> None:
    validation = DataFacts("validation", samples=100, shared_rows=shared)
    facts = (FitFacts(), DataFacts(), validation, CAUSES)
    assert bool(found("FIT003", "from_rows", *facts)) is leak


def test_a_validation_split_beside_validation_data_is_accepted() -> None:
    fit = FitFacts(given=("x", "validation_split", "validation_data"), valued=("x", "validation_split"))
    assert found("FIT711", "from_call", fit, DataFacts(form="dataset")) == []
