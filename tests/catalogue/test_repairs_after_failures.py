"""Repairs from a traceback: the line that raised and the line to change may differ, and be in different files."""

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
    "FIT314 a loss with a setting that Keras does not pass": (
        {
            "losses.py": """
            import tensorflow as tf
            def huber(y_true, y_pred, delta):
                return tf.reduce_mean(tf.minimum(tf.abs(y_true - y_pred), delta))
            LOSSES = {"huber": huber, "mse": "mse"}
            """,
            "train.py": """
            from losses import LOSSES
            model.compile("adam", LOSSES[cfg["loss"]])
            model.fit(x, y)
            """,
        },
        [("train.py", 3, "<module>")],
        "TypeError: huber() missing 1 required positional argument: 'delta'",
        ("losses.py", 2),
        ["def huber(y_true, y_pred, delta=1.0):"],
    ),
    "FIT314 a factory of losses from a registry": (
        {
            "losses.py": """
            import tensorflow as tf
            def focal(gamma=2.0):
                def loss(y_true, y_pred):
                    return tf.reduce_mean((1 - y_pred) ** gamma)
                return loss
            def get_loss(name):
                return {"focal": focal, "mse": "mse"}[name]
            """,
            "train.py": """
            from losses import get_loss
            model.compile("adam", get_loss(args.loss))
            model.fit(x, y)
            """,
        },
        [("train.py", 3, "<module>")],
        "TypeError: Expected float32, but got <function focal.<locals>.loss at 0x7f727e595260> of type 'function'.",
        ("losses.py", 7),
        ['return {"focal": focal(), "mse": "mse"}[name]'],
    ),
    "FIT504 an optimizer in a field of a dataclass": (
        {
            "settings.py": """
            from dataclasses import dataclass, field
            import keras
            @dataclass
            class Settings:
                units: int = 8
                optimizer: keras.optimizers.Optimizer = field(default_factory=lambda: keras.optimizers.Adam(1e-2))
            """,
            "train.py": """
            import keras
            from settings import Settings
            def build(settings):
                model = keras.Sequential([keras.layers.Dense(settings.units), keras.layers.Dense(1)])
                model.compile(optimizer=settings.optimizer, loss="mse")
                return model
            settings = Settings()
            for fold in folds:
                build(settings).fit(fold.x, fold.y)
            """,
        },
        [("train.py", 9, "<module>")],
        "ValueError: Unknown variable: <Variable path=sequential_1/dense_1/kernel, shape=(4, 1), dtype=float32>. "
        "This optimizer can only be called for the variables it was originally built with.",
        ("settings.py", 6),
        [
            'model.compile(optimizer=type(settings.optimizer).from_config(settings.optimizer.get_config()), loss="mse")'
        ],
    ),
    "FIT504 an optimizer that a method stores": (
        {
            "gan.py": """
            import keras
            class GAN(keras.Model):
                def compile(self, optimizer):
                    super().compile()
                    self.opt = optimizer
                def train_step(self, real):
                    self.opt.apply_gradients(zip(self.grads(real), self.critic.trainable_weights))
                    self.opt.apply_gradients(zip(self.grads(real), self.maker.trainable_weights))
                    return {}
            """,
            "train.py": """
            import keras
            from gan import GAN
            model = GAN()
            model.compile(optimizer=keras.optimizers.Adam(2e-4))
            model.fit(points)
            """,
        },
        [("train.py", 5, "<module>"), ("gan.py", 8, "train_step")],
        "ValueError: Unknown variable: <Variable path=sequential/dense/kernel, shape=(6, 16), dtype=float32>. "
        "This optimizer can only be called for the variables it was originally built with.",
        ("train.py", 4),
        [
            "self.opt_of_maker = type(optimizer).from_config(optimizer.get_config())",
            "self.opt_of_maker.apply_gradients(zip(self.grads(real), self.maker.trainable_weights))",
        ],
    ),
    "FIT905 an extension in the property of a dataclass": (
        {
            "settings.py": """
            from dataclasses import dataclass
            from pathlib import Path
            @dataclass
            class Output:
                run: str = "exp01"
                suffix: str = "hdf5"
                @property
                def checkpoint(self):
                    return Path("runs") / f"{self.run}.{self.suffix}"
            """,
            "train.py": """
            import keras
            from settings import Output
            saver = keras.callbacks.ModelCheckpoint(str(Output().checkpoint))
            """,
        },
        [("train.py", 3, "<module>")],
        "ValueError: The filepath provided must end in `.keras` (Keras model format). Received: "
        "filepath=runs/exp01.hdf5",
        ("settings.py", 6),
        ['suffix: str = "keras"'],
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
    "FIT327 a size that a division makes a float": (
        {
            "net.py": """
            import keras
            def build(width):
                return keras.layers.Dense(width / 2, activation="relu")
            """,
        },
        [("net.py", 3, "build")],
        "ValueError: Received an invalid value for `units`, expected a positive integer. Received: units=32.0",
        ("net.py", 3),
        ['keras.layers.Dense(width // 2, activation="relu")'],
    ),
    "FIT109 a misspelled key of the inputs": (
        {
            "towers.py": """
            import keras
            class Towers(keras.Model):
                def call(self, inputs):
                    return self.user(inputs["user_idd"]) + self.item(inputs["item_id"])
            """,
            "train.py": """
            from towers import Towers
            model = Towers()
            model.fit(dataset)
            """,
        },
        [("train.py", 3, "<module>"), ("towers.py", 4, "call")],
        "KeyError: \"Exception encountered when calling Towers.call().\\n\\n\\x1b[1m'user_idd'\\x1b[0m\\n\\n"
        "Arguments received by Towers.call():\\n  • inputs={'user_id': 'tf.Tensor(shape=(None,), dtype=int64)', "
        "'item_id': 'tf.Tensor(shape=(None,), dtype=int64)'}\"",
        ("towers.py", 4),
        ['return self.user(inputs["user_id"]) + self.item(inputs["item_id"])'],
    ),
    "FIT102 images without a channel axis in a custom loop": (
        {
            "loop.py": """
            import tensorflow as tf
            from tensorflow import keras
            model = keras.Sequential([keras.layers.Conv2D(8, 3), keras.layers.GlobalMaxPooling2D()])
            for images, labels in batches():
                with tf.GradientTape() as tape:
                    predictions = model(images, training=True)
            """,
        },
        [("loop.py", 6, "<module>")],
        'ValueError: Input 0 of layer "conv2d" is incompatible with the layer: expected min_ndim=4, found ndim=3. '
        "Full shape received: (32, 28, 28)",
        ("loop.py", 4),
        ["predictions = model(tf.expand_dims(images, axis=-1), training=True)"],
    ),
    "FIT101 a batch to reshape in a custom loop": (
        {
            "loop.py": """
            import tensorflow as tf
            from tensorflow import keras
            model = keras.Sequential([keras.Input((28, 28)), keras.layers.Flatten(), keras.layers.Dense(10)])
            for images, labels in batches():
                predictions = model(images)
            """,
        },
        [("loop.py", 5, "<module>")],
        'ValueError: Input 0 of layer "functional" is incompatible with the layer: expected shape=(None, 28, 28), '
        "found shape=(32, 784)",
        ("loop.py", 5),
        ["predictions = model(tf.reshape(images, (-1, 28, 28)))"],
    ),
    "FIT104 channels first in a custom loop": (
        {
            "loop.py": """
            import tensorflow as tf
            from tensorflow import keras
            model = keras.Sequential([keras.Input((32, 32, 3)), keras.layers.Conv2D(8, 3)])
            for images, labels in batches():
                predictions = model(images)
            """,
        },
        [("loop.py", 5, "<module>")],
        'ValueError: Input 0 of layer "functional" is incompatible with the layer: expected shape=(None, 32, 32, 3), '
        "found shape=(16, 3, 32, 32)",
        ("loop.py", 5),
        ["predictions = model(tf.transpose(images, (0, 2, 3, 1)))"],
    ),
    "FIT205 too few units for one-hot labels in a custom loop": (
        {
            "loop.py": """
            import tensorflow as tf
            from tensorflow import keras
            model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(5)])
            loss_fn = keras.losses.CategoricalCrossentropy(from_logits=True)
            for images, labels in batches():
                with tf.GradientTape() as tape:
                    predictions = model(images, training=True)
                    loss = loss_fn(labels, predictions)
            """,
        },
        [("loop.py", 8, "<module>")],
        "ValueError: Arguments `target` and `output` must have the same shape. Received: target.shape=(32, 10), "
        "output.shape=(32, 5)",
        ("loop.py", 3),
        ["keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10)])"],
    ),
    "FIT111 float labels for an operation on integers": (
        {
            "loss.py": """
            import tensorflow as tf
            def loss(labels, logits):
                return tf.reduce_mean(tf.one_hot(labels, 10) * logits)
            """,
        },
        [("loss.py", 3, "loss")],
        "TypeError: Value passed to parameter 'indices' has DataType float32 not in list of allowed values: "
        "uint8, int8, int32, int64",
        ("loss.py", 3),
        ["tf.reduce_mean(tf.one_hot(tf.cast(labels, tf.int32), 10) * logits)"],
    ),
    "FIT304 a layer for sequences on images": (
        {
            "net.py": """
            import keras
            model = keras.Sequential()
            model.add(keras.Input((28, 28, 1)))
            model.add(keras.layers.Conv2D(8, 3))
            model.add(keras.layers.MaxPooling1D(2))
            """,
        },
        [("net.py", 5, "<module>")],
        'ValueError: Input 0 of layer "max_pooling1d" is incompatible with the layer: expected ndim=3, found ndim=4. '
        "Full shape received: (None, 26, 26, 8)",
        ("net.py", 5),
        ["model.add(keras.layers.MaxPooling2D(2))"],
    ),
    "FIT305 a branch to flatten before a merge": (
        {
            "net.py": """
            import keras
            image = keras.Input((8, 8, 3))
            table = keras.Input((4,))
            seen = keras.layers.Conv2D(8, 3)(image)
            read = keras.layers.Dense(8)(table)
            both = keras.layers.Concatenate()([seen, read])
            """,
        },
        [("net.py", 6, "<module>")],
        "ValueError: A `Concatenate` layer requires inputs with matching shapes except for the concatenation axis. "
        "Received: input_shape=[(None, 6, 6, 8), (None, 8)]",
        ("net.py", 4),
        ["keras.layers.Concatenate()([keras.layers.Flatten()(seen), read])"],
    ),
    "FIT305 the axes of a product": (
        {
            "net.py": """
            import keras
            query = keras.Input((5, 16))
            value = keras.Input((7, 16))
            scores = keras.layers.Dot(axes=1)([query, value])
            """,
        },
        [("net.py", 4, "<module>")],
        "ValueError: Incompatible input shapes: axis values 5 (at axis 1) != 7 (at axis 1). "
        "Full input shapes: (None, 5, 16), (None, 7, 16)",
        ("net.py", 4),
        ["keras.layers.Dot(axes=-1)([query, value])"],
    ),
    "FIT315 the input of another model": (
        {
            "net.py": """
            import keras
            inputs = keras.Input((32, 32, 3))
            base = keras.applications.VGG16(include_top=False, input_shape=(32, 32, 3))
            x = keras.layers.Flatten()(base.output)
            model = keras.Model(inputs, keras.layers.Dense(2)(x))
            """,
        },
        [("net.py", 5, "<module>")],
        "ValueError: Output with path `` is not connected to `inputs`",
        ("net.py", 5),
        ["keras.Model(base.input, keras.layers.Dense(2)(x))"],
    ),
    "FIT320 a custom layer sized for other features": (
        {
            "net.py": """
            import keras
            import tensorflow as tf
            class Linear(keras.layers.Layer):
                def __init__(self, size, units):
                    super().__init__()
                    self.w = self.add_weight(shape=(size, units))
                def call(self, x):
                    return tf.matmul(x, self.w)
            model = keras.Sequential([keras.layers.Dense(16), Linear(1, 32)])
            model.fit(x, y)
            """,
        },
        [("net.py", 10, "<module>"), ("net.py", 8, "call")],
        "ValueError: Exception encountered when calling Linear.call().\n\nDimensions must be equal, but are 16 and 1 "
        "for '{{node MatMul}} = MatMul[T=DT_FLOAT](x, w)' with input shapes: [?,16], [1,32].",
        ("net.py", 9),
        ["keras.Sequential([keras.layers.Dense(16), Linear(16, 32)])"],
    ),
    "FIT320 a mean and a deviation without their axis": (
        {
            "net.py": """
            import keras
            import tensorflow as tf
            class Norm(keras.layers.Layer):
                def call(self, x):
                    mean = tf.reduce_mean(x, axis=-1)
                    deviation = tf.math.reduce_std(x, axis=-1)
                    return (x - mean) / deviation
            """,
        },
        [("net.py", 7, "call")],
        "ValueError: Exception encountered when calling Norm.call().\n\nDimensions must be equal, but are 16 and 8 "
        "for '{{node sub}} = Sub[T=DT_FLOAT](x, Mean)' with input shapes: [4,8,16], [4,8].",
        ("net.py", 5),
        ["tf.reduce_mean(x, axis=-1, keepdims=True)", "tf.math.reduce_std(x, axis=-1, keepdims=True)"],
    ),
    "FIT312 a function without a counterpart": (
        {
            "net.py": """
            import keras
            import tensorflow as tf
            x = keras.Input((8, 8, 3))
            y = tf.image.rgb_to_grayscale(x)
            """,
        },
        [("net.py", 4, "<module>")],
        "ValueError: A KerasTensor cannot be used as input to a TensorFlow function. A KerasTensor is a symbolic "
        "placeholder for a shape and dtype, used when constructing Keras Functional models or Keras Functions.",
        ("net.py", 4),
        ["y = keras.layers.Lambda(lambda t: tf.image.rgb_to_grayscale(t))(x)"],
    ),
    "FIT314 a custom layer called with too many arguments": (
        {
            "net.py": """
            import keras
            class Merge(keras.layers.Layer):
                def call(self, a):
                    return a
            out = Merge()(first, second)
            """,
        },
        [("net.py", 5, "<module>")],
        "TypeError: too many positional arguments",
        ("net.py", 5),
        [],
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
