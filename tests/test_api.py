"""`check`, `watch`, `install`, `explain` and `lint` in a Python session, with the real Keras where it matters."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fitdoctor
from fitdoctor.diagnosis import Diagnosis
from fitdoctor.runner.will_fail import FitWillFail, _made
from tests.support.diagnosed import run_plain
from tests.support.fork_server import ForkServer

needs_keras = pytest.mark.tf


@pytest.fixture(scope="module")
def keras() -> Any:
    return pytest.importorskip("keras")


@pytest.fixture
def numpy() -> Any:
    import numpy

    return numpy


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    yield
    fitdoctor.uninstall()


def model_of(keras: Any, units: int = 3) -> Any:
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(units, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy")
    return model


def test_importing_fitdoctor_imports_no_framework() -> None:
    loaded = "[name for name in ('tensorflow', 'keras', 'numpy') if name in sys.modules]"
    command = [sys.executable, "-c", f"import fitdoctor, fitdoctor.api, sys; print({loaded})"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"


@needs_keras
def test_check_finds_what_fit_would_raise_and_trains_nothing(keras: Any, numpy: Any) -> None:
    model = model_of(keras)
    x, y = numpy.zeros((8, 4), "float32"), numpy.array([1, 2, 3, 3, 1, 2, 3, 1])
    before = [weight.numpy().copy() for weight in model.weights]
    diagnosis = fitdoctor.check(model, x, y, epochs=3)
    assert diagnosis.crashes == ()
    assert diagnosis.primary is not None
    assert diagnosis.primary.id == "FIT203"
    assert diagnosis.primary.stops
    assert not diagnosis.ok
    assert diagnosis.primary.location is not None
    assert diagnosis.primary.location.path.endswith("test_api.py")
    assert all((old == new.numpy()).all() for old, new in zip(before, model.weights, strict=True))
    with pytest.raises(FitWillFail, match="FIT203"):
        fitdoctor.check(model, x, y, on_error="raise")
    assert fitdoctor.check(model, x, y, ignore=["labels-out-of-range"]).ok
    assert fitdoctor.check(model, x, y - 1).findings == ()


@needs_keras
def test_check_takes_nothing_from_a_generator(keras: Any, numpy: Any) -> None:
    batches = ((numpy.zeros((2, 4)), numpy.zeros(2)) for _ in range(3))
    assert fitdoctor.check(model_of(keras), batches, steps_per_epoch=1).ok
    assert len(list(batches)) == 3


@needs_keras
def test_check_refuses_words_that_it_does_not_know(keras: Any) -> None:
    with pytest.raises(ValueError, match="on_error must be one of return, raise, warn"):
        fitdoctor.check(None, on_error="explode")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`check` expects a Keras model: a `NoneType` has no `fit`"):
        fitdoctor.check(None)


@needs_keras
def test_watch_stops_a_certain_error_as_the_type_that_the_program_expects(keras: Any, numpy: Any) -> None:
    import tensorflow as tf

    model = model_of(keras)
    x, y = numpy.zeros((8, 4), "float32"), numpy.full(8, 5)
    with fitdoctor.watch(), pytest.raises(tf.errors.InvalidArgumentError) as caught:
        model.fit(x, y, verbose=0)
    assert isinstance(caught.value, FitWillFail)
    assert caught.value.diagnosis.findings[0].id == "FIT203"
    assert fitdoctor.explain(caught.value) is caught.value.diagnosis


@needs_keras
def test_watch_can_be_nested_and_the_inner_one_decides(
    keras: Any, numpy: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    model = model_of(keras)
    x, y = numpy.zeros((8, 4), "float32"), numpy.full(8, 5)

    @fitdoctor.watch(on_error="warn")
    def train() -> None:
        model.fit(x, y, verbose=0)

    with fitdoctor.watch():
        with pytest.raises(Exception, match="valid range") as caught:
            train()
        assert not isinstance(caught.value, FitWillFail)
        assert any(note.startswith("fitdoctor: FIT203") for note in caught.value.__notes__)
        with fitdoctor.watch(ignore=["FIT203"]), pytest.raises(Exception, match="valid range"):
            model.fit(x, y, verbose=0)
        with pytest.raises(FitWillFail):
            model.fit(x, y, verbose=0)
    assert capsys.readouterr().err.count("error[FIT203]") == 2


@needs_keras
def test_install_sees_all_threads_until_it_is_undone(keras: Any, numpy: Any) -> None:
    import keras.src.models.model as home

    fit = home.Model.fit
    model = model_of(keras)
    x, y = numpy.zeros((8, 4), "float32"), numpy.full(8, 5)
    raised: list[BaseException] = []

    def train() -> None:
        try:
            model.fit(x, y, verbose=0)
        except Exception as error:
            raised.append(error)

    fitdoctor.install(on_error="warn")
    fitdoctor.install()
    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
    fitdoctor.uninstall()
    fitdoctor.uninstall()
    assert isinstance(raised[0], FitWillFail)
    assert home.Model.fit is fit


SCALED_APART = """
import keras
import numpy as np
from sklearn.preprocessing import StandardScaler

