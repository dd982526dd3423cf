"""The finer points of the judges of inputs, from plain facts and from source."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import replace
from typing import Any

import pytest

from fitdoctor.catalogue.byte_arithmetic import wraps
from fitdoctor.catalogue.data_places import validation_features
from fitdoctor.catalogue.shapes import fits, relation, without_one_axis
from fitdoctor.diagnosis import Confidence, Finding, Location, Moment, Severity
from fitdoctor.edits import apply_edits
from fitdoctor.engine import Case, diagnose
from fitdoctor.examine import SeenCall, examine_call, examine_failure, examine_source
from fitdoctor.facts import (
    ArrayFacts,
    Column,
    DataFacts,
    EnvironmentFacts,
    FailureFacts,
    FailureSummary,
    FitFacts,
    LayerFacts,
    LossFacts,
    ModelFacts,
    Outcome,
    PipelineStep,
    Shape,
    Spec,
    Statistics,
    Trial,
    Unknown,
)
from fitdoctor.failure.text import failures_in
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.read import source_from_text

REFUSED = Outcome(failure=FailureSummary("ValueError", "expected something else"))
WENT_THROUGH = Outcome(specs=(Spec((None, 1), "float32"),))


def array(shape: Shape, dtype: str = "float32", path: str = "x", **more: Any) -> ArrayFacts:
    return ArrayFacts(path, container="numpy.ndarray", shape=shape, dtype=dtype, **more)


def data(*x: ArrayFacts, forward: Outcome | Unknown = REFUSED, **more: Any) -> DataFacts:
    rows = x[0].shape[0] if x and isinstance(x[0].shape, tuple) and x[0].shape else 0
    y = array((rows,), path="y")
    plain: dict[str, Any] = {"y": (y,), "samples": rows, "batch_size": 32}
    return DataFacts(x=x, trial=Trial(forward=forward), **(plain | more))


def model(*inputs: Shape, kind: str = "functional", **more: Any) -> ModelFacts:
    specs = tuple(Spec((None, *shape), "float32", f"input_{index}") for index, shape in enumerate(inputs))
    structure = "single" if len(specs) == 1 else "list"
    plain: dict[str, Any] = {"input_structure": structure, "losses": (LossFacts("mean_squared_error"),)}
    return ModelFacts(kind=kind, inputs=specs or Unknown("none"), **(plain | more))


def layer(class_name: str, index: int = 0, **settings: str) -> LayerFacts:
    return LayerFacts(class_name.lower(), class_name, index, config=tuple(settings.items()))


def judged(
    made: ModelFacts, given: DataFacts, fit: FitFacts | None = None, select: str = "FIT1"
) -> list[Finding]:
    """What the judges of inputs find before fit."""
    call = SeenCall(made, fit or FitFacts(), (given,))
    diagnosis = examine_call(call, environment=EnvironmentFacts(), select=(select,))
    assert not diagnosis.crashes, diagnosis.crashes
    return list(diagnosis.findings)


def ids(made: ModelFacts, given: DataFacts, fit: FitFacts | None = None) -> list[str]:
    return [finding.id for finding in judged(made, given, fit)]


def project_of(text: str) -> Project:
    return Project((Module(source_from_text(textwrap.dedent(text), "train.py")),))


def linted(text: str) -> list[tuple[str, int]]:
    diagnosis = examine_source(project_of(text), select=("FIT1",))
    assert not diagnosis.crashes, diagnosis.crashes
    return [(found.id, found.location.line if found.location else 0) for found in diagnosis.findings]


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


# --- FIT105, FIT106 -----------------------------------------------------------------------------------------------


def refused(dtype: str) -> dict[str, Any]:
    return {"problem": FailureSummary("ValueError", f"Invalid dtype: {dtype}"), "forward": Unknown("refused")}


def test_objects_are_described_by_what_they_hold() -> None:
    columns = (Column("0", "object", "float"), Column("1", "object", "Decimal"))
    given = data(array((30, 2), "object", columns=columns), **refused("object"))
    (finding,) = judged(model((2,)), given)
    assert finding.id == "FIT105"
    assert "`1`" in finding.message
    assert "cast" in finding.fixes[0].title


def test_rows_of_different_lengths_are_padded_to_the_input() -> None:
    columns = (Column("", "object", "list of 5..20"),)
    given = data(array((30,), "object", columns=columns), **refused("object"))
    (finding,) = judged(model((24,)), given)
    assert finding.fixes[0].title == "pad the rows of 5 to 20 elements to 24"


def test_a_frame_with_one_column_of_strings_is_mixed() -> None:
    mixed = (Column("age", "float64"), Column("city", "str", "str"))
    assert ids(model((2,)), data(array((30, 2), "object", columns=mixed), **refused("object"))) == ["FIT105"]
    words = (Column("city", "str", "str"), Column("street", "str", "str"))
    assert ids(model((2,)), data(array((30, 2), "str", columns=words), **refused("str"))) == ["FIT106"]


def test_strings_for_a_model_that_takes_them_are_fine() -> None:
    given = data(array((30, 1), "str"), forward=WENT_THROUGH)
    assert ids(model((1,)), given) == []


def test_labels_of_strings_fail_only_in_a_loss_of_keras() -> None:
    words = array((30,), "object", "y", columns=(Column("", "object", "str"),))
    given = data(array((30, 4)), forward=WENT_THROUGH, y=(words,))
    assert ids(model((4,)), given) == ["FIT106"]
    assert ids(model((4,), losses=(LossFacts("own", "function"),)), given) == []
    assert ids(model((4,), overrides=("train_step",)), given) == []


# --- FIT107 to FIT109 ---------------------------------------------------------------------------------------------


def test_lists_of_numbers_are_told_together() -> None:
    x = ArrayFacts("x", container="list", shape=(16, 4), dtype="int")
    y = ArrayFacts("y", container="list", shape=(16,), dtype="int")
    problem = FailureSummary("ValueError", "Unrecognized data type: x (of type <class 'list'>)")
    (finding,) = judged(model((4,)), data(x, y=(y,), problem=problem, forward=Unknown("refused")))
    assert finding.id == "FIT107"
    assert "`x` and `y`" in finding.message


def many(shape: Shape, count: int) -> tuple[ArrayFacts, ...]:
    return tuple(array(shape, path=f"x[{index}]", key=str(index)) for index in range(count))


def test_a_list_of_samples_is_told_apart_from_a_list_of_inputs() -> None:
    problem = FailureSummary("ValueError", "Data cardinality is ambiguous. 'x' sizes: 16, 16\n'y' sizes: 40")
    labels = (array((40,), path="y"),)
    given = data(
        *many((16, 16, 3), 40), x_structure="list", y=labels, problem=problem, forward=Unknown("refused")
    )
    assert ids(model((16, 16, 3)), given) == ["FIT107"]
    right = data(*many((40, 3), 2), x_structure="list", y=labels, forward=WENT_THROUGH)
    assert ids(model((3,), (3,)), right) == []


def test_lengths_that_differ_are_counted() -> None:
    problem = FailureSummary("ValueError", "Data cardinality is ambiguous. 'x' sizes: 275\n'y' sizes: 300")
    given = data(array((275, 5)), y=(array((300,), path="y"),), problem=problem, forward=Unknown("refused"))
    (finding,) = judged(model((5,)), given)
    assert finding.id == "FIT108"
    assert "275" in finding.message and "300" in finding.message


SPLIT = """
import numpy as np
import keras
from sklearn.model_selection import train_test_split
X, y = np.zeros((100, 3)), np.zeros(100)
X_train, y_train, X_test, y_test = train_test_split(X, y, test_size=0.2)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(X_train, y_train)
"""

TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 9, in <module>
    model.fit(X_train, y_train)
  File "/usr/lib/python3/site-packages/keras/src/utils/traceback_utils.py", line 122, in error_handler
    raise e.with_traceback(filtered_tb) from None
ValueError: Data cardinality is ambiguous. Make sure all arrays contain the same number of samples.'x' sizes: 80
'y' sizes: 20
"""


