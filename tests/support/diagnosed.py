"""Diagnose programs in tests the way the commands do, without starting an interpreter for each."""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from fitdoctor.cli.installed import keras_major
from fitdoctor.diagnose import Run, examine_failure, examine_run, examine_source
from fitdoctor.diagnosis import Diagnosis
from fitdoctor.runner.session import Options, read_pieces, write_options
from fitdoctor.runner.supervise import gathered
from fitdoctor.source.project import read_project
from tests.support.fork_server import Ended, ForkServer

MARKER = re.compile(r"#\s*<([-~])\s*(FIT\d{3})")


@dataclass(frozen=True)
class Marked:
    """The line to blame, and others that would do."""

    id: str
    lines: tuple[int, ...]
    alternatives: tuple[int, ...]

    @property
    def accepted(self) -> tuple[int, ...]:
        """Every line that counts as right."""
        return self.lines + self.alternatives


def marked(text: str) -> Marked | None:
    """Read the marker comments of a program."""
    lines: list[int] = []
    alternatives: list[int] = []
    found = ""
    for number, line in enumerate(text.splitlines(), 1):
        for sign, cause in MARKER.findall(line):
            found = cause
            (lines if sign == "-" else alternatives).append(number)
    return Marked(found, tuple(lines), tuple(alternatives)) if found else None


def run_plain(server: ForkServer, script: Path, timeout: float = 60.0) -> Ended:
    """The program as plain Python runs it."""
    with _folder() as folder:
        return server.run(script, folder.path, mode="plain", cwd=script.parent, timeout=timeout)


def run_watched(
    server: ForkServer, script: Path, *, keep_going: bool = False, timeout: float = 60.0
) -> tuple[Diagnosis, Ended]:
    """What `fitdoctor run` says about the program."""
    run, ended = seen(server, script, keep_going=keep_going, timeout=timeout)
    return examine_run(run), ended


def seen(
    server: ForkServer, script: Path, *, keep_going: bool = False, timeout: float = 60.0
) -> tuple[Run, Ended]:
    """All that `fitdoctor run` sees of the program."""
    with _folder() as folder:
        options = Options(
            script=str(script),
            keep_going=keep_going,
            tell="",
            folder=str(script.parent),
            parent=0,
            keras=keras_major(),
        )
        write_options(folder.path, options)
        ended = server.run(script, folder.path, mode="run", cwd=script.parent, timeout=timeout)
        code = ended.status if ended.status is not None else -(ended.signal or 9)
        return gathered(options, read_pieces(folder.path), code, None), ended


def lint(script: Path) -> Diagnosis:
    """What `fitdoctor lint` says about the program."""
    return examine_source(read_project([script], keras_major()))


def explain(text: str, script: Path | None = None) -> Diagnosis:
    """What `fitdoctor explain` says about saved text, with the program at hand or not."""
    from fitdoctor.failure.text import failures_in

    failures = failures_in(text)
    if not failures:
        return Diagnosis()
    project = read_project([script], keras_major()) if script is not None else None
    return examine_failure(failures[-1], lambda: project)


class _folder:
    """A temporary folder that is there for the time of a `with`."""

    path: Path

    def __enter__(self) -> _folder:
        self.path = Path(tempfile.mkdtemp(prefix="fitdoctor-test-"))
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
