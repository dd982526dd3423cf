"""The abstract forward pass, loss and metrics: they say what fit says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fitdoctor.collect.fit_call import collect_call
from fitdoctor.facts import FailureSummary, Outcome, Trial, Unknown

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

pytestmark = [pytest.mark.tf, pytest.mark.filterwarnings("ignore")]
layers = keras.layers
X = np.zeros((40, 8), "float32")


def trial(model: Any, x: Any, y: Any = None, **options: Any) -> Trial:
    found = collect_call(model, "fit", (x, y), options)
    assert found.crashes == ()
    return found.data[0].trial


def failure(outcome: Outcome | Unknown) -> FailureSummary:
    assert isinstance(outcome, Outcome)
    assert outcome.failure is not None
    return outcome.failure


def model_of(*items: Any, loss: Any = "mse", **options: Any) -> Any:
    model = keras.Sequential(list(items))
    model.compile("adam", loss=loss, **options)
    return model


def test_the_same_error_as_fit() -> None:
    model = model_of(keras.Input((9,)), layers.Dense(1))
    found = failure(trial(model, X, np.zeros(40)).forward)
    with pytest.raises(ValueError, match="expected axis -1") as raised:
        model.fit(X, np.zeros(40), verbose=0)
    assert found.type == "ValueError"
    assert found.message.split("but received")[0] in str(raised.value)
    assert (found.layer, found.layer_class) == (model.layers[0].name, "Dense")
    assert found.inputs[0].shape == (None, 8)


def test_the_loss_is_tried_on_the_output() -> None:
    model = model_of(layers.Dense(3, activation="softmax"), loss="categorical_crossentropy")
    found = trial(model, X, np.zeros(40, "int64"))
    assert isinstance(found.forward, Outcome)
    assert found.forward.specs[0].shape == (None, 3)
    assert "same rank" in failure(found.loss).message
    assert isinstance(found.metrics, Unknown)


def test_a_fixed_batch_axis_is_used_where_fit_has_one() -> None:
    model = model_of(keras.Input((8,)), layers.Dense(2))
    found = trial(model, X, np.zeros((40, 2)), batch_size=8).forward
    assert isinstance(found, Outcome)
    assert found.specs[0].shape == (8, 2)


def wrong_axis(y_true: Any, y_pred: Any) -> Any:
    return tf.reduce_mean(y_pred, axis=1) * tf.constant([1.0, 2.0])


def test_the_users_line_is_told() -> None:
    model = model_of(keras.Input((8,)), layers.Dense(2), loss=wrong_axis)
    found = failure(trial(model, X, np.zeros((40, 2)), batch_size=8).loss)
    assert found.place is not None
    assert found.place.line == wrong_axis.__code__.co_firstlineno + 1


class Subclassed(keras.Model):
    """Forgets that its input is flat."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = layers.Conv1D(4, 3)

    def call(self, inputs: Any) -> Any:
        return self.conv(inputs)


def test_an_unbuilt_subclassed_model() -> None:
    model = Subclassed()
    model.compile("adam", "mse")
    found = failure(trial(model, X, np.zeros(40)).forward)
    assert found.layer_class == "Conv1D"
    assert found.inputs[0].shape == (None, 8)
    assert not model.built
    assert not model.weights
    assert not model.conv.built


def test_metrics_are_tried_on_copies_of_nothing() -> None:
    metric = keras.metrics.AUC(num_thresholds=5)
    model = model_of(keras.Input((8,)), layers.Dense(3), loss="mse", metrics=[metric])
    before = [np.asarray(variable).tolist() for variable in metric.variables]
    found = trial(model, X, np.zeros((40, 3)))
    assert isinstance(found.metrics, Outcome)
    assert [np.asarray(variable).tolist() for variable in metric.variables] == before
    assert not model._compile_metrics.built


class MakesVariable(layers.Layer):
    """Makes a raw variable when it is built."""

    def build(self, shape: Any) -> None:
        self.weight = tf.Variable(tf.random.normal((int(shape[-1]), 2)))

    def call(self, inputs: Any) -> Any:
        return inputs @ self.weight


