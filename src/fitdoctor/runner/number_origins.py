"""Moves findings about the size of a layer to where its number is written: a constant, an option, a file."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from fitdoctor.diagnosis import Diagnosis, Evidence, Origin
from fitdoctor.runner.second_run import expression_at
from fitdoctor.source.project import Project
from fitdoctor.source.written_numbers import is_setting, size_in, written

_SIZED = ("shape", "range", "rank")
"""Aspects of data that a layer's size must match."""
_KERAS = ("keras.", "tf_keras.", "tensorflow.keras.")


def number_origins(diagnosis: Diagnosis, project: Project, arguments: Sequence[str]) -> tuple[Origin, ...]:
    """Return where the numbers behind a diagnosis are written, for findings at the call of a layer.

    Args:
        diagnosis: the findings.
        project: the user's source.
        arguments: those of the program's command line.
    """
    return tuple(_origins(diagnosis, project, arguments))


def _origins(diagnosis: Diagnosis, project: Project, arguments: Sequence[str]) -> Iterator[Origin]:
    from fitdoctor.catalogue import catalogue

    for finding in diagnosis.findings:
        cause = catalogue().get(finding.id)
        place = finding.location
        found = expression_at(project, place) if place is not None else None
        if place is None or found is None or cause is None or cause.aspect not in _SIZED:
            continue
        module, node = found
        size = size_in(node) if module.resolve(getattr(node, "func", None)).startswith(_KERAS) else None
        if isinstance(node, ast.Constant) or is_setting(node):
            size = node  # the default of an option, which the command line may replace, or a value of a file
        number = written(project, module, size, arguments) if size is not None else None
        if size is None or number is None or number.location == place:
            continue
        set_by = f"`{number.text}` " + (f"({number.location})" if number.location else "on the command line")
        trail = Evidence(f"number: `{module.segment(size)}` ← {set_by}")
        yield Origin(finding.id, finding.subject, place, number.location or place, trail)
