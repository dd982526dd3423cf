"""Which expressions of traced functions are tensors; what is not sure is not one."""

from __future__ import annotations

import ast
import re
import textwrap

import pytest

from fitdoctor.source.module import Module
from fitdoctor.source.read import source_from_text

HEAD = "import numpy as np\nimport tensorflow as tf\nfrom tensorflow import keras\nfrom keras import ops\n"


def read(text: str) -> Module:
    return Module(source_from_text(HEAD + textwrap.dedent(text), "train.py"))


def tensors(text: str) -> dict[str, bool]:
    """For every `is_(expression)` in the text: whether the expression is a tensor."""
    module = read(text)
    found = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "is_":
            found[module.segment(node.args[0])] = module.is_tensor(node.args[0])
    return found


def in_call(
    body: str, more: str = "", parameters: str = "self, x, training=None, context=None"
) -> dict[str, bool]:
    lines = textwrap.indent(textwrap.dedent(body), "        ")
    extra = textwrap.indent(textwrap.dedent(more), "    ")
    return tensors(f"class A(keras.layers.Layer):\n{extra}\n    def call({parameters}):\n{lines}\n")


TENSOR = """
x
x + 1
1 - x
-x
x > 0
x == 3
x[0]
x[:, 1:]
tf.shape(x)[0]
tf.reduce_mean(x)
tf.constant(1.0)
ops.mean(x)
keras.ops.exp(2.0)
keras.backend.sum(x)
keras.losses.mse(x, x)
keras.layers.Dense(3)(x)
abs(x)
sum([x, x])
[x, x][0]
(x, 3)[0]
{"a": x}["a"]
tf.split(x, 2)[0]
x if training else x + 1
tf.cond(True, lambda: x, lambda: x) * 2
sum([v for v in tf.unstack(x)])
np.float32(2) * x
"""

NOT_SURE = """
self
training
context
x.shape
x.shape[0]
x.shape[0] > 3
x.dtype
x.ndim
x.name
x.get_shape()
x.get_shape()[1]
len(x)
x is None
x is not None
not x
isinstance(x, list)
tf.is_tensor(x)
tf.executing_eagerly()
3
"text"
"%s" % x
f"{x}"
[x, x]
(x, 3)
(x, 3)[1]
tf.split(x, 2)
np.mean(x)
float(x)
x.numpy()
x == None
unknown
unknown(x)
self.units
self.units * 2
self.unknown(x)
tf.float32
tf.TensorShape([1])
ops.shape(x)
range(3)
x if training else 3
lambda: x
keras.backend.epsilon()
keras.backend.int_shape(x)
tf.data.Dataset.range(3)
"""


@pytest.mark.parametrize("expression", TENSOR.split("\n")[1:-1])
def test_tensors(expression: str) -> None:
    assert in_call(f"is_({expression})", "def __init__(self, units): self.units = units") == {
        expression: True
    }


@pytest.mark.parametrize("expression", NOT_SURE.split("\n")[1:-1])
def test_what_is_not_surely_a_tensor(expression: str) -> None:
    assert in_call(f"is_({expression})", "def __init__(self, units): self.units = units") == {
        expression: False
    }


def test_nothing_is_symbolic_outside_of_traced_functions() -> None:
    assert tensors("x = tf.constant(1)\nis_(x)\ndef f(x):\n    is_(x + 1)\n") == {"x": False, "x + 1": False}


def test_ways_that_meet_must_agree() -> None:
    found = in_call(
        """
        if training:
            a = x
            b = x
        else:
            a = 3
            b = x + 1
        is_(a)
        is_(b)
        if context is None:
            c = 1
            raise ValueError
        else:
            c = x
        is_(c)
        try:
            d = x
        except ValueError:
            d = None
        is_(d)
        """
    )
    assert found == {"a": False, "b": True, "c": True, "d": False}


def test_loops_are_run_until_they_agree() -> None:
    found = in_call(
        """
        a = x
        b = x
        c = 0
        d = x
        for i in range(3):
            is_(i)
            is_(a)
            is_(b + 0)
            b = b * 2
            a = 3
            c = c + x
            if i == 2:
                d = 1
                continue
            d = x
        is_(b)
        is_(c)
        is_(d)
        for j in tf.range(3):
            is_(j)
        """
    )
    assert found == {"i": False, "a": False, "b + 0": True, "b": True, "c": False, "d": False, "j": True}


