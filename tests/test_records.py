"""A class whose methods are written late behaves as any dataclass does."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
import re
import subprocess
import sys

import pytest

from fitdoctor.diagnosis import Location
from fitdoctor.records import dataclass, field


def classes():
    @dataclass(frozen=True)
    class First:
        x: int
        y: tuple[int, ...] = field(default_factory=tuple)

    @dataclass(frozen=True)
    class Second(First):
        z: int = 3

    return First, Second


def test_instances_of_a_class_and_of_its_heir():
    First, Second = classes()
    assert Second(1) == Second(1, (), 3) != Second(2)
    assert repr(First(1)).endswith("First(x=1, y=())")
    assert hash(First(1)) == hash(First(1))
    assert dataclasses.replace(Second(1), z=4).z == 4


@pytest.mark.parametrize("ask", [dataclasses.fields, dataclasses.is_dataclass, inspect.signature])
def test_a_class_can_be_asked_before_it_has_an_instance(ask):
    _First, Second = classes()
    assert ask(Second)
    assert list(inspect.signature(Second).parameters) == ["x", "y", "z"]


def test_frozen_is_frozen_and_arguments_are_counted():
    First, _Second = classes()
    with pytest.raises(dataclasses.FrozenInstanceError):
        First(1).x = 2
    with pytest.raises(TypeError, match="positional argument"):
        First(1, (), 3)


def test_what_another_process_made_is_whole_here():
    made = pickle.dumps(Location("a.py", 1, 1, 1, 2))
    code = (
        "import pickle, sys; one = pickle.loads(sys.stdin.buffer.read()); "
        "assert one == pickle.loads(pickle.dumps(one)) and one.line == 1 and hash(one)"
    )
    subprocess.run([sys.executable, "-c", code], input=made, check=True)


def test_a_pattern_does_what_a_compiled_one_does():
    number = re.compile(r"(?P<value>\d+)")
    assert number.search("a 12").group("value") == "12"
    assert number.sub("n", "1 2") == "n n" and number.fullmatch("x") is None
    assert number.pattern == r"(?P<value>\d+)" and number.groups == 1
