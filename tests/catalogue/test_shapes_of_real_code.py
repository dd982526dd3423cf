"""Shapes of real code that gave false alarms and that a single program on TensorFlow cannot show; lint is silent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fitdoctor.cli.discover import Found
from fitdoctor.cli.lint_files import Wishes, lint_files
from fitdoctor.config import Config
from fitdoctor.diagnosis import Diagnosis
from fitdoctor.source.keras_backend import only_tensorflow
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project, programs
from fitdoctor.source.read import source_from_text

JAX_STEP = """
import keras
import numpy as np

class Net(keras.Model):
    def train_step(self, state, data):
        trainable, other, optimizer, metrics = state
        x, y = data
        return {"loss": 0.0}, (trainable, other, optimizer, metrics)

inputs = keras.Input((4,))
model = Net(inputs, keras.layers.Dense(1)(inputs))
model.compile(optimizer="adam", loss="mse")
model.fit(np.ones((8, 4)), np.ones((8, 1)))
"""


def module(text: str, path: str = "train.py") -> Module:
    return Module(source_from_text(text, path, 3))


def linted(*paths: Path) -> Diagnosis:
    found = [Found(str(path), Config()) for path in paths]
    return lint_files(found, Wishes(), jobs=1).diagnosis


def silent(folder: Path, text: str) -> bool:
    path = folder / "train.py"
    path.write_text(text)
    return not linted(path).findings


@pytest.mark.parametrize(
    "setting",
    [
        'os.environ["KERAS_BACKEND"] = "jax"',
        'os.environ.setdefault("KERAS_BACKEND", "jax")',
        'os.environ.update(KERAS_BACKEND="jax")',
        'os.environ.update({"KERAS_BACKEND": "jax"})',
        'backend = "jax"\nos.environ["KERAS_BACKEND"] = backend',
    ],
)
def test_a_step_for_jax_takes_the_state_first(tmp_path: Path, setting: str) -> None:
    assert silent(tmp_path, f"import os\n{setting}\n{JAX_STEP}")
    assert not silent(tmp_path, JAX_STEP)


def test_a_backend_that_is_chosen_while_the_program_runs_may_be_any() -> None:
    assert not only_tensorflow([module('import os\nos.environ["KERAS_BACKEND"] = choose()')])
    assert only_tensorflow([module('import os\nos.environ["KERAS_BACKEND"] = "tensorflow"')])


def test_a_backend_may_be_named_twice(tmp_path: Path) -> None:
    once = 'import os\nos.environ["KERAS_BACKEND"] = "jax"\nimport keras\n'
    assert silent(tmp_path, once + 'os.environ["KERAS_BACKEND"] = "jax"\n')
    assert not silent(tmp_path, once + 'os.environ["KERAS_BACKEND"] = "torch"\n')


def test_files_that_do_not_import_each_other_are_separate_programs() -> None:
    files = [
        module("import shared", "/p/one.py"),
        module("x = 1", "/p/shared.py"),
        module("from pkg.inner import y", "/p/two.py"),
        module("y = 1", "/p/pkg/inner.py"),
        module("z = 1", "/p/alone.py"),
    ]
    found = [[one.path for one in members] for members in programs(Project(files))]
    assert found == [["/p/one.py", "/p/shared.py"], ["/p/two.py", "/p/pkg/inner.py"], ["/p/alone.py"]]


def test_a_notebook_is_not_judged_by_its_neighbour(tmp_path: Path) -> None:
    broken = JAX_STEP.replace("state, data", "data").replace(
        'return {"loss": 0.0}, (trainable, other, optimizer, metrics)', "return self.compute_loss(x, y)"
    )
    eager = "import tensorflow as tf\ntf.config.run_functions_eagerly(True)\n"
    paths = []
    for name, text in (("broken", broken), ("eager", eager)):
        cell = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": text}
        paths.append(tmp_path / f"{name}.ipynb")
        paths[-1].write_text(
            json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        )
    assert linted(paths[0]).findings == linted(*paths).findings != ()


def test_the_older_setting_of_the_channel_order_is_heeded(tmp_path: Path) -> None:
    text = """
