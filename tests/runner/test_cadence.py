"""A line that calls fit over and over is looked at as long as that is new or next to free."""

from __future__ import annotations

import numpy as np

from fitdoctor.runner.cadence import FIRST_CALLS, MOST_SPECS, Cadence, spec_of

PLACE = ("train.py", 3, "fit")


class Model:
    """Stands for a model of Keras."""


MODEL = Model()


def test_the_first_calls_are_always_looked_at_and_then_no_more() -> None:
    cadence = Cadence()
    assert [cadence.due(PLACE, MODEL, "same") for _ in range(FIRST_CALLS + 2)] == [True] * FIRST_CALLS + [
        False
    ] * 2


def test_another_shape_is_looked_at_again_but_not_for_ever() -> None:
    cadence = Cadence()
    looked = 0
    for number in range(100):
        if cadence.due(PLACE, MODEL, number):
            looked += 1
            cadence.looked(PLACE, 1.0)
    assert looked == MOST_SPECS


def test_another_model_is_looked_at_again_although_its_data_is_the_same() -> None:
    cadence, models = Cadence(), [Model() for _ in range(FIRST_CALLS + 3)]
    assert all(cadence.due(PLACE, model, "same") for model in models)
    assert not cadence.due(PLACE, models[0], "same")


def test_a_look_that_costs_little_beside_the_training_is_made() -> None:
    cadence = Cadence()
    for _ in range(FIRST_CALLS):
        assert cadence.due(PLACE, MODEL, "same")
        cadence.looked(PLACE, 0.1)
        cadence.ran(PLACE, 1.0)
    assert not cadence.due(PLACE, MODEL, "same")
    cadence.ran(PLACE, 100.0)
    assert cadence.due(PLACE, MODEL, "same")


def test_lines_are_counted_apart() -> None:
    cadence = Cadence()
    for _ in range(FIRST_CALLS):
        cadence.due(PLACE, MODEL, "same")
    assert cadence.due(("train.py", 4, "fit"), MODEL, "same")


def test_specs_tell_shapes_and_types_apart() -> None:
    x = np.zeros((4, 2))
    assert spec_of(x) == spec_of(np.ones((4, 2)))
    assert spec_of(x) != spec_of(x.astype("int8"))
    assert spec_of({"a": x}) != spec_of({"b": x})
    assert spec_of([x, x]) != spec_of((x, x))
    assert hash(spec_of(({"a": [x]}, list(range(100)), None, object()))) is not None