class UsesFunction(layers.Layer):
    """Relies on AutoGraph in a tf.function of its own."""

    @tf.function
    def call(self, inputs: Any) -> Any:
        if tf.reduce_sum(inputs) > 0:
            return inputs
        return -inputs


@pytest.mark.parametrize("layer", [MakesVariable, UsesFunction])
def test_no_verdict_where_the_scratch_graph_differs(layer: Any) -> None:
    found = trial(model_of(layer()), X, np.zeros((40, 2)))
    assert isinstance(found.forward, Unknown)


def test_no_verdict_on_eager_models() -> None:
    model = model_of(layers.Lambda(lambda t: t + float(t.numpy().sum())), layers.Dense(1), run_eagerly=True)
    assert isinstance(trial(model, X, np.zeros(40)).forward, Unknown)


def test_no_trial_of_lasting_effects() -> None:
    class Writes(Subclassed):
        def call(self, inputs: Any) -> Any:
            open("/nowhere/at/all", "w").write("x")
            return inputs

    model = Writes()
    model.compile("adam", "mse")
    found = trial(model, X, np.zeros(40)).forward
    assert isinstance(found, Unknown)
    assert "open" in found.reason


class OwnStep(keras.Model):
    """A step of its own, as the guides write it."""

    def __init__(self, *parts: Any) -> None:
        super().__init__()
        self.inner = keras.Sequential(list(parts))
        self.seen = keras.metrics.Mean(name="seen")
        self.calls = 0

    def call(self, inputs: Any) -> Any:
        return self.inner(inputs)

    def train_step(self, data: Any) -> Any:
        self.calls += 1
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=y_pred)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        self.seen.update_state(loss)
        return {"loss": self.seen.result()}


def test_an_own_step_is_tried_up_to_its_gradient() -> None:
    def tried(y: Any, *parts: Any, **options: Any) -> Trial:
        model = OwnStep(*parts)
        model.compile("adam", "categorical_crossentropy")
        found = trial(model, X, y, **options)
        assert (model.calls, model.built) == (0, False)
        return found

    one_hot, softmax = np.eye(3)[np.zeros(40, int)], layers.Dense(3, activation="softmax")
    assert failure(tried(one_hot, keras.Input((9,)), softmax).forward).layer_class == "Dense"
    assert "same rank" in failure(tried(np.zeros(40), layers.Dense(3)).loss).message
    assert "unpack" in failure(tried(one_hot, layers.Dense(3), sample_weight=np.ones(40)).step).message
    model = OwnStep(layers.Dense(3, activation="softmax"))
    model.compile("adam", "categorical_crossentropy")
    assert trial(model, X, one_hot).loss == Outcome()
    assert len(model.fit(X, one_hot, verbose=0).history["loss"]) == 1


def test_a_strategy_is_no_hindrance() -> None:
    with tf.distribute.MirroredStrategy(["/cpu:0"]).scope():
        model = keras.Sequential([layers.Dense(4), layers.BatchNormalization(), layers.LSTM(2)])
        model.compile("adam", "mse")
        other = keras.Sequential([layers.Dense(4), layers.BatchNormalization(synchronized=True)])
        other.compile("adam", "mse")
    assert failure(trial(model, X, np.zeros(40)).forward).layer_class == "LSTM"
    reduced = trial(other, X, np.zeros((40, 4))).forward
    assert isinstance(reduced, Unknown) or reduced.ok, "what replicas tell one another is no failure"


def test_strings_reach_text_layers() -> None:
    lookup = layers.StringLookup(vocabulary=["a", "b"])
    model = model_of(keras.Input((), dtype="string"), lookup, layers.Embedding(5, 2), layers.Dense(1))
    found = trial(model, tf.constant(["a", "b"] * 20), np.zeros(40))
    assert isinstance(found.forward, Outcome)
    assert found.forward.ok


