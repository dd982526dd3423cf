"""`--smoke` cuts every fit down to two steps of one epoch."""

from __future__ import annotations

import copy
import logging
import types
from typing import Any

import numpy as np
import pytest

from fitdoctor.facts import DataFacts
from fitdoctor.runner.smoke import lengthened, shortened


def fit(
    self: Any,
    x: Any = None,
    y: Any = None,
    batch_size: Any = None,
    epochs: int = 1,
    validation_split: float = 0.0,
    validation_data: Any = None,
    initial_epoch: int = 0,
    steps_per_epoch: Any = None,
    validation_steps: Any = None,
    validation_batch_size: Any = None,
    validation_freq: int = 1,
) -> dict[str, Any]:
    return {name: value for name, value in locals().items() if name not in ("self", "x", "y")}


def cut(*args: Any, data: tuple[DataFacts, ...] = (), **kwargs: Any) -> dict[str, Any]:
    changed, words = shortened(fit, "model", args, kwargs, data)
    return fit("model", *changed, **words)


def test_many_epochs_become_two_steps() -> None:
    made = cut("x", "y", 32, 50)
    assert (made["epochs"], made["steps_per_epoch"], made["batch_size"]) == (1, 2, 32)
    assert made["validation_steps"] is None


def test_arrays_keep_their_batch_size_as_keras_would_divide_them_by_the_steps() -> None:
    chosen, asked = cut([1.0] * 60_000), cut([1.0], steps_per_epoch=1875, data=(arrays("training", 32),))
    assert chosen["batch_size"] == asked["batch_size"] == 32
    given = (DataFacts(role="training", form="dataset", batch_size=8), arrays("validation", 32))
    made = cut("x", validation_data=([1.0],), data=given)
    assert (made["batch_size"], made["validation_batch_size"]) == (None, 32)


def arrays(role: str, batch_size: int) -> DataFacts:
    return DataFacts(role=role, form="arrays", batch_size=batch_size)


def test_an_evaluation_becomes_two_steps() -> None:
    def evaluate(self: Any, x: Any = None, y: Any = None, batch_size: Any = None, steps: Any = None) -> Any:
        return batch_size, steps

    words = shortened(evaluate, "model", ([1.0], [1.0]), {})
    assert evaluate("model", *words[0], **words[1]) == (32, 2)


def test_validation_is_tried_whatever_its_rhythm() -> None:
    made = cut("x", validation_data="v", validation_freq=5, validation_steps=40)
    assert (made["validation_steps"], made["validation_freq"]) == (2, 1)
    assert cut("x", validation_split=0.2)["validation_steps"] == 2
    few = DataFacts(role="training", form="arrays", samples=76, batch_size=32, batches=2)
    assert cut("x", validation_split=0.2, data=(few,))["validation_steps"] == 1


def test_a_training_that_is_taken_up_again_goes_on_for_one_epoch() -> None:
    assert cut("x", epochs=10, initial_epoch=4)["epochs"] == 5
    assert cut("x", epochs=4, initial_epoch=4)["steps_per_epoch"] is None


@pytest.mark.parametrize(("batches", "asked", "steps"), [(1, None, 1), (9, None, 2), (9, 1, 1)])
def test_there_are_never_more_steps_than_batches(batches: int, asked: Any, steps: int) -> None:
    data = (DataFacts(role="training", batches=batches),)
    assert cut("x", steps_per_epoch=asked, data=data)["steps_per_epoch"] == steps


@pytest.mark.parametrize(("rows", "steps"), [(20, 1), (33, 2), (500, 2)])
def test_a_call_that_is_not_checked_again_makes_no_more_steps_than_its_arrays_have_batches(
    rows: int, steps: int
) -> None:
    assert cut(np.zeros((rows, 3)))["steps_per_epoch"] == steps
    assert cut([np.zeros((rows, 3)), np.zeros((rows, 2))])["steps_per_epoch"] == steps


def test_arguments_that_keras_will_refuse_are_left_to_it() -> None:
    assert shortened(fit, "model", ("x",), {"epoch": 3}) == (("x",), {"epoch": 3})


def test_the_warning_about_frequent_tracing_is_dropped() -> None:
    logger = logging.getLogger("tensorflow")
    before = list(logger.filters)
    try:
        cut("x", epochs=5)
        texts = ("5 out of the last 6 calls triggered tf.function retracing", "gradients do not exist")
        records = [logger.makeRecord("tensorflow", logging.WARNING, "", 0, text, (), None) for text in texts]
        assert [bool(logger.filter(record)) for record in records] == [False, True]
    finally:
        logger.filters[:] = before


def test_the_history_is_as_long_as_asked_for_since_programs_plot_it_over_their_epochs() -> None:
    ran = types.SimpleNamespace(epoch=[4], history={"loss": [0.5], "val_loss": [0.7], "lr": "constant"})
    lengthened(ran, fit, "model", ("x",), {"epochs": 8, "initial_epoch": 4, "validation_freq": 2})
    assert ran.epoch == [4, 5, 6, 7]
    assert ran.history == {"loss": [0.5] * 4, "val_loss": [0.7] * 2, "lr": "constant"}


@pytest.mark.parametrize(
    "ran", [None, types.SimpleNamespace(epoch=[], history={"loss": []}), {"loss": [1.0]}]
)
def test_what_is_not_the_history_of_one_epoch_is_left_alone(ran: Any) -> None:
    before = copy.deepcopy(ran)
    lengthened(ran, fit, "model", ("x",), {"epochs": 8})
    assert ran == before
