"""Labels and outputs by shape and structure, and what the message of a failure tells of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fitdoctor.catalogue.knowledge.labels.label_shapes import (
    BROADCAST,
    CLASS_NUMBERS,
    FITS,
    ONE_HOT,
    SEQUENCE,
    UNITS,
    verdict,
)
from fitdoctor.catalogue.knowledge.labels.targets import targets
from fitdoctor.diagnosis import Moment
from fitdoctor.engine import Case, diagnose
from fitdoctor.facts import (
    FailureFacts,
    FailureSummary,
    FitFacts,
    Frame,
    LossFacts,
    ModelFacts,
    Outcome,
    Shape,
    Spec,
    Trial,
    Unknown,
)
from tests.catalogue.label_facts import (
    CERTAIN,
    ERROR,
    LIKELY,
    WARNING,
    WENT_THROUGH,
    data,
    dense,
    found,
    labels,
    loss_of,
    measurements,
    model,
)

# --- shapes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "label_shape", "output", "expected"),
    [
        ("categorical_crossentropy", (9,), (9, 3), CLASS_NUMBERS),
        ("categorical_crossentropy", (9, 1), (9, 3), CLASS_NUMBERS),
        ("categorical_crossentropy", (9, 5), (9, 5, 3), CLASS_NUMBERS),
        ("categorical_crossentropy", (9, 3), (9, 3), FITS),
        ("categorical_crossentropy", (9, 4), (9, 3), UNITS),
        ("categorical_crossentropy", (9, 3), (9, 5, 3), SEQUENCE),
        ("sparse_categorical_crossentropy", (9,), (9, 3), FITS),
        ("sparse_categorical_crossentropy", (9, 1), (9, 3), FITS),
        ("sparse_categorical_crossentropy", (9, 8, 8, 1), (9, 8, 8, 3), FITS),
        ("sparse_categorical_crossentropy", (9, 3), (9, 3), ONE_HOT),
        ("sparse_categorical_crossentropy", (9, 5, 3), (9, 5, 3), ONE_HOT),
        ("sparse_categorical_crossentropy", (9,), (9, 5, 3), SEQUENCE),
        ("sparse_categorical_crossentropy", (9, 5), (9, 5, 3), FITS),
        ("binary_crossentropy", (9,), (9, 1), FITS),
        ("binary_crossentropy", (9,), (9, 2), UNITS),
        ("binary_crossentropy", (9, 2), (9, 1), UNITS),
        ("binary_crossentropy", (9, 1), (9, 10, 1), SEQUENCE),
        ("mean_squared_error", (9,), (9, 1), FITS),
        ("mean_squared_error", (9, 5), (9, 5, 1), FITS),
        ("mean_squared_error", (9, 1), (9, 3), BROADCAST),
        ("mean_squared_error", (9, 3), (9, 1), BROADCAST),
        ("mean_squared_error", (9,), (9, 3), UNITS),
        ("mean_squared_error", (9, 2), (9, 3), UNITS),
        ("mean_squared_error", (9,), (9, None, 1), SEQUENCE),
        ("cosine_similarity", (9,), (9, 3), ""),
        ("categorical_crossentropy", (9, None), (9, 3), FITS),
    ],
)
def test_one_verdict_for_labels_and_output(
    loss: str, label_shape: Shape, output: Shape, expected: str
) -> None:
    assert verdict(loss, label_shape, output) == expected


def test_an_error_is_certain_only_when_the_loss_raised() -> None:
    facts = model((None, 3), "categorical_crossentropy", dense(3, "softmax"))
    y = labels((90,), 0, 1, 2)
    assert found(facts, data(y)) == {"FIT201": (ERROR, LIKELY)}
    raised = Trial(
        Outcome(), Outcome(failure=FailureSummary("ValueError", "must have the same rank")), Unknown()
    )
    assert found(facts, data(y, trial=raised)) == {"FIT201": (ERROR, CERTAIN)}
    assert found(facts, data(y, trial=WENT_THROUGH)) == {}


def test_a_trial_on_an_open_batch_does_not_refute_a_subtraction() -> None:
    flat = data(measurements((90,), -2, 2), trial=WENT_THROUGH)
    assert found(model((None, 3), "mean_squared_error"), flat) == {"FIT205": (ERROR, LIKELY)}
    assert found(model((30, 3), "mean_squared_error"), flat) == {}


def test_a_loss_of_the_users_own_is_not_judged_by_shapes() -> None:
    own = LossFacts("pinball", "function")
    assert found(model((None, 3), own), data(measurements((90, 1), -2, 2))) == {}
    assert (
        found(replace(model((None, 3), "mean_squared_error"), overrides=("compute_loss",)), data(None)) == {}
    )


def test_outputs_are_matched_by_name_not_by_order() -> None:
    facts = ModelFacts(
        kind="functional",
        outputs=(Spec((None, 1), "float32", "angle"), Spec((None, 5), "float32", "digit")),
        output_names=("angle", "digit"),
        output_structure="dict",
        output_paths=(("angle",), ("digit",)),
        layers=(dense(1, name="angle"), dense(5, "softmax", name="digit")),
        losses=(
            loss_of("sparse_categorical_crossentropy", output="digit"),
            loss_of("mean_squared_error", output="angle"),
        ),
        loss_structure="dict",
        loss_keys=("digit", "angle"),
    )
    y = (labels((90,), 0, 4, key="digit"), replace(measurements((90,), -1, 1), key="angle"))
    specs = (Spec((30, 5), "float32", "digit"), Spec((30, 1), "float32", "angle"))
    given = data(y, y_structure="dict", trial=Trial(Outcome(specs), Outcome(), Outcome()))
    assert [(target.name, target.units, target.loss_name) for target in targets(facts, given)] == [
        ("angle", 1, "mean_squared_error"),
        ("digit", 5, "sparse_categorical_crossentropy"),
    ]
    assert found(facts, given) == {}


# --- structure ----------------------------------------------------------------------------------------------------


def test_missing_labels_are_wanted_only_by_a_loss() -> None:
    facts = model((None, 4), "mean_squared_error")
    assert set(found(facts, data(None))) == {"FIT215"}
    assert found(facts, data(None), FitFacts(method="predict")) == {}
    assert found(replace(facts, losses=(), loss_structure="none"), data(None)) == {}
    assert found(replace(facts, overrides=("train_step",)), data(None)) == {}


def two_outputs(**more: Any) -> ModelFacts:
    return ModelFacts(
        kind="functional",
        outputs=(Spec((None, 1), "float32", "a"), Spec((None, 1), "float32", "b")),
        output_names=("a", "b"),
        output_structure="list",
        layers=(dense(1, name="a"), dense(1, "sigmoid", name="b")),
        losses=(loss_of("mean_squared_error", output="a"), loss_of("binary_crossentropy", output="b")),
        **{"loss_structure": "list", **more},
    )


def test_labels_for_every_output() -> None:
    a, b = measurements((90,), -1, 1), labels((90,), 0, 1)
    assert found(two_outputs(), data((a, b))) == {}
    assert found(two_outputs(), data(a)) == {"FIT216": (ERROR, LIKELY)}
    keyed = (replace(a, key="a"), replace(b, key="c"))
    assert found(two_outputs(), data(keyed, y_structure="dict")) == {"FIT216": (ERROR, LIKELY)}
    short = two_outputs(loss_structure="list")
    only = replace(short, losses=short.losses[:1])
    assert found(only, data((a, b), trial=WENT_THROUGH)) == {"FIT216": (WARNING, CERTAIN)}
    named = replace(
        short, loss_structure="dict", loss_keys=("a",), losses=short.losses[:1], output_structure="dict"
    )
    assert found(named, data((a, b), trial=WENT_THROUGH)) == {}


SAME_RANK = "must have the same rank (ndim). Received: "
SAME_SHAPE = "must have the same shape. Received: "
RANK_LESS = "must have rank (ndim) `target.ndim - 1`. Received: "


# --- failures -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "function", "expected"),
    [
        (SAME_RANK + "target.shape=(16,), output.shape=(16, 2)", "binary_crossentropy", "FIT205"),
        (SAME_RANK + "target.shape=(16,), output.shape=(16, 2)", "categorical_crossentropy", "FIT201"),
        (SAME_SHAPE + "target.shape=(16, 6), output.shape=(16, 5)", "categorical_crossentropy", "FIT205"),
        (RANK_LESS + "target.shape=(16, 4), output.shape=(16, 4)", "", "FIT202"),
        (RANK_LESS + "target.shape=(16,), output.shape=(16, 9, 4)", "", "FIT217"),
        ("Received a label value of 10 which is outside the valid range of [0, 10).", "", "FIT203"),
        ("`class_weight` is only supported for Models with a single output.", "", "FIT213"),
        ("You cannot `class_weight` and `sample_weight` at the same time.", "", "FIT214"),
        ("y_true and y_pred have different structures.\ny_true: *\ny_pred: ['*', '*']", "", "FIT216"),
        ("FBetaScore expects 2D inputs with shape (batch_size, output_dim).", "", "FIT218"),
        ("None values not supported.", "", "FIT215"),
    ],
)  # fmt: skip
def test_from_the_message_alone(message: str, function: str, expected: str) -> None:
    frames = (
        Frame("train.py", 7, "<module>", "model.fit(x, epochs=2)"),
        Frame("keras/src/backend/tensorflow/nn.py", 1, function or "call", library=True),
    )
    failure = FailureFacts("ValueError", message, frames=frames, called="fit", from_text=True)
    diagnosis = diagnose([Case(Moment.AFTER_FAILURE, {"FailureFacts": (failure,)})], select=["FIT2"])
    assert not diagnosis.crashes
    assert [finding.id for finding in diagnosis.findings] == [expected]


def test_labels_that_are_given_point_away_from_missing_labels() -> None:
    frames = (Frame("train.py", 7, "<module>", "model.fit(x, y, epochs=2)"),)
    failure = FailureFacts(
        "ValueError", "None values not supported.", frames=frames, called="fit", from_text=True
    )
    diagnosis = diagnose([Case(Moment.AFTER_FAILURE, {"FailureFacts": (failure,)})], select=["FIT215"])
    assert not diagnosis.findings


def test_an_index_in_the_model_is_no_class_weight() -> None:
    told = "indices[3] = 9 is not in [0, 9)"
    map_failure = FailureFacts(
        "InvalidArgumentError",
        told,
        f"Error in user-defined function passed to MapDataset:4: {told}",
        node="GatherV2",
    )
    model_failure = replace(map_failure, raw_message=told, node="sequential/embedding/GatherV2")
    for failure, expected in ((map_failure, ["FIT212"]), (model_failure, [])):
        diagnosis = diagnose([Case(Moment.AFTER_FAILURE, {"FailureFacts": (failure,)})], select=["FIT212"])
        assert [finding.id for finding in diagnosis.findings] == expected
