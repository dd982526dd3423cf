"""Moves propose what the facts allow, and nothing that plainly cannot pass."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fitdoctor.cases import SeenCall
from fitdoctor.diagnosis import Applicability, Location
from fitdoctor.edits import apply_edits
from fitdoctor.facts import (
    ArrayFacts,
    Code,
    DataFacts,
    FailureSummary,
    FitFacts,
    LayerFacts,
    LossFacts,
    ModelFacts,
    Outcome,
    Spec,
    Statistics,
    Trial,
)
from fitdoctor.repair.moves import proposals
from fitdoctor.source.module import Module
from fitdoctor.source.read import source_from_text

TEXT = """import keras
import numpy as np
import tensorflow as tf
x = load()
y = labels()
model = keras.Sequential([keras.Input((8, 3)), keras.layers.Dense(3, activation="softmax")])
model.compile(loss="sparse_categorical_crossentropy")
model.fit(x, y, steps_per_epoch=9)
"""


def code(text: str, source: str = TEXT) -> Code:
    """The piece of the program that says this."""
    import ast

    module = Module(source_from_text(source, "train.py"))
    nodes = [node for node in ast.walk(module.tree) if isinstance(node, ast.expr)]
    return module.code(next(node for node in nodes if module.segment(node) == text))


def call(
    x: tuple[int | None, ...] = (64, 8, 3),
    y: tuple[int, ...] = (64,),
    labels: Statistics | None = None,
    loss: str = "sparse_categorical_crossentropy",
    **data: object,
) -> SeenCall:
    dense = LayerFacts(
        "dense",
        "Dense",
        0,
        (("units", "3"), ("activation", "softmax")),
        code=code('keras.layers.Dense(3, activation="softmax")'),
    )
    model = ModelFacts(
        kind="sequential",
        inputs=(Spec((None, 8, 3), "float32"),),
        outputs=(Spec((None, 3), "float32"),),
        layers=(dense,),
        losses=(LossFacts(loss, from_logits=False, code=code('"sparse_categorical_crossentropy"')),),
        input_code=code("keras.Input((8, 3))"),
    )
    facts = DataFacts(
        x=(
            ArrayFacts(
                "x", container="numpy.ndarray", shape=x, dtype="float32", code=code("load()"), use=code("x")
            ),
        ),
        y=(
            ArrayFacts(
                "y",
                container="numpy.ndarray",
                shape=y,
                dtype="int64",
                statistics=labels or Statistics(64, True, 0, 2, integral=True),
                code=code("labels()"),
                use=code("y"),
            ),
        ),
        batches=2,
    )
    fit = FitFacts(code=code("model.fit(x, y, steps_per_epoch=9)"))
    return SeenCall(model, fit, (replace(facts, **data),))  # type: ignore[arg-type]


def lines(seen: SeenCall) -> dict[str, Applicability]:
    """What each proposal makes of the lines that it changes, and how safe it is."""
    found = {}
    for fix in proposals(seen):
        new = apply_edits(TEXT, fix.edits)
        changed = [line for line in new.split("\n") if line not in TEXT.split("\n")]
        found["; ".join(changed)] = fix.applicability
    return found


def test_a_call_that_fits_gets_no_proposal():
    forward = Outcome((Spec((None, 3), "float32"),))
    assert lines(call(trial=Trial(forward, Outcome()))) == {}


def test_axes_in_another_order_are_transposed_never_reshaped():
    found = lines(call(x=(64, 3, 8)))
    assert found["x = load().transpose((0, 2, 1))"] is Applicability.SAFE
    assert not any("reshape" in line for line in found)


def test_flat_samples_are_reshaped():
    assert lines(call(x=(64, 24)))["x = load().reshape((-1, 8, 3))"] is Applicability.SAFE


def test_samples_of_other_axes_are_reshaped_only_as_an_unsafe_repair():
    assert lines(call(x=(64, 4, 6)))["x = load().reshape((-1, 8, 3))"] is Applicability.UNSAFE


def test_the_model_may_take_the_shape_of_the_data():
    found = lines(call(x=(64, 9, 3), y=(64, 8)))
    assert any("keras.Input((9, 3))" in line and how is Applicability.UNSAFE for line, how in found.items())


def test_labels_that_start_at_one_are_shifted():
    found = lines(call(labels=Statistics(64, True, 1, 3, integral=True)))
    assert found["y = (labels() - 1)"] is Applicability.SAFE
    assert any("Dense(4" in line and how is Applicability.UNSAFE for line, how in found.items())


def test_labels_that_no_shift_brings_into_range_are_not_shifted():
    found = lines(call(labels=Statistics(64, True, 1, 9, integral=True)))
    assert not any(" - 1" in line for line in found)


def test_one_hot_rows_get_their_loss_or_become_numbers():
    rows = Statistics(64, True, 0, 1, integral=True, row_sums=(1.0, 1.0))
    found = lines(call(y=(64, 3), labels=rows))
    assert 'model.compile(loss="categorical_crossentropy")' in found
    assert "y = labels().argmax(axis=-1)" in found


def test_more_steps_than_batches_are_left_out():
    seen = call()
    seen = replace(seen, fit=replace(seen.fit, steps_per_epoch=9))
    assert lines(seen)["model.fit(x, y)"] is Applicability.UNSAFE


def test_a_dataset_without_batches_is_batched():
    assert (
        lines(call(x=(8, 3), form="dataset"))["model.fit(x.batch(32), y, steps_per_epoch=9)"]
        is Applicability.SAFE
    )


@pytest.mark.parametrize("form", ["generator", "pydataset", "other"])
def test_forms_that_cannot_be_rewritten_are_left_alone(form):
    assert not any("x" in line.split("=")[0] for line in lines(call(x=(64, 24), form=form)))


def test_a_layer_that_lacks_an_axis_gets_it():
    failure = FailureSummary(
        "ValueError",
        'Input 0 of layer "conv1d" is incompatible with the layer: expected min_ndim=3, found ndim=2. '
        "Full shape received: (None, 24)",
        "conv1d",
    )
    seen = call(x=(64, 24), trial=Trial(Outcome(failure=failure)))
    assert "x = np.expand_dims(load(), axis=-1)" in lines(seen)


def test_locations_stay_in_the_program():
    for fix in proposals(call(x=(64, 3, 8))):
        assert all(
            isinstance(edit.location, Location) and edit.location.path == "train.py" for edit in fix.edits
        )
