"""The card of a notebook: both forms in one bundle, nothing that runs or loads, nothing that reaches outside of it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from fitdoctor.diagnosis import (
    Applicability,
    Confidence,
    Diagnosis,
    Edit,
    Evidence,
    Excerpt,
    Finding,
    Fix,
    Location,
    Moment,
    Severity,
    Unexplained,
)
from fitdoctor.memory.prediction import Prediction, Share
from fitdoctor.records import replace
from fitdoctor.report.card import card
from fitdoctor.report.highlight import tokens
from tests.report.samples import EVERYTHING, PRIMARY

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m`</style><b>`'


class Elements(HTMLParser):
    """The tags with their attributes, and the text outside of style and script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("style", "script"):
            self.text += data


def hostile() -> Diagnosis:
    place = Location(HOSTILE, 1, 3, 1, 9)
    finding = Finding(
        id=HOSTILE,
        slug=HOSTILE,
        severity=Severity.ERROR,
        confidence=Confidence.CERTAIN,
        moment=Moment.BEFORE_FIT,
        message=HOSTILE,
        subject=HOSTILE,
        location=place,
        evidence=(Evidence(HOSTILE, HOSTILE, HOSTILE, location=place), Evidence(HOSTILE)),
        fixes=(
            Fix(HOSTILE, Applicability.SAFE, (Edit(place, HOSTILE),)),
            Fix(HOSTILE, Applicability.UNSAFE, (Edit(place, HOSTILE),)),
        ),
        notes=(HOSTILE,),
    )
    return Diagnosis(
        findings=(finding, finding),
        unexplained=(Unexplained(HOSTILE, HOSTILE, place, HOSTILE, HOSTILE, (HOSTILE,), HOSTILE),),
        excerpts=(Excerpt(HOSTILE, 1, HOSTILE),),
    )


def test_a_bundle_has_the_card_and_the_same_as_text():
    bundle = EVERYTHING._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/plain"] == str(EVERYTHING)
    assert bundle["text/html"] == card(EVERYTHING)


def test_the_card_says_what_where_why_and_what_to_do():
    shown = Elements(card(EVERYTHING)).text
    for words in (
        "error",
        "FIT203",
        "labels run from 1 to 10",
        "train.py:8",
        "10, first in row 3",
        "at most 9",
        "shift the labels",
        "y_train - 1",
        "verified",
        "fitdoctor explain FIT203",
    ):
        assert words in shown


def test_the_span_is_marked_whatever_the_colours():
    marked = re.search(r"<mark>(.*?)</mark>", card(Diagnosis((PRIMARY,), excerpts=EVERYTHING.excerpts)))
    assert marked is not None and Elements(marked[1]).text == "y_train"


def test_further_findings_are_folded():
    page = card(EVERYTHING)
    assert page.count('<details class="fd-more">') == 2
    assert page.index("FIT203") < page.index("<details") < page.index("FIT210")


@pytest.mark.parametrize(
    ("fix", "label"),
    [
        (replace(PRIMARY.fixes[0], verified=False), "safe"),
        (
            replace(PRIMARY.fixes[0], verified=False, applicability=Applicability.UNSAFE),
            "unsafe: changes what the model learns",
        ),
    ],
)
def test_a_fix_says_whether_it_is_safe(fix, label):
    page = card(Diagnosis((replace(PRIMARY, fixes=(fix,)),), excerpts=EVERYTHING.excerpts))
    assert f">{label}</span>" in page


def test_the_new_line_can_be_copied_and_without_its_script_there_is_no_button():
    tags = Elements(card(EVERYTHING)).tags
    copied = [attrs["data-text"] for _tag, attrs in tags if attrs.get("class") == "fd-copy"]
    assert copied[0] == "model.fit(x_train, y_train - 1, epochs=5)"
    assert "button" not in {tag for tag, _attrs in tags}


def test_without_its_styles_every_line_of_code_stands_on_its_own():
    shown = Elements(card(EVERYTHING)).text
    assert (
        "8 - model.fit(x_train, y_train, epochs=5)\n8 + model.fit(x_train, y_train - 1, epochs=5)\n" in shown
    )


