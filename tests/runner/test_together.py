"""Runs of several workers as one: shared findings once, the others with names, differences as findings."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from fitdoctor.cli.report import main
from fitdoctor.diagnosis import (
    Confidence,
    Diagnosis,
    Finding,
    Location,
    Moment,
    Script,
    Severity,
    Unexplained,
)
from fitdoctor.facts.cluster import Member
from fitdoctor.runner.cluster import Meeting, meeting, read_member
from fitdoctor.runner.saved import save
from fitdoctor.runner.together import joined
from tests.support.clusters import config


def finding(cause: str, line: int, severity: Severity = Severity.ERROR) -> Finding:
    found = Finding(
        cause, "slug", severity, Confidence.LIKELY, Moment.BEFORE_FIT, "wrong", "x", Location("a.py", line)
    )
    return found.with_fingerprint(str(line))


def member(
    index: int,
    *findings: Finding,
    shape: tuple[int, ...] = (32, 4),
    batch: int = 32,
    numpy: str = "2.4.1",
    **more: Any,
) -> Member:
    array = {"shape": list(shape), "dtype": "float32"}
    data = {"x": [array], "y": [], "batch_size": batch}
    packages = [["tensorflow", "2.21.0"], ["numpy", numpy]]
    call = {"method": "fit", "data": [data], "environment": {"packages": packages, "python": "3.11.9"}}
    return Member(f"worker {index}", Diagnosis(findings, **more), config("h:1", "h:2", index=index), (call,))


def test_what_all_share_is_told_once() -> None:
    told = joined([member(0, finding("FIT204", 3)), member(1, finding("FIT204", 3))]).findings
    assert [(found.message, found.notes) for found in told] == [("wrong", ("found on all 2 workers",))]


def test_what_only_one_has_is_told_with_its_name() -> None:
    (told,) = joined([member(0), member(1, finding("FIT204", 3))]).findings
    assert told.message == "wrong (only on worker 1)"


@pytest.mark.parametrize(
    ("other", "cause", "words"),
    [
        (
            member(1, shape=(32, 5)),
            "FIT101",
            "(5) float32, but (4) float32 on the other workers (only on worker 1)",
        ),
        (member(1, numpy="1.26.4"), "FIT901", "the NumPy version is 1.26, but 2.4 on the other workers"),
        (member(1, batch=16), "FIT605", "16, but 32 on the other workers (only on worker 1)"),
        (
            Member("worker 1", Diagnosis(), config("h:1", "h:3", index=1)),
            "FIT606",
            "the cluster in TF_CONFIG",
        ),
    ],
)
def test_a_difference_is_a_finding(other: Member, cause: str, words: str) -> None:
    (told,) = joined([member(0), other]).findings
    assert told.id == cause and words in told.message and told.severity is Severity.WARNING


def test_workers_that_are_alike_give_nothing() -> None:
    assert joined([member(0), member(1)]).findings == ()


def test_a_worker_that_was_left_alone_is_a_consequence() -> None:
    aborted = Unexplained(
        "UnavailableError", "Collective ops is aborted by: Error reported from /job:worker/task:1"
    )
    left = member(0, unexplained=(aborted,), script=Script(exit_code=1))
    told = joined([left, member(1, finding("FIT101", 3))])
    assert told.unexplained == () and told.findings[0].message.endswith("(only on worker 1)")
    assert joined([left, member(1)]).unexplained[0].message.endswith("(worker 0)")


def place(tmp_path: Path, index: int) -> Meeting:
    found = meeting(config("localhost:1", "localhost:2", index=index), str(tmp_path))
    assert found is not None
    return found


def test_workers_meet_in_a_folder_and_the_chief_takes_their_runs(tmp_path: Path) -> None:
    chief, worker = place(tmp_path, 0), place(tmp_path, 1)
    assert chief.is_chief and not worker.is_chief
    worker.arrive(os.getpid())
    chief.arrive(os.getpid())
    assert list(chief.under_way()) == ["worker 1"]
    assert worker.leave(Diagnosis((finding("FIT204", 3),)), (), 1.0)
    (other,) = chief.gather(patience=0)
    assert (other.name, other.diagnosis.findings[0].id) == ("worker 1", "FIT204")
    assert not list(tmp_path.iterdir())


def test_a_worker_whose_chief_is_not_watched_tells_itself(tmp_path: Path) -> None:
    worker = place(tmp_path, 1)
    worker.arrive(os.getpid())
    assert not worker.leave(Diagnosis(), (), 1.0)


def test_only_workers_of_one_machine_meet_by_themselves() -> None:
    assert meeting(config("localhost:1", "127.0.0.1:2")) is not None
    assert meeting(config("localhost:1", "far:2")) is None
    assert meeting(config("localhost:1")) is None and meeting("") is None


def test_report_takes_the_runs_of_several_workers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = []
    for index in (0, 1):
        piece = {"kind": "cluster", "cluster": {"config": config("h:1", "h:2", index=index)}, "told": []}
        findings = (finding("FIT204", 3),) * index
        paths.append(tmp_path / f"{index}.json")
        save(paths[-1], Diagnosis(findings), (piece,), 1.0)
        assert read_member(paths[-1].read_bytes(), "r").name == f"worker {index}"
    assert main(["--output-format", "json", *map(str, paths)]) == 0
    (told,) = json.loads(capsys.readouterr().out)["findings"]
    assert told["message"] == "wrong (only on worker 1)"