def test_results_of_a_split_in_the_wrong_order_are_put_right() -> None:
    project = project_of(SPLIT)
    failure = failures_in(TRACEBACK)[-1]
    diagnosis = examine_failure(failure, lambda: project, select=("FIT1",))
    (finding,) = diagnosis.findings
    assert finding.id == "FIT108"
    assert finding.location is not None and finding.location.line == 6


def test_parts_of_a_split_that_belong_together_are_left_alone() -> None:
    right = SPLIT.replace("X_train, y_train, X_test, y_test", "X_train, X_test, y_train, y_test")
    assert linted(SPLIT) == [("FIT108", 6)]
    assert linted(right) == []
    assert linted(right.replace("fit(X_train, y_train)", "fit(X_train, X_train)")) == []


def test_inputs_are_counted_named_and_put_in_order() -> None:
    made = model((5,), (7,))
    assert ids(made, data(array((50, 12)))) == ["FIT109"]
    swapped = (array((50, 7), path="x[0]", key="0"), array((50, 5), path="x[1]", key="1"))
    (finding,) = judged(made, data(*swapped, x_structure="list"))
    assert finding.id == "FIT109" and "order" in finding.message
    named = (
        array((50, 5), path="x['input_0']", key="input_0"),
        array((50, 7), path="x['other']", key="other"),
    )
    (finding,) = judged(made, data(*named, x_structure="dict"))
    assert finding.id == "FIT109" and "input_1" in finding.message


