"""No program keeps `lint` busy for ever: random programs with circular definitions, and a budget of work per file."""

from __future__ import annotations

import gc
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fitdoctor.cli import main
from fitdoctor.cli.discover import Found
from fitdoctor.cli.lint_files import Wishes, lint_text
from fitdoctor.config import Config
from fitdoctor.source import conditions
from fitdoctor.source.work_budget import OverBudget, WorkBudget, spend

NAMES = st.sampled_from(["a", "b", "ds", "model", "x", "f", "self.ds", "g", "data[0]", "data['k']"])
METHODS = st.sampled_from("map filter batch shuffle repeat take fit predict append reshape astype".split())


@st.composite
def expressions(draw, depth=3):
    kind = draw(st.integers(0, 9)) if depth else 0
    inner = expressions(depth=depth - 1)
    if kind <= 1:
        return draw(NAMES)
    if kind == 2:
        return f"{draw(inner)}.{draw(METHODS)}(lambda {draw(st.sampled_from('xab'))}: {draw(inner)})"
    if kind == 3:
        return f"{draw(inner)}.{draw(METHODS)}({draw(inner)})"
    if kind == 4:
        return f"f({draw(inner)}, {draw(inner)})"
    if kind == 5:
        return f"{draw(inner)} + {draw(inner)}"
    if kind == 6:
        return f"[{draw(inner)} for x in {draw(inner)}]"
    if kind == 7:
        return f"({draw(inner)})[{draw(st.sampled_from(['0', '::2', 'a', '-1']))}]"
    if kind == 8:
        return f"({draw(inner)}, {draw(inner)})"
    return draw(
        st.sampled_from(
            [
                "tf.data.Dataset.from_tensor_slices(x)",
                "keras.Sequential([keras.layers.Dense(a)])",
                "np.zeros((a, 8))",
                "keras.Model(a, b)",
                "range(400)",
            ]
        )
    )


@st.composite
def statements(draw, depth=2, indent=""):
    kind = draw(st.integers(0, 8 if depth else 2))
    deeper = indent + "    "

    def block():
        return "".join(
            draw(statements(depth=depth - 1, indent=deeper)) for _ in range(draw(st.integers(1, 3)))
        )

    if kind <= 1:
        return f"{indent}{draw(NAMES)} = {draw(expressions())}\n"
    if kind == 2:
        return f"{indent}{draw(expressions())}\n"
    if kind == 3:
        return f"{indent}for {draw(st.sampled_from(['a', 'x', 'a, b']))} in {draw(expressions())}:\n{block()}"
    if kind == 4:
        return f"{indent}while {draw(expressions())}:\n{block()}"
    if kind == 5:
        return f"{indent}if {draw(expressions())}:\n{block()}{indent}else:\n{block()}"
    if kind == 6:
        return f"{indent}def {draw(st.sampled_from('fg'))}(x, a=None):\n{block()}{deeper}return {draw(expressions())}\n"
    if kind == 7:
        return f"{indent}class Net(keras.Model):\n{deeper}def call(self, x):\n{block_of(draw, depth, deeper)}"
    return f"{indent}with tf.GradientTape() as a:\n{block()}"


def block_of(draw, depth, indent):
    return "".join(draw(statements(depth=depth - 1, indent=indent + "    ")) for _ in range(2))


@st.composite
def programs(draw):
    head = "import numpy as np\nimport tensorflow as tf\nimport keras\n"
    star = draw(st.sampled_from(["", "from data import *\n", "from data import ds, model\n"]))
    return head + star + "".join(draw(statements()) for _ in range(draw(st.integers(2, 8))))


