"""Which functions run while TensorFlow traces."""

from __future__ import annotations

import textwrap

import pytest

from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.read import source_from_cells, source_from_text

HEAD = "import tensorflow as tf\nfrom tensorflow import keras\n"


def read(text: str, keras: int = 3) -> Module:
    return Module(source_from_text(HEAD + textwrap.dedent(text), "train.py", keras))


def traced(module: Module) -> dict[str, tuple[str, bool]]:
    """Qualified name to how it is traced and whether AutoGraph rewrites it."""
    return {
        info.qualname: (info.traced.how, info.traced.autograph)
        for info in module.functions
        if info.traced is not None
    }


def test_methods_that_keras_calls() -> None:
    module = read(
        """
        class A(keras.layers.Layer):
            def __init__(self): ...
            def build(self, shape): ...
            def call(self, x): ...
            def get_config(self): ...
        class B(keras.Model):
            def call(self, x): ...
            def train_step(self, data): ...
            def test_step(self, data): ...
            def predict_step(self, data): ...
            def compute_loss(self, x, y, y_pred): ...
        class C(keras.losses.Loss):
            def call(self, y_true, y_pred): ...
        class D(keras.metrics.Metric):
            def update_state(self, y_true, y_pred, sample_weight=None): ...
            def result(self): ...
            def reset_state(self): ...
        class E(keras.callbacks.Callback):
            def on_epoch_end(self, epoch, logs=None): ...
        class F:
            def call(self, x): ...
        """
    )
    assert traced(module) == {
        "A.call": ("call", False),
        "B.call": ("call", False),
        "B.train_step": ("train_step", False),
        "B.test_step": ("test_step", False),
        "B.predict_step": ("predict_step", False),
        "B.compute_loss": ("loss", False),
        "C.call": ("loss", False),
        "D.update_state": ("metric", False),
        "D.result": ("metric", False),
    }


def test_keras_2_converts_what_keras_3_does_not() -> None:
    text = "class A(keras.layers.Layer):\n    def call(self, x): ...\n"
    assert traced(read(text, keras=2)) == {"A.call": ("call", True)}
    assert traced(read(text, keras=3)) == {"A.call": ("call", False)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@tf.function\ndef f(x): ...", {"f": ("tf.function", True)}),
        ("@tf.function(jit_compile=True)\ndef f(x): ...", {"f": ("tf.function", True)}),
        ("@tf.function(autograph=False)\ndef f(x): ...", {"f": ("tf.function", False)}),
        ("def f(x): ...\ng = tf.function(f)", {"f": ("tf.function", True)}),
        ("def f(x): ...\ng = tf.function(jit_compile=True)(f)", {"f": ("tf.function", True)}),
        ("g = tf.function(lambda x: x)", {"<lambda>": ("tf.function", True)}),
        (
            "@tf.function\n@tf.autograph.experimental.do_not_convert\ndef f(x): ...",
            {"f": ("tf.function", False)},
        ),
        (
            "class A:\n    def step(self, x): ...\n    def go(self):\n        self.f = tf.function(self.step)",
            {"A.step": ("tf.function", True)},
        ),
        (
            "class A(keras.Model):\n    @tf.function\n    def call(self, x): ...",
            {"A.call": ("call", True)},
        ),
    ],
)
def test_tf_function(text: str, expected: dict[str, tuple[str, bool]]) -> None:
    assert traced(read(text)) == expected


def test_losses_and_metrics_given_to_compile() -> None:
    module = read(
        """
        import re
        def loss_a(y, p): ...
        def loss_b(y, p): ...
        def metric(y, p): ...
        def weighted(alpha):
            def inner(y, p): ...
            return inner
        def unused(y, p): ...
        chosen = weighted(3)
        other = loss_a
        model.compile("adam", loss={"a": loss_a, "b": loss_b}, metrics=[metric, "accuracy", [weighted(2)]])
        again.compile("adam", lambda y, p: y, metrics={"x": chosen})
        pattern = re.compile(unused)
        """
    )
    assert traced(module) == {
        "loss_a": ("loss", False),
        "loss_b": ("loss", False),
        "metric": ("metric", False),
        "weighted.inner": ("metric", False),
        "<lambda>": ("loss", False),
    }


def test_a_function_that_comes_with_others_out_of_a_factory() -> None:
    module = read(
        """
        def make():
            kept = {}
            def loss(y, p): ...
            return loss, kept
        loss, kept = make()
        model.compile(loss=loss)
        """
    )
    assert traced(module) == {"make.loss": ("loss", False)}


def test_the_reason_is_the_argument_that_hands_it_over() -> None:
    module = read("def f(y, p): ...\nmodel.compile(loss=f)\n")
    tracing = module.functions[0].traced
    assert tracing is not None
    assert (tracing.because.line, tracing.because.column) == (4, 20)


def test_functions_of_datasets_but_not_of_frames_and_pools() -> None:
    module = read(
        """
        def a(x): ...
        def b(x): ...
        def c(x): ...
        def d(x): ...
        def e(x): ...
        def f(x): ...
        def g(x): ...
        STEPS = [g]
        ds = tf.data.Dataset.from_tensor_slices(x)
        ds = ds.map(a).filter(b)
        for each in STEPS:
            ds = ds.map(each)
        def prepare(pipeline):
            return pipeline.map(c, num_parallel_calls=tf.data.AUTOTUNE)
        def prepare_more(pipeline):
            pipeline = pipeline.map(d)
            return pipeline.batch(32).prefetch(1)
        frame["x"].map(e)
        pool.map(f, values)
        list(map(f, values))
        train, test = tf.keras.utils.image_dataset_from_directory("x", subset="both")
        train.map(lambda x, y: (x, y))
        """
    )
    assert traced(module) == {
        "a": ("map", True),
        "b": ("map", True),
        "c": ("map", True),
        "d": ("map", True),
        "g": ("map", True),
        "<lambda>": ("map", True),
    }


