# ruff: noqa: E501  (a table of expressions, one thought a line)
"""What the interpreter says of arrays and of control flow is what Python, NumPy and TensorFlow do, or nothing."""

from __future__ import annotations

import os
import textwrap
from typing import Any

import pytest

from fitdoctor.facts import Unknown
from fitdoctor.source.data.pipelines import leaves
from fitdoctor.source.fits.array_facts import data_shape, statistics_of
from fitdoctor.source.fits.fit_sites import Witness, follow
from fitdoctor.source.interpreter.interpret import Interpreter, run_module
from fitdoctor.source.interpreter.values import Array, Dataset, Plain, Value
from fitdoctor.source.module import Module
from fitdoctor.source.read import source_from_text

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

PREAMBLE = """
import math
import numpy as np
import pandas as pd
import tensorflow as tf
from tensorflow import keras
from sklearn import datasets, preprocessing
from sklearn.model_selection import KFold, train_test_split
rng = np.random.default_rng(0)
x = rng.normal(size=(60, 4)).astype("float32")
images = rng.random((30, 8, 9, 3))
labels = rng.integers(0, 3, 200)
frame = pd.DataFrame({"a": np.arange(50), "b": np.linspace(0.0, 1.0, 50), "y": np.ones(50)})
"""


def followed(text: str) -> Interpreter:
    return run_module(Module(source_from_text(textwrap.dedent(text), "program.py")), Witness())


def value_of(text: str, name: str = "value") -> Value:
    found = followed(text).lookup(name)
    assert found is not None
    return found


# --- arrays, against NumPy itself ---------------------------------------------------------------------------------------

