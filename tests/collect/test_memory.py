"""Predictions of memory on living models of many kinds; what is predicted is measured in benchmarks/bench_memory.py."""

from __future__ import annotations

from typing import Any

import pytest

np = pytest.importorskip("numpy")
keras = pytest.importorskip("keras")

import fitdoctor  # noqa: E402
from fitdoctor.collect.arrays import Batch, Leaf  # noqa: E402
from fitdoctor.collect.step import trace_step  # noqa: E402

pytestmark = [pytest.mark.tf, pytest.mark.filterwarnings("ignore")]

layers = keras.layers


def small(*, optimizer: Any = "adam", **options: Any) -> Any:
    model = keras.Sequential([keras.Input((200,)), layers.Dense(300, "relu"), layers.Dense(1)])
    model.compile(optimizer, "mse", **options)
    return model


def kinds(prediction: Any) -> dict[str, int]:
    return {share.name: share.bytes for share in prediction.kinds}


def test_weights_and_optimizer_state_are_exact() -> None:
    found = kinds(fitdoctor.memory(small(), batch_size=8))
    weights = 4 * (200 * 300 + 300 + 300 + 1)
    assert weights <= found["weights"] <= weights + 4 * 256
    assert 2 * weights <= found["optimizer"] <= 2 * weights + 12 * 256


def test_the_batch_makes_the_difference() -> None:
    model = small()
    one, many = fitdoctor.memory(model, batch_size=1000), fitdoctor.memory(model, batch_size=100_000)
    assert many.peak - one.peak == pytest.approx(99_000 * 4 * (200 + 300 + 300), rel=0.05)
    assert one.how == "traced" and one.largest_batch > 100_000


def test_frozen_layers_have_no_gradients() -> None:
    model = small()
    model.layers[0].trainable = False
    model.compile("adam", "mse")
    found = kinds(fitdoctor.memory(model, batch_size=8))
    assert found["frozen weights"] >= 4 * 60_300
    assert found.get("gradients", 0) < 10_000 and found["optimizer"] < 10_000


def test_data_is_counted_as_fit_takes_it() -> None:
    x, y = np.zeros((50_000, 200), "float32"), np.zeros((50_000, 1), "float32")
    found = fitdoctor.memory(small(), x, y, batch_size=100)
    assert kinds(found)["data"] >= x.nbytes
    assert any("PyDataset" in remedy.title for remedy in found.remedies)


