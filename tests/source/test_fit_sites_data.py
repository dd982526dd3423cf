"""What the source alone tells of the data of a call of fit."""

from __future__ import annotations

import textwrap

import pytest

from fitdoctor.facts import ArrayFacts, Unknown
from tests.source.followed_programs import MODEL, site


def x_and_y(text: str) -> tuple[ArrayFacts, ArrayFacts]:
    (data,) = site(MODEL + text).data[:1]
    return data.x[0], data.y[0]


def test_lists_stay_lists() -> None:
    features, labels = x_and_y("a = [[1, 2], [3, 4], [5, 6]]\nmodel.fit(a, [0, 1, 1])")
    assert (features.container, features.shape, features.dtype) == ("list", (3, 2), "int")
    assert (labels.container, labels.shape) == ("list", (3,))
    samples = site(MODEL + "rows = [np.zeros(8) for _ in range(4)]\nmodel.fit(rows, y)").data[0]
    assert (samples.x_structure, [part.path for part in samples.x]) == (
        "list",
        ["x[0]", "x[1]", "x[2]", "x[3]"],
    )


def test_written_out_labels_have_complete_statistics() -> None:
    _, labels = x_and_y("model.fit(np.zeros((4, 8)), np.array([1, 2, 3, 3]))")
    statistics = labels.statistics
    assert not isinstance(statistics, Unknown)
    assert (statistics.complete, statistics.minimum, statistics.maximum, statistics.integral) == (
        True,
        1,
        3,
        True,
    )
    assert statistics.histogram == ((1.0, 1), (2.0, 1), (3.0, 2))


def test_one_hot_labels_say_so() -> None:
    _, labels = x_and_y("model.fit(x, keras.utils.to_categorical(y, 3))")
    assert labels.shape == (100, 3)
    assert labels.statistics.row_sums == (1.0, 1.0)  # type: ignore[union-attr]


def test_bundled_data_has_its_true_shapes() -> None:
    text = """
    (a, b), (c, d) = keras.datasets.mnist.load_data()
    a = a.reshape(-1, 784).astype("float32") / 255.0
    model.fit(a, b, validation_data=(c, d))
    """
    training, validation = site(MODEL + textwrap.dedent(text)).data
    assert (training.x[0].shape, training.x[0].dtype) == ((60000, 784), "float32")
    assert training.x[0].statistics.maximum == 1.0  # type: ignore[union-attr]
    assert (training.y[0].shape, training.y[0].statistics.maximum) == ((60000,), 9)  # type: ignore[union-attr]
    assert (validation.role, validation.x[0].path, validation.x[0].shape) == (
        "validation",
        "validation_data[0]",
        (10000, 28, 28),
    )


@pytest.mark.parametrize(
    ("made", "shape"),
    [
        ("np.loadtxt('a.csv')[:, 0:8]", (None, 8)),
        ("pd.read_csv('a.csv').iloc[:, :8].values", (None, 8)),
        ("np.lib.stride_tricks.sliding_window_view(np.zeros(30), 8)", (23, 8)),
        ("np.array([s[i : i + 8] for i in range(len(s) - 8)])", (None, 8)),
    ],
)
def test_columns_and_windows_that_are_named_are_there(made: str, shape: tuple[int | None, ...]) -> None:
    head = "import pandas as pd\ns = np.loadtxt('a.csv')[:, 0]\n"
    assert x_and_y(f"{head}model.fit({made}, y)")[0].shape == shape


def test_lengths_that_differ_are_told() -> None:
    (data,) = site(MODEL + "model.fit(x, np.zeros(90))").data
    assert isinstance(data.samples, Unknown)
    assert "differ in length" in data.samples.reason
    assert (data.x[0].shape, data.y[0].shape) == ((100, 8), (90,))


def test_a_pipeline_is_told_step_by_step() -> None:
    text = """
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    ds = ds.shuffle(100).map(lambda a, b: (a * 2, tf.one_hot(b, 3)))
    model.fit(ds.batch(16), validation_data=ds)
    """
    training, validation = site(MODEL + textwrap.dedent(text)).data
    assert (training.form, training.batch_size, training.batches, training.endless) == (
        "dataset",
        16,
        7,
        False,
    )
    assert [step.operation for step in training.pipeline] == ["from_tensor_slices", "shuffle", "map", "batch"]
    assert training.pipeline[1].arguments == (("buffer_size", "100"),)
    assert [spec.shape for spec in training.pipeline[2].specs] == [(8,), (3,)]
    assert (training.x[0].shape, training.y[0].shape) == ((None, 8), (None, 3))
    assert (training.element, training.element_size) == ("tuple of 2", 2)
    assert isinstance(validation.batch_size, Unknown)
    assert (validation.x[0].shape, [step.operation for step in validation.pipeline][-1]) == ((8,), "map")


def test_a_generator_is_told_by_what_it_yields() -> None:
    text = """
    def batches(size):
        while True:
            rows = np.random.randint(0, len(x), size)
            yield x[rows], y[rows]

    model.fit(batches(20), steps_per_epoch=5)
    """
    (data,) = site(MODEL + textwrap.dedent(text)).data
    assert (data.form, data.endless, data.element) == ("generator", True, "tuple of 2")
    assert (data.x[0].shape, data.y[0].shape) == ((None, 8), (None,))


def test_class_weights_and_sample_weights() -> None:
    found = site(MODEL + "w = {0: 1.0, 1: 2.5}\nmodel.fit(x, y, class_weight=w, sample_weight=np.ones(100))")
    assert found.fit.class_weight is not None
    assert found.fit.class_weight.keys == ("0", "1")
    assert found.data[0].sample_weight[0].shape == (100,)


def test_a_map_function_is_followed_although_its_arguments_are_unknown() -> None:
    text = """
    def prepare(path, label):
        image = tf.image.resize(tf.io.decode_png(tf.io.read_file(path), 3), (16, 16))
        return tf.reshape(image, (768,)), label

    ds = tf.data.Dataset.from_tensor_slices(unknown()).map(prepare).batch(8)
    model.fit(ds)
    """
    features, _ = x_and_y(textwrap.dedent(text))
    assert features.shape == (None, 768)
