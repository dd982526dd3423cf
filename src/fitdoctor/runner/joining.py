"""Checks a multi-worker strategy before its creation waits for the others, and reports while it waits."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from fitdoctor.facts.cluster import ClusterFacts, cluster_of
from fitdoctor.records import replace
from fitdoctor.runner.cluster import meeting
from fitdoctor.runner.fit_interceptor import Watching
from fitdoctor.runner.will_fail import will_fail

JOINING = "making a strategy over several workers"
"""The name of this phase in the session."""
PATIENCE = 30
"""Seconds after which workers that do not answer are listed: they may start later, so nothing is stopped."""
_WORKER_PROBE = Path(__file__).with_name("worker_probe.py")


def join(
    watching: Watching,
    make: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    frame: FrameType | None,
) -> Any:
    """Create a strategy; report what is certain to fail instead of waiting for it."""
    resolver = args[0] if args else kwargs.get("cluster_resolver")
    if resolver is not None and type(resolver).__name__ != "TFConfigClusterResolver":
        return make(*args, **kwargs)
    facts = _looked(watching, frame)
    _meet(watching, facts)
    with _lookout(watching, facts):
        return make(*args, **kwargs)


def _looked(watching: Watching, frame: FrameType | None) -> ClusterFacts | None:
    try:
        from fitdoctor.collect.cluster import cluster_facts
        from fitdoctor.diagnose import examine_cluster

        facts = _compared(watching, cluster_facts(frame))
        diagnosis = examine_cluster(facts, watching.project, watching.select, watching.ignore)
    # A border: whatever goes wrong in our look must not reach the program.
    except Exception as error:
        watching.crashed("cluster", error)
        return None
    new = watching.new_in(diagnosis)
    if watching.recorder is not None:
        watching.recorder.write("cluster", cluster=facts, told=watching.printed(diagnosis))
    watching.say(diagnosis, new)
    if watching.stop and any(finding.stops for finding in diagnosis.findings):
        raise will_fail(diagnosis)
    return facts


def _compared(watching: Watching, facts: ClusterFacts) -> ClusterFacts:
    """Return the facts with the workers on this machine whose TF_CONFIG has a different cluster."""
    place = meeting(facts.config, watching.cluster) if watching.recorder is not None else None
    if place is None:
        return facts
    mine = place.cluster.tasks
    others = {name: cluster_of(config) for name, config in place.under_way().items()}
    return replace(
        facts, disagreeing=tuple(name for name, known in others.items() if known and known.tasks != mine)
    )


def _meet(watching: Watching, facts: ClusterFacts | None) -> None:
    """Announce this worker to the others; then only the chief reports."""
    place = meeting(facts.config, watching.cluster) if facts is not None and watching.recorder else None
    if place is None:
        return
    try:
        place.arrive(os.getppid())
    except OSError as error:
        watching.crashed("cluster", error)
        return
    if not place.is_chief:
        watching.tell = ""


@contextmanager
def _lookout(watching: Watching, facts: ClusterFacts | None) -> Iterator[None]:
    """Start a process that probes the other workers: while TensorFlow waits, no thread of this process can run."""
    cluster = cluster_of(facts.config) if facts is not None else None
    if cluster is None or not cluster.others:
        yield
        return
    piece = watching.recorder.path("silent") if watching.recorder is not None else ""
    words = [f"{name}={address}" for name, address in cluster.others]
    try:
        process = subprocess.Popen(
            [
                sys.executable,
                "-I",
                "-S",
                str(_WORKER_PROBE),
                str(PATIENCE),
                str(piece),
                watching.tell,
                *words,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    except OSError as error:
        watching.crashed("worker probe", error)
        yield
        return
    if watching.recorder is not None:
        watching.recorder.now(method=JOINING, since=time.time())
    try:
        yield
    finally:
        if watching.recorder is not None:
            watching.recorder.now()
        process.kill()
        process.wait()
