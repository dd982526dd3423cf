"""What Keras expects of the user's methods, steps, callbacks and layers: found where it is broken, silent where not."""

from __future__ import annotations

import textwrap

import pytest

from fitdoctor.catalogue import catalogue
from fitdoctor.diagnosis import Confidence, Finding, Severity
from fitdoctor.examine import examine_failure, examine_source
from fitdoctor.facts import FailureFacts, Frame
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.read import source_from_text

HEAD = """\
import keras
import numpy as np
import tensorflow as tf
from keras import layers

x = np.zeros((64, 6), dtype="float32")
y = np.zeros((64, 1), dtype="float32")
"""
FIRST = len(HEAD.splitlines())

STEP = """
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(y - self(x)))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
"""


def project(text: str) -> Project:
    return Project([Module(source_from_text(HEAD + textwrap.dedent(text), "train.py"))])


def found(text: str, cause: str) -> list[Finding]:
    diagnosis = examine_source(project(text))
    assert not diagnosis.crashes
    return [finding for finding in diagnosis.findings if finding.id == cause]


def failed(
    text: str, cause: str, type_: str, message: str, *lines: tuple[int, str], **more: str
) -> list[Finding]:
    """The findings after a failure whose frames stand at lines (counted after the head) of functions."""
    frames = tuple(Frame("train.py", FIRST + line, function) for line, function in lines)
    keras = Frame("/lib/site-packages/keras/src/trainers/trainer.py", 1, "step", library=True)
    failure = FailureFacts(type_, message, frames=(*frames, keras), **more)  # type: ignore[arg-type]
    diagnosis = examine_failure(failure, lambda: project(text))
    assert not diagnosis.crashes
    return [finding for finding in diagnosis.findings if finding.id == cause]


def line_of(finding: Finding) -> int:
    assert finding.location is not None
    return finding.location.line - FIRST


# --- FIT314 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "class C(keras.callbacks.Callback):\n    def on_epoch_end(self, epoch): ...",
        "class C(keras.callbacks.Callback):\n    def on_train_batch_end(self, batch, log): ...",
        "class C(keras.callbacks.Callback):\n    def on_train_end(self): ...",
        "class L(keras.losses.Loss):\n    def call(self, y_pred): ...",
        "class L(layers.Layer):\n    def call(inputs): return inputs",
        "class M(keras.Model):\n    def train_step(self, x, y): ...",
        "class M(keras.Model):\n    def compute_loss(self, y, y_pred): ...",
        "def loss(y_true, y_pred, alpha): ...\nmodel.compile('adam', loss)",
        "def score(y_pred): ...\nmodel.compile('adam', 'mse', metrics=['mae', score])",
        "model.compile('adam', loss=lambda p: p)",
        "layers.Lambda(lambda a, b: a * b)",
        "def rate(): return 0.1\nkeras.callbacks.LearningRateScheduler(rate)",
        "class Q(keras.metrics.Metric):\n    def update_state(self, y_true, y_pred): ...\n"
        "model.compile('adam', 'mse', metrics=[Q()])",
    ],
)
def test_signatures_that_keras_cannot_call(text: str) -> None:
    assert len(found(text, "FIT314")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "class C(keras.callbacks.Callback):\n    def on_epoch_end(self, epoch, logs=None): ...",
        "class C(keras.callbacks.Callback):\n    def on_epoch_end(self, *args): ...",
        "class C(keras.callbacks.Callback):\n    def on_batch_end(self, batch, **kwargs): ...",
        "class C(keras.callbacks.Callback):\n    def on_batch_end(self, step, logs): ...",
        # A metric that only the program's own step updates may take what it likes.
        "class Q(keras.metrics.Metric):\n    def update_state(self, value): ...",
        "class L(keras.losses.Loss):\n    def __call__(self, anchor, near, far): ...\n    def call(self, a, b, c): ...",
        "class M(keras.Model):\n    def train_step(self, x, y): ...\nM().train_step(x, y)",
        "class M(keras.Model):\n    def fit(self, x): ...\n    def train_step(self, x, y): ...",
        "class M(keras.Model):\n    def compute_loss(self, x, y, y_pred, sample_weight, training): ...",
        "class M(keras.Model):\n    def train_step(self, data): ...\n    def compute_loss(self, y, p): ...",
        "import functools\ndef loss(y_true, y_pred, alpha): ...\n"
        "model.compile('adam', functools.partial(loss, alpha=1))",
        "import functools\ndef loss(alpha, y_true, y_pred): ...\nhalf = functools.partial(loss, 0.5)\n"
        "model.compile('adam', loss=half)",
        "def make(alpha):\n    def loss(y_true, y_pred): ...\n    return loss\nmodel.compile('adam', make(0.5))",
        "def loss(y_true, y_pred, alpha=1): ...\nmodel.compile('adam', loss)",
        "@curried\ndef loss(a): ...\nmodel.compile('adam', loss)",
        "layers.Lambda(lambda a, k: a * k, arguments={'k': 2})",
        "layers.Lambda(lambda a, mask=None: a)",
        "keras.callbacks.LearningRateScheduler(lambda epoch: 0.1)",
        "keras.callbacks.LearningRateScheduler(lambda epoch, lr: lr)",
        "class G(keras.Model):\n    def compile(self, opt, loss): ...\ng = G()\ng.compile('adam', loss=lambda p: p)",
        "class L(layers.Layer):\n    def call(self, inputs, other, training=None): ...",
        "class M(keras.Model):\n    def predict_step(self, data): ...",
    ],
)
def test_signatures_that_work(text: str) -> None:
    assert not found(text, "FIT314")


