"""Repairs of projects from their traceback: the line that raised is in one file, the line to change in another."""

from __future__ import annotations

from textwrap import dedent

import pytest

from fitdoctor.diagnose import examine_failure
from fitdoctor.edits import apply_edits
from fitdoctor.failure.text import failures_in
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.read import source_from_text

LIBRARY = '  File "/venv/lib/python3.11/site-packages/keras/src/utils/traceback_utils.py", line 122, in error_handler\n'

REPAIRS = {
    "FIT504 an optimizer from a getter that looks it up": (
        {
            "cv.py": """
            from common import build, get_optimizer
            optimizer = get_optimizer("nadam")
            for fold in folds:
                model = build()
                model.compile(optimizer=optimizer, loss="mse")
                model.fit(fold.x, fold.y)
            """,
            "common.py": """
            import keras
            KINDS = {"adam": keras.optimizers.Adam, "nadam": keras.optimizers.Nadam}
            def get_optimizer(name):
                return KINDS[name](0.01)
            def build():
                return keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
            """,
        },
        [("cv.py", 6, "<module>")],
        "ValueError: Unknown variable: <Variable path=sequential_1/dense_1/kernel, shape=(4, 1), dtype=float32>. "
        "This optimizer can only be called for the variables it was originally built with.",
        ("cv.py", 2),
        ['model.compile(optimizer=get_optimizer("nadam"), loss="mse")'],
    ),
    "FIT802 a table that an object holds": (
        {
            "pipe.py": """
            import tensorflow as tf
            def build_pipeline(store, ids):
                def lookup(i):
                    return tf.gather(store.table, i)
                return tf.data.Dataset.from_tensor_slices(ids).map(lookup)
            """,
        },
        [("pipe.py", 5, "build_pipeline"), ("pipe.py", 4, "lookup")],
        "ValueError: Cannot create a tensor proto whose content is larger than 2GB.",
        ("pipe.py", 4),
        ["table_tensor = tf.convert_to_tensor(store.table)", "return tf.gather(table_tensor, i)"],
    ),
    "FIT604 an optimizer from another file": (
        {
            "main.py": """
            import tensorflow as tf
            from optim import make_optimizer
            strategy = tf.distribute.MirroredStrategy()
            optimizer = make_optimizer()
            with strategy.scope():
                model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
                model.compile(optimizer=optimizer, loss="mse")
            model.fit(x, y)
            """,
            "optim.py": """
            import tensorflow as tf
            def make_optimizer():
                return tf.keras.optimizers.AdamW(1e-3)
            """,
        },
        [("main.py", 8, "<module>")],
        "RuntimeError: Mixing different tf.distribute.Strategy objects: <a> is not <b>",
        ("main.py", 4),
        ["    optimizer = make_optimizer()"],
    ),
    "FIT501 a variable as wide as the input": (
        {
            "layers.py": """
            import keras
            import tensorflow as tf
            class Conv(keras.layers.Layer):
                def __init__(self, units):
                    super().__init__()
                    self.units = units
                def call(self, inputs):
                    x, links = inputs
                    w = tf.Variable(tf.random.normal([x.shape[-1], self.units]))
                    return tf.matmul(links, x @ w)
            """,
        },
        [("layers.py", 9, "call")],
        "ValueError: tf.function only supports singleton tf.Variables created on the first call. Make sure the "
        "tf.Variable is only created once or created outside tf.function.",
        ("layers.py", 9),
        [
            "    def build(self, input_shape):",
            "        self.w = keras.Variable(tf.random.normal([input_shape[0][-1], self.units]))",
            "        w = self.w",
        ],
    ),
    "FIT905 a path that a property puts together": (
        {
            "paths.py": """
            class Paths:
                @property
                def weights(self):
                    return self.root / self.run / "last.h5"
            """,
            "engine.py": """
            def train(model, paths, x, y):
                model.fit(x, y)
                model.save_weights(paths.weights)
            """,
        },
        [("engine.py", 3, "train")],
        "ValueError: The filename must end in `.weights.h5`. Received: filepath=runs/a/last.h5",
        ("paths.py", 4),
        ['        return self.root / self.run / "last.weights.h5"'],
    ),
    "FIT314 an argument that Keras passes by name": (
        {
            "recalls.py": """
            import keras
            class Recall(keras.metrics.Metric):
                def update_state(self, y_true, y_pred):
                    self.total.assign_add(1.0)
            """,
            "train.py": """
            from recalls import Recall
            model.compile("adam", "mse", weighted_metrics=[Recall()])
            model.fit(x, y, sample_weight=w)
            """,
        },
        [("train.py", 3, "<module>")],
        "TypeError: Recall.update_state() got an unexpected keyword argument 'sample_weight'",
        ("recalls.py", 3),
        ["    def update_state(self, y_true, y_pred, sample_weight=None):"],
    ),
    "FIT331 the loss under the name of the loss function": (
        {
            "loop.py": """
            import tensorflow as tf
            from objectives import content_loss as loss
            for batch in data:
                with tf.GradientTape() as tape:
                    loss = loss(batch, net(batch))
                grads = tape.gradient(loss, net.trainable_weights)
            """,
        },
        [("loop.py", 5, "<module>")],
        "TypeError: 'tensorflow.python.framework.ops.EagerTensor' object is not callable",
        ("loop.py", 5),
        [
            "        loss_value = loss(batch, net(batch))",
            "    grads = tape.gradient(loss_value, net.trainable_weights)",
        ],
    ),
}


@pytest.mark.parametrize("name", REPAIRS)
def test_the_repair_is_where_the_mistake_is(name):
    files, frames, message, place, lines = REPAIRS[name]
    texts = {path: dedent(text).lstrip("\n") for path, text in files.items()}
    raised = "".join(
        f'  File "{path}", line {line}, in {function}\n    {texts[path].splitlines()[line - 1].strip()}\n'
        for path, line, function in frames
    )
    (failure,) = failures_in(f"Traceback (most recent call last):\n{raised}{LIBRARY}    raise e\n{message}\n")
    project = Project([Module(source_from_text(text, path)) for path, text in texts.items()])
    finding = examine_failure(failure, lambda: project).findings[0]
    assert (finding.id, finding.location.path, finding.location.line) == (name[:6], *place)
    fix = finding.fixes[0]
    after = {
        path: apply_edits(text, [edit for edit in fix.edits if edit.location.path == path])
        for path, text in texts.items()
    }
    written = [line for text in after.values() for line in text.splitlines()]
    assert [line for line in lines if not any(each.endswith(line) for each in written)] == [], after