class Adds(keras.Model):
    """Its only loss comes from `add_loss`, and it draws noise."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = layers.Dense(4)
        self.seeds = keras.random.SeedGenerator(1)

    def call(self, inputs: Any) -> Any:
        code = self.encode(inputs)
        self.add_loss(keras.ops.mean(code**2))
        return code + keras.random.normal(keras.ops.shape(code), seed=self.seeds)


def test_added_losses_count() -> None:
    model = Adds()
    model.compile("adam")
    found = trial(model, X)
    assert isinstance(found.loss, Outcome)
    assert found.loss.ok
    model.fit(X, verbose=0)


class Loops(layers.Layer):
    """Control flow that captures a weight which has no value yet."""

    def build(self, shape: Any) -> None:
        constant = keras.initializers.Constant(np.ones(shape[-1]))
        self.weight = self.add_weight(shape=(shape[-1],), initializer=constant)

    def call(self, inputs: Any) -> Any:
        looped = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * self.weight), [0, inputs])[1]
        positive = keras.ops.sum(looped) > 0
        return keras.ops.cond(positive, lambda: looped * self.weight, lambda: -looped)


class Loads(layers.Layer):
    """Sets the weights of an inner layer when it is built."""

    def build(self, shape: Any) -> None:
        self.dense = layers.Dense(2)
        self.dense.build(shape)
        self.dense.set_weights([np.ones((shape[-1], 2)), np.zeros(2)])

    def call(self, inputs: Any) -> Any:
        return self.dense(inputs)


@pytest.mark.parametrize("layer", [Loops, Loads, lambda: layers.SpectralNormalization(layers.Dense(4))])
def test_what_works_in_fit_works_in_the_trial(layer: Any) -> None:
    model = model_of(layer(), layers.Dense(1), metrics=["mae"])
    found = trial(model, X, np.zeros(40))
    for outcome in (found.forward, found.loss, found.metrics):
        assert isinstance(outcome, Outcome)
        assert outcome.ok
    model.fit(X, np.zeros(40), verbose=0)


class Folded(keras.layers.Layer):  # type: ignore[misc]
    """Writes a batch size of 16 out."""

    def call(self, inputs: Any) -> Any:
        return tf.reshape(inputs, (16, 2, 4))


def test_the_last_shorter_batch_is_tried_where_the_code_may_mind() -> None:
    tried = trial(model_of(Folded(), layers.Flatten(), layers.Dense(1)), X, np.zeros(40), batch_size=16)
    assert isinstance(tried.forward, Outcome)
    assert tried.forward.ok
    assert tried.short_rows == 8
    assert "Cannot reshape" in failure(tried.short).message
    even = trial(model_of(Folded(), layers.Flatten(), layers.Dense(1)), X[:32], np.zeros(32), batch_size=16)
    assert isinstance(even.short, Unknown)
    plain = trial(model_of(layers.Dense(1)), X, np.zeros(40), batch_size=16)
    assert isinstance(plain.short, Unknown)


def test_a_stateful_layer_minds_the_last_batch() -> None:
    given = keras.Input(batch_shape=(16, 4, 2))
    model = keras.Model(given, layers.Dense(1)(layers.LSTM(3, stateful=True)(given)))
    model.compile("sgd", "mse")
    rows = np.zeros((40, 4, 2), "float32")
    said = failure(trial(model, rows, np.zeros(40), batch_size=16).short).message
    # Keras 3.3 leaves it to TensorFlow to say so.
    assert "initial state" in said or "must be equal, but are 8 and 16" in said
    assert isinstance(trial(model, rows, np.zeros(40), batch_size=16, validation_split=0.2).short, Unknown)


def test_labels_of_a_dataset_are_left_aside_when_it_is_predicted() -> None:
    rows = tf.data.Dataset.from_tensor_slices((X, np.zeros((40, 3)))).batch(8)
    found = collect_call(model_of(layers.Dense(1)), "predict", (rows,), {})
    assert found.data[0].y == ()
