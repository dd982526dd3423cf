"""The search takes the best repair that holds, and says why the others were not taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from fitdoctor.diagnosis import (
    Applicability,
    Confidence,
    Diagnosis,
    Edit,
    Finding,
    Fix,
    Location,
    Moment,
    Raised,
    Script,
    Severity,
)
from fitdoctor.engine_inputs import SeenCall
from fitdoctor.facts import FitFacts, Unknown
from fitdoctor.repair.candidates import Candidate, candidates
from fitdoctor.repair.copies import Copies, in_own_words, sweep
from fitdoctor.repair.files import read_file
from fitdoctor.repair.proof import Seen, Verdict, judged
from fitdoctor.repair.search import Search


def finding(path="train.py", word="BAD", id="FIT203", fixes=(), severity=Severity.ERROR, line=1):
    return Finding(
        id,
        "a-slug",
        severity,
        Confidence.CERTAIN,
        Moment.BEFORE_FIT,
        f"{word} is wrong",
        subject=word,
        location=Location(str(path), line, 1),
        fixes=tuple(fixes),
    )


def replacing(path, text, old, new, applicability=Applicability.SAFE):
    for number, line in enumerate(text.split("\n"), 1):
        if old in line:
            start = line.index(old) + 1
            place = Location(str(path), number, start, number, start + len(old))
            return Fix(f"write {new}", applicability, (Edit(place, new),))
    raise AssertionError(old)


def seen(findings=(), status=None, **more):
    findings = tuple(findings)
    wrong = any(found.severity is Severity.ERROR for found in findings)
    status = int(wrong) if status is None else status
    raised = Raised("FitWillFail", "") if status else None
    return Seen(Diagnosis(findings, script=Script(status, None, raised)), status, **more)


class World:
    """A program of words: BAD and WORSE stop it, HANG never ends."""

    def __init__(self, path, repairs, words):
        self.path, self.repairs, self.words = path, repairs, words
        self.runs = []

    def prove(self, files, texts, whole):
        main = str(self.path)
        text = texts.get(main, files[main].text)
        self.runs.append(text)
        if "HANG" in text:
            return seen(status=137, timed_out=True)
        found = []
        for word in self.words:
            if word in text:
                fixes = [
                    replacing(self.path, text, word, new, how) for new, how in self.repairs.get(word, ())
                ]
                severity = Severity.WARNING if word == "ODD" else Severity.ERROR
                id = "FIT101" if word == "ugly" else "FIT203"
                line = text[: text.index(word)].count("\n") + 1
                found.append(finding(self.path, word, id, fixes=fixes, severity=severity, line=line))
        return seen(found)


@pytest.fixture
def mend(tmp_path):
    def mend(text, repairs, words=("BAD", "WORSE", "ODD"), **options):
        path = tmp_path / "train.py"
        path.write_text(text)
        world = World(path, repairs, words)
        told = []
        search = Search(str(path), world.prove, told.append, **options)
        search.go()
        assert path.read_text() == text, "the user's file is not the search's to change"
        return search, world, told

    return mend


SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE


def test_the_first_repair_that_holds_is_taken(mend):
    search, world, told = mend("x = BAD\n", {"BAD": [("WORSE", SAFE), ("GOOD", SAFE), ("FINE", SAFE)]})
    assert [change.new for change in search.changes] == ["x = GOOD\n"]
    assert search.clean and search.mended[0].verified
    assert [each.candidate.fix.title for each in search.refused] == ["write WORSE"]
    assert len(world.runs) == 3 and "FIT203: trying repair 2 of 3: write GOOD" in told


def test_a_safe_repair_comes_before_an_unsafe_one(mend):
    search, *_ = mend("x = BAD\n", {"BAD": [("OTHER", UNSAFE), ("GOOD", SAFE)]}, unsafe=True)
    assert search.changes[0].new == "x = GOOD\n"


def test_the_reason_tells_what_it_goes_before(mend):
    search, *_ = mend("x = BAD\n", {"BAD": [("GOOD", SAFE), ("OTHER", UNSAFE)]})
    assert search.mended[0].reasons == [
        "FIT203 is fixed, and the program runs to the end",
        "chosen over “write OTHER”, which is unsafe: it changes what the model learns",
    ]
    search, _world, _told = mend("x = BAD\n", {"BAD": [("GOOD", SAFE)]})
    assert search.mended[0].reasons == ["FIT203 is fixed, and the program runs to the end"]


def test_a_repair_that_brings_a_warning_is_taken_only_where_none_is_better(mend):
    search, *_ = mend("x = BAD\n", {"BAD": [("ODD", SAFE), ("GOOD", SAFE), ("FINE", SAFE)]})
    assert search.changes[0].new == "x = GOOD\n"
    search, *_ = mend("x = BAD\n", {"BAD": [("ODD", SAFE), ("GOOD", UNSAFE)]}, unsafe=True)
    assert search.changes[0].new == "x = ODD\n"


def test_a_repair_that_brings_another_error_is_taken_with_the_repair_of_that(mend):
    repairs = {"BAD": [("ugly", SAFE)], "ugly": [("GOOD", SAFE)]}
    search, world, _told = mend("x = BAD\n", repairs, words=("BAD", "ugly"))
    assert search.changes[0].new == "x = GOOD\n"
    assert search.clean and [each.candidate.fix.title for each in search.mended] == [
        "write ugly",
        "write GOOD",
    ]
    assert len(world.runs) == 3
    search, *_ = mend("x = BAD\n", {"BAD": [("ugly", SAFE)], "ugly": [("BAD", SAFE)]}, words=("BAD", "ugly"))
    assert not search.changes and not search.mended and not search.clean


def test_an_unsafe_repair_is_held_back_unless_asked_for(mend):
    search, *_ = mend("x = BAD\n", {"BAD": [("OTHER", UNSAFE)]})
    assert not search.changes and not search.clean
    assert [candidate.fix.title for _finding, candidate in search.held_back] == ["write OTHER"]
    search, *_ = mend("x = BAD\n", {"BAD": [("OTHER", UNSAFE)]}, unsafe=True)
    assert search.clean


def test_a_repair_that_makes_the_program_hang_is_not_taken(mend):
    search, _world, _told = mend("x = BAD\n", {"BAD": [("HANG", SAFE)]})
    assert not search.mended and [each.reason for each in search.refused] == ["it does not finish in time"]


def test_one_error_after_another(mend):
    repairs = {"BAD": [("GOOD", SAFE)], "WORSE": [("BETTER", SAFE)]}
    search, *_ = mend("x = BAD\ny = WORSE\n", repairs, everything=True)
    assert search.clean and search.changes[0].new == "x = GOOD\ny = BETTER\n"
    assert [each.verified for each in search.mended] == [True, True]


def test_what_still_stops_for_another_reason_is_not_called_verified(mend):
    search, *_ = mend("x = BAD\ny = WORSE\n", {"BAD": [("GOOD", SAFE)]})
    assert search.changes[0].new == "x = GOOD\ny = WORSE\n"
    assert not search.mended[0].verified and not search.clean


def test_a_warning_is_mended_when_nothing_worse_is_there(mend):
    search, *_ = mend("x = ODD\n", {"ODD": [("EVEN", SAFE)]})
    assert search.clean and search.mended[0].verified


def test_a_warning_alone_is_no_failure(mend):
    search, *_ = mend("x = ODD\n", {})
    assert search.clean and not search.mended


TRAINED = SeenCall(Unknown("not collected"), FitFacts(), ())


def test_what_two_steps_do_not_show_is_looked_for_in_a_whole_run(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("x = BAD\n")
    world = World(script, {"BAD": [("GOOD", SAFE)]}, ["BAD"])
    how = []

    def prove(files, texts, whole):
        how.append(whole)
        at_the_end = world.prove(files, texts, whole)
        return at_the_end if whole else seen(call=TRAINED)

    search = Search(str(script), prove, lambda line: None)
    search.go()
    assert [change.new for change in search.changes] == ["x = GOOD\n"]
    assert search.clean and how == [False, True, True]


def test_a_training_too_long_to_run_in_full_is_left_alone(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("x = 1\n")

    def prove(files, texts, whole):
        return seen(status=137, timed_out=True) if whole else seen(call=TRAINED)

    search = Search(str(script), prove, lambda line: None)
    search.go()
    assert search.clean and not search.changes and not search.whole


def test_nothing_wrong_needs_one_run(mend):
    search, world, _told = mend("x = GOOD\n", {})
    assert search.clean and len(world.runs) == 1


def test_the_search_is_bounded(mend):
    search, world, _told = mend(
        "x = BAD\n", {"BAD": [(f"BAD + {n}", SAFE) for n in range(30)]}, everything=True
    )
    assert not search.mended and len(world.runs) <= 9


def test_the_diagnosis_marks_what_is_proved(mend):
    search, *_ = mend("x = BAD\n", {"BAD": [("WORSE", SAFE), ("GOOD", SAFE)]})
    fixes = search.diagnosis().findings[0].fixes
    assert [(fix.title, fix.verified) for fix in fixes] == [("write GOOD", True), ("write WORSE", False)]
    plain = search.diagnosis().to_json()
    assert plain["findings"][0]["fixes"][0]["verified"] is True and plain["script"]["exit_code"] == 1


# --- ranking ------------------------------------------------------------------------------------------------------


def candidate(**options):
    how = options.pop("applicability", SAFE)
    text = options.pop("text", "a")
    return Candidate(Fix("t", how, (Edit(Location("a.py", 1, 1, 1, 1), text),)), **options)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (candidate(order=5), candidate(applicability=UNSAFE)),
        (candidate(order=0, distance=9), candidate(order=1, distance=0)),
        (candidate(distance=1), candidate(distance=2)),
        (candidate(text="a"), candidate(text="aa")),
    ],
    ids=["safety", "the cause's own order", "nearness", "size"],
)
def test_ranking(better, worse):
    assert better.rank < worse.rank


def test_repairs_outside_the_project_are_no_candidates(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    inside, outside = project / "a.py", tmp_path / "b.py"
    for path in (inside, outside):
        path.write_text("BAD\n")
    fixes = [replacing(path, "BAD\n", "BAD", "GOOD") for path in (outside, inside)]
    found = candidates(finding(inside, fixes=fixes), str(project))
    assert [each.fix for each in found] == fixes[1:]


# --- the verdict --------------------------------------------------------------------------------------------------

BROKEN = seen([finding()], stage=(1, 0))


@pytest.mark.parametrize(
    ("after", "verdict"),
    [
        (seen(stage=(1, 1)), Verdict.HOLDS),
        (seen([finding()], stage=(1, 0)), Verdict.FAILS),
        (seen([finding(word="NEW")], stage=(1, 0)), Verdict.UNCOVERS),
        (seen([finding(word="NEW")], stage=(0, 1)), Verdict.FAILS),
        (seen([finding(word="NEW")], stage=(2, 0)), Verdict.FURTHER),
        (seen(status=1, stage=(1, 1)), Verdict.FURTHER),
        (seen(status=1, stage=(0, 1)), Verdict.FAILS),
        (seen(status=137, timed_out=True, stage=(2, 1)), Verdict.FAILS),
        (seen([finding(word="NEW")], status=0), Verdict.FAILS),
    ],
    ids=[
        "runs",
        "still there",
        "another error there",
        "another error before",
        "a later call",
        "after the call",
        "earlier",
        "hangs",
        "new error",
    ],
)
def test_verdicts(after, verdict):
    assert judged(BROKEN, after, finding()).verdict is verdict


def test_an_error_that_the_source_held_already_was_not_brought_by_the_repair():
    before, after = seen([finding(word="a")]), seen([finding(word="b", id="FIT902")])
    assert judged(before, after, finding(word="a")).verdict is Verdict.UNCOVERS
    assert judged(before, after, finding(word="a"), lurking={"FIT902"}).verdict is Verdict.FURTHER


def test_one_of_two_alike_is_gone():
    before = seen([finding(), finding(line=9)], stage=(1, 0))
    assert judged(before, seen([finding(line=9)], stage=(1, 0)), finding()).verdict is Verdict.FURTHER


@pytest.mark.parametrize(
    ("line", "verdict"),
    [(9, Verdict.FURTHER), (8, Verdict.FAILS)],
    ids=["at another line", "at the same line, in a loop"],
)
def test_the_next_one_of_its_kind_is_no_failure_of_the_repair(line, verdict):
    before = seen([finding()], stage=(1, 0), place=(("a.py", 7),))
    after = seen([finding()], stage=(2, 0), place=(("a.py", line),))
    assert judged(before, after, finding(), grown=1).verdict is verdict


def test_a_new_warning_is_told():
    after = seen([finding(word="NEW", severity=Severity.WARNING)], stage=(1, 1))
    verdict = judged(BROKEN, after, finding())
    assert (
        verdict.verdict is Verdict.HOLDS and verdict.new_warnings == 1 and "1 new warning" in verdict.reason
    )


@pytest.mark.parametrize(("line", "verdict"), [(12, Verdict.FURTHER), (7, Verdict.FAILS), (8, Verdict.FAILS)])
def test_lines_that_an_edit_pushed_down_are_no_progress(line, verdict):
    before = seen([finding()], place=(("a.py", 7),))
    assert judged(before, seen(status=1, place=(("a.py", line),)), finding(), grown=1).verdict is verdict


# --- copies -------------------------------------------------------------------------------------------------------


def test_copies_stand_beside_and_are_taken_away(tmp_path):
    path = tmp_path / "train.py"
    path.write_text("x = 1\n")
    with Copies() as copies:
        laid = copies.lay_out(str(path), {str(path): read_file(str(path))}, {str(path): "x = 2\n"})
        assert laid.script.startswith(f"{tmp_path}/.fitdoctor-") and laid.script.endswith("-train.py")
        assert Path(laid.script).read_text() == "x = 2\n"
        plain = {"location": {"path": laid.origins[0][0], "line": 3}, "message": f"in {laid.script}"}
        assert in_own_words(plain, laid) == {
            "location": {"path": str(path), "line": 3},
            "message": f"in {path}",
        }
    assert [entry.name for entry in tmp_path.iterdir()] == ["train.py"]


def test_a_script_that_is_not_changed_runs_itself(tmp_path):
    path = tmp_path / "train.py"
    path.write_text("x = 1\n")
    with Copies() as copies:
        assert copies.lay_out(str(path), {str(path): read_file(str(path))}, {}).script == str(path)


def test_a_folder_that_takes_no_files_gets_none(tmp_path, monkeypatch):
    path = tmp_path / "train.py"
    path.write_text("x = 1\n")
    put = Copies._put

    def refused(self, where, raw):
        if where.startswith(str(tmp_path)):
            raise PermissionError(13, "Permission denied", where)
        put(self, where, raw)

    monkeypatch.setattr(Copies, "_put", refused)
    with Copies() as copies:
        laid = copies.lay_out(str(path), {str(path): read_file(str(path))}, {str(path): "x = 2\n"})
        assert copies.elsewhere and Path(laid.script).read_text() == "x = 2\n"


def test_copies_of_a_run_that_was_killed_are_swept(tmp_path):
    dead, living, other = (
        tmp_path / name
        for name in (".fitdoctor-4194399-train.py", ".fitdoctor-1-train.py", ".fitdoctor-notes.py")
    )
    for path in (dead, living, other):
        path.write_text("")
    sweep(str(tmp_path))
    assert not dead.exists() and living.exists() and other.exists()


def test_the_search_does_not_keep_a_repair_that_changes_nothing(mend):
    search, world, _told = mend("x = BAD\n", {"BAD": [("BAD", SAFE)]})
    assert not search.mended and len(world.runs) == 1
    assert search.refused[0].reason == "it changes nothing"


# --- one mistake behind another -----------------------------------------------------------------------------------


class Layers(World):
    """A program whose mistakes stop it one after another, at the same call: each hides the next."""

    def prove(self, files, texts, whole):
        seen_all = super().prove(files, texts, whole)
        found = seen_all.diagnosis.findings[:1]
        return seen(found, stage=(1, 0) if found else (1, 1))


@pytest.fixture
def peel(tmp_path):
    def peel(text, repairs, **options):
        path = tmp_path / "train.py"
        path.write_text(text)
        world = Layers(path, repairs, ("ONE", "TWO", "SIX"))
        search = Search(str(path), world.prove, lambda _line: None, everything=True, **options)
        search.go()
        return search, world

    return peel


def test_mistakes_that_hide_each_other_are_repaired_one_after_another(peel):
    repairs = {"ONE": [("1", SAFE)], "TWO": [("2", SAFE)], "SIX": [("6", SAFE)]}
    search, _world = peel("ONE\nTWO\nSIX\n", repairs)
    assert search.clean and [change.new for change in search.changes] == ["1\n2\n6\n"]
    assert [each.verified for each in search.mended] == [True] * 3


def test_what_can_be_repaired_is_repaired_and_the_rest_is_named(peel):
    search, world = peel("ONE\nTWO\nSIX\n", {"ONE": [("1", SAFE)], "TWO": [("2", SAFE)]})
    assert [change.new for change in search.changes] == ["1\n2\nSIX\n"]
    assert not search.clean and not any(each.verified for each in search.mended)
    assert search.last.wrong == "stops at FIT203: SIX is wrong"
    assert len(world.runs) == len(set(world.runs)), "no program runs twice"


def test_another_repair_is_tried_where_the_first_leads_nowhere(peel):
    repairs = {"ONE": [("SIX", SAFE), ("1", SAFE)], "TWO": [("2", SAFE)]}
    search, _world = peel("ONE\nTWO\n", repairs)
    assert search.clean and [change.new for change in search.changes] == ["1\n2\n"]


def test_a_repair_that_only_brings_an_error_to_its_own_line_is_not_taken(peel):
    search, _world = peel("ONE\n", {"ONE": [("SIX", SAFE)]})
    assert not search.mended and [each.candidate.fix.title for each in search.refused] == ["write SIX"]


@pytest.mark.parametrize(
    ("ids", "lines"),
    [(("FIT203", "FIT203"), (1, 2)), (("FIT203", "FIT101"), (2, 2))],
    ids=["cause", "statement"],
)
def test_what_stops_at_the_same_cause_or_statement_is_repaired_with_the_first(tmp_path, ids, lines):
    script = tmp_path / "train.py"
    script.write_text("BAD\nWORSE\n")

    def prove(files, texts, whole):
        text = texts.get(str(script), script.read_text())
        wrong = [number for number, line in enumerate(text.splitlines(), 1) if line in ("BAD", "WORSE")]
        found = [finding(script, f"word {n}", fixes=[at(n)], line=n, id=ids[n - 1]) for n in wrong]
        script_end = Script(1 if wrong else 0, exception=Raised("ValueError", "wrong") if wrong else None)
        return Seen(
            Diagnosis(findings=tuple(found), script=script_end),
            1 if wrong else 0,
            stage=(1, 0 if wrong else 1),
            place=((str(script), lines[wrong[0] - 1]),) if wrong else (),
        )

    def at(number):
        width = 1 + len("BAD" if number == 1 else "WORSE")
        place = Location(str(script), number, 1, number, width)
        return Fix("put it right", Applicability.SAFE, (Edit(place, "good"),))

    search = Search(str(script), prove, lambda line: None)
    search.go()
    assert [change.new for change in search.changes] == ["good\ngood\n"]
    assert search.clean
