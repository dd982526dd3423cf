"""The page: self-contained, the same for the same diagnosis, and whatever the user wrote is text on it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from fitdoctor.data_statistics import ComponentReport, DataReport, Problem, ScanStatistics, SeenReport
from fitdoctor.diagnosis import (
    Applicability,
    Crash,
    Diagnosis,
    Edit,
    Evidence,
    Excerpt,
    Fix,
    Invocation,
    Location,
    MemoryCourse,
    Script,
    Skipped,
    Training,
    Unexplained,
    Way,
    WayStep,
)
from fitdoctor.records import replace
from fitdoctor.report import render
from tests.report.samples import EVERYTHING, PRIMARY, SECOND

EVIL = "</pre><script>alert('`x`')</script><img src=x onerror=alert(1)>\"' {{ 7*7 }} </style></svg></title>"


class Page(HTMLParser):
    """Collects the tags, attributes and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = [], [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "br", "wbr", "img", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("style", "script"):
            self.text += data


def component(path="x", **changes):
    known = ComponentReport(
        path, "x", 400, (SeenReport("(400, 3)", 400),), (SeenReport("float32", 400),), -1.5, 2.5, 0.25, 2, 1, 0, ""
    )  # fmt: skip
    return replace(known, **changes)


def everywhere(evil):
    """A diagnosis with this text wherever a text can be."""
    place = Location(evil, 1, 1, 1, 5)
    finding = replace(
        PRIMARY,
        message=evil,
        subject=evil,
        location=place,
        evidence=(Evidence(evil, evil, evil, evil, place), Evidence(evil)),
        fixes=(Fix(evil, Applicability.SAFE, (Edit(place, evil),), verified=True), Fix(evil)),
        notes=(evil,),
    )
    stages = ("data", "pipeline", "batch", "model", "model", "loss")
    steps = tuple(
        WayStep(stage, f"{evil} {number}", evil, evil, evil, place, evil, f"{evil}{number}", (f"{evil}{number - 1}",))
        for number, stage in enumerate(stages)
    )  # fmt: skip
    layers = tuple(
        WayStep("model", f"Dense {evil}", evil, name=f"{evil}{n}", after=(f"{evil}{n - 1}",), block=(evil,) * (n % 2))
        for n in range(10, 60)
    )  # fmt: skip
    statistics = component(
        evil,
        part="y",
        shapes=(SeenReport(evil, 1, 2), SeenReport(evil, 1)),
        types=(SeenReport(evil, 1),) * 2,
        first_nonfinite=evil,
        labels=((1.0, 2),),
        distinct=3,
        constant_columns=(evil,),
        duplicate_columns=((evil, evil),),
        nonfinite_columns=((evil, 1),),
    )
    scanned = DataReport(
        evil, evil, 400, 3, 500, 1.0, False, False, (statistics,), (Problem(evil, 1),), ((evil,),), (evil,)
    )
    return Diagnosis(
        findings=(finding, replace(finding, id="FIT210")),
        skipped=(Skipped(evil, evil),),
        crashes=(Crash(evil, evil),),
        unexplained=(Unexplained(evil, evil, place, evil, evil, (evil,), evil),),
        excerpts=(Excerpt(evil, 1, evil),),
        script=Script(signal=evil),
        ways=(Way(evil, place, (*steps, *layers), (statistics,)), Way(evil, place, steps)),
        memory=(MemoryCourse(evil, place, 32, (("forward", 1), ("backward", 3), ("update", 2)), 2),),
        trainings=(Training(evil, place, ((evil, (1.0, 0.5)), (f"val_{evil}", (1.0,)))),),
        scan=ScanStatistics((scanned,), 3),
        invocation=Invocation(evil, evil, (evil,), evil, 3.0, ((evil, evil),)),
        tool_version=evil,
    )


# --- what it says -------------------------------------------------------------------------------------------------


def test_the_page_says_what_the_report_says():
    page = Page(render(EVERYTHING, "html"))
    for text in (
        "labels run from 1 to 10",
        "train.py:8",
        "10, first in row 3",
        "at most 9",
        "shift the labels",
        "y_train - 1",
        "verified: the repaired program ran",
        "strange",
        "FIT101 the data is a generator",
    ):
        assert text in page.text
    assert page.open == []


def test_the_head_links_to_the_first_section_of_each_kind():
    page = Page(render(everywhere("x"), "html"))
    links = [value for name, value in page.attributes if name == "href"]
    assert links == ["#findings", "#flow", "#data", "#memory", "#training"]
    places = [value for name, value in page.attributes if name == "id"]
    assert len(set(places)) == len(places)
    assert "href" not in dict(Page(render(Diagnosis(findings=(PRIMARY,)), "html")).attributes)


def test_program_arguments_date_versions_and_verdict_come_first():
    known = Invocation(
        "run", "train.py", ("--name", "two words"), "2026-03-01T14:05:09Z", 75.2, (("tensorflow", "2.21.0"),)
    )
    page = Page(render(replace(EVERYTHING, invocation=known), "html"))
    head = page.text[: page.text.index("labels run from 1 to 10")]
    for text in (
        "train.py --name 'two words'",
        "2026-03-01 14:05:09 UTC",
        "1 min 15 s",
        "TensorFlow2.21.0",
        "1 error, 1 warning, 1 info",
        "raised ValueError, exit status 1",
        "fitdoctor9.9",
    ):
        assert text in head


def test_an_empty_diagnosis_is_a_page():
    assert "no problems found" in Page(render(Diagnosis(), "html")).text


def test_many_findings_are_folded_but_for_the_first():
    few, many = (
        render(Diagnosis((PRIMARY, SECOND)), "html"),
        render(Diagnosis((PRIMARY, *[SECOND] * 6)), "html"),
    )
    assert few.count('<details class="fd-more" open>') == 1
    assert many.count('<details class="fd-more">') == 6 and "open>" not in many


def test_the_fix_can_be_copied():
    copied = [value for name, value in Page(render(EVERYTHING, "html")).attributes if name == "data-text"]
    assert copied[0] == "model.fit(x_train, y_train - 1, epochs=5)"


def test_shares_of_labels_are_shares_of_all_labels_where_rows_have_several():
    labels = component("y", part="y", labels=((0.0, 900), (1.0, 300)), distinct=2)
    page = Page(render(Diagnosis(ways=(Way("fit", Location("train.py", 9), (), (labels,)),)), "html"))
    assert "75.0%" in page.text and "25.0%" in page.text


def test_labels_ranges_and_curves_are_drawn():
    labels = component("y", part="y", labels=((2.0, 300), (0.0, 100)), distinct=2)
    way = Way("fit", Location("train.py", 9), (), (component(), component("far", maximum=9e6), labels))
    curve = Training("fit", None, (("loss", (1.0, 0.5, float("nan"))), ("val_loss", (1.0, 0.75, 0.7))))
    drawn = render(Diagnosis(ways=(way,), trainings=(curve,)), "html")
    page = Page(drawn)
    for text in (
        "Labels y",
        "300",
        "75.0%",
        "25.0%",
        "logarithmic",
        "not finite from epoch 3",
        "validation 0.7",
    ):
        assert text in page.text
    assert drawn.count('class="fd-range"') == 2 and drawn.count("<polyline") == 2


def test_a_scan_keeps_all_its_statistics():
    one = component(
        "images",
        shapes=(SeenReport("(28, 28)", 300, 0), SeenReport("(32, 32)", 100, 17)),
        first_nonfinite="row 40, column `income`",
        constant_columns=("flag", "zero"),
        duplicate_columns=(("a", "b"),),
        nonfinite_columns=(("income", 3),),
    )
    data = DataReport(
        "train.csv", "training", 400, None, 500, 1.0, False, False, (one,), (Problem("torn", 7),)
    )
    diagnosis = Diagnosis(scan=ScanStatistics((data,), 12))
    assert Diagnosis.from_json(json.loads(json.dumps(diagnosis.to_json()))) == diagnosis
    text = Page(render(diagnosis, "html")).text
    for words in (
        "train.csv",
        "400 rows",
        "of 500",
        "row 40, column income",
        "(32, 32) × 100, first in element 17",
        "constant columns: flag, zero",
        "identical columns: a, b",
        "income (3)",
        "problem: element 7: torn",
        "rows in both training and validation data: 12",
    ):
        assert words in text


# --- what it is ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("diagnosis", [EVERYTHING, everywhere(EVIL)], ids=["everything", "hostile"])
def test_the_page_needs_nothing_from_outside(diagnosis):
    drawn = render(diagnosis, "html")
    page = Page(drawn)
    assert not {"link", "img", "iframe", "object"} & set(page.tags)
    assert not any(name == "src" or name.startswith("on") for name, _value in page.attributes)
    places = {f"#{value}" for name, value in page.attributes if name == "id"}
    assert {value for name, value in page.attributes if name == "href"} <= places
    assert "http://" not in drawn and "https://" not in drawn
    assert set(re.findall(r"url\((.)", drawn)) <= {"#"}


def test_it_runs_no_script_but_its_own():
    drawn = render(everywhere(EVIL), "html")
    [script] = re.findall(r"<script>(.*?)</script>", drawn, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in drawn
    assert "alert" not in script


def test_what_the_user_wrote_is_never_markup():
    page = Page(render(everywhere(EVIL), "html"))
    assert page.tags.count("script") == 1 and page.tags.count("style") == 1 and "img" not in page.tags
    assert page.open == []
    assert "{{ 7*7 }}" in page.text and "<script>alert(" in page.text


def test_names_that_are_not_text_can_be_written():
    render(everywhere("bad\udcff"), "html").encode("utf-8")


def test_a_saved_diagnosis_renders_the_same():
    for diagnosis in (EVERYTHING, everywhere("plain")):
        saved = json.loads(json.dumps(diagnosis.to_json()))
        assert render(Diagnosis.from_json(saved), "html") == render(diagnosis, "html")


def test_the_page_knows_light_dark_and_paper():
    drawn = render(EVERYTHING, "html")
    assert "prefers-color-scheme: dark" in drawn and "@media print" in drawn
