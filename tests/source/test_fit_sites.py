"""The facts that the source alone tells of models and calls of fit."""

from __future__ import annotations

import functools
import textwrap
from pathlib import Path
from typing import Any

import pytest

from fitdoctor.facts import ArrayFacts, Unknown
from fitdoctor.source.fit_sites import FitSite, Followed, ModelSite, fit_sites, follow, model_sites
from fitdoctor.source.module import Module
from fitdoctor.source.read import read_source, source_from_text

IMPORTS = """
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
x = np.random.rand(100, 8)
y = np.random.randint(0, 3, 100)
"""
CORPUS = Path(__file__).parents[1] / "corpus"


def module(text: str, imports: str = IMPORTS) -> Module:
    return Module(source_from_text(imports + textwrap.dedent(text), "train.py"))


def site(text: str, imports: str = IMPORTS) -> FitSite:
    (found,) = [one for one in fit_sites(module(text, imports)) if one.fit.method == "fit"]
    return found


def outputs(found: FitSite) -> list[Any]:
    assert not isinstance(found.model.outputs, Unknown)
    return [spec.shape for spec in found.model.outputs]


# --- models -----------------------------------------------------------------------------------------------------------


def test_a_sequential_model_is_known_layer_by_layer() -> None:
    found = site(
        """
        model = keras.Sequential([keras.Input((8,), name="table"), layers.Dense(16, activation="relu"),
                                  layers.Dropout(0.5), layers.Dense(3, activation="softmax", name="head")])
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        model.fit(x, y, epochs=5, batch_size=10, validation_split=0.2)
        """
    )
    model = found.model
    assert (model.kind, model.built, model.compiled, model.optimizer) == ("sequential", True, True, "Adam")
    assert [(spec.shape, spec.name) for spec in model.inputs or ()] == [((None, 8), "table")]
    assert outputs(found) == [(None, 3)]
    assert [(layer.class_name, layer.parameters) for layer in model.layers] == [
        ("Dense", 144),
        ("Dropout", 0),
        ("Dense", 51),
    ]
    assert (model.layers[2].name, model.layers[2].setting("activation")) == ("head", "softmax")
    assert model.layers[0].setting("units") == "16"
    assert model.trainable_parameters == 195
    assert [(loss.name, loss.kind, loss.from_logits) for loss in model.losses] == [
        ("sparse_categorical_crossentropy", "builtin", False)
    ]
    assert [metric.name for metric in model.metrics] == ["accuracy"]
    fit = found.fit
    assert (fit.epochs, fit.batch_size, fit.validation_split, fit.has_validation) == (5, 10, 0.2, True)
    assert fit.given == ("x", "y", "epochs", "batch_size", "validation_split")
    (data,) = found.data
    assert (data.form, data.samples, data.batch_size, data.batches) == ("arrays", 100, 10, 8)
    assert (data.x[0].shape, data.x[0].dtype, data.y[0].shape) == ((100, 8), "float64", (100,))


def test_every_fact_says_where_it_comes_from() -> None:
    found = site(
        """
        model = keras.Sequential()
        model.add(keras.Input(shape=(8,)))
        model.add(layers.Dense(3))
        model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        features = x.astype("float32")
        model.fit(features, y)
        """
    )
    texts = {
        "model": found.model.code,
        "input": found.model.input_code,
        "layer": found.model.layers[0].code,
        "compile": found.model.compile_code,
        "loss": found.model.losses[0].code,
        "x": found.data[0].x[0].code,
        "use": found.data[0].x[0].use,
        "fit": found.fit.code,
    }
    assert {name: code.text for name, code in texts.items() if not isinstance(code, Unknown)} == {
        "model": "keras.Sequential()",
        "input": "keras.Input(shape=(8,))",
        "layer": "layers.Dense(3)",
        "compile": 'model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))',
        "loss": "keras.losses.SparseCategoricalCrossentropy(from_logits=True)",
        "x": 'x.astype("float32")',
        "use": "features",
        "fit": "model.fit(features, y)",
    }
    assert found.model.losses[0].from_logits is True


