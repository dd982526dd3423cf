"""The way of the data: its stations in order, and where what is given and what is expected part."""

from __future__ import annotations

import pytest

from fitdoctor.diagnosis import Diagnosis, Location, Way, WayStep
from fitdoctor.engine_inputs import SeenCall
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
    PipelineStep,
    Spec,
    Trial,
)
from fitdoctor.records import replace
from fitdoctor.report import render
from fitdoctor.runner.data_path import way_of, with_break
from fitdoctor.runner.trace import trace_table
from tests.report.samples import PRIMARY, SECOND

GIVEN = Spec((None, 28, 28), "float32")


def code(line: int) -> Code:
    return Code(Location("train.py", line), "…")


def call(layer: str = "", loss: FailureSummary | None = None) -> SeenCall:
    refused = FailureSummary("ValueError", "no such shape\nmore", layer=layer, inputs=(GIVEN,))
    trial = Trial(
        forward=Outcome((Spec((None, 10), "float32"),)) if loss else Outcome(failure=refused),
        loss=Outcome(failure=loss) if loss else Outcome(),
    )
    data = DataFacts(
        form="dataset",
        pipeline=(
            PipelineStep("from_tensor_slices", (Spec((28, 28), "uint8"),), code=code(3)),
            PipelineStep("batch", (GIVEN,), code=code(4)),
        ),
        x=(ArrayFacts("x", shape=(None, 28, 28), dtype="float32", device="GPU:0"),),
        first_batch=(GIVEN,),
        trial=trial,
    )
    model = ModelFacts(
        name="net",
        inputs=(Spec((None, 784), "float32"),),
        layers=(LayerFacts("hidden", "Dense", 0, output_shapes=((None, 10),), code=code(6)),),
        losses=(LossFacts("mse", code=code(8)),),
        device="CPU:0",
    )
    return SeenCall(model, FitFacts(code=code(9)), (data,))


def test_the_stations_stand_in_order_with_their_lines_and_devices() -> None:
    way = way_of(call())
    assert [step.what for step in way.steps] == [
        ".from_tensor_slices()",
        ".batch()",
        "x",
        "first batch",
        "model input",
        "Dense hidden",
        "loss mse",
        "tried on training data: forward pass",
        "tried on training data: loss",
    ][: len(way.steps)]
    assert way.steps[0].location == Location("train.py", 3)
    assert [step.device for step in way.steps[:6]] == ["host", "host", "GPU:0", "", "CPU:0", "CPU:0"]


def test_where_expectation_and_reality_part() -> None:
    def parted(seen: SeenCall) -> list[str]:
        return [step.what for step in way_of(seen).steps if step.note]

    assert parted(call("net"))[0] == "model input"
    assert parted(call("hidden"))[0] == "Dense hidden"
    assert parted(call(loss=FailureSummary("ValueError", "shapes", inputs=(GIVEN,))))[0] == "loss mse"
    (first, *_rest) = [step.note for step in way_of(call("net")).steps if step.note]
    assert first == "rejects (None, 28, 28)"


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_table_marks_it_and_fits_the_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = trace_table(call("net")).splitlines()
    assert lines[0] == "data flow through `fit` (train.py:9)"
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert "✗ model input: rejects (None, 28, 28)" in text
    assert "Dense hidden" in text and "train.py:3" in text


def test_the_page_draws_it_and_json_keeps_it() -> None:
    diagnosis = Diagnosis(ways=(way_of(call("<b>net")),))
    assert Diagnosis.from_json(diagnosis.to_json()).ways == diagnosis.ways
    page = render(diagnosis, "html")
    assert page.count("<tr") == len(diagnosis.ways[0].steps) + 1
    assert 'class="fd-break"' in page and "Dense hidden" in page


def test_each_loss_is_fed_by_the_labels_of_its_output() -> None:
    seen = call()
    y = tuple(ArrayFacts(f"y[{number}]", shape=(8,), dtype="int64") for number in range(2))
    data = replace(seen.data[0], y=y, y_structure="list")
    losses = (LossFacts("mse", output="price"), LossFacts("mae", output="kind"))
    model = replace(seen.model, losses=losses)

    def fed(data: DataFacts) -> list[tuple[str, ...]]:
        steps = way_of(replace(seen, model=model, data=(data,))).steps
        return [
            tuple(name for name in step.after if " y" in name)
            for step in steps
            if step.name.startswith("loss ")
        ]

    assert fed(data) == [("training y[0]",), ("training y[1]",)]
    keyed = (replace(y[0], key="kind"), replace(y[1], key="price"))
    assert fed(replace(data, y=keyed, y_structure="dict")) == [("training y[1]",), ("training y[0]",)]
    assert fed(replace(data, y=y[:1])) == [("training y[0]",)] * 2


def test_an_error_in_the_values_is_marked_where_they_are_rejected():
    steps = tuple(WayStep(stage, stage) for stage in ("data", "model", "model", "loss"))
    ways = (Way("fit", None, steps),)
    [way] = with_break(ways, PRIMARY)  # labels out of range
    assert [step.note for step in way.steps] == ["", "", "", "FIT203: 10, first in row 3, expected at most 9"]
    [way] = with_break(ways, replace(PRIMARY, id="FIT113"))
    assert [bool(step.note) for step in way.steps] == [False, True, False, False]
    for finding in (None, SECOND, replace(PRIMARY, id="FIT604")):
        assert with_break(ways, finding) == ways
    marked = (Way("fit", None, (replace(steps[0], note="raised"), *steps[1:])),)
    assert with_break(marked, PRIMARY) == marked
