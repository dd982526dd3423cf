"""`fitdoctor fix` from the command line, on real programs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.runner.programs import environment
from tests.support.fork_server import ForkServer

MODEL = """
import keras
import numpy as np

rng = np.random.default_rng(0)
x = rng.normal(size=(64, 4)).astype("float32")
"""
SHIFTED = f"""{MODEL}
y = rng.integers(1, 4, size=64)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(x, y, epochs=50, verbose=0)
"""
NOT_COMPILED = f"""{MODEL}
y = rng.normal(size=(64, 1))
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.fit(x, y, verbose=0)
"""
NOT_BATCHED = f"""{MODEL}
import tensorflow as tf
y = rng.normal(size=(64, 1))
train = tf.data.Dataset.from_tensor_slices((x, y))
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(train, verbose=0)
"""


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "fitdoctor", "fix", *words],
        cwd=folder,
        env=environment(folder),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def fixed(folder: Path, *words: str) -> tuple[int, str, str]:
    with started(folder, *words) as process:
        out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def forked(server: ForkServer, folder: Path, *words: str) -> tuple[int, str, str]:
    """`fitdoctor fix WORDS…` of a program that need not import TensorFlow again."""
    done = server.command(folder, "fix", *words, environment=environment(folder), timeout=300)
    return done.returncode, done.stdout, done.stderr


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "cache")


# --- without TensorFlow -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["missing.py"],
        ["missing.ipynb"],
        ["--timeout", "0", "a.py"],
        ["--timeout", "x", "a.py"],
        ["--nonsense", "a.py"],
        ["--select", "FIT999", "a.py"],
        ["a.py", "--write"],
        ["bad.py"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_one_line(tmp_path, words):
    (tmp_path / "a.py").write_text("print('never run'); open('ran', 'w')\n")
    (tmp_path / "bad.py").write_text("x = (\n")
    status, out, err = fixed(tmp_path, *words)
    assert status == 2 and not out and err.startswith("fitdoctor: ") and err.count("\n") == 1
    assert names(tmp_path) == ["a.py", "bad.py"]


def test_a_program_without_a_fault(tmp_path):
    (tmp_path / "a.py").write_text("import sys\nassert sys.argv == ['a.py', '--epochs', '3'], sys.argv\n")
    status, out, err = fixed(tmp_path, "a.py", "--epochs", "3")
    assert (status, out) == (0, "") and "no problems found" in err


def test_a_program_that_needs_input(tmp_path):
    (tmp_path / "a.py").write_text("name = input('name? ')\n")
    status, _out, err = fixed(tmp_path, "a.py")
    assert status == 1 and "reads standard input" in err and "no repair found" in err


def test_a_program_that_never_ends_is_ended_with_all_that_it_started(tmp_path):
    (tmp_path / "a.py").write_text(
        "import os, time\n"
        "child = os.fork()\n"
        "if child: open('child', 'w').write(str(child))\n"
        "while True: time.sleep(0.1)\n"
    )
    status, _out, err = fixed(tmp_path, "--timeout", "3", "a.py")
    assert status == 1 and "did not finish within 3 s" in err
    assert _gone(int((tmp_path / "child").read_text()))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_nothing_behind(tmp_path, number):
    text = "import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(60)\n"
    (tmp_path / "a.py").write_text(text)
    process = started(tmp_path, "a.py")
    pid = tmp_path / "pid"
    for _wait in range(300):
        if pid.exists() and pid.read_text():
            break
        time.sleep(0.1)
    process.send_signal(number)
    _out, err = process.communicate(timeout=30)
    assert process.returncode == 128 + number and "Traceback" not in err
    assert _gone(int(pid.read_text()))
    assert (tmp_path / "a.py").read_text() == text and names(tmp_path) == ["a.py", "pid"]


def _gone(pid: int) -> bool:
    for _wait in range(50):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        # A zombie whose parent has not asked yet is dead all the same.
        stat = Path(f"/proc/{pid}/stat")
        if stat.exists() and ") Z " in stat.read_text():
            return True
        time.sleep(0.1)
    return False


# --- with TensorFlow ----------------------------------------------------------------------------------------------


@pytest.mark.tf
@pytest.mark.parametrize(
    ("program", "cause", "line"),
    [
        (SHIFTED, "FIT203", "+y = rng.integers(1, 4, size=64) - 1"),
        (NOT_COMPILED, "FIT301", "+model.compile("),
        (NOT_BATCHED, "FIT701", ".batch(32)"),
    ],
    ids=["labels shifted", "not compiled", "not batched"],
)
def test_repaired_and_proved(tmp_path, server, program, cause, line):
    (tmp_path / "train.py").write_text(program)
    status, out, err = forked(server, tmp_path, "--unsafe", "train.py")
    assert status == 0, out + err
    assert f"[{cause}]" in out and "; verified)" in out and line in out
    assert (tmp_path / "train.py").read_text() == program
    assert names(tmp_path) == ["train.py"]


@pytest.mark.tf
def test_writing_keeps_a_backup_and_a_second_time_changes_nothing(tmp_path, server):
    script = tmp_path / "train.py"
    script.write_text(SHIFTED)
    report = tmp_path / "report.json"
    words = ["--write", "--output-format", "json", "--output-file", "report.json", "train.py"]
    assert fixed(tmp_path, *words)[0] == 0
    plain = json.loads(report.read_text())
    assert plain["findings"][0]["fixes"][0]["verified"] is True
    assert plain["script"]["exit_code"] == 1
    mended = script.read_text()
    assert mended != SHIFTED and (tmp_path / "train.py.orig").read_text() == SHIFTED
    status, _out, err = forked(server, tmp_path, "--write", "train.py")
    assert status == 0 and "no problems found" in err
    assert script.read_text() == mended
    assert names(tmp_path) == ["report.json", "train.py", "train.py.orig"]


@pytest.mark.tf
def test_a_repair_that_hangs_is_not_taken(tmp_path, server):
    hanging = SHIFTED + "\nimport time\ntime.sleep(600)\n"
    (tmp_path / "train.py").write_text(hanging)
    status, out, err = forked(server, tmp_path, "--timeout", "12", "train.py")
    assert status == 1 and "repair found (1 tried)" in err, err
    assert "+y" not in out and names(tmp_path) == ["train.py"]


@pytest.mark.tf
def test_a_module_of_the_project_is_repaired_through_a_copy(tmp_path, server):
    package = tmp_path / "parts"
    package.mkdir()
    (package / "__init__.py").write_text("")
    model = (
        "import keras\n\n\ndef build():\n"
        "    model = keras.Sequential([keras.Input((9,)), keras.layers.Dense(1)])\n"
        '    model.compile(optimizer="adam", loss="mse")\n    return model\n'
    )
    (package / "model.py").write_text(model)
    (tmp_path / "train.py").write_text(
        f"{MODEL}\nfrom parts.model import build\n\nbuild().fit(x, rng.normal(size=(64, 1)), verbose=0)\n"
    )
    status, out, err = forked(server, tmp_path, "--unsafe", "--write", "train.py")
    assert status == 0, out + err
    assert "+++ b/parts/model.py" in out and "keras.Input((4,))" in (package / "model.py").read_text()
    assert (package / "model.py.orig").read_text() == model
    assert names(tmp_path) == ["parts", "train.py"]


@pytest.mark.tf
def test_a_notebook_is_repaired_in_its_cell(tmp_path, server):
    first, second = SHIFTED.split("model = ", 1)
    cells = [
        ["%matplotlib inline\n", *first.splitlines(keepends=True)],
        ["model = " + second],
        ["display(model.name)"],
    ]
    notebook = {
        "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    text = json.dumps(notebook, indent=1)
    (tmp_path / "n.ipynb").write_text(text)
    status, out, err = forked(server, tmp_path, "--write", "n.ipynb")
    assert status == 0, out + err
    assert "n.ipynb:cell 1:" in out
    assert (tmp_path / "n.ipynb").read_text() == text.replace("size=64)", "size=64) - 1")


# --- what is said -------------------------------------------------------------------------------------------------


@pytest.mark.tf
def test_only_unsafe_repairs_are_named_with_the_way_to_get_them(tmp_path, server):
    (tmp_path / "train.py").write_text(NOT_COMPILED)
    status, out, err = forked(server, tmp_path, "train.py")
    assert status == 1 and "+" not in out
    assert "unsafe repair, not tried: FIT301: " in err
    assert "no safe repair found; an unsafe repair exists: use `--unsafe`" in err


@pytest.mark.tf
def test_a_chain_of_mistakes_is_told_step_by_step_without_noise(tmp_path, server):
    (tmp_path / "train.py").write_text(
        SHIFTED.replace('optimizer="adam"', "optimizer=keras.optimizers.Adam(lr=0.1)") + "open('gone.txt')\n"
    )
    status, out, err = forked(server, tmp_path, "--all", "train.py")
    assert status == 1
    assert "FIT902 is fixed; the program now stops at FIT203" in out
    assert "2 of 3 repaired; the program now raises FileNotFoundError" in err
    assert err.count("\n") == 1 and err.endswith("nothing written; use `--write` to apply\n"), err


def test_a_package_is_repaired_in_the_module_that_needs_it(tmp_path, server):
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "config.py").write_text("UNITS = 3\n")
    (package / "train.py").write_text(
        f"from .config import UNITS\n{MODEL}"
        "y = np.arange(64) % 4\n"
        "model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(UNITS, activation='softmax')])\n"
        "model.compile(optimizer='adam', loss='sparse_categorical_crossentropy')\n"
        "model.fit(x, y, verbose=0)\n"
    )
    status, out, err = forked(server, tmp_path, "--unsafe", "--write", "-m", "pack.train")
    assert status == 0, out + err
    assert (package / "config.py").read_text() == "UNITS = 4\n"
    assert names(package) == ["__init__.py", "config.py", "config.py.orig", "train.py"]
