"""`fitdoctor run notebook.ipynb`: its cells in order as a program, places as cell and line, the file left as it was."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runner.programs import doctored, environment

WITHOUT_IPYTHON = """
import sys
sys.modules["IPython"] = sys.modules["IPython.core"] = None
"""


def notebook(path: Path, *cells: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    written = [{"cell_type": "markdown", "metadata": {}, "source": "# A title"}]
    written += [
        {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": cell}
        for cell in cells
    ]
    metadata = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": written}))
    return path


def test_cells_run_in_order_beside_their_notebook_with_their_arguments(tmp_path: Path) -> None:
    notebook(
        tmp_path / "study" / "all.ipynb",
        "import os, sys",
        "",
        "a = 1",
        "print(a, os.path.basename(os.getcwd()))",
    )
    notebook(
        tmp_path / "study" / "words.ipynb",
        "import sys\nprint(sys.argv[1:], __name__, '__file__' in globals())",
    )
    assert doctored(tmp_path, "study/all.ipynb").stdout == "1 study\n"
    assert (
        doctored(tmp_path, "study/words.ipynb", "--epochs", "3").stdout
        == "['--epochs', '3'] __main__ False\n"
    )


def test_magics_do_what_ipython_does(tmp_path: Path) -> None:
    pytest.importorskip("IPython")
    notebook(
        tmp_path / "magics.ipynb",
        "%env GREETING=hello\n!echo from the shell",
        "%%time\nimport os\nprint(os.environ['GREETING'])",
        "import asyncio\nawait asyncio.sleep(0)\ndisplay(42)",
    )
    ended = doctored(tmp_path, "magics.ipynb")
    assert ended.returncode == 0, ended.stderr
    assert "from the shell\n" in ended.stdout and "hello\nCPU times" in ended.stdout and "42" in ended.stdout


def test_what_a_cell_raises_ends_the_program_at_its_cell_and_line(tmp_path: Path) -> None:
    path = notebook(
        tmp_path / "fails.ipynb", "print('first')", "\n\ndef f():\n    return missing\nf()", "print('never')"
    )
    before = path.read_bytes()
    ended = doctored(tmp_path, "fails.ipynb")
    assert (ended.returncode, ended.stdout) == (1, "first\n")
    assert '  File "<cell 2>", line 4, in f\n    return missing\n' in ended.stderr
    assert "--> fails.ipynb:cell 2:4:12" in ended.stderr and "IPython" not in ended.stderr
    assert "fitdoctor/runner" not in ended.stderr and path.read_bytes() == before


def test_what_capture_hides_ends_the_program_all_the_same(tmp_path: Path) -> None:
    pytest.importorskip("IPython")
    notebook(tmp_path / "hides.ipynb", "%%capture\n\nprint(1)\nmissing", "print('never')")
    ended = doctored(tmp_path, "hides.ipynb")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "--> hides.ipynb:cell 1:4:1" in ended.stderr


@pytest.mark.parametrize(("cell", "status"), [("import sys\nsys.exit(3)", 3), ("exit()", 0), ("if x", 1)])
def test_the_exit_status_is_the_programs(cell: str, status: int, tmp_path: Path) -> None:
    notebook(tmp_path / "ends.ipynb", cell, "print('never')")
    ended = doctored(tmp_path, "ends.ipynb")
    assert (ended.returncode, ended.stdout) == (status, "")
    assert "To exit: use" not in ended.stderr


def test_without_ipython_magics_are_left_out_and_the_places_hold(tmp_path: Path) -> None:
    notebook(tmp_path / "plain.ipynb", "%matplotlib inline\nprint('one')", "%%time\ndisplay('two')\nmissing")
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_IPYTHON)
    given = environment(tmp_path)
    given["PYTHONPATH"] += f":{tmp_path}"
    command = [sys.executable, "-m", "fitdoctor", "run", "plain.ipynb"]
    ended = subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, "one\ntwo\n")
    assert ended.stderr.count("IPython is not installed") == 1
    assert '  File "<cell 2>", line 3, in <module>\n    missing\n' in ended.stderr
    assert "--> plain.ipynb:cell 2:3:1" in ended.stderr


MODEL = (
    "import numpy as np, keras\n%load_ext fitdoctor",
    "",
    "x = np.random.rand(64, 8).astype('float32')\ny = np.random.randint(1, 11, 64)",
    "model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(10, activation='softmax')])\n"
    "model.compile('sgd', 'sparse_categorical_crossentropy')",
)


@pytest.mark.tf
def test_a_fit_is_stopped_once_with_the_place_to_change_even_if_its_output_is_captured(
    tmp_path: Path,
) -> None:
    notebook(tmp_path / "train.ipynb", *MODEL, "%%capture\n%time model.fit(x, y, verbose=0)")
    ended = doctored(tmp_path, "train.ipynb")
    assert ended.returncode == 1
    assert ended.stderr.count("error[FIT203]") == 1 and " --> train.ipynb:cell 3:2:5\n" in ended.stderr
    assert "stopped at train.ipynb:cell 5:2, before `fit` ran" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.tf
def test_smoke_makes_two_steps_and_a_warning_is_told_once_from_another_folder(tmp_path: Path) -> None:
    notebook(
        tmp_path / "study" / "train.ipynb",
        *MODEL,
        "model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(10)])\n"
        "model.compile('sgd', 'sparse_categorical_crossentropy')\n"
        "history = model.fit(x, y - 1, epochs=1000, batch_size=1, verbose=0)\n"
        "print(len(history.epoch), int(model.optimizer.iterations))",
    )
    ended = doctored(tmp_path, "--smoke", "study/train.ipynb")
    assert (ended.returncode, ended.stdout) == (0, "1000 2\n")
    assert ended.stderr.count("warning[FIT210]") == 1 and " --> study/train.ipynb:cell 5:2:" in ended.stderr
