"""Edits are rewritten as a person would write them, and mean the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fitdoctor.diagnosis import Applicability, Edit, Fix, Location
from fitdoctor.edits import apply_edits
from fitdoctor.source.simplify import simplified, simplified_edits


def edited(text, old, new, line=1):
    """The text, and the edits, after `old` on that line was replaced by `new`."""
    column = text.split("\n")[line - 1].index(old) + 1
    edit = Edit(Location("a.py", line, column, line, column + len(old)), new)
    edits = simplified_edits(text, [edit])
    return apply_edits(text, edits), edits


@pytest.mark.parametrize(
    ("line", "old", "new", "result"),
    [
        ("g = 1 + a * n // c", "1 + a * n // c", "(1 + a * n // c) - 1", "g = a * n // c"),
        ("g = f(1 + a)[0]  # one", "1 + a", "(1 + a) - 1", "g = f(a)[0]  # one"),
        ("g = 2 * (1 + a)", "1 + a", "(1 + a) - 1", "g = 2 * a"),
        ("g = 2 * (1 + a - b)", "1 + a - b", "(1 + a - b) - 1", "g = 2 * (a - b)"),
        ("g = (1 + a + b)", "1 + a + b", "(1 + a + b) - 1", "g = a + b"),
        ("g = 1 + (a if c else b)", "1 + (a if c else b)", "(1 + (a if c else b)) - 1", "g = a if c else b"),
        ("g = a + 3", "a + 3", "(a + 3) - 1", "g = a + 2"),
        ("g = a - 1", "a - 1", "(a - 1) - 1", "g = a - 2"),
        ("fit(x, y)", "y", "(y - 1)", "fit(x, y - 1)"),
        ("g = y * 2", "y", "(y - 1)", "g = (y - 1) * 2"),
        ("g = np.stack(x)", "np.stack(x)", "np.array(np.stack(x))", "g = np.stack(x)"),
        ("g = x.astype(t)", "x.astype(t)", "x.astype(t).astype(t)", "g = x.astype(t)"),
        ("g = x.astype(t)", "x.astype(t)", "x.astype(t).astype(u)", "g = x.astype(t).astype(u)"),
        ("g = tf.cast(x, t)", "tf.cast(x, t)", "tf.cast(tf.cast(x, t), t)", "g = tf.cast(x, t)"),
        ("g = x.reshape(3, 4)", "x.reshape(3, 4)", "x.reshape(3, 4).reshape(-1, 2)", "g = x.reshape(-1, 2)"),
        ("g = np.reshape(x, 4)", "np.reshape(x, 4)", "np.reshape(x, 4).reshape(2, 2)", None),
        ("f(x.reshape(9, 1, n))", "x.reshape(9, 1, n)", "np.moveaxis(x.reshape(9, 1, n), 1, 2)", "f(x.reshape(9, n, 1))"),
        ("f(x[..., 0])", "x[..., 0]", "np.expand_dims(x[..., 0], -1)", "f(x[..., 0:1])"),
        ("f(x[..., -1])", "x[..., -1]", "x[..., -1][..., None]", "f(x[..., -1:])"),
        ("f(x.astype(t))", "x.astype(t)", "np.reshape(x.astype(t), (-1, 1))", "f(x.astype(t).reshape(-1, 1))"),
        ("f(x.T)", "x.T", "x.T.T", "f(x)"),
        ("f(d.batch(8))", "d.batch(8)", "d.batch(8).unbatch()", "f(d)"),
        ("v = to_categorical(y, 3)", "to_categorical(y, 3)", "np.argmax(to_categorical(y, 3), axis=-1)", "v = y"),
    ],
)  # fmt: skip
def test_an_edit_reads_as_a_person_would_write_it(line, old, new, result):
    assert edited(line, old, new)[0] == (result or line.replace(old, new))


def test_adding_to_a_comparison_makes_numbers_of_it_and_stays():
    assert edited("g = 1 + (x > 0)", "1 + (x > 0)", "(1 + (x > 0)) - 1")[0] == "g = 1 + (x > 0) - 1"


def test_only_what_changes_is_edited():
    text = "grades = 1 + taste * 10 // count  # of ten"
    _new, edits = edited(text, "1 + taste * 10 // count", "(1 + taste * 10 // count) - 1")
    assert edits == [Edit(Location("a.py", 1, 10, 1, 14), "")]


def test_the_users_own_way_to_write_is_left_alone():
    text = "fit(np.array(np.array(x)), (y), epochs=(3))"
    assert edited(text, "(y)", "((y) - 1)")[0] == "fit(np.array(np.array(x)), y - 1, epochs=(3))"
    assert edited("fit(f(x - 1 + 1))", "f(x - 1 + 1)", "g(f(x - 1 + 1))")[0] == "fit(g(f(x - 1 + 1)))"


def test_a_line_that_assigns_a_name_to_itself_goes():
    text = "ds = load()\nds = ds.batch(16)  # again\nfit(ds)"
    assert edited(text, ".batch(16)", "", line=2)[0] == "ds = load()\nfit(ds)"
    assert edited("if b:\n    d = d.batch(1)\n", ".batch(1)", "", line=2)[0] == "if b:\n    pass\n"


def test_lines_and_comments_inside_an_expression_stay():
    text = "y = 1 + f(\n    a,  # first\n    b,\n)"
    edit = Edit(Location("a.py", 1, 5, 4, 2), f"({text[4:]}) - 1")
    assert apply_edits(text, simplified_edits(text, [edit])) == text.replace("1 + ", "")


def test_text_behind_other_characters_is_found():
    assert edited("é = 'ü'; y = 1 + a", "1 + a", "(1 + a) - 1")[0] == "é = 'ü'; y = a"


def test_a_fix_that_changes_nothing_is_only_told():
    fix = Fix("convert", Applicability.SAFE, (Edit(Location("a.py", 1, 5, 1, 16), "np.array(np.array(x))"),))
    lines = {1: "y = np.array(x)"}
    simpler = simplified(fix, lambda location: lines.get(location.line))
    assert simpler.edits == () and simpler.applicability is Applicability.DISPLAY


@st.composite
def expressions(draw, depth=3):
    """Text of an arithmetic expression of arrays `a` and `b`, in needless parentheses here and there."""
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from(["a", "b", "a[..., 0:1]", *map(str, range(4))]))
    left, right = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    operator = draw(st.sampled_from(["+", "-", "*"]))
    text = f"{left} {operator} {right}"
    return draw(st.sampled_from([f"({text})", text, f"{left} {operator} ({right})"]))


WRAPPED = [
    "({}) - 1", "({}) + 2", "({} - 1)", "np.array({})", "np.array(np.array({}))", "({}).astype(int).astype(int)",
    "np.expand_dims(({})[..., 0], -1)", "({}).reshape(-1, 3).reshape(3, -1)", "({}).T.T",
    "np.reshape(np.array({}), (-1, 2))", "np.reshape(np.array({}), 4)",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    inner=expressions(),
    templates=st.lists(st.sampled_from(WRAPPED), min_size=1, max_size=3),
    context=st.sampled_from(["{}", "({})", "2 * ({})", "[{}][0]", "-({})", "({}) + 1", "np.abs({})"]),
)
def test_simpler_text_has_the_same_value(inner, templates, context):
    new = inner
    for template in templates:
        new = template.format(new)
    names = {"np": np, "a": np.arange(12).reshape(3, 4), "b": np.arange(4) * 3 - 5}
    old = f"y = {context.format('(' + inner + ')')}"
    written = f"y = {context.format('(' + new + ')')}"
    try:
        expected = eval(written[4:], dict(names))
    except (ValueError, IndexError, AttributeError, TypeError, SyntaxError):
        return
    place = Location("a.py", 1, 5, 1, len(old) + 1)
    result = apply_edits(old, simplified_edits(old, [Edit(place, written[4:])]))
    value = eval(result[4:], dict(names))
    assert np.array_equal(value, expected), (written, result)
    assert len(result) <= len(written)
