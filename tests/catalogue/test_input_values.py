"""Types and values of inputs (FIT105, FIT106, FIT110 to FIT115), and arithmetic on bytes."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import pytest

from fitdoctor.catalogue.inputs.unscaled_or_wrapped_input.byte_arithmetic import wraps
from fitdoctor.diagnosis import Confidence, Location, Moment, Severity
from fitdoctor.engine import Case, diagnose
from fitdoctor.facts import (
    Column,
    FailureFacts,
    FailureSummary,
    FitFacts,
    LossFacts,
    Outcome,
    Statistics,
)
from tests.catalogue.input_facts import (
    WENT_THROUGH,
    array,
    data,
    ids,
    judged,
    layer,
    model,
    project_of,
    refused,
    trained,
)

# --- FIT105, FIT106 -----------------------------------------------------------------------------------------------


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
    assert finding.fixes[0].title == "pad the rows, which have 5 to 20 elements, to 24"


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


# --- FIT110, FIT112, FIT113, FIT114, FIT115 -----------------------------------------------------------------------


def values(low: float, high: float, **more: Any) -> dict[str, Any]:
    return {"statistics": Statistics(100, True, low, high, **more)}


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
