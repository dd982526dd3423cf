"""Facts about source, model, data, call, failure and environment, as frozen plain data for judges.

They contain no tensors and no TensorFlow types; what is not known is `Unknown`. Arrays appear as shape, dtype and bounded
statistics, never as values, because people share diagnoses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fitdoctor.facts.code import Argument, Code, SourceFacts
from fitdoctor.facts.unknown import Shape, Unknown

_HOME = {
    name: module
    for module, names in {
        "unknown": "Unknown Shape known",
        "code": "Argument Code SourceFacts",
        "data": "Spec Statistics Column RowEvent ArrayFacts PipelineStep FailureSummary Outcome Trial Numbering OffScale "
        "LossOrder DataFacts",
        "model": "InnerLoss LayerFacts LossFacts MetricFacts ModelFacts ScheduleFacts",
        "call": "CALL CALLS TRAINING_CALL CallbackFacts ClassWeight FitFacts SplitOff",
        "ending": "Frame FailureFacts HeldTensor KeptTensors RetracedFunction TrainingFacts",
        "cluster": "ClusterFacts",
        "environment": "Conflict MemoryLimit EnvironmentFacts",
    }.items()
    for name in names.split()
}
"""The module of each fact, imported when the fact is first used: `lint` needs none about the machine."""

__all__ = [
    "CALL",
    "CALLS",
    "TRAINING_CALL",
    "Argument",
    "ArrayFacts",
    "CallbackFacts",
    "ClassWeight",
    "ClusterFacts",
    "Code",
    "Column",
    "Conflict",
    "DataFacts",
    "EnvironmentFacts",
    "FailureFacts",
    "FailureSummary",
    "FitFacts",
    "Frame",
    "HeldTensor",
    "InnerLoss",
    "KeptTensors",
    "LayerFacts",
    "LossFacts",
    "LossOrder",
    "MemoryLimit",
    "MetricFacts",
    "ModelFacts",
    "Numbering",
    "OffScale",
    "Outcome",
    "PipelineStep",
    "RetracedFunction",
    "RowEvent",
    "ScheduleFacts",
    "Shape",
    "SourceFacts",
    "Spec",
    "SplitOff",
    "Statistics",
    "TrainingFacts",
    "Trial",
    "Unknown",
]


if TYPE_CHECKING:
    from fitdoctor.facts.call import (
        CALL,
        CALLS,
        TRAINING_CALL,
        CallbackFacts,
        ClassWeight,
        FitFacts,
        SplitOff,
    )
    from fitdoctor.facts.cluster import ClusterFacts
    from fitdoctor.facts.data import (
        ArrayFacts,
        Column,
        DataFacts,
        FailureSummary,
        LossOrder,
        Numbering,
        OffScale,
        Outcome,
        PipelineStep,
        RowEvent,
        Spec,
        Statistics,
        Trial,
    )
    from fitdoctor.facts.ending import (
        FailureFacts,
        Frame,
        HeldTensor,
        KeptTensors,
        RetracedFunction,
        TrainingFacts,
    )
    from fitdoctor.facts.environment import Conflict, EnvironmentFacts, MemoryLimit
    from fitdoctor.facts.model import InnerLoss, LayerFacts, LossFacts, MetricFacts, ModelFacts, ScheduleFacts


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = __import__(f"{__name__}.{_HOME[name]}", fromlist=[name])
    value = globals()[name] = getattr(module, name)
    return value
