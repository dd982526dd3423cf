"""What layers and models are called with and pass on (FIT315, FIT320, FIT321, FIT506)."""

from __future__ import annotations

import pytest

from fitdoctor.diagnose import examine_failure
from fitdoctor.diagnosis import Confidence
from fitdoctor.facts import FailureFacts, Frame
from tests.catalogue.contract_programs import FIRST, STEP, failed, found, line_of, project

# --- FIT320 ---------------------------------------------------------------------------------------------------------

CENTERED = """
class C(layers.Layer):
    def call(self, t):
        mean = tf.reduce_mean(t, axis=-1)
        return t - mean
"""
UNEQUAL = (
    "Dimensions must be equal, but are {} and {} for '{{{{node op}}}} = {}[T=DT_FLOAT](a, b)' "
    "with input shapes: {}, {}."
)


def test_a_reduction_without_keepdims() -> None:
    message = UNEQUAL.format(6, 32, "Sub", "[32,6]", "[32]")
    [finding] = failed(CENTERED, "FIT320", "ValueError", message, (9, "<module>"), (5, "call"), called="fit")
    assert line_of(finding) == 4
    assert finding.fixes[0].edits[0].replacement == ", keepdims=True"


def test_a_product_without_the_transposition() -> None:
    text = "class A(layers.Layer):\n    def call(self, q, k):\n        return tf.matmul(q, k)\n"
    message = UNEQUAL.format(8, 12, "BatchMatMulV2", "[?,12,8]", "[?,12,8]")
    [finding] = failed(text, "FIT320", "ValueError", message, (3, "call"), layer_class="A")
    assert finding.fixes[0].edits[0].replacement == ", transpose_b=True"


def test_labels_against_predictions_are_less_sure() -> None:
    text = "def loss(y_true, y_pred):\n    return tf.square(y_true - y_pred)\nmodel.compile('adam', loss)\n"
    message = UNEQUAL.format(3, 5, "Sub", "[32,3]", "[32,5]")
    [finding] = failed(text, "FIT320", "ValueError", message, (9, "<module>"), (2, "loss"), called="fit")
    assert finding.confidence is Confidence.LIKELY


def test_layers_of_keras_speak_for_themselves() -> None:
    message = UNEQUAL.format(3, 5, "AddV2", "[32,3]", "[32,5]")
    text = "class M(keras.Model):\n    def call(self, t):\n        return self.add([t, t])\n"
    assert not failed(text, "FIT320", "ValueError", message, (3, "call"), layer_class="Add")


def test_arrays_outside_of_a_trace_are_not_meant() -> None:
    text = "def prepare(a, b):\n    return a + b\nprepare(x, y)\n"
    failure = FailureFacts(
        "ValueError",
        "operands could not be broadcast together with shapes (64,6) (3,)",
        frames=(Frame("train.py", FIRST + 3, "<module>"), Frame("train.py", FIRST + 2, "prepare")),
    )
    assert not examine_failure(failure, lambda: project(text)).findings


# --- FIT321 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "given", "first"),
    [("a, b", "[x, x]", "a, b = inputs"), ("a, b, training=None", "(x, x)", "a, b = inputs")],
)
def test_inputs_as_separate_arguments(arguments: str, given: str, first: str) -> None:
    text = f"""
class M(keras.Model):
    def call(self, {arguments}):
        return a + b

m = M()
m.compile("adam", "mse")
m.fit({given}, y)
"""
    [finding] = found(text, "FIT321")
    assert line_of(finding) == 3
    assert any(first in edit.replacement for edit in finding.fixes[0].edits)


@pytest.mark.parametrize(
    "signature",
    ["self, a, training", "self, a, b=None", "self, *parts", "self, a, mask=None", "self, a, *, flag=True"],
)
def test_signatures_of_call_that_work(signature: str) -> None:
    text = f"class M(keras.Model):\n    def call({signature}):\n        return 1\n"
    assert not found(f"{text}m = M()\nm.compile('adam', 'mse')\nm.fit(x, y)", "FIT321")


def test_a_step_may_call_the_model_with_several_arguments() -> None:
    text = f"class M(keras.Model):\n    def call(self, a, b): return a\n{STEP}        return {{'t': loss}}\n"
    assert not found(f"{text}m = M()\nm.compile('adam')\nm.fit((x, x), y)", "FIT321")


# --- FIT506 ---------------------------------------------------------------------------------------------------------


def middle(body: str) -> str:
    return f"""
class Mid(layers.Layer):
    def call(self, t):
        {body}

net = keras.Sequential([keras.Input((6,)), layers.Dense(4), Mid(), layers.Dense(1)])
net.compile("adam", "mse")
net.fit(x, y)
"""


@pytest.mark.parametrize(
    "body", ["return tf.round(t)", "return tf.cast(t > 0, tf.float32)", "return tf.stop_gradient(t)"]
)
def test_a_layer_in_the_middle_cuts_the_gradient(body: str) -> None:
    [finding] = found(middle(body), "FIT506")
    assert line_of(finding) == 4


@pytest.mark.parametrize(
    "body",
    [
        "return t + tf.stop_gradient(tf.round(t) - t)",
        "return tf.where(t > 0, t, 0.1 * t)",
        "return t * tf.cast(t > 0, tf.float32)",
        "self.add_loss(tf.reduce_mean(t))\n        return tf.stop_gradient(t)",
    ],
)
def test_layers_that_let_it_pass(body: str) -> None:
    assert not found(middle(body), "FIT506")


def test_a_layer_at_the_front_cuts_nothing_off() -> None:
    text = "class R(layers.Layer):\n    def call(self, t): return tf.round(t)\n"
    text += "net = keras.Sequential([keras.Input((6,)), R(), layers.Dense(1)])\n"
    text += "net.compile('adam', 'mse')\nnet.fit(x, y)"
    assert not found(text, "FIT506")