@pytest.mark.parametrize(
    "first",
    [
        "layers.Dense(4, input_shape=(8,))",
        "layers.Dense(4, input_dim=8)",
        "layers.InputLayer(shape=(8,)), layers.Dense(4)",
    ],
)
def test_older_ways_to_fix_the_input_are_understood(first: str) -> None:
    found = site(f"model = keras.Sequential([{first}])\nmodel.compile('sgd', 'mse')\nmodel.fit(x, y)")
    assert [spec.shape for spec in found.model.inputs or ()] == [(None, 8)]
    assert outputs(found) == [(None, 4)]


def test_a_model_without_an_input_is_followed_on_the_data() -> None:
    found = site(
        "model = keras.Sequential([layers.Dense(4), layers.Dense(2)])\nmodel.compile('sgd', 'mse')\nmodel.fit(x, y)"
    )
    assert isinstance(found.model.inputs, Unknown)
    assert found.model.built is False
    assert outputs(found) == [(None, 2)]
    assert found.model.layers[0].input_shapes == ((None, 8),)


def test_a_functional_model_with_branches_and_names() -> None:
    found = site(
        """
        left = keras.Input((8,), name="left")
        right = keras.Input((20, 3), name="right")
        a = layers.Dense(16)(left)
        b = layers.LSTM(16)(right)
        merged = layers.concatenate([a, b])
        kind = layers.Dense(3, activation="softmax", name="kind")(merged)
        size = layers.Dense(1, name="size")(merged + 1.0)
        model = keras.Model([left, right], [kind, size], name="both")
        model.compile("adam", loss={"kind": "sparse_categorical_crossentropy", "size": "mse"})
        series = np.zeros((100, 20, 3))
        model.fit({"left": x, "right": series}, {"kind": y, "size": x[:, 0]}, epochs=2)
        """
    )
    model = found.model
    assert (model.name, model.kind, model.input_structure, model.output_structure) == (
        "both",
        "functional",
        "list",
        "list",
    )
    assert [(spec.shape, spec.name) for spec in model.inputs or ()] == [
        ((None, 8), "left"),
        ((None, 20, 3), "right"),
    ]
    assert model.output_names == ("kind", "size")
    assert outputs(found) == [(None, 3), (None, 1)]
    assert (model.loss_structure, model.loss_keys) == ("dict", ("kind", "size"))
    assert [(loss.name, loss.output) for loss in model.losses] == [
        ("sparse_categorical_crossentropy", "kind"),
        ("mean_squared_error", "size"),
    ]
    (data,) = found.data
    assert (data.x_structure, data.y_structure) == ("dict", "dict")
    assert [(part.path, part.key, part.shape) for part in data.x] == [
        ("x['left']", "left", (100, 8)),
        ("x['right']", "right", (100, 20, 3)),
    ]


def test_a_subclassed_model_is_followed_through_call() -> None:
    found = site(
        """
        class Net(keras.Model):
            def __init__(self, units):
                super().__init__()
                self.hidden = layers.Dense(units, activation="relu")
                self.blocks = [layers.Dense(units) for _ in range(2)]
                self.head = layers.Dense(3)

            def call(self, inputs, training=False):
                h = self.hidden(inputs)
                for block in self.blocks:
                    h = tf.nn.relu(block(h)) + h
                return self.head(h)

        model = Net(32)
        model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        model.fit(x, y)
        """
    )
    assert (found.model.kind, found.model.class_name, found.model.overrides) == (
        "subclassed",
        "Net",
        ("call",),
    )
    assert outputs(found) == [(None, 3)]
    assert [layer.class_name for layer in found.model.layers] == ["Dense"] * 4


def test_models_come_out_of_functions_and_classes() -> None:
    found = fit_sites(
        module(
            """
            def build(units, classes=3):
                inputs = keras.Input((8,))
                h = inputs
                for size in units:
                    h = layers.Dense(size, activation="relu")(h)
                return keras.Model(inputs, layers.Dense(classes)(h))

            class Trainer:
                def __init__(self, epochs):
                    self.epochs = epochs
                    self.model = build([32, 16])
                    self.model.compile("adam", "mse")

                def run(self, x, y):
                    return self.model.fit(x, y, epochs=self.epochs)

            def main():
                Trainer(4).run(x, y)
                build([8], 5).fit(x, y)

            if __name__ == "__main__":
                main()
            """
        )
    )
    assert [outputs(one) for one in found] == [[(None, 3)], [(None, 5)]]
    assert [one.fit.epochs for one in found] == [4, 1]
    assert [one.model.compiled for one in found] == [True, False]


