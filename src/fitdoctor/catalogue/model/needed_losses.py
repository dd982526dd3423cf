"""Calls that need a loss, on models without one."""

from __future__ import annotations

import re

from fitdoctor.catalogue.knowledge.labels.targets import loss_accepted, loss_failure
from fitdoctor.facts import DataFacts, FitFacts, ModelFacts

NEEDS_LOSS = frozenset({"fit", "evaluate", "train_on_batch", "test_on_batch", "fit_generator"})
_SAID = re.compile(r"No loss to compute|No loss found\. You may have forgotten|must provide a `loss`")
"""The wording of Keras 3, of Keras 2, and of both before training."""


def says_no_loss(message: str) -> bool:
    """Whether a message says that Keras found no loss."""
    return _SAID.search(message) is not None


def lacks_loss(model: ModelFacts, fit: FitFacts, data: DataFacts) -> bool:
    """Whether the call needs a loss, but `compile` got none and no layer adds one."""
    if fit.method not in NEEDS_LOSS or data.role != "training" or loss_accepted(data):
        return False
    if not model.compiled or model.losses or model.added_losses:
        return False
    own_step = "train_step" if fit.method in ("fit", "train_on_batch", "fit_generator") else "test_step"
    if {own_step, "compute_loss", "compile"} & set(model.overrides):
        return False
    raised = loss_failure(data)
    return raised is None or says_no_loss(raised.message)