def test_the_missing_parameter_is_added() -> None:
    [finding] = found("class C(keras.callbacks.Callback):\n    def on_epoch_end(self, epoch): ...", "FIT314")
    assert finding.fixes[0].edits[0].replacement == ", logs=None"
    assert line_of(finding) == 2


def test_the_function_that_keras_could_not_call_is_named() -> None:
    text = "def score(y_pred): ...\ndef build(metrics):\n    model.compile('sgd', 'mse', metrics=metrics)\n"
    message = "score() takes 1 positional argument but 2 were given"
    [finding] = failed(text, "FIT314", "TypeError", message, (3, "<module>"), called="fit")
    assert line_of(finding) == 1


# --- FIT316 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ending", "line"),
    [("", 7), ("        return loss\n", 8), ("        return loss, x\n", 8), ("        return [loss]\n", 8)],
)
def test_a_step_has_to_return_a_dict(ending: str, line: int) -> None:
    [finding] = found(f"class M(keras.Model):{STEP}{ending}", "FIT316")
    assert line_of(finding) == line


@pytest.mark.parametrize(
    "text",
    [
        f"class M(keras.Model):{STEP}        return {{'total': loss}}",
        f"class M(keras.Model):{STEP}        return self.compute_metrics(x, y, None)",
        f"class M(keras.Model):{STEP}        logs = self.report(loss)\n        return logs",
        "class M(keras.Model):\n    def train_step(self, data):\n        raise NotImplementedError",
        "class M(keras.Model):\n    def train_step(self, data):\n        '''For heirs.'''",
        "class M(keras.Model):\n    def train_step(self, data):\n        return super().train_step(data)",
        # A loop of the program's own may do with the result what it likes.
        f"class M(keras.Model):{STEP}        return loss\nfor batch in batches:\n    M().train_step(batch)",
    ],
)
def test_steps_that_return_what_they_should(text: str) -> None:
    assert not found(text, "FIT316")


FUNCTIONAL = "\ni = keras.Input((6,))\nm = M(i, layers.Dense(1)(i))\nm.compile('adam', 'mse')\n"


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        ("m.fit(x, y, sample_weight=np.ones(64))", "`sample_weight`"),
        ("m.fit(x, y, class_weight={0: 1.0})", "`sample_weight`"),
        ("m.fit(x)", "x alone"),
    ],
)
def test_a_step_unpacks_what_fit_gives(call: str, parts: str) -> None:
    [finding] = found(
        f"class M(keras.Model):{STEP}        return {{'total': loss}}{FUNCTIONAL}{call}", "FIT316"
    )
    assert parts in finding.message
    assert line_of(finding) == 3


@pytest.mark.parametrize(
    ("unpacking", "call"),
    [
        ("x, y = data", "m.fit(x, y)"),
        ("x, y, w = keras.utils.unpack_x_y_sample_weight(data)", "m.fit(x, y, class_weight={0: 1.0})"),
        ("x, *rest = data", "m.fit(x, y, class_weight={0: 1.0})"),
        ("x, y = data[:2]", "m.fit(x, y, class_weight={0: 1.0})"),
        ("x, y = data[0], data[1]", "m.fit(x, y, class_weight={0: 1.0})"),
    ],
)
def test_unpackings_that_work(unpacking: str, call: str) -> None:
    step = STEP.replace("x, y = data", unpacking)
    assert not found(
        f"class M(keras.Model):{step}        return {{'total': loss}}{FUNCTIONAL}{call}", "FIT316"
    )


def test_a_step_that_asks_first_is_left_alone() -> None:
    step = STEP.replace("x, y = data", "if len(data) == 3: data = data[:2]\n        x, y = data")
    text = f"class M(keras.Model):{step}        return {{'total': loss}}{FUNCTIONAL}"
    text += "m.fit(x, y, class_weight={0: 1.0})"
    assert not found(text, "FIT316")


# --- FIT317 ---------------------------------------------------------------------------------------------------------