# --- caution ----------------------------------------------------------------------------------------------------------


def test_not_compiled_is_said_only_of_a_model_that_nothing_else_touched() -> None:
    plain = "model = keras.Sequential([keras.Input((8,)), layers.Dense(1)])\n"
    assert site(plain + "model.fit(x, y)").model.compiled is False
    touched = site("from project import prepare\n" + plain + "prepare(model)\nmodel.fit(x, y)").model
    assert touched.compiled is True
    assert [loss.kind for loss in touched.losses] == ["function"]
    held = site("from project import Trainer\n" + plain + "t = Trainer(model=model)\nmodel.fit(x, y)").model
    assert held.compiled is True


def test_a_model_that_differs_between_branches_is_not_guessed() -> None:
    text = """
    import os
    model = keras.Sequential([keras.Input((8,))])
    if os.environ.get("DEEP"):
        model.add(layers.Dense(64))
    model.add(layers.Dense(1))
    model.compile("adam", "mse")
    model.fit(x, y)
    """
    found = site(text)
    assert isinstance(found.model.outputs, Unknown)
    assert found.model.layers == ()


def test_layers_added_in_a_loop_of_unknown_length_are_not_guessed() -> None:
    text = """
    import sys
    model = keras.Sequential([keras.Input((8,))])
    for _ in range(int(sys.argv[1])):
        model.add(layers.Dense(64))
    model.compile("adam", "mse")
    model.fit(x, y)
    """
    assert isinstance(site(text).model.outputs, Unknown)


def test_data_from_unknown_code_is_unknown() -> None:
    text = """
    from project import load
    x, y = load()
    model = keras.Sequential([keras.Input((8,)), layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, y)
    """
    (data,) = site(text).data
    assert data.form == "other"
    assert isinstance(data.x[0].shape, Unknown)
    assert isinstance(data.samples, Unknown)


def test_a_sample_is_known_whole_or_not_at_all() -> None:
    text = """
    import pandas as pd
    table = pd.read_csv("table.csv").to_numpy()
    model = keras.Sequential([keras.Input((8,)), layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(table[:, :8], table[:, 8:])
    """
    (data,) = site(text).data
    assert isinstance(data.y[0].shape, Unknown)
    columns = site(text.replace("table[:, 8:]", "table[:, 8]")).data[0]
    assert columns.y[0].shape == (None,)


def test_a_clone_is_not_said_to_be_uncompiled() -> None:
    assert site(MODEL + "other = keras.models.clone_model(model)\nother.fit(x, y)").model.compiled is True


def test_unknown_steps_blur_what_depends_on_them() -> None:
    text = """
    import sys
    ds = tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(10)
    model = keras.Sequential([keras.Input((8,)), layers.Dense(3)])
    model.compile("adam", "mse")
    model.fit(ds, steps_per_epoch=int(sys.argv[1]))
    """
    (data,) = site(text).data
    assert isinstance(data.endless, Unknown)
    assert isinstance(data.batches, Unknown)


def test_callbacks_are_told_only_with_the_metrics_they_depend_on() -> None:
    base = "model = keras.Sequential([keras.Input((8,)), layers.Dense(1)])\n"
    stop = "keras.callbacks.EarlyStopping(monitor='val_accuracy', patience=3)"
    told = site(
        base + f"model.compile('adam', 'mse', metrics=['mae'])\nmodel.fit(x, y, callbacks=[{stop}])"
    ).fit
    assert told.callbacks[0].setting("monitor") == "val_accuracy"
    hidden = site(
        f"from project import METRICS\n{base}model.compile('adam', 'mse', metrics=METRICS)\n"
        f"model.fit(x, y, callbacks=[{stop}])"
    ).fit
    assert hidden.callbacks == ()
    partly = site(
        f"from project import Extra\n{base}model.compile('adam', 'mse')\nmodel.fit(x, y, callbacks=[{stop}, Extra()])"
    ).fit
    assert partly.callbacks == ()


