"""`lint` reports names that Keras does not have where they look like a slip, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

import fitdoctor

PROGRAM = """\
import re
import keras

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="softmax")])
model.compile({})
"""


def said(tmp_path: Path, arguments: str, extra: str = "") -> list[str]:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM.replace("{}", arguments) + extra)
    return [finding.message for finding in fitdoctor.lint(path).findings if finding.id == "FIT302"]


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ('optimizer="adm", loss="mse"', "adam"),
        ('"adam", "categorical_crossentropi"', "categorical_crossentropy"),
        ('"adam", "mse", metrics=["acuracy"]', "accuracy"),
        ('"adam", loss={"a": "binary_crossentrpy"}', "binary_crossentropy"),
        ('"adam", "mse", metrics={"a": ["mae", "presicion"]}', "precision"),
        ('"adma", "mse"', "adam"),
    ],
)
def test_a_slip_is_reported_with_what_was_meant(arguments: str, meant: str, tmp_path: Path) -> None:
    (message,) = said(tmp_path, arguments)
    assert message.endswith(f"did you mean `{meant}`?")


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        ('"Adam", "MSE", metrics=["acc", "kl_divergence", "auc", "mae"]', ""),
        ('"sgdw", "weighted_binary_crossentropy", metrics=["dice", "f1", "rmse"]', ""),
        ('"adm", "mse"', "keras.utils.get_custom_objects()['adm'] = keras.optimizers.Adam\n"),
        ('"adm", "mse"', "with keras.utils.custom_object_scope({}):\n    pass\n"),
        ('"adm", "mse"', "class Mine(keras.Model):\n    def compile(self, kind, loss):\n        pass\n"),
        ('"adam", "mse"', 'pattern = re.compile("adm")\n'),
        ('"adam", "mse"', 'name = "adm"\nmodel.compile(name, "mse")\n'),
    ],
)
def test_what_may_be_meant_is_left_alone(arguments: str, extra: str, tmp_path: Path) -> None:
    assert said(tmp_path, arguments, extra) == []
