"""What a run teaches settles what the source and the call only suggested."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fitdoctor import diagnose, engine, engine_inputs
from fitdoctor.catalogue import Cause
from fitdoctor.diagnose import Run, examine_call, examine_failure, examine_run, examine_source
from fitdoctor.diagnosis import Confidence, Finding, Location, Script, Severity
from fitdoctor.engine_inputs import SeenCall
from fitdoctor.facts import FailureFacts, FitFacts, Frame, ModelFacts, TrainingFacts, Unknown
from fitdoctor.source.project import read_project

STATIC = Cause("FIT001", "read-in-source", Severity.ERROR, raises=("OSError", "TypeError"))
CALLED = Cause("FIT002", "seen-in-call", Severity.ERROR)
FAILED = Cause("FIT003", "seen-in-failure", Severity.ERROR)
WRONG = Cause("FIT004", "learns-nonsense", Severity.WARNING)


def _place(module: Any) -> Location:
    return Location(module.path, 1)


def from_source(module: Module) -> Iterator[Finding]:  # type: ignore[name-defined]  # noqa: F821
    yield STATIC.finding("will raise", _place(module))


def silent(module: Module) -> Iterator[Finding]:  # type: ignore[name-defined]  # noqa: F821
    yield WRONG.finding("learns nonsense", _place(module))


def from_call(model: ModelFacts, fit: FitFacts) -> Iterator[Finding]:
    if model.name != "healthy":
        sure = Confidence.CERTAIN if model.name == "certain" else Confidence.LIKELY
        yield CALLED.finding("will raise", Location("train.py", 2), confidence=sure)


def from_failure(failure: FailureFacts, model: ModelFacts | Unknown) -> Iterator[Finding]:
    if failure.type == "ValueError":
        yield FAILED.finding("did raise", Location("train.py", 3), confidence=Confidence.CERTAIN)


STATIC.in_source(from_source)
WRONG.in_source(silent)
CALLED.before_fit(from_call)
FAILED.after_failure(from_failure)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    causes = {cause.id: cause for cause in (STATIC, CALLED, FAILED, WRONG)}
    monkeypatch.setattr(engine, "causes_at", lambda moments: causes)
    monkeypatch.setattr(diagnose, "catalogue", lambda: causes)
    monkeypatch.setattr(diagnose, "source_causes", lambda texts, kinds: causes)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("import keras\ntwo = 2\nthree = 3\n")
    return Run(read_project(["train.py"]), script=Script(exit_code=0))


def called(name: str) -> SeenCall:
    return SeenCall(ModelFacts(name=name), FitFacts(), ())


def ids(run: Run) -> list[str]:
    return [finding.id for finding in examine_run(run).findings]


VALUE_ERROR = FailureFacts("ValueError", "no", frames=(Frame("train.py", 3, "<module>", "three = 3"),))
OTHER_ERROR = replace(VALUE_ERROR, type="OSError")


def test_an_error_read_in_the_source_is_refuted_by_a_good_end(run: Run) -> None:
    assert ids(run) == ["FIT004"]


def test_a_bad_end_leaves_it_standing_unless_something_better_explains_that(run: Run) -> None:
    ended = replace(run, script=Script(exit_code=1))
    assert ids(ended) == ["FIT001", "FIT004"]
    assert ids(replace(ended, failure=VALUE_ERROR)) == ["FIT003", "FIT004"]
    assert ids(replace(ended, failure=OTHER_ERROR)) == ["FIT001", "FIT004"]
    assert ids(replace(ended, failure=replace(OTHER_ERROR, type="KeyError"))) == ["FIT004"]


def test_a_likely_error_of_a_call_is_refuted_by_a_good_end_but_not_by_a_short_one(run: Run) -> None:
    assert ids(replace(run, calls=(called("likely"),))) == ["FIT004"]
    assert ids(replace(run, calls=(called("likely"),), whole=False)) == ["FIT002", "FIT001", "FIT004"]
    assert ids(replace(run, calls=(called("certain"),))) == ["FIT002", "FIT004"]


def test_a_failure_elsewhere_is_not_taken_for_the_one_that_was_announced(run: Run) -> None:
    calls = (called("likely"),)
    ended = replace(run, calls=calls, failure=OTHER_ERROR, script=Script(exit_code=1))
    diagnosis = examine_run(ended)
    assert [left.type for left in diagnosis.unexplained] == ["OSError"]
    assert diagnosis.unexplained[0].location == Location("train.py", 3, 1, 3, 10)
    from_there = examine_run(replace(ended, failed_call=calls[0]))
    assert from_there.unexplained == ()


def test_a_stop_of_ours_needs_no_other_explanation(run: Run) -> None:
    stopped = replace(run, calls=(called("certain"),), stopped=True, script=Script(exit_code=1))
    assert ids(stopped) == ["FIT002", "FIT004"]


def test_comments_in_the_source_silence_what_stands_on_their_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("one = 1  # fitdoctor: ignore[FIT004]\ntwo = 2  # noqa: FIT002\n")
    quiet = replace(run, project=read_project(["train.py"]), calls=(called("certain"),))
    assert ids(quiet) == []
    assert examine_call(called("certain"), lambda: quiet.project).findings == ()
    assert [found.id for found in examine_source(quiet.project).findings] == ["FIT001"]  # type: ignore[arg-type]


def test_a_failure_that_nothing_explains_is_told(run: Run) -> None:
    assert examine_failure(VALUE_ERROR).unexplained == ()
    assert examine_failure(OTHER_ERROR).unexplained[0].message == "no"


def test_a_call_without_findings_reads_no_source(run: Run) -> None:
    def unread() -> Any:
        raise AssertionError("read")

    assert examine_call(called("healthy"), unread).findings == ()


def test_a_crash_in_following_the_source_is_told_and_survived(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> Iterator[Any]:
        raise RuntimeError("lost the way")

    monkeypatch.setattr(engine_inputs, "_site_cases", crash)
    diagnosis = examine_source(run.project)  # type: ignore[arg-type]
    assert [found.id for found in diagnosis.findings] == ["FIT001", "FIT004"]
    assert diagnosis.crashes[0].error == "RuntimeError: lost the way"


@pytest.mark.parametrize(
    ("type_", "message", "whole", "noted"),
    [
        ("IndexError", "list index out of range", False, True),
        ("IndexError", "list index out of range", True, False),
        ("TypeError", "'float' object is not subscriptable", False, False),
        ("ConnectionError", "Max retries exceeded", False, False),
    ],
)
def test_a_failure_after_a_training_that_was_cut_short_says_so(
    type_: str, message: str, whole: bool, noted: bool
) -> None:
    failure = FailureFacts(type=type_, message=message)
    call = SeenCall(ModelFacts("healthy"), FitFacts(), ())
    run = Run(None, calls=(call,), trainings=((TrainingFacts(), call),), failure=failure, whole=whole)
    (left,) = examine_run(run).unexplained
    assert (left.note == diagnose.CUT_SHORT) is noted
