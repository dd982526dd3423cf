"""What the source tells of models and losses that a loop or a step of the user's own calls."""

from __future__ import annotations

import textwrap

import pytest

from fitdoctor.facts import CALL, TRAINING_CALL, Unknown
from fitdoctor.source.fits.fit_sites import FitSite, fit_sites
from tests.source.followed_programs import MODEL, module

STEP = """
loss_fn = keras.losses.SparseCategoricalCrossentropy()
def step(features, labels):
    with tf.GradientTape() as tape:
        return loss_fn(labels, model(features, training=True))
"""


def sites(text: str) -> tuple[FitSite, ...]:
    return fit_sites(module(text))


@pytest.mark.parametrize(
    "loop",
    [
        "for a, b in tf.data.Dataset.from_tensor_slices((x, y)).batch(10):\n    step(a, b)",
        "for n, (a, b) in enumerate(tf.data.Dataset.from_tensor_slices((x, y)).batch(10)):\n    step(a, b)",
        "a, b = next(iter(tf.data.Dataset.from_tensor_slices((x, y)).batch(10)))\nstep(a, b)",
        "def some():\n    for n in range(9):\n        yield x[n:n + 5], y[n:n + 5]\nfor a, b in some():\n    step(a, b)",
    ],
)
def test_a_loop_of_ones_own_tells_the_call_and_the_loss(loop: str) -> None:
    called, compared = sites(f"{MODEL}{STEP}{loop}\n")
    assert (called.fit.method, called.data[0].form) == (TRAINING_CALL, "batch")
    assert (called.data[0].x[0].path, called.data[0].x[0].shape) == ("features", (None, 8))
    assert [loss.name for loss in compared.model.losses] == ["sparse_categorical_crossentropy"]
    assert [part.path for part in compared.data[0].y] == ["labels"]


def test_a_call_that_trains_nothing_is_told_apart() -> None:
    (called,) = sites(f"{MODEL}model(x)\n")
    assert called.fit.method == CALL


def test_what_is_changed_on_the_way_is_no_output_of_the_model() -> None:
    text = f"{MODEL}loss = keras.losses.KLDivergence()\nloss(y, tf.nn.softmax(model(x)))\n"
    assert all(not site.data[0].y for site in sites(text))


def test_a_train_step_is_followed_with_a_batch_of_the_data() -> None:
    text = """
    class Own(keras.Model):
        def train_step(self, data):
            if isinstance(data, tuple):
                data, labels, weights = keras.utils.unpack_x_y_sample_weight(data)
            with tf.GradientTape() as tape:
                out = self(data)
    i = keras.Input((4,))
    model = Own(i, keras.layers.Dense(1)(i))
    model.compile("adam")
    model.fit(np.zeros((20, 5)), np.zeros(20))
    """
    fitted, called = sites(textwrap.dedent(text))
    assert (fitted.fit.method, called.fit.method) == ("fit", TRAINING_CALL)
    assert called.data[0].x[0].shape == (None, 5)


@pytest.mark.parametrize("change", ["train_test_split(rows, y)[0]", "list(rows)", "rows[:50]"])
def test_a_list_of_samples_stays_one(change: str) -> None:
    text = (
        "from sklearn.model_selection import train_test_split\n"
        f"{MODEL}rows = []\nfor path in open('list'):\n    rows.append(np.load(path))\nmodel.fit({change}, y)\n"
    )
    (fitted,) = sites(text)
    assert fitted.data[0].x[0].container == "list"
    assert isinstance(fitted.data[0].x[0].shape, Unknown)