import keras
from keras import backend as K
from keras.layers import Conv2D, Flatten, Dense
K.set_image_dim_ordering("th")
model = keras.Sequential([keras.Input((1, 28, 28)), Conv2D(8, (5, 5)), Flatten(), Dense(10)])
"""
    path = tmp_path / "train.py"
    path.write_text(text)
    assert {finding.id for finding in linted(path).findings} == {"FIT902"}


def test_a_line_that_runs_several_times_is_reported_once(tmp_path: Path) -> None:
    text = """
import keras
from keras import layers

def build(size):
    inputs = keras.Input((size, size, 3))
    return keras.Model(inputs, layers.Conv2D(4, 9)(inputs))

for size in (5, 6, 7):
    build(size)
"""
    path = tmp_path / "train.py"
    path.write_text(text)
    assert [finding.id for finding in linted(path).findings] == ["FIT306"]


def test_what_one_change_settles_is_reported_once(tmp_path: Path) -> None:
    text = """
import keras
import numpy as np
x, y = np.zeros((8, 10)), np.zeros((8, 1))
x_test, y_test = np.zeros((4, 10)), np.zeros((4, 1))
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y)
model.evaluate(x_test, y_test)
"""
    path = tmp_path / "train.py"
    path.write_text(text)
    assert [(each.id, each.location.line) for each in linted(path).findings if each.location] == [
        ("FIT101", 6)
    ]
    path.write_text(
        text.replace("Input((3,))", "Input((10,))").replace("np.zeros((4, 10))", "np.zeros((4, 3))")
    )
    assert [(each.id, each.location.line) for each in linted(path).findings if each.location] == [
        ("FIT101", 5)
    ]


def test_two_equal_inputs_are_told_apart(tmp_path: Path) -> None:
    text = """
import keras
import numpy as np
from keras import layers
first = keras.Input((3,))
second = keras.Input((3,))
model = keras.Model([first, second], layers.Dense(1)(layers.add([first, second])))
model.predict([np.zeros((8, 3)), np.zeros((8, 5))])
"""
    path = tmp_path / "train.py"
    path.write_text(text)
    (finding,) = linted(path).findings
    assert finding.subject == "argument x[1] of predict"
    assert {each.location.line for each in finding.evidence if each.location} >= {6}


def test_a_layer_of_keras_2_that_is_not_built_in_takes_any_number_of_axes(tmp_path: Path) -> None:
    text = """
import tensorflow as tf

class Twice(tf.keras.layers.Layer):
    def call(self, x):
        return x * 2

i = tf.keras.Input([3])
model = tf.keras.Model(i, LAYER(i))
model(tf.ones([3]))
"""
    path = tmp_path / "train.py"
    for layer, expected in (("Twice()", []), ("tf.keras.layers.Dense(2)", ["FIT102"])):
        path.write_text(text.replace("LAYER", layer))
        found = lint_files([Found(str(path), Config())], Wishes(keras=2), jobs=1).diagnosis.findings
        assert [each.id for each in found] == expected


def test_a_list_of_tensors_is_one_leak_and_no_variable(tmp_path: Path) -> None:
    text = """
import keras