def test_what_traced_functions_call_is_traced() -> None:
    module = read(
        """
        def deep(x): return x
        def helper(x): return deep(x)
        def branch(): ...
        def eager(x): ...
        def unused(x): ...
        class Part:
            def compute(self, x): ...
        class A(keras.layers.Layer):
            def __init__(self):
                super().__init__()
                self.part = Part()
                unused(1)
            def call(self, x):
                self.mine(x)
                self.part.compute(x)
                tf.cond(x > 0, branch, lambda: x)
                tf.py_function(eager, [x], tf.float32)
                return helper(x)
            def mine(self, x):
                return self.mine(x)
        """
    )
    assert set(traced(module)) == {
        "deep",
        "helper",
        "branch",
        "Part.compute",
        "A.call",
        "A.mine",
        "A.call.<lambda>",
    }
    reached = next(info for info in module.functions if info.name == "deep").traced
    assert reached is not None
    assert not reached.direct
    assert reached.how == "call"


def test_a_way_without_autograph_is_enough() -> None:
    module = read(
        """
        def shared(x): ...
        def own(x): ...
        @tf.function
        def f(x):
            own(x)
            return shared(x)
        class A(keras.layers.Layer):
            def call(self, x): return f(shared(x))
        """
    )
    assert traced(module) == {
        "shared": ("call", False),
        "own": ("tf.function", True),
        "f": ("tf.function", True),
        "A.call": ("call", False),
    }


def test_replica_functions_of_a_strategy() -> None:
    module = read(
        """
        def replica(x): ...
        @tf.function
        def step(x):
            strategy.run(replica, args=(x,))
        """
    )
    assert traced(module) == {"replica": ("tf.function", True), "step": ("tf.function", True)}


def test_functions_of_layers() -> None:
    module = read(
        """
        def scale(x): ...
        def swish(x): ...
        keras.layers.Lambda(scale)
        keras.layers.Lambda(function=lambda x: x)
        keras.layers.Dense(3, activation=swish)
        """
    )
    assert traced(module) == {
        "scale": ("lambda layer", False),
        "<lambda>": ("lambda layer", False),
        "swish": ("call", False),
    }


@pytest.mark.parametrize(
    ("text", "eager"),
    [
        ("model.compile(run_eagerly=True)", True),
        ("model.compile(run_eagerly=args.debug)", True),
        ("model.compile(run_eagerly=False)\nmodel.fit(x)", False),
        ("model.compile()\nmodel.run_eagerly = True", True),
        ("tf.config.run_functions_eagerly(True)", True),
        ("tf.config.run_functions_eagerly(False)", False),
        ("with tf.GradientTape() as tape:\n    layer(x)", True),
        ("with tf.GradientTape() as tape:\n    layer(x)\nmodel.fit(x)", False),
        ("@tf.function\ndef step():\n    with tf.GradientTape() as tape:\n        layer(x)", False),
        ("", False),
    ],
)
def test_eager_programs_are_known(text: str, eager: bool) -> None:
    module = read("class A(keras.layers.Layer):\n    def call(self, x): ...\n" + text)
    tracing = next(info for info in module.functions if info.name == "call").traced
    assert tracing is not None
    assert tracing.eager is eager


def test_datasets_trace_whatever_is_asked_of_functions() -> None:
    module = read("tf.config.run_functions_eagerly(True)\ntf.data.Dataset.range(3).map(lambda i: i)\n")
    tracing = module.functions[0].traced
    assert tracing is not None
    assert not tracing.eager


def test_a_decorator_may_let_the_graph_call_python() -> None:
    module = read(
        """
        def in_python(f):
            def wrapped(y_true, y_pred):
                return tf.py_function(f, [y_true, y_pred], tf.float32)
            return wrapped
        def logged(f):
            return f
        @in_python
        def f1(y_true, y_pred): ...
        @logged
        def recall(y_true, y_pred): ...
        model.compile("adam", "mse", metrics=[f1, recall])
        """
    )
    assert set(traced(module)) == {"recall"}


@pytest.mark.parametrize(
    ("cell", "eager"),
    [
        ("model = Net()\nprint(model(tf.ones((1, 4))))", True),
        ("model = Net()\nmodel.compile('adam', 'mse')", False),
        ("x = keras.Input((4,))\nmodel = keras.Model(x, Net()(x))", False),
    ],
)
def test_a_notebook_that_only_calls_its_model_on_values_traces_nothing(cell: str, eager: bool) -> None:
    head = HEAD + "class Net(keras.Model):\n    def call(self, x):\n        return x"
    module = Module(source_from_cells([head, cell], "study.ipynb"))
    (call,) = [info for info in module.functions if info.name == "call"]
    assert call.traced is not None and call.traced.eager is eager


@pytest.mark.parametrize(("imports", "eager"), [("", True), ("import layers\n", False)])
def test_scripts_that_share_only_a_helper_are_separate_programs(imports: str, eager: bool) -> None:
    texts = {
        "helper.py": "def show(x): ...",
        "layers.py": HEAD + "class L(keras.layers.Layer):\n    def call(self, x): ...",
        "loop.py": HEAD + "import helper, layers\nwith tf.GradientTape() as tape:\n    y = layers.L()(x)",
        "other.py": HEAD + imports + "import helper\nmodel = make()\nmodel.fit(x, y)",
    }
    project = Project([Module(source_from_text(text, path)) for path, text in texts.items()])
    (call,) = [info for module in project.modules for info in module.functions if info.name == "call"]
    assert call.traced is not None and call.traced.eager is eager
