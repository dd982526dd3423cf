"""Whichever way the arguments of fit are passed, the line that made each of them is blamed, and edited."""

from __future__ import annotations

import itertools
import runpy
from pathlib import Path
from typing import Any

import pytest

from fitdoctor.diagnosis import Diagnosis, Finding
from fitdoctor.edits import apply_edits
from fitdoctor.runner.will_fail import FitWillFail

pytestmark = pytest.mark.tf

HEAD = """\
import functools
import numpy as np
import keras
import fitdoctor

def build():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy")
    return model

model = build()
weights = np.ones(8, "float32")
x = np.ones((8, 4), "float32")
y = np.array([1, 2, 3, 3, 1, 2, 3, 1])
"""
NAN_HEAD = HEAD.replace('np.ones((8, 4), "float32")', 'np.full((8, 4), np.nan, "float32")').replace(
    "np.array([1, 2, 3, 3, 1, 2, 3, 1])", "np.array([0, 1, 2, 2, 0, 1, 2, 0])"
)
"""The labels of `HEAD` are wrong and its inputs are right; here it is the other way around."""


def ran(tmp_path: Path, text: str) -> dict[str, Any]:
    path = tmp_path / "program.py"
    path.write_text(text)
    return runpy.run_path(str(path))


def blamed(diagnosis: Diagnosis, cause: str) -> Finding:
    assert diagnosis.crashes == ()
    return next(finding for finding in diagnosis.findings if finding.id == cause)


def line_of(tmp_path: Path, finding: Finding) -> str:
    assert finding.location is not None
    return (tmp_path / "program.py").read_text().splitlines()[finding.location.line - 1]


def mended(tmp_path: Path, finding: Finding) -> list[str]:
    """The lines that the first repair with an edit changes or adds."""
    text = (tmp_path / "program.py").read_text()
    repair = next(fix for fix in finding.fixes if fix.edits)
    new = apply_edits(text, repair.edits)
    return [line for line in new.splitlines() if line not in text.splitlines()]


def ways(first: str, *names: str) -> list[str]:
    """The arguments by position and by keyword, in every mix that Python takes."""
    found = []
    for count in range(len(names) + 1):
        keywords = [f"{name}={name}" for name in names[count:]]
        for order in itertools.permutations(keywords):
            words = [*([first] if first else []), *names[:count], *order]
            found.append(", ".join(words))
    return found


CHECKS = [
    *(f"fitdoctor.check({words})" for words in ways("model", "x", "y")),
    *(f"fitdoctor.check({words}, model=model)" for words in ("x=x, y=y", "y=y, x=x")),
    "fitdoctor.check(model, x, y, 4, 1)",
    "fitdoctor.check(build(), x, y)",
    "fitdoctor.check(model, x, y, method='evaluate')",
    "fitdoctor.check(model, method='train_on_batch', x=x, y=y)",
    "fitdoctor.check(model, *(x, y))",
    "fitdoctor.check(*(model, x, y))",
    "fitdoctor.check(*(model, x), y)",
    "fitdoctor.check(model, **dict(x=x, y=y)) or 1",
    "functools.partial(fitdoctor.check, model)(x, y)",
    "functools.partial(fitdoctor.check, model, x)(y=y)",
    "(lambda m, a, b: fitdoctor.check(m, a, b))(model, x, y)",
    "wrapped(model, x, y)",
    "wrapped(model, b=y, a=x)",
    "spread(model, x, y)",
    "passed_on(model, y=y, x=x)",
    "fitdoctor.check(model, **{'y': y, 'x': x})",
]
WRAPPERS = """
def wrapped(m, a, b):
    return fitdoctor.check(m, a, b)

def spread(*everything):
    return fitdoctor.check(*everything)

def passed_on(m, **everything):
    return fitdoctor.check(m, **everything)

"""
UNPLACED = ("**dict", "partial(fitdoctor.check, model, x)", "lambda m")
"""Calls that do not show an expression for every argument: no place is better than a wrong one."""


@pytest.mark.parametrize("call", CHECKS)
def test_check_blames_the_labels_and_never_the_inputs(call: str, tmp_path: Path) -> None:
    finding = blamed(ran(tmp_path, f"{HEAD}{WRAPPERS}found = {call}\n")["found"], "FIT203")
    if any(part in call for part in UNPLACED):
        assert finding.location is None or not line_of(tmp_path, finding).startswith(("x =", "model ="))
        return
    assert line_of(tmp_path, finding).startswith("y = ")
    assert mended(tmp_path, finding)[0].startswith("y = ")


