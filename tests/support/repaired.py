"""Repair programs the way `fitdoctor fix` does, without starting an interpreter for each run."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from fitdoctor.cli.installed import keras_major
from fitdoctor.repair import proof
from fitdoctor.repair.copies import Copies, Laid
from fitdoctor.repair.proof import Seen
from fitdoctor.repair.search import Search
from tests.support.fork_server import ForkServer


def repaired(server: ForkServer, program: Path, *, unsafe: bool = True, timeout: float = 40.0) -> Search:
    """What the search finds for a copy of one program, everything in it mended one after another.

    Raises:
        CannotEdit: the program cannot be read or does not parse.
    """
    with tempfile.TemporaryDirectory(prefix="fitdoctor-test-") as name, Copies() as copies:
        folder = Path(name).resolve()
        script = folder / program.name
        shutil.copyfile(program, script)
        return search(server, script, copies, unsafe=unsafe, timeout=timeout)


def search(
    server: ForkServer, script: Path, copies: Copies, *, unsafe: bool = True, timeout: float = 40.0
) -> Search:
    """The search for repairs of one program where it is."""
    wishes = proof.Wishes(str(script), timeout=timeout, keras=keras_major())

    def start(folder: Path, limit: float) -> tuple[int, bool]:
        ended = server.run(script, folder, mode="run", cwd=script.parent, timeout=limit)
        if ended.status is not None:
            return ended.status, False
        return (-ended.signal, False) if ended.signal else (-9, True)

    def prove(laid: Laid, whole: bool) -> Seen:
        return proof.run(wishes, laid, start, whole=whole)

    found = Search(
        os.fspath(script),
        lambda files, texts, whole: prove(copies.lay_out(str(script), files, texts), whole),
        lambda _line: None,
        unsafe=unsafe,
        everything=True,
        keras=wishes.keras,
    )
    found.go()
    return found
