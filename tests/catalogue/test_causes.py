"""Every cause keeps what it promises, run against real TensorFlow."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from fitdoctor.catalogue import Cause, catalogue
from fitdoctor.diagnosis import Applicability, Diagnosis, Moment, Severity
from fitdoctor.edits import apply_edits
from fitdoctor.examine import Run, examine_call, examine_failure, examine_run
from tests.support.diagnosed import explain, lint, marked, run_watched, seen
from tests.support.fork_server import Ended, ForkServer

HANG = 8.0
"""Seconds after which a program that should never end is ended."""

CAUSES = [
    pytest.param(cause, id=cause.id, marks=pytest.mark.xdist_group(cause.id))
    for cause in catalogue().values()
]
each_cause = pytest.mark.parametrize("cause", CAUSES)


@functools.cache
def watched(server: ForkServer, cause: Cause) -> tuple[Run, Ended]:
    """What was seen of the broken program, which is not stopped."""
    timeout = HANG if cause.never_ends else 60.0
    return seen(server, cause.folder / "broken.py", keep_going=True, timeout=timeout)


def assert_first(diagnosis: Diagnosis, cause: Cause, lines: tuple[int, ...] | None) -> None:
    """The cause is the first finding, at one of the lines."""
    told = [f"{found.id} at {found.location}: {found.message}" for found in diagnosis.findings]
    assert not diagnosis.crashes
    assert diagnosis.primary is not None, "nothing was found"
    assert diagnosis.primary.id == cause.id, told
    if lines is not None:
        assert diagnosis.primary.location is not None, told
        assert diagnosis.primary.location.line in lines, told


def blamed(cause: Cause) -> tuple[int, ...]:
    mark = marked((cause.folder / "broken.py").read_text())
    assert mark is not None and mark.id == cause.id, "broken.py has no marker for its own cause"
    assert mark.lines, "broken.py marks no line to blame"
    return mark.accepted


@pytest.mark.tf
@each_cause
def test_broken_program_fails_as_declared(cause: Cause, server: ForkServer) -> None:
    run, ended = watched(server, cause)
    if cause.never_ends:
        assert ended.status is None, "it ended"
        return
    if cause.raises is None:
        assert ended.status == 0, ended.stderr[-2000:]
        return
    declared = (cause.raises,) if isinstance(cause.raises, str) else cause.raises
    assert run.failure is not None, ended.stderr[-2000:]
    assert run.failure.type in declared


@pytest.mark.tf
@each_cause
def test_fixed_program_runs_and_nothing_is_found(cause: Cause, server: ForkServer) -> None:
    diagnosis, ended = run_watched(server, cause.folder / "fixed.py")
    assert ended.status == 0, ended.stderr[-2000:]
    assert not diagnosis.crashes
    assert not diagnosis.findings, [(found.id, found.message) for found in diagnosis.findings]
    found = lint(cause.folder / "fixed.py")
    assert not found.crashes
    assert not found.findings, [(finding.id, finding.message) for finding in found.findings]


@each_cause
def test_found_in_source(cause: Cause) -> None:
    if Moment.SOURCE not in cause.moments:
        return
    assert_first(lint(cause.folder / "broken.py"), cause, blamed(cause))


@pytest.mark.tf
@each_cause
def test_found_before_fit(cause: Cause, server: ForkServer) -> None:
    if Moment.BEFORE_FIT not in cause.moments:
        return
    run, _ended = watched(server, cause)
    assert run.calls, "no call of fit was seen"
    diagnoses = [examine_call(call, lambda: run.project, run.environment) for call in run.calls]
    found = next((diagnosis for diagnosis in diagnoses if diagnosis.findings), Diagnosis())
    assert_first(found, cause, blamed(cause))


@pytest.mark.tf
@each_cause
def test_found_after_the_failure(cause: Cause, server: ForkServer) -> None:
    if Moment.AFTER_FAILURE not in cause.moments or cause.raises is None:
        return
    run, ended = watched(server, cause)
    assert run.failure is not None, ended.stderr[-2000:]
    found = examine_failure(run.failure, lambda: run.project, run.failed_call, run.environment)
    assert_first(found, cause, blamed(cause))
    # From the saved text alone, and with the program at hand.
    assert_first(explain(ended.stderr), cause, None)
    assert_first(explain(ended.stderr, cause.folder / "broken.py"), cause, None)


@pytest.mark.tf
@each_cause
def test_run_tells_it_first_with_a_fix_that_runs_clean(
    cause: Cause, server: ForkServer, tmp_path: Path
) -> None:
    run, _ended = watched(server, cause)
    diagnosis = examine_run(run)
    assert_first(diagnosis, cause, blamed(cause))
    assert diagnosis.primary is not None
    assert diagnosis.primary.fixes, "no remedy is named"
    automatic = [
        fix for fix in diagnosis.primary.fixes if fix.edits and fix.applicability is not Applicability.DISPLAY
    ]
    if not automatic:
        return
    text = (cause.folder / "broken.py").read_text()
    repaired = tmp_path / "repaired.py"
    repaired.write_text(apply_edits(text, automatic[0].edits))
    after, ended = run_watched(server, repaired)
    assert ended.status == 0, (repaired.read_text(), ended.stderr[-1500:])
    assert not after.at_least(Severity.WARNING), [(found.id, found.message) for found in after.findings]


@each_cause
def test_page_has_its_parts(cause: Cause) -> None:
    for heading in ("## What happens", "## Why", "## Fix", "## Known limits"):
        assert heading in cause.page, heading
    for name in ("broken.py", "fixed.py"):
        text = (cause.folder / name).read_text()
        assert len(text.splitlines()) <= 45, f"{name} is too long to be read at a glance"
    assert marked((cause.folder / "fixed.py").read_text()) is None
    for mentioned in re.findall(r"FIT\d{3}", cause.page):
        assert mentioned in catalogue(), mentioned
    slugs = {other.slug for other in catalogue().values()}
    for consequence in cause.explains:
        assert consequence in catalogue() and consequence != cause.id
    for word in re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+){2,})`", cause.page):
        assert word in slugs, f"the page names `{word}`, which is no cause"
