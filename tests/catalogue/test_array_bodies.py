"""Array code that is rewritten for tensors computes what it computed with NumPy."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import numpy as np
import pytest

from fitdoctor.catalogue.knowledge.tracing.array_bodies import as_tensor_code
from fitdoctor.edits import apply_edits
from fitdoctor.source.traced.symbolic import own_nodes
from tests.catalogue.input_facts import project_of

BODIES = {
    "methods_and_sizes": """
        errors = np.abs(np.asarray(y_true) - np.asarray(y_pred))
        hits = np.where(errors < 0.5, 1.0, 0.0)
        return hits.sum() / hits.size
    """,
    "comparisons_are_counted": "return np.mean(np.abs(y_true - y_pred) < 0.5)",
    "counted_by_method": "return ((y_true - y_pred) > 0).sum() / len(y_true)",
    "boolean_names": """
        near = np.less(np.square(y_true - y_pred), 0.3)
        return np.sum(near) * 0.5
    """,
    "chained_methods": "return np.abs(y_true - y_pred).mean(axis=1).max()",
    "casts": """
        right = np.round(y_pred).astype(int) == np.round(y_true).astype(int)
        return right.astype("float32").mean()
    """,
    "argmax_of_rows": "return np.mean(np.argmax(y_true, axis=-1) == np.argmax(y_pred, axis=-1))",
    "positions_beside_labels": "return np.mean(np.any(np.argsort(y_pred, axis=-1)[:, -2:] == y_true[:, :1], axis=-1))",
    "argmax_of_everything": "return np.argmax(np.abs(y_true - y_pred))",
    "sums_along": "return np.cumsum(np.mean(y_true * y_pred, axis=0)).max()",
    "spread": "return np.std(y_true - y_pred) + np.var(y_pred, axis=0).sum()",
    "limits": "return np.mean(np.clip(y_pred, 0.1, 0.9) * np.log1p(np.square(y_true)))",
    "joined": "return np.concatenate([y_true, y_pred]).mean() + np.stack([y_true, y_pred], axis=1).max()",
    "norms": "return np.linalg.norm(y_true - y_pred, axis=1).mean()",
    "flattened": "return np.sum(y_true.flatten() * y_pred.ravel()) / (np.sum(y_true) + np.sum(y_pred) + 1e-7)",
    "products": "return np.sum(np.matmul(y_true, y_pred.T))",
}


def rewritten(body: str, imports: str) -> str:
    text = f"{imports}import numpy as np\n\n\ndef metric(y_true, y_pred):\n{indent(dedent(body).strip(), '    ')}\n"
    text += "\n\nmodel = keras.Sequential()\nmodel.compile('adam', 'mse', metrics=[metric])\n"
    module = project_of(text).modules[0]
    function = next(each for each in module.functions if each.name == "metric")
    found = as_tensor_code(module, own_nodes(function))
    assert found is not None
    return text, apply_edits(text, found.edits)


def metric_of(text: str):
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if not isinstance(node, (ast.Assign, ast.Expr))]
    names: dict = {}
    exec(compile(tree, "metric", "exec"), names)
    return names["metric"]


@pytest.mark.parametrize("imports", ["import keras\n", "import keras\nimport tensorflow as tf\n"])
@pytest.mark.parametrize("name", BODIES)
def test_rewritten_body_computes_the_same(name, imports):
    import tensorflow as tf

    old, new = rewritten(BODIES[name], imports)
    rng = np.random.default_rng(7)
    y_true, y_pred = rng.random((6, 4), dtype="float32"), rng.random((6, 4), dtype="float32")
    expected = metric_of(old)(y_true, y_pred)
    traced = tf.function(metric_of(new), autograph=False)
    assert np.allclose(traced(tf.constant(y_true), tf.constant(y_pred)), expected, rtol=1e-4), new


def test_code_without_an_equivalent_is_left_alone():
    text = "import keras\nimport numpy as np\n\n\ndef metric(y_true, y_pred):\n"
    text += "    return np.percentile(np.abs(y_true - y_pred), 95)\n\n\n"
    text += "model = keras.Sequential()\nmodel.compile('adam', 'mse', metrics=[metric])\n"
    module = project_of(text).modules[0]
    function = next(each for each in module.functions if each.name == "metric")
    assert as_tensor_code(module, own_nodes(function)) is None
