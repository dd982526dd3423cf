"""Output for every time step, but one target per sample.

## What happens

The output has shape (n, steps, k) and the labels have shape (n,), (n, 1) or (n, k). The cross-entropy losses raise:
`Argument output must have rank (ndim) target.ndim - 1`, `must have the same rank` or `the same shape`. The
regression losses do not: `mse` with labels of shape (n,) broadcasts to (batch, steps, batch), every step is compared
with the label of every sample, and the model learns their mean.

## Why

The last recurrent layer has `return_sequences=True`, or the steps of a convolution, an embedding or an attention
layer are never pooled, so Dense is applied to each step separately.

## Fix

Remove `return_sequences=True` from the last recurrent layer, or pool over the steps (`GlobalAveragePooling1D`) or
flatten them before the last Dense layer.

## Known limits

In a saved message, an output of shape (n, steps, 1) may already have lost its last axis and looks like labels of
another width.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting
from fitdoctor.catalogue.knowledge.labels.label_shapes import SEQUENCE, Refused, refused_after, verdict
from fitdoctor.catalogue.knowledge.labels.targets import (
    REGRESSION,
    Target,
    loss_accepted,
    loss_failure,
    targets,
)
from fitdoctor.catalogue.knowledge.models.layer_source import found_in, insert_layer
from fitdoctor.catalogue.knowledge.models.rank_edits import sequences_in_loop
from fitdoctor.catalogue.prefilter import LABELS
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Finding, Fix, Location, Severity
from fitdoctor.edits import remove_argument, unsafe
from fitdoctor.facts import Code, DataFacts, FailureFacts, LayerFacts, ModelFacts, Unknown
from fitdoctor.source.callees import is_self
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT217",
    slug="sequence-output-single-target",
    severity=Severity.ERROR,
    raises="ValueError",
    explains=("FIT201", "FIT202", "FIT204", "FIT205", "FIT218", "FIT304"),
)

_RECURRENT = frozenset({"LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional", "ConvLSTM1D"})
_STEPWISE = frozenset(
    "Dense EinsumDense Dropout SpatialDropout1D Activation TimeDistributed BatchNormalization LayerNormalization "
    "GroupNormalization UnitNormalization Softmax ReLU LeakyReLU PReLU ELU GaussianNoise GaussianDropout Rescaling "
    "Masking Identity InputLayer".split()
)
"""Layers that process each step separately: they keep the time axis but do not create it."""
_IMAGES = ("Conv2D", "Conv3D", "Pooling2D", "Pooling3D", "Conv2DTranspose", "Conv3DTranspose", "UpSampling2D")
"""Suffixes of the names of image layers."""


@CAUSE.in_source
@doubting(LABELS)
@CAUSE.before_fit
def from_data(model: ModelFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report labels without a time axis for outputs with one."""
    for target in targets(model, data):
        labels, output = target.label_shape, target.output_shape
        if labels is None or output is None or not target.loss_name or _is_image(target):
            continue
        if verdict(target.loss_name, labels, output, target.label_statistics) != SEQUENCE:
            continue
        # With one unit the subtraction broadcasts; with several it fails once the batch size is known.
        failed = loss_failure(data) is not None
        silent = not failed and target.loss_name in REGRESSION and output[-1] == 1
        proven = failed or (silent and loss_accepted(data))
        confidence = Confidence.CERTAIN if proven else Confidence.LIKELY
        yield _finding(Refused(SEQUENCE, target, labels, output, confidence, model, data, project), silent)


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, model: ModelFacts | Unknown, data: DataFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Report the two shapes in the message."""
    if not project and failure.node.startswith("SparseSoftmaxCrossEntropyWithLogits"):
        return  # a program without Keras, which flattens time steps: the batches differ
    for refused in refused_after(failure, model, data, project, SEQUENCE):
        if refused.target is None or not _is_image(refused.target):
            yield _finding(refused, False)


def _is_image(target: Target) -> bool:
    """Whether the output follows an image convolution, so that a Flatten is missing."""
    return any(isinstance(step, LayerFacts) and step.class_name.endswith(_IMAGES) for step in target.way)


def _finding(refused: Refused, silent: bool) -> Finding:
    target, labels = refused.target, refused.array
    layer, following = _keeper(target)
    last = _last_step(following, refused.project)
    steps = "every time step" if refused.output[1] is None else f"each of {refused.output[1]} time steps"
    more = ", so the loss broadcasts them" if silent else ""
    return refused.finding(
        CAUSE,
        f"the model outputs a value for {steps}, but the labels have one target per sample{more}",
        place(
            _line(layer),
            last[0].edits[0].location if last else None,
            following.code if following is not None else None,
            target.layer.code if target is not None and target.layer is not None else None,
            labels.code if labels is not None else None,
            refused.raised_at,
        ),
        *(last if layer is None else ()),
        *_fixes(layer, following, refused.project),
        *(last if layer is not None else ()),
        severity=Severity.WARNING if silent else Severity.ERROR,
    )


def _keeper(target: Target | None) -> tuple[LayerFacts | None, LayerFacts | None]:
    """Return the last layer that could have dropped the time axis, and the layer that follows it."""
    following: LayerFacts | None = None
    for step in target.way if target is not None else ():
        if not isinstance(step, LayerFacts) or step.class_name == "InputLayer":
            return None, following
        if not step.builtin or step.class_name not in _STEPWISE:
            return step, following
        following = step
    return None, following


def _returns_sequences(layer: LayerFacts) -> bool:
    inner = (layer, *layer.sublayers)
    return layer.class_name in _RECURRENT and any(one.setting("return_sequences") == "True" for one in inner)


def _line(layer: LayerFacts | None) -> Location | None:
    if layer is None or isinstance(layer.code, Unknown):
        return None
    if layer.class_name == "Bidirectional" and layer.code.arguments:
        return layer.code.arguments[0].location
    return layer.code.location


def _fixes(layer: LayerFacts | None, following: LayerFacts | None, project: Project) -> list[Fix]:
    if layer is not None and _returns_sequences(layer):
        looped = sequences_in_loop(layer, layer, project)
        return [
            *(unsafe(each.title, each.edits) for each in looped),
            unsafe("output only the last step: remove `return_sequences=True`", _without_sequences(layer)),
        ]
    found = found_in(project, following.code) if following is not None else None
    pool, flatten = (
        unsafe(title, insert_layer(*found, name) if found is not None else ())
        for title, name in (
            ("average over the steps before the next layer", "GlobalAveragePooling1D"),
            ("flatten the steps before the next layer", "Flatten"),
        )
    )
    # Without a layer that creates steps, rows of a table or image count as steps.
    return [pool, flatten] if layer is not None else [flatten, pool]


def _last_step(following: LayerFacts | None, project: Project) -> list[Fix]:
    """Pass only the last step to a layer that a model class keeps and calls once: `self.head(x[:, -1])`."""
    found = found_in(project, following.code) if following is not None else None
    if found is None:
        return []
    module, made = found
    statement = module.parent(made)
    kept = statement.targets[0] if isinstance(statement, ast.Assign) else None
    owner = module.class_of(made)
    if not isinstance(kept, ast.Attribute) or owner is None or not is_self(module, kept.value):
        return []
    calls = [
        each
        for each in ast.walk(owner.node)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr == kept.attr
    ]
    if len(calls) != 1 or len(calls[0].args) != 1 or not isinstance(calls[0].args[0], ast.Name):
        return []
    given = calls[0].args[0]
    edit = Edit(module.location(given), f"{given.id}[:, -1]")
    return [unsafe(f"pass only the last step to `{module.segment(kept)}`", (edit,))]


_SEQUENCES = re.compile(r",\s*return_sequences\s*=\s*True")


def _without_sequences(layer: LayerFacts) -> tuple[Edit, ...]:
    code = layer.code
    if not isinstance(code, Code):
        return ()
    if layer.class_name != "Bidirectional":
        return remove_argument(code, "return_sequences")
    inner = code.arguments[0] if code.arguments else None
    if inner is None:
        return ()
    text = _SEQUENCES.sub("", inner.text)
    return (Edit(inner.location, text),) if text != inner.text else ()


CAUSE.message(
    r"Error when checking (?:model )?target: expected (?P<name>\S+) to have 3 dimensions, but got array with "
    r"shape (?P<shape>\(\d+, \d+\))",
    "`{name}` outputs a value for every time step, but the labels have shape {shape}",
    "drop the time axis of the output (`return_sequences=False`, `Flatten` or pooling), or give a target per time step",
    subject="labels",
    types=("ValueError", "Exception"),
)
