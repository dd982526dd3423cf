"""Runs of workers of one cluster: they exchange files in a folder, and the chief reports what all of them found.

Each worker that runs under `fitdoctor run` announces itself there when it creates its strategy, and leaves its
run there when it has ended. Without `--cluster`, workers on one machine use the user's cache, by the address of the chief.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

from fitdoctor.diagnosis import Diagnosis
from fitdoctor.facts.cluster import Cluster, Member, cluster_of
from fitdoctor.records import dataclass
from fitdoctor.runner.saved import default_path, read, save

PATIENCE = 30.0
"""Seconds that the chief waits, once it has ended, for workers that are still running."""
_LOOPBACK = ("localhost", "127.", "[::1]", "0.0.0.0")


@dataclass(frozen=True)
class Meeting:
    """The folder in which the workers of a cluster exchange their runs."""

    folder: Path
    cluster: Cluster
    config: str

    @property
    def is_chief(self) -> bool:
        """Whether this worker reports for all."""
        return self.cluster.task == self.cluster.chief

    def arrive(self, process: int) -> None:
        """Announce that this worker is running and will leave its run here.

        Raises:
            OSError: the folder is not writable.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self._file(self.cluster.task, "json").unlink(missing_ok=True)
        mark = {"process": process, "host": os.uname().nodename, "config": self.config}
        self._file(self.cluster.task, "mark").write_text(json.dumps(mark), encoding="utf-8")

    def under_way(self) -> dict[str, str]:
        """Return the TF_CONFIG of each other worker that has announced itself and is still running."""
        found = {}
        for name, _address in self.cluster.others:
            try:
                mark = json.loads(self._file(name, "mark").read_text(encoding="utf-8"))
                if mark["host"] != os.uname().nodename or _lives(int(mark["process"])):
                    found[name] = str(mark["config"])
            except (OSError, ValueError, KeyError, TypeError):
                continue
        return found

    def leave(self, diagnosis: Diagnosis, pieces: tuple[dict[str, Any], ...], seconds: float) -> bool:
        """Leave the run of a worker that is not the chief, and return whether the chief will report it.

        Raises:
            OSError: the folder is not writable.
        """
        save(self._file(self.cluster.task, "json"), diagnosis, pieces, seconds)
        chief = self.cluster.chief in self.under_way()
        self._file(self.cluster.task, "mark").unlink(missing_ok=True)
        return chief

    def gather(self, patience: float = PATIENCE) -> list[Member]:
        """Return, for the chief, the runs of the other workers once they have ended, and delete their files."""
        deadline = time.monotonic() + patience
        while self.under_way() and time.monotonic() < deadline:
            time.sleep(0.1)
        members = [member for name, _address in self.cluster.others if (member := self._taken(name))]
        self._file(self.cluster.task, "mark").unlink(missing_ok=True)
        return members

    def _taken(self, name: str) -> Member | None:
        path = self._file(name, "json")
        try:
            member = read_member(path.read_bytes(), str(path), name)
        except (OSError, ValueError):
            return None
        path.unlink(missing_ok=True)
        return member

    def _file(self, name: str, kind: str) -> Path:
        return self.folder / f"{name.replace(' ', '-')}.{kind}"


def meeting(config: str, folder: str = "") -> Meeting | None:
    """Return the folder for a worker with this TF_CONFIG; None for a program that trains alone, or without a folder.

    Args:
        config: TF_CONFIG.
        folder: a folder that all workers can access; without it they must be on one machine.
    """
    cluster = cluster_of(config)
    if cluster is None or not cluster.others or not hasattr(os, "uname"):
        return None
    if folder:
        return Meeting(Path(folder), cluster, config)
    if not all(address.startswith(_LOOPBACK) for _name, address in cluster.tasks):
        return None
    chief = dict(cluster.tasks)[cluster.chief]
    digest = hashlib.sha256(chief.encode()).hexdigest()[:12]
    return Meeting(default_path().parent / f"cluster-{digest}", cluster, config)


def meeting_of(pieces: tuple[dict[str, Any], ...], folder: str = "") -> Meeting | None:
    """Return the folder that an ended program used; None if it created no strategy over several workers."""
    for piece in pieces:
        if piece["kind"] == "cluster":
            return meeting(str(piece["cluster"].get("config", "")), folder)
    return None


def read_member(raw: bytes, path: str, name: str = "") -> Member:
    """Return a worker from its saved run.

    Args:
        raw: the saved run.
        path: its name in messages.
        name: the worker, if known; otherwise taken from the run, if possible.

    Raises:
        ValueError: it is not a saved run.
    """
    diagnosis = read(raw, path)
    plain = json.loads(raw.decode("utf-8-sig"))
    config = next(
        (event["cluster"]["config"] for event in plain.get("events", ()) if event.get("kind") == "cluster"),
        "",
    )
    cluster = cluster_of(config)
    name = name or (cluster.task if cluster is not None else path)
    return Member(name, diagnosis, config, tuple(plain.get("facts", ())))


def own_member(meeting: Meeting, diagnosis: Diagnosis, pieces: tuple[dict[str, Any], ...]) -> Member:
    """Return this worker, which has ended."""
    calls = tuple(piece for piece in pieces if piece["kind"] == "call")
    return Member(meeting.cluster.task, diagnosis, meeting.config, calls)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
