"""Facts about living models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fitdoctor.collect.codes import Codes
from fitdoctor.collect.model import collect_model
from fitdoctor.facts import ModelFacts, Unknown

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

pytestmark = [pytest.mark.tf, pytest.mark.filterwarnings("ignore")]
layers = keras.layers


def facts(model: Any) -> ModelFacts:
    return collect_model(model, Codes())


def test_a_sequential_model() -> None:
    model = keras.Sequential(
        [keras.Input((8, 4)), layers.LSTM(5, return_sequences=True), layers.Dense(3, activation="softmax")]
    )
    assert not facts(model).compiled
    model.compile(keras.optimizers.SGD(0.5), "sparse_categorical_crossentropy", metrics=["acc"])
    found = facts(model)
    assert (found.kind, found.built, found.compiled, found.keras) == ("sequential", True, True, 3)
    assert isinstance(found.inputs, tuple)
    assert isinstance(found.outputs, tuple)
    assert (found.inputs[0].shape, found.outputs[0].shape) == ((None, 8, 4), (None, 8, 3))
    assert [layer.class_name for layer in found.layers] == ["LSTM", "Dense"]
    assert found.layers[0].setting("return_sequences") == "True"
    assert found.layers[0].setting("units") == "5"
    assert found.layers[1].setting("activation") == "softmax"
    assert found.layers[1].input_shapes == ((None, 8, 5),)
    assert found.parameters == found.trainable_parameters == model.count_params()
    assert found.optimizer == "SGD"
    assert dict(found.optimizer_settings)["learning_rate"] == "0.5"
    assert (found.losses[0].name, found.losses[0].from_logits) == ("sparse_categorical_crossentropy", False)
    assert found.metrics[0].name == "acc"


def test_two_outputs_with_losses_by_name() -> None:
    one, two = keras.Input((4,), name="one"), keras.Input((4,), name="two")
    joined = layers.Concatenate()([one, two])
    model = keras.Model([one, two], [layers.Dense(1, name="a")(joined), layers.Dense(2, name="b")(joined)])
    model.compile("adam", loss={"a": "mse", "b": keras.losses.Huber()}, metrics={"a": ["mae"]})
    found = facts(model)
    assert (found.kind, found.input_structure, found.output_names) == ("functional", "list", ("a", "b"))
    assert (found.loss_structure, found.loss_keys, found.metric_keys) == ("dict", ("a", "b"), ("a",))
    assert [(loss.name, loss.output) for loss in found.losses] == [
        ("mean_squared_error", "a"),
        ("huber", "b"),
    ]
    assert found.metrics[0].class_name == "MeanAbsoluteError"


def own_loss(y_true: Any, y_pred: Any) -> Any:
    return y_pred


class OwnLoss(keras.losses.Loss):
    """A loss of the user's."""

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return y_pred


@pytest.mark.parametrize(
    ("loss", "name", "kind", "logits"),
    [
        ("mse", "mean_squared_error", "builtin", None),
        ("MeanSquaredError", "mean_squared_error", "builtin", None),
        (keras.losses.BinaryCrossentropy(from_logits=True), "binary_crossentropy", "builtin", True),
        (keras.losses.categorical_crossentropy, "categorical_crossentropy", "builtin", False),
        (own_loss, "own_loss", "function", None),
        (OwnLoss(), "OwnLoss", "class", None),
        (tf.nn.softmax_cross_entropy_with_logits, "softmax_cross_entropy_with_logits", "function", None),
    ],
)
def test_losses(loss: Any, name: str, kind: str, logits: bool | None) -> None:
    model = keras.Sequential([layers.Dense(1)])
    model.compile("adam", loss=loss)
    found = facts(model).losses[0]
    assert found.name.removesuffix("_v2") == name
    assert found.kind == kind
    assert (None if isinstance(found.from_logits, Unknown) else found.from_logits) is logits


