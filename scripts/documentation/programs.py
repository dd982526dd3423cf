"""The two programs of a cause, as a reader sees them."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

_MARKER = re.compile(r"[ \t]*# <[-~] FIT\d+.*$", re.MULTILINE)


def without_marker(source: str) -> str:
    """Return a program without the comments that tell the tests which line is to blame."""
    return _MARKER.sub("", source)


def program(path: Path) -> str:
    """Return the text of a program without its markers."""
    return without_marker(path.read_text("utf-8")).strip()


def difference(broken: str, fixed: str) -> str:
    """Return the change from one program to the other as a unified diff."""
    lines = difflib.unified_diff(
        broken.split("\n"), fixed.split("\n"), "broken.py", "fixed.py", n=2, lineterm=""
    )
    return "\n".join(lines)
