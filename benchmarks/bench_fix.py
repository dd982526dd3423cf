"""The share of the catalogue's causes that `fix` repairs and proves, on every broken program of each cause."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import fitdoctor
from benchmarks import Row
from fitdoctor.diagnosis import Applicability
from fitdoctor.repair.files import CannotEdit
from tests.support.diagnosed import marked
from tests.support.fork_server import ForkServer
from tests.support.repaired import repaired

CATALOGUE = Path(fitdoctor.__file__).parent / "catalogue"
QUICK = 6
PATIENCE = 540.0
"""Seconds after which no further program is begun; those that were not are counted as not repaired."""


@dataclass(frozen=True)
class Tried:
    """What came of one broken program."""

    cause: str
    name: str
    outcome: str
    """`verified`, or why not."""
    safe: bool = False
    general: bool = False
    """A move on the facts mended it, not an edit that the cause names."""
    seconds: float = 0.0


def rows(quick: bool) -> list[Row]:
    """Repair every broken program (quick: some of them), unsafe repairs included."""
    programs = sorted(CATALOGUE.glob("*/*/broken*.py"))
    if quick:
        programs = programs[:: max(len(programs) // QUICK, 1)][:QUICK]
    tried = _tried(programs)
    left = [each for each in tried if each.outcome != "verified"]
    for each in left:
        print(f"fix: {each.cause} {each.name}: {each.outcome}", file=sys.stderr)
    return list(_rows(tried, left))


def _rows(tried: list[Tried], left: list[Tried]) -> Iterator[Row]:
    causes, unmended = {each.cause for each in tried}, {each.cause for each in left}
    verified = [each for each in tried if each.outcome == "verified"]
    yield Row(
        f"fix, causes repaired and verified in all their examples, of {len(causes)}",
        _share(len(causes - unmended), len(causes)),
        unit="%",
    )
    yield Row(
        f"fix, programs repaired and verified, of {len(tried)}", _share(len(verified), len(tried)), unit="%"
    )
    safe = sum(each.safe for each in verified)
    yield Row(f"fix, the same without --unsafe, of {len(tried)} programs", _share(safe, len(tried)), unit="%")
    yield Row("fix, programs repaired by a general move", sum(each.general for each in verified))
    seconds = sum(each.seconds for each in tried) / max(len(tried), 1)
    yield Row("fix, seconds a program (TensorFlow is loaded)", seconds, unit="s")


def _share(part: int, whole: int) -> float:
    return 100.0 * part / max(whole, 1)


def _tried(programs: list[Path]) -> list[Tried]:
    """Each program repaired, by as many servers as there are cores."""
    own = threading.local()
    servers: list[ForkServer] = []
    end = time.monotonic() + PATIENCE

    def one(program: Path) -> Tried:
        if not hasattr(own, "server"):
            own.server = ForkServer()
            servers.append(own.server)
        return _one(own.server, program, time.monotonic() < end)

    try:
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            return list(pool.map(one, programs))
    finally:
        for server in servers:
            server.close()


def _one(server: ForkServer, program: Path, in_time: bool) -> Tried:
    mark = marked(program.read_text("utf-8"))
    cause, name = mark.id if mark else "", f"{program.parent.name}/{program.name}"
    if not in_time:
        return Tried(cause, name, f"not begun within {PATIENCE:g} s")
    began = time.perf_counter()
    try:
        search = repaired(server, program)
    except CannotEdit as error:
        return Tried(cause, name, str(error))
    mended = bool(search.mended) and search.clean
    unmended = "none holds" if search.mended or search.refused else "no text edit is known"
    return Tried(
        cause,
        name,
        "verified" if mended else unmended,
        safe=all(each.fix.applicability is Applicability.SAFE for each in search.mended),
        general=any(each.candidate.general for each in search.mended),
        seconds=time.perf_counter() - began,
    )