COMPILED = "\nm = M()\nm.compile('adam')\n"


@pytest.mark.parametrize(
    "ending",
    [
        "        return {'loss': loss}",
        "        return self.compute_metrics(x, y, None)",
        "        return {m.name: m.result() for m in self.metrics}",
        "        for m in self.metrics:\n            if m.name != 'loss':\n                m.update_state(y, y)\n"
        "        return {m.name: m.result() for m in self.metrics}",
    ],
)
def test_the_loss_tracker_is_reported_and_not_updated(ending: str) -> None:
    assert len(found(f"class M(keras.Model):{STEP}{ending}{COMPILED}", "FIT317")) == 1


@pytest.mark.parametrize(
    "ending",
    [
        "        return {'total': loss}",
        "        self._loss_tracker.update_state(loss)\n        return {'loss': self._loss_tracker.result()}",
        "        for m in self.metrics:\n            if m.name == 'loss':\n                m.update_state(loss)\n"
        "            else:\n                m.update_state(y, y)\n"
        "        return {m.name: m.result() for m in self.metrics}",
        "        self.report(loss)\n        return {'loss': loss}\n"
        "    def report(self, loss):\n        self._loss_tracker.update_state(loss)",
        "        super().train_step(data)\n        return {'loss': loss}",
    ],
)
def test_trackers_that_are_updated(ending: str) -> None:
    assert not found(f"class M(keras.Model):{STEP}{ending}{COMPILED}", "FIT317")


def test_metrics_of_compile_make_the_names_differ() -> None:
    text = f"class M(keras.Model):{STEP}        return {{'loss': loss}}\nm = M()\nm.compile('adam', metrics=['mae'])"
    assert not found(text, "FIT317")


@pytest.mark.parametrize(
    ("update", "count"), [("", 1), ("self.tr.update_state(loss)", 0), ("self.tr(loss)", 0)]
)
def test_a_tracker_of_ones_own(update: str, count: int) -> None:
    text = f"""
class M(keras.Model):
    def __init__(self):
        super().__init__()
        self.tr = keras.metrics.Mean(name="loss")
    @property
    def metrics(self):
        return [self.tr]{STEP}        {update or "pass"}
        return {{"loss": self.tr.result()}}
"""
    assert len(found(text, "FIT317")) == count


# --- FIT318 ---------------------------------------------------------------------------------------------------------

BARE = f"class M(keras.Model):{STEP}        return {{'total': loss}}\n"


@pytest.mark.parametrize("call", ["m.fit(x, y, validation_split=0.2)", "m.evaluate(x, y)", "m.predict(x)"])
def test_no_forward_pass(call: str) -> None:
    assert len(found(f"{BARE}m = M()\nm.compile('adam')\n{call}", "FIT318")) == 1


@pytest.mark.parametrize(
    "text",
    [
        f"{BARE}m = M()\nm.compile('adam')\nm.fit(x, y)",
        f"{BARE}    def call(self, x): return x\nm = M()\nm.compile('adam')\nm.evaluate(x, y)",
        f"{BARE}    def test_step(self, data): return {{'a': 1.0}}\nm = M()\nm.compile('adam')\nm.evaluate(x, y)",
        f"{BARE}i = keras.Input((6,))\nm = M(i, layers.Dense(1)(i))\nm.compile('adam')\nm.evaluate(x, y)",
        "from parts import Base\n"
        + BARE.replace("keras.Model", "Base")
        + "m = M()\nm.compile('adam')\nm.evaluate(x, y)",
        "class Base(keras.Model):\n    def call(self, x): return x\n"
        + BARE.replace("keras.Model", "Base")
        + "m = M()\nm.compile('adam')\nm.evaluate(x, y)",
    ],
)
def test_forward_passes_that_are_there(text: str) -> None:
    assert not found(text, "FIT318")


# --- FIT319 ---------------------------------------------------------------------------------------------------------

NET = "net = keras.Sequential([keras.Input((6,)), layers.Dense(1)])\n"


def test_predict_in_a_loss() -> None:
    text = (
        NET
        + "def loss(y_true, y_pred):\n    return net.predict(y_pred, verbose=0)\nnet.compile('adam', loss)"
    )
    [finding] = found(text, "FIT319")
    assert finding.fixes[0].edits[0].replacement == "net(y_pred, training=False)"


@pytest.mark.parametrize(
    "text",
    [
        NET + "class C(keras.callbacks.Callback):\n    def on_epoch_end(self, epoch, logs=None):\n"
        "        net.predict(x)",
        NET + "def generator():\n    yield net.predict(x)",
        NET
        + "net.compile('adam', 'mse', run_eagerly=True)\nclass M(keras.Model):\n    def train_step(self, data):\n"
        "        return {'a': net.predict(data)}",
        "class M(keras.Model):\n    def predict(self, t): return self(t)\n    def call(self, t): return t\n"
        "    def train_step(self, data): return {'a': self.predict(data)}",
        NET
        + "def f(a):\n    return net.predict(a)\ndef g(a):\n    return tf.py_function(f, [a], tf.float32)\n"
        "ds = tf.data.Dataset.from_tensor_slices(x).map(g)",
    ],
)
def test_predict_where_it_works(text: str) -> None:
    assert not found(text, "FIT319")


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


