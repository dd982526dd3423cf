"""Facts about pipelines, generators and PyDatasets."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fitdoctor.collect.budget import Budget
from fitdoctor.collect.codes import Codes
from fitdoctor.collect.data import Collected, Given, collect_data
from fitdoctor.collect.effects import effects_of
from fitdoctor.collect.sharding import sharding_of
from fitdoctor.facts import Statistics, Unknown
from fitdoctor.facts.data import Sharding

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

pytestmark = [pytest.mark.tf, pytest.mark.filterwarnings("ignore")]
X = np.arange(120, dtype="float32").reshape(40, 3)
Y = np.arange(40) % 5
IMAGES = np.random.default_rng(0).random((24, 6, 6, 1)).astype("float32")


def collect(x: Any, **given: Any) -> Collected:
    # Time enough that a loaded machine does not decide what is seen.
    budget = Budget(feature_seconds=30.0, label_seconds=30.0, dataset_seconds=30.0)
    return collect_data(Given(x=x, **given), "training", budget, Codes())


def test_a_pipeline_in_memory_is_known_completely() -> None:
    data = (
        tf.data.Dataset.from_tensor_slices((X, Y))
        .cache()
        .shuffle(40)
        .batch(16, drop_remainder=True)
        .prefetch(2)
    )
    found = collect(data).facts
    assert found.form == "dataset"
    assert [step.operation for step in found.pipeline] == [
        "from_tensor_slices", "cache", "shuffle", "batch", "prefetch",
    ]  # fmt: skip
    assert dict(found.pipeline[3].arguments) == {"batch_size": "16", "drop_remainder": "True"}
    assert (found.batches, found.endless, found.samples, found.batch_size) == (2, False, 40, 16)
    assert found.x[0].shape == (16, 3)
    assert (found.element, found.element_size) == ("tuple of 2", 2)
    labels = found.y[0].statistics
    assert isinstance(labels, Statistics)
    assert (labels.count, labels.complete, labels.maximum) == (40, True, 4.0)
    assert labels.histogram is not None
    assert len(labels.histogram) == 5


def test_labels_are_followed_through_a_function_and_features_are_computed() -> None:
    data = tf.data.Dataset.from_tensor_slices((X, Y)).map(lambda x, y: (x * 2.0, y)).batch(8).repeat()
    found = collect(data).facts
    assert found.endless is True
    features, labels = found.x[0].statistics, found.y[0].statistics
    assert isinstance(features, Statistics)
    assert isinstance(labels, Statistics)
    assert features.maximum == 238.0
    assert labels.complete


def test_dict_elements_keep_their_keys() -> None:
    data = tf.data.Dataset.from_tensor_slices(({"b": X, "a": X + 1000}, Y)).batch(4)
    found = {array.path: array.statistics for array in collect(data).facts.x}
    assert list(found) == ["x['b']", "x['a']"] or list(found) == ["x['a']", "x['b']"]
    assert isinstance(found["x['a']"], Statistics)
    assert found["x['a']"].minimum == 1000.0


def test_rows_are_taken_and_skipped() -> None:
    data = tf.data.Dataset.from_tensor_slices(X)
    taken = collect(data.take(10).batch(5)).facts.x[0].statistics
    assert isinstance(taken, Statistics)
    assert (taken.count, taken.maximum) == (10, 29.0)
    unclear = collect(data.shuffle(40).take(10).batch(5)).facts.x[0].statistics
    assert isinstance(unclear, Unknown)


def test_code_with_effects_is_not_run() -> None:
    runs = []

    def rows() -> Iterator[Any]:
        runs.append(1)
        yield X[0]

    def effect(x: Any) -> Any:
        return tf.py_function(lambda v: (runs.append(1), v)[1], [x], tf.float32)

    spec = tf.TensorSpec((3,), tf.float32)
    found = collect(tf.data.Dataset.from_generator(rows, output_signature=spec).batch(2)).facts
    assert found.pipeline[0].operation == "from_generator"
    assert isinstance(found.x[0].statistics, Unknown)
    collect(tf.data.Dataset.from_tensor_slices(X).map(effect).batch(2))
    assert runs == []


def test_a_generator_that_opens_its_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c\n0.5,0.25,0.75\n")

    def rows() -> Iterator[Any]:
        with open(path) as file:
            reader = csv.reader(file)
            next(reader)
            for row in reader:
                yield [float(each) for each in row]

    spec = tf.TensorSpec((3,), tf.int32)
    (part,) = collect(tf.data.Dataset.from_generator(rows, output_signature=spec).batch(2)).facts.yielded
    assert (part.shape, part.dtype) == ((3,), "float64")


def _appends(path: str) -> Iterator[Any]:
    with open(path, "a") as file:
        yield file.tell()


def _opens_in_a_mode(path: str, mode: str) -> Iterator[Any]:
    with open(path, mode) as file:
        yield file.tell()


def _takes_from(rows: Iterator[Any]) -> Iterator[Any]:
    yield next(rows)


@pytest.mark.parametrize("function", [_appends, _opens_in_a_mode, _takes_from])
def test_a_function_that_writes_or_consumes_is_not_run(function: Any) -> None:
    assert effects_of(function).lasting


def test_augmented_data_is_read_and_its_random_numbers_stay_the_same() -> None:
    def epochs(look: bool) -> tuple[Any, list[Any]]:
        keras.utils.set_random_seed(5)
        shake = keras.Sequential(
            [keras.layers.GaussianNoise(0.5), keras.layers.RandomBrightness(0.1, (0, 1))]
        )
        data = (
            tf.data.Dataset.from_tensor_slices(IMAGES)
            .map(lambda image: tf.image.random_brightness(tf.image.random_flip_left_right(image), 0.1))
            .map(lambda image: shake(image, training=True))
            .batch(8)
        )
        found = collect(data).facts.x[0].statistics if look else None
        return found, [*(batch.numpy() for batch in data), tf.random.uniform((4,)).numpy()]

    (_, plain), (found, looked_at) = epochs(look=False), epochs(look=True)
    assert isinstance(found, Statistics)
    assert found.count == len(IMAGES)
    assert (found.mean or 0) > 0.3
    assert all(np.array_equal(one, other) for one, other in zip(plain, looked_at, strict=True))


def test_a_function_that_counts_its_calls_is_not_called() -> None:
    calls = tf.Variable([0, 0])

    def counted(x: Any) -> Any:
        calls.assign_add([1, 1])
        return x + 1.0

    assert isinstance(
        collect(tf.data.Dataset.from_tensor_slices(X).map(counted).batch(2)).facts.x[0].statistics, Unknown
    )
    assert calls.numpy().tolist() == [0, 0]


def test_a_generator_that_does_not_yield_tuples() -> None:
    found = collect([X, Y] for _ in range(3)).facts
    assert found.problem is not None
    assert "must return a tuple" in found.problem.message
    assert found.element == "list of 2"


def test_a_generator_that_ends_early() -> None:
    found = collect((X[:4], Y[:4]) for _ in range(1)).facts
    assert (found.batches, found.endless, found.batch_size) == (1, False, 4)


class Batches(keras.utils.PyDataset):
    """Ten rows, four a batch."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> Any:
        self.reads += 1
        rows = slice(index * 4, min(index * 4 + 4, 10))
        return X[rows], Y[rows]