EXPRESSIONS = (
    """
np.zeros((3, 4)) | np.ones(5) | np.full((2, 2), 7) | np.empty((2, 3), dtype="float32") | np.zeros_like(x)
np.arange(10) | np.arange(2, 20, 3) | np.arange(0, 1, 0.1) | np.linspace(0, 1, 7) | np.eye(4) | np.eye(3, dtype="float32")[[0, 2, 1, 1]]
np.array([1, 2, 3]) | np.array([[1.0, 2.0], [3.0, 4.0]]) | np.array([[0, 1], [1, 0]], dtype="float32") | np.array([True, False])
np.array([x[0], x[1]]) | np.array([[i, i + 1] for i in range(6)]) | np.array([x[i:i + 5] for i in range(20)]) | np.array(5.0)
np.random.rand(3, 4) | np.random.randn(10) | np.random.random((4, 2)) | np.random.uniform(0, 1, (5, 2)) | np.random.randint(0, 4, 400)
np.random.randint(0, 2, size=(50, 1)) | np.random.normal(size=(3, 2)) | np.random.choice(5, 300) | np.random.permutation(12)
rng.random(7) | rng.integers(3, size=100) | rng.integers(0, 5, (20, 20)) | rng.normal(0, 1, (6, 2)) | rng.uniform(-1, 1, 9) | rng.standard_normal((2, 2))
rng.choice([1, 2, 3], 200) | rng.permutation(x) | rng.dirichlet(np.ones(3), 10) | rng.poisson(3.0, (5,)) | rng.binomial(1, 0.5, 30)
x.reshape(-1) | x.reshape(-1, 2, 2) | x.reshape((x.shape[0], 4, 1)) | np.reshape(x, (4, -1)) | images.reshape(len(images), -1)
x[0] | x[:, 0] | x[:, 0:1] | x[..., None] | x[:, None, :] | x[::2] | x[-10:] | x[5:5] | x[:, [0, 2]] | x[np.arange(7)] | x[:, np.newaxis]
images[..., 0] | images[:, 1:-1, :, ::2] | images[3, 4] | x[rng.permutation(60)[:20]] | np.expand_dims(x, -1) | np.expand_dims(x, 0)
x.T | np.transpose(images, (0, 3, 1, 2)) | images.transpose(0, 2, 1, 3) | np.moveaxis(images, -1, 1) | np.swapaxes(images, 1, 2) | np.squeeze(x[:, :1]) | x[:, :1].squeeze(axis=1)
np.concatenate([x, x]) | np.concatenate((x, x), axis=1) | np.stack([x, x]) | np.stack([x, x, x], axis=-1) | np.vstack([x[0], x[1]]) | np.hstack([x, x]) | np.column_stack([x[:, 0], x[:, 1]])
np.repeat(np.arange(3), 4) | np.tile(np.arange(3), 2) | np.repeat(x, 2, axis=1) | np.pad(x, ((0, 0), (1, 2))) | x.flatten() | x.ravel()
x + 1 | x * x[:, :1] | x / 255.0 | np.arange(5) / 2 | np.arange(5) * 2 | 1 - np.arange(5) | x > 0 | -x | x @ np.ones((4, 3), "float32") | np.dot(x, x[0]) | np.arange(6) % 2
x.sum(axis=1) | x.mean(axis=0) | x.max(axis=(0, 1)) | x.sum(axis=1, keepdims=True) | np.mean(x, axis=1) | np.argmax(x, axis=1) | x.argmax(axis=-1) | (x[:, 0] > 0).astype(int) | (x.sum(axis=1) > 0).astype("float32")
np.where(x > 0, 1, 0) | np.where(x[:, 0] > 0, x[:, 1], 0.0) | np.clip(x, 0, 1) | np.sqrt(x * x) | np.abs(x) | np.exp(x) | np.maximum(x, 0) | np.log1p(np.arange(4)) | np.cumsum(np.arange(4)) | np.digitize(x[:, 0], [-1.0, 0.0, 1.0])
x.astype("float64") | labels.astype("float32") | np.arange(300).astype("uint8") | labels[:100] | labels.reshape(-1, 1) | (labels * 2 + 1) | labels == 1 | np.sort(labels) | np.argsort(x[:, 0])
keras.utils.to_categorical(labels) | keras.utils.to_categorical(labels, 5) | keras.utils.to_categorical(np.array([[0], [2], [1]])) | keras.utils.pad_sequences([[1, 2], [3]], maxlen=4)
frame.values | frame["a"] | frame[["a", "b"]] | frame[["a", "b"]].values | frame.drop(columns=["y"]) | frame.drop("y", axis=1).to_numpy() | frame["y"].to_numpy() | frame.iloc[:, :-1] | frame.iloc[:10] | frame["b"].values.reshape(-1, 1)
datasets.load_iris().data | datasets.load_iris(return_X_y=True)[1] | datasets.load_digits().target | datasets.make_classification(200, 6)[0] | datasets.make_classification(n_samples=300, n_classes=3, n_informative=4, random_state=0)[1]
datasets.make_regression(n_samples=40, n_features=3)[0] | datasets.make_regression(40, 3, n_targets=2, random_state=1)[1] | datasets.make_blobs(90, centers=4, random_state=3)[1] | datasets.make_moons(50)[0]
preprocessing.StandardScaler().fit_transform(x) | preprocessing.MinMaxScaler().fit_transform(frame) | preprocessing.LabelEncoder().fit_transform(labels) | preprocessing.OneHotEncoder(sparse_output=False).fit_transform(labels.reshape(-1, 1))
train_test_split(x, labels[:60], test_size=0.2)[0] | train_test_split(x, test_size=0.25)[1] | train_test_split(labels, test_size=30)[0] | x[list(KFold(3).split(x))[1][0]] | [test for train, test in KFold(7).split(x)][2]
np.array([0.5] * 6) | np.array([[0] * 4] * 3) | np.array(list(range(5))) | np.array([len(w) for w in "a bb ccc".split()]) | np.ones((2, int(np.ceil(2.2)))) | np.zeros(int(math.sqrt(50)))
tf.zeros((2, 3)) | tf.constant([1.0, 2.0]) | tf.constant([[1], [2]]) | tf.random.normal((3, 2)) | tf.random.uniform((400,), 0, 4, tf.int32) | tf.one_hot([0, 1, 2], 4) | tf.reshape(tf.zeros((4, 6)), (-1, 3)) | tf.expand_dims(tf.zeros((2,)), 1) | tf.cast(tf.constant([1, 2]), tf.float32)
tf.reduce_mean(tf.zeros((2, 3)), axis=1) | tf.reduce_sum(tf.zeros((2, 3)), 1, True) | tf.argmax(tf.zeros((2, 3)), axis=1) | tf.argmax(tf.zeros((2, 3))) | tf.concat([tf.zeros((2, 3)), tf.ones((2, 1))], axis=1) | tf.matmul(tf.zeros((5, 2, 3)), tf.zeros((5, 4, 3)), transpose_b=True) | tf.matmul(tf.zeros((3, 3)), tf.zeros((3, 3)), transpose_a=True) | tf.convert_to_tensor(x)
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)


@pytest.fixture(scope="module")
def world() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(PREAMBLE, names)
    return names


@pytest.mark.tf
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_array_is_what_numpy_makes_it(expression: str, world: dict[str, Any]) -> None:
    import numpy as np

    truth = eval(expression, dict(world))
    value = value_of(PREAMBLE + f"value = {expression}\n")
    assert isinstance(value, Array), value
    assert not isinstance(value.dims, Unknown)
    assert len(value.dims) == len(truth.shape)
    told = [(dim, int(real)) for dim, real in zip(value.dims, truth.shape, strict=True)]
    assert all(isinstance(dim, Unknown) or dim == real for dim, real in told), value.dims
    if not isinstance(value.dtype, Unknown):
        kinds = (
            {str(kind) for kind in truth.dtypes} if hasattr(truth, "dtypes") and truth.ndim == 2 else set()
        )
        name = truth.dtype.name if hasattr(truth, "dtype") else "float64" if len(kinds) > 1 else kinds.pop()
        assert value.dtype == name
    statistics = statistics_of(value)
    if not isinstance(statistics, Unknown):
        real = np.asarray(truth)
        if statistics.minimum is None:  # full of fractions, between ends that are not told
            assert value.fractions
            assert np.all(real != np.floor(real))
            return
        assert statistics.minimum == pytest.approx(float(real.min()))
        assert statistics.maximum == pytest.approx(float(real.max()))
        assert not statistics.integral or bool(np.all(real == np.floor(real)))


def test_most_of_these_arrays_are_known_to_the_last_axis() -> None:
    told = [value_of(PREAMBLE + f"value = {expression}\n") for expression in EXPRESSIONS]
    known = [
        value for value in told if isinstance(value, Array) and None not in (data_shape(value) or (None,))
    ]
    assert len(known) > 0.95 * len(EXPRESSIONS)


PIPELINES = (
    """
tf.data.Dataset.from_tensor_slices(x) | tf.data.Dataset.from_tensor_slices((x, x[:, 0])).batch(7)
tf.data.Dataset.from_tensor_slices((x, x[:, 0])).shuffle(60).batch(8, drop_remainder=True).prefetch(2)
tf.data.Dataset.from_tensor_slices({"a": x, "b": x[:, :2]}).batch(10) | tf.data.Dataset.from_tensor_slices((x, x)).repeat().batch(4)
tf.data.Dataset.from_tensor_slices((x, x)).batch(4).take(3) | tf.data.Dataset.from_tensor_slices(x).skip(50).repeat(2)
tf.data.Dataset.from_tensor_slices((x, x[:, 0])).map(lambda a, b: (a[:2] / 2.0, tf.cast(b, tf.int32))).batch(5)
tf.data.Dataset.from_tensor_slices(x).map(lambda a: (a, {"out": tf.reduce_sum(a)})).batch(6)
tf.data.Dataset.zip((tf.data.Dataset.from_tensor_slices(x), tf.data.Dataset.range(9))).batch(2)
tf.data.Dataset.from_tensor_slices((x, x)).batch(8).unbatch() | tf.data.Dataset.from_tensors(x) | tf.data.Dataset.range(5).batch(2)
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)


