"""The text renderer: what a person reads at a terminal."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fitdoctor.diagnosis import Applicability, Diagnosis, Edit, Evidence, Excerpt, Fix, Invocation, Location
from fitdoctor.report import FORMATS, RenderError, render
from fitdoctor.report.paint import cells, shows_links
from tests.report.samples import EVERYTHING, FIT_LINE, PRIMARY, SECOND
from tests.strategies import drawn

WHOLE = """\
error[FIT203]: labels run from 1 to 10, but the model has 10 units: classes 0 to 9
 --> train.py:8:20
  |
8 | model.fit(x_train, y_train, epochs=5)
  |                    ^^^^^^^ argument `y` of `fit`
  |
  |                observed            expected
  | largest label  10, first in row 3  at most 9
  = seen: the last layer `dense` was made here (line 6)
  = note: the first batch that holds a 10 ends the training
help: shift the labels (safe; verified by running the repaired program)
  |
8 - model.fit(x_train, y_train, epochs=5)
8 + model.fit(x_train, y_train - 1, epochs=5)
help: or give the last layer 11 units
  = certain: found before the first step; details: fitdoctor explain FIT203

warning[FIT210] other.py:3: the loss expects logits, but `softmax` gives probabilities
info[FIT301] study.ipynb:cell 4:2: the model was not compiled

unexplained: ValueError: strange
  very strange
 --> train.py:8:1
  |
8 | model.fit(x_train, y_train, epochs=5)
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = called: fit
  = layer: dense
  = received: x: 1
  = note: no known cause matches this error

