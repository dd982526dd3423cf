"""A second run finds the expression in a helper or another file that made the data bad."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fitdoctor.json_codec import to_plain
from fitdoctor.runner.first_bad_line import Question
from fitdoctor.runner.second_run import ANSWERS, TASK, Task
from fitdoctor.runner.session import Options, write_options
from fitdoctor.runner.supervise import BOOTSTRAP
from tests.support.fork_server import ForkServer

pytest.importorskip("tensorflow")

TARGETS = """import numpy as np


def numbers(words):
    return np.where(words == "yes", 1.0, -1.0)
"""
SURVEY = """import importlib
from dataclasses import dataclass

import numpy as np

# The source does not tell which function this is.
numbers = vars(importlib.import_module("targets"))["numbers"]


@dataclass
class Survey:
    inputs: np.ndarray
    targets: np.ndarray


def load(n):
    words = np.random.choice(["no", "yes"], size=n)
    return Survey(inputs=np.random.normal(size=(n, 4)), targets=numbers(words))
"""
TRAIN = """import keras
from survey import load

survey = load(160)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
print("training")
model.fit(survey.inputs, survey.targets, epochs=1, verbose=0)
"""


def _laid(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return _laid(tmp_path / "project", {"targets.py": TARGETS, "survey.py": SURVEY, "train.py": TRAIN})


def _run(server: ForkServer, folder: Path, *command: str) -> tuple[str, dict[str, Any]]:
    report = folder.parent / "report.json"
    options = ["--output-format", "json", "--output-file", str(report)]
    ended = server.command(folder, "run", *options, *command)
    return ended.stdout, json.loads(report.read_text())


def _place(report: dict[str, Any]) -> tuple[str, str, int]:
    """The first finding's id, and where it is."""
    finding = report["findings"][0]
    return finding["id"], finding["location"]["path"], finding["location"]["line"]


def _trails(report: dict[str, Any]) -> str:
    return " ".join(each["claim"] for each in report["findings"][0]["evidence"])


def test_the_line_is_found_in_another_file(project: Path, server: ForkServer) -> None:
    printed, report = _run(server, project, "train.py")
    assert _place(report) == ("FIT208", "targets.py", 5)
    assert "`fit` ← `np.where(" in _trails(report)
    (edit,) = report["findings"][0]["fixes"][0]["edits"]
    assert (edit["location"]["path"], edit["location"]["line"]) == ("targets.py", 5)
    assert (edit["replacement"], edit["location"]["column"]) == ("0.0", 42)
    assert printed == "training\n"
    assert report["crashes"] == []


def test_a_second_run_can_be_switched_off(project: Path, server: ForkServer) -> None:
    _printed, report = _run(server, project, "--no-locate", "train.py")
    assert _place(report)[0] == "FIT208"
    assert "data path" not in _trails(report)


def test_a_program_that_writes_before_it_trains_is_not_run_twice(project: Path, server: ForkServer) -> None:
    log = "open('log.txt', 'a').write('started')\n"
    (project / "train.py").write_text(log + TRAIN)
    _printed, report = _run(server, project, "train.py")
    assert _place(report)[:2] == ("FIT208", "survey.py")
    assert "data path" not in _trails(report)
    assert (project / "log.txt").read_text() == "started"


PARKING = {
    "parking/__init__.py": "",
    "parking/sensors.py": """import numpy as np

from .zones import zone_numbers


class Sensors:
    def __init__(self, count):
        rng = np.random.default_rng(0)
        self.readings = rng.normal(size=(count, 4)).astype("float32")
        self.zones = rng.choice(["north", "south", "west"], count)

    def batches(self, size):
        numbers = zone_numbers()
        while True:
            for start in range(0, len(self.readings), size):
                part = slice(start, start + size)
                yield self.readings[part], np.array([numbers[zone] for zone in self.zones[part]])
""",
    "parking/zones.py": """def zone_numbers():
    return {"north": 1, "south": 2, "west": 3}
""",
    "parking/__main__.py": """import keras

from .sensors import Sensors

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(Sensors(90).batches(30), steps_per_epoch=3, verbose=0)
""",
}


