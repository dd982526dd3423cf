"""Every cause keeps what it promises, run against real TensorFlow.

A cause has `broken.py` and `fixed.py`; one that shows in several ways may have more pairs, `broken_loop.py` and
`fixed_loop.py`. Every pair must hold, and each moment that the cause claims must be shown by one of them. What cannot be
run here (a GPU, another version) stands in `broken.txt`: a recorded text, which must be explained.
"""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

from fitdoctor.catalogue import Cause, catalogue
from fitdoctor.diagnose import Run, examine_call, examine_cluster, examine_failure, examine_run
from fitdoctor.diagnosis import Applicability, Diagnosis, Moment, Severity
from fitdoctor.edits import apply_edits
from scripts.documentation.cause_pages import printed
from scripts.documentation.record_printed import told_by
from tests.support.diagnosed import explain, lint, marked, run_watched, seen
from tests.support.fork_server import Ended, ForkServer

HANG = 8.0
"""Seconds after which a program that should never end is ended."""
NEVER_ENDS = "(never ends)"
"""Stands in the first line of an example that hangs."""

each_cause = pytest.mark.parametrize(
    "cause",
    [
        pytest.param(cause, id=cause.id, marks=pytest.mark.xdist_group(cause.id))
        for cause in catalogue().values()
    ],
)


def examples(cause: Cause) -> list[Path]:
    """The broken programs of a cause."""
    return sorted(cause.folder.glob("broken*.py"))


def texts(cause: Cause) -> list[Path]:
    """The recorded texts of a cause."""
    return sorted(cause.folder.glob("broken*.txt"))


def hangs(cause: Cause, broken: Path) -> bool:
    return cause.never_ends or NEVER_ENDS in broken.read_text().split("\n", 1)[0]


@functools.cache
def watched(server: ForkServer, broken: Path, timeout: float) -> tuple[Run, Ended]:
    """What was seen of a broken program, which is not stopped."""
    return seen(server, broken, keep_going=True, timeout=timeout)


def look(server: ForkServer, cause: Cause, broken: Path) -> tuple[Run, Ended]:
    return watched(server, broken, HANG if hangs(cause, broken) else 90.0)


@functools.cache
def fixed_run(server: ForkServer, fixed: Path) -> tuple[Diagnosis, Ended]:
    """What `run` says about a fixed program."""
    return run_watched(server, fixed)


def fixed_twin(broken: Path) -> Path:
    return broken.with_name(broken.name.replace("broken", "fixed"))


def code_of(text: str) -> str:
    """A program without its comments and its docstring."""
    tree = ast.parse(text)
    return ast.dump(ast.Module(tree.body[ast.get_docstring(tree) is not None :], []))


def complaint(diagnosis: Diagnosis, cause: Cause, lines: tuple[int, ...] | None) -> str:
    """What is wrong with a diagnosis that should begin with the cause at one of the lines; "" when it is right."""
    told = [f"{found.id} at {found.location}: {found.message}" for found in diagnosis.findings]
    if diagnosis.crashes:
        return f"a judge crashed: {diagnosis.crashes}"
    if diagnosis.primary is None:
        return f"nothing was found; unexplained: {diagnosis.unexplained}"
    if diagnosis.primary.id != cause.id:
        return f"another cause comes first: {told}"
    location = diagnosis.primary.location
    if lines is not None and (location is None or location.line not in lines):
        return f"not at {lines}: {told}"
    return ""


def blamed(cause: Cause, broken: Path) -> tuple[int, ...]:
    mark = marked(broken.read_text())
    assert mark is not None and mark.id == cause.id, f"{broken.name} has no marker for its own cause"
    assert mark.lines, f"{broken.name} marks no line to blame"
    return mark.accepted


@pytest.mark.tf
@each_cause
def test_broken_program_fails_as_declared(cause: Cause, server: ForkServer) -> None:
    if not examples(cause):
        assert texts(cause), "neither a program nor a recorded text"
        assert "not run here" in cause.page, "the page does not say that its example is a text"
        return
    assert cause.folder / "broken.py" in examples(cause)
    declared = (cause.raises,) if isinstance(cause.raises, str) else cause.raises or ()
    raised = 0
    for broken in examples(cause):
        run, ended = look(server, cause, broken)
        if hangs(cause, broken):
            assert ended.status is None, f"{broken.name} ended"
        elif run.failure is None:
            assert ended.status == 0, ended.stderr[-2000:]
        else:
            assert run.failure.type in declared, ended.stderr[-2000:]
            raised += 1
    assert bool(raised) == bool(declared) or cause.never_ends


@pytest.mark.tf
@each_cause
def test_the_documentation_shows_what_it_prints(cause: Cause, server: ForkServer) -> None:
    for broken in examples(cause):
        run, _ended = look(server, cause, broken)
        shown = printed()[f"{cause.id}/{broken.stem}"].get("3")
        if run.failure is None or shown is None:
            assert run.failure is None and shown is None, (
                f"record {cause.id} again, or its exception is not shown"
            )
        else:
            raised = told_by(run.failure.type, run.failure.raw_message)
            assert told_by(shown["type"], shown["message"]) == raised, f"record {cause.id} again"


