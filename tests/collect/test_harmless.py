"""Collecting changes nothing: training is the same to the bit, with and without it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

np = pytest.importorskip("numpy")
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

import fitdoctor  # noqa: E402
from fitdoctor.collect.fit_call import CollectedCall, collect_call  # noqa: E402

pytestmark = [pytest.mark.tf, pytest.mark.filterwarnings("ignore")]

layers = keras.layers
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 8)).astype("float32")
Y = RNG.integers(0, 3, 60)
IMAGES = RNG.random((24, 12, 12, 3)).astype("float32")
SEEN: list[Any] = []


@dataclass
class Program:
    """A model and how fit is called on it."""

    model: Any
    args: tuple[Any, ...]
    options: dict[str, Any]


def compiled(model: Any, **options: Any) -> Any:
    model.compile(
        optimizer="adam", **{"loss": "sparse_categorical_crossentropy", "metrics": ["accuracy"], **options}
    )
    return model


def unbuilt_sequential() -> Program:
    model = keras.Sequential([layers.Dense(16, activation="relu"), layers.Dropout(0.5), layers.Dense(3)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return Program(compiled(model, loss=loss), (X, Y), {"validation_split": 0.2})


def functional() -> Program:
    inputs = keras.Input((8,))
    hidden = layers.BatchNormalization()(layers.Dense(8, kernel_regularizer="l2")(inputs))
    outputs = layers.Dense(3, activation="softmax")(layers.GaussianNoise(0.1)(hidden))
    return Program(compiled(keras.Model(inputs, outputs)), (X, Y), {"validation_data": (X, Y)})


class Branching(keras.Model):
    """Makes its layers late, keeps tensors, and draws from every random state there is."""

    def __init__(self) -> None:
        super().__init__()
        self.first = layers.Dense(8)
        self.drop = layers.Dropout(0.3)
        self.calls = 0
        self.log: list[str] = []
        self.kept = None

    def build(self, input_shape: Any) -> None:
        self.head = layers.Dense(3, activation="softmax")
        self.gain = self.add_weight(shape=(8,), initializer="random_normal")
        self.first.build(input_shape)
        self.head.build((None, 8))

    def call(self, inputs: Any, training: bool = False) -> Any:
        self.calls += 1
        self.log.append(f"call {random.random()}")
        SEEN.append(1)
        self.kept = self.first(inputs)
        scaled = self.kept * self.gain * float(np.random.rand() > -1)
        return self.head(self.drop(scaled, training=training))


def subclassed() -> Program:
    return Program(compiled(Branching()), (X, Y), {"validation_data": (X, Y)})


class Lazy(keras.Model):
    """Layers whose weights come only when they are called."""

    def __init__(self) -> None:
        super().__init__()
        self.block = [layers.Dense(8, activation="relu"), layers.Dense(3, activation="softmax")]

    def call(self, inputs: Any) -> Any:
        for layer in self.block:
            inputs = layer(inputs)
        return inputs


def lazy() -> Program:
    return Program(compiled(Lazy()), (X, Y), {})


def augmenting() -> Program:
    model = keras.Sequential(
        [
            layers.RandomFlip(),
            layers.RandomRotation(0.1),
            layers.Conv2D(4, 3),
            layers.Flatten(),
            layers.Dense(3),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return Program(compiled(model, loss=loss), (IMAGES, Y[:24]), {"batch_size": 8})


def dataset_with_shuffle() -> Program:
    data = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(60).batch(16).prefetch(1)
    model = keras.Sequential([layers.Dense(8, activation="relu"), layers.Dense(3, activation="softmax")])
    return Program(compiled(model), (data,), {"validation_data": data})


def dataset_with_random_map() -> Program:
    def jitter(x: Any, y: Any) -> Any:
        return x + tf.random.normal(tf.shape(x)), y

    data = tf.data.Dataset.from_tensor_slices((X, Y)).cache().shuffle(30, seed=3).map(jitter).batch(10)
    model = keras.Sequential([layers.Dense(3, activation="softmax")])
    return Program(compiled(model), (data,), {})


def dataset_with_augmentation() -> Program:
    flip = layers.RandomFlip()
    data = tf.data.Dataset.from_tensor_slices((IMAGES, Y[:24])).batch(8)
    data = data.map(lambda x, y: (flip(x, training=True), y))
    model = keras.Sequential([layers.Flatten(), layers.Dense(3, activation="softmax")])
    return Program(compiled(model), (data,), {})


def dataset_from_generator() -> Program:
    source = iter(range(1000))

    def rows() -> Iterator[Any]:
        for index in range(20):
            next(source)
            yield X[index] * random.random(), Y[index]

    data = tf.data.Dataset.from_generator(
        rows, output_signature=(tf.TensorSpec((8,), tf.float32), tf.TensorSpec((), tf.int64))
    ).batch(5)
    return Program(compiled(keras.Sequential([layers.Dense(3, activation="softmax")])), (data,), {})


def generator() -> Program:
    def batches() -> Iterator[Any]:
        for _ in range(8):
            picked = np.random.randint(0, 60, 10)
            yield X[picked], Y[picked]

    model = keras.Sequential([layers.Dense(3, activation="softmax")])
    return Program(compiled(model), (batches(),), {"steps_per_epoch": 4})


class Batches(keras.utils.PyDataset):
    """Draws its rows at random, and counts."""

    def __init__(self) -> None:
        super().__init__()
        self.rng = np.random.default_rng(5)
        self.reads = 0

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Any:
        self.reads += 1
        picked = self.rng.integers(0, 60, 8)
        return X[picked] + np.random.rand() + random.random(), Y[picked]


def pydataset() -> Program:
    model = keras.Sequential([layers.Dense(3, activation="softmax")])
    return Program(compiled(model), (Batches(),), {})


def recurrent() -> Program:
    model = keras.Sequential(
        [
            layers.Embedding(50, 8, mask_zero=True),
            layers.Bidirectional(layers.LSTM(4, dropout=0.2, recurrent_dropout=0.2)),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile("rmsprop", "binary_crossentropy", metrics=[keras.metrics.AUC(), "accuracy"])
    return Program(model, (np.abs(X * 9).astype("int32"), Y % 2), {"class_weight": {0: 1.0, 1: 2.0}})


class Own(keras.Model):
    """Its own training step."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = layers.Dense(3, activation="softmax")

    def call(self, inputs: Any) -> Any:
        return self.dense(inputs)

    def train_step(self, data: Any) -> Any:
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=y, y_pred=self(x, training=True))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        return {"own": loss}


