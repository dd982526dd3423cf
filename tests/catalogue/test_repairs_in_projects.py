"""Repairs in the styles of real programs: helpers, configurations, classes and several files."""

from __future__ import annotations

from textwrap import dedent

import pytest

from fitdoctor.diagnose import examine_source
from fitdoctor.edits import apply_edits
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.read import source_from_text

TRAINED = """
x = np.random.rand(64, 12, 3)
model = build([16, 8])
model.compile("adam", "mse")
model.fit(x, x[:, -1, 0], epochs=1)
"""

REPAIRS = {
    "FIT304 layers of a helper in a loop": (
        "FIT304",
        {
            "train.py": """
            import numpy as np
            import keras
            def rnn(units):
                return keras.layers.Bidirectional(keras.layers.LSTM(units))
            def build(widths):
                model = keras.Sequential([keras.Input((12, 3))])
                for width in widths:
                    model.add(rnn(width))
                model.add(keras.layers.Dense(1))
                return model
            """
            + TRAINED.replace("\n", "\n            ")
        },
        [
            "def rnn(units, return_sequences=False):",
            "return keras.layers.Bidirectional(keras.layers.LSTM(units, return_sequences=return_sequences))",
            "for i, width in enumerate(widths):",
            "model.add(rnn(width, return_sequences=i < len(widths) - 1))",
        ],
    ),
    "FIT217 every layer of a loop returns sequences": (
        "FIT217",
        {
            "train.py": """
            import numpy as np
            import keras
            def build(widths):
                model = keras.Sequential([keras.Input((12, 3))])
                for width in widths:
                    model.add(keras.layers.LSTM(width, return_sequences=True))
                model.add(keras.layers.Dense(1))
                return model
            """
            + TRAINED.replace("\n", "\n            ")
        },
        ["model.add(keras.layers.LSTM(width, return_sequences=i < len(widths) - 1))"],
    ),
    "FIT304 a list of layers that grows": (
        "FIT304",
        {
            "train.py": """
            import numpy as np
            import keras
            def build(classes):
                stack = [keras.Input((8, 8, 3))]
                stack.append(keras.layers.Conv2D(4, 3))
                stack.append(keras.layers.Dense(classes, activation="softmax"))
                return keras.Sequential(stack)
            model = build(4)
            model.compile("adam", "categorical_crossentropy")
            model.fit(np.zeros((16, 8, 8, 3)), np.eye(4)[np.zeros(16, int)])
            """
        },
        ["stack.append(keras.layers.Flatten())"],
    ),
    "FIT502 layers that need the width of the input": (
        "FIT502",
        {
            "train.py": """
            import numpy as np
            import keras
            class Gate(keras.layers.Layer):
                def call(self, x):
                    opened = keras.layers.Dense(x.shape[-1], activation="sigmoid")(x)
                    return opened * x
            model = keras.Sequential([keras.Input((8,)), Gate(), keras.layers.Dense(1)])
            model.compile("adam", "mse")
            model.fit(np.zeros((16, 8)), np.zeros((16, 1)))
            """
        },
        [
            "def build(self, input_shape):",
            'self.dense_1 = keras.layers.Dense(input_shape[-1], activation="sigmoid")',
        ],
    ),
    "FIT403 a model that calls itself in a graph loop": (
        "FIT403",
        {
            "train.py": """
            import numpy as np
            import tensorflow as tf
            class Dynamics(tf.keras.Model):
                def __init__(self):
                    super().__init__()
                    self.step = tf.keras.layers.Dense(2)
                def call(self, state):
                    return state + self.step(state)
                @tf.function
                def unrolled(self, state, horizon):
                    path = []
                    for _ in tf.range(horizon):
                        state = self(state)
                        path.append(state)
                    return tf.stack(path, axis=1)
                def train_step(self, data):
                    with tf.GradientTape() as tape:
                        loss = tf.reduce_mean(self.unrolled(data[:, 0], tf.shape(data)[1]))
                    grads = tape.gradient(loss, self.trainable_variables)
                    self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
                    return {"loss": loss}
            model = Dynamics()
            model.compile("adam")
            model.fit(np.zeros((16, 5, 2), "float32"))
            """
        },
        ["path = path.write(path.size(), state)"],
    ),
    "FIT401 what is read before the store stays": (
        "FIT401",
        {
            "train.py": """
            import tensorflow as tf
            from tensorflow import keras
            class Net(keras.Model):
                def __init__(self):
                    super().__init__()
                    self.dense = keras.layers.Dense(1)
                    self.previous = tf.constant(0.0)
                def call(self, x):
                    return self.dense(x)
                def train_step(self, data):
                    x, y = data
                    loss = self.compute_loss(x=x, y=y, y_pred=self(x))
                    change = tf.abs(loss - self.previous)
                    self.previous = loss
                    return {"loss": loss, "change": change}
            class Report(keras.callbacks.Callback):
                def on_epoch_end(self, epoch, logs=None):
                    print(float(self.model.previous))
            model = Net()
            model.compile("sgd", "mse")
            model.fit(tf.ones((8, 2)), tf.ones((8, 1)), callbacks=[Report()])
            """
        },
        ["change = tf.abs(loss - self.previous)", "self.previous.assign(loss)"],
    ),
    "FIT401 a loss of the same trace keeps the gradient": (
        "FIT401",
        {
            "train.py": """
            import tensorflow as tf
            from tensorflow import keras
            class Net(keras.Model):
                def __init__(self):
                    super().__init__()
                    self.body = keras.layers.Dense(4)
                def call(self, x):
                    self.features = self.body(x)
                    return self.features
            model = Net()
            def loss(y_true, y_pred):
                return tf.reduce_mean(tf.square(y_true - y_pred)) + tf.reduce_mean(tf.square(model.features))
            class Spread(keras.callbacks.Callback):
                def on_epoch_end(self, epoch, logs=None):
                    print(float(tf.reduce_max(self.model.features)))
            model.compile("sgd", loss)
            model.fit(tf.ones((8, 2)), tf.ones((8, 4)), callbacks=[Spread()])
            """
        },
        [
            "self.features = self.body(x)",
            "self.last_features.assign(self.features)",
            "print(float(tf.reduce_max(self.model.last_features)))",
        ],
    ),
    "FIT402 a value that a step collects is logged": (
        "FIT402",
        {
            "train.py": """
            import tensorflow as tf
            from tensorflow import keras
            class Net(keras.Model):
                def __init__(self):
                    super().__init__()
                    self.dense = keras.layers.Dense(1)
                    self.norms = []
                def call(self, x):
                    return self.dense(x)
                def train_step(self, data):
                    x, y = data
                    with tf.GradientTape() as tape:
                        loss = self.compute_loss(x=x, y=y, y_pred=self(x))
                    grads = tape.gradient(loss, self.trainable_variables)
                    self.norms.append(tf.linalg.global_norm(grads))
                    self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
                    return {"loss": loss}
            model = Net()
            model.compile("sgd", "mse")
            model.fit(tf.ones((8, 2)), tf.ones((8, 1)))
            print([float(norm) for norm in model.norms])
            """
        },
        ["norms = tf.linalg.global_norm(grads)", 'return {"loss": loss, "norms": norms}'],
    ),
    "FIT404 what scales the gradients in the branch is 1 without it": (
        "FIT404",
        {
            "train.py": """
            import tensorflow as tf
            class Clipped(tf.keras.Model):
                @tf.function
                def train_step(self, data):
                    grads = self.gradients(data)
                    norm = tf.linalg.global_norm(grads)
                    if norm > self.limit:
                        ratio = self.limit / norm
                        grads = [g * ratio for g in grads]
                    self.tracker.update_state(ratio)
                    return {"ratio": ratio}
            model = Clipped()
            model.compile("adam")
            model.fit(data)
            """
        },
        ["ratio = tf.ones_like(self.limit / norm)"],
    ),
    "FIT404 what a branch would change stays as it is": (
        "FIT404",
        {
            "train.py": """
            import tensorflow as tf
            @tf.function
            def clipped(inputs, limit):
                norm = tf.norm(inputs)
                if norm > limit:
                    scaled = inputs * (limit / norm)
                return scaled
            """
        },
        ["scaled = inputs"],
    ),
    "FIT406 a session that runs tensors": (
        "FIT406",
        {
            "train.py": """
            import tensorflow as tf
            model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
            model.compile("adam", "mse")
            def show(x):
                with tf.Session() as session:
                    session.run(tf.global_variables_initializer())
                    print(session.run(tf.reduce_mean(x)))
            model.fit(tf.ones((8, 4)), tf.ones((8, 1)))
            """
        },
        ["print(tf.reduce_mean(x))"],
    ),
    "FIT407 a metric of a factory in another file": (
        "FIT407",
        {
            "metrics.py": """
            import numpy as np
            def within(tolerance):
                def metric(y_true, y_pred):
                    errors = np.abs(np.asarray(y_true) - np.asarray(y_pred))
                    hits = np.where(errors < tolerance, 1.0, 0.0)
                    return hits.sum() / hits.size
                return metric
            """,
            "train.py": """
            import keras
            from metrics import within
            model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
            model.compile("sgd", "mae", metrics=[within(0.1)])
            """,
        },
        [
            "errors = tf.abs(y_true - y_pred)",
            'return tf.reduce_sum(hits) / tf.cast(tf.size(hits), "float32")',
        ],
    ),
    "FIT710 futures that a method returns": (
        "FIT710",
        {
            "train.py": """
            import asyncio
            import keras
            import numpy as np
            async def fetch(n):
                return np.zeros((n, 4))
            def load():
                features = fetch(64)
                return features, np.zeros(64)
            x, y = load()
            model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
            model.compile("adam", "mse")
            model.fit(x, y, epochs=1)
            """
        },
        ["features = asyncio.run(fetch(64))"],
    ),
    "FIT216 a constant with the losses": (
        "FIT216",
        {
            "train.py": """
            import keras
            import numpy as np
            LOSSES = {
                "tide": "mse",
                "wind": "mse",
            }
            given = keras.Input((4,))
            tide = keras.layers.Dense(1, name="tide_level")(given)
            wind = keras.layers.Dense(1, name="wind")(given)
            model = keras.Model(given, [tide, wind])
            model.compile("adam", loss=LOSSES)
            model.fit(np.zeros((8, 4)), [np.zeros((8, 1)), np.zeros((8, 1))])
            """
        },
        ['"tide_level": "mse",'],
    ),
    "FIT712 labels that another method encodes": (
        "FIT712",
        {
            "boats.py": """
            import numpy as np
            from keras.utils import to_categorical
            KINDS = ("ferry", "tug", "yacht")
            class Boats:
                def __init__(self):
                    self.x = np.zeros((90, 5), "float32")
                    self.kind = np.arange(90) % 3
                def train(self):
                    return self.x, to_categorical(self.kind, len(KINDS))
                def valid(self):
                    return self.x, self.kind
            """,
            "train.py": """
            import keras
            from boats import Boats
            boats = Boats()
            x, y = boats.train()
            x_val, y_val = boats.valid()
            model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(3, activation="softmax")])
            model.compile("adam", "categorical_crossentropy")
            model.fit(x, y, validation_data=(x_val, y_val))
            """,
        },
        ["return self.x, to_categorical(self.kind, len(KINDS))"],
    ),
    "FIT712 a length that only the training data is given": (
        "FIT712",
        {
            "buoys.py": """
            import numpy as np
            class Buoys:
                def __init__(self, days):
                    self.days = days
                def _windows(self, count, shuffle, days=4):
                    return np.zeros((count, days, 3), "float32"), np.zeros((count, 1), "float32")
                def train(self):
                    return self._windows(90, shuffle=True, days=self.days)
                def valid(self):
                    return self._windows(30, shuffle=False)
            """,
            "train.py": """
            import keras
            from buoys import Buoys
            buoys = Buoys(6)
            x, y = buoys.train()
            model = keras.Sequential([keras.Input((6, 3)), keras.layers.Flatten(), keras.layers.Dense(1)])
            model.compile("adam", "mse")
            model.fit(x, y, validation_data=buoys.valid())
            """,
        },
        ["return self._windows(30, shuffle=False, days=self.days)"],
    ),
    "FIT219 two shuffles": (
        "FIT219",
        {
            "train.py": """
            import keras
            import numpy as np
            x, y = np.random.rand(80, 4), np.arange(80) % 2
            np.random.shuffle(x)
            np.random.shuffle(y)
            model = keras.Sequential([keras.layers.Dense(1, activation="sigmoid")])
            model.compile("adam", "binary_crossentropy")
            model.fit(x[:60], y[:60], epochs=3)
            """,
        },
        ["order = np.random.permutation(len(x))", "x, y = x[order], y[order]"],
    ),
    "FIT219 a merged table that is sorted in a chain": (
        "FIT219",
        {
            "tables.py": """
            def assemble(loans, payments):
                table = (
                    loans.drop(columns=["late"])
                    .merge(payments, on="client", how="left")
                    .assign(share=lambda each: each["paid"] / each["due"])
                    .sort_values("client")
                    .set_index("client")
                )
                return table, loans["late"].to_numpy("float32")
            """,
            "train.py": """
            import keras
            import pandas as pd
            from tables import assemble
            table, late = assemble(pd.read_csv("loans.csv"), pd.read_csv("payments.csv"))
            x = ((table - table.mean()) / table.std()).to_numpy("float32")
            model = keras.Sequential([keras.layers.Dense(1, activation="sigmoid")])
            model.compile("adam", "binary_crossentropy")
            model.fit(x, late, epochs=3)
            """,
        },
        ['.assign(share=lambda each: each["paid"] / each["due"])', '.set_index("client")'],
    ),
    "FIT710 a helper that returns a future on purpose": (
        "FIT710",
        {
            "train.py": """
            import keras
            from concurrent.futures import ThreadPoolExecutor
            pool = ThreadPoolExecutor()
            def load(path):
                return pool.submit(read, path)
            train = load("train")
            valid = load("valid")
            model = keras.Sequential([keras.layers.Dense(1)])
            model.compile("adam", "mse")
            model.fit(train, validation_data=valid.result(), epochs=2)
            """,
        },
        ["model.fit(train.result(), validation_data=valid.result(), epochs=2)"],
    ),
    "FIT905 the extension in a configuration": (
        "FIT905",
        {
            "config.py": """
            from dataclasses import dataclass
            @dataclass
            class Config:
                folder: str = "runs"
                extension: str = "hdf5"
            """,
            "train.py": """
            import keras
            from config import Config
            cfg = Config()
            saver = keras.callbacks.ModelCheckpoint(f"{cfg.folder}/best-{{epoch}}.{cfg.extension}")
            """,
        },
        ['extension: str = "keras"'],
    ),
}


