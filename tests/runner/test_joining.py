"""A strategy over several workers: what cannot work is told before it hangs, and who is missing while it waits."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fitdoctor.collect.cluster import cluster_facts
from fitdoctor.diagnose import examine_cluster
from fitdoctor.diagnosis import Location, Severity
from fitdoctor.facts import ClusterFacts
from fitdoctor.runner import worker_probe
from tests.support.clusters import config, free_port, listening

MADE = Location("train.py", 7, 1, 7, 9)


@pytest.fixture
def busy() -> Iterator[int]:
    with listening() as port:
        yield port


@pytest.mark.parametrize(
    ("facts", "words", "severity", "stops"),
    [
        (ClusterFacts("{'cluster'", MADE), "is not JSON", Severity.ERROR, True),
        (ClusterFacts(config("a:1", index=1), MADE), "the only index is 0", Severity.ERROR, True),
        (ClusterFacts(config("a:1", "b:99999"), MADE), "not a `host:port`", Severity.ERROR, True),
        (ClusterFacts('{"task": {"type": "worker", "index": 0}}', MADE), "alone", Severity.WARNING, False),
        (
            ClusterFacts(config("a:1"), MADE, taken="a:1"),
            "another process is already listening",
            Severity.ERROR,
            True,
        ),
        (
            ClusterFacts(config("a:1", "b:1"), MADE, unresolved=("b:1",)),
            "does not resolve",
            Severity.WARNING,
            False,
        ),
        (
            ClusterFacts(config("a:1", "b:1"), MADE, silent=("worker 1 (b:1)",), waited=30),
            "worker 1 (b:1) did not answer for 30 seconds",
            Severity.WARNING,
            False,
        ),
    ],
)
def test_only_what_is_certain_stops(facts: ClusterFacts, words: str, severity: Severity, stops: bool) -> None:
    (found,) = examine_cluster(facts).findings
    assert (found.id, found.location) == ("FIT606", MADE)
    assert words in found.message and found.fixes
    assert (found.severity, found.stops) == (severity, stops)


def test_a_sound_cluster_and_none_are_silent() -> None:
    assert not examine_cluster(ClusterFacts(config("a:1", "b:1"), MADE)).findings
    assert not examine_cluster(ClusterFacts("", MADE)).findings


def test_the_own_port_is_tried_and_the_others_are_not(busy: int, monkeypatch: pytest.MonkeyPatch) -> None:
    free = free_port()
    monkeypatch.setenv("TF_CONFIG", config(f"localhost:{busy}", f"localhost:{free}"))
    assert cluster_facts(None).taken == f"localhost:{busy}"
    monkeypatch.setenv("TF_CONFIG", config(f"localhost:{free}", f"localhost:{busy}", "nowhere.invalid:1"))
    facts = cluster_facts(None)
    assert facts.taken == ""
    assert set(facts.unresolved) <= {"nowhere.invalid:1"}


def test_the_lookout_names_who_does_not_answer(busy: int, tmp_path: Path) -> None:
    piece, gone = tmp_path / "silent.json", free_port()
    others = [f"worker 1=localhost:{busy}", f"worker 2=localhost:{gone}"]
    command = [sys.executable, "-I", "-S", str(worker_probe.__file__), "0.1", str(piece), "text", *others]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert json.loads(piece.read_text())["workers"] == [f"worker 2 (localhost:{gone})"]
    assert "worker 2" in done.stderr and "worker 1" not in done.stderr
