"""Models of Keras 2 tried on abstract batches: the failure is known, nothing is made, and training stays the same."""

import random

import numpy as np
import tensorflow as tf
from tensorflow import keras

from fitdoctor.collect.fit_call import collect_call
from fitdoctor.facts import Outcome, Unknown

layers = keras.layers
rng = np.random.default_rng(0)
x = rng.normal(size=(40, 8)).astype("float32")
y = rng.integers(0, 3, 40)


class Own(keras.Model):
    """Layers in a tuple and a dict, a loss of its own, a branch for AutoGraph, and attributes that calling changes."""

    def __init__(self):
        super().__init__()
        self.block = (layers.Dense(8, "relu"), layers.Dense(3, "softmax"))
        self.other = {"norm": layers.BatchNormalization(), "drop": layers.Dropout(0.3)}
        self.kept, self.log = None, []

    def build(self, shape):
        self.gain = self.add_weight("gain", (int(shape[-1]),), initializer="random_normal")
        self.built = True

    def call(self, inputs, training=False):
        self.log.append(random.random())
        self.kept = self.other["norm"](inputs * self.gain, training=training)
        if tf.reduce_sum(self.kept) > 0:
            self.kept = self.kept * 2.0
        self.add_loss(tf.reduce_mean(self.kept) * 0.01)
        return self.other["drop"](self.block[1](self.block[0](self.kept)), training=training)


class DrawsWhenBuilt(Own):
    def build(self, shape):
        self.gain = tf.Variable(tf.random.normal((int(shape[-1]),)))
        self.built = True


class OwnStep(Own):
    """Tried up to its gradient: the tape, the loss that was compiled, and a metric of its own are left as they were."""

    def __init__(self):
        super().__init__()
        self.seen = keras.metrics.Mean(name="seen")

    def train_step(self, data):
        rows, labels = data
        with tf.GradientTape() as tape:
            guess = self(rows, training=True)
            loss = self.compiled_loss(labels, guess, regularization_losses=self.losses)
        self.seen.update_state(loss)
        slopes = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(slopes, self.trainable_variables, strict=True))
        return {"seen": self.seen.result()}


def text_model():
    return keras.Sequential([layers.Embedding(9, 4), layers.LSTM(4, dropout=0.2), layers.Dense(3, "softmax")])


def trained(make, data, tried):
    keras.backend.clear_session()
    keras.utils.set_random_seed(5)
    model = make()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    found = None
    if tried:
        before = dict(vars(model))
        call = collect_call(model, "fit", (data, y), {"validation_split": 0.2})
        assert not call.crashes and vars(model) == before
        found = call.data[0].trial
    history = model.fit(data, y, epochs=1, validation_split=0.2, verbose=0).history
    return [weight.numpy() for weight in model.weights], history, found


def goes_through(trial):
    parts = [trial.forward, trial.loss, trial.metrics]
    # What a step of the model's own does with its metrics is not looked at.
    return all(part.ok for part in parts if isinstance(part, Outcome)) and isinstance(parts[0], Outcome)


tf.config.experimental.enable_op_determinism()
for make, data in ((OwnStep, x), (DrawsWhenBuilt, x), (text_model, rng.integers(0, 9, (40, 6)))):
    (before, history, _none), (after, again, trial) = trained(make, data, False), trained(make, data, True)
    assert len(before) == len(after) and history == again, make
    assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True)), make
    # What an eager operation drew cannot be put back: such a model is left alone.
    assert isinstance(trial.forward, Unknown) if make is DrawsWhenBuilt else goes_through(trial), (
        make,
        trial,
    )


class Wrong(Own):
    def call(self, inputs):
        return self.block[1](tf.reshape(inputs, (-1, 7, 2)))  # 8 numbers a row


wrong = Wrong()
wrong.compile("adam", "mse")
failure = collect_call(wrong, "fit", (x[:32], y[:32]), {}).data[0].trial.forward.failure
assert "evenly divisible by 14" in failure.message, failure
assert failure.place.line == Wrong.call.__code__.co_firstlineno + 1, failure
assert not wrong.built and not wrong.block[1].built


class WrongStep(OwnStep):
    def train_step(self, data):
        _rows, _labels, _weights = data


wrong = WrongStep()
wrong.compile("adam", "mse")
failure = collect_call(wrong, "fit", (x, y), {}).data[0].trial.step.failure
assert "expected 3, got 2" in failure.message, failure

# The sizes that a sparse loss of Keras 2 compares are known only with the rows of a batch.
model = keras.Sequential([layers.Dense(3, "softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
assert not collect_call(model, "fit", (x, np.eye(3)[y]), {}).data[0].trial.loss.ok
# Lists of numbers, and lists in the place of tuples, are data of Keras 2.
assert goes_through(collect_call(model, "fit", (x.tolist(), y.tolist()), {}).data[0].trial)
assert goes_through(collect_call(model, "fit", (([x[:8], y[:8]] for _ in range(5)),), {}).data[0].trial)

# Under a strategy the model is the same, and each replica gets its share.
with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
    mirrored = keras.Sequential([layers.Conv2D(3, 3), layers.Flatten(), layers.Dense(3, "softmax")])
    mirrored.compile("adam", "sparse_categorical_crossentropy")
call = collect_call(mirrored, "fit", (x, y), {})
assert call.model.strategy == "MirroredStrategy" and not mirrored.built
assert "incompatible with the layer" in call.data[0].trial.forward.failure.message
