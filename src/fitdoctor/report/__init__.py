"""Diagnoses as text, HTML and the formats of other tools: one renderer per file."""

from __future__ import annotations

from fitdoctor.diagnosis import Diagnosis
from fitdoctor.records import dataclass

_RENDERERS = {
    "text": "fitdoctor.report.text",
    "concise": "fitdoctor.report.concise",
    "json": "fitdoctor.report.json_",
    "github": "fitdoctor.report.github",
    "sarif": "fitdoctor.report.sarif",
    "html": "fitdoctor.report.html",
}

FORMATS = tuple(_RENDERERS)
"""The values of `--output-format`."""


@dataclass(frozen=True)
class Look:
    """How a report looks; only renderers for people use it."""

    color: bool = False
    width: int = 100
    verbose: bool = False
    """Every finding in full, and what could not be checked."""
    counts: bool = True
    """A last line that counts the findings."""
    links: bool = False
    """File names as hyperlinks, where there is colour."""
    full: int = 1
    """How many findings are shown in full; the others get one line each."""


class RenderError(Exception):
    """A report cannot be rendered: the format is unknown, or a package that it needs is missing."""


def render(
    diagnosis: Diagnosis,
    fmt: str = "text",
    *,
    color: bool = False,
    width: int = 100,
    verbose: bool = False,
    counts: bool = True,
    links: bool = False,
    full: int = 1,
) -> str:
    """Render a diagnosis in one of `FORMATS`; the result ends with a newline.

    Raises:
        RenderError: the format is unknown, or a package that it needs is missing.
    """
    if fmt not in _RENDERERS:
        raise RenderError(f"unknown format `{fmt}`: choose one of {', '.join(FORMATS)}")
    import importlib

    renderer = importlib.import_module(_RENDERERS[fmt])
    drawn: str = renderer.render(diagnosis, Look(color, max(width, 40), verbose, counts, links, full))
    return drawn
