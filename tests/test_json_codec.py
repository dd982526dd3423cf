"""Plain data: to JSON and back."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import pytest

from fitdoctor.diagnosis import Location, Severity
from fitdoctor.facts import Spec, Statistics, Unknown
from fitdoctor.json_codec import from_plain, to_plain


def test_what_is_not_known_keeps_its_reason():
    spec = Spec(Unknown("made by a generator"), "float32")
    assert from_plain(Spec, to_plain(spec)) == spec


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_special_floats_are_written_as_strict_json(value):
    written = json.dumps(to_plain(Statistics(1, True, mean=value)), allow_nan=False)
    read = from_plain(Statistics, json.loads(written))
    assert read.mean == value or (math.isnan(value) and math.isnan(read.mean))


def test_a_whole_number_is_read_where_a_float_is_asked_for():
    read = from_plain(Statistics, {"count": 1, "complete": True, "mean": 3})
    assert read.mean == 3.0 and isinstance(read.mean, float)


def test_fields_that_were_added_later_keep_their_defaults():
    assert from_plain(Spec, {"shape": [None, 8], "dtype": "float32"}) == Spec((None, 8), "float32")


def test_enums_are_written_by_value():
    assert to_plain(Severity.ERROR) == "error"


@dataclass(frozen=True)
class _Numbers:
    count: int


@pytest.mark.parametrize(
    ("cls", "plain"),
    [
        (_Numbers, {"count": True}),
        (_Numbers, {"count": "3"}),
        (_Numbers, []),
        (Location, {"path": "a.py", "line": None}),
        (Spec, {"shape": "wide", "dtype": "float32"}),
    ],
)
def test_what_does_not_fit_is_refused(cls, plain):
    with pytest.raises(ValueError, match=r"expected|fits"):
        from_plain(cls, plain)
