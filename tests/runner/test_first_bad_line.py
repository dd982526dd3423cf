"""The first bad line: a walk back over the expressions that made a value, on programs without TensorFlow."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fitdoctor.collect.aspects import aspect_of
from fitdoctor.runner.first_bad_line import Question, Trail, origin
from fitdoctor.runner.noted_code import CHANGED, NOTE, WARM, Sites
from fitdoctor.runner.parted_data import divergence, unprepared
from fitdoctor.runner.value_history import History

pytest.importorskip("pandas")


def _failed() -> None:
    raise AssertionError("the history gave up")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Compile and import as usual again after each test."""
    loader = SourceFileLoader.get_code
    yield
    SourceFileLoader.get_code = loader  # type: ignore[method-assign]
    for name in (NOTE, CHANGED, WARM):
        if hasattr(builtins, name):
            delattr(builtins, name)


def _noted(
    folder: Path, program: str, aspect: str, modules: dict[str, str]
) -> tuple[History, dict[str, Any]]:
    """Run a program that notes its values; return what was noted, and its names."""
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text)
    path = folder / "train.py"
    path.write_text(program)
    sites = Sites()
    history = History(sites, (aspect,), _failed)
    history.begin()
    sites.note_imports()
    namespace: dict[str, Any] = {"__name__": "__main__"}
    sys.path.insert(0, str(folder))
    try:
        exec(sites.compiled(program, str(path)), namespace)
    finally:
        sys.path.remove(str(folder))
        for module in modules:
            sys.modules.pop(module, None)
    return history, namespace


def _line(trail: Trail | None) -> str:
    if trail is None:
        return ""
    return Path(trail.blamed.path).read_text().splitlines()[trail.blamed.node.lineno - 1].strip()


def _first_bad_line(folder: Path, program: str, aspect: str, name: str = "x", **modules: str) -> str:
    """The text of the line at which `name`, as the program leaves it, became what it is."""
    history, namespace = _noted(folder, program, aspect, modules)
    value = namespace[name]
    wanted = aspect_of(value, aspect)
    wanted = {"rank": len, "shape": lambda shape: list(shape[1:])}.get(aspect, lambda same: same)(wanted)
    return _line(origin(history, value, 0, Question(name, aspect, wanted, last=name[0] == "y")))


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        ("val = x[order[:5]]\ntrain = x[order]", "train = x[order]"),
        ("val = x[:5]\ntrain = x[3:]", "train = x[3:]"),
        ("train = x\nval = x[:5]", "val = x[:5]"),
        ("train = x[order[5:]]\nother = rng.permutation(20)\nval = x[other[:5]]", "val = x[other[:5]]"),
    ],
)
def test_rows_are_taken_again_by_the_later_line(split: str, expected: str, tmp_path: Path) -> None:
    program = f"""
import numpy as np
rng = np.random.default_rng(0)
x = rng.normal(size=(20, 3))
order = rng.permutation(20)
{split}
mean, deviation = train.mean(0), train.std(0)
train, val = (train - mean) / deviation, (val - mean) / deviation
"""
    history, names = _noted(tmp_path, program, "split", {})
    assert _line(divergence(history, names["val"], names["train"], 0)) == expected


HELPERS = """
import numpy as np

def standardise(values):
    return (values - values.mean()) / 2

def read():
    rows = np.arange(12.0).reshape(4, 3)
    return rows

def features():
    rows = read()
    rows = np.log(rows - 3)
    return {"x": rows, "y": np.arange(4)}
"""


def test_a_value_is_followed_through_helpers_dicts_and_files(tmp_path: Path) -> None:
    program = (
        "import loader\ndata = loader.features()\nscaled = loader.standardise(data['x'])\nx = scaled[::-1]\n"
    )
    with np.errstate(all="ignore"):
        line = _first_bad_line(tmp_path, program, "non-finite", loader=HELPERS)
    assert line == "rows = np.log(rows - 3)"


