"""What a traced loop, branch or value of a tensor allows (FIT403, FIT404, FIT407, FIT408)."""

from __future__ import annotations

import textwrap

import pytest

from fitdoctor.diagnose import examine_source
from fitdoctor.edits import apply_edits
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.read import source_from_text
from tests.catalogue.contract_programs import failed, found, line_of
from tests.catalogue.traced_programs import HEAD, ids, judged, layer

# --- FIT403, FIT404 -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("if tf.reduce_sum(x) > 0:\n        k = x / 2.0\n    else:\n        k = 1", ["FIT404"]),
        ("k = 0\n    if tf.reduce_sum(x) > 0:\n        k = tf.sqrt(x)", ["FIT404"]),
        ("if tf.reduce_sum(x) > 0:\n        k = x / 2.0\n    else:\n        k = 1.0", []),
        ("if x.shape[0] > 2:\n        k = 1.5\n    else:\n        k = 1", []),
        ("for row in tf.data.Dataset.range(3):\n        k = row", ["FIT403"]),
        ("for row in tf.range(3):\n        k = row", []),
    ],
)
def test_types_and_first_values_of_what_is_read_after(body: str, found: list[str]) -> None:
    text = f"@tf.function\ndef step(x):\n    {body}\n    return k\n"
    assert ids(text) == found


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


def test_a_weight_that_may_be_none_is_compared_with_none() -> None:
    text = """
    class Scale(keras.layers.Layer):
        def build(self, shape):
            if shape[-1] > 1:
                self.bias = self.add_weight(shape=(3,))
            else:
                self.bias = None
        def call(self, x):
            if self.bias:
                x = x + self.bias
            return x
    model = keras.Sequential([keras.Input((3,)), Scale()])
    """
    (finding,) = judged(text, "FIT408")
    assert [edit.replacement for edit in finding.fixes[0].edits] == ["self.bias is not None"]


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


def test_states_that_a_recurrent_layer_does_not_give() -> None:
    text = "encoder = layers.LSTM(8)\nwords = keras.Input((None, 5))\nout, h, c = encoder(words)\n"
    message = "Iterating over a symbolic KerasTensor is not supported."
    (finding,) = failed(text, "FIT408", "TypeError", message, (3, "<module>"))
    assert "return_state" in finding.message and line_of(finding) == 1


def test_the_gradients_of_a_list_among_the_sources_are_a_list() -> None:
    text = """
    class Weighed(keras.Model):
        def __init__(self):
            super().__init__()
            self.out = layers.Dense(1)
            self.log_scale = self.add_weight(shape=(), initializer="zeros")

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.exp(-self.log_scale) * tf.reduce_mean((y - self.out(x)) ** 2) + self.log_scale
            weights = self.out.trainable_variables
            grads, of_scale = tape.gradient(loss, [weights, self.log_scale])
            {then}
            return {{"loss": loss}}
    """
    zipped = "self.optimizer.apply_gradients(zip(grads, weights))"
    assert not found(text.format(then=zipped), "FIT408")
    assert found(text.format(then="if of_scale > 1.0: print('steep')"), "FIT408")
