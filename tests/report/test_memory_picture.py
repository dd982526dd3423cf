"""The picture of memory over a step, in the page of a run whose memory was not enough."""

from __future__ import annotations

import pytest

from fitdoctor.diagnosis import Diagnosis, Location, MemoryCourse
from fitdoctor.memory.estimate import Estimate, course_of_layers
from fitdoctor.report import render

LAYERS = (("conv", 100, 40), ("dense", 300, 20))
GUESS = Estimate(400, 800, 400, 60, 10, 40, 50, LAYERS)


def test_activations_gather_and_go():
    points = course_of_layers(GUESS, 10)
    forward = [size for stage, size in points if stage == "forward"]
    assert forward == [1300, 1700, 1900]
    assert max(size for _stage, size in points) <= GUESS.peak(10)
    assert points[-1] == ("update", 1300)


def test_it_is_drawn_with_what_was_free_and_kept_in_the_json():
    pytest.importorskip("jinja2")
    course = MemoryCourse("fit", Location("train.py", 12), 10, course_of_layers(GUESS, 10), free=1500)
    diagnosis = Diagnosis(memory=(course,))
    page = render(diagnosis, "html")
    assert "<svg" in page and "what is free" in page and "batch of 10" in page and "train.py:12" in page
    assert Diagnosis.from_json(diagnosis.to_json()).memory == (course,)
    assert "<svg" not in render(Diagnosis(), "html")