@pytest.mark.tf
@pytest.mark.parametrize("expression", PIPELINES)
def test_a_pipeline_is_what_tensorflow_makes_it(expression: str, world: dict[str, Any]) -> None:
    import tensorflow as tf

    truth = eval(expression, dict(world))
    value = value_of(PREAMBLE + f"value = {expression}\n")
    assert isinstance(value, Dataset)
    parts = leaves(value.element)
    specs = tf.nest.flatten(truth.element_spec)
    assert parts is not None
    assert [data_shape(part) for part in parts] == [tuple(spec.shape) for spec in specs]
    assert [part.dtype for part in parts] == [spec.dtype.name for spec in specs]
    count = int(truth.cardinality().numpy())
    if not isinstance(value.count, Unknown):
        assert value.count == (None if count == -1 else count)


# --- control flow -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("value = 1\nif True:\n    value = 2", 2),
        ("value = [1, 2, 3][-1] + len('abc')", 6),
        ("value = 0\nfor i in range(5):\n    value += i", 10),
        ("value = 0\nfor i in range(9):\n    if i == 3:\n        break\n    value = i", 2),
        ("value = 0\nfor a, b in zip([1, 2], (3, 4)):\n    value = value + a * b", 11),
        ("def f(n, k=2):\n    return n * k\nvalue = f(5)", 10),
        ("def f(n):\n    if n == 0:\n        return 1\n    return 2\nvalue = f(0)", 1),
        ("N = 1\ndef f():\n    global N\n    N = 7\nf()\nvalue = N", 7),
        (
            "def outer():\n    k = 1\n    def inner():\n        nonlocal k\n        k = 4\n    inner()\n    return k\nvalue = outer()",
            4,
        ),
        (
            "class C:\n    size = 3\n    def __init__(self, n):\n        self.n = n\n    def total(self):\n        return self.n * self.size\nvalue = C(4).total()",
            12,
        ),
        (
            "from dataclasses import dataclass\n@dataclass\nclass C:\n    a: int\n    b: int = 5\nvalue = C(2).a + C(2).b",
            7,
        ),
        ("d = {'a': 1}\nd['b'] = 2\nvalue = sum(d.values())", 3),
        ("x = [1]\ny = x\ny.append(2)\nvalue = len(x)", 2),
        ("try:\n    value = 3\nfinally:\n    pass", 3),
        ("with open('f') as f:\n    value = 8", 8),
        ("if __name__ == '__main__':\n    value = 9\nelse:\n    value = 0", 9),
        ("value = (lambda n: n + 1)(2)", 3),
        ("value = f'{3}-{\"a\"}'", "3-a"),
        ("a, *b = (1, 2, 3)\nvalue = b[1] + a", 4),
        ("value = [i * j for i in range(3) for j in range(2) if i != j][-1]", 2),
        ("from functools import partial\ndef f(a, b):\n    return a - b\nvalue = partial(f, b=1)(5)", 4),
    ],
)
def test_plain_python_is_followed(text: str, expected: object) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    if "open(" not in text:
        exec(text, names)
        assert names["value"] == expected
    assert value_of(text) == Plain(expected)


