"""The first bad line: a walk back over the statements that made a value, on programs without TensorFlow."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fitdoctor.collect.aspects import aspect_of, same_aspect
from fitdoctor.runner.first_bad_line import Seen, Step, Steps
from fitdoctor.runner.line_tracer import LineTracer

pytest.importorskip("pandas")


def _failed() -> None:
    raise AssertionError("the tracer gave up")


def _first_bad_line(
    folder: Path, program: str, aspect: str, name: str = "x", lists: bool = False, **modules: str
) -> str:
    """The text of the line at which `name`, as the program leaves it, became what it is."""
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text)
    path = folder / "train.py"
    path.write_text(program)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    tracer = LineTracer((aspect,), _failed, lists=lists)
    before = sys.gettrace()
    sys.path.insert(0, str(folder))
    tracer.start()
    try:
        exec(compile(program, str(path), "exec"), namespace)
    finally:
        sys.settrace(before)
        sys.path.remove(str(folder))
        for module in modules:
            sys.modules.pop(module, None)
    value = namespace[name]
    wanted = aspect_of(value, aspect)
    chain = tracer.steps.origin(
        tracer.key(value), lambda found: found is not None and same_aspect(aspect, wanted, found[0])
    )
    if not chain:
        return ""
    return Path(chain[-1].path).read_text().splitlines()[chain[-1].line - 1].strip()


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


def test_a_list_that_grows_in_a_loop(tmp_path: Path) -> None:
    program = """
import numpy as np
rows = []
for index in range(200):
    row = [0.0] * (3 if index < 150 else 4)
    rows.append(row)
x = np.array(rows, dtype=object)
"""
    assert _first_bad_line(tmp_path, program, "objects") == "x = np.array(rows, dtype=object)"
    assert _first_bad_line(tmp_path, program, "objects", "rows", lists=True) == "rows.append(row)"


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
    line = "codes = np.array([table[name] for name in names])"
    assert _first_bad_line(tmp_path, program, "range") == line


def test_a_value_without_a_known_maker_has_no_answer() -> None:
    bad = Seen(1, (True,))
    steps = Steps([Step(1, "a.py", 1, Seen(2, (True,)), (bad,))])
    assert steps.origin(2, lambda found: found == (True,)) == []


def test_memory_that_is_used_again_is_another_object() -> None:
    tracer = LineTracer(("rank",), _failed)
    keys = {tracer.key(np.zeros(3)) for _ in range(5)}
    assert len(keys) == 5


@pytest.mark.parametrize(
    ("value", "aspect", "expected"),
    [
        (np.array([1.0, np.nan]), "non-finite", True),
        (np.array([1, 2]), "non-finite", False),
        ([[1.0], [float("inf")]], "non-finite", True),
        ([["a", 1]], "objects", True),
        ([[1, 2], [3]], "objects", True),
        ([[1, 2], [3, 4]], "objects", False),
        (np.zeros((3, 4, 5)), "rank", 3),
        ([[1, 2], [3, 4], [5, 6]], "shape", (2,)),
        (np.array([1, 10]), "range", (1.0, 10.0)),
        (np.array([0.5, 1]), "fractions", True),
        (np.array([1.0, 2.0]), "fractions", False),
        (np.zeros((0, 3)), "empty", True),
    ],
)
def test_aspects(value: Any, aspect: str, expected: Any) -> None:
    assert aspect_of(value, aspect) == expected