def test_layers_variables_and_lists_of_layers() -> None:
    found = in_call(
        """
        is_(self.dense(x))
        is_(self.dense([3.0]))
        is_(self.dense())
        is_(self.w)
        is_(self.w * 2)
        is_(self.v[0])
        y = x
        for layer in self.blocks:
            y = layer(y)
        is_(y)
        z = x
        for layer in self.more:
            z = layer(z)
        is_(z)
        is_(self.rate * 2)
        self.kept = x
        is_(self.kept)
        """,
        """
        def __init__(self, rate):
            self.dense = keras.layers.Dense(3)
            self.w = self.add_weight(shape=(3,))
            self.v = tf.Variable([1.0])
            self.blocks = [keras.layers.Dense(3) for _ in range(3)]
            self.more = []
            for _ in range(3):
                self.more.append(keras.layers.Dense(3))
            self.rate = rate
        """,
    )
    assert found == {
        "self.dense(x)": True,
        "self.dense([3.0])": True,
        "self.dense()": False,
        "self.w": False,
        "self.w * 2": True,
        "self.v[0]": True,
        "y": True,
        "z": True,
        "self.rate * 2": False,
        "self.kept": True,
    }


def test_inputs_that_are_structures() -> None:
    found = in_call(
        """
        is_(inputs)
        a, b = inputs
        is_(a)
        is_(inputs["image"])
        for value in inputs.values():
            is_(value)
        for name, item in inputs.items():
            is_(name)
            is_(item)
        """,
        parameters="self, inputs",
    )
    assert found == {
        "inputs": False,
        "a": True,
        'inputs["image"]': True,
        "value": True,
        "name": False,
        "item": True,
    }


def test_further_arguments_of_call_may_be_flags() -> None:
    found = in_call("is_(x); is_(mode); is_(key)", parameters="self, x, mode, key")
    assert found == {"x": True, "mode": False, "key": True}


def test_train_step() -> None:
    found = tensors(
        """
        class A(keras.Model):
            def __init__(self, encoder):
                super().__init__()
                self.encoder = encoder
            def train_step(self, data):
                is_(data)
                x, y = data
                with tf.GradientTape() as tape:
                    prediction = self(x, training=True)
                    z_mean, z = self.encoder(x)
                    loss = self.compute_loss(x=x, y=y, y_pred=prediction)
                is_(x)
                is_(prediction)
                is_(z)
                is_(loss)
                is_(tape)
                _, labels, weights = keras.utils.unpack_x_y_sample_weight(data)
                is_(labels)
                is_(weights)
                if isinstance(data, tuple):
                    data = data[0]
                is_(self.encoder(data))
        """
    )
    assert found == {
        "data": False,
        "x": True,
        "prediction": True,
        "z": True,
        "loss": True,
        "tape": False,
        "labels": True,
        "weights": False,
        "self.encoder(data)": True,
    }


def test_parameters_by_the_way_of_tracing() -> None:
    found = tensors(
        """
        def loss(y_true, y_pred, alpha=0.1):
            is_(y_true); is_(y_pred); is_(alpha)
        class M(keras.metrics.Metric):
            def update_state(self, t, p, sample_weight=None):
                is_(t); is_(p); is_(sample_weight)
        @tf.function
        def step(images, learning_rate, n: int):
            is_(images); is_(learning_rate); is_(n)
        @tf.function(input_signature=[tf.TensorSpec([])])
        def signed(value):
            is_(value)
        def load(path, label): is_(path); is_(label)
        tf.data.Dataset.list_files("x").map(load)
        tf.data.Dataset.range(9).window(3).flat_map(lambda w: is_(w) or w.batch(3))
        model.compile(loss=loss)
        """
    )
    assert found == {
        "y_true": True,
        "y_pred": True,
        "alpha": False,
        "t": True,
        "p": True,
        "sample_weight": False,
        "images": True,
        "learning_rate": False,
        "n": False,
        "value": True,
        "path": True,
        "label": True,
        "w": False,
    }


