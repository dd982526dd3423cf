"""Branches of Python's that come out alike wherever they are traced, and datasets that are not those of tf.data."""

from __future__ import annotations

import ast
import textwrap

import pytest

from fitdoctor.source.datasets import is_dataset
from fitdoctor.source.traced.decided_branches import never_runs
from tests.source.test_tensors import read


def passed_by(text: str) -> dict[str, bool]:
    """For every `here("name")` in the text: whether no traced call comes to it."""
    module = read(textwrap.dedent(text))
    found = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "here":
            info = module.function_of(node)
            assert info is not None and isinstance(node.args[0], ast.Constant)
            found[node.args[0].value] = never_runs(info, node)
    return found


def test_flags_that_nothing_sets() -> None:
    found = passed_by(
        """
        import tensorflow as tf
        DEBUG = False

        class Net(tf.keras.layers.Layer):
            def __init__(self, log=False, mode="fast", depth=1):
                super().__init__()
                self.log, self.mode = log, mode
                self.depth = depth
            def call(self, x, training=False, verbose=False, context=None):
                if DEBUG: here("global")
                if self.log: here("attribute")
                if self.mode == "slow": here("text")
                if self.depth > 1: here("number")
                if training: here("training")
                if verbose: here("default")
                if context: here("context")
                if tf.executing_eagerly(): here("eager")
                if not self.log: return x
                here("behind")

        Net()
        """
    )
    assert found == {
        "global": True,
        "attribute": True,
        "text": True,
        "number": False,
        "training": False,
        "default": True,
        "context": False,
        "eager": True,
        "behind": True,
    }


def test_flags_that_calls_set() -> None:
    found = passed_by(
        """
        import tensorflow as tf
        def power(x, use_tf=False, again=True):
            if not use_tf: here("numpy")
            if again: here("both")
            return x
        @tf.function
        def step(x):
            return power(x, use_tf=True) + power(x, True, again=False)
        power([1.0])
        """
    )
    assert found == {"numpy": True, "both": False}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("tf.data.Dataset.range(3)", True),
        ("unknown().map(f, num_parallel_calls=2)", True),
        ("unknown().map(f, batched=True)", False),
        ("load_dataset('imdb').shard(4, 0)", False),
    ],
)
def test_datasets_of_other_libraries(made: str, expected: bool) -> None:
    module = read(
        f"import tensorflow as tf\nfrom datasets import load_dataset\nds = {made}\nds = ds.shard(2, 1)\nds\n"
    )
    last = module.tree.body[-1]
    assert isinstance(last, ast.Expr)
    assert is_dataset(module, last.value) is expected