def test_a_flat_element_of_a_dataset_is_left_to_the_pipeline() -> None:
    given = data(array((None, 5)), form="dataset", element_size=3, samples=Unknown("a dataset"))
    assert ids(model((5,), (7,)), given) == []


def test_what_the_source_does_not_tell_is_not_counted() -> None:
    given = data(
        ArrayFacts("x"), form="dataset", forward=Unknown("from source"), samples=Unknown("a dataset")
    )
    assert ids(model((5,), (7,)), given) == []


# --- FIT110, FIT112, FIT113, FIT114, FIT115 -----------------------------------------------------------------------


def values(low: float, high: float, **more: Any) -> dict[str, Any]:
    return {"statistics": Statistics(100, True, low, high, **more)}


def trained(class_name: str = "Dense", **more: Any) -> LayerFacts:
    return replace(layer(class_name, **more), parameters=8)


def test_nan_is_told_with_its_place() -> None:
    x = array((100, 3), **values(0, 1, nan=4, first_nonfinite=(13, 1)))
    (finding,) = judged(model((3,), layers=(trained(),)), data(x, forward=WENT_THROUGH))
    assert (finding.id, finding.severity, finding.confidence) == (
        "FIT110",
        Severity.WARNING,
        Confidence.CERTAIN,
    )
    assert "row 13, column 1" in finding.message


def test_nan_may_be_dealt_with_by_a_layer_of_the_users() -> None:
    x = array((100, 3), **values(0, 1, nan=4, first_nonfinite=(13, 1)))
    own = replace(layer("FillGaps"), builtin=False)
    assert ids(model((3,), layers=(own, trained())), data(x, forward=WENT_THROUGH)) == []
    operation = replace(trained(), fed_by=("nan_to_num",))
    assert ids(model((3,), layers=(operation,)), data(x, forward=WENT_THROUGH)) == []


def test_nan_is_no_matter_of_predict() -> None:
    x = array((100, 3), **values(0, 1, nan=4))
    given = data(x, forward=WENT_THROUGH)
    assert ids(model((3,), layers=(trained(),)), given, FitFacts(method="predict")) == []


def test_large_features_are_a_hint_unless_something_scales_them() -> None:
    given = data(array((100, 4), **values(0, 1.5e6)), forward=WENT_THROUGH)
    (finding,) = judged(model((4,), layers=(trained(),)), given)
    assert (finding.id, finding.severity) == ("FIT112", Severity.INFO)
    assert ids(model((4,), layers=(layer("Normalization"), trained())), given) == []
    assert ids(model((4,), kind="subclassed", layers=(trained(),)), given) == []


def test_pictures_of_bytes_are_a_hint() -> None:
    pictures = array((60, 8, 8, 1), "uint8", **values(0, 255, integral=True))
    given = data(pictures, forward=WENT_THROUGH)
    assert ids(model((8, 8, 1), layers=(trained("Conv2D"),)), given) == ["FIT112"]
    assert ids(model((8, 8, 1), layers=(layer("Rescaling"), trained("Conv2D"))), given) == []


def test_an_id_needs_a_row() -> None:
    table = layer("Embedding", input_dim="7")
    made = model((1,), kind="sequential", layers=(table, trained()))
    high = data(array((90, 1), "int32", **values(1, 7, integral=True)), forward=WENT_THROUGH)
    assert ids(made, high) == ["FIT113"]
    fine = data(array((90, 1), "int32", **values(0, 6, integral=True)), forward=WENT_THROUGH)
    assert ids(made, fine) == []


def test_ids_are_followed_to_their_table_in_a_graph() -> None:
    layers = (
        layer("InputLayer"),
        replace(layer("Embedding", 1, input_dim="7"), fed_by=("input_1",)),
        replace(trained(), fed_by=("input_0", "embedding")),
    )
    made = model((1,), (1,), layers=layers, input_layers=("input_0", "input_1"))
    numbers = array((90, 1), path="x[0]", key="0", **values(0, 50))
    days = array((90, 1), "int32", path="x[1]", key="1", **values(1, 7, integral=True))
    given = data(numbers, days, x_structure="list", forward=WENT_THROUGH)
    (finding,) = judged(made, given)
    assert finding.id == "FIT113" and "x[1]" in finding.message


