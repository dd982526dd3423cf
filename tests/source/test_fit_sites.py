"""What the source alone tells of models: layer by layer, as they are compiled, and where Keras refuses them."""

from __future__ import annotations

from typing import Any

import pytest

from fitdoctor.facts import Unknown
from fitdoctor.source.fits.fit_sites import FitSite, ModelSite, fit_sites, model_sites
from tests.source.followed_programs import MODEL, module, site


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