def test_a_model_of_the_users_with_a_loop_and_a_condition() -> None:
    import tensorflow as tf

    class Own(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.cell = layers.LSTM(16)
            self.head = layers.Dense(1)

        def call(self, x: Any) -> Any:
            hidden = self.cell(x)
            return self.head(tf.cond(tf.reduce_sum(hidden) > 0, lambda: hidden * 2.0, lambda: hidden))

    model = Own()
    model.compile(keras.optimizers.SGD(momentum=0.9), "mse")
    with pytest.raises(fitdoctor.MemoryUnknown, match="input_shape"):
        fitdoctor.memory(model)
    short = fitdoctor.memory(model, input_shape=(10, 8), batch_size=256)
    long = fitdoctor.memory(model, input_shape=(100, 8), batch_size=256)
    assert short.how == "traced" and not model.built
    assert long.peak > 4 * short.peak


def test_open_dimensions_are_asked_for_by_name() -> None:
    model = keras.Sequential([keras.Input((None, 8), name="words"), layers.GRU(4), layers.Dense(1)])
    model.compile("adam", "mse")
    with pytest.raises(fitdoctor.MemoryUnknown, match=r"input `words` has open dimensions \(None, 8\)"):
        fitdoctor.memory(model)
    assert fitdoctor.memory(model, input_shape=(20, 8)).peak > 0


def test_without_compile_the_layers_tell_the_rest() -> None:
    model = keras.Sequential([keras.Input((200,)), layers.Dense(300)])
    found = fitdoctor.memory(model)
    assert found.how == "quick" and "not compiled" in " ".join(found.notes)


def test_a_step_that_raises_is_told() -> None:
    class Broken(keras.Model):
        def call(self, x: Any) -> Any:
            raise RuntimeError("no")

    model = Broken()
    model.compile("adam", "mse")
    step = trace_step(model, Batch(Leaf((None, 4), "float32"), Leaf((None, 1), "float32")), 6)
    assert not step and "RuntimeError: no" in step.reason
    with pytest.raises(fitdoctor.MemoryUnknown):
        fitdoctor.memory(model, input_shape=(4,))


@pytest.mark.parametrize("size", [0, -3, 2.5, True])
def test_batch_sizes_that_are_none(size: Any) -> None:
    with pytest.raises(fitdoctor.MemoryUnknown, match="`batch_size` must be an integer"):
        fitdoctor.memory(small(), batch_size=size)


def test_a_batch_of_a_billion() -> None:
    found = fitdoctor.memory(small(), batch_size=10**9)
    assert found.fits is False and 0 < found.largest_batch < 10**9


def test_only_models_are_taken() -> None:
    with pytest.raises(TypeError, match="expected a Keras model, not list"):
        fitdoctor.memory([1])


def transformer() -> Any:
    tokens = keras.Input((128,), dtype="int32")
    x = layers.Embedding(500, 32)(tokens)
    for _block in range(2):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(8, 4)(x, x))
        wide = layers.Dense(64, "gelu")(x)
        x = layers.LayerNormalization()(x + layers.Dense(32)(wide))
    return keras.Model(tokens, layers.Dense(1)(layers.GlobalAveragePooling1D()(x)))


def recurrent() -> Any:
    return keras.Sequential(
        [
            keras.Input((40, 16)),
            layers.Bidirectional(layers.LSTM(32, return_sequences=True)),
            layers.GRU(48),
            layers.Dense(1),
        ]
    )


def with_frozen_base() -> Any:
    base = keras.Sequential([keras.Input((48, 48, 3))])
    for filters in (32, 32, 64, 64):
        base.add(layers.Conv2D(filters, 3, padding="same", activation="relu"))
        base.add(layers.BatchNormalization())
    base.trainable = False
    return keras.Sequential(
        [keras.Input((48, 48, 3)), base, layers.GlobalAveragePooling2D(), layers.Dense(1)]
    )


def residual() -> Any:
    image = keras.Input((48, 48, 3))
    x = layers.Conv2D(32, 3, padding="same")(image)
    for _block in range(3):
        y = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(32, 3, padding="same")(x)))
        y = layers.BatchNormalization()(layers.Conv2D(32, 3, padding="same")(y))
        x = layers.ReLU()(layers.Add()([x, y]))
    return keras.Model(image, layers.Dense(1)(layers.GlobalAveragePooling2D()(x)))


@pytest.mark.parametrize("make", [transformer, recurrent, with_frozen_base, residual])
@pytest.mark.parametrize("batch", [8, 128])
def test_the_quick_estimate_is_near_the_traced_step(make: Any, batch: int) -> None:
    model = make()
    model.compile("adam", "mse")
    traced = fitdoctor.memory(model, batch_size=batch)
    quick = fitdoctor.memory(model, batch_size=batch, quick=True)
    assert 0.6 < quick.needed / traced.needed < 1.5
    assert 0.6 < quick.peak / traced.peak < 1.6


def test_the_quick_estimate_counts_copies_of_the_data() -> None:
    model = small()
    x, y = np.zeros((50_000, 200), "float32"), np.zeros((50_000, 1), "float32")
    traced = fitdoctor.memory(model, x, y, batch_size=32)
    quick = fitdoctor.memory(model, x, y, batch_size=32, quick=True)
    assert 0.8 < quick.needed / traced.needed < 1.25
    assert kinds(quick)["data"] >= x.nbytes
