"""`fitdoctor memory` from the command line."""

from __future__ import annotations

import json

import pytest

from fitdoctor.cli import UsageError
from fitdoctor.cli.memory import _bytes, _shapes, main


@pytest.mark.parametrize(
    ("text", "size"),
    [("512", 512), ("8G", 8 << 30), ("1.5 GiB", 3 << 29), ("10MB", 10 << 20), ("2t", 2 << 40)],
)
def test_sizes(text, size):
    assert _bytes(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1G", "8X"])
def test_what_is_no_size(text):
    with pytest.raises(UsageError, match="such as 8G"):
        _bytes(text)


def test_shapes():
    assert _shapes([]) is None
    assert _shapes(["224,224,3"]) == (224, 224, 3)
    assert _shapes(["(8,)", "2,3"]) == [(8,), (2, 3)]
    assert _shapes(["image=4,4", "words=7"]) == {"image": (4, 4), "words": (7,)}


@pytest.mark.parametrize("words", [["a,b"], ["0,3"], ["image=3", "4"]])
def test_what_is_no_shape(words):
    with pytest.raises(UsageError):
        _shapes(words)


def test_a_batch_of_nothing():
    with pytest.raises(UsageError, match="must be 1 or more, not 0"):
        main(["train:model", "--batch-size", "0"])


def test_no_such_module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="there is no file"):
        main(["nothing.py:model"])


@pytest.mark.tf
def test_a_function_that_makes_a_model(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made.py").write_text(
        "import keras\n"
        "def build():\n"
        "    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4)])\n"
        "    model.compile('adam', 'mse')\n"
        "    return model\n"
    )
    assert main(["made.py:build", "--batch-size", "4", "--output-format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["memory"]["batch_size"] == 4
    assert main(["made.py:build", "--batch-size", "4", "--available", "1K"]) == 1
    assert "does not fit" in capsys.readouterr().out
