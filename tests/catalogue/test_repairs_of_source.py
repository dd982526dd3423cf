"""Repairs that need only the source: the edits of a finding give the lines that a person would write."""

import re
from textwrap import dedent

import pytest

from fitdoctor.diagnose import examine_source
from fitdoctor.edits import apply_edits
from tests.catalogue.input_facts import project_of

REPAIRS = {
    "FIT201": (
        """
        import keras
        from tensorflow.keras.preprocessing.image import ImageDataGenerator
        pictures = ImageDataGenerator().flow_from_directory("train", target_size=(32, 32), class_mode="binary")
        model = keras.Sequential([
            keras.Input((32, 32, 3)), keras.layers.Flatten(), keras.layers.Dense(4, activation="softmax")
        ])
        model.compile(optimizer="adam", loss="categorical_crossentropy")
        model.fit(pictures)
        """,
        [
            "pictures = ImageDataGenerator().flow_from_directory("
            '"train", target_size=(32, 32), class_mode="categorical")'
        ],
    ),
    "FIT203": (
        """
        import keras
        import numpy as np
        import tensorflow as tf
        stars = [1, 2, 3, 4] * 16
        data = tf.data.Dataset.from_tensor_slices((np.zeros((64, 8), "float32"), stars)).batch(8)
        model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4, activation="softmax")])
        model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
        model.fit(data)
        """,
        ["stars = np.array([1, 2, 3, 4] * 16) - 1"],
    ),
    "FIT302": (
        """
        import keras
        model = keras.Sequential(
            keras.layers.Dense(8),
            keras.layers.Dense(1),
        )
        """,
        ["model = keras.Sequential([", "])"],
    ),
    "FIT502": (
        """
        import keras
        class Scale(keras.layers.Layer):
            def call(self, inputs):
                left, right = inputs
                size = left.shape[-1]
                w = self.add_weight(shape=(size, right.shape[-1]))
                return left @ w
        """,
        [
            "def build(self, input_shape):",
            "self.w = self.add_weight(shape=(input_shape[0][-1], input_shape[1][-1]))",
        ],
    ),
    "FIT402": (
        """
        import tensorflow as tf
        @tf.function
        def step(x, kept):
            y = x * 2
            kept.append(y)
            return tf.reduce_sum(y)
        seen = []
        total = step(tf.ones(3), seen)
        """,
        ["def step(x):", "return tf.reduce_sum(y), y", "total, y = step(tf.ones(3))", "seen.append(y)"],
    ),
    "FIT404": (
        """
        import tensorflow as tf
        @tf.function
        def choose(x):
            used = []
            def first():
                used.append(x * 2)
                return 0
            def second():
                used.append(x + 1)
                return 0
            tf.cond(tf.reduce_sum(x) > 0, first, second)
            return used[0]
        """,
        [
            "return x * 2",
            "return x + 1",
            "used = tf.cond(tf.reduce_sum(x) > 0, first, second)",
            "return used",
        ],
    ),
    "FIT407": (
        """
        import os
        import tensorflow as tf
        NAMES = ["cat", "dog"]
        def parse(path):
            folder = os.path.basename(os.path.dirname(path))
            return path, NAMES.index(folder)
        ds = tf.data.Dataset.from_tensor_slices(["a/cat/1.png"]).map(parse)
        """,
        [
            "folder = tf.strings.split(path, os.sep)[-2]",
            "return path, tf.argmax(tf.constant(NAMES) == folder)",
        ],
    ),
    "FIT505": (
        """
        import numpy as np
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        opt = tf.keras.optimizers.SGD()
        x, y = tf.ones((4, 3)), tf.ones((4, 1))
        with tf.GradientTape() as tape:
            error = y - model(x).numpy()
            loss = tf.reduce_mean(np.square(error))
        opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        """,
        ["error = y - model(x)", "loss = tf.reduce_mean(tf.square(error))"],
    ),
    "FIT409": (
        """
        import random
        import tensorflow as tf
        class Skip(tf.keras.layers.Layer):
            def call(self, x, training=False):
                if training and random.random() < 0.5:
                    return x
                return x * 2
        model = tf.keras.Sequential([Skip()])
        """,
        ["if training:", "return tf.where(tf.random.uniform(()) < 0.5, x, x * 2)", "return x * 2"],
    ),
    "FIT406": (
        """
        import tensorflow as tf
        config = tf.ConfigProto()
        config.gpu_options.allow_growth = True
        session = tf.Session(config=config)
        """,
        [
            'for gpu in tf.config.list_physical_devices("GPU"):',
            "tf.config.experimental.set_memory_growth(gpu, True)",
        ],
    ),
    "FIT902": (
        """
        import tensorflow as tf
        opt = tf.keras.optimizers.Adam()
        w = tf.Variable(1.0)
        opt.minimize(lambda: w ** 2, var_list=[w])
        """,
        [
            "with tf.GradientTape() as tape:",
            "loss_value = w ** 2",
            "gradients = tape.gradient(loss_value, [w])",
            "opt.apply_gradients(zip(gradients, [w]))",
        ],
    ),
}

