"""The catalogue's own programs under Keras 2: the same cause where it exists there, and silence on what works.

A dozen of them run in `make test`; all of them in `make test-versions`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fitdoctor.catalogue import Cause, catalogue
from fitdoctor.diagnosis import Severity
from scripts.documentation.cause_pages import printed
from scripts.documentation.record_printed import record, told_by
from tests.keras_2.translation import for_keras_2
from tests.support.diagnosed import lint, marked, run_watched
from tests.support.fork_server import ForkServer

ALWAYS = ("FIT101", "FIT103", "FIT203", "FIT315", "FIT604", "FIT902")
"""Causes that are run with every test: among them those whose words in Keras 2 are its own."""
WORKS_IN_KERAS_2 = frozenset(
    "FIT107 FIT116 FIT312 FIT317 FIT408 FIT413 FIT503 FIT604/broken_loop FIT605/broken FIT707/broken FIT709/broken FIT715"
    " FIT902 FIT903 FIT904 FIT905".split()
)
"""What Keras 2 does without an exception, and without harm."""
ENDS_IN_KERAS_2 = {"FIT402/fixed": "KeyError: 'loss'"}
"""Repaired halves that read what Keras 2 does not report."""
NOT_FOUND = frozenset({"FIT323/broken"})
"""A `trainable` that changed is found in the source only."""

pytestmark = [pytest.mark.tf, pytest.mark.xdist_group("keras_2")]


def programs(kind: str) -> Iterator[object]:
    """Those that can be written for Keras 2."""
    for cause in catalogue().values():
        for path in sorted(cause.folder.glob(f"{kind}*.py")):
            if for_keras_2(path.read_text(encoding="utf-8")) is None:
                continue
            marks = [] if cause.id in ALWAYS else [pytest.mark.versions]
            yield pytest.param(cause, path, id=f"{cause.id}-{path.stem}", marks=marks)


def translated(path: Path, folder: Path) -> Path:
    text = for_keras_2(path.read_text(encoding="utf-8"))
    assert text is not None
    copy = folder / path.name
    copy.write_text(text, encoding="utf-8")
    return copy


def test_nearly_all_programs_can_be_written_for_keras_2() -> None:
    for kind in ("broken", "fixed"):
        every = [path for cause in catalogue().values() for path in cause.folder.glob(f"{kind}*.py")]
        assert len(list(programs(kind))) > 0.9 * len(every)


@pytest.mark.parametrize(("cause", "path"), list(programs("broken")))
def test_the_same_cause_comes_first(cause: Cause, path: Path, legacy: ForkServer, tmp_path: Path) -> None:
    program = translated(path, tmp_path)
    name = f"{cause.id}/{path.stem}"
    hangs = cause.never_ends or "(never ends)" in path.read_text().split("\n", 1)[0]
    diagnosis, ended = run_watched(legacy, program, keep_going=True, timeout=12 if hangs else 90)
    assert not diagnosis.crashes
    if {cause.id, name} & WORKS_IN_KERAS_2:
        assert ended.status == 0, ended.stderr[-1500:]
        alarms = [*diagnosis.findings, *lint(program).at_least(Severity.ERROR)]
        assert not alarms, [(found.id, found.message) for found in alarms]
        return
    if name in NOT_FOUND:
        assert not diagnosis.findings
        return
    first = diagnosis.primary
    assert first is not None, ended.stderr[-1500:]
    assert first.id == cause.id
    mark = marked(path.read_text(encoding="utf-8"))
    assert mark is not None and first.location is not None and first.location.line in mark.accepted


@pytest.mark.parametrize(("cause", "path"), list(programs("broken")))
def test_the_documentation_shows_what_it_prints(cause: Cause, path: Path, legacy: ForkServer) -> None:
    shown, raised = printed()[f"{cause.id}/{path.stem}"].get("2"), record(cause, path, "2", legacy)
    if shown is None or raised is None:
        assert shown is raised is None, f"record {cause.id} again"
    else:
        assert told_by(shown["type"], shown["message"]) == told_by(raised["type"], raised["message"])


@pytest.mark.parametrize(("cause", "path"), list(programs("fixed")))
def test_nothing_is_found_in_the_repaired_half(
    cause: Cause, path: Path, legacy: ForkServer, tmp_path: Path
) -> None:
    program = translated(path, tmp_path)
    diagnosis, ended = run_watched(legacy, program)
    last = ENDS_IN_KERAS_2.get(f"{cause.id}/{path.stem}")
    if last is not None:
        assert ended.status == 1 and last in ended.stderr
    else:
        assert ended.status == 0, ended.stderr[-1500:]
    told = (*diagnosis.findings, *lint(program).findings)
    assert not told, [(found.id, found.message) for found in told]
    assert not diagnosis.crashes
