"""Steps and losses of the user's own (FIT314, FIT316 to FIT319): found where broken, silent where not."""

from __future__ import annotations

import pytest

from tests.catalogue.contract_programs import NET, STEP, failed, found, line_of

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
        ("m.fit(x)", "only `x`"),
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


def test_the_older_way_hands_the_predictions_to_the_loss_tracker() -> None:
    ending = (
        "        self.compiled_metrics.update_state(y, self(x))\n"
        "        return {m.name: m.result() for m in self.metrics}"
    )
    (finding,) = found(f"class M(keras.Model):{STEP}{ending}{COMPILED}", "FIT317")
    assert "their mean" in finding.message and line_of(finding) == 8


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