def _project(files: dict[str, str]) -> Project:
    return Project(tuple(Module(source_from_text(text, path)) for path, text in files.items()))


@pytest.mark.parametrize("name", REPAIRS)
def test_the_edit_goes_where_it_belongs(name):
    id, programs, lines = REPAIRS[name]
    before = {path: dedent(text).lstrip("\n") for path, text in programs.items()}
    finding = examine_source(_project(before), select=(id,)).findings[0]
    fix = next(fix for fix in finding.fixes if fix.edits)
    after = {
        path: apply_edits(text, [edit for edit in fix.edits if edit.location.path == path])
        for path, text in before.items()
    }
    written = [line.strip() for text in after.values() for line in text.splitlines()]
    assert [line for line in lines if line not in written] == [], "\n".join(after.values())
    assert not examine_source(_project(after), select=(id,)).findings


SHORT_TARGETS = {
    "config.py": """
    from dataclasses import dataclass
    @dataclass
    class Config:
        past: int = 8
        ahead: int = 4
    """,
    "tides.py": """
    import numpy as np
    def cut(levels, past, ahead):
        seen, next_ = [], []
        for start in range(len(levels) - past - ahead + 1):
            seen.append(levels[start : start + past])
            next_.append(levels[start + past : start + past + 1])
        return np.zeros((40, past)), np.zeros((40, 1))
    """,
    "train.py": """
    import keras
    import numpy as np
    from config import Config
    from tides import cut
    cfg = Config()
    x, y = cut(np.zeros(60), cfg.past, cfg.ahead)
    model = keras.Sequential([keras.Input((cfg.past,)), keras.layers.Dense(cfg.ahead)])
    model.compile("adam", "mse")
    model.fit(x, y)
    """,
}