def test_labels_from_a_generator_in_a_package(tmp_path: Path, server: ForkServer) -> None:
    _printed, report = _run(server, _laid(tmp_path / "project", PARKING), "-m", "parking")
    assert _place(report) == ("FIT203", "parking/zones.py", 2)


HARBOUR = {
    "src/ships.py": """import pandas as pd


def arrivals(count):
    return pd.DataFrame({"length": range(20, 20 + count), "crew": [i % 7 for i in range(count)]})


def with_ratio(table):
    table = table.copy()
    table["ratio"] = table["crew"] / table["crew"]
    return table.assign(size=table["length"] / 100)
""",
    "src/feed.py": """import tensorflow as tf

from ships import arrivals, with_ratio


def feed(count):
    table = with_ratio(arrivals(count))
    late = (table["length"] % 2).to_numpy("float32")
    return tf.data.Dataset.from_tensor_slices((table.to_numpy("float32"), late)).batch(20)
""",
    "src/train.py": """import keras
from feed import feed

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(feed(80), verbose=0)
""",
}


def test_the_column_behind_a_dataset(tmp_path: Path, server: ForkServer) -> None:
    _printed, report = _run(server, _laid(tmp_path / "project", HARBOUR), "src/train.py")
    assert _place(report) == ("FIT110", "src/ships.py", 10)


PLANTED = {
    "trees.py": """import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split


def trees(n):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(n, 3)), columns=["height", "age", "sun"])
    return table.assign(ill=np.arange(n) % 8 == 0)


def repeated(table):
    ill = table[table.ill]
    return pd.concat([table, ill.sample(len(table), replace=True, random_state=0)])


def parts(table):
    return train_test_split(repeated(table), test_size=0.25, random_state=0)


def arrays(table):
    return table.drop(columns="ill").to_numpy("float32"), table["ill"].to_numpy("float32")
""",
    "train.py": """import keras
from trees import arrays, parts, trees

ours, theirs = parts(trees(160))
x, y = arrays(ours)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x, y, validation_data=arrays(theirs), verbose=0)
""",
}


def test_rows_in_both_parts_are_located_at_the_split(tmp_path: Path, server: ForkServer) -> None:
    _printed, report = _run(server, _laid(tmp_path / "project", PLANTED), "--locate", "train.py")
    assert _place(report) == ("FIT003", "trees.py", 18)


CANTEEN = {
    "menu.json": '{\n  "dishes": 4,\n  "hidden": 8\n}\n',
    "settings.py": """import argparse
import json


def settings():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dishes", type=int, default=4)
    return parser.parse_args()


def from_file():
    with open("menu.json") as file:
        return json.load(file)
""",
    "train.py": """import keras
import numpy as np
from settings import settings

options = settings()
orders = np.arange(60) % 5
guests = np.random.default_rng(0).normal(size=(60, 3))
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(options.dishes, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(guests, orders, verbose=0)
""",
}


def test_a_number_is_traced_to_the_command_line_or_to_where_it_is_written(
    tmp_path: Path, server: ForkServer
) -> None:
    folder = _laid(tmp_path / "project", CANTEEN)
    _printed, report = _run(server, folder, "train.py", "--dishes", "3")
    assert _place(report) == ("FIT203", "train.py", 8)
    assert "`options.dishes` ← `--dishes 3` on the command line" in _trails(report)
    program = CANTEEN["train.py"].replace("settings import settings", "settings import from_file")
    program = program.replace("settings()", "from_file()").replace("options.dishes", 'options["dishes"]')
    (folder / "train.py").write_text(program)
    _printed, report = _run(server, folder, "train.py")
    assert _place(report) == ("FIT203", "menu.json", 2)


