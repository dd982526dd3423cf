"""A custom loss is asked, without a trace, whether it is smaller for right predictions."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.tf

rng = np.random.default_rng(3)
MASKS = (rng.random((16, 4, 4, 1)) > 0.6).astype("float32")
CURVES = rng.normal(size=(16, 5)).astype("float32")
CLASSES = np.eye(3, dtype="float32")[rng.integers(0, 3, 16)]


def order_of(loss, y, x=None):
    import keras

    from fitdoctor.collect.loss_order import loss_order

    width = int(np.prod(y.shape[1:]))
    model = keras.Sequential(
        [keras.Input((6,)), keras.layers.Dense(width), keras.layers.Reshape(y.shape[1:])]
    )
    model.compile("sgd", loss)
    return loss_order(model, np.zeros((len(y), 6), "float32") if x is None else x, y if x is None else None)


def prefers_wrong(loss, y):
    from fitdoctor.catalogue.labels.loss_rewards_errors.cause import _prefers_wrong

    order = order_of(loss, y)
    return order is not None and _prefers_wrong(order)


def dice(y_true, y_pred):
    from keras import ops

    return (2 * ops.sum(y_true * y_pred) + 1) / (ops.sum(y_true) + ops.sum(y_pred) + 1)


def likelihood(y_true, y_pred):
    from keras import ops

    return ops.sum(y_true * ops.log(ops.clip(y_pred, 1e-7, 1.0)), axis=-1)


def r2(y_true, y_pred):
    from keras import ops

    residual = ops.sum((y_true - y_pred) ** 2)
    return 1 - residual / ops.sum((y_true - ops.mean(y_true)) ** 2)


@pytest.mark.parametrize(("score", "y"), [(dice, MASKS), (likelihood, CLASSES), (r2, CURVES)])
def test_a_score_prefers_wrong_predictions_and_its_opposite_does_not(score, y):
    assert prefers_wrong(score, y)
    assert not prefers_wrong(lambda y_true, y_pred: -score(y_true, y_pred), y)
    assert not prefers_wrong(lambda y_true, y_pred: 1 - score(y_true, y_pred), y)


def wasserstein(y_true, y_pred):
    from keras import ops

    return ops.mean(y_true * y_pred)


def quantile(y_true, y_pred):
    from keras import ops

    error = y_true - y_pred
    return ops.mean(ops.maximum(0.9 * error, -0.1 * error), axis=-1)


def sharpe(returns, positions):
    from keras import ops

    gains = returns * positions
    return -ops.mean(gains) / (ops.std(gains) + 1e-6)


def policy_gradient(advantages, probabilities):
    from keras import ops

    return -ops.sum(advantages * ops.log(ops.clip(probabilities, 1e-7, 1.0)), axis=-1)


def masked(y_true, y_pred):
    from keras import ops

    known = ops.cast(y_true > -1, "float32")
    return ops.sum(known * ops.abs(y_true - y_pred)) / ops.sum(known)


def logits(y_true, y_pred):
    import tensorflow as tf

    return tf.nn.softmax_cross_entropy_with_logits(y_true, y_pred)


@pytest.mark.parametrize("y", [MASKS, CURVES, CLASSES], ids=["masks", "curves", "classes"])
@pytest.mark.parametrize("loss", [wasserstein, quantile, sharpe, policy_gradient, masked, logits])
def test_a_loss_is_not_taken_for_a_score(loss, y):
    assert not prefers_wrong(loss, y)


def test_the_labels_of_a_dataset_are_read():
    import tensorflow as tf

    data = tf.data.Dataset.from_tensor_slices((np.zeros((16, 6), "float32"), CURVES)).batch(8)
    order = order_of(r2, CURVES, data)
    assert order.of_right == pytest.approx(1) and order.of_wrong < 0.9


@pytest.mark.parametrize(
    "y", [CURVES[:, 0], CURVES[:, :1], np.ones((16, 4), "float32")], ids=["numbers", "one column", "constant"]
)
def test_one_number_per_sample_or_the_same_everywhere_says_nothing(y):
    assert order_of(r2, y.reshape(16, -1)) is None


def test_nothing_of_the_program_changes(capfd):
    import keras
    import tensorflow as tf

    calls = []
    scale = tf.Variable(1.0)
    noise = keras.random.SeedGenerator(1)

    def noisy(y_true, y_pred):
        calls.append(1)
        print("called")
        return tf.reduce_mean(y_true * y_pred) + tf.random.normal(())

    def advances(y_true, y_pred):
        return r2(y_true, y_pred) + keras.random.normal((), seed=noise)

    def reads(y_true, y_pred):
        return scale.assign_add(1.0) * r2(y_true, y_pred)

    drawn = []
    for look in (False, True):
        keras.utils.set_random_seed(5)
        if look:
            order_of(noisy, CURVES)
            order_of(advances, CURVES)
            assert order_of(reads, CURVES) is None
            keras.utils.set_random_seed(5)
            from fitdoctor.collect.loss_order import loss_order

            model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(5)])
            model.compile("sgd", noisy)
            before = (tf.random.normal((2,)).numpy(), keras.random.normal((2,)).numpy())
            loss_order(model, None, CURVES)
        else:
            model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(5)])
            model.compile("sgd", noisy)
            before = (tf.random.normal((2,)).numpy(), keras.random.normal((2,)).numpy())
        drawn.append((*before, tf.random.normal((2,)).numpy(), keras.random.normal((2,)).numpy()))
    assert np.allclose(drawn[0], drawn[1])
    assert not calls and float(scale) == 1.0
    assert noise.state.numpy().tolist() == [1, 0]
    assert "called" not in capfd.readouterr().out
