"""Text edits: what they make of the user's lines."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitdoctor.diagnosis import Applicability, Edit, Location
from fitdoctor.edits import (
    apply_edits,
    fix,
    insert_after,
    insert_before,
    remove_argument,
    rename_argument,
    replace_code,
    set_argument,
    spell,
    unsafe,
    wrap,
)
from fitdoctor.facts import Argument, Code, SourceFacts, Unknown
from fitdoctor.source.line_edits import delete_lines
from fitdoctor.source.module import Module


def span(text, piece, line=1, start=0):
    column = text.index(piece, start) + 1
    return Location("a.py", line, column, line, column + len(piece))


def call(text, *arguments, indent=""):
    """The code of the call in a one-line text, with these arguments."""
    parts = []
    for written in arguments:
        name, _equals, value = written.rpartition("=")
        whole = span(text, written)
        parts.append(
            Argument(
                name, value, span(text, value, start=whole.column - 1 + len(written) - len(value)), whole
            )
        )
    close = len(text.rstrip()) - 1
    return Code(
        location=span(text, text.strip()),
        text=text.strip(),
        arguments=tuple(parts),
        close_paren=Location("a.py", 1, close + 1, 1, close + 1),
        statement=span(text, text.strip()),
        indent=indent,
        spellings=(("numpy", "np"),),
        import_at=Location("a.py", 1, 1, 1, 1),
    )


@pytest.mark.parametrize(
    ("text", "template", "result"),
    [
        ("labels", "{} - 1", "labels - 1"),
        ("a + b", "{}.reshape(-1)", "(a + b).reshape(-1)"),
        ("data['x']", "{}.reshape(-1)", "data['x'].reshape(-1)"),
        ("f(x)", "{}.numpy()", "f(x).numpy()"),
        ("-x", "{}.numpy()", "(-x).numpy()"),
        ("a if b else c", "np.array({})", "np.array(a if b else c)"),
    ],
)
def test_a_piece_is_wrapped_with_parentheses_only_where_they_are_needed(text, template, result):
    assert wrap(Code(span(text, text), text), template)[0].replacement == result


@pytest.mark.parametrize(
    ("text", "edits", "result"),
    [
        ("Dense(10)", lambda c: set_argument(c, "units", "11", 0), "Dense(11)"),
        (
            "Dense(10)",
            lambda c: set_argument(c, "activation", '"softmax"'),
            'Dense(10, activation="softmax")',
        ),
        ("Dense(10)", lambda c: remove_argument(c, "activation"), "Dense(10)"),
    ],
)
def test_arguments_are_set(text, edits, result):
    code = call(text, "10")
    assert apply_edits(text, edits(code)) == result


def test_a_text_stands_in_the_quotes_of_the_call():
    text = "Dense(1, activation='softmax')"
    code = call(text, "1", "activation='softmax'")
    assert (
        apply_edits(text, set_argument(code, "activation", '"sigmoid"')) == "Dense(1, activation='sigmoid')"
    )


def test_an_argument_is_added_to_an_empty_call():
    assert apply_edits("compile()", set_argument(call("compile()"), "loss", '"mse"')) == 'compile(loss="mse")'


@pytest.mark.parametrize(
    ("name", "result"),
    [("x", "fit(loss=b, epochs=c)"), ("loss", "fit(x=a, epochs=c)"), ("epochs", "fit(x=a, loss=b)")],
)
def test_an_argument_goes_with_its_comma(name, result):
    text = "fit(x=a, loss=b, epochs=c)"
    assert apply_edits(text, remove_argument(call(text, "x=a", "loss=b", "epochs=c"), name)) == result


def test_the_only_argument_goes_alone():
    assert apply_edits("fit(x=a)", remove_argument(call("fit(x=a)", "x=a"), "x")) == "fit()"


def test_a_keyword_is_renamed_and_its_value_stays():
    text = "fit(nb_epoch=5)"
    assert (
        apply_edits(text, rename_argument(call(text, "nb_epoch=5"), "nb_epoch", "epochs")) == "fit(epochs=5)"
    )


def test_lines_are_inserted_at_the_statement_s_indentation():
    text = "    model.fit(x)"
    code = call(text, "x", indent="    ")
    assert (
        apply_edits(text, insert_before(code, "model.compile()")) == "    model.compile()\n    model.fit(x)"
    )
    assert apply_edits(text, insert_after(code, "done()")) == "    model.fit(x)\n    done()"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("def f():\n    a()  # why\n    b()\n", "def f():\n    b()\n"),
        ("def f():\n    a()\n", "def f():\n    pass\n"),
        ("a(); b()\n", "pass; b()\n"),
        ("b()\na()", "b()\n"),
    ],
)
def test_a_deleted_statement_takes_its_lines_along_where_nothing_else_needs_them(text, left):
    module = Module(SourceFacts("train.py", text))
    gone = next(call for call in module.nodes(ast.Call) if module.segment(call) == "a()")
    assert apply_edits(text, [delete_lines(module, module.statement(gone))]) == left


def test_a_library_is_spelt_as_the_file_does_or_imported():
    code = call("fit(x)", "x")
    assert spell(code, "numpy", "np") == ("np", ())
    name, edits = spell(code, "tensorflow", "tf")
    assert name == "tf" and apply_edits("fit(x)", edits) == "import tensorflow as tf\nfit(x)"
    assert spell(code, "keras", "keras")[1][0].replacement == "import keras\n"


def test_code_that_is_not_known_cannot_be_edited():
    nowhere = Unknown("made elsewhere")
    moves = [
        replace_code(nowhere, "x"),
        wrap(nowhere, "f({})"),
        set_argument(nowhere, "a", "1"),
        remove_argument(nowhere, "a"),
        rename_argument(nowhere, "a", "b"),
        insert_before(nowhere, "x"),
        insert_after(nowhere, "x"),
    ]
    assert moves == [()] * len(moves)


def test_a_fix_without_edits_is_to_be_read_only():
    assert fix("change it", ()).applicability is Applicability.DISPLAY
    edit = Edit(Location("a.py", 1, 1, 1, 1), "x")
    assert fix("change it", (edit,)).applicability is Applicability.SAFE
    assert unsafe("change it", (edit,)).applicability is Applicability.UNSAFE


@pytest.mark.parametrize(
    "edits",
    [
        [Edit(Location("a.py", 1, 1, 1, 4), "x"), Edit(Location("a.py", 1, 3, 1, 5), "y")],
        [Edit(Location("a.py", 9, 1, 9, 2), "x")],
        [Edit(Location("a.py", 1, 4, 1, 2), "x")],
    ],
)
def test_edits_that_cannot_be_made_are_refused(edits):
    with pytest.raises(ValueError, match=r"overlap|outside"):
        apply_edits("abcdef\n", edits)


def test_the_last_line_goes_whole_with_or_without_its_line_break():
    whole = Edit(Location("t.py", 2, 1, 3, 1), "")
    assert apply_edits("a = 1\nb = 2", [whole]) == apply_edits("a = 1\nb = 2\n", [whole]) == "a = 1\n"


def test_columns_count_characters_not_bytes():
    text = 'größe = "ß"; y = 1'
    column = text.index("1") + 1
    assert apply_edits(text, [Edit(Location("a.py", 1, column, 1, column + 1), "2")]) == text.replace(
        "1", "2"
    )


@given(st.text(alphabet="ab\n\f\u2028", max_size=40), st.data())
def test_an_insertion_changes_nothing_else(text, data):
    lines = text.split("\n")
    line = data.draw(st.integers(1, len(lines)))
    column = data.draw(st.integers(1, len(lines[line - 1]) + 1))
    result = apply_edits(text, [Edit(Location("a.py", line, column, line, column), "INSERTED")])
    assert result.replace("INSERTED", "") == text
    assert result.split("\n")[line - 1].index("INSERTED") == column - 1
