"""Layers, models, losses and steps that the source alone shows to be wrong, and what resembles them and is right."""

from __future__ import annotations

import textwrap

import pytest

from fitdoctor.diagnose import examine_failure, examine_source
from fitdoctor.diagnosis import Finding
from fitdoctor.edits import apply_edits
from fitdoctor.facts import FailureFacts, Frame
from fitdoctor.failure.text import failures_in
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.read import source_from_text

HEAD = """\
import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

x = np.zeros((64, 6), dtype="float32")
y = np.zeros((64, 1), dtype="float32")
"""


def project(text: str) -> Project:
    return Project([Module(source_from_text(HEAD + textwrap.dedent(text), "train.py"))])


def found(text: str, cause: str) -> list[Finding]:
    diagnosis = examine_source(project(text))
    assert not diagnosis.crashes
    return [finding for finding in diagnosis.findings if finding.id == cause]


def line(text: str, finding: Finding) -> str:
    assert finding.location is not None
    return (HEAD + textwrap.dedent(text)).splitlines()[finding.location.line - 1].strip()


NET = """
net = keras.Sequential([keras.Input((6,)), layers.Dense(4), layers.Dense(1)])
"""
LOOP = """
opt = keras.optimizers.Adam()
for step in range(3):
    with tf.GradientTape() as tape:
        pred = net(x)
        loss = {loss}
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
"""
OWN_PASS = """
def scored():
    probabilities = tf.nn.softmax(net(x)){cut}
    return tf.reduce_mean(probabilities)
"""
FOCAL = """
def focal({parameters}):
    def loss(y_true, y_pred):
        return ops.mean(ops.square(y_true - y_pred))
    return loss
"""

WRONG = [
    (
        "FIT302",
        "layer = layers.LSTM(4, return_sequence=True)",
        "layer = layers.LSTM(4, return_sequence=True)",
    ),
    (
        "FIT302",
        "stop = keras.callbacks.EarlyStopping(patiance=3)",
        "stop = keras.callbacks.EarlyStopping(patiance=3)",
    ),
    (
        "FIT308",
        """
        class Net(keras.Model):
            def __init__(self):
                super().__init__
                self.out = layers.Dense(1)
            def call(self, x):
                return self.out(x)
        """,
        "super().__init__",
    ),
    (
        "FIT309",
        "m = keras.Sequential([layers.Dense(4), layers.Flatten, layers.Dense(1)])",
        "m = keras.Sequential([",
    ),
    ("FIT309", "m = keras.Sequential()\nm.add(layers.Flatten)", "m.add(layers.Flatten)"),
    (
        "FIT310",
        """
        def build():
            model = keras.Sequential([layers.Dense(1)])
            model.compile("adam", "mse")
        model = build()
        model.fit(x, y)
        """,
        'model.compile("adam", "mse")',
    ),
    ("FIT310", NET + 'net = net.compile("adam", "mse")\nnet.fit(x, y)', 'net = net.compile("adam", "mse")'),
    (
        "FIT310",
        """
        class Noisy(layers.Layer):
            def call(self, x, training=False):
                if training:
                    return x + 1.0
        """,
        "if training:",
    ),
    (
        "FIT102",
        """
        class Net(keras.Model):
            def __init__(self):
                super().__init__()
                self.conv = layers.Conv2D(4, 3)
            def call(self, pictures):
                return self.conv(pictures)
        model = Net()
        model.compile("adam", "mse")
        pictures = np.zeros((20, 8, 8))
        model.fit(pictures, np.zeros((20, 6, 6, 4)))
        """,
        "pictures = np.zeros((20, 8, 8))",
    ),
    (
        "FIT314",
        FOCAL.format(parameters="gamma=2.0, alpha=0.25") + NET + 'net.compile("adam", loss=focal)',
        'net.compile("adam", loss=focal)',
    ),
    (
        "FIT314",
        FOCAL.format(parameters="gamma") + NET + 'net.compile("adam", focal)',
        'net.compile("adam", focal)',
    ),
    (
        "FIT504",
        NET
        + """
other = keras.Sequential([keras.Input((6,)), layers.Dense(1)])
opt = keras.optimizers.Adam()
def step(grads, more):
    opt.apply_gradients(zip(grads, net.trainable_variables))
    opt.apply_gradients(zip(more, other.trainable_variables))
""",
        "opt = keras.optimizers.Adam()",
    ),
    (
        "FIT504",
        """
        opt = keras.optimizers.Adam()
        def build():
            model = keras.Sequential([layers.Dense(1)])
            model.compile(opt, "mse")
            return model
        for fold in range(3):
            model = build()
            model.fit(x, y)
        """,
        "opt = keras.optimizers.Adam()",
    ),
    (
        "FIT505",
        NET + OWN_PASS.format(cut=".numpy()") + LOOP.format(loss="scored()"),
        "probabilities = tf.nn.softmax(net(x)).numpy()",
    ),
    (
        "FIT505",
        "def wrong(p):\n    return tf.reduce_mean(tf.round(p) - y)\n" + NET + LOOP.format(loss="wrong(pred)"),
        "return tf.reduce_mean(tf.round(p) - y)",
    ),
    (
        "FIT505",
        NET + LOOP.format(loss="tf.reduce_mean(np.square(pred - y))"),
        "loss = tf.reduce_mean(np.square(pred - y))",
    ),
    (
        "FIT507",
        """
        w = tf.Variable(1.0)
        for step in range(3):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((w * x - y) ** 2)
            g = tape.gradient(loss, w)
            w = w - 0.1 * g
        """,
        "w = w - 0.1 * g",
    ),
    (
        "FIT507",
        """
        w = tf.Variable(1.0)
        def predict(values):
            return w * values
        guess = predict(x)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((guess - y) ** 2)
        g = tape.gradient(loss, [w])
        """,
        "guess = predict(x)",
    ),
]