def test_a_value_is_followed_through_attributes(tmp_path: Path) -> None:
    program = """
import numpy as np
class Store:
    def __init__(self):
        self.images = np.zeros((8, 28, 28))
        self.labels = np.arange(8)
    def flatten(self):
        self.images = self.images.reshape(8, -1)
    def split(self, count):
        return self.images[:count], self.labels[:count]
store = Store()
store.flatten()
(x, y) = store.split(6)
"""
    assert _first_bad_line(tmp_path, program, "rank") == "self.images = self.images.reshape(8, -1)"
    assert _first_bad_line(tmp_path, program, "rows") == "return self.images[:count], self.labels[:count]"


def test_a_write_in_place_is_the_first_bad_line(tmp_path: Path) -> None:
    program = """
import numpy as np
x = np.ones((4, 2))
def clean(values):
    values[1, 0] = np.nan
    return values
z = clean(x)
x = z * 2
"""
    assert _first_bad_line(tmp_path, program, "non-finite") == "values[1, 0] = np.nan"


def test_rows_of_several_lengths_are_bad_where_an_array_is_made_of_them(tmp_path: Path) -> None:
    program = """
import numpy as np
rows = []
for index in range(2000):
    row = [0.0] * (3 if index < 1500 else 4)
    rows.append(row)
x = np.array(rows, dtype=object)
"""
    assert _first_bad_line(tmp_path, program, "objects") == "x = np.array(rows, dtype=object)"


def test_a_loop_that_drops_rows(tmp_path: Path) -> None:
    program = """
import numpy as np
values = list(range(20))
kept = []
for value in values:
    if value > 3:
        kept.append([value, 1])
x = np.array(kept)
"""
    assert _first_bad_line(tmp_path, program, "rows") == "kept.append([value, 1])"


def test_a_list_of_what_a_function_returns(tmp_path: Path) -> None:
    program = """
import numpy as np
def sign(value):
    return 1 if value > 2 else -1
labels = [sign(value) for value in range(6)]
x = np.array(labels)
"""
    assert _first_bad_line(tmp_path, program, "range") == "return 1 if value > 2 else -1"


def test_rows_of_which_one_has_a_gap(tmp_path: Path) -> None:
    program = """
import numpy as np
class Answer:
    def __init__(self, age):
        self.age = age
    def row(self):
        return [self.age, None if self.age > 40 else 1.0]
rows = []
for age in range(20, 60):
    rows.append(Answer(age).row())
x = np.array(rows)
"""
    assert (
        _first_bad_line(tmp_path, program, "objects") == "return [self.age, None if self.age > 40 else 1.0]"
    )


def test_text_from_a_file_is_bad_where_it_is_used(tmp_path: Path) -> None:
    program = """
import numpy as np
records = [line.split(",") for line in "1,2 3,4".split()]
x = np.array([record for record in records])
"""
    assert _first_bad_line(tmp_path, program, "objects") == "x = np.array([record for record in records])"


def test_a_table_with_text_is_bad_where_it_becomes_an_array(tmp_path: Path) -> None:
    program = """
import io
import pandas as pd
table = pd.read_csv(io.StringIO("age,kind,paid\\n1,a,0\\n2,b,1\\n"))
table = table.drop(columns=["paid"])
matrix = table.to_numpy()
x = matrix[::-1]
"""
    assert _first_bad_line(tmp_path, program, "objects") == "matrix = table.to_numpy()"


GENERIC = """
def scale(values):
    return (values - values.min()) / (values.max() - values.min())
def flatten(values):
    return values.reshape(len(values), -1)
def chosen(levels, values, level):
    return values[levels == level]
"""


def test_a_helper_that_works_elsewhere_is_called_wrongly(tmp_path: Path) -> None:
    program = """
import numpy as np
from generic import flatten
y = flatten(np.zeros((4, 3)))
x = flatten(np.zeros((4, 3, 2)))
"""
    assert _first_bad_line(tmp_path, program, "rank", generic=GENERIC) == "x = flatten(np.zeros((4, 3, 2)))"


def test_ids_that_an_encoder_makes_and_scales(tmp_path: Path) -> None:
    program = (
        "import numpy as np\n"
        "def encode(texts):\n"
        "    ids = np.array([len(text) for text in texts])\n"
        "    return ids / 9\n"
        'x = encode(["ab", "abc", "abcd"])\n'
    )
    assert _first_bad_line(tmp_path, program, "fractions") == "return ids / 9"


