"""What tracing makes once and for all (FIT409 to FIT412), and code of TensorFlow 1 (FIT405, FIT406)."""

from __future__ import annotations

import pytest

from fitdoctor.catalogue import catalogue
from fitdoctor.diagnose import examine_source
from fitdoctor.diagnosis import Severity
from fitdoctor.edits import apply_edits
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.read import source_from_text
from tests.catalogue.traced_programs import HEAD, ids, judged, layer

# --- FIT405, FIT406 -----------------------------------------------------------------------------------------------


def test_a_program_of_tensorflow_1_throughout_is_left_alone() -> None:
    text = """
    with tf.Graph().as_default():
        a = tf.compat.v1.placeholder(tf.float32, (None, 2))
        total = tf.reduce_sum(a)
        with tf.compat.v1.Session() as sess:
            print(sess.run(total, {a: [[1.0, 2.0]]}))
    """
    assert ids(text) == []


@pytest.mark.parametrize(
    ("later", "causes"),
    [
        ("print(one.name, one.graph is own)", []),
        ("print(one)", []),
        ("print(one + 1.0)", ["FIT405"]),
    ],
)
def test_a_tensor_of_another_graph_is_only_looked_at(later: str, causes: list[str]) -> None:
    text = f"""
    own = tf.Graph()
    with own.as_default():
        one = tf.constant(1.0)
    {later}
    """
    assert ids(text, "FIT405") == causes


@pytest.mark.parametrize(
    "line",
    [
        "tf.compat.v1.reset_default_graph()",
        "tf.compat.v1.set_random_seed(1)",
        "tf.compat.v1.disable_eager_execution()",
        "sess = tf.compat.v1.Session() if hasattr(tf, 'Session') else None",
        "seed = tf.set_random_seed if tf.__version__.startswith('1') else tf.random.set_seed",
        "session = tf.compat.v1.Session(config=tf.compat.v1.ConfigProto())",
    ],
)
def test_old_names_that_do_no_harm_without_keras(line: str) -> None:
    assert ids(line) == []


def test_old_functions_get_their_new_names() -> None:
    text = (
        HEAD
        + "def loss(t, p):\n    return tf.reduce_mean(tf.squared_difference(t, p)) + tf.to_float(tf.log(p))\n"
    )
    project = Project((Module(source_from_text(text, "train.py")),))
    found = examine_source(project, select=("FIT406",)).primary
    assert found is not None
    edited = apply_edits(text, found.fixes[0].edits)
    assert "tf.math.squared_difference(t, p)" in edited
    assert "tf.cast(tf.math.log(p), tf.float32)" in edited


# --- FIT409 to FIT412 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("x = x + np.random.normal()", ["FIT409"]),
        ("x = x * random.random()", ["FIT409"]),
        ("x = tf.random.uniform(tf.shape(x), seed=random.randint(0, 9))", []),
        ("x = x + keras.random.normal((3,))", []),
        ("print(x.shape)", []),
    ],
)
def test_python_randomness_in_a_layer(body: str, found: list[str]) -> None:
    assert ids(layer(body), "FIT409") == found


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            'if training: x = x + np.random.normal(0, 0.1, x.shape[1:]).astype("float32")',
            "if training: x = x + tf.random.normal(x.shape[1:], 0, 0.1)",
        ),
        ("x = x * random.random()", "x = x * tf.random.uniform(())"),
        ("if random.random() < 0.5 and training: print(1)", ""),
    ],
)
def test_a_draw_is_moved_into_the_graph_unless_python_decides_by_it(body: str, expected: str) -> None:
    (finding,) = judged(layer(body), "FIT409")[:1]
    replaced = [edit.replacement for edit in finding.fixes[0].edits]
    assert bool(replaced) is bool(expected)
    if expected:
        assert any(each in expected for each in replaced if "random" in each)


def test_a_print_of_a_tensor_is_only_worth_knowing() -> None:
    assert [each.severity for each in judged(layer("print(x)"), "FIT409")] == [Severity.INFO]


def test_randomness_of_py_function_is_drawn_each_time() -> None:
    text = """
    def noisy(v):
        return v + np.random.normal(size=v.shape)
    data = tf.data.Dataset.from_tensor_slices(a).map(lambda v: tf.numpy_function(noisy, [v], tf.float64))
    """
    assert ids(text) == []


