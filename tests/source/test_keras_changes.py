"""The table of what Keras changed, and how its rows are looked up."""

import pytest

from fitdoctor.source.keras_changes import changed_module, changed_name, changes


@pytest.mark.parametrize(
    ("dotted", "new"),
    [
        ("keras.losses.mse", "keras.losses.mean_squared_error"),
        ("tensorflow.keras.losses.mean_squared_error", "tensorflow.keras.losses.mse"),
        ("keras.backend.sum", "tensorflow.keras.backend.sum"),
        ("keras.layers.CuDNNLSTM", "keras.layers.LSTM"),
        ("tensorflow.keras.utils.np_utils", "keras.utils"),
        ("keras.layers.LocallyConnected1D", ""),
    ],
)
def test_a_name_that_is_gone_leads_to_the_new_one(dotted: str, new: str) -> None:
    change = changed_name(dotted)
    assert change is not None
    assert change.new == new


@pytest.mark.parametrize(
    "dotted",
    ["tensorflow.keras.losses.mse", "tensorflow.keras.backend.sum", "keras.layers.Dense", "numpy.sum"],
)
def test_a_name_that_is_there_has_no_row(dotted: str) -> None:
    assert changed_name(dotted) is None


def test_a_module_below_one_that_is_gone_is_gone() -> None:
    change = changed_module("keras.engine.topology")
    assert change is not None
    assert (change.old, change.since) == ("keras.engine", "3")
    assert changed_module("keras.layers") is None


def test_arguments_are_looked_up_by_what_takes_them() -> None:
    assert changes("argument", "Model.fit")["nb_epoch"].new == "epochs"
    assert changes("argument", "keras.layers.Dense")["output_dim"].since == "2"
    assert "output_dim" not in changes("argument", "keras.layers.Embedding")
    assert not changes("argument", "Optimizer.apply_gradients")["skip_gradients_aggregation"].safe
