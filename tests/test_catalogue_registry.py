"""The registry: finds causes, refuses what is not in order, derives what each can do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fitdoctor.source
from fitdoctor import catalogue as registry
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
from fitdoctor.catalogue.prefilter import kinds_of
from fitdoctor.diagnosis import Moment, Severity
from fitdoctor.engine import diagnose
from fitdoctor.engine_inputs import source_cases
from fitdoctor.source.interpreter import library
from fitdoctor.source.project import read_project
from fitdoctor.source.read import source_from_text
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
    with pytest.raises(CatalogueError, match="FIT299 is already used by one"):
        load(lay_out("labels", "two", "FIT299", "two"))


def test_a_slug_is_used_once(lay_out):
    lay_out("labels", "same", "FIT299", "same")
    with pytest.raises(CatalogueError, match="`same` is already used by"):
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
    with pytest.raises(CatalogueError, match="does not define CAUSE"):
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
    programs = [example for cause in catalogue().values() for example in cause.folder.glob("broken*.py")]
    programs += sorted((Path(__file__).parent / "corpus" / "failing").glob("*.py"))
    for program in programs:
        cases = source_cases(read_project([program]))
        read = source_causes([program.read_text("utf-8")], kinds_of(cases))
        found = {finding.id for finding in diagnose(cases).findings}
        assert found <= read.keys(), program


PLAIN = """
import keras
import numpy as np

x = np.zeros((64, 8), dtype="float32")
y = np.zeros((64, 1), dtype="float32")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y)
"""

CLASSES = """
import keras
import numpy as np

x = np.zeros((64, 8))
y = np.random.randint(0, 3, size=64)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(x, y)
"""


def _read_for(text):
    project = read_project([source_from_text(text, "train.py")])
    return source_causes([text], kinds_of(source_cases(project))).keys()


@pytest.mark.parametrize("text", [PLAIN, CLASSES])
def test_of_a_program_that_is_plainly_in_order_few_causes_are_read(text):
    assert not {"FIT101", "FIT102", "FIT107", "FIT109", "FIT205", "FIT211", "FIT217", "FIT218"} & _read_for(
        text
    )


@pytest.mark.parametrize(
    ("right", "odd", "expected"),
    [
        ("(64, 8)", "(64, 9)", {"FIT101", "FIT102", "FIT109"}),
        ('np.zeros((64, 8), dtype="float32")', "[[0.0] * 8] * 64", {"FIT107"}),
        ("(64, 8)", "(63, 8)", {"FIT108"}),
        ('(64, 8), dtype="float32"', "(64, 8), dtype=object", {"FIT101", "FIT105"}),
        ("(64, 1)", "(64, 2)", {"FIT204", "FIT205"}),
        ("mse", "binary_crossentropy", {"FIT205", "FIT211"}),
        ("Dense(1)", 'Dense(1, activation="relu")', {"FIT211"}),
        ("Dense(1)", "Dense(1), keras.layers.Dropout(0.5)", {"FIT211"}),
        ('loss="mse"', 'loss="mse", metrics=["accuracy"]', {"FIT218"}),
        ("fit(x, y)", "fit(x)", {"FIT101", "FIT215"}),
        ("model.compile", "# model.compile", {"FIT301", "FIT303"}),
    ],
)
def test_whatever_is_odd_in_a_call_is_judged(right, odd, expected):
    assert right in PLAIN
    assert expected <= _read_for(PLAIN.replace(right, odd))


def test_every_module_that_registers_library_functions_is_imported_by_the_registry():
    source = Path(fitdoctor.source.__file__).parent
    registering = {
        ".".join(path.relative_to(source).with_suffix("").parts)
        for path in source.rglob("*.py")
        if re.search(r"(?m)^@handles", path.read_text("utf-8"))
    }
    assert registering == set(library._REGISTERING)
