"""Dense layer with too many weights after Flatten.

## What happens

One kernel contains most of the model: `Flatten` of a 512 × 512 image with 8 channels outputs 2 million values, and
64 units on top of them need 134 million weights. Adam stores two more values for each. If memory runs out, it does
so on a **weight**, `ResourceExhaustedError: OOM when allocating tensor with shape[…]`, and a smaller batch does not
help.

## Why

The number of weights of a Dense layer is the product of its inputs and its units.

## Fix

Pool before the Dense layer (`GlobalAveragePooling2D`), or use more strided convolutions.

## Known limits

Reported from 110 million weights in one such layer: VGG16, which many programs train, has 103 million.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.data_trail import node_of
from fitdoctor.catalogue.knowledge.models.layer_source import spell_layer
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import unsafe
from fitdoctor.facts import Code, FailureFacts, FitFacts, LayerFacts, ModelFacts, Unknown
from fitdoctor.failure.failed_line import at_frame, function_at, module_of
from fitdoctor.failure.patterns import allocation_failed
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT805", slug="weight-explosion", severity=Severity.WARNING, explains=("FIT806",))

MANY = 110_000_000
POOLING = {4: "GlobalAveragePooling2D", 3: "GlobalAveragePooling1D", 5: "GlobalAveragePooling3D"}


@CAUSE.in_source
@CAUSE.before_fit
@mentions("Flatten", "applications")
def from_model(model: ModelFacts, fit: FitFacts, project: Project) -> Iterator[Finding]:
    """Report a Flatten followed by a Dense layer with too many weights."""
    if fit.method != "fit":
        return
    for flatten, dense in _explosions(model):
        yield _finding(model, flatten, dense, project, [])


def _explosions(model: ModelFacts) -> Iterator[tuple[LayerFacts, LayerFacts]]:
    for before, layer in pairwise(model.every_layer()):
        if before.class_name == "Flatten" and layer.class_name == "Dense" and layer.parameters >= MANY:
            yield before, layer


def _finding(
    model: ModelFacts,
    flatten: LayerFacts,
    dense: LayerFacts,
    project: Project,
    evidence: list[Evidence],
) -> Finding:
    share = 100 * dense.parameters // max(model.parameters, dense.parameters)
    return CAUSE.certain(
        f"the Dense layer after `Flatten` has {_many(dense.parameters)} weights, {share}% of the model",
        place(flatten.code, dense.code),
        Evidence(
            "memory for the kernel, its gradient and the two moments of Adam",
            f"{dense.parameters * 16 / 2**30:.1f} GiB",
            fact="model.layers",
            location=place(dense.code),
        ),
        *evidence,
        _pooled(flatten, project),
        subject=f"layer {dense.name}",
    )


def _many(count: int) -> str:
    return f"{count / 1e9:.1f} billion" if count >= 10**9 else f"{count / 1e6:.0f} million"


def _pooled(flatten: LayerFacts, project: Project) -> Fix:
    shapes = flatten.input_shapes
    rank = len(shapes[0]) if isinstance(shapes, tuple) and shapes else 4
    pooling = POOLING.get(rank, "GlobalAveragePooling2D")
    title = f"pool before the Dense layer: `{pooling}`"
    return unsafe(title, _renamed(project, flatten.code, pooling))


def _renamed(project: Project, code: Code | Unknown, pooling: str) -> tuple[Edit, ...]:
    """Replace `Flatten` by the pooling layer, named as the file names its layers."""
    found = node_of(project, code)
    if (
        found is None
        or not isinstance(found[1], ast.Call)
        or "Flatten" not in found[0].segment(found[1].func)
    ):
        return ()
    module, call = found[0], found[1]
    name, imports = spell_layer(module, call, pooling)
    return (Edit(module.location(call.func), name), *imports)


_OF_WEIGHTS = (
    "Random", "StatelessRandom", "TruncatedNormal", "StatelessTruncatedNormal", "ParameterizedTruncatedNormal", "Fill",
    "ZerosLike", "OnesLike", "BroadcastTo", "Mul", "Add", "AddV2", "Sub", "Cast", "Square", "Sqrt", "RealDiv", "Assign",
    "VarHandle", "ReadVariable",
)  # fmt: skip
"""Operations that create the initial value of a weight or its optimizer state."""


_ELEMENTWISE = re.compile(r"(?:^|/)(?:sub|add|mul|truediv|SquaredDifference|Equal|Maximum|Minimum)(?:_\d+)?$")
"""The node of an operation on activations or labels."""


def _makes_weights(failure: FailureFacts) -> bool:
    """Whether the failed operation creates a weight rather than an activation."""
    if _ELEMENTWISE.search(failure.node):
        return False
    if not failure.operation:
        return True
    if not failure.operation.startswith(_OF_WEIGHTS):
        return False
    # Within the step, only the optimizer computes on whole weights.
    return not failure.node or not failure.node.startswith(
        ("gradient_tape", "compile_loss", "functional", "sequential")
    )


def _written_flatten(failure: FailureFacts, project: Project) -> Code | None:
    """Return the `Flatten` in the statement that ran out of memory, or the last one before it."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if module is None or frame is None:
        return None
    flattens = [site.node for site in module.calls_to("keras.layers.Flatten")]
    here = [node for node in flattens if at_frame(module, module.statement(node), frame)]
    if here:
        return module.code(here[0]) if len(here) == 1 else None
    scope = function_at(module, frame.line, frame.cell)
    before = [node for node in flattens if module.function_of(node) is scope and node.lineno < frame.line]
    return module.code(before[-1]) if before and module.location(before[-1]).cell == frame.cell else None


def _pooling_for(project: Project, flatten: Code) -> str:
    """Return the pooling layer that matches the convolutions of the file."""
    module = project.module_at(flatten.location.path)
    dimensions = [
        site.name[-2]
        for site in (module.calls if module is not None else ())
        if site.name.startswith("keras.layers.Conv") and site.name[-2:] in ("1D", "2D", "3D")
    ]
    return f"GlobalAveragePooling{dimensions[-1] if dimensions else 2}D"


@CAUSE.after_failure
def from_failure(failure: FailureFacts, model: ModelFacts | Unknown, project: Project) -> Iterator[Finding]:
    """Report a Dense kernel that could not be allocated."""
    failed = allocation_failed(failure.message)
    if failed is None or failed.shape is None or len(failed.shape) != 2:
        return
    rows, units = failed.shape
    if rows is None or units is None or rows * units < MANY:
        return
    if not _makes_weights(failure):
        return
    frame = failure.last_user_frame
    evidence = [
        Evidence(
            "the failed allocation is a weight, not a batch",
            f"shape ({rows}, {units})",
            location=frame.location if frame else None,
        )
    ]
    if isinstance(model, ModelFacts):
        for flatten, dense in _explosions(model):
            yield _finding(model, flatten, dense, project, evidence)
            return
    written = _written_flatten(failure, project)
    remedy = _renamed(project, written, _pooling_for(project, written)) if written is not None else ()
    yield CAUSE.certain(
        f"a kernel with {_many(rows * units)} weights does not fit in memory",
        written.location if written is not None else frame.location if frame else None,
        *evidence,
        unsafe("pool before the Dense layer; a smaller batch does not help", remedy),
        subject="layer",
        severity=Severity.ERROR,
    )