@pytest.mark.parametrize(
    ("read", "found"), [("rate = 1.0 / self.count", ["FIT409"]), ("rate = 1.0", []), ("self.count = 0", [])]
)
def test_a_counter_matters_where_the_trace_reads_it(read: str, found: list[str]) -> None:
    text = f"""
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.count = 0
        def train_step(self, data):
            self.count += 1
            {read}
            return {{"a": tf.constant(1.0)}}
    """
    assert ids(text, "FIT409") == found


FROZEN = """
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.beta = {made}
    def call(self, x):
        return x * self.beta
class Change(keras.callbacks.Callback):
    def {when}(self, epoch, logs=None):
        self.model.beta{change}
model = Net()
{before}
model.compile("adam", "mse")
model.fit(a, b, callbacks=[Change()])
{after}
"""


@pytest.mark.parametrize(
    ("made", "when", "change", "before", "after", "found"),
    [
        ("0.0", "on_epoch_end", " = 1.0", "", "", ["FIT411"]),
        ("0.0", "on_train_begin", " = 1.0", "", "", []),
        ("keras.Variable(0.0)", "on_epoch_end", ".assign(1.0)", "", "", []),
        ("0.0", "on_epoch_end", " + 1", "model.beta = 2.0", "", []),
        ("0.0", "on_epoch_end", " + 1", "", "model.beta = 2.0\nmodel.fit(a, b)", ["FIT411"]),
        (
            "0.0",
            "on_epoch_end",
            " + 1",
            "",
            "model.beta = 2.0\nmodel.compile('adam', 'mse')\nmodel.fit(a, b)",
            [],
        ),
        ("0.0", "on_epoch_end", " + 1", "", "model.beta = 2.0\nmodel.predict(a)", []),
    ],
)
def test_values_that_a_trace_freezes(
    made: str, when: str, change: str, before: str, after: str, found: list[str]
) -> None:
    text = FROZEN.format(made=made, when=when, change=change, before=before, after=after)
    assert ids(text, "FIT411") == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("for i in range(100):\n    step(a, i)", ["FIT412"]),
        ("for i in range(100):\n    step(a, tf.constant(i))", []),
        ("for i in range(3):\n    step(a, i)", []),
        ("for i in range(100):\n    step(a[i:i + 8], 1)", []),
        ("for i in range(100):\n    step(a[:i], 1)", ["FIT412"]),
        ("for i in range(0, 100, 8):\n    end = i + 8\n    step(a[i:end], 1)", []),
        ("for i in range(100):\n    f = tf.function(lambda x: x * 2)\n    f(a)", ["FIT412"]),
        ("for m in models:\n    f = tf.function(m.call)\n    for i in range(100):\n        f(a)", []),
        ("for i in range(100):\n    m = build()\n    f = tf.function(lambda x: m(x))\n    f(a)", []),
        ("fs = [tf.function(lambda x: x) for _ in range(100)]", []),
    ],
)
def test_what_is_traced_anew_in_each_round(text: str, found: list[str]) -> None:
    assert ids("@tf.function\ndef step(x, n):\n    return x * n\n" + text, "FIT412") == found


def test_add_loss_belongs_into_call() -> None:
    text = """
    class Penalised(keras.layers.Layer):
        def {method}:
            self.add_loss(tf.reduce_sum(self.w))
    """
    assert ids(text.format(method="build(self, shape)")) == ["FIT410"]
    assert ids(text.format(method="call(self, x)")) == []


def test_a_constant_may_be_added_to_a_sequential_model() -> None:
    text = "model = keras.Sequential([keras.layers.Dense(1)])\nmodel.add_loss(tf.constant(1.0))\n"
    assert ids(text) == []


def test_every_cause_of_the_family_has_a_source_judge() -> None:
    family = [cause for cause in catalogue().values() if cause.id.startswith("FIT4")]
    logged_finding = [
        cause for cause in family if cause.id != "FIT413"
    ]  # between two calls: only the failure tells
    assert len(logged_finding) == len(family) - 1 == 12
    assert all(any(judge.moment.value == "source" for judge in cause.judges) for cause in logged_finding)