rng = np.random.default_rng(0)
train, test = rng.normal(size=(32, 4)), rng.normal(size=(16, 4))
scaler = StandardScaler()
train = scaler.fit_transform(train)
test = scaler.fit_transform(test)


def fit():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(train, train[:, :1], validation_data=(test, test[:, :1]), verbose=0)
"""


@needs_keras
def test_install_reports_once_what_only_the_source_shows(tmp_path: Path, server: ForkServer) -> None:
    script = tmp_path / "scaled_apart.py"
    script.write_text(f"import fitdoctor\n{SCALED_APART}\n\nfitdoctor.install()\nfit()\nfit()\n")
    ended = run_plain(server, script)
    assert ended.status == 0
    assert ended.stderr.count("warning[FIT717]") == 1, ended.stderr


def test_the_exception_survives_being_sent_to_another_process() -> None:
    error = _made(("ValueError", "KeyError"), "FIT101 …", Diagnosis())
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, (FitWillFail, ValueError))
    assert isinstance(again, KeyError)
    assert str(again) == "FIT101 …"
    assert again.diagnosis == Diagnosis()


def test_explain_tells_what_it_does_not_know() -> None:
    try:
        {}["missing"]
    except KeyError as error:
        diagnosis = fitdoctor.explain(error)
    assert diagnosis.findings == ()
    assert diagnosis.unexplained[0].type == "KeyError"
    assert fitdoctor.explain("all went well") == Diagnosis()


def test_lint_reads_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "fine.py").write_text("print('hello')\n")
    (tmp_path / "broken.py").write_text("x = (\n")
    assert fitdoctor.lint(tmp_path).findings == ()
    assert fitdoctor.lint([tmp_path / "fine.py"]).findings == ()
    with pytest.raises(FileNotFoundError, match="does not exist"):
        fitdoctor.lint(tmp_path / "nowhere.py")


SCALAR_LABELS = """\
import numpy as np
import keras
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "categorical_crossentropy")
model.fit(np.zeros((8, 4)), np.zeros((8,), "int64"))
"""
WRONG_RANK = """\
import numpy as np
import keras
model = keras.Sequential([keras.Input((8, 8)), keras.layers.LSTM(3), keras.layers.LSTM(3), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(np.zeros((8, 8, 8)), np.zeros(8))
"""


def test_lint_finds_what_the_command_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(SCALAR_LABELS)
    (tmp_path / "b.py").write_text(WRONG_RANK)
    (tmp_path / "c.py").write_text(SCALAR_LABELS.replace("model.fit", "# fitdoctor: ignore\nmodel.fit"))
    (tmp_path / "left_out.py").write_text(SCALAR_LABELS)
    (tmp_path / "pyproject.toml").write_text('[tool.fitdoctor]\nexclude = ["left_out.py"]\n')
    (tmp_path / "ignored.py").write_text(SCALAR_LABELS)
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    (tmp_path / ".git").mkdir()
    for paths in (["."], ["a.py", "b.py"], ["b.py", "a.py", "c.py"], ["left_out.py"]):
        command = [
            sys.executable,
            "-m",
            "fitdoctor",
            "lint",
            *paths,
            "--output-format",
            "json",
            "--exit-zero",
        ]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found = fitdoctor.lint(paths)
        assert found.findings == Diagnosis.from_json(json.loads(told)).findings
        assert found.findings
    ids = {
        (Path(one.location.path).name, one.id)
        for one in fitdoctor.lint(["a.py", "b.py"]).findings
        if one.location
    }
    assert {("a.py", "FIT201"), ("b.py", "FIT304")} <= ids