class Inner(layers.Layer):
    """A layer of the user's with layers inside and a raw variable."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = layers.Dense(2)
        self.scale = tf.Variable(1.0)

    def call(self, inputs: Any) -> Any:
        self.add_loss(0.1)
        return self.dense(inputs) * self.scale


class Whole(keras.Model):
    """A model of the user's."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()

    def call(self, inputs: Any) -> Any:
        return self.inner(inputs)

    def train_step(self, data: Any) -> Any:
        return {}


def test_a_subclassed_model() -> None:
    model = Whole()
    model.compile("adam", "mse")
    found = facts(model)
    assert (found.kind, found.built, found.overrides) == ("subclassed", False, ("call", "train_step"))
    assert isinstance(found.inputs, Unknown)
    assert isinstance(found.trainable_parameters, Unknown)
    assert [layer.name for layer in found.every_layer()] == [model.inner.name, model.inner.dense.name]
    assert not found.layers[0].builtin
    assert found.added_losses
    assert len(found.untracked_variables) == 1
    assert "scale" in found.untracked_variables[0]


def test_variables_that_a_lambda_reaches() -> None:
    hidden = layers.Dense(3)
    weight = tf.Variable(2.0)
    inputs = keras.Input((3,))
    model = keras.Model(inputs, layers.Lambda(lambda t: hidden(t) * weight, output_shape=(3,))(inputs))
    words = " ".join(facts(model).untracked_variables)
    assert "hidden" in words
    assert "weight" in words


def test_what_was_frozen_after_the_step_was_traced() -> None:
    model = keras.Sequential([keras.Input((2,)), layers.Dense(2, name="first"), layers.Dense(1, name="last")])
    model.compile("adam", "mse")
    model.layers[0].trainable = False
    assert facts(model).trainable_changed == ()
    model.layers[0].trainable = True
    model.fit(np.zeros((4, 2)), np.zeros(4), verbose=0)
    assert facts(model).trainable_changed == ()
    model.layers[0].trainable = False
    assert facts(model).trainable_changed == ("first",)
    model.compile("adam", "mse")
    assert facts(model).trainable_changed == ()


def test_an_optimizer_that_belongs_to_another_model() -> None:
    optimizer = keras.optimizers.Adam()
    first, second = (keras.Sequential([keras.Input((2,)), layers.Dense(1)]) for _ in range(2))
    first.compile(optimizer, "mse")
    first.fit(np.zeros((4, 2)), np.zeros(4), verbose=0)
    second.compile(optimizer, "mse")
    assert dict(facts(second).optimizer_settings)["built_for"] == "other variables"
    assert "built_for" not in dict(facts(first).optimizer_settings)


def test_tf_keras_is_read_too() -> None:
    old = pytest.importorskip("tf_keras")
    model = old.Sequential([old.layers.Input((4,)), old.layers.Dense(3, activation="softmax")])
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
    found = facts(model)
    assert (found.keras, found.kind, found.losses[0].name) == (2, "sequential", "categorical_crossentropy")
    assert isinstance(found.outputs, tuple)
    assert found.outputs[0].shape == (None, 3)


class _Head(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.mix = layers.Dense(4, name="mix")
        self.score = layers.Dense(1, activation="sigmoid", name="score")

    def call(self, x: Any) -> Any:
        return self.score(self.mix(x))


class _Opaque(_Head):
    def call(self, x: Any) -> Any:
        return self.score(x + 1.0)


class _Chain(keras.Model):
    def __init__(self, head: Any) -> None:
        super().__init__()
        self.body = layers.Dense(4, name="body")
        self.head = head

    def call(self, x: Any) -> Any:
        return self.head(self.body(x))


def test_the_last_layers_are_known_through_models_in_models() -> None:
    assert facts(_Chain(_Head())).output_paths == (("score", "mix", "body"),)
    assert facts(_Chain(_Chain(_Head()))).output_paths == (("score", "mix", "body", "body"),)
    inputs = keras.Input((4,))
    functional = keras.Model(inputs, _Head()(layers.Dense(4, name="first")(inputs)))
    assert facts(functional).output_paths[0][:3] == ("score", "mix", "first")


def test_a_path_that_is_lost_inside_a_model_does_not_go_on_outside() -> None:
    assert facts(_Chain(_Opaque())).output_paths == (("score", "?", "body"),)
