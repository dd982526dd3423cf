"""Which Keras a project uses, from what it pins, installs and imports."""

from __future__ import annotations

import json

import pytest

from fitdoctor.cli.discover import discover
from fitdoctor.cli.lint_files import Wishes, lint_files
from fitdoctor.source.keras_version import (
    Assumed,
    of_folder,
    of_notebook,
    of_program,
    of_separate_programs,
    requirement,
)
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
        (["import keras"], "3.1.undefined", None),
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
_SELF_AS_ARGUMENT = """\
import keras


class Net(keras.Model):
    def __init__(self, name="net"):
        super().__init__(self, name=name)
        self.dense = keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)


Net()
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
        (_SELF_AS_ARGUMENT, "FIT308", "tensorflow==2.10.0", "tensorflow==2.17.0"),
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


@pytest.mark.parametrize(
    ("name", "text", "major"),
    [
        ("requirements.txt", "tensorflow\ntensorflow_addons\n", 2),
        ("requirements.txt", "tensorflow>=2.16\nkeras2onnx\n", 3),
        (".travis.yml", "install:\n  - pip install tensorflow==1.12\n", 2),
        ("README.md", "Requirements: Python 3.6, TensorFlow 2.3.1", 2),
        ("README.md", "* **tensorflow==1.15**\n* keras==2.3", 2),
        ("README.md", "Run with `numpy` (version 1.15) and `tensorflow` (version 1.12)", 2),
        ("README.md", "<li><code>tensorflow</code> (version 1.12)</li>", 2),
        ("README.md", "Needs TensorFlow 2.3 or later", None),
        ("README.md", "Needs TensorFlow 2.3+", None),
        ("README.md", "A TensorFlow 2.0 implementation", None),
        ("README.md", "Runs on TensorFlow 1.15 and on TensorFlow 2.17", None),
        ("README.md", "With TensorFlow 2.17, set **TF_USE_LEGACY_KERAS=1**", 2),
        ("Dockerfile", "ENV TF_USE_LEGACY_KERAS=1\nRUN pip install tensorflow==2.17.0\n", 2),
        ("Dockerfile", "ARG IMAGE=nvcr.io/nvidia/tensorflow:21.02-tf2-py3\nFROM ${IMAGE}\n", 2),
        ("Dockerfile", "FROM nvcr.io/nvidia/tensorflow:25.01-tf2-py3\n", None),
        ("README.md", "Unset TF_USE_LEGACY_KERAS", None),
    ],
)
def test_what_other_packages_and_a_readme_say(tmp_path, name, text, major):
    (tmp_path / ".git").mkdir()
    (tmp_path / name).write_text(text, "utf-8")
    of_folder.cache_clear()
    found = of_folder(str(tmp_path))
    assert (found.major if found is not None else None) == major


def test_the_newest_version_in_a_readme_counts(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "README.md").write_text(
        "For TensorFlow 2.1; the one for TensorFlow 1.13 is elsewhere", "utf-8"
    )
    found = of_folder(str(tmp_path))
    assert found is not None
    assert found.reason == "README.md requires tensorflow==2.1"
    assert not found.tensorflow_1


def test_a_readme_tells_the_tensorflow_that_a_package_of_keras_2_leaves_open(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "setup.py").write_text('setup(install_requires=["keras>=2.3.1", "keras-resnet"])\n', "utf-8")
    of_folder.cache_clear()
    found = of_folder(str(tmp_path))
    assert found is not None
    assert not found.tensorflow_1
    (tmp_path / "README.rst").write_text("tensorflow==1.13.1\n\nKeras==2.2.4\n", "utf-8")
    of_folder.cache_clear()
    found = of_folder(str(tmp_path))
    assert found is not None
    assert found.tensorflow_1


def test_a_program_that_imports_a_package_of_keras_2_is_for_keras_2():
    assert of_program("import tensorflow_addons as tfa\n") == Assumed(
        2, "the program imports tensorflow_addons"
    )
    assert (
        of_program("try:\n    import tensorflow_addons as tfa\nexcept ImportError:\n    tfa = None\n") is None
    )


def test_the_scripts_of_a_repository_share_their_keras(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text("import keras\n\nkeras.optimizers.Adam(lr=0.1)\n", "utf-8")
    of_folder.cache_clear()
    assert [each.id for each in lint_files(discover([str(tmp_path)]), Wishes(), 1).diagnosis.findings] == [
        "FIT902"
    ]
    (tmp_path / "augment.py").write_text("import tensorflow_addons as tfa\n", "utf-8")
    judged = lint_files(discover([str(tmp_path)]), Wishes(), 1)
    assert judged.diagnosis.findings == ()
    assert len(judged.moves) == 1


def test_a_folder_of_old_programs_without_pins_is_for_keras_2(tmp_path):
    (tmp_path / ".git").mkdir()
    old = "from keras.layers.core import Dense\n\nmodel.fit_generator(batches)\n"
    for name in ("digits.py", "houses.py", "reviews.py"):
        (tmp_path / name).write_text(old, "utf-8")
    (tmp_path / "flowers.py").write_text("import keras\n\nkeras.layers.Dense(1)\n", "utf-8")
    judged = lint_files(discover([str(tmp_path)]), Wishes(), 1)
    assert judged.diagnosis.findings == ()
    assert judged.assumed == {Assumed(2, "3 of 4 programs use what Keras 3 removed")}
    assert len(judged.moves) >= 3
    assert lint_files(discover([str(tmp_path)]), Wishes(keras=3), 1).diagnosis.findings
    assert lint_files(discover([str(tmp_path / "digits.py")]), Wishes(), 1).diagnosis.findings


_PRIVATE = "import numpy as np\nfrom tensorflow.python.keras.models import Sequential\n"


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"new.py": "from keras import ops\n"}, id="one is for Keras 3"),
        pytest.param({"train.py": "import keras\nimport one, two\n"}, id="one program of several files"),
        pytest.param({f"open{at}.py": "import keras\n" for at in range(3)}, id="no majority"),
    ],
)
def test_programs_that_are_not_clearly_old_are_judged_by_the_installed_keras(other):
    old = {f"{name}.py": "from keras.utils import np_utils\n" for name in ("one", "two", "three")}
    assert of_separate_programs(old)
    assert of_separate_programs(old | {f"open{at}.py": _PRIVATE for at in range(9)})
    assert not of_separate_programs(old | other)


def test_what_only_a_fallback_imports_is_a_fallback(tmp_path):
    (tmp_path / ".git").mkdir()
    for name, text in {
        "net.py": "import tensorflow as tf\n\nif tf.__version__ < '2':\n    import old\nelse:\n    import new\n",
        "old.py": "import older\n",
        "older.py": "import tensorflow as tf\n\ntf.set_random_seed(1)\n",
        "new.py": "import tensorflow as tf\n\ntf.random.set_seed(1)\n",
        "test_old.py": "import older\n",
    }.items():
        (tmp_path / name).write_text(text, "utf-8")
    files = discover([str(tmp_path)])
    assert lint_files(files, Wishes(keras=3), 1).diagnosis.findings == ()
    unused = "import older\n\n\ndef net():\n    return older\n"
    (tmp_path / "flow.py").write_text(unused, "utf-8")
    files = discover([str(tmp_path)])
    assert lint_files(files, Wishes(keras=3), 1).diagnosis.findings == ()
    (tmp_path / "train.py").write_text("import older\n", "utf-8")
    found = lint_files(discover([str(tmp_path)]), Wishes(keras=3), 1).diagnosis.findings
    assert [each.id for each in found] == ["FIT406"]


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


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('assert tf.__version__ == "2.0.0"\n', 2),
        ('assert tf.__version__.startswith("2.4")\n', 2),
        ("if not tf.__version__ == '2.0.0-beta1':\n    raise Exception('another version')\n", 2),
        ('if tf.__version__ != "2.19.0":\n    raise RuntimeError\n', 3),
        ('assert tf.__version__.startswith("2.")\n', None),
        ('print(tf.__version__ == "2.0.0")\n', None),
        ('if tf.__version__ != "2.0.0":\n    print("untested")\n', None),
    ],
)
def test_a_program_that_stops_on_other_versions_says_what_it_runs_on(text, major):
    found = of_program("import tensorflow as tf\n" + text)
    assert (found.major if found else None) == major


_SHARED_OPTIMIZER = """\
import tensorflow as tf
if tf.__version__ != "{}":
    raise Exception("another version")