def test_objects_that_keras_calls_with_one_tensor() -> None:
    found = tensors(
        """
        class S(keras.optimizers.schedules.LearningRateSchedule):
            def __call__(self, step): is_(step)
        class R(keras.regularizers.Regularizer):
            def __call__(self, w): is_(w)
        class Plain:
            def __call__(self, other): is_(other)
        """
    )
    assert found == {"step": True, "w": True, "other": False}


HELPERS = """
class A(keras.layers.Layer):
    def call(self, x):
        both = pair(x)
        is_(both[0])
        is_(both[1])
        is_(scale(x, 3))
        other(x)
        other(3)
        def inner(v):
            is_(v); is_(x * 1)
            return v * 2
        is_(inner(x))
        return x
def pair(x):
    is_(x)
    return x, 3
def scale(value, factor):
    is_(value); is_(factor)
    return value * factor
def other(sometimes):
    is_(sometimes)
"""

HELPERS_EXPECTED = {
    "both[0]": True,
    "both[1]": False,
    "scale(x, 3)": True,
    "v": True,
    "x * 1": True,
    "inner(x)": True,
    "x": True,
    "value": True,
    "factor": False,
    "sometimes": False,
}


def test_tensors_go_through_calls() -> None:
    assert tensors(HELPERS) == HELPERS_EXPECTED


def test_the_answer_does_not_depend_on_what_was_asked_first() -> None:
    for wanted in HELPERS_EXPECTED:
        module = read(HELPERS)
        calls = [
            node
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "is_"
        ]
        node = next(call for call in calls if module.segment(call.args[0]) == wanted)
        assert module.is_tensor(node.args[0]) is HELPERS_EXPECTED[wanted], wanted


def test_nothing_is_symbolic_where_the_program_asks_for_eager_execution() -> None:
    assert in_call("if tf.executing_eagerly():\n    is_(x)\nelse:\n    is_(x + 1)") == {
        "x": False,
        "x + 1": False,
    }
    assert in_call("if isinstance(x, np.ndarray):\n    is_(x * 2)") == {"x * 2": False}
    assert in_call("if hasattr(x, 'numpy'):\n    is_(x[0])") == {"x[0]": False}
    assert in_call("y = is_(x - 1) if hasattr(x, 'numpy') else 0") == {"x - 1": False}
    assert in_call("hasattr(x, 'numpy') and is_(x - 2)") == {"x - 2": False}
    assert in_call("is_(x - 3) and hasattr(x, 'numpy')") == {"x - 3": True}
    text = "class A(keras.layers.Layer):\n    def call(self, x):\n        is_(x)\nmodel.compile(run_eagerly={})\n"
    assert tensors(text.format("True")) == {"x": False}
    assert tensors(text.format("False")) == {"x": True}


def test_functions_that_call_each_other_come_to_an_end() -> None:
    found = tensors(
        """
        def even(x): return odd(x - 1)
        def odd(x): return even(x - 1)
        class A(keras.layers.Layer):
            def call(self, x):
                is_(even(x))
        """
    )
    assert found == {"even(x)": False}


def test_deep_expressions_do_not_crash() -> None:
    text = (
        "class A(keras.layers.Layer):\n    def call(self, x):\n        is_(" + " + ".join(["x"] * 800) + ")\n"
    )
    assert set(tensors(text).values()) <= {True, False}


def test_long_chains_of_elif_do_not_crash() -> None:
    chain = "".join(f"        elif x.shape[0] == {number}: pass\n" for number in range(600))
    text = (
        f"class A(keras.layers.Layer):\n    def call(self, x):\n        if 0: pass\n{chain}        is_(x)\n"
    )
    assert set(tensors(text)) == {"x"}


def test_nested_loops_stay_cheap() -> None:
    body = "".join("    " * depth + f"for i{depth} in x:\n" for depth in range(2, 16))
    text = f"class A(keras.layers.Layer):\n    def call(self, x):\n{body}{'    ' * 16}is_(x + 1)\n"
    assert re.search("is_", text)
    tensors(text)
