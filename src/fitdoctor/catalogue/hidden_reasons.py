"""Failures that hide their reason: Keras reports every error in a Lambda layer with the same message."""

from __future__ import annotations

from fitdoctor.diagnosis import Finding
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.assemble import hides_another
from fitdoctor.failure.failed_line import stands_at
from fitdoctor.source.project import Project

HIDDEN = "Keras hides the exception raised in the Lambda layer; `fitdoctor run` can show it"


def hides_its_reason(failure: FailureFacts) -> bool:
    """Whether the failure does not contain the original error."""
    return failure.wrapped is None and hides_another(failure.message)


def stands_in_lambda(project: Project, finding: Finding) -> bool:
    """Whether the line to change is in the function of a Lambda layer."""
    place = finding.location
    module = project.module_at(place.path) if place is not None else None
    return (
        module is not None
        and place is not None
        and any(
            function.traced is not None
            and function.traced.how == "lambda layer"
            and stands_at(module.location(function.node), place.line, place.cell)
            for function in module.functions
        )
    )
