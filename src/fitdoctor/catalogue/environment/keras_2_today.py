"""Names that current Keras 2 has also removed, reported like those of Keras 3."""

from __future__ import annotations

from fitdoctor.diagnosis import Finding
from fitdoctor.edits import fix
from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.project import Project


def is_keras_2(project: Project | Unknown) -> bool:
    """Return whether the whole program uses Keras 2."""
    return (
        isinstance(project, Project)
        and bool(project.modules)
        and all(read.keras == 2 for read in project.modules)
    )


def of_keras_2(finding: Finding) -> Finding:
    """Reword a finding for a Keras 2 program; drop its edits, because the imports differ."""
    return replace(
        finding,
        message=finding.message.replace("Keras 3", "current Keras 2"),
        fixes=tuple(fix(each.title.replace("Keras 3", "Keras")) for each in finding.fixes),
    )
