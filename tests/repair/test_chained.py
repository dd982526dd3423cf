"""Programs with several mistakes, each hidden by the one before, are repaired until they run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fork_server import ForkServer
from tests.support.repaired import repaired

PROGRAMS = Path(__file__).parent / "chained"
REPAIRED = {
    "labels_shape_metric": ["FIT101", "FIT203", "FIT302"],
    "keras2_string_labels": ["FIT102", "FIT106", "FIT902"],
    "conv_axis_onehot_dropout": ["FIT201", "FIT302", "FIT327"],
    "lists_generator_fit": ["FIT107", "FIT304", "FIT902"],
    "dataset_not_batched_labels": ["FIT203", "FIT701", "FIT902"],
    "functional_not_called": ["FIT308", "FIT309", "FIT310", "FIT322"],
    "checkpoint_split_classweight": ["FIT108", "FIT212", "FIT905"],
    "input_width_units_validation": ["FIT101", "FIT205", "FIT712"],
    "four_in_one_fit": ["FIT203", "FIT302", "FIT701"],
}


@pytest.mark.tf
@pytest.mark.parametrize("name", REPAIRED)
def test_every_mistake_is_repaired(server: ForkServer, name: str):
    search = repaired(server, PROGRAMS / f"{name}.py")
    assert sorted(each.finding.id for each in search.mended) == REPAIRED[name]
    assert search.clean and all(each.verified for each in search.mended)


@pytest.mark.tf
def test_the_known_mistakes_are_repaired_before_one_that_is_not(server: ForkServer):
    search = repaired(server, PROGRAMS / "unknown_last.py")
    assert [each.finding.id for each in search.mended] == ["FIT902", "FIT203"]
    assert not search.clean and search.last.wrong.startswith("raises FileNotFoundError")


@pytest.mark.tf
def test_safe_repairs_are_made_before_one_that_is_not(server: ForkServer):
    search = repaired(server, PROGRAMS / "third_needs_unsafe.py", unsafe=False)
    assert [each.finding.id for each in search.mended] == ["FIT203", "FIT101"]
    assert search.last.wrong.startswith("stops at FIT101")
    assert "(16,)" in search.held_back[-1][1].fix.title
