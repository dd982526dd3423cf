"""What Keras 3 dropped, compared anew: the table that FIT902 reads is the one that the installed versions give."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.keras_signatures import TARGET

pytestmark = [pytest.mark.tf, pytest.mark.versions]


def test_the_table_of_what_keras_3_dropped_is_that_of_the_installed_versions() -> None:
    program = "from scripts.keras_signatures import source; import sys; sys.stdout.write(source())"
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout == TARGET.read_text(encoding="utf-8")