@pytest.mark.parametrize("call", [call for call in CHECKS if "evaluate" not in call])
def test_check_blames_the_inputs_and_never_the_model(call: str, tmp_path: Path) -> None:
    finding = blamed(ran(tmp_path, f"{NAN_HEAD}{WRAPPERS}found = {call}\n")["found"], "FIT110")
    if any(part in call for part in UNPLACED):
        assert finding.location is None or not line_of(tmp_path, finding).startswith(("y =", "model ="))
        return
    assert line_of(tmp_path, finding).startswith("x = ")
    assert mended(tmp_path, finding)[0].startswith("x = ")


FITS = [
    *(f"model.fit({words})" for words in ways("", "x", "y")),
    *(f"keras.Model.fit({words})" for words in ways("model", "x", "y")),
    "model.fit(*(x, y))",
    "model.fit(x, y, 4, verbose=0)",
    "functools.partial(model.fit, x)(y)",
    "(train := model.fit)(x, y)",
    "model.train_on_batch(x, y)",
    "model.evaluate(x, y)",
]


@pytest.mark.parametrize("call", FITS)
@pytest.mark.parametrize("how", ["watch", "install"])
def test_a_watched_call_blames_the_labels(call: str, how: str, tmp_path: Path) -> None:
    around = {
        "watch": f"with fitdoctor.watch():\n    {call}\n",
        "install": f"fitdoctor.install()\ntry:\n    {call}\nfinally:\n    fitdoctor.uninstall()\n",
    }
    with pytest.raises(FitWillFail) as caught:
        ran(tmp_path, HEAD + around[how])
    finding = blamed(caught.value.diagnosis, "FIT203")
    assert line_of(tmp_path, finding).startswith("y = ")
    assert mended(tmp_path, finding)[0].startswith("y = ")


@pytest.mark.parametrize("words", [*ways("", "x", "y"), "*(x, y)", "x, y, 4"])
@pytest.mark.parametrize("called", ["model.fit(", "keras.Model.fit(model, "])
def test_the_callback_blames_the_labels(words: str, called: str, tmp_path: Path) -> None:
    with pytest.raises(FitWillFail) as caught:
        ran(tmp_path, f"{HEAD}{called}{words}, callbacks=[fitdoctor.Doctor()], verbose=0)\n")
    finding = blamed(caught.value.diagnosis, "FIT203")
    assert line_of(tmp_path, finding).startswith("y = ")
    assert mended(tmp_path, finding)[0].startswith("y = ")


@pytest.mark.parametrize(
    "words", [*ways("", "x", "y"), *ways("", "x", "y", "sample_weight=weights"), "*(x, y)"]
)
def test_scan_blames_the_labels(words: str, tmp_path: Path) -> None:
    words = words.replace("sample_weight=weights=sample_weight=", "sample_weight=")
    found = ran(tmp_path, f"{HEAD}found = fitdoctor.scan({words}, model=model)\n")["found"]
    assert line_of(tmp_path, blamed(found.diagnosis, "FIT203")).startswith("y = ")


def test_a_call_through_a_builtin_has_no_places(tmp_path: Path) -> None:
    with pytest.raises(FitWillFail) as caught:
        ran(tmp_path, HEAD + "with fitdoctor.watch():\n    list(map(model.fit, [x], [y]))\n")
    assert not any(fix.edits for fix in blamed(caught.value.diagnosis, "FIT203").fixes)


def test_the_model_of_check_is_the_one_to_compile(tmp_path: Path) -> None:
    text = HEAD.replace('    model.compile("adam", "sparse_categorical_crossentropy")\n', "")
    finding = blamed(ran(tmp_path, text + "found = fitdoctor.check(model, x, y)\n")["found"], "FIT301")
    assert mended(tmp_path, finding)[0].startswith("model.compile(")


def test_an_argument_is_removed_among_those_of_fit(tmp_path: Path) -> None:
    text = HEAD + "import tensorflow as tf\ndata = tf.data.Dataset.from_tensor_slices((x, y % 3)).batch(4)\n"
    finding = blamed(ran(tmp_path, text + "found = fitdoctor.check(model, data, y)\n")["found"], "FIT711")
    assert mended(tmp_path, finding) == ["found = fitdoctor.check(model, data)"]
