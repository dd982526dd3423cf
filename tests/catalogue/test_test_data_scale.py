"""Data of `evaluate` and `predict` on another scale than the training data (FIT717)."""

from __future__ import annotations

import pytest

from fitdoctor.source.fits.fit_sites import fit_sites
from tests.catalogue.contract_programs import found, project

DATA = """
import keras, numpy as np
(x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()
model = keras.Sequential([keras.Input((28, 28)), keras.layers.Flatten(), keras.layers.Dense(10)])
model.compile('adam', keras.losses.SparseCategoricalCrossentropy(from_logits=True))
"""


@pytest.mark.parametrize("later", ["model.evaluate(x_test, y_test)", "model.predict(x_test)"])
def test_pixels_are_divided_for_training_only(later: str) -> None:
    fit = "x_train = x_train / 255\nmodel.fit(x_train, y_train)\n"
    (finding,) = found(DATA + fit + later, "FIT717")
    assert [edit.replacement.strip() for edit in finding.fixes[0].edits] == ["x_test = x_test / 255"]


def test_pixels_of_a_slice_are_divided_for_training_only() -> None:
    text = (
        "x_train = x_train / 255\nx_test = x_test[:500]\nmodel.fit(x_train, y_train)\nmodel.predict(x_test)"
    )
    (finding,) = found(DATA + text, "FIT717")
    assert finding.message.startswith(
        "`x_test` ranges from 0 to 255, but the training data ranges from 0 to 1"
    )
    assert [edit.replacement.strip() for edit in finding.fixes[0].edits] == ["x_test / 255"]


@pytest.mark.parametrize(
    "text",
    [
        "x_train = x_train / 255\nx_test = x_test / 255\nmodel.fit(x_train, y_train)\nmodel.evaluate(x_test, y_test)",
        "model.fit(x_train, y_train)\nmodel.evaluate(x_test, y_test)",
        # Trained on both, evaluated on either.
        "model.fit(x_train / 255, y_train)\nmodel.fit(x_train, y_train)\nmodel.evaluate(x_test, y_test)",
        # Not trained here.
        "x_train = x_train / 255\nmodel.load_weights('best.weights.h5')\nmodel.evaluate(x_test, y_test)",
    ],
)
def test_data_on_the_scale_of_the_training_data(text: str) -> None:
    assert found(DATA + text, "FIT717") == []


def test_a_second_fit_of_one_encoder_becomes_transform() -> None:
    text = """
import keras, numpy as np
from sklearn.preprocessing import StandardScaler
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile('adam', 'mse')
scaler = StandardScaler()
x, y = np.random.rand(60, 3), np.random.rand(60)
model.fit(scaler.fit_transform(x), y)
newer = np.random.rand(40, 3)
{}
"""
    (finding,) = found(text.format("model.predict(scaler.fit_transform(newer))"), "FIT717")
    assert [edit.replacement for edit in finding.fixes[0].edits] == ["scaler.transform(newer)"]
    trained_again = "model.fit(scaler.fit_transform(newer), y[:40])\nmodel.predict(scaler.transform(x))"
    assert found(text.format(trained_again), "FIT717") == []


PARTS = """
import keras, numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
X_train, X_test, y_train, y_test = train_test_split(np.load('x.npy'), np.load('y.npy'))
scaler = StandardScaler()
{}
model = keras.Sequential([keras.layers.Dense(1)])
model.compile('adam', 'mse')
model.fit(X_train, y_train)
{}
"""
EVALUATE = "model.evaluate(X_test, y_test)"


@pytest.mark.parametrize(
    ("scaled", "repeated"),
    [
        ("X_train = scaler.fit_transform(X_train)", "X_test = scaler.transform(X_test)"),
        ("mean = X_train.mean()\nX_train = (X_train - mean) / 3", "X_test = (X_test - mean) / 3"),
        ("X_train /= 255", "X_test /= 255"),
    ],
)
@pytest.mark.parametrize("later", [EVALUATE, "p = model.predict(X_test)"])
def test_only_the_training_part_of_a_split_is_scaled(scaled: str, repeated: str, later: str) -> None:
    (finding,) = found(PARTS.format(scaled, later), "FIT717")
    assert [edit.replacement.strip() for edit in finding.fixes[0].edits] == [repeated]


@pytest.mark.parametrize(
    ("prepared", "later"),
    [
        ("X_train = scaler.fit_transform(X_train)\nX_test = scaler.transform(X_test)", EVALUATE),
        ("X_train = scaler.fit_transform(X_train)", "model.evaluate(scaler.transform(X_test), y_test)"),
        ("X_train /= 255\nX_test /= 255", EVALUATE),
        ("X_train /= 255\nX_test[:] = X_test / 255", EVALUATE),
        ("X_train = X_train + np.random.normal(size=X_train.shape)", EVALUATE),
        ("X_train = X_train - np.random.normal(size=X_train.shape)", EVALUATE),
        # Another model is evaluated.
        ("X_train /= 255", "other = keras.models.load_model('raw.keras')\nother.evaluate(X_test, y_test)"),
        ("X_train /= 255\nscale_in_place(X_test)", EVALUATE),
        ("def work():\n    return X_test\nX_train /= 255", EVALUATE),
    ],
)
def test_the_other_part_is_prepared_as_well(prepared: str, later: str) -> None:
    assert found(PARTS.format(prepared, later), "FIT717") == []


FITTED_IN_A_HELPER = """
import csv
import keras, numpy as np
from keras.preprocessing.text import Tokenizer

def read(path):
    names = []
    with open(path) as file:
        for row in csv.reader(file):
            names.append(row[0])
    return names

def numbered(every, some):
    tokenizer = Tokenizer()
    tokenizer.fit_on_texts(every)
    return np.array(tokenizer.texts_to_sequences(some))

names = read('names.csv')
first, last = names[:900], names[900:]
model = keras.Sequential([keras.layers.Embedding(99, 8), keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile('adam', 'mse')
y = np.random.rand(1000)
model.fit(numbered(EVERY, first), y[:900], validation_data=(numbered(SOME, last), y[900:]))
"""


@pytest.mark.parametrize(("first", "second", "number"), [("names", "names", 0), ("first", "last", 1)])
def test_an_encoder_is_fitted_again_to_the_same_data(first: str, second: str, number: int) -> None:
    text = FITTED_IN_A_HELPER.replace("EVERY", first).replace("SOME", second)
    assert len(found(text, "FIT717", keras=2)) == number


def test_fitting_an_encoder_to_its_own_result_in_a_loop_stays_cheap() -> None:
    text = """
    from sklearn.preprocessing import StandardScaler
    x = np.random.rand(60, 6)
    for name in range(30):
        x = StandardScaler().fit_transform(x)
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)])
    model.compile('adam', 'mse')
    model.fit(x, y[:60], validation_data=(x, y[:60]))
    """
    (site,) = fit_sites(project(text).modules[0])
    history = site.data[0].x[0].history
    assert history and max(len(event.mark) for event in history) < 100
