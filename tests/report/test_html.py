"""The page: self-contained, and whatever the user wrote is text on it."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from fitdoctor.diagnosis import (
    Applicability,
    Crash,
    Diagnosis,
    Edit,
    Evidence,
    Excerpt,
    Fix,
    Location,
    Script,
    Skipped,
    Unexplained,
)
from fitdoctor.optional_packages import MissingPackage
from fitdoctor.report import render
from tests.report.samples import EVERYTHING, PRIMARY, SECOND

EVIL = "</pre><script>alert('`x`')</script><img src=x onerror=alert(1)>\"' {{ 7*7 }} {% raw %}"


class Page(HTMLParser):
    """Collects the tags, attributes and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = set(), [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in ("meta", "br", "img", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_the_page_says_what_the_report_says():
    page = Page(render(EVERYTHING, "html"))
    for text in (
        "labels run from 1 to 10",
        "10, first in row 3",
        "at most 9",
        "shift the labels",
        "y_train - 1",
    ):
        assert text in page.text
    assert page.open == []


def test_the_page_needs_nothing_from_outside():
    drawn = render(EVERYTHING, "html")
    page = Page(drawn)
    assert not page.tags & {"script", "link", "img", "iframe", "object"}
    assert not any(name in ("src", "href") or name.startswith("on") for name, _value in page.attributes)
    assert "http://" not in drawn and "https://" not in drawn and "url(" not in drawn


def test_the_page_knows_light_and_dark():
    assert "prefers-color-scheme: dark" in render(EVERYTHING, "html")


def everywhere(evil):
    place = Location(evil, 1, 1, 1, 5)
    finding = replace(
        PRIMARY,
        message=evil,
        subject=evil,
        location=place,
        evidence=(Evidence(evil, evil, evil, evil, place), Evidence(evil)),
        fixes=(Fix(evil, Applicability.SAFE, (Edit(place, evil),)),),
        notes=(evil,),
    )
    return Diagnosis(
        findings=(finding, replace(finding, id="FIT210")),
        skipped=(Skipped(evil, evil),),
        crashes=(Crash(evil, evil),),
        unexplained=(Unexplained(evil, evil, place, evil, evil, (evil,)),),
        excerpts=(Excerpt(evil, 1, evil),),
        script=Script(signal=evil),
        tool_version=evil,
    )


def test_what_the_user_wrote_is_never_markup():
    page = Page(render(everywhere(EVIL), "html"))
    assert not page.tags & {"script", "img"}
    assert page.open == []
    assert "{{ 7*7 }}" in page.text and "49" not in page.text
    assert "<script>alert(" in page.text


def test_names_that_are_no_text_can_be_written():
    render(everywhere("bad\udcff"), "html").encode("utf-8")


def test_an_empty_diagnosis_is_a_page():
    assert "No problem found" in Page(render(Diagnosis(), "html")).text


def test_further_findings_are_folded():
    assert "details" in Page(render(Diagnosis((PRIMARY, SECOND)), "html")).tags


def test_without_jinja2_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(MissingPackage, match=r"fitdoctor\[html\]"):
        render(EVERYTHING, "html")
