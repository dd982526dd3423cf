"""Where things were made: recorded, or found in the source."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("keras")

pytestmark = [pytest.mark.tf, pytest.mark.filterwarnings("ignore")]

PROGRAM = """
import sys
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.model_selection import train_test_split


def load():
    x = np.zeros((60, 8))
    y = np.zeros(60)
    return x, y


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = layers.Dense(4)
        self.last = layers.Dense(1)

    def call(self, inputs):
        return self.last(self.first(inputs))


def train(model, features, target):
    stop = keras.callbacks.EarlyStopping(patience=2)
    model.fit(features, y=target, callbacks=[stop], verbose=0)


x, y = load()
x_train, x_test, y_train, y_test = train_test_split(x, y)
model = keras.Sequential([
    keras.Input((8,)),
    layers.Dense(4, activation="relu"),
    layers.Dense(1),
])
model.compile(
    "adam",
    loss="mse",
)
train(model, x_train, y_train)
net = Net()
net.compile("sgd", **{"loss": "mse"})
data = tf.data.Dataset.from_tensor_slices((x, y))
data = data.shuffle(10).batch(
    4
)
net.fit(data, epochs=1, verbose=0)
"""

DRIVER = """
import runpy, sys
import keras
import tensorflow
from fitdoctor.collect.fit_call import collect_call
from fitdoctor.collect.origins import Recorder

real = keras.Model.fit
recorder = Recorder()
if sys.argv[2] == "recorded":
    recorder.start()


def show(name, code):
    print(name, f"{code.location.line}|{' '.join(code.text.split())}" if code else "?")


def fit(self, *args, **kwargs):
    found = collect_call(self, "fit", args, kwargs, sys._getframe(1))
    assert found.crashes == (), found.crashes
    model = found.model
    show("call", found.fit.code)
    show("model", model.code)
    show("compile", model.compile_code)
    show("input", model.input_code)
    show("loss", model.losses[0].code)
    for layer in model.every_layer():
        show("layer", layer.code)
    for callback in found.fit.callbacks:
        show("callback", callback.code)
    for array in found.data[0].x + found.data[0].y:
        show(array.path, array.code)
        show(array.path + " use", array.use)
    for step in found.data[0].pipeline:
        show(step.operation, step.code)
    return real(self, *found.args, **found.kwargs)


keras.Model.fit = fit
path = sys.argv[1]
sys.argv = [path]
import __main__
__main__.__file__ = path
runpy.run_path(path, run_name="__main__")
"""

EXPECTED = """
call 28|model.fit(features, y=target, callbacks=[stop], verbose=0)
model 33|keras.Sequential([ keras.Input((8,)), layers.Dense(4, activation="relu"), layers.Dense(1), ])
compile 38|model.compile( "adam", loss="mse", )
input 34|keras.Input((8,))
loss 40|"mse"
layer 35|layers.Dense(4, activation="relu")
layer 36|layers.Dense(1)
callback 27|keras.callbacks.EarlyStopping(patience=2)
x 11|np.zeros((60, 8))
x use 28|features
y 12|np.zeros(60)
y use 28|target
call 49|net.fit(data, epochs=1, verbose=0)
model 43|Net()
compile 44|net.compile("sgd", **{"loss": "mse"})
input ?
loss 44|"mse"
layer 19|layers.Dense(4)
layer 20|layers.Dense(1)
x 11|np.zeros((60, 8))
x use 45|x
y 12|np.zeros(60)
y use 45|y
from_tensor_slices 45|tf.data.Dataset.from_tensor_slices((x, y))
shuffle 46|data.shuffle(10)
batch 46|data.shuffle(10).batch( 4 )
"""


@pytest.mark.parametrize("how", ["recorded", "searched"])
def test_code_of_everything(tmp_path: Path, how: str) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "driver.py").write_text(textwrap.dedent(DRIVER))
    done = subprocess.run(
        [sys.executable, "driver.py", "train.py", how],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip() == EXPECTED.strip()


def test_the_recorder_leaves_no_trace() -> None:
    import keras

    from fitdoctor.collect.origins import Recorder, recorded_site

    original, setting = (vars(keras.layers.Layer)[name] for name in ("__new__", "trainable"))
    recorder = Recorder()
    recorder.start()
    recorder.start()
    before = set(vars(keras.layers.Dense(1)))
    layer = keras.layers.Dense(1)
    assert set(vars(layer)) == before
    site = recorded_site(layer)
    assert site is not None
    assert site.path == __file__
    layer.trainable = False
    assert not layer.trainable
    frozen = recorded_site(layer, "trainable")
    assert frozen is not None
    assert frozen.line > site.line
    recorder.stop()
    assert vars(keras.layers.Layer)["__new__"] is original
    assert vars(keras.layers.Layer)["trainable"] is setting
    assert recorded_site(keras.layers.Dense(1)) is None