def test_a_failure_that_the_program_expects_is_not_told() -> None:
    wrong = "model = keras.Sequential([keras.Input((8,)), layers.LSTM(4)])"
    assert [one for one in model_sites(module(wrong)) if one.failure] != []
    caught = f"try:\n    {wrong}\nexcept ValueError as error:\n    print(error)\n"
    assert [one for one in model_sites(module(caught)) if one.failure] == []
    raised = f"import pytest\nwith pytest.raises(ValueError):\n    {wrong}\n"
    assert [one for one in model_sites(module(raised)) if one.failure] == []


def test_a_file_without_models_is_left_alone() -> None:
    assert fit_sites(module("print('hello')", imports="")) == ()
    forest = "from sklearn.ensemble import RandomForestClassifier\nRandomForestClassifier().fit([[1]], [1])"
    assert fit_sites(module(forest, imports="")) == ()
    assert fit_sites(module("RandomForest().fit(x, y)\nunknown.fit(x, y)")) == ()


# --- data -------------------------------------------------------------------------------------------------------------

MODEL = "model = keras.Sequential([keras.Input((8,)), layers.Dense(3)])\nmodel.compile('adam', 'mse')\n"


def x_and_y(text: str) -> tuple[ArrayFacts, ArrayFacts]:
    (data,) = site(MODEL + text).data[:1]
    return data.x[0], data.y[0]


def test_lists_stay_lists() -> None:
    features, labels = x_and_y("a = [[1, 2], [3, 4], [5, 6]]\nmodel.fit(a, [0, 1, 1])")
    assert (features.container, features.shape, features.dtype) == ("list", (3, 2), "int")
    assert (labels.container, labels.shape) == ("list", (3,))
    samples = site(MODEL + "rows = [np.zeros(8) for _ in range(4)]\nmodel.fit(rows, y)").data[0]
    assert (samples.x_structure, [part.path for part in samples.x]) == (
        "list",
        ["x[0]", "x[1]", "x[2]", "x[3]"],
    )


def test_written_out_labels_have_complete_statistics() -> None:
    _, labels = x_and_y("model.fit(np.zeros((4, 8)), np.array([1, 2, 3, 3]))")
    statistics = labels.statistics
    assert not isinstance(statistics, Unknown)
    assert (statistics.complete, statistics.minimum, statistics.maximum, statistics.integral) == (
        True,
        1,
        3,
        True,
    )
    assert statistics.histogram == ((1.0, 1), (2.0, 1), (3.0, 2))


def test_one_hot_labels_say_so() -> None:
    _, labels = x_and_y("model.fit(x, keras.utils.to_categorical(y, 3))")
    assert labels.shape == (100, 3)
    assert labels.statistics.row_sums == (1.0, 1.0)  # type: ignore[union-attr]


def test_bundled_data_has_its_true_shapes() -> None:
    text = """
    (a, b), (c, d) = keras.datasets.mnist.load_data()
    a = a.reshape(-1, 784).astype("float32") / 255.0
    model.fit(a, b, validation_data=(c, d))
    """
    training, validation = site(MODEL + textwrap.dedent(text)).data
    assert (training.x[0].shape, training.x[0].dtype) == ((60000, 784), "float32")
    assert training.x[0].statistics.maximum == 1.0  # type: ignore[union-attr]
    assert (training.y[0].shape, training.y[0].statistics.maximum) == ((60000,), 9)  # type: ignore[union-attr]
    assert (validation.role, validation.x[0].path, validation.x[0].shape) == (
        "validation",
        "validation_data[0]",
        (10000, 28, 28),
    )


def test_lengths_that_differ_are_told() -> None:
    (data,) = site(MODEL + "model.fit(x, np.zeros(90))").data
    assert isinstance(data.samples, Unknown)
    assert "differ in length" in data.samples.reason
    assert (data.x[0].shape, data.y[0].shape) == ((100, 8), (90,))


