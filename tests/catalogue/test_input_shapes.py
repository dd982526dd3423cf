"""Shapes of inputs (FIT101 to FIT104): which of them is told, whom it blames and what the edit does."""

from __future__ import annotations

import textwrap

import pytest

from fitdoctor.catalogue.knowledge.data.data_places import validation_part
from fitdoctor.catalogue.knowledge.data.shapes import fits, relation, without_one_axis
from fitdoctor.diagnose import examine_source
from fitdoctor.diagnosis import Confidence
from fitdoctor.edits import apply_edits
from fitdoctor.facts import (
    FailureSummary,
    FitFacts,
    LayerFacts,
    ModelFacts,
    Outcome,
    PipelineStep,
    Shape,
    Spec,
    Unknown,
)
from fitdoctor.source.module import Module
from fitdoctor.source.read import source_from_text
from tests.catalogue.input_facts import (
    WENT_THROUGH,
    array,
    data,
    ids,
    judged,
    layer,
    linted,
    model,
    project_of,
    trained,
)

# --- how shapes relate --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "expected", "name"),
    [
        ((28, 28), (28, 28), "same"),
        ((28, 28), (None, 28), "same"),
        ((3, 24, 24), (24, 24, 3), "permuted"),
        ((784,), (28, 28), "reshaped"),
        ((9,), (8,), "lengths"),
        ((28, 28), (28, 28, 1), "axis"),
        ((12,), (32, 12), "rank"),
    ],
)
def test_relations_between_sample_shapes(found: Shape, expected: Shape, name: str) -> None:
    assert relation(found, expected) == name


def test_keras_adds_and_drops_a_trailing_axis_of_one() -> None:
    assert fits((28, 28), (28, 28, 1))
    assert fits((5, 1), (5,))
    assert fits((), (1,))
    assert not fits((28, 28), (1, 28, 28))
    assert not fits((28, 28), (28, 28, 3))


def test_the_axis_that_is_missing_is_the_last_one_that_would_do() -> None:
    assert without_one_axis((28, 28, 1), (28, 28)) == 2
    assert without_one_axis((32, 12), (12,)) == 0
    assert without_one_axis((5, 5), (5,)) == 1
    assert without_one_axis((5, 6), (7,)) is None


# --- FIT101 to FIT104 ---------------------------------------------------------------------------------------------


def test_other_lengths_are_certain_when_the_trial_raised() -> None:
    (finding,) = judged(model((8,)), data(array((100, 9))))
    assert (finding.id, finding.confidence) == ("FIT101", Confidence.CERTAIN)
    assert "(9,)" in finding.message and "(8,)" in finding.message


def test_nothing_is_said_when_the_trial_went_through() -> None:
    assert ids(model((8,)), data(array((100, 9)), forward=WENT_THROUGH)) == []


def test_each_of_several_inputs_is_compared_with_its_own() -> None:
    image, meta = (
        array((64, 8, 8), path="x['image']", key="image"),
        array((64, 6), path="x['meta']", key="meta"),
    )
    made = ModelFacts(inputs=(Spec((None, 5), "float32", "meta"), Spec((None, 8, 8), "float32", "image")))
    (finding,) = judged(made, data(image, meta, x_structure="dict"))
    assert finding.id == "FIT101"
    assert "x['meta']" in finding.message


@pytest.mark.parametrize(
    ("layers", "found", "minded"),
    [
        ((layer("LSTM", return_sequences="False"), layer("Dense", 1)), (24, 2), False),
        ((layer("LSTM", return_sequences="False"), layer("Dense", 1)), (30, 3), True),
        ((layer("Flatten"), layer("Dense", 1)), (24, 2), True),
        ((layer("Conv1D"), layer("GlobalMaxPooling1D", 1), layer("Dense", 2)), (24, 2), False),
        ((layer("Conv1D"), layer("Flatten", 1), layer("Dense", 2)), (24, 2), True),
    ],
)
def test_a_sequential_minds_only_what_its_layers_mind(
    layers: tuple[LayerFacts, ...], found: Shape, minded: bool
) -> None:
    made = model((30, 2), kind="sequential", layers=layers)
    given = data(array((64, *found)), forward=Unknown("from source"))
    assert ids(made, given) == (["FIT101"] if minded else [])


def test_a_train_step_of_its_own_may_reshape_the_data() -> None:
    made = model((8,), overrides=("train_step",))
    assert ids(made, data(array((100, 9)), forward=Unknown("own train_step"))) == []


def test_a_missing_channel_axis_is_a_matter_of_rank() -> None:
    assert ids(model((28, 28, 3)), data(array((50, 28, 28)))) == ["FIT102"]


def test_the_first_axis_is_the_batch_when_it_is_as_long() -> None:
    assert ids(model((256, 12)), data(array((256, 12)))) == ["FIT103"]
    assert ids(model((32, 12)), data(array((256, 12)))) == ["FIT103"]
    assert ids(model((7, 12)), data(array((256, 12)))) == ["FIT102"]


def test_a_lone_sample_for_predict_lacks_the_axis_of_samples() -> None:
    given = data(array((28, 28)), y=(), y_structure="none")
    assert ids(model((28, 28)), given, FitFacts(method="predict")) == ["FIT102"]