@pytest.mark.parametrize(
    ("cause", "text", "blamed"), WRONG, ids=[f"{one[0]}-{n}" for n, one in enumerate(WRONG)]
)
def test_what_is_wrong_is_found_at_its_line(cause: str, text: str, blamed: str) -> None:
    first, *_rest = found(text, cause)
    assert line(text, first).startswith(blamed)


RIGHT = [
    ("FIT302", "layer = layers.LSTM(4, return_sequences=True, recurrent_dropout=0.1)"),
    ("FIT308", "class Own:\n    def __init__(self):\n        super().__init__\n"),
    (
        "FIT309",
        "kinds = [layers.Dense, layers.Flatten]\nm = keras.Sequential([kind(4) for kind in kinds[:1]])",
    ),
    (
        "FIT310",
        """
        def prepare(model):
            model.compile("adam", "mse")
        model = keras.Sequential([layers.Dense(1)])
        prepare(model)
        model.fit(x, y)
        """,
    ),
    (
        "FIT310",
        """
        class Noisy(layers.Layer):
            def call(self, x, training=False):
                if training:
                    return x + 1.0
                raise NotImplementedError
        """,
    ),
    ("FIT314", FOCAL.format(parameters="gamma") + NET + 'net.compile("adam", loss=focal(2.0))'),
    (
        "FIT504",
        NET
        + """
other = keras.Sequential([keras.Input((6,)), layers.Dense(1)])
opt = keras.optimizers.Adam()
opt.build(net.trainable_variables + other.trainable_variables)
def step(grads, more):
    opt.apply_gradients(zip(grads, net.trainable_variables))
    opt.apply_gradients(zip(more, other.trainable_variables))
""",
    ),
    (
        "FIT504",
        """
        opt = keras.optimizers.Adam()
        def build():
            model = keras.Sequential([layers.Dense(1)])
            model.compile(opt, "mse")
            return model
        model = build()
        model.fit(x, y)
        copy = build()
        copy.set_weights(model.get_weights())
        """,
    ),
    # The temperature of soft actor-critic: the model is stopped on purpose, another variable learns.
    (
        "FIT505",
        NET
        + """
alpha = tf.Variable(0.0)
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(alpha * tf.stop_gradient(net(x)))
g = tape.gradient(loss, [alpha])
""",
    ),
    ("FIT505", NET + LOOP.format(loss="tf.reduce_mean(pred + tf.stop_gradient(tf.round(pred) - pred))")),
    # An attribute that the class assigns hides the method of that name.
    (
        "FIT502",
        """
        class Net(keras.Model):
            def __init__(self):
                super().__init__()
                self.encoder = self.encoder()
            def encoder(self):
                inputs = keras.Input((4,))
                return keras.Model(inputs, layers.Dense(2)(inputs))
            def call(self, x):
                return self.encoder(x)
        net = Net()
        net.compile("adam", "mse")
        net.fit(x, y)
        """,
    ),
    # A part of a dataset's elements may be a tuple itself.
    (
        "FIT408",
        """
        def augment(both):
            image, seed = both
            chance = tf.random.stateless_uniform((3,), seed=seed)
            later = [tf.tuple(one + i for one in seed) for i in range(2)]
            return tf.image.stateless_random_flip_left_right(image * chance, later[0])
        counter = tf.data.Dataset.counter()
        ds = tf.data.Dataset.from_tensor_slices((x, y))
        ds = tf.data.Dataset.zip((ds, (counter, counter)))
        ds = ds.map(lambda pair, numbers: (augment((pair[0], numbers)), pair[1]))
        """,
    ),
    # Lists that are to be filled show neither the shape of a sample nor what the labels are.
    *(
        (
            cause,
            """
            images, digits = [], []
            model = keras.Sequential([keras.Input((28, 28, 1)), layers.Flatten(), layers.Dense(10, "softmax")])
            model.compile("adam", "categorical_crossentropy")
            model.fit(images, digits)
            """,
        )
        for cause in ("FIT101", "FIT201")
    ),
    # Rounded for the metric only.
    (
        "FIT505",
        """
        def overlap(y_true, y_pred, rounded=False):
            if rounded:
                y_pred = tf.round(y_pred)
            return tf.reduce_mean(y_true * y_pred)
        def loss(y_true, y_pred):
            return 1 - overlap(y_true, y_pred)
        model = keras.Sequential([layers.Dense(1)])
        model.compile("adam", loss)
        model.fit(x, y)
        """,
    ),
    # Compiled with a count of mistakes to measure, and anew to train.
    (
        "FIT505",
        NET
        + """
def mistakes(y_true, y_pred):
    return tf.reduce_mean(tf.abs(tf.round(y_pred) - y_true))
net.compile(loss=mistakes)
net.evaluate(x, y)
net.compile("adam", "mse")
net.fit(x, y)
""",
    ),
    # A few models that are written down are no training steps.
    (
        "FIT804",
        NET
        + """
kept = []
for one in [net, keras.Sequential([layers.Dense(1)])]:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(one(x))
    grads = tape.gradient(loss, one.trainable_variables)
    kept.append(grads)
""",
    ),
    # Called by hand before the class is written again for the model.
    (
        "FIT407",
        """
        class Gate(layers.Layer):
            def __init__(self):
                super(Gate, self).__init__()
                self.score = layers.Dense(3)
            def call(self, x):
                return x[:, int(tf.argmax(self.score(x)[0]).numpy())]
        gate = Gate()
        print(gate(tf.random.uniform((1, 3))), gate.weights)
        class Gate(layers.Layer):
            def call(self, x):
                return x * 2.0
        net = keras.Sequential([Gate(), layers.Dense(1)])
        """,
    ),
    ("FIT505", NET + OWN_PASS.format(cut="") + LOOP.format(loss="scored()")),
    # Pairs that were made before, under the same name too.
    (
        "FIT508",
        NET
        + """
opt = keras.optimizers.Adam()
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(net(x))
grads = tape.gradient(loss, net.trainable_variables)
grads = [(tf.clip_by_norm(g, 1.0), v) for g, v in zip(grads, net.trainable_variables)]
opt.apply_gradients(grads)
w = tf.Variable(1.0)
with tf.GradientTape() as tape:
    loss = w * 2.0
g = tape.gradient(loss, w)
opt.apply_gradients([(g, w)])
opt.apply([g], [w])
""",
    ),
    (
        "FIT507",
        """
        w = tf.constant(1.0)
        for step in range(3):
            with tf.GradientTape() as tape:
                tape.watch(w)
                loss = w ** 2
            g = tape.gradient(loss, w)
            w = w - 0.1 * g
        """,
    ),
    (
        "FIT507",
        NET
        + """
features = net(x)
with tf.GradientTape() as tape:
    tape.watch(features)
    top = tf.reduce_max(features)
g = tape.gradient(top, features)
""",
    ),
]