def test_targets_are_cut_as_long_as_the_horizon():
    project = _project({path: dedent(text).lstrip("\n") for path, text in SHORT_TARGETS.items()})
    (finding,) = examine_source(project, select=("FIT204",)).findings
    assert (finding.location.path, finding.location.line) == ("tides.py", 6)
    (edit,) = finding.fixes[0].edits
    assert (edit.location.path, edit.location.line, edit.replacement) == ("tides.py", 6, "ahead")


SORTED = """
import keras
import pandas as pd
{loans}
table = loans.drop(columns=["late"]).merge(pd.read_csv("payments.csv"), on="client", how="{how}").{then}
model = keras.Sequential([keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(table.to_numpy(), loans["late"].to_numpy(), epochs=3)
"""


@pytest.mark.parametrize(
    ("loans", "how", "then", "out_of_step"),
    [
        ('loans = pd.read_csv("loans.csv")', "left", 'sort_values("client")', True),
        ('loans = pd.read_csv("loans.csv")', "left", 'set_index("client")', False),
        # They are, or may be, in this order already.
        ('loans = pd.read_csv("loans.csv")', "left", 'sort_values("day")', False),
        ('loans = pd.read_csv("loans.csv")', "left", 'sort_values(by=["loan_id", "rate"])', False),
        ('loans = pd.read_csv("loans.csv").sort_values("client")', "left", 'sort_values("client")', False),
    ],
)
def test_a_table_that_is_sorted_without_its_labels(loans, how, then, out_of_step):
    files = {"train.py": SORTED.format(loans=loans, how=how, then=then)}
    assert bool(examine_source(_project(files), select=("FIT219",)).findings) is out_of_step


def test_a_path_whose_extension_is_right_is_left_alone():
    files = {
        "train.py": 'import keras\nEXT = "keras"\nsaver = keras.callbacks.ModelCheckpoint(f"best.{EXT}")\n',
    }
    assert not examine_source(_project(files), select=("FIT905",)).findings