first = tf.keras.Sequential([tf.keras.layers.Dense(1)])
second = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
x = tf.ones((4, 2))
for model in (first, second):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
with tf.GradientTape(persistent=True) as tape:
    loss = tf.reduce_mean(first(x) + second(x))
optimizer.apply_gradients(zip(tape.gradient(loss, first.trainable_variables), first.trainable_variables))
optimizer.apply_gradients(zip(tape.gradient(loss, second.trainable_variables), second.trainable_variables))
"""


def test_one_optimizer_is_judged_by_the_version_that_the_program_asks_for(tmp_path):
    def ids(version):
        path = tmp_path / f"train_{version}.py"
        path.write_text(_SHARED_OPTIMIZER.format(version))
        found = lint_files(discover([str(path)]), Wishes(), jobs=1).diagnosis.findings
        return [finding.id for finding in found]

    assert "FIT504" in ids("2.19.0")
    assert "FIT504" not in ids("2.0.0")


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ([], ["FIT502"]),
        ([{"output_type": "stream", "text": ["Epoch 1/3\n", "8/8 [===] - loss: 0.5\n"]}], []),
        ([{"output_type": "error", "ename": "ValueError", "evalue": "", "traceback": []}], ["FIT502"]),
    ],
)
def test_saved_output_that_shows_a_training_outweighs_an_error(tmp_path, output, expected):
    made = (
        "import tensorflow as tf\n"
        "class Text(tf.keras.Model):\n"
        "    def call(self, inputs):\n"
        "        return tf.keras.layers.Dense(1)(inputs)\n"
    )
    trained = 'model = Text()\nmodel.compile("adam", "mse")\nmodel.fit(tf.ones((8, 3)), tf.ones((8, 1)), epochs=3)\n'
    cells = [{"cell_type": "code", "source": text, "outputs": []} for text in (made, trained)]
    cells[1]["outputs"] = output
    path = tmp_path / "text.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {"language_info": {"version": "3.6.9"}}}))
    found = lint_files(discover([str(path)]), Wishes(), jobs=1).diagnosis.findings
    assert [finding.id for finding in found if finding.severity.value == "error"] == expected


def test_what_theano_computes_is_not_judged_as_traced(tmp_path):
    loss = "import numpy as np\nimport keras\n\n\ndef loss(y_true, y_pred):\n    return np.log(y_pred)\n"
    trained = "\n\nmodel = keras.Sequential()\nmodel.compile('sgd', loss)\n"
    for first, ids in (("", ["FIT407"]), ("import theano\n", [])):
        (tmp_path / "net.py").write_text(first + loss + trained, "utf-8")
        found = lint_files(discover([str(tmp_path)]), Wishes(), 1).diagnosis.findings
        assert [each.id for each in found] == ids


def test_the_channels_of_a_shipped_dataset_follow_the_setting(tmp_path):
    text = """