ORCHARD = [
    "import keras\nimport numpy as np\n",
    'def grades(n):\n    return ["abc"[i % 3] for i in range(n)]\n\n\nGRADES = {"a": 1, "b": 2, "c": 3}\n',
    "%%time\nnames = grades(60)\ny = np.array([GRADES[name] for name in names])\nx = np.zeros((60, 4))\n",
    'model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="softmax")])\n'
    'model.compile("adam", "sparse_categorical_crossentropy")\nmodel.fit(x[:50], y[:50], verbose=0)\n',
]


TIDES = {
    "settings.json": '{"window": 12, "gauges": 3, "hidden": 8}\n',
    "windows.py": """import numpy as np


def slide(series, window):
    starts = range(len(series) - window)
    return np.stack([series[start:start + window] for start in starts]), series[window:, 0]
""",
    "train.py": """import json
from pathlib import Path

import keras
import numpy as np
from windows import slide

settings = json.loads(Path(__file__).with_name("settings.json").read_text())
x, y = slide(np.random.default_rng(0).normal(size=(60, 4)), settings["window"])
model = keras.Sequential([
    keras.Input((settings["window"], settings["gauges"])),
    keras.layers.LSTM(settings["hidden"]),
    keras.layers.Dense(1),
])
model.compile("adam", "mse")
model.fit(x, y, epochs=1, verbose=0)
""",
}


def test_of_several_numbers_in_a_shape_the_one_that_differs_is_traced(
    tmp_path: Path, server: ForkServer
) -> None:
    _, report = _run(server, _laid(tmp_path, TIDES), "train.py")
    assert _place(report) == ("FIT101", "settings.json", 1)
    assert '`settings["gauges"]` ← `"gauges": 3`' in _trails(report)
    edits = report["findings"][0]["fixes"][0]["edits"]
    assert [edit["replacement"] for edit in edits] == ['"gauges": 4']


def test_a_cell_of_a_notebook(tmp_path: Path, server: ForkServer) -> None:
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": each} for each in ORCHARD]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    folder = _laid(tmp_path / "project", {"orchard.ipynb": json.dumps(notebook)})
    _printed, report = _run(server, folder, "orchard.ipynb")
    place = report["findings"][0]["location"]
    assert (place["path"], place["cell"], place["line"]) == ("orchard.ipynb", 2, 5)


def _second_run(folder: Path, line: int) -> Path:
    """Run the program a second time, asked for the labels at a line of `train.py`."""
    session = folder.parent / "session"
    session.mkdir()
    options = Options(script="train.py", folder=str(folder), second=True)
    write_options(session, options)
    question = Question("y", "range", [-1.0, 1.0], last=True)
    task = Task(str(folder / "train.py"), line, "fit", 1, (question,))
    (session / TASK).write_text(json.dumps(to_plain(task)))
    subprocess.run([sys.executable, str(BOOTSTRAP), str(session)], cwd=folder, capture_output=True)
    return session


def test_a_second_run_ends_before_it_writes(project: Path) -> None:
    train = project / "train.py"
    train.write_text(TRAIN.replace('print("training")', 'open("log.txt", "a").write("x")'))
    session = _second_run(project, 8)
    assert not (session / ANSWERS).exists()
    assert not (project / "log.txt").exists()


def test_a_second_run_that_comes_to_another_call_has_no_answer(project: Path) -> None:
    assert not (_second_run(project, 7) / ANSWERS).exists()


_WEIGHTS = """import numpy as np


def weights(labels):
    counts = np.bincount(labels)
    rare = counts.min() // (counts * 2)
    return rare[labels]
"""
_WEIGHTED = """import keras
import numpy as np
from balance import weights

balanced = True
labels = np.arange(120) % 3
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
given = weights(labels) if balanced else None
model.fit(np.random.normal(size=(120, 4)), labels, sample_weight=given, epochs=1, verbose=0)
"""