@pytest.mark.parametrize(
    "text",
    [
        "import os\nvalue = 1\nif os.environ.get('A'):\n    value = 2",
        "import sys\nvalue = 0\nfor argument in sys.argv:\n    value += 1",
        "value = 0\nwhile unknown():\n    value = value + 1",
        "import sys\nvalue = int(sys.argv[1])",
        "value = 1\ntry:\n    value = 2\n    risky()\nexcept OSError:\n    value = 3",
        "from somewhere import change\nbox = [1]\nchange(box)\nvalue = box[0]",
        "from somewhere import change\nclass C:\n    pass\nc = C()\nc.n = 1\nchange(c)\nvalue = c.n",
        "from somewhere import decorate\n@decorate\ndef f():\n    return 1\nvalue = f()",
        "def f(n):\n    return f(n + 1)\nvalue = f(0)",
        "box = {'a': 1}\nbox[unknown()] = 2\nvalue = box['a']",
        "import random\nbox = [1, 2]\nrandom.shuffle(box)\nvalue = box[0]",
        "value = 1\nfor i in range(100000):\n    value = value + i",
        "value = 1\nmatch unknown():\n    case 1:\n        value = 2",
        "def f(a, b=unknown()):\n    return b\nvalue = f(1)",
        "value = 2 ** 10 ** 9",
    ],
)
def test_what_the_source_does_not_tell_is_unknown(text: str) -> None:
    assert isinstance(value_of(text), Unknown)


