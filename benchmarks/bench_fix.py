"""The share of the catalogue's causes that `fix` repairs and proves, on each cause's own broken program."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import fitdoctor
from benchmarks import Row
from fitdoctor.diagnosis import Applicability
from fitdoctor.repair import proof
from fitdoctor.repair.copies import Copies
from fitdoctor.repair.files import CannotEdit
from fitdoctor.repair.search import Search

CATALOGUE = Path(fitdoctor.__file__).parent / "catalogue"
QUICK = 3
LIMIT = 60.0


@dataclass(frozen=True)
class Tried:
    """What came of one cause."""

    name: str
    named: bool
    """A repair was there to be tried."""
    verified: bool
    safe: bool
    seconds: float


def rows(quick: bool) -> list[Row]:
    """Repair every broken program (quick: a few of them), unsafe repairs included."""
    programs = sorted(CATALOGUE.glob("*/*/broken.py"))
    if quick:
        programs = programs[:: max(len(programs) // QUICK, 1)][:QUICK]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        tried = list(pool.map(repaired, programs))
    for each in tried:
        if not each.verified:
            print(f"fix: {each.name}: {'none holds' if each.named else 'no repair'}", file=sys.stderr)
    named = [each for each in tried if each.named]
    verified = [each for each in tried if each.verified]
    count = len(tried)
    return [
        Row(f"fix, causes repaired and verified, of {count}", _share(len(verified), count), unit="%"),
        Row(
            f"fix, verified of the {len(named)} that have a repair",
            _share(len(verified), len(named)),
            unit="%",
        ),
        Row(
            f"fix, verified without --unsafe, of {count}",
            _share(sum(each.safe for each in verified), count),
            unit="%",
        ),
        Row("fix, seconds a program", sum(each.seconds for each in tried) / max(count, 1), unit="s"),
    ]


def _share(part: int, whole: int) -> float:
    return 100.0 * part / max(whole, 1)


def repaired(program: Path) -> Tried:
    """Try to repair a copy of one program."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="fitdoctor-bench-") as folder, Copies() as copies:
        script = str(Path(folder) / "train.py")
        shutil.copyfile(program, script)
        wishes = proof.Wishes(script, timeout=LIMIT)
        search = Search(
            script,
            lambda files, texts: proof.run(wishes, copies.lay_out(script, files, texts)),
            lambda _line: None,
            unsafe=True,
            everything=True,
        )
        try:
            search.go()
        except CannotEdit:
            return Tried(program.parent.name, False, False, False, time.perf_counter() - began)
    return Tried(
        name=program.parent.name,
        named=bool(search.mended or search.refused),
        verified=bool(search.mended) and search.clean,
        safe=all(each.fix.applicability is Applicability.SAFE for each in search.mended),
        seconds=time.perf_counter() - began,
    )
