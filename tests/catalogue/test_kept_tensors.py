"""Tensors that outlive their trace (FIT401, FIT402): read too late, named by a failure, or only held."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import pytest

from fitdoctor.diagnose import examine_failure
from fitdoctor.diagnosis import Finding, Severity
from fitdoctor.edits import apply_edits
from fitdoctor.engine import diagnose
from fitdoctor.engine_inputs import leak_case
from fitdoctor.facts import FailureFacts, Frame, HeldTensor, TrainingFacts
from fitdoctor.failure.text import failures_in
from tests.catalogue.traced_programs import HEAD, ids, judged, layer, project_of


def lines(text: str, cause: str) -> list[str]:
    """The source lines that findings point at."""
    source = (HEAD + textwrap.dedent(text)).split("\n")
    return [source[found.location.line - 1].strip() for found in judged(text, cause) if found.location]


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


STEP = """
net, history, seen = keras.layers.Dense(1), [], {{}}
class Agent:
    @tf.function
    def step(self, x):
        loss = tf.reduce_mean(net(x))
        {keeps}
        {returns}
    def run(self, x):
        for _ in range(3):
            {calls}
        return float(self.last), np.mean(history), float(seen["last"])
Agent().run(np.ones((2, 2)))
"""


@pytest.mark.parametrize(
    ("keeps", "returns", "calls", "edited"),
    [
        ("history.append(loss)", "pass", "self.step(x)", ["return loss", "history.append(self.step(x))"]),
        (
            "self.last = loss * 2",
            "return loss + self.last",
            "loss = self.step(x)",
            ["last = loss * 2", "return loss + last, last", "loss, self.last = self.step(x)"],
        ),
        (
            'seen["last"] = loss',
            "return x, loss",
            "a, b = self.step(x)",
            ["return x, loss", 'seen["last"] = b'],
        ),
        (
            "history.append(loss.numpy())",
            "return loss",
            "loss = self.step(x)",
            ["return loss", "history.append(loss.numpy())"],
        ),
    ],
)
def test_what_a_tf_function_keeps_is_returned_and_kept_by_its_callers(
    keeps: str, returns: str, calls: str, edited: list[str]
) -> None:
    text = STEP.format(keeps=keeps, returns=returns, calls=calls)
    found = next(each for each in judged(text) if each.fixes[0].edits)
    assert found.id in ("FIT401", "FIT402", "FIT407")
    new = apply_edits(HEAD + textwrap.dedent(text), found.fixes[0].edits)
    lines_now = [line.strip() for line in new.split("\n")]
    assert all(line in lines_now for line in edited), new
    assert ids(new.removeprefix(HEAD)) == []


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


# --- tensors that are still held after tracing ---------------------------------------------------------------


def held_judged(body: str, held: HeldTensor, after: str = "") -> list[Finding]:
    text = layer(body, after)
    made = Frame("train.py", HEAD.count("\n") + 8, "call")
    project = project_of(text)
    case = leak_case(TrainingFacts(held=(replace(held, made_at=(made,)),)), lambda: project)
    return list(diagnose([case], select=("FIT4",)).findings)


ON_ATTRIBUTE = HeldTensor("layer.kept", "Keeper", "kept", "<tf.Tensor 'mul:0'>", "one_step", (), 1, 312)


def test_a_tensor_that_nothing_reads_holds_its_graph():
    (found,) = held_judged("self.kept = x * 2", ON_ATTRIBUTE)
    assert (found.id, found.severity) == ("FIT401", Severity.INFO)
    assert "the whole traced graph" in found.message
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


def test_a_compiled_method_that_keeps_its_first_result_is_usually_traced_once() -> None:
    text = """
    class Heat:
        def __init__(self):
            self.best = None
        @tf.function
        def peak(self, x):
            if self.best is None:
                self.best = tf.argmax(x[0])
            return x[:, self.best]
    heat = Heat()
    print(heat.peak(tf.zeros((2, 3))))
    """
    (finding,) = judged(text, "FIT401")
    assert finding.severity is Severity.WARNING