class Net(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.steps = []
        self.first, self.second = keras.layers.Dense(4), keras.layers.Dense(4)

    def call(self, x):
        self.steps = [x]
        x = self.first(x)
        self.steps.append(x)
        x = self.second(x)
        self.steps.append(x)
        return x

net = Net()
model = keras.Sequential([keras.Input((4,)), net])
print([float(step) for step in net.steps])
"""
    path = tmp_path / "train.py"
    path.write_text(text)
    (finding,) = linted(path).findings
    assert finding.id == "FIT401"
    assert not any("Variable" in edit.replacement for fix in finding.fixes for edit in fix.edits)


def test_a_name_of_three_other_letters_is_no_slip(tmp_path: Path) -> None:
    text = 'import keras\nkeras.Sequential([keras.layers.Dense(1)]).compile("adam", loss="LOSS")\n'
    assert silent(tmp_path, text.replace("LOSS", "abc"))
    assert not silent(tmp_path, text.replace("LOSS", "mes"))


def test_one_unit_needs_no_logits(tmp_path: Path) -> None:
    text = """
import keras
import numpy as np
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile("adam", "categorical_crossentropy")
model.fit(np.zeros((8, 3)), np.zeros((8, 1)))
"""
    path = tmp_path / "train.py"
    path.write_text(text)
    assert [each.id for each in linted(path).findings] == ["FIT205"]


def test_vgg_is_no_explosion_of_weights(tmp_path: Path) -> None:
    text = """
import keras
import numpy as np
from keras import layers
model = keras.Sequential([keras.Input((7, 7, 512)), layers.Flatten(), layers.Dense(UNITS), layers.Dense(1)])
model.compile("adam", "mse")
model.fit(np.zeros((8, 7, 7, 512)), np.zeros((8, 1)))
"""
    assert silent(tmp_path, text.replace("UNITS", "4096"))
    assert not silent(tmp_path, text.replace("UNITS", "8192"))


def test_what_a_layer_reads_besides_its_inputs_is_passed_to_it(tmp_path: Path) -> None:
    text = """
import tensorflow as tf
from tensorflow.keras import Input, Model, layers
given, other = Input((4,)), Input((4,))
code = layers.Dense(2)(given)

class Penalty(layers.Layer):
    def call(self, x):
        self.add_loss(tf.reduce_mean(tf.square(code)))
        return x

model = Model([given, other], [code, Penalty()(other)])
"""
    path = tmp_path / "train.py"
    path.write_text(text)
    (finding,) = linted(path).findings
    assert finding.fixes[0].title == "pass `code` to the layer, in a list with its other inputs"


PASSES = """
import numpy as np
import tensorflow as tf
from sklearn.metrics import confusion_matrix
from tensorflow.keras.preprocessing.image import ImageDataGenerator
test = tf.keras.utils.image_dataset_from_directory("test")
folder = ImageDataGenerator().flow_from_directory("test")
model = tf.keras.models.load_model("model.keras")
"""
ONE_BY_ONE = """
true, predicted = [], []
for x, y in test:
    true.extend(y.numpy())
    predicted.extend(np.argmax(model.predict(x), axis=-1))
print(confusion_matrix(true, predicted))
"""
TWO_LOOPS = """
true = []
for x, y in test.prefetch(1):
    true.extend(y.numpy())
print(confusion_matrix(true, np.argmax(model.predict(test), axis=-1)))
"""
COUNTED = """
counts = np.bincount(np.concatenate([y for x, y in test]))
print(model.predict(test) == counts.max())
"""
LISTED = (
    "predicted = model.predict(folder)\nprint(confusion_matrix(folder.classes, predicted.argmax(axis=1)))\n"
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (TWO_LOOPS, True),
        (LISTED, True),
        (ONE_BY_ONE, False),
        (COUNTED, False),
        (TWO_LOOPS.replace("print", "test = test.cache()\nprint"), False),
        (f"test = test.cache()\n{TWO_LOOPS}", False),
        ('test = tf.keras.utils.image_dataset_from_directory("test", shuffle=False)\n' + TWO_LOOPS, False),
        ('folder = ImageDataGenerator().flow_from_directory("test", shuffle=False)\n' + LISTED, False),
    ],
)
def test_labels_of_another_pass(tmp_path: Path, text: str, found: bool) -> None:
    assert silent(tmp_path, PASSES + text) is not found


PREPARING = """
import tensorflow as tf

class Picture:
    def __init__(self, image):
        self.image = image

    def scale(self):
        self.image = tf.cast(self.image, tf.float32)
        self.image = self.image / 255.0

class Flipped(Picture):
    pass

BEFORE
def parse(image):
    MAKE
    picture.scale()
    return picture.image

data = tf.data.Dataset.from_tensor_slices(tf.zeros((8, 4, 4, 3), tf.uint8)).map(parse)
"""


def test_an_object_that_traced_code_creates_lives_in_one_trace(tmp_path: Path) -> None:
    assert silent(tmp_path, PREPARING.replace("BEFORE", "").replace("MAKE", "picture = Flipped(image)"))
    kept = PREPARING.replace("BEFORE", "picture = Flipped(None)").replace("MAKE", "pass")
    assert not silent(tmp_path, kept)


def test_a_model_may_have_a_flag_of_another_name(tmp_path: Path) -> None:
    text = """
import tensorflow as tf

class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.drop, self.out = tf.keras.layers.Dropout(0.5), tf.keras.layers.Dense(1)

    def call(self, x, is_training=False):
        return self.out(self.drop(x, training=is_training))

model = Net()
optimizer = tf.keras.optimizers.SGD()

def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(CALL - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""
    assert silent(tmp_path, text.replace("CALL", "model(x, is_training=True)"))


def test_a_flag_that_is_left_out_is_still_reported(tmp_path: Path) -> None:
    text = """
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dropout(0.5), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD()

def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""
    path = tmp_path / "train.py"
    path.write_text(text)
    assert [each.id for each in linted(path).findings] == ["FIT332"]


def test_the_older_name_of_py_function_returns_a_list(tmp_path: Path) -> None:
    text = """
import tensorflow as tf

def pair(row):
    return row, float(row)

data = tf.data.Dataset.range(4).map(lambda row: tuple(tf.py_func(pair, [row], [tf.int64, tf.float64])))
"""
    path = tmp_path / "train.py"
    path.write_text(text)
    assert [each.id for each in linted(path).findings] == ["FIT406"]


def test_a_result_that_is_written_in_place_is_not_lost(tmp_path: Path) -> None:
    text = (
        "import keras\nimport numpy as np\nx = np.load('x.npy')\nLINE\nkeras.utils.set_random_seed(x.size)\n"
    )
    for line in (
        "np.clip(x, 0, 1, out=x)",
        "np.clip(x, 0, 1, x)",
        "np.nan_to_num(x, copy=False)",
        "np.log(x, x)",
    ):
        assert silent(tmp_path, text.replace("LINE", line))
    for line in ("np.clip(x, 0, 1)", "np.nan_to_num(x)", "np.log(x)"):
        assert not silent(tmp_path, text.replace("LINE", line))


def test_tables_that_are_looked_at_and_stages_that_write_are_not_lost(tmp_path: Path) -> None:
    text = """
import keras
import pandas as pd
import tensorflow as tf
table = pd.read_csv("rows.csv")
data = tf.data.Dataset.range(8)
LINE
keras.Sequential([keras.layers.Dense(len(table))])
"""
    looks = ("table.isnull().sum().sort_values()", "table.sample(5)", "data.apply(write_records)")
    loses = ("table.dropna().sort_values('x')", "table.sample(frac=1)", "data.shuffle(8)")
    for line in looks:
        assert silent(tmp_path, text.replace("LINE", line))
    for line in loses:
        assert not silent(tmp_path, text.replace("LINE", line))


def test_a_step_unpacks_the_parts_of_an_element(tmp_path: Path) -> None:
    text = """
import tensorflow as tf

class Painter(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.paint = tf.keras.layers.Dense(3)

    def call(self, inputs):
        noise, map = inputs
        return self.paint(tf.concat([noise, map], axis=-1))

    def train_step(self, data):
        picture, map, noise = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(self((noise, map), training=True) - picture))
        weights = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return {"error": loss}

parts = tf.zeros((8, 3)), tf.zeros((8, 2)), tf.zeros((8, 4))
painter = Painter()
painter.compile(optimizer="adam", loss="mse")
painter.fit(tf.data.Dataset.from_tensor_slices(parts).batch(4))
"""
    assert silent(tmp_path, text)
    assert not silent(tmp_path, text.replace("def train_step", "def other_step"))


def test_a_model_of_applications_goes_by_its_name(tmp_path: Path) -> None:
    text = """
import keras
import numpy as np
base = keras.applications.VGG16(weights=None, include_top=False, input_shape=(32, 32, 3))
model = keras.Sequential([base, keras.layers.Dense(10, activation="softmax")])
model.compile(loss="sparse_categorical_crossentropy", optimizer="adam")
model.fit(np.zeros((8, 32, 32, 3)), np.zeros((8, 1)))
"""
    path = tmp_path / "train.py"
    path.write_text(text)
    (finding,) = linted(path).findings
    assert "`VGG16` outputs an image" in {each.claim for each in finding.evidence}


def test_other_weights_that_are_passed_are_a_choice(tmp_path: Path) -> None:
    text = """
import keras
import numpy as np
from sklearn.utils.class_weight import compute_class_weight
x, y = np.load("x.npy"), np.load("y.npy")
balanced = compute_class_weight("balanced", classes=np.unique(y), y=y)
by_hand = {0: 0.1, 1: 1.6}
model = keras.Sequential([keras.layers.Dense(2, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(x, y, epochs=2GIVEN)
"""
    path = tmp_path / "train.py"
    for given, severity in ((", class_weight=by_hand", "info"), ("", "warning")):
        path.write_text(text.replace("GIVEN", given))
        assert [each.severity.value for each in linted(path).findings] == [severity]