@pytest.mark.parametrize(
    ("low", "high", "integral", "found"),
    [(0, 0.99, False, ["FIT115"]), (-1, 39, True, ["FIT115"]), (0, 39, True, [])],
)
def test_ids_are_whole_and_not_negative(low: float, high: float, integral: bool, found: list[str]) -> None:
    made = model((6,), kind="sequential", layers=(layer("Embedding", input_dim="40"), trained()))
    given = data(array((90, 6), **values(low, high, integral=integral)), forward=WENT_THROUGH)
    assert ids(made, given) == found


def test_no_rows_is_a_warning_and_with_keras_2_an_error() -> None:
    given = data(array((0, 4)), forward=WENT_THROUGH)
    (finding,) = judged(model((4,), layers=(trained(),)), given)
    assert (finding.id, finding.severity) == ("FIT114", Severity.WARNING)
    (finding,) = judged(model((4,), layers=(trained(),), keras=2), given)
    assert finding.severity is Severity.ERROR


# --- FIT111 -------------------------------------------------------------------------------------------------------


def test_integers_against_floats_are_about_the_data() -> None:
    message = "Input 'b' of 'MatMul' Op has type float32 that does not match type int32 of argument 'a'."
    place = Location("train.py", 12)
    said = Outcome(failure=FailureSummary("TypeError", message, place=place))
    (finding,) = judged(model(kind="subclassed"), data(array((90, 9), "int32"), forward=said))
    assert (finding.id, finding.location) == ("FIT111", finding.location)
    assert finding.location is not None and finding.location.line == 12
    halves = message.replace("int32", "float16")
    mixed = Outcome(failure=FailureSummary("TypeError", halves))
    assert ids(model(kind="subclassed"), data(array((90, 9)), forward=mixed)) == []


# --- FIT116 -------------------------------------------------------------------------------------------------------


def keyed(*names: str) -> tuple[ArrayFacts, ...]:
    return tuple(array((40, 1), path=f"x[{name!r}]", key=name) for name in names)


def dict_model(*names: str) -> ModelFacts:
    return ModelFacts(
        inputs=tuple(Spec((None, 1), "float32", name) for name in names), input_structure="dict"
    )


def test_an_extra_key_shifts_those_behind_it() -> None:
    made = dict_model("bid", "rank")
    given = data(*keyed("bid", "log_bid", "rank"), x_structure="dict", forward=WENT_THROUGH)
    (finding,) = judged(made, given)
    assert finding.id == "FIT116" and "`rank` gets `log_bid`" in finding.message
    behind = data(*keyed("bid", "rank", "spare"), x_structure="dict", forward=WENT_THROUGH)
    assert ids(made, behind) == []
    assert ids(replace(made, input_structure="list"), given) == []


def test_later_versions_of_keras_match_by_name() -> None:
    given = data(*keyed("bid", "log_bid", "rank"), x_structure="dict", forward=WENT_THROUGH)
    call = SeenCall(dict_model("bid", "rank"), FitFacts(), (given,))
    newer = EnvironmentFacts(packages=(("keras", "3.16.0"),))
    assert not examine_call(call, environment=newer, select=("FIT116",)).findings


# --- arithmetic on bytes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "expression", "wrapped"),
    [
        ("np.zeros((9, 9), dtype=np.uint8)\nx[0] = 3", "x - 128", True),
        ("np.random.randint(0, 255, (9, 9), dtype='uint8')", "x[1:] - x[:-1]", True),
        ("rng.integers(90, 160, size=9, dtype=np.uint8)", "x - 60", False),
        ("rng.integers(90, 160, size=9, dtype=np.uint8)", "x - 128", True),
        ("rng.integers(0, 200, size=9, dtype=np.uint8)", "x + 100", True),
        ("rng.integers(0, 60, size=9, dtype=np.uint8)", "x + 100", False),
        ("cv2.imread('a.png')", "255 - x", False),
        ("cv2.imread('a.png')", "x - 127.5", False),
        ("cv2.imread('a.png')", "x - x.mean()", False),
        ("cv2.imread('a.png').astype('int16')", "x - 128", False),
        ("(mask > 3).astype(np.uint8)", "1 - x", False),
        ("np.random.rand(9)", "x - 128", False),
        ("load()", "x - 128", False),
    ],
)
def test_only_bytes_that_leave_their_range_wrap_around(made: str, expression: str, wrapped: bool) -> None:
    text = (
        f"import cv2\nimport numpy as np\nrng = np.random.default_rng(0)\nx = {made}\nresult = {expression}\n"
    )
    module = project_of(text).modules[0]
    last = module.tree.body[-1]
    assert isinstance(last, ast.Assign)
    assert wraps(module, last.value) is wrapped


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
    assert validation_features(Unknown("no call")) is None
    assert validation_features(FitFacts()) is None


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