def own_step() -> Program:
    return Program(compiled(Own(), metrics=None), (X, Y), {})


class WithFunction(keras.layers.Layer):
    """Calls a tf.function, and keeps a raw variable."""

    def build(self, input_shape: Any) -> None:
        self.scale = tf.Variable(tf.ones((int(input_shape[-1]),)))

    @tf.function
    def inner(self, inputs: Any) -> Any:
        if tf.reduce_sum(inputs) > 0:
            return inputs * self.scale
        return inputs

    def call(self, inputs: Any) -> Any:
        return self.inner(inputs)


def with_function() -> Program:
    model = keras.Sequential([layers.Dense(8), WithFunction(), layers.Dense(3, activation="softmax")])
    return Program(compiled(model), (X, Y), {})


class OwnFunction(keras.layers.Layer):
    """Its call is a tf.function that needs AutoGraph, and uses a layer that is not built yet."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = layers.Dense(8)

    @tf.function
    def call(self, inputs: Any) -> Any:
        hidden = self.dense(inputs)
        if tf.reduce_sum(inputs) > 0:
            return hidden
        return -hidden


class Wrapper(keras.Model):
    """A model around such a layer."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = OwnFunction()
        self.inner.dense.build((None, 8))
        self.head = layers.Dense(3, activation="softmax")

    def call(self, inputs: Any) -> Any:
        return self.head(self.inner(inputs))


def call_is_a_function() -> Program:
    return Program(compiled(Wrapper()), (X, Y), {})


def own_loss(y_true: Any, y_pred: Any) -> Any:
    SEEN.append(len(SEEN))
    return tf.reduce_mean(tf.square(tf.cast(y_true, tf.float32) - y_pred), axis=-1) * (1 + random.random())


class Counting(keras.metrics.Metric):
    """A metric of the user's with state."""

    def __init__(self) -> None:
        super().__init__(name="counting")
        self.total = self.add_weight(name="total", initializer="zeros")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        self.total.assign_add(tf.cast(tf.shape(y_true)[0], tf.float32))

    def result(self) -> Any:
        return self.total


