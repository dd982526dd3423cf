"""What a program makes of its predictions (FIT221)."""

from __future__ import annotations

import pytest

from tests.catalogue.contract_programs import found

DATA = "import keras, numpy as np\nx = np.random.rand(90, 4)\ny = np.random.randint(0, 2, 90)\n"
MODEL = DATA + "model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1{})])\n"
LOGITS = (
    MODEL.format("")
    + "model.compile('adam', keras.losses.BinaryCrossentropy(from_logits=True))\nmodel.fit(x, y)\n"
)
SIGMOID = MODEL.format(", 'sigmoid'") + "model.compile('adam', 'binary_crossentropy')\nmodel.fit(x, y)\n"
REGRESSION = MODEL.format("") + "model.compile('adam', 'mse')\nmodel.fit(x, y)\n"


def edits(text: str) -> list[str]:
    return [edit.replacement for finding in found(text, "FIT221") for edit in finding.fixes[0].edits]


@pytest.mark.parametrize(
    ("reading", "fixed"),
    [
        ("model.predict(x) > 0.5", "0"),
        ("p = model.predict(x)\nlabels = [int(one >= 0.5) for one in p]", "0"),
        ("for p in model.predict(x):\n    print(0.5 < p[0])", "0"),
        ("def decide(p):\n    return np.where(p > 0.5, 1, 0)\ndecide(model.predict(x)[:, 0])", "0"),
        ("p = np.squeeze(model.predict(x))\nlabels = np.round(p)", '(p > 0).astype("int32")'),
        ("p = model.predict(x).round()", '(model.predict(x) > 0).astype("int32")'),
    ],
)
def test_logits_are_compared_with_0(reading: str, fixed: str) -> None:
    assert edits(LOGITS + reading) == [fixed]
    assert found(SIGMOID + reading, "FIT221") == found(REGRESSION + reading, "FIT221") == []


@pytest.mark.parametrize(
    ("reading", "fixed"),
    [
        ("np.argmax(model.predict(x), axis=1)", '(model.predict(x)[..., 0] > {}).astype("int32")'),
        ("p = model.predict(x)\np.argmax(-1)", '(p[..., 0] > {}).astype("int32")'),
        ("p = model.predict(x)\nlabels = [np.argmax(row) for row in p]", "int(row[0] > {})"),
        ("p = model.predict(x)\nnp.argmax(p[3])", "int(p[3][0] > {})"),
    ],
)
def test_one_column_is_compared_with_a_threshold(reading: str, fixed: str) -> None:
    assert edits(SIGMOID + reading) == [fixed.format("0.5")]
    assert edits(LOGITS + reading) == [fixed.format("0")]
    assert edits(REGRESSION + reading) == [] != found(REGRESSION + reading, "FIT221")


@pytest.mark.parametrize(
    "reading",
    [
        "1 / (1 + np.exp(-model.predict(x))) > 0.5",
        "model.predict(x) > 0.0",
        "np.round(model.predict(x), 3)",
        "keras.Sequential([model, keras.layers.Activation('sigmoid')]).predict(x) > 0.5",
        "p = model.predict(x)\np = keras.ops.sigmoid(p)\np > 0.5",
        "best = np.argmax(model.predict(x))",
        "p = model.predict(x)\nnp.argmax(np.hstack([1 - p, p]), axis=1)",
        "p = model.predict(x)\np[:, 0].argmax()",
        # The best of each ten.
        "p = model.predict(x).ravel().reshape(9, 10)\np.argmax(1)",
        "np.argmax(model.predict(x)[:, 0].reshape(9, 10), axis=1)",
        "np.argmax(np.reshape(model.predict(x), (9, 10)), axis=-1)",
    ],
)
def test_other_readings_are_right(reading: str) -> None:
    assert found(LOGITS + reading, "FIT221") == []


AUTOENCODER = """
inputs = keras.Input((8,))
model = keras.Model(inputs, layers.Dense(8)(layers.Dense(2)(inputs)))
model.compile("adam", "mse")
other = keras.Model(inputs, layers.Dense(8)(inputs))
other.compile("adam", "mse")
x = np.random.rand(60, 8)
model.fit(x, x)
restored = model.predict(x)
"""


def test_predictions_are_evaluated_as_inputs() -> None:
    (finding,) = found(AUTOENCODER + "print(model.evaluate(restored, x))", "FIT221")
    assert [edit.replacement for edit in finding.fixes[0].edits] == ["x"]


@pytest.mark.parametrize(
    "later",
    [
        "model.evaluate(x, restored)",
        "model.evaluate(x, x)",
        "other.evaluate(restored, x)",
        "restored = x[:30]\nmodel.evaluate(restored, x[:30])",
    ],
)
def test_other_data_is_evaluated(later: str) -> None:
    assert found(AUTOENCODER + later, "FIT221") == []
