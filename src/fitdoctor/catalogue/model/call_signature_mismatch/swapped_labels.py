"""A loss that the program calls with the predictions first: `loss(predictions, labels)`."""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.labels.called_losses import arguments_of_loss
from fitdoctor.catalogue.knowledge.labels.targets import SPARSE
from fitdoctor.catalogue.words import shape_words
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.called import called_in
from fitdoctor.failure.patterns import target_and_output
from fitdoctor.source.project import Project

_BY_KERAS = frozenset("fit evaluate train_on_batch test_on_batch compute_loss".split())


def refused(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report a loss call in the user's code whose outputs have fewer axes than its labels."""
    shapes, frame = target_and_output(failure.message), failure.last_user_frame
    if shapes is None or shapes.rule != "one rank less" or len(shapes.output) >= len(shapes.target):
        return
    if frame is None or called_in(frame) in _BY_KERAS:
        return
    given = arguments_of_loss(project, failure, SPARSE)
    edits: tuple[Edit, ...] = ()
    if given is not None:
        module, first, second = given
        edits = (
            Edit(module.location(first), module.segment(second)),
            Edit(module.location(second), module.segment(first)),
        )
    yield cause.finding(
        "the loss is called with the predictions first, but it expects the labels first",
        frame.location,
        Evidence(
            "shapes read as labels and predictions",
            f"{shape_words(shapes.target)} and {shape_words(shapes.output)}",
            "labels with one axis fewer than the predictions",
            fact="failure.message",
            location=frame.location,
        ),
        fix("pass the labels first: `loss(y_true, y_pred)`", edits),
        subject="arguments of the loss",
        confidence=Confidence.CERTAIN,
    )