# --- FIT322 ---------------------------------------------------------------------------------------------------------


def monitored(
    callback: str, call: str = "validation_split=0.2", metrics: str = "['accuracy']"
) -> list[Finding]:
    return found(
        f"{NET}net.compile('adam', 'mse', metrics={metrics})\n"
        f"net.fit(x, y, {call}{', ' if call else ''}callbacks=[{callback}])",
        "FIT322",
    )


def test_a_name_that_there_is_not() -> None:
    [finding] = monitored("keras.callbacks.EarlyStopping(monitor='val_acc')")
    assert finding.severity is Severity.ERROR
    assert finding.fixes[0].edits[0].replacement == '"val_accuracy"'
    [finding] = monitored("keras.callbacks.EarlyStopping('val_auc', mode='max')")
    assert finding.severity is Severity.WARNING


def test_no_validation_data() -> None:
    [finding] = monitored("keras.callbacks.ReduceLROnPlateau()", call="")
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("callback", "call", "metrics"),
    [
        ("keras.callbacks.EarlyStopping(monitor='val_accuracy')", "validation_split=0.2", "['accuracy']"),
        ("keras.callbacks.EarlyStopping(monitor='loss')", "", "['accuracy']"),
        ("keras.callbacks.EarlyStopping()", "validation_data=(x, y)", "['accuracy']"),
        ("keras.callbacks.EarlyStopping()", "validation_data=load()", "['accuracy']"),
        ("keras.callbacks.EarlyStopping()", "**options", "['accuracy']"),
        ("keras.callbacks.ModelCheckpoint('a.keras')", "", "['accuracy']"),
        ("keras.callbacks.EarlyStopping(NAME)", "validation_split=0.2", "['accuracy']"),
        (
            "keras.callbacks.EarlyStopping('val_auc_1', mode='max')",
            "validation_split=0.2",
            "[keras.metrics.AUC()]",
        ),
        ("keras.callbacks.EarlyStopping('val_f1', mode='max')", "validation_split=0.2", "make_metrics()"),
        (
            "Extra(), keras.callbacks.EarlyStopping('val_f1', mode='max')",
            "validation_split=0.2",
            "['accuracy']",
        ),
        ("Extra(), keras.callbacks.EarlyStopping('val_f1', mode='max')", "", "['accuracy']"),
    ],
)
def test_names_that_are_or_may_be_there(callback: str, call: str, metrics: str) -> None:
    assert not monitored(callback, call, metrics)


# --- FIT323 ---------------------------------------------------------------------------------------------------------


def test_freezing_between_two_fits() -> None:
    text = NET + "net.compile('adam', 'mse')\nnet.fit(x, y)\nnet.layers[0].trainable = False\nnet.fit(x, y)"
    [finding] = found(text, "FIT323")
    assert line_of(finding) == 4
    assert finding.fixes[0].edits[0].replacement.startswith("net.compile('adam', 'mse')")


@pytest.mark.parametrize(
    "text",
    [
        NET + "net.compile('adam', 'mse')\nnet.layers[0].trainable = False\nnet.fit(x, y)",
        NET + "net.compile('adam', 'mse')\nnet.fit(x, y)\nnet.layers[0].trainable = False\n"
        "net.compile('adam', 'mse')\nnet.fit(x, y)",
        "class C(keras.callbacks.Callback):\n    def on_train_begin(self, logs=None):\n"
        "        self.model.layers[0].trainable = False",
        "class C(keras.callbacks.Callback):\n    def on_epoch_begin(self, epoch, logs=None):\n"
        "        if epoch == 0:\n            self.model.layers[0].trainable = False",
        "class C(keras.callbacks.Callback):\n    def on_epoch_end(self, epoch, logs=None):\n"
        "        self.model.trainable = False\n        self.model.compile('adam', 'mse')",
        "class C(keras.callbacks.Callback):\n    def on_train_end(self, logs=None):\n"
        "        self.model.trainable = False",
    ],
)
def test_changes_that_take_effect(text: str) -> None:
    assert not found(text, "FIT323")


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


def test_every_cause_claims_what_it_can_do() -> None:
    assert {moment.value for moment in catalogue()["FIT322"].moments} == {
        "source",
        "before_fit",
        "after_failure",
    }
    assert {moment.value for moment in catalogue()["FIT315"].moments} == {"after_failure"}
