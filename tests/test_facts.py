"""Facts are plain data that survives JSON."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fitdoctor import facts
from fitdoctor.diagnosis import Location
from fitdoctor.facts import Argument, Code, LayerFacts, ModelFacts, Unknown
from fitdoctor.json_codec import from_plain, to_plain
from tests.strategies import drawn

CLASSES = [
    cls
    for cls in (getattr(facts, name) for name in facts.__all__)
    if dataclasses.is_dataclass(cls) and cls is not Unknown
]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_fact_survives_json(cls):
    @settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
    @given(drawn(cls))
    def survives(fact):
        assert from_plain(cls, json.loads(json.dumps(to_plain(fact), allow_nan=False))) == fact

    survives()


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_facts_are_frozen(cls):
    with pytest.raises(dataclasses.FrozenInstanceError):
        object.__new__(cls).anything = 1


@given(st.text())
def test_unknown_is_false_whatever_the_reason(reason):
    assert not Unknown(reason)


def _argument(name, text):
    place = Location("a.py", 1, 1, 1, 2)
    return Argument(name, text, place, place)


def test_an_argument_is_found_by_keyword_and_by_position():
    code = Code(
        Location("a.py", 1),
        "f(x, y, k=z)",
        arguments=(_argument("", "x"), _argument("", "y"), _argument("k", "z")),
    )
    assert code.argument("k").text == "z"
    assert code.argument("units", 1).text == "y"
    assert code.argument("units", 2) is None
    assert code.argument("units") is None


def test_layers_of_nested_models_come_in_order():
    inner = LayerFacts(
        "inner", "Sequential", 1, sublayers=(LayerFacts("b", "Dense", 0), LayerFacts("c", "Dense", 1))
    )
    model = ModelFacts(layers=(LayerFacts("a", "Dense", 0), inner, LayerFacts("d", "Dense", 2)))
    assert [layer.name for layer in model.every_layer()] == ["a", "inner", "b", "c", "d"]