@pytest.mark.parametrize(("cause", "text"), RIGHT, ids=[f"{one[0]}-{n}" for n, one in enumerate(RIGHT)])
def test_what_resembles_it_is_left_alone(cause: str, text: str) -> None:
    assert found(text, cause) == []


def test_every_step_of_a_loop_is_changed_in_place() -> None:
    text = """
    w, b = tf.Variable(1.0), 0
    b = tf.Variable(0.0)
    w = tf.Variable(1.0)
    for step in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((w * x + b - y) ** 2)
        dw, db = tape.gradient(loss, [w, b])
        w = w - 0.1 * dw
        b = b - 0.1 * db
    """
    (finding,) = found(text, "FIT507")
    repaired = apply_edits(HEAD + textwrap.dedent(text), finding.fixes[0].edits)
    assert "w.assign_sub(0.1 * dw)" in repaired
    assert "b.assign_sub(0.1 * db)" in repaired


# --- from the failure --------------------------------------------------------------------------------------------------


def failed(text: str, message: str, line_: int, *library: str, type_: str = "ValueError") -> Finding | None:
    """The first finding after a failure at a line (counted after the head), with frames of Keras behind it."""
    frames = [Frame("train.py", len(HEAD.splitlines()) + line_, "<module>")]
    frames += [Frame(f"/lib/site-packages/keras/src/{path}", 1, "__init__", library=True) for path in library]
    diagnosis = examine_failure(FailureFacts(type_, message, frames=tuple(frames)), lambda: project(text))
    assert not diagnosis.crashes
    return diagnosis.primary


