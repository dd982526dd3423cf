"""Tests that need TensorFlow are not even imported where they are left out: that takes longer than all the others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

WITHOUT_TENSORFLOW = "not tf"
NEEDS_TENSORFLOW = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.tf\b", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a file whose every test is marked `tf`, by what it says at its top."""
    if config.option.markexpr != WITHOUT_TENSORFLOW or collection_path.suffix != ".py":
        return None
    return True if NEEDS_TENSORFLOW.search(collection_path.read_text("utf-8")) else None