def test_hostile_text_runs_nothing():
    elements = Elements(card(hostile()))
    assert not {tag for tag, _attrs in elements.tags} & {"img", "b", "iframe", "link", "object"}
    assert [tag for tag, _attrs in elements.tags].count("script") == 1
    assert not any(name.startswith("on") for _tag, attrs in elements.tags for name in attrs)
    assert "alert(1)" in elements.text and "\u202e" not in elements.text and "\x1b" not in elements.text


def test_nothing_is_loaded_from_elsewhere():
    elements = Elements(card(EVERYTHING))
    assert not any({"src", "href"} & set(attrs) for _tag, attrs in elements.tags)
    assert (
        "url(" not in card(EVERYTHING)
        and "@import" not in card(EVERYTHING)
        and "http" not in card(EVERYTHING)
    )


def test_no_style_reaches_outside_the_card():
    style = re.search(r"<style>(.*?)</style>", card(EVERYTHING), re.DOTALL)
    assert style is not None
    for selectors in re.findall(r"([^{}]+)\{", re.sub(r"@media[^{]*\{", "", style[1])):
        for selector in selectors.split(","):
            assert ".fitdoctor-card" in selector, selector


def test_a_surrogate_in_a_name_can_be_sent_as_utf8():
    place = replace(PRIMARY.location, path="tr\udcffin.py")
    card(Diagnosis((replace(PRIMARY, location=place, fixes=()),))).encode()
    fix = Fix("t", Applicability.SAFE, (Edit(PRIMARY.location, "'\udcff'"),))
    card(Diagnosis((replace(PRIMARY, fixes=(fix,)),), excerpts=EVERYTHING.excerpts)).encode()


@pytest.mark.parametrize(
    "line", ["x = 1  # one", "\tdef f(): pass\r", "'unclosed", "", "x" * 5000, "%time x\x00"]
)
def test_highlighting_keeps_every_character(line):
    assert "".join(text for _kind, text in tokens(line)) == line


def test_a_prediction_of_memory_is_a_card():
    shares = (Share("activations", 3 * 2**20), Share(HOSTILE, 2**20))
    points = tuple((stage, size * 2**20) for stage, size in (("forward", 1), ("backward", 4), ("update", 2)))
    prediction = Prediction(
        HOSTILE,
        32,
        "traced",
        4 * 2**20,
        5 * 2**20,
        kinds=shares,
        layers=shares,
        points=points,
        notes=(HOSTILE,),
    )
    bundle = prediction._repr_mimebundle_()
    elements = Elements(bundle["text/html"])
    assert {"svg", "polygon", "table"} <= {tag for tag, _attrs in elements.tags}
    assert not {"img", "b"} & {tag for tag, _attrs in elements.tags}
    assert "activations kept for the backward pass" in elements.text and "3.0 MiB" in elements.text
    assert "batch" in bundle["text/plain"] and "5.0 MiB" in bundle["text/plain"]


def test_a_scan_is_a_card_with_its_findings():
    pytest.importorskip("numpy")
    from fitdoctor.scan.outcome import ComponentReport, DataReport, ScanReport, SeenReport

    component = ComponentReport(
        HOSTILE,
        "x",
        9,
        (SeenReport("(9, 4)", 9),),
        (SeenReport("float32", 9),),
        0.5,
        7.5,
        2.0,
        3,
        0,
        0,
        "row 4",
    )
    data = DataReport(HOSTILE, "training", 9, None, 9, 0.1, True, False, (component,))
    bundle = ScanReport((data,), Diagnosis((PRIMARY,)))._repr_mimebundle_()
    elements = Elements(bundle["text/html"])
    assert not {"img", "b"} & {tag for tag, _attrs in elements.tags}
    assert "9 rows" in elements.text and "7.5" in elements.text and "FIT203" in elements.text
    assert "float32" in bundle["text/plain"]


def test_a_diagnosis_in_one_line():
    assert repr(EVERYTHING) == "<Diagnosis: 1 error, 1 warning, 1 info, 1 unexplained: FIT203 at train.py:8>"
    assert repr(Diagnosis()) == "<Diagnosis: no problems found>"
    assert repr(Diagnosis(unexplained=EVERYTHING.unexplained)) == (
        "<Diagnosis: 1 unexplained: ValueError at train.py:8>"
    )


def test_printed_it_is_the_text_of_the_command_line():
    assert str(EVERYTHING).startswith("error[FIT203]: labels run from 1 to 10")
    assert not str(EVERYTHING).endswith("\n")
