"""The tables of what Keras 3 changed and offers are those that the installed versions give."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.keras_changes import CHANGES, OFFERED

pytestmark = [pytest.mark.tf, pytest.mark.versions]


def test_the_tables_are_those_of_the_installed_versions() -> None:
    program = (
        "from scripts.keras_changes import changes, offered; print(changes(), offered(), sep='', end='')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout == CHANGES.read_text("utf-8") + OFFERED.read_text("utf-8")
