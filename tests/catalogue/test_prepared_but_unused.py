"""What is made for training and never passed on (FIT005)."""

from __future__ import annotations

import pytest

from fitdoctor.diagnosis import Severity
from tests.catalogue.contract_programs import found

WEIGHTS = (
    "from sklearn.utils.class_weight import compute_class_weight\n"
    "balanced = compute_class_weight('balanced', classes=np.unique(y), y=y)\n"
)
END = "model = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n"


@pytest.mark.parametrize(
    ("text", "edit", "severity"),
    [
        (WEIGHTS, "class_weight=dict(enumerate(balanced))", Severity.WARNING),
        (WEIGHTS + "weights = dict(enumerate(balanced))\n", "class_weight=weights", Severity.WARNING),
        (WEIGHTS + "w = {i: one for i, one in enumerate(balanced)}\n", "class_weight=w", Severity.WARNING),
        ("stop = keras.callbacks.EarlyStopping(patience=3)\n", "callbacks=[stop]", Severity.INFO),
    ],
)
def test_nothing_gets_it(text: str, edit: str, severity: Severity) -> None:
    (finding,) = found(text + END, "FIT005")
    assert edit in finding.fixes[0].edits[0].replacement
    assert finding.severity is severity


def test_an_optimizer_that_compile_does_not_get() -> None:
    (finding,) = found("optimizer = keras.optimizers.SGD(1e-4)\n" + END, "FIT005")
    assert [edit.replacement for edit in finding.fixes[0].edits] == ["optimizer"]


@pytest.mark.parametrize(
    "text",
    [
        WEIGHTS + "model.compile('adam', 'mse')\nmodel.fit(x, y, class_weight=dict(enumerate(balanced)))",
        WEIGHTS + "print(balanced)\n" + END,
        "optimizer = keras.optimizers.SGD()\nmodel.compile(optimizer, 'mse')\nmodel.fit(x, y)",
        "def train(model, stop):\n    model.fit(x, y, callbacks=[stop])\n"
        "train(model, keras.callbacks.EarlyStopping())",
        # Another library's model is fitted here, and none is compiled.
        WEIGHTS + "clf = LogisticRegression()\nclf.fit(x, y)",
        "import re\nre.compile('a')\nadam = keras.optimizers.Adam()",
        "stop = keras.callbacks.EarlyStopping(patience=3)\n",
        "class Settings:\n    optimizer = keras.optimizers.SGD()\n" + END,
    ],
)
def test_it_is_used(text: str) -> None:
    assert found(text, "FIT005") == []