1 error, 1 warning, 1 info; use `--verbose` to see each in full
internal error: FIT999 judge: KeyError: 3
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """No file of the sample is on the disk."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_whole_report():
    assert render(EVERYTHING) == WHOLE


def test_verbose_shows_every_finding_in_full_and_what_was_not_judged():
    drawn = render(EVERYTHING, verbose=True)
    assert "warning[FIT210]: the loss expects" in drawn
    assert "3 + import keras\n4 | model = f()" in drawn
    assert "not checked: FIT101: the data is a generator" in drawn


def test_nothing_found_is_said():
    assert render(Diagnosis()) == "no problems found\n"


def test_one_finding_needs_no_count():
    assert "1 error" not in render(Diagnosis((PRIMARY,)))


def test_colour_changes_nothing_but_colour():
    colored = render(EVERYTHING, color=True)
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == WHOLE


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_a_report_fits_its_width(width):
    long = replace(
        PRIMARY,
        message=PRIMARY.message * 4,
        notes=("word " * 80,),
        location=replace(PRIMARY.location, line=12345),
    )
    excerpt = Excerpt("train.py", 12345, "x = 1; " * 50 + FIT_LINE)
    drawn = render(Diagnosis((long, SECOND), excerpts=(excerpt,)), width=width, verbose=True)
    assert max(cells(line) for line in drawn.split("\n")) <= width


def test_the_carets_stay_under_a_span_far_to_the_right():
    text = "x = 1; " * 50 + "culprit(y)" + "  # and on" * 30
    start = text.index("culprit") + 1
    finding = replace(PRIMARY, location=Location("train.py", 8, start, 8, start + 7), subject="", fixes=())
    shown = render(Diagnosis((finding,), excerpts=(Excerpt("train.py", 8, text),)), width=80).split("\n")
    number = next(number for number, line in enumerate(shown) if "^" in line)
    line, marks = shown[number - 1], shown[number]
    assert line[marks.index("^") : marks.rindex("^") + 1] == "culprit"


def test_carets_count_columns_of_the_terminal():
    text = 'ラベル = f("漢字", y)'
    start = text.index("y") + 1
    finding = replace(PRIMARY, location=Location("train.py", 8, start, 8, start + 1), fixes=())
    shown = render(Diagnosis((finding,), excerpts=(Excerpt("train.py", 8, text),))).split("\n")
    line, marks = shown[3], shown[4]
    assert cells(line[: line.index("y")]) == marks.index("^")


@pytest.mark.parametrize(
    ("fact", "line", "named"),
    [
        ("data.y.statistics", 8, True),
        ("model.layers", 3, True),
        ("data.y.shape", 3, False),
        ("model.layers", 8, False),
    ],
)
@pytest.mark.parametrize("subject", ["labels", "argument x of fit"])
def test_a_layer_or_loss_is_not_marked_as_data(fact, line, named, subject):
    evidence = Evidence("seen", "1", "2", fact, Location("train.py", line))
    finding = replace(PRIMARY, subject=subject, evidence=(evidence,))
    text = render(Diagnosis((finding,), excerpts=EVERYTHING.excerpts))
    assert re.search(r"\^+(.*)", text)[1] == (f" {subject}" if named else "")


def test_tabs_do_not_shift_the_carets():
    finding = replace(PRIMARY, location=Location("train.py", 8, 3, 8, 4), fixes=(), subject="")
    shown = render(Diagnosis((finding,), excerpts=(Excerpt("train.py", 8, "\t\ty"),))).split("\n")
    assert shown[3].index("y") == shown[4].index("^")


def test_highlighting_and_links_leave_the_text_as_it_is():
    shown = render(EVERYTHING, color=True, links=True)
    assert re.sub(r"\x1b\][^\x1b]*\x1b\\|\x1b\[[0-9;]*m", "", shown) == WHOLE
    assert re.search(r"\x1b\]8;id=[\d-]+;file:///.*/train\.py#8\x1b\\train\.py:8:20", shown)
    assert "\x1b[36m5\x1b[0m" in shown  # the number in `epochs=5`


def test_no_link_without_colour_or_without_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    assert "\x1b" not in render(EVERYTHING, links=True)
    assert "\x1b]8" not in render(EVERYTHING, color=True)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert shows_links(Terminal()) and not shows_links(io.StringIO()) and not shows_links(None)
    monkeypatch.setenv("TERM", "dumb")
    assert not shows_links(Terminal())


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_evidence_fits_and_no_word_is_broken(width):
    evidence = (
        Evidence(
            "arrays in `x` against inputs of the model",
            "(128, 15), (128, 6)",
            "(None, 15), (None, 6), (None, 1)",
        ),
        Evidence("the dtype of `y`", "float64", "int32 or int64"),
    )
    finding = replace(PRIMARY, evidence=evidence, fixes=(), notes=())
    lines = render(Diagnosis((finding,)), width=width).split("\n")
    assert max(map(cells, lines)) <= width
    words = {word for line in lines for word in line.split()}
    assert {word for each in evidence for word in each.claim.split() + each.observed.split()} <= words


def test_what_the_message_has_said_is_not_said_again_except_with_verbose():
    evidence = (
        Evidence("label 10 appears in row 25", "1..10", "0..9"),
        Evidence("units of `dense_2`", "10"),
    )
    diagnosis = Diagnosis((replace(PRIMARY, evidence=evidence),))
    shown = render(diagnosis)
    assert "= seen: label 10 appears in row 25\n" in shown
    assert "observed" not in shown and "units of" not in shown
    assert "= seen: units of `dense_2`: 10\n" in render(diagnosis, verbose=True)


def test_a_long_line_of_a_diff_is_shown_to_its_end():
    text = "model.fit(" + ", ".join(f"argument_{number}={number}" for number in range(20)) + ")"
    place = Location("train.py", 8, len(text), 8, len(text))
    fix = Fix("say so", Applicability.SAFE, (Edit(place, ", verbose=0"),))
    finding = replace(PRIMARY, location=place, fixes=(fix,))
    shown = render(Diagnosis((finding,), excerpts=(Excerpt("train.py", 8, text),)), width=60)
    assert max(map(cells, shown.split("\n"))) <= 60
    assert "argument_19=19, verbose=0)" in " ".join(shown.replace("  +  ", "").split())


def test_markup_in_the_user_s_text_is_text():
    message = "[red]no[/red] [bold] `x[/]`"
    excerpt = Excerpt("train.py", 8, "x = '[/red]'")
    for color in (False, True):
        shown = render(Diagnosis((replace(PRIMARY, message=message),), excerpts=(excerpt,)), color=color)
        bare = re.sub(r"\x1b\[[0-9;]*m", "", shown)
        assert message in bare and "x = '[/red]'" in bare


def test_codes_in_the_user_s_text_do_not_reach_the_terminal():
    evil = "\x1b]0;title\x07\x1b[2Jgone\u202egnorw"
    finding = replace(PRIMARY, message=evil, notes=(evil,), location=replace(PRIMARY.location, path=evil))
    diagnosis = Diagnosis((finding,), excerpts=(Excerpt(evil, 8, evil),))
    for text in (render(diagnosis), render(diagnosis, "concise"), render(diagnosis, color=True, links=True)):
        bare = re.sub(r"\x1b\]8;[^\x1b\x07]*\x1b\\|\x1b\[[0-9;]*m", "", text)
        assert "\x1b" not in bare and "\x07" not in bare and "\u202e" not in bare


def test_an_unpaired_backtick_is_kept():
    assert "it`s\n" in render(Diagnosis((replace(PRIMARY, message="it`s"),)))


def test_a_saved_line_wins_over_the_disk(elsewhere):
    (elsewhere / "train.py").write_text("\n" * 7 + "changed since\n", "utf-8")
    shown = render(EVERYTHING)
    assert FIT_LINE in shown and "changed since" not in shown


def test_the_line_before_is_shown_when_the_file_is_still_the_same(elsewhere):
    (elsewhere / "train.py").write_text("\n" * 6 + "model.compile()\n" + FIT_LINE + "\n", "utf-8")
    assert f"7 | model.compile()\n8 | {FIT_LINE}" in render(EVERYTHING)


def test_the_line_before_is_not_shown_when_the_file_has_changed(elsewhere):
    (elsewhere / "train.py").write_text("\n" * 6 + "model.compile()\nchanged\n", "utf-8")
    assert "model.compile()" not in render(EVERYTHING)


def test_nothing_but_python_is_read_for_a_report(elsewhere):
    (elsewhere / "secret.txt").write_text("password\n", "utf-8")
    finding = replace(PRIMARY, location=Location("secret.txt", 1), fixes=())
    assert "password" not in render(Diagnosis((finding,)))


def test_a_fix_over_several_lines_shows_what_changes():
    place = Location("train.py", 3, 5, 5, 2)
    lines = ["x = f(", "    1,", ")"]
    finding = replace(
        PRIMARY, location=place, fixes=(Fix("call `g`", Applicability.UNSAFE, (Edit(place, "g()"),)),)
    )
    excerpts = tuple(Excerpt("train.py", 3 + number, text) for number, text in enumerate(lines))
    shown = render(Diagnosis((finding,), excerpts=excerpts))
    assert "3 - x = f(\n4 -     1,\n5 - )\n3 + x = g()\n" in shown
    assert "help: call `g` (unsafe: changes what the model learns)" in shown


def test_a_fix_names_the_other_files_that_it_changes():
    places = [Location("model.py", 12, 1, 12, 8), Location("options.py", 3, 1, 3, 4)]
    edits = (Edit(places[0], "sigmoid"), Edit(places[1], "bce"))
    excerpts = (Excerpt("model.py", 12, "softmax"), Excerpt("options.py", 3, "cce"))
    fixes = (Fix("use sigmoid", Applicability.UNSAFE, edits),)
    finding = replace(PRIMARY, location=Location("train.py", 8), fixes=fixes)
    shown = render(Diagnosis((finding,), excerpts=excerpts))
    assert "  ::: model.py:12\n12 - softmax\n12 + sigmoid\n  ::: options.py:3\n 3 - cce\n 3 + bce\n" in shown
    page = render(Diagnosis((finding,), excerpts=excerpts), "html")
    assert page.index("model.py:12") < page.index("options.py:3")


def test_a_fix_whose_lines_are_not_known_keeps_its_title():
    assert "help: shift the labels" in render(Diagnosis((PRIMARY,)))


def test_an_unknown_format_is_refused():
    with pytest.raises(RenderError, match="choose one of"):
        render(EVERYTHING, "yaml")


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn(Diagnosis, depth=5), st.sampled_from(FORMATS), st.integers(40, 200), st.booleans())
@example(Diagnosis(invocation=Invocation("run", "train.py", seconds=float("inf"))), "html", 80, False)
def test_any_diagnosis_can_be_drawn(diagnosis, fmt, width, verbose):
    render(diagnosis, fmt, width=width, verbose=verbose)
