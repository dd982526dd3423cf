"""Methods that Keras never calls, because of a slip in their names (FIT314)."""

from __future__ import annotations

import pytest

from tests.catalogue.contract_programs import found

CALLBACK = "class Stop(keras.callbacks.Callback):\n    def {}(self, epoch, logs=None):\n        print(logs)\n"
LAYER = (
    "class Scale(layers.Layer):\n    def {}(self, given):\n        return given\n"
    "    def call(self, x):\n        return x * 2.0\n"
)
MODEL = "class Net(keras.Model):\n    def call(self, x):\n        return x\n    def {}(self, data):\n        return {{}}\n"


@pytest.mark.parametrize(
    ("text", "name", "meant"),
    [
        (CALLBACK, "on_epoch_start", "on_epoch_begin"),
        (CALLBACK, "on_epoch_ends", "on_epoch_end"),
        (CALLBACK, "on_epochend", "on_epoch_end"),
        (CALLBACK, "on_training_epoch_end", ""),
        (LAYER, "biuld", "build"),
        (LAYER, "comput_output_shape", "compute_output_shape"),
        (LAYER, "getconfig", "get_config"),
        (MODEL, "tain_step", "train_step"),
    ],
)
def test_keras_never_calls_it(text: str, name: str, meant: str) -> None:
    (finding,) = found(text.format(name), "FIT314")
    assert finding.message.startswith(f"nothing calls `{'Stop' if text is CALLBACK else ''}")
    assert [edit.replacement for each in finding.fixes for edit in each.edits] == ([meant] if meant else [])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (CALLBACK, "on_epoch_end"),
        (CALLBACK, "on_episode_end"),
        (CALLBACK, "on_epoch_end_"),
        (CALLBACK, "report"),
        (LAYER, "set_config"),
        (LAYER, "builder"),
        (MODEL, "train_steps"),
        (MODEL, "best_step"),
        (MODEL, "validation_step"),
        # A method that the program calls itself.
        (CALLBACK + "Stop().on_epoch_start(0)\n", "on_epoch_start"),
        # A method of the project's own base class.
        (
            CALLBACK + "class Late(Stop):\n    def on_epoch_start(self, epoch, logs=None):\n        pass\n",
            "on_epoch_start",
        ),
        # Another library may call it.
        ("import rl\n" + CALLBACK.replace("keras.callbacks", "rl.callbacks"), "on_epoch_start"),
    ],
)
def test_other_methods_are_left_alone(text: str, name: str) -> None:
    assert found(text.format(name), "FIT314") == []
