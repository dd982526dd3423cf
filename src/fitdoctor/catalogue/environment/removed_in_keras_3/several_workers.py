"""`fit` of Keras 3 under a multi-worker strategy: it always fails, with errors that mention neither."""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts
from fitdoctor.source.project import Project

_STRATEGIES = ("MultiWorkerMirroredStrategy", "ParameterServerStrategy")
_CALLED = ("fit", "evaluate", "predict")
_PER_REPLICA = "Attempt to convert a value (PerReplica:"
"""Keras 3.15 tries to average the batch, a tuple, across workers."""
_REDUCTION = "Invalid reduction dimension 0 for input with 0 dimensions"
"""Keras 3.3 sums the workers' losses along an axis that does not exist."""
_NO_COORDINATOR = "need to pass this dataset to ClusterCoordinator.create_per_worker_dataset"
"""Keras 3 iterates over the dataset itself, which only a `ClusterCoordinator` may do."""


def rejected_workers(cause: Cause, failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Explain the error of a `fit` under a multi-worker strategy."""
    named = _named(project)
    if failure.called not in _CALLED or project and not named:
        return
    asked = _NO_COORDINATOR in failure.message
    if not asked and _PER_REPLICA not in failure.message and not (named and _REDUCTION in failure.message):
        return
    strategy = named or _STRATEGIES[asked]
    yield cause.certain(
        f"`{failure.called}` in Keras 3 does not support several workers (`{strategy}`); Keras 2 does",
        failure.location,
        Evidence("Keras 3 could not distribute the first batch", fact="failure.message"),
        fix(
            "train with Keras 2: install `tf_keras` and set `TF_USE_LEGACY_KERAS=1` before importing TensorFlow"
        ),
        fix(
            "write a custom training loop: `strategy.experimental_distribute_dataset` and `strategy.run` work"
            if not asked
            else "write a custom training loop with `tf.distribute.coordinator.ClusterCoordinator`"
        ),
        subject=strategy,
    )


def _named(project: Project) -> str:
    """Return the multi-worker strategy that the program names; "" if none."""
    if not project:
        return ""
    return next((name for name in _STRATEGIES if any(name in module.text for module in project.modules)), "")
