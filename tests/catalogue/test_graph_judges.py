"""The finer points of the judges of traced code, from source and plain facts."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import pytest

from fitdoctor.catalogue import catalogue
from fitdoctor.diagnosis import Diagnosis, Finding, Severity
from fitdoctor.edits import apply_edits
from fitdoctor.engine import diagnose
from fitdoctor.examine import examine_failure, examine_source, leak_case
from fitdoctor.facts import FailureFacts, Frame, HeldTensor
from fitdoctor.failure.text import failures_in
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.read import source_from_text

HEAD = """import functools
import random
import numpy as np
import tensorflow as tf
import keras
from keras import ops
"""


def project_of(text: str) -> Project:
    return Project((Module(source_from_text(HEAD + textwrap.dedent(text), "train.py")),))


def judged(text: str, cause: str = "FIT4") -> list[Finding]:
    diagnosis: Diagnosis = examine_source(project_of(text), select=(cause,))
    assert not diagnosis.crashes, diagnosis.crashes
    return list(diagnosis.findings)


def ids(text: str, cause: str = "FIT4") -> list[str]:
    return [found.id for found in judged(text, cause)]


def lines(text: str, cause: str) -> list[str]:
    """The source lines that findings point at."""
    source = (HEAD + textwrap.dedent(text)).split("\n")
    return [source[found.location.line - 1].strip() for found in judged(text, cause) if found.location]


LAYER = """
class Keeper(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(3)
        self.kept = None
    def call(self, x):
        {body}
        return self.dense(x)
layer = Keeper()
model = keras.Sequential([keras.Input((3,)), layer])
model.compile("adam", "mse")
model.fit(a, b)
{after}
"""


def layer(body: str, after: str = "") -> str:
    return LAYER.format(body=body, after=after)


# --- FIT401, FIT402 -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "after",
    [
        "print(layer.kept.numpy())",
        "np.mean(layer.kept)",
        "value = float(layer.kept)",
        "kept = layer.kept\nprint(kept + 1)",
    ],
)
def test_a_kept_tensor_read_by_the_script_is_found(after: str) -> None:
    assert lines(layer("self.kept = tf.nn.relu(x)", after), "FIT401") == ["self.kept = tf.nn.relu(x)"]


@pytest.mark.parametrize(
    "after",
    [
        "",
        "print(layer.kept is None)",
        "layer(a)\nprint(layer.kept.numpy())",
        "model(a)\nprint(layer.kept.numpy())",
    ],
)
def test_a_kept_tensor_that_nobody_reads_or_that_is_a_value_by_then_is_not(after: str) -> None:
    assert ids(layer("self.kept = tf.nn.relu(x)", after)) == []


def test_kept_and_read_in_one_trace_is_fine() -> None:
    assert ids(layer("self.kept = tf.nn.relu(x); x = self.kept * 2")) == []


def test_kept_once_is_found_by_the_next_trace() -> None:
    found = judged(
        """
        class Table(keras.layers.Layer):
            def __init__(self):
                super().__init__()
                self.table = None
            def call(self, x):
                if self.table is None:
                    self.table = tf.range(tf.shape(x)[1])
                return x + tf.cast(self.table, x.dtype)
        """
    )
    assert [each.id for each in found] == ["FIT401"]
    assert found[0].fixes[0].edits


@pytest.mark.parametrize(
    ("method", "severity"), [("call(self, x)", Severity.ERROR), ("train_step(self, x)", Severity.WARNING)]
)
def test_carried_from_trace_to_trace(method: str, severity: Severity) -> None:
    found = judged(
        f"""
        class Net(keras.Model):
            def __init__(self):
                super().__init__()
                self.mean = 0.0
            def {method}:
                self.mean = 0.9 * self.mean + 0.1 * tf.reduce_mean(x)
                return x - self.mean
        """
    )
    assert [(each.id, each.severity) for each in found] == [("FIT401", severity)]


def test_another_tf_function_reads_it() -> None:
    text = """
    class Coder:
        @tf.function
        def encode(self, x):
            self.code = tf.nn.relu(x)
            return self._sum()
        def _sum(self):
            return tf.reduce_sum(self.code)
        @tf.function
        def decode(self):
            return {read}
    """
    assert ids(text.format(read="self.code * 2")) == ["FIT401"]
    assert ids(text.format(read="tf.constant(1.0)")) == []


@pytest.mark.parametrize(
    ("keep", "found"),
    [
        ("history.append(loss)", ["FIT402"]),
        ("history.append(float(3))", []),
        ("local = []; local.append(loss); loss = tf.add_n(local)", []),
    ],
)
def test_what_a_step_puts_into_a_list(keep: str, found: list[str]) -> None:
    text = f"""
    history = []
    @tf.function
    def step(x, y):
        loss = tf.reduce_mean(tf.square(x - y))
        {keep}
        return loss
    step(a, b)
    print(np.mean(history))
    """
    assert ids(text) == found


def test_a_cached_function_that_makes_a_tensor() -> None:
    text = """
    {decorator}
    def table(n):
        return tf.cast(tf.range(n), tf.float32)
    class Add(keras.layers.Layer):
        def call(self, x):
            return x + table(3)
    """
    assert ids(text.format(decorator="@functools.lru_cache")) == ["FIT402"]
    assert ids(text.format(decorator="")) == []


def test_run_eagerly_keeps_values() -> None:
    text = layer("self.kept = tf.nn.relu(x)", "print(layer.kept.numpy())")
    assert ids(text.replace('"mse")', '"mse", run_eagerly=True)')) == []


# --- failures -----------------------------------------------------------------------------------------------------

SYMBOLIC = "'SymbolicTensor' object has no attribute 'numpy'"


def failure_at(line: int, function: str, text: str, **more: object) -> FailureFacts:
    frame = Frame("train.py", line, function, text)
    facts = FailureFacts(type="AttributeError", message=SYMBOLIC, frames=(frame,))
    return replace(facts, **more)  # type: ignore[arg-type]


def test_the_same_message_in_a_trace_and_outside_of_it() -> None:
    text = layer("self.kept = x.numpy()", "print(layer.kept.numpy())")
    project = project_of(text)
    source = (HEAD + textwrap.dedent(text)).split("\n")
    inside = next(n for n, line in enumerate(source, 1) if "x.numpy()" in line)
    found = examine_failure(failure_at(inside, "call", "self.kept = x.numpy()"), lambda: project)
    assert found.primary is not None
    assert found.primary.id == "FIT407"

    project = project_of(layer("self.kept = tf.nn.relu(x)", "print(layer.kept.numpy())"))
    found = examine_failure(
        failure_at(len(source) - 1, "<module>", "print(layer.kept.numpy())"), lambda: project
    )
    assert found.primary is not None
    assert found.primary.id == "FIT401"


def test_what_the_program_still_held_names_the_holder() -> None:
    held = HeldTensor(
        "model.probe.last", "Probe", "last", "<tf.Tensor 'a:0'>", "step", (Frame("net.py", 7, "call"),)
    )
    failure = failure_at(3, "<module>", "print(model.probe.last.numpy())", held=(held,))
    found = examine_failure(failure)
    assert found.primary is not None
    assert found.primary.id == "FIT401"
    assert "model.probe.last" in found.primary.message
    assert found.primary.location is not None
    assert (found.primary.location.path, found.primary.location.line) == ("net.py", 7)


@pytest.mark.parametrize(
    ("graph", "cause"),
    [
        ("FuncGraph(name=step, id=1)", "FIT401"),
        ("FuncGraph(name=one_step_on_data, id=1)", "FIT401"),
        ("FuncGraph(name=model_while_body_142, id=1)", "FIT403"),
        ("FuncGraph(name=while_body_3, id=1)", "FIT403"),
        ("FuncGraph(name=layer_cond_true_154, id=1)", "FIT404"),
        ("<tensorflow.python.framework.ops.Graph object at 0x7f>", "FIT405"),
    ],
)
def test_the_graph_that_owns_the_tensor_tells_the_cause(graph: str, cause: str) -> None:
    text = f"""Traceback (most recent call last):
  File "/home/me/train.py", line 9, in <module>
    use(kept)
TypeError: <tf.Tensor 'sub:0' shape=(2,) dtype=float32> is out of scope and cannot be used here. Use return values.

<tf.Tensor 'sub:0' shape=(2,) dtype=float32> was defined here:
    File "/home/me/train.py", line 4, in step

The tensor <tf.Tensor 'sub:0'> cannot be accessed from here, because it was defined in {graph}, which is out of scope.
"""
    found = examine_failure(failures_in(text)[-1])
    assert found.primary is not None
    assert found.primary.id == cause


def test_values_asked_for_inside_keras_are_no_leak() -> None:
    frames = (
        Frame("train.py", 3, "<module>", "model.fit(data)"),
        Frame(
            "/venv/lib/python3.11/site-packages/keras/src/utils/traceback_utils.py",
            122,
            "error_handler",
            library=True,
        ),
    )
    message = "int() argument must be a string, a bytes-like object or a real number, not 'SymbolicTensor'"
    failure = FailureFacts(type="TypeError", message=message, frames=frames)
    assert not examine_failure(failure, select=("FIT401", "FIT402", "FIT407")).findings


# --- FIT403, FIT404 -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loop", "found"),
    [
        ("for i in tf.range(4):", ["FIT403"]),
        ("for i in tf.range(tf.shape(x)[0]):", ["FIT403"]),
        ("for i in range(4):", []),
        ("for i in range(x.shape[1]):", []),
    ],
)
def test_a_list_filled_in_a_loop(loop: str, found: list[str]) -> None:
    text = f"""
    @tf.function
    def roll(x):
        outs = []
        {loop}
            x = tf.tanh(x)
            outs.append(x)
        return tf.stack(outs)
    """
    assert ids(text) == found


def test_a_tensor_of_before_may_be_put_away_in_a_loop() -> None:
    text = """
    @tf.function
    def roll(x):
        outs = []
        for i in tf.range(4):
            outs.append(x)
        return outs[0]
    """
    assert ids(text) == []


def test_a_loop_variable_without_a_first_value() -> None:
    text = """
    @tf.function
    def best(x):
        {before}
        for i in tf.range(4):
            top = tf.maximum(top, x[i])
        return top
    """
    assert ids(text.format(before="pass")) == ["FIT403"]
    assert ids(text.format(before="top = x[0]")) == []


@pytest.mark.parametrize(
    ("head", "tail", "found"),
    [
        ("pass", "", ["FIT404"]),
        ("extra = tf.zeros(())", "", []),
        ("pass", "else:\n            extra = tf.zeros(())", []),
        ("pass", "extra = tf.ones(())", []),
    ],
)
def test_a_name_of_one_branch(head: str, tail: str, found: list[str]) -> None:
    text = f"""
    @tf.function
    def step(x):
        {head}
        if tf.reduce_mean(x) > 0:
            extra = tf.reduce_sum(x)
        {tail}
        return x + extra
    """
    assert ids(text) == found


def test_python_decides_other_branches_while_tracing() -> None:
    text = """
    @tf.function
    def step(x, training):
        if training:
            extra = tf.reduce_sum(x)
        return x + extra
    """
    assert ids(text) == []


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


# --- FIT407, FIT408 -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("np.log(y_pred)", ["FIT407"]),
        ("np.array([y_pred, y_true])", ["FIT407"]),
        ("float(tf.reduce_sum(y_pred))", ["FIT407"]),
        ("y_pred.numpy()", ["FIT407"]),
        ("y_pred.astype('float32')", ["FIT407"]),
        ("y_pred * np.sqrt(2.0)", []),
        ("tf.reshape(y_pred, (-1, int(np.prod(y_pred.shape[1:]))))", []),
        ("y_pred * np.ones(3)", []),
        ("tf.cast(y_pred, np.float32)", []),
        ("y_pred + float(3)", []),
    ],
)
def test_values_of_tensors_in_a_loss(body: str, found: list[str]) -> None:
    text = f"""
    def loss(y_true, y_pred):
        return {body}
    model.compile("adam", loss)
    """
    assert ids(text, "FIT407") == found


def test_autograph_turns_casts_into_operations() -> None:
    text = """
    @tf.function
    def step(x):
        return float(tf.reduce_sum(x)) + int(tf.shape(x)[0])
    """
    assert ids(text) == []


def test_every_numpy_call_of_the_function_is_changed_at_once() -> None:
    text = """
    def loss(y_true, y_pred):
        error = np.abs(y_true - y_pred)
        scaled = np.log1p(error)
        return np.mean(scaled, axis=-1)
    model.compile("adam", loss)
    """
    source = HEAD + textwrap.dedent(text)
    edited = apply_edits(source, judged(text, "FIT407")[0].fixes[0].edits)
    assert "tf.abs(y_true - y_pred)" in edited
    assert "tf.math.log1p(error)" in edited
    assert "tf.reduce_mean(scaled, axis=-1)" in edited


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("x = x if tf.reduce_mean(x) > 0 else -x", ["FIT408"]),
        ("assert tf.reduce_all(x > 0)", ["FIT408"]),
        ("x = max(x, 0.0)", ["FIT408"]),
        ("flag = tf.reduce_any(x > 0) and True", ["FIT408"]),
        ("inside = 0.0 < tf.reduce_mean(x) < 1.0", ["FIT408"]),
        ("x = x if x.shape[-1] == 3 else -x", []),
        ("x = x if self.kept is None else -x", []),
        ("assert x.shape.rank == 2", []),
        ("x = x * max(1, 2)", []),
        ("x = x if isinstance(x, tuple) else x", []),
    ],
)
def test_python_branches_in_a_layer(body: str, found: list[str]) -> None:
    assert ids(layer(body), "FIT408") == found


def test_autograph_rewrites_branches_but_not_asserts() -> None:
    text = """
    @tf.function
    def step(x):
        if tf.reduce_mean(x) > 0:
            x = -x
        {line}
        return x
    """
    assert ids(text.format(line="pass"), "FIT408") == []
    assert ids(text.format(line="assert tf.reduce_mean(x) > 0"), "FIT408") == ["FIT408"]


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
    assert len(family) == 12
    assert all(any(judge.moment.value == "source" for judge in cause.judges) for cause in family)


# --- tensors that are still held after tracing ---------------------------------------------------------------


def held_judged(body: str, held: HeldTensor, after: str = "") -> list[Finding]:
    text = layer(body, after)
    made = Frame("train.py", HEAD.count("\n") + 8, "call")
    project = project_of(text)
    case = leak_case((replace(held, made_at=(made,)),), lambda: project)
    return list(diagnose([case], select=("FIT4",)).findings)


ON_ATTRIBUTE = HeldTensor("layer.kept", "Keeper", "kept", "<tf.Tensor 'mul:0'>", "one_step", (), 1, 312)


def test_a_tensor_that_nothing_reads_holds_its_graph():
    (found,) = held_judged("self.kept = x * 2", ON_ATTRIBUTE)
    assert (found.id, found.severity) == ("FIT401", Severity.INFO)
    assert "the whole graph of its trace" in found.message
    assert any("312 operations" in evidence.observed for evidence in found.evidence)


def test_many_graphs_on_one_holder_are_a_warning():
    many = replace(ON_ATTRIBUTE, graphs=40)
    (found,) = held_judged("self.kept = x * 2", many)
    assert (found.severity, "40 graphs" in found.message) == (Severity.WARNING, True)


def test_a_tensor_that_will_be_read_out_of_scope_is_announced():
    (found,) = held_judged("self.kept = x * 2", ON_ATTRIBUTE, "\nprint(float(layer.kept[0, 0]))\n")
    assert (found.id, found.severity) == ("FIT401", Severity.ERROR)


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("self.kept = x * 2; x = self.kept + 1", ""),
        ("self.kept = x * 2", "\nmodel(np.ones((2, 3)))\nprint(layer.kept.numpy())\n"),
        ("self.kept = x * 2", '\nprint(getattr(layer, "kept"))\n'),
    ],
)
def test_what_is_rightly_kept_is_not_reported(body, after):
    assert held_judged(body, ON_ATTRIBUTE, after) == []


def test_a_list_of_a_traced_functions_own_outputs_is_no_leak():
    listed = HeldTensor("outputs[0]", "", "outputs", "<tf.Tensor 'mul:0'>", "forward")
    assert held_judged("x = x * 2", listed, "\noutputs = concrete.outputs\n") == []


def test_numpys_functions_that_work_on_tensors():
    assert ids(layer("x = np.flip(x, axis=1) * np.size(x, 1)")) == []


@pytest.mark.parametrize(
    "body",
    ["x[x < 0] = 0.0", "y = x * 2; y[0] = 1.0", "name = tf.strings.as_string(x); name = name.split('/')"],
)
def test_what_needs_a_value(body):
    assert ids(layer(body), "FIT407") == ["FIT407"]


@pytest.mark.parametrize("body", ["x['mask'] = 1", "parts = [x, x]; parts[0] = x"])
def test_lists_and_dicts_may_be_written_to(body):
    assert ids(layer(body), "FIT407") == []


LEGACY = """
class Gate(keras.layers.Layer):
    def call(self, x):
        if tf.reduce_mean(x) > 0:
            x = x * 2
        return x
def loss(t, p):
    if tf.reduce_mean(p) > 0:
        return tf.reduce_mean(p)
    return tf.reduce_mean(t)
model = keras.Sequential([Gate()])
model.compile("adam", loss)
model.fit(a, b)
"""


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("import tensorflow as tf\nimport tf_keras as keras\n", 0),
        (
            'import os\nos.environ["TF_USE_LEGACY_KERAS"] = "1"\nimport tensorflow as tf\nkeras = tf.keras\n',
            0,
        ),
        ("import tensorflow as tf\nimport keras\n", 2),
        ('import os\nos.environ["TF_USE_LEGACY_KERAS"] = "0"\nimport tensorflow as tf\nimport keras\n', 2),
    ],
    ids=["tf_keras", "switched on", "keras 3", "switched off"],
)
def test_keras_2_converts_layers_and_losses(head, found):
    project = Project((Module(source_from_text(head + LEGACY, "train.py")),))
    diagnosis = examine_source(project, select=("FIT408",))
    assert len(diagnosis.findings) == found


def test_a_table_that_is_filled_once_meets_the_next_trace():
    body = "\n        ".join(
        (
            "if x.shape[1] not in Keeper.table:",
            "    Keeper.table[x.shape[1]] = {}",
            "x = x + Keeper.table[x.shape[1]]",
        )
    )
    table = (
        layer(body).replace("    def __init__", "    table = {{}}\n    def __init__").replace("{{}}", "{}")
    )
    assert ids(table.replace("= {}\n        x", "= tf.range(3.0)\n        x"), "FIT402") == ["FIT402"]
    assert ids(table.replace("= {}\n        x", "= np.arange(3.0)\n        x"), "FIT402") == []