def test_ids_that_a_helper_scales(tmp_path: Path) -> None:
    program = "import numpy as np\nfrom generic import scale\nx = scale(np.arange(12))\n"
    assert _first_bad_line(tmp_path, program, "fractions", generic=GENERIC) == "x = scale(np.arange(12))"


def test_a_word_that_selects_nothing(tmp_path: Path) -> None:
    program = """
import numpy as np
from generic import chosen
levels = np.array(["low", "high"] * 4)
x = chosen(levels, np.zeros((8, 2)), "HIGH")
"""
    line = 'x = chosen(levels, np.zeros((8, 2)), "HIGH")'
    assert _first_bad_line(tmp_path, program, "empty", generic=GENERIC) == line


def test_a_sample_that_lost_a_part_before_it_was_stacked(tmp_path: Path) -> None:
    program = """
import numpy as np
def window(recording):
    return recording[::3]
x = np.stack([window(each) for each in np.zeros((5, 60, 3))])
"""
    assert _first_bad_line(tmp_path, program, "shape") == "return recording[::3]"


def test_a_scale_is_wrong_where_data_is_converted(tmp_path: Path) -> None:
    program = """
import numpy as np
raw = np.arange(256, dtype="uint8").reshape(16, 16)
images = raw.astype("float32")
x = images[:12]
"""
    assert _first_bad_line(tmp_path, program, "scale") == 'images = raw.astype("float32")'


def test_axes_that_the_data_always_had_have_no_bad_line(tmp_path: Path) -> None:
    program = "import numpy as np\nraw = np.random.default_rng(0).normal(size=(10, 28, 28))\nx = raw[:8]\n"
    assert _first_bad_line(tmp_path, program, "rank") == ""


def test_a_program_does_the_same_with_notes(tmp_path: Path) -> None:
    program = """
import functools
from dataclasses import dataclass, field

@dataclass
class Point:
    x: int = 1
    others: list = field(default_factory=list)
    def __post_init__(self):
        super().__setattr__("y", self.x + 1)

def pairs(n):
    total = 0
    while total < n:
        sent = yield total
        total += 1 if sent is None else sent
    else:
        yield "end"

def counter():
    count = 0
    def more(*args, **kwargs):
        nonlocal count
        count += len(args) + len(kwargs)
        return count
    return more

@functools.lru_cache
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

more = counter()
more(*range(3), **{"a": 1})
found = []
for i, (a, b) in enumerate(zip("abc", range(1000))):
    if b == 1:
        continue
    found.append(f"{a}{b}{i!r:>3}")
else:
    found.append("done")
table = {key: [v for v in range(key) if (w := v * 2) > 1] for key in range(3)}
first, *rest = sorted(found, key=lambda word: word[::-1])
try:
    {}["missing"]
except KeyError as error:
    caught = str(error)
with open(__file__) as file, open(__file__) as other:
    same = file.read() == other.read()
match first:
    case str() as word if word:
        kind = word
del found[0]
x = [Point().y, list(pairs(3)), more(), fibonacci(20), found, table, rest, caught, same, kind, a if same else b]
"""
    path = tmp_path / "train.py"
    path.write_text(program)
    plain: dict[str, Any] = {"__name__": "plain", "__file__": str(path)}
    exec(compile(program, str(path), "exec", dont_inherit=True), plain)
    sites = Sites()
    History(sites, ("range",), _failed).begin()
    noted: dict[str, Any] = {"__name__": "plain", "__file__": str(path)}
    exec(sites.compiled(program, str(path)), noted)
    assert noted["x"] == plain["x"]


def test_a_chain_of_pandas(tmp_path: Path) -> None:
    program = """
import pandas as pd
def load():
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": [1.0, 2.0, 3.0, 4.0]})
    frame["change"] = frame["b"].pct_change()
    frame = frame.assign(c=1)
    return frame
frame = load()
x = frame[["a", "change"]].to_numpy()
"""
    assert _first_bad_line(tmp_path, program, "non-finite") == 'frame["change"] = frame["b"].pct_change()'