def test_channels_first_is_told_apart_from_other_lengths() -> None:
    assert ids(model((24, 24, 3)), data(array((40, 3, 24, 24)))) == ["FIT104"]
    assert ids(model((24, 24, 3)), data(array((40, 24, 20, 3)))) == ["FIT101"]


def test_a_layer_that_refuses_the_data_itself_is_about_the_data() -> None:
    message = "Input 0 of layer 'conv2d' is incompatible with the layer: expected min_ndim=4, found ndim=3. "
    said = Outcome(
        failure=FailureSummary("ValueError", message + "Full shape received: (32, 20, 20)", "conv2d")
    )
    made = model(kind="subclassed", layers=(layer("Conv2D"),))
    assert ids(made, data(array((64, 20, 20)), forward=said)) == ["FIT102"]
    inner = Outcome(
        failure=FailureSummary("ValueError", message + "Full shape received: (32, 18, 8)", "conv2d")
    )
    assert ids(made, data(array((64, 20, 20)), forward=inner)) == []


def test_the_source_of_an_input_tells_samples_from_steps() -> None:
    program = """
    import numpy as np
    from tensorflow import keras
    x = np.zeros((250, 12, 2))
    y = np.zeros(250)
    model = keras.Sequential()
    model.add(keras.Input(shape={shape}))
    model.add(keras.layers.LSTM(16))
    model.add(keras.layers.Dense(1))
    model.compile("adam", "mse")
    model.fit(x, y)
    """
    assert linted(program.format(shape="x.shape")) == [("FIT103", 7)]
    assert linted(program.format(shape="x.shape[1:]")) == []
    assert linted(program.format(shape="(12,)"))[:1] == [("FIT102", 7)]


def test_a_sample_may_give_the_shape() -> None:
    program = """
    import numpy as np
    import keras
    x = np.zeros((90, 6, 3))
    sample = x[0]
    model = keras.Sequential([keras.Input(shape=sample.shape), keras.layers.Flatten(), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, np.zeros(90))
    """
    assert linted(program) == []


# --- edits --------------------------------------------------------------------------------------------------------


def test_validation_data_is_reworked_with_the_training_data() -> None:
    program = textwrap.dedent(
        """
        import numpy as np
        from tensorflow import keras
        def load(n):
            images = np.zeros((n, 28, 28))
            return images.astype("float32"), np.zeros(n)
        x_train, y_train = load(90)
        x_test, y_test = load(30)
        model = keras.Sequential([keras.Input((784,)), keras.layers.Dense(10, activation="softmax")])
        model.compile("adam", "sparse_categorical_crossentropy")
        model.fit(x_train, y_train, validation_data=(x_test, y_test))
        """
    )
    (finding,) = examine_source(project_of(program), select=("FIT101",)).findings
    edited = apply_edits(program, finding.fixes[0].edits)
    assert "x_train = x_train.reshape(-1, 784)" in edited
    assert "x_test = x_test.reshape(-1, 784)" in edited


def test_validation_data_that_is_not_written_out_has_no_features() -> None:
    assert validation_part(Unknown("no call"), 0) is None
    assert validation_part(FitFacts(), 0) is None


def test_a_pipeline_step_is_blamed_for_the_shape() -> None:
    code = Module(source_from_text("ds = tf.data.Dataset.from_tensor_slices(x)\n", "train.py"))
    step = PipelineStep("from_tensor_slices", code=code.code(code.calls[0].node))
    message = "Input 0 of layer 'conv1d' is incompatible with the layer: expected min_ndim=3, found ndim=2. "
    said = Outcome(
        failure=FailureSummary("ValueError", message + "Full shape received: (None, 100)", "conv1d")
    )
    given = data(
        array((None, 100)), form="dataset", pipeline=(step,), forward=said, samples=Unknown("a dataset")
    )
    (finding,) = judged(model(kind="sequential", layers=(layer("Conv1D"),)), given)
    assert finding.location is not None and finding.location.line == 1


@pytest.mark.parametrize(
    ("first", "shape", "found"),
    [
        ("LSTM(8)", "(250, 12, 2)", "FIT103"),
        ("LSTM(8)", "(None, 12, 1)", "FIT103"),
        ("LSTM(8)", "(12, 2, 1)", "FIT102"),
        ("LSTM(8)", "(12,)", "FIT102"),
        ("Conv2D(4, 3)", "(None, 28, 28, 1)", "FIT103"),
        ("Conv2D(4, 3)", "(28, 28)", "FIT102"),
    ],
)
def test_an_input_that_its_first_layer_refuses(first: str, shape: str, found: str) -> None:
    program = f"""
    import keras
    model = keras.Sequential([
        keras.Input(shape={shape}),
        keras.layers.{first},
        keras.layers.Dense(1),
    ])
    """
    assert linted(program)[:1] == [(found, 4)]


def test_an_open_first_axis_is_the_batch_where_no_layer_takes_steps() -> None:
    given = data(array((256, 12)))
    assert ids(model((None, 12), layers=(trained(),)), given) == ["FIT103"]
    assert ids(model((None, 12), layers=(layer("LSTM"), trained())), given) == ["FIT102"]