def test_weights_of_zero_are_located_where_they_are_rounded(tmp_path: Path, server: ForkServer) -> None:
    folder = _laid(tmp_path / "project", {"balance.py": _WEIGHTS, "train.py": _WEIGHTED})
    _printed, report = _run(server, folder, "train.py")
    assert _place(report) == ("FIT214", "balance.py", 6)
    edits = report["findings"][0]["fixes"][0]["edits"]
    assert [edit["replacement"] for edit in edits] == ["counts.min() / (counts * 2)"]


_SCALED = """import numpy as np
from sklearn.preprocessing import StandardScaler


class Parts:
    def __init__(self):
        rows = np.random.normal(900, 50, (200, 3))
        self.scaler = StandardScaler(KEEPS)
        self.train = self.scaler.fit_transform(rows[:150])
        self.held_out = rows[150:]
        self.scaler.transform(self.held_out)
"""
_VALIDATED = """import keras
import numpy as np
from parts import Parts

parts = Parts()
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
held_out = parts.held_out, np.ones(50)
model.fit(parts.train, np.ones(150), validation_data=held_out, epochs=1, verbose=0)
"""


def test_a_scaling_whose_result_is_discarded_is_the_line(tmp_path: Path, server: ForkServer) -> None:
    pytest.importorskip("sklearn")
    files = {"parts.py": _SCALED.replace("KEEPS", ""), "train.py": _VALIDATED}
    _printed, report = _run(server, _laid(tmp_path / "project", files), "train.py")
    assert _place(report) == ("FIT717", "parts.py", 11)
    edits = report["findings"][0]["fixes"][0]["edits"]
    assert [edit["replacement"] for edit in edits] == ["self.held_out = self.scaler.transform(self.held_out)"]


def test_a_scaler_that_works_in_place_discards_nothing(tmp_path: Path, server: ForkServer) -> None:
    pytest.importorskip("sklearn")
    files = {"parts.py": _SCALED.replace("KEEPS", "copy=False"), "train.py": _VALIDATED}
    _printed, report = _run(server, _laid(tmp_path / "project", files), "train.py")
    assert not report["findings"]


_FEEDS = """import tensorflow as tf


class Feeds:
    def scale(self, image, label):
        return tf.cast(image, tf.float32) / 255.0, label

    def fitted(self, images, labels):
        feed = tf.data.Dataset.from_tensor_slices((images, labels))
        return feed.map(self.scale).batch(8)

    def held_out(self, images, labels):
        feed = tf.data.Dataset.from_tensor_slices((images, labels))
        return feed.batch(8)
"""
_FED = """import keras
import numpy as np
from feeds import Feeds

images = np.random.randint(100, 256, (64, 6)).astype("uint8")
labels = np.random.randint(0, 2, 64)
feeds = Feeds()
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(feeds.fitted(images[:40], labels[:40]), validation_data=feeds.held_out(images[40:], labels[40:]))
"""
_HOUSES = """import numpy as np


def parts(n):
    x = np.random.normal(size=(n, 4))
    y = 200_000 + 40_000 * x[:, 0]
    return (x[:60], y[:60]), (x[60:], y[60:])
"""
_PRICED = """import keras
from houses import parts

(x, y), (x_val, y_val) = parts(90)
y = y / 100_000
held_out = (x_val, y_val)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, validation_data=held_out, verbose=0)
"""


@pytest.mark.parametrize(
    ("files", "place", "repaired"),
    [
        (
            {"feeds.py": _FEEDS, "train.py": _FED},
            ("FIT717", "feeds.py", 14),
            "feed.map(self.scale).batch(8)",
        ),
        ({"houses.py": _HOUSES, "train.py": _PRICED}, ("FIT717", "train.py", 6), "y_val / 100_000"),
    ],
)
def test_a_preparation_that_the_source_shows_is_missing_where_it_is_added(
    files: dict[str, str], place: tuple[str, str, int], repaired: str, tmp_path: Path, server: ForkServer
) -> None:
    _printed, report = _run(server, _laid(tmp_path / "project", files), "train.py")
    assert _place(report) == place
    edits = report["findings"][0]["fixes"][0]["edits"]
    assert repaired.endswith(edits[0]["replacement"])
