"""The call as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fitdoctor import json_codec
from fitdoctor.collect.budget import Budget
from fitdoctor.collect.environment import environment
from fitdoctor.collect.fit_call import bind, collect_call
from fitdoctor.facts import Unknown

keras = pytest.importorskip("keras")

pytestmark = [pytest.mark.tf, pytest.mark.filterwarnings("ignore")]
layers = keras.layers
X, Y = np.zeros((40, 4)), np.zeros(40, "int64")


def model() -> Any:
    made = keras.Sequential([keras.Input((4,)), layers.Dense(2, activation="softmax")])
    made.compile("adam", "sparse_categorical_crossentropy")
    return made


def test_arguments_are_bound_by_the_signature() -> None:
    bound = bind(model(), "fit", (X, Y, 8), {"epochs": 3, "epoch": 1})
    assert list(bound) == ["x", "y", "batch_size", "epochs", "epoch"]


def test_the_facts_of_a_call() -> None:
    callbacks = [keras.callbacks.EarlyStopping(monitor="val_acc", patience=3, mode="max")]
    found = collect_call(
        model(),
        "fit",
        (X, Y),
        {
            "epochs": 3,
            "batch_size": 8,
            "validation_split": 0.25,
            "class_weight": {0: 1.0, "1": 2.0},
            "callbacks": callbacks,
        },
    )
    fit = found.fit
    assert found.crashes == ()
    assert (fit.epochs, fit.batch_size, fit.validation_split, fit.has_validation) == (3, 8, 0.25, True)
    assert fit.class_weight is not None
    assert fit.class_weight.keys == ("0", "'1'")
    assert fit.callbacks[0].setting("monitor") == "val_acc"
    assert [data.role for data in found.data] == ["training"]


@pytest.mark.parametrize("validation", [(X, Y), [X, Y], (X, Y, np.ones(40))])
def test_validation_data_in_every_form(validation: Any) -> None:
    found = collect_call(model(), "fit", (X, Y), {"validation_data": validation})
    assert found.crashes == ()
    assert [data.role for data in found.data] == ["training", "validation"]
    assert [array.path for array in found.data[1].y] == ["validation_data[1]"]
    assert found.data[1].shared_rows == 40


@pytest.mark.parametrize(
    ("method", "args"),
    [("evaluate", (X, Y)), ("predict", (X,)), ("train_on_batch", (X, Y)), ("predict_on_batch", (X,))],
)
def test_other_methods(method: str, args: tuple[Any, ...]) -> None:
    found = collect_call(model(), method, args, {})
    assert found.crashes == ()
    assert found.fit.method == method
    assert not isinstance(found.data[0].trial.forward, Unknown)


class Hostile:
    """An object that raises at every touch."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __len__(self) -> int:
        raise RuntimeError("len")


ODD = {
    "hostile": Hostile(), "object": object(), "number": 5, "text": "text", "list": [], "tuple": (), "dict": {},
    "none": None, "list of none": [None], "inside": {"a": Hostile()},
}  # fmt: skip


@pytest.mark.parametrize("name", list(ODD))
def test_nothing_makes_it_raise(name: str) -> None:
    x = ODD[name]
    found = collect_call(model(), "fit", (x, Y), {"validation_data": x, "callbacks": x, "class_weight": x})
    assert found.args[0] is x
    assert collect_call(Hostile(), "fit", (X, Y), {}).crashes


def test_facts_are_plain_and_hold_no_values() -> None:
    secret = np.full((40, 4), 12345.678)
    secret[3, 2] = 98765.4321
    found = collect_call(model(), "fit", (secret, Y), {}, budget=Budget(trial=False))
    text = repr((found.model, found.fit, found.data))
    assert text.count("98765.4321") == 1  # the maximum
    for facts in (found.model, found.fit, *found.data):
        assert json_codec.from_plain(type(facts), json_codec.to_plain(facts)) == facts


def test_the_environment() -> None:
    found = environment()
    assert found.version("keras") == keras.__version__
    assert found.backend == "tensorflow"
    assert found.python
