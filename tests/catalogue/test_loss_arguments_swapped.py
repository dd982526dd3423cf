"""A loss whose first argument is predicted (FIT223): where that is evident, and where it is meant."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.catalogue.contract_programs import found

MODEL = "model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation='sigmoid')])\n"


@pytest.mark.parametrize(
    "text",
    [
        """
        def loss(y_true, y_pred):
            return keras.losses.binary_crossentropy(y_pred, y_true)
        """,
        """
        def loss(y_true, y_pred):
            true = tf.one_hot(y_true, 3)
            return keras.losses.categorical_crossentropy(y_pred, true)
        """,
        """
        base = keras.losses.BinaryCrossentropy()
        def loss(y_true, y_pred):
            return 2.0 * base(y_pred, y_true)
        """,
        """
        class Own(keras.losses.Loss):
            def call(self, target, output):
                return keras.losses.binary_crossentropy(output, target)
        """,
        """
        bce = keras.losses.BinaryCrossentropy()
        for x, y in data:
            with tf.GradientTape() as tape:
                p = model(x)
                loss = bce(p, y)
        """,
        """
        bce = keras.losses.BinaryCrossentropy()
        def step(x, y):
            return bce(model(x, training=True), y)
        """,
    ],
)
def test_predictions_that_come_first_are_found(text: str) -> None:
    assert len(found(MODEL + dedent(text), "FIT223")) == 1


@pytest.mark.parametrize(
    "text",
    [
        """
        def loss(y_true, y_pred):
            return keras.losses.mean_squared_error(y_pred, y_true)
        """,
        """
        def loss(y_true, y_pred):
            return keras.losses.kl_divergence(y_pred, y_true)
        """,
        """
        def symmetric(y_true, y_pred):
            there = keras.losses.binary_crossentropy(y_true, y_pred)
            return there + keras.losses.binary_crossentropy(y_pred, y_true)
        """,
        """
        def towards_one(y_true, y_pred):
            return keras.losses.binary_crossentropy(tf.ones_like(y_pred), y_pred)
        """,
        """
        def entropy(y_true, y_pred):
            return keras.losses.categorical_crossentropy(y_pred, y_pred)
        """,
        """
        def distil(student, teacher, x, y):
            return keras.losses.categorical_crossentropy(teacher(x), student(x))
        """,
        """
        ce = keras.losses.CategoricalCrossentropy()
        def step(x):
            soft = teacher(x)
            p = model(x)
            return ce(soft, p)
        """,
        """
        ce = keras.losses.CategoricalCrossentropy()
        def step(x):
            p = model(x)
            return ce(p, teacher(x))
        """,
        """
        bce = keras.losses.BinaryCrossentropy()
        def step(real):
            out = model(real)
            return bce(tf.ones_like(out), out)
        """,
    ],
)
def test_an_order_that_is_meant_or_makes_no_difference_is_not_found(text: str) -> None:
    assert found(MODEL + dedent(text), "FIT223") == []