def own_loss_and_metric() -> Program:
    model = keras.Sequential([keras.Input((8,)), layers.Dense(1)])
    model.compile("sgd", loss=own_loss, metrics=[Counting(), "mae"])
    return Program(model, (X, Y.astype("float32")), {"sample_weight": np.ones(60)})


def eager() -> Program:
    model = keras.Sequential([layers.Dense(3, activation="softmax"), layers.Dropout(0.1)])
    return Program(compiled(model, run_eagerly=True), (X, Y), {})


PROGRAMS: list[Callable[[], Program]] = [
    unbuilt_sequential, functional, subclassed, lazy, augmenting, dataset_with_shuffle, dataset_with_random_map,
    dataset_with_augmentation, dataset_from_generator, generator, pydataset, recurrent, own_step, with_function,
    call_is_a_function, own_loss_and_metric, eager,

]  # fmt: skip


def outcome(
    make: Callable[[], Program], collecting: bool = False, measuring: bool = False
) -> tuple[Any, ...]:
    """Everything that a user could compare after two calls of fit."""
    keras.backend.clear_session()
    keras.utils.set_random_seed(11)
    SEEN.clear()
    program = make()
    histories = []
    for _ in range(2):
        args, options = program.args, {"epochs": 2, "verbose": 0, **program.options}
        if collecting:
            found = collect_call(program.model, "fit", args, options)
            assert found.crashes == ()
            args, options = found.args, found.kwargs
        if measuring:
            try:
                fitdoctor.memory(program.model, *args, batch_size=options.get("batch_size"))
            except fitdoctor.MemoryUnknown as unknown:
                print("not known:", unknown)
        histories.append(program.model.fit(*args, **options).history)
        if "steps_per_epoch" in options:
            break
    model = program.model
    state = {name: value for name, value in vars(model).items() if name in ("calls", "log")}
    return (
        histories,
        [np.asarray(weight).tolist() for weight in model.weights],
        [weight.path for weight in model.weights],
        [np.asarray(weight).tolist() for weight in model.optimizer.variables],
        [metric.name for metric in model.metrics],
        random.random(),
        np.random.rand(),
        float(tf.random.uniform(())),
        np.asarray(keras.random.normal((2,))).tolist(),
        layers.Dense(1).name,
        repr(state),
        len(SEEN),
        getattr(program.args[0], "reads", 0),
    )


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_training_is_the_same_to_the_bit(make: Callable[[], Program]) -> None:
    without, collected = outcome(make, collecting=False), outcome(make, collecting=True)
    if without != collected:
        assert outcome(make, collecting=False) == without, "the program itself is not repeatable"
    assert collected == without


MEASURED: list[Callable[[], Program]] = [
    unbuilt_sequential, subclassed, lazy, recurrent, own_step, own_loss_and_metric,
]  # fmt: skip


@pytest.mark.parametrize("make", MEASURED, ids=lambda make: make.__name__)
def test_training_is_the_same_after_a_prediction_of_its_memory(make: Callable[[], Program]) -> None:
    without, measured = outcome(make), outcome(make, measuring=True)
    if without != measured:
        assert outcome(make) == without, "the program itself is not repeatable"
    assert measured == without


def test_nothing_is_left_on_an_unbuilt_model() -> None:
    model = compiled(Lazy())
    before = set(vars(model))
    names = {name for layer in model.block for name in vars(layer)}
    found = collect_call(model, "fit", (X, Y), {})
    assert isinstance(found, CollectedCall)
    assert not model.built and not model.weights
    assert set(vars(model)) == before
    assert {name for layer in model.block for name in vars(layer)} == names


def test_a_generator_keeps_its_order_and_type() -> None:
    import types

    def numbers() -> Iterator[Any]:
        for index in range(5):
            yield np.full((2, 8), index, "float32"), np.zeros(2)

    found = collect_call(compiled(Lazy()), "fit", (numbers(),), {})
    assert isinstance(found.args[0], types.GeneratorType)
    assert [int(batch[0][0, 0]) for batch in found.args[0]] == [0, 1, 2, 3, 4]


def test_a_generator_that_raises_raises_again_in_its_place() -> None:
    def broken() -> Iterator[Any]:
        yield np.zeros((2, 8)), np.zeros(2)
        raise OSError("disk")

    found = collect_call(compiled(Lazy()), "fit", (), {"x": broken()})
    chained = found.kwargs["x"]
    next(chained)
    with pytest.raises(OSError, match="disk"):
        next(chained)