def test_judges_need_no_more_than_the_failure() -> None:
    """Saved text without the program: no model, no data."""
    for message in (
        "Invalid dtype: object",
        "Invalid dtype: str192",
        "Data cardinality is ambiguous. Make sure …'x' sizes: 8\n'y' sizes: 9",
        'Layer "functional" expects 2 input(s), but it received 1 input tensors.',
    ):
        failure = FailureFacts("ValueError", message, called="fit", from_text=True)
        diagnosis = diagnose([Case(Moment.AFTER_FAILURE, {"FailureFacts": (failure,)})], select=("FIT1",))
        assert not diagnosis.crashes
        assert diagnosis.findings, message


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


# --- lengths ------------------------------------------------------------------------------------------------------


def test_a_batch_of_a_generator_with_more_labels_than_samples() -> None:
    given = data(array((16, 4)), forward=WENT_THROUGH, form="generator", y=(array((17, 1), path="y"),))
    (finding,) = judged(model((4,), kind="sequential"), given)
    assert (finding.id, finding.confidence) == ("FIT108", Confidence.CERTAIN)
    # A graph of layers may fold rows together, and a loss of the user's may take them apart again.
    (finding,) = judged(model((4,)), given)
    assert finding.confidence is Confidence.LIKELY
    assert ids(model((4,), losses=(LossFacts("mine", "function"),)), given) == []
    even = data(array((16, 4)), forward=WENT_THROUGH, form="generator", y=(array((16, 1), path="y"),))
    assert ids(model((4,), kind="sequential"), even) == []


def test_lengths_that_the_source_tells() -> None:
    program = """
    import keras
    import numpy as np
    x = np.random.rand({x})
    y = np.random.rand(200)
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, y)
    """
    assert linted(program.format(x="190, 5")) == [("FIT108", 5)]
    assert linted(program.format(x="5, 200")) == [("FIT108", 4)]
    assert linted(program.format(x="200, 5")) == []


def test_the_last_batch_of_a_stateful_model() -> None:
    refused = Outcome(failure=FailureSummary("ValueError", "the batch size of the initial state. Expected"))
    given = replace(
        data(array((100, 6, 2))), trial=Trial(WENT_THROUGH, Outcome(), Outcome(), short=refused, short_rows=4)
    )
    (finding,) = judged(model((6, 2)), given)
    assert (finding.id, finding.confidence) == ("FIT103", Confidence.CERTAIN)
    assert "the last batch has 4 rows" in finding.message


def test_one_array_for_a_call_that_takes_its_inputs_apart() -> None:
    program = """\
import keras
class Two(keras.Model):
    def call(self, inputs):
        left, right = inputs
        return left + right
model = Two()
model.compile("adam", "mse")
model.fit(x, y)
"""
    text = (
        'Traceback (most recent call last):\n  File "train.py", line 8, in <module>\n    model.fit(x, y)\n'
        '  File "/lib/site-packages/keras/src/utils/traceback_utils.py", line 122, in error_handler\n'
        "    raise e.with_traceback(filtered_tb) from None\n"
        '  File "train.py", line 4, in call\n    left, right = inputs\n    ^^^^^^^^^^^\n'
        "tensorflow.python.framework.errors_impl.OperatorNotAllowedInGraphError: Exception encountered when "
        "calling Two.call().\n\nIterating over a symbolic `tf.Tensor` is not allowed.\n"
    )
    failure = failures_in(text)[-1]
    found = examine_failure(failure, lambda: project_of(program)).findings
    assert [(finding.id, finding.location and finding.location.line) for finding in found] == [("FIT109", 8)]


@pytest.mark.parametrize(
    ("index", "line"),
    [("tr", 2), (":80", 2), ("y > 0", 2), ("name", 8)],
    ids=["fold", "slice", "mask", "key"],
)
def test_rows_that_are_picked_in_the_call_are_followed_to_the_whole(index: str, line: int) -> None:
    from fitdoctor.source.origins import data_origin

    text = f"""import numpy as np
y = np.arange(100) % 5
from sklearn.model_selection import KFold
name = config
for tr, te in KFold(3).split(y):
    pass

model.fit(x, y[{index}])
"""
    module = project_of(text).modules[0]
    (call,) = [site.node for site in module.calls if site.method == "fit"]
    end = data_origin(module, call.args[1])
    assert end.module.location(end.node).line == line