def test_rows_of_a_table_that_are_taken_by_position(tmp_path: Path) -> None:
    program = """
import numpy as np
import pandas as pd
def features(frame):
    frame = frame.copy()
    frame["speed"] = np.log(frame["metres"])
    return frame
data = features(pd.DataFrame({"metres": [0.0, 2.0, 3.0, 4.0], "hour": [1, 2, 3, 4]})).dropna()
train, test = data.iloc[:3], data.iloc[3:]
x = train[["hour", "speed"]].to_numpy("float32")
"""
    with np.errstate(all="ignore"):
        line = _first_bad_line(tmp_path, program, "non-finite")
    assert line == 'frame["speed"] = np.log(frame["metres"])'


def test_a_column_of_ids_that_is_scaled_with_its_table(tmp_path: Path) -> None:
    program = """
import pandas as pd
def inputs(table):
    return table["town"].to_numpy("float32")
table = pd.DataFrame({"area": [1.5, 2.5, 3.5], "town": [0, 1, 2]})
scaled = table.astype("float64")
scaled[["area", "town"]] = table[["area", "town"]] / 7
x = inputs(scaled)
"""
    line = _first_bad_line(tmp_path, program, "fractions")
    assert line == 'scaled[["area", "town"]] = table[["area", "town"]] / 7'


def test_numbers_of_classes_are_bad_where_a_column_of_raw_data_becomes_the_labels(tmp_path: Path) -> None:
    program = """
import numpy as np
import pandas as pd
kinds = np.random.default_rng(0).integers(1, 7, 40)
data = pd.DataFrame({"height": kinds * 2.5, "kind": kinds})
y = data["kind"].values
y_train = y[:30]
"""
    assert _first_bad_line(tmp_path, program, "range", "y_train") == 'y = data["kind"].values'


def test_labels_that_start_at_1(tmp_path: Path) -> None:
    program = """
import numpy as np
def encode(names):
    table = {name: number for number, name in enumerate(sorted(set(names)), start=1)}
    codes = np.array([table[name] for name in names])
    return codes
y = encode(list("abcabc"))
x = y[2:]
"""
    line = "table = {name: number for number, name in enumerate(sorted(set(names)), start=1)}"
    assert _first_bad_line(tmp_path, program, "range") == line


def test_memory_that_is_used_again_is_another_object() -> None:
    history = History(Sites(), ("rank",), _failed)
    keys = {history.key(np.zeros(3)) for _ in range(5)}
    assert len(keys) == 5


@pytest.mark.parametrize(
    ("value", "aspect", "expected"),
    [
        (np.array([1.0, np.nan]), "non-finite", True),
        (np.array([1, 2]), "non-finite", False),
        ([[1.0], [float("inf")]], "non-finite", True),
        ([["a", 1]], "objects", True),
        ([["a", "b"]], "objects", False),
        ([[1, 2], [3]], "objects", False),
        ([[1, 2], [3, 4]], "objects", False),
        (np.zeros((3, 4, 5)), "rank", (3, 4, 5)),
        ([np.zeros(2), np.zeros(2)], "shape", None),
        ({"a": 1, "b": 4}, "range", (1.0, 4.0)),
        (np.array([1, 10]), "range", (1.0, 10.0)),
        (np.array([0.5, 1]), "fractions", True),
        (np.array([1.0, 2.0]), "fractions", False),
        (np.zeros((0, 3)), "empty", True),
        (np.tile([[-1.0, 1.0], [1.0, -1.0]], (20, 1)), "own-scale", False),
        (np.random.default_rng(0).normal(size=(40, 2)), "own-scale", False),
        (np.linspace(0.0, 1.0, 40)[:, None] ** 2, "own-scale", True),
        (np.arange(256.0).reshape(128, 2) / 255, "own-scale", False),
    ],
)
def test_aspects(value: Any, aspect: str, expected: Any) -> None:
    assert aspect_of(value, aspect) == expected


def test_a_label_is_followed_through_the_columns_of_tables(tmp_path: Path) -> None:
    program = """
import numpy as np
import pandas as pd

def clean(frame):
    out = frame.copy()
    out["answer"] = out["answer"].map({"yes": 1, "no": -1})
    return pd.get_dummies(out, columns=["region"], dtype=float)

raw = pd.DataFrame({"tilt": [-1, 0, 1, 1], "region": list("nswn"), "answer": ["yes", "no", "yes", "no"]})
data = clean(raw)
y = data.pop("answer").to_numpy()
"""
    line = _first_bad_line(tmp_path, program, "range", "y")
    assert line == 'out["answer"] = out["answer"].map({"yes": 1, "no": -1})'


