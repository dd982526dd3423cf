"""Training programs under `fitdoctor run`, with the real TensorFlow."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.runner.programs import doctored, forked, plain
from tests.support.fork_server import ForkServer

pytestmark = pytest.mark.tf

MODEL = """
import sys
import numpy as np
import keras

keras.utils.set_random_seed(3)

def made(units=3, loss="sparse_categorical_crossentropy"):
    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dropout(0.2),
         keras.layers.Dense(units, activation="softmax")]
    )
    model.compile("adam", loss)
    return model

rng = np.random.default_rng(0)
x = rng.normal(size=(90, 4)).astype("float32")
y = rng.integers(0, 3, size=90)
"""


def written(folder: Path, body: str) -> Path:
    path = folder / "train.py"
    path.write_text(MODEL + textwrap.dedent(body))
    return path


def findings(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text())["findings"]
    return found


def without_clock(errors: str) -> list[str]:
    """TensorFlow stamps its start-up messages with the time and the process."""
    return [
        line
        for line in errors.splitlines()
        if not line.startswith(("I0000", "W0000", "E0000", "WARNING: All log"))
    ]


HEALTHY = """
    class Noise(keras.utils.PyDataset):
        def __len__(self):
            return 3

        def __getitem__(self, index):
            return np.random.random((8, 4)), np.random.randint(0, 3, 8)

    def batches():
        for _ in range(6):
            yield np.random.random((8, 4)), np.random.randint(0, 3, 8)

    import tensorflow as tf
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(90).batch(16)

    model = made()
    for _ in range(6):
        print(model.fit(x, y, epochs=2, verbose=0, validation_split=0.2).history)
    print(model.fit(dataset, epochs=2, verbose=0).history)
    print(model.fit(Noise(), epochs=1, verbose=0).history)
    print(model.fit(batches(), epochs=2, steps_per_epoch=3, verbose=0).history)
    print(model.train_on_batch(x[:8], y[:8]), model.evaluate(x, y, verbose=0), model.predict(x[:2], verbose=0))
    print(np.random.random(), rng.random(), keras.random.uniform((2,)), [w.path for w in model.weights])
    print(np.concatenate([w.numpy().ravel() for w in model.weights]).tobytes().hex())
    """


def test_a_healthy_program_learns_the_same_to_the_bit_and_hears_one_line(tmp_path: Path) -> None:
    written(tmp_path, HEALTHY)
    expected = plain(tmp_path, "train.py")
    found = doctored(tmp_path, "--save", "run.json", "train.py")
    assert expected.returncode == 0, expected.stderr
    assert found.stdout == expected.stdout
    *told, last = without_clock(found.stderr)
    assert told == without_clock(expected.stderr)
    assert re.fullmatch(
        r"fitdoctor: checked (\d of )?9 fits and 3 other calls against \d{3} causes, no problems found \(\d+\.\d s\)",
        last,
    )
    assert found.returncode == 0
    saved = json.loads((tmp_path / "run.json").read_text())
    assert saved["findings"] == []
    assert saved["crashes"] == []
    methods = [call["method"] for call in saved["facts"]]
    assert methods.count("evaluate") == 1
    assert methods.count("train_on_batch") == 1
    _saved_for_the_report(saved)


def _saved_for_the_report(saved: dict[str, Any]) -> None:
    assert saved["invocation"]["program"] == "train.py" and saved["invocation"]["seconds"] > 0
    assert {"python", "tensorflow", "keras", "numpy"} <= {
        name for name, _version in saved["invocation"]["versions"]
    }
    curves = dict(saved["trainings"][0]["history"])
    assert set(curves) == {"loss", "val_loss"} and len(curves["loss"]) == 2
    way = saved["ways"][0]
    assert {"model input", "model output"} <= {step["name"] for step in way["steps"]}
    assert all(step["dtype"] == "float32" for step in way["steps"] if step["stage"] == "model")
    assert [one["path"] for one in way["data"]] == ["x", "y"] and len(way["data"][1]["labels"]) == 3
    assert {stage for stage, _size in saved["memory"][0]["points"]} == {"forward", "backward", "update"}


def test_a_proved_error_stops_before_the_first_step_and_is_told_once(
    tmp_path: Path, server: ForkServer
) -> None:
    written(
        tmp_path,
        """
        y = y + 1
        for fold in range(2):
            try:
                made().fit(x, y, verbose=0)
            except ValueError:
                print("a value error")
            except Exception as error:
                import tensorflow as tf
                print(type(error).__name__, isinstance(error, tf.errors.InvalidArgumentError), error.message[:6])
        made().fit(x, y, verbose=0)
        print("never")
        """,
    )
    ended = forked(server, tmp_path, "--save", "run.json", "train.py")
    assert ended.returncode == 1
    assert ended.stdout == "FitWillFail True FIT203\n" * 2
    assert ended.stderr.count("error[FIT203]") == 1
    assert "hooks.py" not in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stderr.endswith("fitdoctor: stopped at train.py:29, before `fit` ran: 1 error\n")
    primary = findings(tmp_path / "run.json")[0]
    assert (primary["id"], primary["confidence"]) == ("FIT203", "certain")
    script = json.loads((tmp_path / "run.json").read_text())["script"]
    assert (script["exit_code"], script["exception"]["type"]) == (1, "FitWillFail")


def test_a_stop_reaches_the_hook_and_the_quiet_terminal_of_a_program(
    tmp_path: Path, server: ForkServer
) -> None:
    written(
        tmp_path,
        """
        def hook(kind, error, trace):
            print(kind.__name__, trace.tb_frame.f_code.co_name)

        if "hook" in sys.argv:
            sys.excepthook = hook
        made().fit(x, y + 1, verbose=0)
        """,
    )
    hooked = forked(server, tmp_path, "train.py", "hook")
    assert (hooked.returncode, hooked.stdout) == (1, "FitWillFail <module>\n"), hooked.stderr
    quiet = forked(server, tmp_path, "--quiet", "train.py")
    assert quiet.returncode == 1
    assert without_clock(quiet.stderr)[0] == "Traceback (most recent call last):"
    assert "fitdoctor.FitWillFail: FIT203" in quiet.stderr and "error[" not in quiet.stderr
    filed = forked(server, tmp_path, "--output-format", "json", "--output-file", "found.json", "train.py")
    assert [line.partition(":")[0] for line in without_clock(filed.stderr)] == ["fitdoctor"]
    assert findings(tmp_path / "found.json")[0]["id"] == "FIT203"


def test_keep_going_names_the_finding_again_at_the_very_end(tmp_path: Path, server: ForkServer) -> None:
    written(
        tmp_path,
        """
        try:
            made().fit(x, y + 1, verbose=0)
        except Exception:
            print("failed")
        """,
    )
    ended = forked(server, tmp_path, "--keep-going", "train.py")
    assert ended.stdout == "failed\n"
    *_, again, last = ended.stderr.splitlines()
    assert again.startswith("error[FIT203] train.py:") and last == "fitdoctor: 1 error (train.py)"


def test_keep_going_lets_the_program_fail_by_itself_with_its_own_traceback(tmp_path: Path) -> None:
    written(tmp_path, "\nmade().fit(x, y + 1, verbose=0)\n")
    expected = plain(tmp_path, "train.py")
    found = doctored(tmp_path, "--keep-going", "--quiet", "--save", "run.json", "train.py")
    assert found.returncode == expected.returncode == 1
    assert [_same_names(line) for line in without_clock(found.stderr)] == [
        _same_names(line) for line in without_clock(expected.stderr)
    ]
    assert [found["id"] for found in findings(tmp_path / "run.json")] == ["FIT203"]


def _same_names(line: str) -> str:
    """Graph functions are numbered through the process."""
    import re

    return re.sub(r"__inference_\w+", "", line)


def test_smoke_tries_a_whole_program_in_two_steps_each(tmp_path: Path, server: ForkServer) -> None:
    written(
        tmp_path,
        """
        class Count(keras.callbacks.Callback):
            steps = tests = epochs = 0
            def on_train_batch_end(self, batch, logs=None):
                self.steps += 1
            def on_test_batch_end(self, batch, logs=None):
                self.tests += 1
            def on_epoch_end(self, epoch, logs=None):
                self.epochs += 1

        count = Count()
        model = made()
        model.fit(x, y, 8, 500, validation_split=0.3, verbose=0, callbacks=[count])
        print(count.steps, count.tests, count.epochs, len(model.history.history["val_loss"]))
        """,
    )
    ended = forked(server, tmp_path, "--smoke", "train.py")
    assert ended.stdout == "2 2 1 500\n", ended.stderr


def test_a_fit_inside_a_callback_and_in_a_thread_is_watched_and_the_way_of_the_data_is_drawn(
    tmp_path: Path,
    server: ForkServer,
) -> None:
    written(
        tmp_path,
        """
        import threading

        class Inner(keras.callbacks.Callback):
            def on_epoch_end(self, epoch, logs=None):
                made().fit(x, y, verbose=0)
                self.model.evaluate(x, y, verbose=0)

        made().fit(x, y, verbose=0, callbacks=[Inner()])
        thread = threading.Thread(target=made().fit, args=(x, y), kwargs={"verbose": 0})
        thread.start()
        thread.join()
        print("done")
        """,
    )
    ended = forked(server, tmp_path, "--trace", "--save", "run.json", "train.py")
    assert ended.stdout == "done\n", ended.stderr
    facts = json.loads((tmp_path / "run.json").read_text())["facts"]
    assert [call["method"] for call in facts] == ["fit", "fit", "fit"]
    assert "data flow through `fit`" in ended.stderr
    assert "(90, 4)" in ended.stderr


@pytest.mark.parametrize("ending", ["raise", "sys.exit(4)"])
def test_a_failure_of_training_is_explained_from_the_call_that_failed(
    ending: str, tmp_path: Path, server: ForkServer
) -> None:
    written(
        tmp_path,
        f"""
        def loss(y_true, y_pred):
            return keras.ops.mean(y_pred.numpy())

        try:
            made(loss=loss).fit(x, y, verbose=0)
        except Exception:
            {ending}
        """,
    )
    ended = forked(server, tmp_path, "--save", "run.json", "train.py")
    assert ended.returncode == (1 if ending == "raise" else 4)
    assert findings(tmp_path / "run.json")[0]["id"] == "FIT407"