def test_a_pipeline_is_told_step_by_step() -> None:
    text = """
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    ds = ds.shuffle(100).map(lambda a, b: (a * 2, tf.one_hot(b, 3)))
    model.fit(ds.batch(16), validation_data=ds)
    """
    training, validation = site(MODEL + textwrap.dedent(text)).data
    assert (training.form, training.batch_size, training.batches, training.endless) == (
        "dataset",
        16,
        7,
        False,
    )
    assert [step.operation for step in training.pipeline] == ["from_tensor_slices", "shuffle", "map", "batch"]
    assert training.pipeline[1].arguments == (("buffer_size", "100"),)
    assert [spec.shape for spec in training.pipeline[2].specs] == [(8,), (3,)]
    assert (training.x[0].shape, training.y[0].shape) == ((None, 8), (None, 3))
    assert (training.element, training.element_size) == ("tuple of 2", 2)
    assert isinstance(validation.batch_size, Unknown)
    assert (validation.x[0].shape, [step.operation for step in validation.pipeline][-1]) == ((8,), "map")


def test_a_generator_is_told_by_what_it_yields() -> None:
    text = """
    def batches(size):
        while True:
            rows = np.random.randint(0, len(x), size)
            yield x[rows], y[rows]

    model.fit(batches(20), steps_per_epoch=5)
    """
    (data,) = site(MODEL + textwrap.dedent(text)).data
    assert (data.form, data.endless, data.element) == ("generator", True, "tuple of 2")
    assert (data.x[0].shape, data.y[0].shape) == ((None, 8), (None,))


def test_class_weights_and_sample_weights() -> None:
    found = site(MODEL + "w = {0: 1.0, 1: 2.5}\nmodel.fit(x, y, class_weight=w, sample_weight=np.ones(100))")
    assert found.fit.class_weight is not None
    assert (found.fit.class_weight.keys, found.fit.class_weight.weights) == (("0", "1"), (1.0, 2.5))
    assert found.data[0].sample_weight[0].shape == (100,)


# --- compile ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "name", "kind", "logits"),
    [
        ("'mse'", "mean_squared_error", "builtin", None),
        ("'binary_crossentropy'", "binary_crossentropy", "builtin", False),
        ("keras.losses.BinaryCrossentropy()", "binary_crossentropy", "builtin", False),
        ("keras.losses.BinaryCrossentropy(True)", "binary_crossentropy", "builtin", True),
        (
            "keras.losses.CategoricalCrossentropy(from_logits=flag)",
            "categorical_crossentropy",
            "builtin",
            None,
        ),
        ("keras.losses.mean_absolute_error", "mean_absolute_error", "builtin", None),
        ("keras.losses.Huber(delta=2.0)", "huber", "builtin", None),
        ("my_loss", "my_loss", "function", None),
        ("lambda a, b: 0.0", "<lambda>", "function", None),
        ("MyLoss()", "MyLoss", "class", None),
        ("elsewhere", "", "function", None),
    ],
)
def test_losses(loss: str, name: str, kind: str, logits: bool | None) -> None:
    text = f"""
    from project import flag, elsewhere
    def my_loss(a, b):
        return tf.reduce_mean(a - b)
    class MyLoss(keras.losses.Loss):
        def call(self, a, b):
            return a - b
    model = keras.Sequential([keras.Input((8,)), layers.Dense(3)])
    model.compile("adam", loss={loss})
    model.fit(x, y)
    """
    (facts,) = site(text).model.losses
    assert facts.kind == kind
    assert facts.name == name or (name == "" and facts.name in ("", "elsewhere"))
    if logits is None:
        assert isinstance(facts.from_logits, Unknown)
    else:
        assert facts.from_logits is logits


def test_no_loss_is_told_apart_from_an_unknown_one() -> None:
    assert site(MODEL.replace(", 'mse'", "") + "model.fit(x, y)").model.loss_structure == "none"
    spread = "from project import OPTIONS\n" + MODEL.replace("'adam', 'mse'", "**OPTIONS") + "model.fit(x, y)"
    assert site(spread).model.loss_structure == "single"


