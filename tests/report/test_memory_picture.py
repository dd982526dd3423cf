"""The picture of memory over a step, in the page of a run whose memory was not enough."""

from __future__ import annotations

import itertools

import pytest

from fitdoctor.diagnosis import Diagnosis, Location, MemoryCourse
from fitdoctor.memory.estimate import Estimate, course_of_layers
from fitdoctor.report import render
from fitdoctor.report.memory import drawn, phases

LAYERS = (("conv", 100, 40), ("dense", 300, 20))
GUESS = Estimate(400, 800, 400, 60, 10, 40, 50, LAYERS)


def test_activations_gather_and_go():
    points = course_of_layers(GUESS, 10)
    forward = [size for stage, size in points if stage == "forward"]
    assert forward == [1300, 1700, 1900]
    assert max(size for _stage, size in points) <= GUESS.peak(10)
    assert points[-1] == ("update", 1300)


def test_it_is_drawn_with_what_was_free_and_kept_in_the_json():
    course = MemoryCourse("fit", Location("train.py", 12), 10, course_of_layers(GUESS, 10), free=1500)
    diagnosis = Diagnosis(memory=(course,))
    page = render(diagnosis, "html")
    assert (
        "<svg" in page and "free for tensors" in page and "batch size of 10" in page and "train.py:12" in page
    )
    assert Diagnosis.from_json(diagnosis.to_json()).memory == (course,)
    assert "Memory over" not in render(Diagnosis(), "html")


def test_operations_of_another_stage_do_not_cut_a_phase():
    stages = (
        ["forward"] * 30
        + ["backward", "forward"] * 3
        + ["backward", "backward", "update"] * 20
        + ["update"] * 9
    )
    found = phases(stages)
    assert [stage for stage, _start, _end in found] == ["forward", "backward", "update"]
    assert found[0][1] == 0 and found[-1][2] == len(stages) - 1
    assert all(before[2] == after[1] for before, after in itertools.pairwise(found))
    assert found[1][1] in range(30, 37) and found[2][1] in range(95, 98)
    picture = drawn([(stage, 100 + index) for index, stage in enumerate(stages)], None, 200)
    assert len(picture["areas"]) == 3
    assert picture["phases"][1][1] == "backward pass with weight updates"


@pytest.mark.parametrize(
    "stages", [["forward"] * 3, ["update", "update"], ["backward", "update"], ["other"] * 4]
)
def test_a_step_without_some_phases_is_drawn(stages):
    found = phases(stages)
    assert [(found[0][1], found[-1][2])] == [(0, len(stages) - 1)]
