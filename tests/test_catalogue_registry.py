"""The registry: finds causes, refuses what is not in order, derives what each can do."""

from __future__ import annotations

import re

import pytest

from fitdoctor import catalogue as registry
from fitdoctor.cases import source_cases
from fitdoctor.catalogue import (
    CatalogueError,
    Cause,
    catalogue,
    causes_at,
    find,
    load,
    source_causes,
    suggestions,
)
from fitdoctor.diagnosis import Moment, Severity
from fitdoctor.engine import diagnose
from fitdoctor.source.project import read_project
from scripts.new_cause import lay_out as lay_out_new
from scripts.new_cause import next_free_id

SOURCE = '''"""{title}.

## What happens
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Finding, Severity
from fitdoctor.facts import FailureFacts, FitFacts, ModelFacts, Unknown

CAUSE = Cause(id="{id}", slug="{slug}", severity=Severity.ERROR)


@CAUSE.in_source
@CAUSE.before_fit
def judge(fit: FitFacts, model: ModelFacts | Unknown) -> Iterator[Finding]:
    yield CAUSE.finding("wrong")
'''


@pytest.fixture
def lay_out(tmp_path):
    def lay_out(family, folder, id, slug, text=SOURCE):
        path = tmp_path / family / folder / "cause.py"
        path.parent.mkdir(parents=True)
        path.write_text(text.format(id=id, slug=slug, title="A title"), "utf-8")
        return tmp_path

    return lay_out


def test_a_cause_is_found_by_its_folder_alone(lay_out):
    root = lay_out("labels", "my_cause", "FIT299", "my-cause")
    (cause,) = load(root).values()
    assert cause.title == "A title"
    assert cause.folder == root / "labels" / "my_cause"
    assert cause.moments == (Moment.SOURCE, Moment.BEFORE_FIT)


def test_the_facts_that_a_judge_wants_are_its_annotations(lay_out):
    (cause,) = load(lay_out("labels", "my_cause", "FIT299", "my-cause")).values()
    assert cause.judges[0].wants == (("fit", "FitFacts", False), ("model", "ModelFacts", True))


def test_causes_come_in_the_order_of_their_ids(lay_out):
    lay_out("labels", "b", "FIT202", "b")
    root = lay_out("inputs", "a", "FIT101", "a")
    assert list(load(root)) == ["FIT101", "FIT202"]


def test_an_id_is_used_once(lay_out):
    lay_out("labels", "one", "FIT299", "one")
    with pytest.raises(CatalogueError, match="FIT299 is taken by one"):
        load(lay_out("labels", "two", "FIT299", "two"))


def test_a_slug_is_used_once(lay_out):
    lay_out("labels", "same", "FIT299", "same")
    with pytest.raises(CatalogueError, match="`same` is taken by"):
        load(lay_out("inputs", "same", "FIT199", "same"))


def test_a_retired_id_is_never_used_again(lay_out, monkeypatch):
    monkeypatch.setitem(registry.RETIRED, "FIT299", "was folded into FIT203")
    with pytest.raises(CatalogueError, match="retired"):
        load(lay_out("labels", "one", "FIT299", "one"))


@pytest.mark.parametrize(
    ("family", "folder", "id", "slug"),
    [
        ("labels", "one", "FIT299", "another"),
        ("labels", "one", "FIT199", "one"),
        ("labels", "one", "XYZ299", "one"),
    ],
)
def test_a_folder_says_what_is_in_it(lay_out, family, folder, id, slug):
    with pytest.raises(CatalogueError):
        load(lay_out(family, folder, id, slug))


def test_a_file_without_a_cause_is_refused(lay_out):
    with pytest.raises(CatalogueError, match="no CAUSE"):
        load(lay_out("labels", "one", "", "", text='"""Nothing."""\n'))


def test_a_finding_takes_the_cause_s_severity_unless_told_otherwise():
    cause = Cause(id="FIT299", slug="one", severity=Severity.ERROR)
    assert cause.finding("wrong").severity is Severity.ERROR
    assert cause.finding("wrong", severity=Severity.INFO).severity is Severity.INFO


def test_a_shipped_cause_is_found_by_id_and_slug_in_any_case():
    for cause in catalogue().values():
        assert find(cause.id.lower()) is cause
        assert find(cause.slug.upper()) is cause
        assert find(cause.slug.replace("-", "_")) is cause


def test_a_misspelt_cause_brings_suggestions():
    cause = next(iter(catalogue().values()))
    assert any(cause.id in suggestion for suggestion in suggestions(cause.slug[:-1] + "x"))
    assert find("no-such-cause") is None


def test_every_shipped_cause_has_its_page_and_its_examples():
    for cause in catalogue().values():
        headings = {line for line in cause.page.splitlines() if line.startswith("## ")}
        assert {"## What happens", "## Why", "## Fix", "## Known limits"} <= headings, cause.id
        assert cause.judges, cause.id
        if not (cause.folder / "broken.py").exists() and (cause.folder / "broken.txt").is_file():
            continue  # it cannot be run on every machine: a recorded text stands for it
        for name in ("broken.py", "fixed.py"):
            assert (cause.folder / name).is_file(), f"{cause.id}: {name}"
        broken = (cause.folder / "broken.py").read_text("utf-8")
        assert f"# <- {cause.id}" in broken, cause.id


def test_a_new_cause_is_laid_out_so_that_it_loads(tmp_path):
    identity = next_free_id("labels", catalogue())
    lay_out_new(tmp_path, "labels", "my-new-cause", identity)
    (cause,) = load(tmp_path).values()
    assert (cause.id, cause.slug, cause.title) == (identity, "my-new-cause", "My new cause")
    assert f"# <- {identity}" in (cause.folder / "broken.py").read_text("utf-8")


def test_the_next_id_is_free_and_was_never_used(monkeypatch):
    assert next_free_id("labels", catalogue()) not in catalogue()
    monkeypatch.setitem(registry.RETIRED, "FIT298", "gone")
    assert next_free_id("labels", catalogue()) == "FIT299"
    assert next_free_id("labels", {}) == "FIT299"


def test_the_index_of_what_lint_finds_is_up_to_date():
    from scripts.index_causes import INDEX, entry

    index = INDEX.read_text("utf-8")
    for cause in catalogue().values():
        # A new cause works without it, only slower.
        if f"{cause.id!r}:" in index:
            assert entry(cause) in index, "say `make index`"
    assert len(re.findall(r"'FIT\d{3}':", index)) <= len(catalogue())


def test_a_cause_that_is_not_in_the_index_is_read_from_the_source_all_the_same(monkeypatch):
    from fitdoctor.catalogue import judge_index, source_causes

    monkeypatch.delitem(judge_index.INDEX, "FIT302")
    assert "FIT302" in source_causes([""], [frozenset({"Module"})])
    assert "FIT110" not in source_causes([""], [frozenset({"Module"})])


def test_only_the_causes_of_a_moment_are_read_for_it():
    for moment in Moment:
        judging = {cause.id for cause in catalogue().values() if moment in cause.moments}
        assert causes_at([moment]).keys() == judging
    assert list(causes_at(Moment)) == list(catalogue())


def test_what_lint_leaves_unread_would_not_have_been_found():
    for cause in catalogue().values():
        for example in cause.folder.glob("broken*.py"):
            project = read_project([example])
            cases = source_cases(project)
            read = source_causes([example.read_text("utf-8")], {frozenset(case.facts) for case in cases})
            found = {finding.id for finding in diagnose(cases).findings}
            assert found <= read.keys(), example