MORE = [
    (
        "FIT003",
        """
        import keras
        import numpy as np
        x_train, y_train = np.load("x.npy"), np.load("y.npy")
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
        model.compile(optimizer="adam", loss="mse")
        model.fit(x_train, y_train, validation_data=(x_train, y_train), validation_split=0.1)
        """,
        ["model.fit(x_train, y_train, validation_split=0.1)"],
    ),
    (
        "FIT205",
        """
        import keras
        (x, _), _ = keras.datasets.mnist.load_data()
        x = x.reshape(60000, 28, 28, 1) / 255
        model = keras.Sequential([keras.Input((28, 28, 1)), keras.layers.Flatten(), keras.layers.Dense(784)])
        model.compile(optimizer="adam", loss="mse")
        model.fit(x, x)
        """,
        ["x = x.reshape(60000, 28, 28, 1) / 255", "model.fit(x, x.reshape(-1, 784))"],
    ),
    (
        "FIT305",
        """
        import keras
        from keras import layers
        picture, words = keras.Input((1000,)), keras.Input((20,))
        features = layers.Dense(128)(picture)
        steps = layers.Embedding(100, 256)(words)
        model = keras.Model([picture, words], layers.LSTM(4)(layers.add([features, steps])))
        """,
        ["features = layers.Dense(256)(picture)"],
    ),
    (
        "FIT306",
        """
        import keras
        from keras.layers import Conv2D, MaxPooling2D
        model = keras.Sequential([
            keras.Input((24, 24, 3)), Conv2D(8, 3, 3), MaxPooling2D(),
            Conv2D(8, 3, 3), MaxPooling2D(2),
            Conv2D(8, 1, 2),
        ])
        """,
        [
            "keras.Input((24, 24, 3)), Conv2D(8, (3, 3)), MaxPooling2D(),",
            "Conv2D(8, (3, 3)), MaxPooling2D(2),",
            "Conv2D(8, 1, 2),",
        ],
    ),
    (
        "FIT311",
        """
        import keras
        import numpy as np
        from keras import layers
        critic = keras.Sequential([keras.Input((4,)), layers.Dense(1, activation="sigmoid")])
        critic.compile(loss="binary_crossentropy", optimizer="adam")
        painter = keras.Sequential([keras.Input((2,)), layers.Dense(4)])
        critic.trainable = False
        noise = keras.Input((2,))
        both = keras.Model(noise, critic(painter(noise)))
        both.compile(loss="binary_crossentropy", optimizer="adam")
        for step in range(1000):
            critic.train_on_batch(np.ones((8, 4)), np.ones((8, 1)))
            critic.train_on_batch(painter.predict(np.ones((8, 2))), np.zeros((8, 1)))
            both.train_on_batch(np.ones((8, 2)), np.ones((8, 1)))
        """,
        ["critic.trainable = True", "critic.trainable = False"],
    ),
    (
        "FIT407",
        """
        import numpy as np
        import tensorflow as tf
        class Sign(tf.keras.layers.Layer):
            def call(self, x):
                size = tf.shape(x)[-1]
                signs = np.eye(size)
                signs[-1, -1] = -1
                return x @ tf.constant(signs, "float32")
        x = tf.keras.Input((4,))
        model = tf.keras.Model(x, Sign()(x))
        """,
        ["size = x.shape[-1]"],
    ),
    (
        "FIT322",
        """
        import keras
        import numpy as np
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
        model.compile(loss="binary_crossentropy", optimizer="adam")
        stop = keras.callbacks.EarlyStopping(monitor="acc", patience=5)
        model.fit(np.ones((8, 4)), np.ones((8, 1)), callbacks=[stop])
        """,
        ['model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["acc"])'],
    ),
]
"""Other forms of a cause."""


def _with_tabs(program: str) -> str:
    return re.sub("^(    )+", lambda spaces: "\t" * (len(spaces[0]) // 4), program, flags=re.MULTILINE)


@pytest.mark.parametrize("id", sorted(REPAIRS))
def test_new_lines_go_with_the_tabs_of_the_file(id):
    program = _with_tabs(dedent(REPAIRS[id][0]).lstrip("\n"))
    for finding in examine_source(project_of(program), select=(id,)).findings:
        for fix in finding.fixes:
            compile(apply_edits(program, fix.edits), "after.py", "exec")


def test_a_line_that_is_moved_takes_its_comment_along():
    program = dedent("""
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        x = tf.ones((2, 3))
        pred = model(x)  # one pass
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(pred)
        grads = tape.gradient(loss, model.trainable_variables)
    """)
    (finding,) = examine_source(project_of(program), select=("FIT507",)).findings
    assert "    pred = model(x)  # one pass\n" in apply_edits(program, finding.fixes[0].edits)


def test_the_labels_that_are_named_like_the_features_are_given_too():
    program = dedent("""
        import numpy as np, tensorflow as tf
        x_val, y_val = np.ones((8, 3)), np.ones((8, 1))
        model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(np.ones((8, 3)), np.ones((8, 1)), validation_data=(x_val))
    """)
    (finding,) = examine_source(project_of(program), select=("FIT712",)).findings
    assert "validation_data=(x_val, y_val))" in apply_edits(program, finding.fixes[0].edits)


@pytest.mark.parametrize(
    ("id", "program", "lines"), [*((id, *repair) for id, repair in sorted(REPAIRS.items())), *MORE]
)
def test_the_edit_is_what_a_person_would_write(id, program, lines):
    before = dedent(program).lstrip("\n")
    finding = examine_source(project_of(before), select=(id,)).findings[0]
    fix = next(fix for fix in finding.fixes if fix.edits)
    after = apply_edits(before, fix.edits)
    compile(after, "after.py", "exec")
    written = [line.strip() for line in after.splitlines()]
    assert [line for line in lines if line not in written] == []
    again = examine_source(project_of(after), select=(id,)).findings
    assert not again
