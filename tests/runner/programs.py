"""Runs programs in tests, by plain Python and by `fitdoctor run`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.fork_server import ForkServer

SOURCE = Path(__file__).parents[2] / "src"


def environment(home: Path) -> dict[str, str]:
    """The environment of a program in a test: quiet TensorFlow, a cache of its own."""
    return {
        **os.environ,
        "PYTHONPATH": str(SOURCE),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "-1",
        "XDG_CACHE_HOME": str(home / "cache"),
        "NO_COLOR": "1",
        "COLUMNS": "100",
    }


def plain(folder: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """`python WORDS…` in a folder."""
    return _run([sys.executable, *words], folder, stdin)


def doctored(folder: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """`fitdoctor run WORDS…` in a folder."""
    return _run([sys.executable, "-m", "fitdoctor", "run", *words], folder, stdin)


def forked(server: ForkServer, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`fitdoctor run WORDS…` in a folder, of a program that need not import TensorFlow again."""
    return server.command(folder, "run", *words, environment=environment(folder))


def _run(command: list[str], folder: Path, stdin: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=180,
        env=environment(folder),
        check=False,
    )