def test_a_rank_that_both_branches_agree_on_is_kept() -> None:
    value = value_of(
        """
        import numpy as np, os
        if os.environ.get("BIG"):
            value = np.zeros((1000, 8), "float32")
        else:
            value = np.zeros((10, 8), "float32")
        """
    )
    assert isinstance(value, Array)
    assert data_shape(value) == (None, 8)


def test_memory_that_was_written_to_has_lost_its_range() -> None:
    text = "import numpy as np\nlabels = np.random.randint(0, 3, 500)\nview = labels[:]\n"
    before, after = value_of(text + "value = view"), value_of(text + "labels[0] = 99\nvalue = view")
    assert isinstance(before, Array)
    assert isinstance(after, Array)
    assert not isinstance(statistics_of(before), Unknown)
    assert isinstance(statistics_of(after), Unknown)


def test_too_few_draws_do_not_promise_the_ends_of_the_range() -> None:
    few = value_of("import numpy as np\nvalue = np.random.randint(0, 10, 50)")
    many = value_of("import numpy as np\nvalue = np.random.randint(0, 10, 500)")
    assert isinstance(few, Array)
    assert isinstance(many, Array)
    assert isinstance(statistics_of(few), Unknown)
    assert statistics_of(many).maximum == 9  # type: ignore[union-attr]


def test_a_column_set_later_changes_every_name_of_the_table() -> None:
    text = (
        "import pandas as pd, numpy as np\ndf = pd.DataFrame({'a': np.arange(9)})\nother = df\ndf['b'] = 1\n"
    )
    grown, alias = value_of(text + "value = df"), value_of(text + "value = other")
    assert isinstance(grown, Array)
    assert isinstance(alias, Array)
    assert data_shape(grown) == (9, 2)
    assert data_shape(alias) == (9, 2)


def test_windows_of_a_series_are_followed_through_the_loop() -> None:
    value = value_of(
        """
        import numpy as np
        def windows(series, size):
            X, y = [], []
            for i in range(len(series) - size):
                X.append(series[i:i + size])
                y.append(series[i + size])
            return np.array(X), np.array(y)
        X, y = windows(np.sin(np.arange(300) / 10), 12)
        value = X.reshape(X.shape[0], X.shape[1], 1)
        """
    )
    assert isinstance(value, Array)
    assert data_shape(value) == (288, 12, 1)


@pytest.mark.parametrize(
    "text",
    [
        "import keras\n" + "".join(f"v{i} = {i}\n" for i in range(20000)),
        "import keras\nfor a in range(900):\n    for b in range(900):\n        for c in range(900):\n            d = a * b * c\n",
        "import keras\ndef f(n):\n    return f(n) + f(n) + f(n)\nf(1)\n",
        "import keras\nx = [[[i + j + k for i in range(90)] for j in range(90)] for k in range(90)]\n",
        "import keras\nvalue = " + "+".join("1" for _ in range(700)) + "\n",
        "import keras\nasync def f():\n    async for a in b():\n        yield a\n    await c\n",
        "import keras\nclass A(B, metaclass=C):\n    x: int = 3\n    @property\n    def y(self): return self.y\nA().y\n",
    ],
)
def test_hard_files_end_in_time_and_do_not_crash(text: str) -> None:
    import time

    started = time.monotonic()
    follow(Module(source_from_text(text, "hard.py")))
    assert time.monotonic() - started < 20
