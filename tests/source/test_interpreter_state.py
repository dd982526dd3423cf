"""The names and objects of the interpreter at one point, and their copies."""

from __future__ import annotations

from fitdoctor.source.interpreter.state import State, join_states
from fitdoctor.source.interpreter.values import UNTOLD, Plain


def test_a_copy_and_its_origin_do_not_change_each_other() -> None:
    origin = State()
    origin.names(0).update({"x": Plain(1), "y": Plain(1)})
    copy = origin.copy()
    copy.names(0)["x"] = Plain(2)
    origin.names(0)["y"] = Plain(3)
    assert origin.frames == {0: {"x": Plain(1), "y": Plain(3)}}
    assert copy.frames == {0: {"x": Plain(2), "y": Plain(1)}}


def test_what_two_branches_leave_alone_is_shared() -> None:
    before = State()
    before.names(0)["x"] = Plain(1)
    before.names(1)["y"] = Plain(1)
    one, other = before.copy(), before.copy()
    one.names(1)["y"] = Plain(2)
    joined = join_states(one, other)
    assert joined.frames[0] is before.frames[0]
    assert joined.frames[1] == {"y": UNTOLD}
    joined.names(0)["x"] = Plain(4)
    assert before.frames[0] == {"x": Plain(1)}