def two_parts(body: str, more: str = "") -> str:
    return f"""
class M(keras.Model):
    def __init__(self):
        super().__init__()
        self.left = layers.Dense(4)
        self.right = layers.Dense(4)
        self.out = layers.Dense(1){more}

    def call(self, t):
        {body}
"""


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("a = self.left(t)\n        b = self.right(t)\n        return self.out(a)", 11),
        ("a = self.left(t)\n        b = self.right(t)\n        return self.out(tf.concat([a, a], -1))", 12),
        ("a = self.left(t)\n        b = tf.stop_gradient(self.right(t))\n        return self.out(a + b)", 11),
    ],
)
def test_a_part_of_a_model_is_cut_off(body: str, line: int) -> None:
    [finding] = found(two_parts(body), "FIT506")
    assert line_of(finding) == line


@pytest.mark.parametrize(
    "text",
    [
        two_parts("a = self.left(t)\n        b = self.right(t)\n        return self.out(a + b)"),
        two_parts("a = self.left(t)\n        b = self.right(t)\n        return self.out(a), b"),
        two_parts("a = self.left(t)\n        b = self.right(t)\n        return self.out(a + b + tf.stop_gradient(b))"),
        two_parts("a = self.left(t)\n        b = tf.stop_gradient(self.right(t))\n        return self.out(a + b)",
                  "\n        self.right.trainable = False"),
        two_parts("a = self.left(t)\n        b = self.right(t)\n        self.add_loss(b)\n        return self.out(a)"),
        two_parts("a = self.left(t)\n        b = tf.stop_gradient(self.right(t))\n        return self.out(a + b)")
        + STEP + "        return {'t': loss}",
    ],
)  # fmt: skip
def test_parts_that_learn_or_are_meant_not_to(text: str) -> None:
    assert not found(text, "FIT506")


def test_a_part_of_the_predictions_counts_only_behind_stop_gradient() -> None:
    loss = "def nll(y_true, y_pred):\n    mean, var = y_pred[:, :1], y_pred[:, 1:]\n    return {}\n"
    loss += "m.compile('adam', nll)"
    assert found(loss.format("(y_true - mean) ** 2 / tf.stop_gradient(var)"), "FIT506")
    assert not found(loss.format("(y_true - mean) ** 2 / var + tf.math.log(var)"), "FIT506")
    assert not found(loss.format("(y_true - mean) ** 2 / tf.stop_gradient(var) + tf.math.log(var)"), "FIT506")


STEP_AND_TAPE = """
class Two(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = layers.Dense(4)
        self.head = layers.Dense(1)

    def train_step(self, data):
        x, y = data
        {before}
        with tf.GradientTape() as tape:
            {inside}
            loss = tf.reduce_mean((y - self.head(z)) ** 2)
        grads = tape.gradient(loss, {sources})
        self.optimizer.apply_gradients([(g, v) for g, v in zip(grads, {sources}) if g is not None])
        return {{"loss": loss}}
"""


@pytest.mark.parametrize(
    ("before", "inside", "sources", "count"),
    [
        ("z = self.encoder(x)", "pass", "self.trainable_variables", 1),
        ("z = self.encoder(x)", "pass", "self.encoder.trainable_weights + self.head.trainable_weights", 1),
        ("z = self.encoder(x)", "pass", "self.head.trainable_variables", 0),
        ("z = self.encoder(x, training=False)", "pass", "self.trainable_variables", 0),
        ("z = self.encoder(x)", "z = self.encoder(x)", "self.trainable_variables", 0),
        ("z = tf.cast(x, 'float32')", "z = self.encoder(z)", "self.trainable_variables", 0),
    ],
)
def test_a_part_called_before_the_tape_is_not_trained(
    before: str, inside: str, sources: str, count: int
) -> None:
    text = STEP_AND_TAPE.format(before=before, inside=inside, sources=sources)
    assert len([each for each in found(text, "FIT506") if "before the block" in each.message]) == count


# --- FIT315 ---------------------------------------------------------------------------------------------------------

DISCONNECTED = "Output with path `` is not connected to `inputs`"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = keras.Input((3,))\nh = layers.Dense(2)(keras.Input((3,)))\nm = keras.Model(a, h)", 2),
        ("a = keras.Input((3,))\nh = layers.Dense(2)(a)\na = keras.Input((3,))\nm = keras.Model(a, h)", 3),
        ("a = keras.Input((3,))\nb = keras.Input((3,))\nh = layers.Dense(2)(b)\nm = keras.Model(a, h)", 4),
    ],
)
def test_the_input_that_the_outputs_come_from(text: str, line: int) -> None:
    last = len(text.splitlines())
    [finding] = failed(text, "FIT315", "ValueError", DISCONNECTED, (last, "<module>"), called="Model")
    assert line_of(finding) == line


@pytest.mark.parametrize(("axis", "count"), [("-1", 1), ("1", 1), ("0", 0)])
def test_a_loss_with_a_value_per_sample_where_one_per_column_is_needed(axis: str, count: int) -> None:
    text = f"""
    class PerStep(keras.losses.Loss):
        def call(self, y_true, y_pred):
            error = tf.reduce_mean(tf.abs(y_true - y_pred), axis={axis})
            return tf.reduce_sum(tf.constant([0.5, 0.3, 0.2]) * error)
    """
    message = "Incompatible shapes: [3] vs. [32]\\n\\t [[{{node compile_loss/per_step/mul}}]]"
    (finding,) = failed(text, "FIT320", "InvalidArgumentError", message, (5, "call"))
    edits = [edit.replacement for each in finding.fixes for edit in each.edits]
    assert edits == ["0"] * count