@pytest.mark.tf
@each_cause
def test_fixed_program_runs_and_nothing_is_found(cause: Cause, server: ForkServer) -> None:
    for broken in examples(cause):
        fixed = fixed_twin(broken)
        diagnosis, ended = fixed_run(server, fixed)
        assert ended.status == 0, ended.stderr[-2000:]
        found = lint(fixed)
        assert not diagnosis.crashes and not found.crashes
        told = (*diagnosis.findings, *found.findings)
        assert not told, [(finding.id, finding.message) for finding in told]


@each_cause
def test_found_in_source(cause: Cause) -> None:
    if Moment.SOURCE in cause.moments and examples(cause):
        complaints = [complaint(lint(broken), cause, blamed(cause, broken)) for broken in examples(cause)]
        assert "" in complaints, complaints


@pytest.mark.tf
@each_cause
def test_found_before_fit(cause: Cause, server: ForkServer) -> None:
    if Moment.BEFORE_FIT not in cause.moments or not examples(cause):
        return
    complaints = []
    for broken in examples(cause):
        run, _ended = look(server, cause, broken)
        diagnoses = [examine_cluster(cluster, lambda run=run: run.project) for cluster in run.clusters]
        diagnoses += [examine_call(call, lambda run=run: run.project, run.environment) for call in run.calls]
        first = next((diagnosis for diagnosis in diagnoses if diagnosis.findings), Diagnosis())
        complaints.append(complaint(first, cause, blamed(cause, broken)))
    assert "" in complaints, complaints


@pytest.mark.tf
@each_cause
def test_found_after_the_failure(cause: Cause, server: ForkServer) -> None:
    if Moment.AFTER_FAILURE not in cause.moments or cause.raises is None or not examples(cause):
        return
    complaints = []
    for broken in examples(cause):
        run, ended = look(server, cause, broken)
        if run.failure is None:
            continue
        found = examine_failure(run.failure, lambda run=run: run.project, run.failed_call, run.environment)
        complaints.append(complaint(found, cause, blamed(cause, broken)))
        # From the saved text, with the program at hand.
        assert not complaint(explain(ended.stderr, broken), cause, None)
    assert "" in complaints, complaints


@each_cause
def test_recorded_texts_are_explained(cause: Cause) -> None:
    for text in texts(cause):
        assert Moment.AFTER_FAILURE in cause.moments
        diagnosis = explain(text.read_text(encoding="utf-8"))
        assert not complaint(diagnosis, cause, None), text.name
        assert diagnosis.primary is not None and diagnosis.primary.fixes, f"{text.name}: no remedy is named"


@pytest.mark.tf
@each_cause
def test_run_tells_it_first_with_a_fix_that_runs_clean(
    cause: Cause, server: ForkServer, tmp_path: Path
) -> None:
    for broken in examples(cause):
        run, _ended = look(server, cause, broken)
        diagnosis = examine_run(run)
        assert not complaint(diagnosis, cause, blamed(cause, broken))
        assert diagnosis.primary is not None and diagnosis.primary.fixes, "no remedy is named"
        automatic = [
            fix
            for fix in diagnosis.primary.fixes
            if fix.edits and fix.applicability is not Applicability.DISPLAY
        ]
        if not automatic:
            continue
        repaired, fixed = tmp_path / broken.name, fixed_twin(broken)
        repaired.write_text(apply_edits(broken.read_text(), automatic[0].edits))
        if code_of(repaired.read_text()) == code_of(fixed.read_text()):
            after, ended = fixed_run(server, fixed)
        else:
            after, ended = run_watched(server, repaired)
        assert ended.status == 0, (repaired.read_text(), ended.stderr[-1500:])
        assert not after.at_least(Severity.WARNING), [(found.id, found.message) for found in after.findings]


@each_cause
def test_page_has_its_parts(cause: Cause) -> None:
    for heading in ("## What happens", "## Why", "## Fix", "## Known limits"):
        assert heading in cause.page, heading
    for example in (*examples(cause), *cause.folder.glob("fixed*.py")):
        text = example.read_text()
        assert len(text.splitlines()) <= 45, f"{example.name} is too long to be read at a glance"
        if example.name.startswith("fixed"):
            assert marked(text) is None
    for mentioned in re.findall(r"FIT\d{3}", cause.page):
        assert mentioned in catalogue(), mentioned
    slugs = {other.slug for other in catalogue().values()}
    for consequence in cause.explains:
        assert consequence in catalogue() and consequence != cause.id
    for word in re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+){2,})`", cause.page):
        assert word in slugs, f"the page names `{word}`, which is no cause"