def test_a_change_of_trainable_counts_after_the_step_was_traced() -> None:
    text = MODEL + "model.fit(x, y)\nmodel.layers[0].trainable = False\nmodel.fit(x, y, epochs=2)"
    first, second = fit_sites(module(text))
    assert first.model.trainable_changed == ()
    assert second.model.trainable_changed == (second.model.layers[0].name,)
    again = (
        MODEL
        + "model.fit(x, y)\nmodel.layers[0].trainable = False\nmodel.compile('adam', 'mse')\nmodel.fit(x, y, epochs=2)"
    )
    assert fit_sites(module(again))[1].model.trainable_changed == ()


def test_regularisers_count_as_added_losses() -> None:
    text = MODEL.replace("Dense(3)", "Dense(3, kernel_regularizer='l2')")
    assert site(text + "model.fit(x, y)").model.added_losses is True
    assert site(MODEL + "model.fit(x, y)").model.added_losses is False


# --- refused layers ---------------------------------------------------------------------------------------------------


def refused(text: str) -> ModelSite:
    (found,) = [one for one in model_sites(module(text)) if one.failure is not None]
    return found


@pytest.mark.parametrize(
    ("text", "layer", "previous", "words"),
    [
        (
            "keras.Sequential([keras.Input((9, 2)), layers.LSTM(4), layers.LSTM(4)])",
            "LSTM",
            "LSTM",
            "expected ndim=3",
        ),
        ("layers.Add()([keras.Input((3,)), keras.Input((4,))])", "Add", "InputLayer", "incompatible shapes"),
        (
            "keras.Sequential([keras.Input((4, 4, 1)), layers.MaxPooling2D(), layers.Conv2D(8, 3)])",
            "Conv2D",
            "MaxPooling2D",
            "zero or negative",
        ),
        (
            "keras.Sequential([keras.Input((8,)), layers.Dense(10), layers.Reshape((4, 4))])",
            "Reshape",
            "Dense",
            "total size",
        ),
        (
            "shared = layers.Dense(2)\nshared(keras.Input((3,)))\nshared(keras.Input((4,)))",
            "Dense",
            "InputLayer",
            "expected axis -1",
        ),
    ],
)
def test_a_layer_that_keras_refuses_is_told_with_its_neighbour(
    text: str, layer: str, previous: str, words: str
) -> None:
    found = refused(text)
    assert found.failure is not None
    assert found.layer is not None
    assert found.previous is not None
    assert (found.failure.type, found.layer.class_name, found.previous.class_name) == (
        "ValueError",
        layer,
        previous,
    )
    assert words in found.failure.message
    assert found.failure.place is not None


# --- the corpus -------------------------------------------------------------------------------------------------------


@functools.cache
def corpus(*folders: str) -> tuple[tuple[str, Followed], ...]:
    """Every program of these folders with what following it gave."""
    paths = [path for folder in folders for path in sorted((CORPUS / folder).rglob("*.py"))]
    return tuple((path.name, follow(Module(read_source(path)))) for path in paths)


def test_no_working_program_has_a_refused_layer() -> None:
    programs = list(corpus("working", "fixed"))
    alarms = [
        (name, one.failure.message)
        for name, found in programs
        for one in found.models
        if one.failure is not None
    ]
    assert alarms == []
    assert [name for name, found in programs if found.stopped] == []


def test_every_failing_program_is_followed_to_its_end() -> None:
    assert [name for name, found in corpus("failing") if found.stopped] == []


def test_most_calls_of_fit_are_known() -> None:
    fits = [
        one
        for _, found in corpus("working", "fixed")
        for one in found.fits
        if one.fit.method == "fit" and one.data
    ]
    told = {
        "x": sum(all(not isinstance(part.shape, Unknown) for part in one.data[0].x) for one in fits),
        "outputs": sum(not isinstance(one.model.outputs, Unknown) for one in fits),
        "losses": sum(all(loss.name for loss in one.model.losses) for one in fits),
    }
    assert told["x"] > 0.8 * len(fits)
    assert told["outputs"] > 0.75 * len(fits)
    assert told["losses"] > 0.9 * len(fits)