def test_data_that_is_scaled_by_itself(tmp_path: Path) -> None:
    program = """
import numpy as np
import pandas as pd

def standardized(frame):
    return (frame - frame.mean()) / frame.std()

rng = np.random.default_rng(0)
x = standardized(pd.DataFrame(rng.normal(5, 3, (40, 2)), columns=["a", "b"])).to_numpy("float32")
"""
    assert _first_bad_line(tmp_path, program, "own-scale") == "return (frame - frame.mean()) / frame.std()"


def test_a_series_that_is_scaled_by_itself_and_cut_into_windows(tmp_path: Path) -> None:
    program = """
import numpy as np

def windows(series, length):
    return np.stack([series[i : i + length] for i in range(len(series) - length)]).astype("float32")

load = np.random.default_rng(0).normal(5, 3, (60, 2))
load = (load - load.min(axis=0)) / np.ptp(load[:-1], axis=0)
x = windows(load, 4)
"""
    line = _first_bad_line(tmp_path, program, "own-scale")
    assert line == "load = (load - load.min(axis=0)) / np.ptp(load[:-1], axis=0)"


def test_shares_in_percent_are_wrong_where_they_are_multiplied(tmp_path: Path) -> None:
    program = """
import pandas as pd

PARTIES = ["red", "blue"]

def shares(frame):
    out = frame.copy()
    out[PARTIES] = out[PARTIES].div(out[PARTIES].sum(axis=1), axis=0) * 100
    return out

frame = shares(pd.DataFrame({"age": [30.5, 44.0, 51.5], "red": [4, 1, 7], "blue": [2, 9, 6]}))
y = frame[PARTIES].to_numpy("float32")
"""
    line = _first_bad_line(tmp_path, program, "range", "y")
    assert line == "out[PARTIES] = out[PARTIES].div(out[PARTIES].sum(axis=1), axis=0) * 100"


_CLASS = """class Leaves:
    def __init__(self):
        self.fit, self.held = split(np.arange(60.0).reshape(20, 3))
    def scaled(self, x):
        return x / 59
    def training(self):
        return self.scaled(self.fit)
    def validation(self):
        return self.held
"""


@pytest.mark.parametrize(
    ("program", "line", "prepared"),
    [
        (
            "whole = np.arange(60.0)\ntrain = whole[:40] / 59\nval = whole[40:]",
            "val = whole[40:]",
            "whole[:40] / 59",
        ),
        (
            "def both():\n    a, b = split(np.arange(60.0))\n    return scaled(a), b\ntrain, val = both()",
            "return scaled(a), b",
            "scaled(a)",
        ),
        (
            _CLASS + "leaves = Leaves()\ntrain, val = leaves.training(), leaves.validation()",
            "return self.held",
            "self.scaled(self.fit)",
        ),
        ("train, val = split(np.arange(60.0))", "", ""),
    ],
)
def test_a_preparation_is_missing_where_only_the_training_data_had_it(
    program: str, line: str, prepared: str, tmp_path: Path
) -> None:
    tools = (
        "import numpy as np\ndef split(x):\n    return x[:12], x[12:]\ndef scaled(x):\n    return x / 59\n"
    )
    program = f"import numpy as np\nfrom tools import scaled, split\n{program}\n"
    history, names = _noted(tmp_path, program, "scales", {"tools": tools})
    found = unprepared(history, names["val"], names["train"], 0, [[], []])
    assert (_line(found.trail) if found else "") == line
    applied = found.applied.node if found and found.applied else None
    assert ast.get_source_segment(program, applied) == prepared if applied else not prepared


def test_the_body_of_a_lambda_in_a_table_of_functions(tmp_path: Path) -> None:
    program = """import numpy as np
KINDS = {
    "shifted": lambda column: column - 3,
}
x = KINDS["shifted"](np.arange(4.0))
"""
    assert _first_bad_line(tmp_path, program, "range") == '"shifted": lambda column: column - 3,'
