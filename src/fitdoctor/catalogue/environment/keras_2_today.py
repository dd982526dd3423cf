"""What the Keras 2 of today has lost itself: told as the same loss of Keras 3, with what to write instead."""

from __future__ import annotations

from fitdoctor.diagnosis import Finding
from fitdoctor.edits import fix
from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.project import Project


def is_keras_2(project: Project | Unknown) -> bool:
    """Whether the whole program is one of Keras 2."""
    return (
        isinstance(project, Project)
        and bool(project.modules)
        and all(read.keras == 2 for read in project.modules)
    )


def of_keras_2(finding: Finding) -> Finding:
    """The finding in words for a program of Keras 2; its imports are others, so that nothing is edited."""
    return replace(
        finding,
        message=finding.message.replace("Keras 3", "current Keras 2"),
        fixes=tuple(fix(each.title.replace("Keras 3", "Keras")) for each in finding.fixes),
    )