def test_a_tensor_among_the_arguments_of_a_constructor_is_called_on() -> None:
    text = "i = keras.Input((6,))\nh = layers.Dense(4)(i)\nh = layers.Dropout(0.5, h)\n"
    message = "Iterating over a symbolic KerasTensor is not supported."
    finding = failed(text, message, 3, "layers/regularization/dropout.py", type_="NotImplementedError")
    assert finding is not None
    assert finding.id == "FIT309"
    assert "layers.Dropout(0.5)(h)" in apply_edits(HEAD + text, finding.fixes[0].edits)


def test_an_unknown_keyword_is_no_tensor_in_the_wrong_place() -> None:
    text = "i = keras.Input((6,))\nm = keras.Model(input=i, output=layers.Dense(1)(i))\n"
    message = "Unrecognized keyword arguments passed to Model: {'input': <KerasTensor shape=(None, 6)>}"
    finding = failed(text, message, 2, "layers/layer.py")
    assert finding is None or finding.id != "FIT309"


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("'NoneType' object has no attribute 'fit'", "FIT310"),
        (
            "Inputs to a layer should be tensors. Got 'None' (of type <class 'NoneType'>) as input for layer 'dense'.",
            "FIT310",
        ),
        (
            "Expected float32, but got <function focal.<locals>.loss at 0x7f9ebaba0ae0> of type 'function'.",
            "FIT314",
        ),
        (
            "Only instances of `keras.Layer` can be added to a Sequential model. Received: "
            "<class 'keras.src.layers.reshaping.flatten.Flatten'> (of type <class 'type'>)",
            "FIT309",
        ),
        (
            "`variable -= value` with `tf.Variable`s is not supported. Use `variable.assign_sub(value)` to modify it",
            "FIT507",
        ),
    ],
)
def test_the_words_alone_tell_the_cause(message: str, cause: str) -> None:
    log = f'Traceback (most recent call last):\n  File "train.py", line 9, in <module>\n    step()\nValueError: {message}\n'
    (failure,) = failures_in(log)
    primary = examine_failure(failure, lambda: None).primary
    assert primary is not None
    assert primary.id == cause
