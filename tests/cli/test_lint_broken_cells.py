"""A cell of a notebook that is not Python is told, and does not keep the other cells from being judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fitdoctor.cli import main

DATA = "import keras\nimport numpy as np\nx = np.random.rand(64, 8)\ny = np.random.randint(0, 3, 64)"
MODEL = "model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3, activation='softmax')])"
COMPILE = "model.compile('adam', 'categorical_crossentropy')"


def lint(folder: Path, *cells: str) -> int:
    notebook = {
        "cells": [{"cell_type": "code", "source": cell} for cell in cells],
        "metadata": {"kernelspec": {"language": "python"}},
    }
    (folder / "train.ipynb").write_text(json.dumps(notebook))
    return main(["lint", "--output-format", "concise", str(folder / "train.ipynb")])


def test_the_other_cells_are_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = lint(tmp_path, DATA, "\nfor i in range(3)\n    print(i)", MODEL, f"{COMPILE}\nmodel.fit(x, y)")
    out, err = capsys.readouterr()
    assert status == 2
    assert "cell 4:1:23: error FIT201" in out
    assert "cell 2:2: not valid Python" in err


def test_every_broken_cell_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lint(tmp_path, DATA, "print(", MODEL, "x = = 1")
    told = capsys.readouterr().err
    assert "cell 2:1" in told
    assert "cell 4:1" in told


@pytest.mark.parametrize(
    "cell",
    [
        "y = keras.utils.to_categorical(y, 3",
        "model.compile('adam', 'sparse_categorical_crossentropy'",
        "def prepare(:\n    global y\n    y = np.eye(3)[y]",
        "keras.config.run_functions_eagerly(True",
    ],
)
def test_what_a_broken_cell_names_is_unknown(
    cell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled = [] if "compile" in cell else [COMPILE]
    lint(tmp_path, DATA, MODEL, *compiled, cell, "model.fit(x, y)")
    assert "FIT" not in capsys.readouterr().out


def test_words_of_a_broken_cell_that_are_no_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = lint(tmp_path, DATA, "# ½ of the products\n<YOUR CODE>", MODEL, f"{COMPILE}\nmodel.fit(x, y)")
    assert status == 2
    assert "cell 4:1:23: error FIT201" in capsys.readouterr().out