@pytest.fixture(scope="module", autouse=True)
def small_heap():
    """Objects that other tests left behind are not searched by the garbage collector while these programs are timed."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def test_every_random_program_ends_within_its_budget(text):
    before = time.thread_time()
    linted = lint_text(text, Found("random.py", Config()), Wishes())
    assert not [line for line in linted.unreadable if "takes too long" in line], text
    assert not linted.diagnosis.crashes, text
    assert time.thread_time() - before < 5, text


@pytest.mark.parametrize(
    "lines",
    [
        "ds = ds.map(lambda x: x)",
        "ds = ds.filter(lambda x: x)\nmodel.fit(ds)",
        "a = b.map(lambda x: x)\nb = a.map(lambda x: x)\nmodel.fit(a)",
        "for i in range(9):\n    a = b.map(lambda x: x)\n    b = a.filter(len)\nmodel.fit(a)",
        "while True:\n    x = y[0]\n    y = x[0]\n    model.fit(x, y)",
    ],
)
def test_circular_definitions_end(lines):
    text = f"import tensorflow as tf\nfrom data import *\n{lines}\n"
    linted = lint_text(text, Found("circle.py", Config()), Wishes())
    assert linted.unreadable == [] and linted.diagnosis.findings == ()


def test_nested_loops_are_not_followed_round_by_round():
    text = (
        "import numpy as np\nimport keras\nmodel = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])\n"
        "model.compile('adam', 'mse')\n"
        "for epoch in range(40):\n    for part in range(40):\n        for row in range(400):\n"
        "            x = np.zeros((1, 4))\n            p = model.predict(x)\n"
    )
    before = time.thread_time()
    lint_text(text, Found("loops.py", Config()), Wishes())
    assert time.thread_time() - before < 1


def test_loops_in_functions_that_loops_call_do_not_multiply(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fitdoctor.cli.lint_files._STEPS_PER_FILE", 60_000)
    (tmp_path / "train.py").write_text(
        """\
import keras
import numpy as np

anchors = np.zeros((9, 2))


def encode(boxes):
    scores, masks = np.zeros((45, 60, 9, 2)), np.zeros((45, 60, 9))
    for i in range(45):
        for j in range(60):
            for k in range(9):
                left, top = j * 16 - anchors[k][0] / 2, i * 16 - anchors[k][1] / 2
                if left > -5 and top > -5:
                    box = np.expand_dims(np.array([left, top, left + 8, top + 8]), axis=0)
                    if np.any(overlap(box, boxes) > 0.5):
                        scores[i, j, k, 1] = 1.0
                        masks[i, j, k] = 1
    return scores, masks


def overlap(one, other):
    start = np.maximum(one[..., :2], other[..., :2])
    size = np.maximum(np.minimum(one[..., 2:], other[..., 2:]) - start, 0.0)
    return size[..., 0] * size[..., 1]


def batches(size):
    while True:
        images, scores = np.zeros((size, 8)), np.zeros((size, 45, 60, 9, 2))
        for i in range(size):
            scores[i], masks = encode(np.random.rand(3, 4))
        yield images, scores


model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
data = batches(2)
for epoch in range(10):
    for step in range(4000):
        images, scores = next(data)
        model.train_on_batch(images, scores[:, 0, 0, 0])
""",
        "utf-8",
    )
    assert main(["lint", "--no-cache", "."]) != 2, capsys.readouterr().err


def test_branches_are_not_followed_again_for_every_old_name(monkeypatch):
    """Each use of a TensorFlow 1 name asked every branch of the file again: 3.4 s for 1,000 lines."""
    asked = []
    tested = conditions._asks_what_there_is
    monkeypatch.setattr(conditions, "_asks_what_there_is", lambda *args: asked.append(args) or tested(*args))
    branches = "".join(f"    if c > {i}:\n        print({i})\n" for i in range(50))
    uses = "".join(f"    s{i} = tf.Session()\n" for i in range(50))
    text = f"import tensorflow as tf\n\n\ndef f(c):\n{branches}{uses}"
    lint_text(text, Found("t.py", Config()), Wishes())
    assert 50 <= len(asked) < 500


def test_a_file_over_its_budget_is_named_and_the_others_are_checked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fitdoctor.cli.lint_files._STEPS_PER_FILE", 50)
    calls = "".join(f"x{number} = x{number - 1}.map(len)\nmodel.fit(x{number})\n" for number in range(1, 60))
    (tmp_path / "large.py").write_text(f"import tensorflow as tf\n{calls}", "utf-8")
    small = "import keras\nmodel = keras.Sequential()\nmodel.compile('adam', 'mse', sample_weight_mode='temporal')\n"
    (tmp_path / "small.py").write_text(small, "utf-8")
    assert main(["lint", "--no-cache", "."]) == 2
    printed = capsys.readouterr()
    assert "large.py: not checked" in printed.err and "small.py:3" in printed.out


def test_a_budget_can_be_spent_in_parts():
    budget = WorkBudget(2)
    with budget:
        spend()
    spend()
    with budget:
        spend()
    with budget, pytest.raises(OverBudget):
        spend()