import keras

keras.config.set_image_data_format("channels_first")
(x, y), _ = keras.datasets.cifar10.load_data()
model = keras.Sequential([keras.Input((3, 32, 32)), keras.layers.Conv2D(8, 3), keras.layers.Flatten()])
model.compile("sgd", "mse")
model.fit(x / 255, y)
"""
    for wrong in (False, True):
        setting = 'keras.config.set_image_data_format("channels_first")'
        (tmp_path / "net.py").write_text(text.replace(setting, "") if wrong else text, "utf-8")
        found = lint_files(discover([str(tmp_path)]), Wishes(), 1).diagnosis.findings
        assert ("FIT104" in [each.id for each in found]) is wrong


def test_the_keras_inside_tensorflow_is_the_keras_of_a_program_on_keras_2(tmp_path):
    program = """from tensorflow.python.keras.layers import Conv2D, Dense, Flatten, MaxPool2D
from tensorflow.python.keras.models import Sequential

model = Sequential()
model.add(Conv2D(8, (1, 1), input_shape=(13, 1, 1)))
model.add(MaxPool2D())
model.add(Flatten())
model.add(Dense(1, activation="softmax"))
model.compile("adam", "mse")
model.fit(x, y)
"""
    (tmp_path / "train.py").write_text(program, "utf-8")
    found = lint_files(discover([str(tmp_path)]), Wishes(keras=2), 1).diagnosis.findings
    assert {(each.id, each.location and each.location.line) for each in found} == {
        ("FIT306", 6),
        ("FIT209", 8),
    }
