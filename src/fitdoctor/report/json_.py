"""The published JSON form; `docs/json.md` is its contract."""

from __future__ import annotations

import json

from fitdoctor import __version__
from fitdoctor.diagnosis import Diagnosis
from fitdoctor.records import replace
from fitdoctor.report import Look


def render(diagnosis: Diagnosis, look: Look) -> str:
    """The diagnosis as JSON."""
    signed = replace(diagnosis, tool_version=diagnosis.tool_version or __version__)
    # Escaped to ASCII: file names may hold bytes that no encoding can write.
    return json.dumps(signed.to_json(), indent=2, allow_nan=False) + "\n"
