"""Models and data as facts, and what the judges of inputs say of them."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import Any

from fitdoctor.diagnose import examine_call, examine_source
from fitdoctor.diagnosis import Finding
from fitdoctor.engine_inputs import SeenCall
from fitdoctor.facts import (
    ArrayFacts,
    DataFacts,
    EnvironmentFacts,
    FailureSummary,
    FitFacts,
    LayerFacts,
    LossFacts,
    ModelFacts,
    Outcome,
    Shape,
    Spec,
    Trial,
    Unknown,
)
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.read import source_from_text

REFUSED = Outcome(failure=FailureSummary("ValueError", "expected something else"))
WENT_THROUGH = Outcome(specs=(Spec((None, 1), "float32"),))


def array(shape: Shape, dtype: str = "float32", path: str = "x", **more: Any) -> ArrayFacts:
    return ArrayFacts(path, container="numpy.ndarray", shape=shape, dtype=dtype, **more)


def data(*x: ArrayFacts, forward: Outcome | Unknown = REFUSED, **more: Any) -> DataFacts:
    rows = x[0].shape[0] if x and isinstance(x[0].shape, tuple) and x[0].shape else 0
    y = array((rows,), path="y")
    plain: dict[str, Any] = {"y": (y,), "samples": rows, "batch_size": 32}
    return DataFacts(x=x, trial=Trial(forward=forward), **(plain | more))


def model(*inputs: Shape, kind: str = "functional", **more: Any) -> ModelFacts:
    specs = tuple(Spec((None, *shape), "float32", f"input_{index}") for index, shape in enumerate(inputs))
    structure = "single" if len(specs) == 1 else "list"
    plain: dict[str, Any] = {"input_structure": structure, "losses": (LossFacts("mean_squared_error"),)}
    return ModelFacts(kind=kind, inputs=specs or Unknown("none"), **(plain | more))


def layer(class_name: str, index: int = 0, **settings: str) -> LayerFacts:
    return LayerFacts(class_name.lower(), class_name, index, config=tuple(settings.items()))


def judged(
    made: ModelFacts, given: DataFacts, fit: FitFacts | None = None, select: str = "FIT1"
) -> list[Finding]:
    """What the judges of inputs find before fit."""
    call = SeenCall(made, fit or FitFacts(), (given,))
    diagnosis = examine_call(call, environment=EnvironmentFacts(), select=(select,))
    assert not diagnosis.crashes, diagnosis.crashes
    return list(diagnosis.findings)


def ids(made: ModelFacts, given: DataFacts, fit: FitFacts | None = None) -> list[str]:
    return [finding.id for finding in judged(made, given, fit)]


def project_of(text: str) -> Project:
    return Project((Module(source_from_text(textwrap.dedent(text), "train.py")),))


def linted(text: str) -> list[tuple[str, int]]:
    diagnosis = examine_source(project_of(text), select=("FIT1",))
    assert not diagnosis.crashes, diagnosis.crashes
    return [(found.id, found.location.line if found.location else 0) for found in diagnosis.findings]


def refused(dtype: str) -> dict[str, Any]:
    return {"problem": FailureSummary("ValueError", f"Invalid dtype: {dtype}"), "forward": Unknown("refused")}


def trained(class_name: str = "Dense", **more: Any) -> LayerFacts:
    return replace(layer(class_name, **more), parameters=8)
