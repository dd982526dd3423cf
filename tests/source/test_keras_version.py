"""Which Keras a project uses, from what it pins, installs and imports."""

from __future__ import annotations

import json

import pytest

from fitdoctor.cli.discover import discover
from fitdoctor.cli.lint_files import Wishes, lint_files
from fitdoctor.source.keras_version import Assumed, of_folder, of_notebook, requirement
from fitdoctor.source.read import source_from_text


@pytest.mark.parametrize(
    ("name", "text", "major"),
    [
        ("requirements.txt", "numpy\ntensorflow==2.5.0  # old\n", 2),
        ("requirements.txt", "tensorflow>=2.16,<3\n", 3),
        ("requirements.txt", "tensorflow>=2.3\n", None),
        ("requirements.txt", "tensorflow\nkeras\n", None),
        ("requirements.txt", "Keras==2.2.4\ntensorflow-gpu==1.14\n", 2),
        ("requirements.txt", "tensorflow_gpu\n", 2),
        ("requirements.txt", "tensorflow~=2.15.0\n", 2),
        ("requirements.txt", "tensorflow~=2.15\n", None),
        ("requirements.txt", 'tensorflow==2.4.* ; python_version < "3.9"\n', 2),
        ("requirements.txt", "tensorflow==2.21.0rc1\n", 3),
        ("requirements.txt", "tensorflow-hub==0.12\nkeras-tuner==1.0\n", None),
        ("dev-requirements.txt", "keras<3\n", 2),
        ("requirements/train.txt", "keras>=3\n", 3),
        ("pyproject.toml", '[project]\nname = "x"\ndependencies = ["tensorflow<2.16"]\n', 2),
        ("pyproject.toml", '[project.optional-dependencies]\ntf = ["keras>=3.0"]\n', 3),
        ("pyproject.toml", '[tool.poetry.dependencies]\npython = "^3.9"\nkeras = "^2.4"\n', 2),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntensorflow = "^2.4"\n', None),
        ("pyproject.toml", "not toml = = tensorflow", None),
        ("poetry.lock", '[[package]]\nname = "tensorflow"\nversion = "2.8.0"\n', 2),
        ("uv.lock", '[[package]]\nname = "keras"\nversion = "3.4.1"\n', 3),
        ("Pipfile", '[packages]\ntensorflow = "==2.6"\n', 2),
        ("Pipfile.lock", json.dumps({"default": {"tensorflow": {"version": "==2.6.0"}}}), 2),
        ("setup.cfg", "[options]\ninstall_requires =\n    tensorflow>=1.15,<2\n", 2),
        ("setup.py", "setup(install_requires=['tensorflow>=2.16', 'numpy'])\n", 3),
        ("environment.yml", "dependencies:\n  - python=3.7\n  - tensorflow=2.3\n", 2),
        ("environment.yaml", "dependencies:\n  - pip:\n    - keras==2.4.3\n", 2),
        ("environment.yml", "dependencies:\n  - conda-forge::tensorflow=2.17.0=cpu_py\n", 3),
        ("Dockerfile", "FROM tensorflow/tensorflow:2.4.1-gpu\n", 2),
        ("Dockerfile", "FROM python:3.11\nRUN pip install 'tensorflow==2.17'\n", 3),
    ],
)
def test_pins_decide(tmp_path, name, text, major):
    (tmp_path / ".git").mkdir()
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    inner = tmp_path / "src" / "deep"
    inner.mkdir(parents=True)
    found = of_folder(str(inner))
    assert (found.major if found else None) == major
    if found:
        assert "requires" in found.reason


def test_the_nearest_file_counts_and_nothing_outside_the_repository(tmp_path):
    (tmp_path / "requirements.txt").write_text("keras<3\n", "utf-8")
    inner = tmp_path / "project"
    (inner / ".git").mkdir(parents=True)
    assert of_folder(str(inner)) is None
    (inner / "sub").mkdir()
    (inner / "sub" / "requirements.txt").write_text("keras>=3\n", "utf-8")
    assert of_folder(str(inner / "sub")) == Assumed(3, "requirements.txt requires keras>=3")


