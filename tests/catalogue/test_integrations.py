"""Ways in from other programs: the callback of Keras, and the plugin of pytest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.diagnosed import run_plain
from tests.support.fork_server import Ended, ForkServer

pytestmark = pytest.mark.tf

DOCTOR = """
import keras, numpy as np, fitdoctor

x = np.random.default_rng(1).random((96, 8), dtype="float32")
y = np.arange(96) % 10


def trained(labels, *callbacks, samples=96):
    keras.utils.set_random_seed(7)
    model = keras.Sequential([
        keras.Input((8,)), keras.layers.Dropout(0.5), keras.layers.Dense(10, activation="softmax"),
    ])
    model.compile("adam", "sparse_categorical_crossentropy")
    return model.fit(
        x[:samples], labels, 32, 2, 0, list(callbacks), validation_split=0.25
    ).history


assert trained(y, fitdoctor.Doctor()) == trained(y), "it changes what fit does"
fit = keras.Model.fit
try:
    trained(y + 1, fitdoctor.Doctor())
except fitdoctor.FitWillFail as error:
    print("stopped:", error.diagnosis.primary.id)
try:
    trained(y + 1, fitdoctor.Doctor(on_error="warn"))
except Exception as error:
    print("warned:", type(error).__name__)
with fitdoctor.watch(on_error="warn", ignore=["FIT2"]):
    try:
        trained(y + 1, fitdoctor.Doctor())
    except Exception as error:
        print("left to who watches more:", type(error).__name__)
assert keras.Model.fit is fit
"""


def ran(server: ForkServer, folder: Path, text: str) -> Ended:
    script = folder / "program.py"
    script.write_text(text)
    return run_plain(server, script)


def test_the_callback_checks_the_call_that_it_is_given_to(server: ForkServer, tmp_path: Path) -> None:
    ended = ran(server, tmp_path, DOCTOR)
    assert ended.status == 0, ended.stderr
    assert ended.stdout.splitlines() == [
        "stopped: FIT203",
        "warned: InvalidArgumentError",
        "left to who watches more: InvalidArgumentError",
    ]
    assert ended.stderr.count("error[FIT203]") == 2


TESTS = """
import keras, numpy as np, pytest

def fit(labels):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, activation="softmax")])
    model.compile("sgd", "sparse_categorical_crossentropy")
    model.fit(np.zeros((8, 4), "float32"), labels, verbose=0)

def test_training():
    fit(np.full(8, 2))

def test_no_training():
    assert 1 == 2

def test_expected():
    with pytest.raises(Exception):
        fit(np.full(8, 2))
"""


@pytest.mark.parametrize("options", [(), ("--fitdoctor",)], ids=["by itself", "watching"])
def test_pytest_tells_the_cause_below_a_failure(
    options: tuple[str, ...], server: ForkServer, tmp_path: Path
) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    words = ["-q", "-p", "no:cacheprovider", *options, "test_it.py"]
    ended = ran(server, tmp_path, f"import sys, pytest\nsys.exit(pytest.main({words!r}))\n")
    assert "2 failed, 1 passed" in ended.stdout
    training, _, rest = ended.stdout.partition("_ test_no_training _")
    assert "error[FIT203]" in training and "test_it.py:" in training
    assert ("- fitdoctor -" in training) == (not options)
    assert "error[" not in rest


WARNED = """
import keras, numpy as np, pytest

@pytest.mark.parametrize("epochs", [1, 2])
def test_training(epochs):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="softmax")])
    model.compile("sgd", "binary_crossentropy")
    model.fit(np.random.rand(8, 4), np.arange(8)[:, None] % 2, epochs=epochs, verbose=0)
"""


def test_pytest_lists_the_warnings_of_passing_tests_at_the_end(server: ForkServer, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(WARNED)
    words = ["-q", "-p", "no:cacheprovider", "--fitdoctor", "test_it.py"]
    ended = ran(server, tmp_path, f"import sys, pytest\nsys.exit(pytest.main({words!r}))\n")
    assert ended.status == 0 and "2 passed" in ended.stdout
    _, _, summary = ended.stdout.partition("= fitdoctor =")
    listed = [line for line in summary.splitlines() if "warning[FIT" in line]
    assert listed[0].startswith("test_it.py::test_training[1] and 1 more: warning[FIT209] test_it.py:")
    assert len(listed) == len({line.partition(": ")[2] for line in listed})
