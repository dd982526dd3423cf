"""`fitdoctor demo`: a broken training program that ships with the package, run and diagnosed."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fitdoctor.cli.options import Parser
from fitdoctor.cli.progress import status
from fitdoctor.optional_packages import require_installed
from fitdoctor.quiet_start import wanted, when_started

PROGRAM = Path(__file__).parent.parent / "demo_program" / "train.py"
EXPECTED = "FIT203"


def main(argv: list[str]) -> int:
    """Run the demo; return 0 if it found what it should."""
    options = make_parser().parse_args(argv)
    for package in ("tensorflow", "keras"):
        require_installed(package, "the demo program")
    with tempfile.TemporaryDirectory(prefix="fitdoctor-demo-") as folder:
        script = Path(folder) / PROGRAM.name
        shutil.copyfile(PROGRAM, script)
        saved = Path(folder) / "run.json"
        _show(script)
        _run(script, saved, options.color)
        return _verdict(saved)


def make_parser() -> Parser:
    """The options of `demo`."""
    parser = Parser("demo", "Run a broken training program that ships with fitdoctor, and diagnose it.")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: auto")
    return parser


def _show(script: Path) -> None:
    print(f"$ fitdoctor run {script.name}", flush=True)


def _run(script: Path, saved: Path, color: str) -> None:
    from fitdoctor.cli import run

    here = os.getcwd()
    os.chdir(script.parent)
    try:
        with _status_until_started():
            run.main(["--color", color, "--save", str(saved), script.name])
    finally:
        os.chdir(here)


@contextmanager
def _status_until_started() -> Iterator[None]:
    """Show a spinner until TensorFlow has started; none if the end of its start cannot be seen."""
    if not wanted():
        yield
        return
    with status("starting TensorFlow") as show, when_started(lambda: show("")):
        yield


def _verdict(saved: Path) -> int:
    from fitdoctor.runner.saved import load

    primary = load(saved).primary
    if primary is not None and primary.id == EXPECTED:
        return 0
    found = primary.id if primary is not None else "nothing"
    print(f"fitdoctor: the demo should find {EXPECTED}, but found {found}", file=sys.stderr)
    return 1