def test_a_lock_file_counts_before_what_is_asked_for(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["keras>=3"]\n', "utf-8")
    (tmp_path / "uv.lock").write_text('[[package]]\nname = "keras"\nversion = "2.15.0"\n', "utf-8")
    assert of_folder(str(tmp_path)) == Assumed(2, "uv.lock requires keras==2.15.0")


@pytest.mark.parametrize(
    ("cells", "python", "major"),
    [
        (["!pip install tensorflow==2.5"], "3.10.12", 2),
        (["%pip install -q 'keras>=3' numpy"], "3.7.0", 3),
        (["!python -m pip install --upgrade tensorflow"], "3.10.12", None),
        (["%tensorflow_version 1.x"], "3.10.12", 2),
        (["import keras"], "3.7.3", 2),
        (["import keras"], "2.7.15", 2),
        (["import keras"], "3.11.1", None),
        (["import keras"], None, None),
    ],
)
def test_a_notebook_says_what_it_runs_on(cells, python, major):
    found = of_notebook(cells, {"language_info": {"version": python}} if python else None)
    assert (found.major if found else None) == major


@pytest.mark.parametrize(
    ("cells", "python", "first"),
    [
        (["!pip install tensorflow==1.15"], "3.7.3", True),
        (["!pip install 'tensorflow<2'"], "3.7.3", True),
        (["!pip install 'tensorflow<2.16'"], "3.7.3", False),
        (["!pip install keras==2.3.1"], "3.7.3", True),
        (["!pip install keras==2.6"], "3.7.3", False),
        (["%tensorflow_version 1.x"], "3.10.12", True),
        (["%tensorflow_version 2.x"], "3.10.12", False),
        (["import keras"], "3.6.8", True),
        (["import keras"], "3.8.1", False),
        (["x = tf.placeholder(tf.float32)"], "3.5.2", True),
        (["from keras import layers", "import tensorflow as tf\n@tf.function\ndef f(): ..."], "3.6.8", False),
        (["from tensorflow.keras import layers"], "3.6.8", False),
    ],
)
def test_a_notebook_says_whether_it_runs_on_tensorflow_1(cells, python, first):
    found = of_notebook(cells, {"language_info": {"version": python}})
    assert found is not None and found.major == 2 and found.tensorflow_1 is first
    assert found.older_optimizers or not first


_KERAS_1_WINDOWS = """\
from keras.layers import Convolution2D
from keras.models import Sequential

model = Sequential()
model.add(Convolution2D(32, 3, 3, input_shape=(16, 16, 1)))
model.add(Convolution2D(32, 3, 3))
model.add(Convolution2D(32, 3, 3))
"""
_OLD_HISTORY = """\
import numpy as np
from keras.callbacks import ModelCheckpoint
from keras.layers import Dense
from keras.models import Sequential

model = Sequential([Dense(1, input_shape=(4,))])
model.compile("adam", loss="mse", metrics=["accuracy"])
best = ModelCheckpoint("best.{val_acc:.2f}.h5", monitor="val_loss")
model.fit(np.zeros((8, 4)), np.zeros((8, 1)), validation_split=0.5, callbacks=[best])
"""
_SHARED_OPTIMIZER = """\
import numpy as np
import tensorflow as tf

x = np.zeros((8, 4))
one = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
other = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
sgd = tf.keras.optimizers.SGD(0.1)
one.compile(optimizer=sgd, loss="mse")
other.compile(optimizer=sgd, loss="mae")
one.fit(x, x[:, 0])
other.fit(x, x[:, 0])
"""
_VARIABLE_IN_LOSS = """\
import tensorflow as tf
from keras.layers import Dense
from keras.models import Sequential


def loss(y_true, y_pred):
    scale = tf.Variable(1.0)
    return tf.reduce_mean(tf.square(y_true - y_pred)) * scale


model = Sequential([Dense(1, input_shape=(4,))])
model.compile("adam", loss=loss)
"""


@pytest.mark.parametrize(
    ("program", "cause", "older", "newer"),
    [
        (_KERAS_1_WINDOWS, "FIT306", "keras==2.2.4", "tensorflow==2.10.0"),
        (_OLD_HISTORY, "FIT322", "keras==2.2.4", "tensorflow==2.10.0"),
        (_VARIABLE_IN_LOSS, "FIT501", "keras==2.2.4", "tensorflow==2.10.0"),
        (_SHARED_OPTIMIZER, "FIT504", "tensorflow<2.11", "tensorflow==2.12.0"),
    ],
)
def test_what_an_older_tensorflow_accepts_is_no_finding(tmp_path, program, cause, older, newer):
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(program, "utf-8")
    found = []
    for pin in (older, newer):
        (tmp_path / "requirements.txt").write_text(f"{pin}\n", "utf-8")
        of_folder.cache_clear()
        judged = lint_files(discover([str(tmp_path)]), Wishes(), 1)
        found.append({each.id for each in judged.diagnosis.findings})
    assert cause not in found[0]
    assert cause in found[1]


def test_a_file_imported_only_for_an_older_keras_is_not_judged_for_keras_3(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "older_ops.py").write_text(
        "import keras.backend as K\n\n\ndef mean(x):\n    return K.mean(x)\n", "utf-8"
    )
    choosing = "import keras\n\nis_old = keras.__version__ < '3'\nif is_old:\n    import older_ops as ops\n"
    (tmp_path / "backend.py").write_text(f"{choosing}else:\n    from keras import ops\n", "utf-8")
    files = discover([str(tmp_path)])
    assert lint_files(files, Wishes(keras=3), 1).diagnosis.findings == ()
    (tmp_path / "other.py").write_text("import older_ops\n", "utf-8")
    found = lint_files(discover([str(tmp_path)]), Wishes(keras=3), 1).diagnosis.findings
    assert [each.id for each in found] == ["FIT902"]


def test_a_requirement_is_read_with_its_versions():
    assert requirement("TensorFlow_CPU [and-cuda] >= 2.3, < 2.6 ; x") == ("tensorflow-cpu", ">=2.3,<2.6")
    assert requirement("-r other.txt") is None and requirement("numpy==1") is None


@pytest.mark.parametrize(
    ("imports", "major"),
    [
        ("import tensorflow as tf, tf_keras", 2),
        ("import tensorflow as tf\nimport tf_keras as keras", 2),
        ("import tf_keras, keras", 3),
        ("from tensorflow import keras, data\nimport tf_keras", 3),
        ("import keras", 3),
    ],
)
def test_imports_decide_in_one_file(imports, major):
    assert source_from_text(imports + "\n", "a.py").keras == major