def test_a_pydataset_is_read_at_both_ends() -> None:
    data = Batches()
    found = collect(data).facts
    assert (found.form, found.batches, found.endless, found.batch_size) == ("pydataset", 3, False, 4)
    assert [spec.shape for spec in found.last_batch] == [(2, 3), (2,)]
    assert data.reads == 0


def test_a_pydataset_with_a_seed_variable_is_left_alone() -> None:
    class Augmented(Batches):
        def __init__(self) -> None:
            super().__init__()
            self.flip = keras.layers.RandomFlip()

    found = collect(Augmented())
    assert isinstance(found.batch, Unknown)
    assert "random state" in found.batch.reason


def test_the_files_of_a_pipeline_are_counted_without_reading_them() -> None:
    names = ["a.tfrecord", "b.tfrecord"]
    read = tf.data.TFRecordDataset
    listed = tf.data.Dataset.from_tensor_slices(names)
    for data, files in (
        (read(names).batch(2).prefetch(1), 2),
        (listed.shuffle(2).interleave(read).repeat().batch(2), 2),
        (tf.data.Dataset.from_tensor_slices(X).map(lambda x: x * 2).batch(2), 0),
    ):
        assert sharding_of(data) == Sharding("AUTO", files)
    for data in (tf.data.Dataset.zip((read(names), listed)), listed.repeat().interleave(read)):
        assert isinstance(sharding_of(data).files, Unknown)
