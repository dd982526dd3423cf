"""Output activation that does not suit the loss.

## What happens

Training runs to the end, but the model cannot learn the task. relu never outputs a negative value, tanh never leaves
-1 to 1, and sigmoid never leaves 0 to 1, so targets outside that range are out of reach. Sigmoid units with
`categorical_crossentropy` output values that do not sum to 1, although every sample has exactly one class. Softmax
units cannot assign a probability near 1 to two labels of the same sample. `binary_crossentropy` scores each of several
softmax units separately, although every sample has exactly one class. relu and tanh outputs are not probabilities, so a
cross-entropy loss clips them. Dropout after the last activation sets random probabilities to 0: the loss becomes huge,
or NaN when a whole row is dropped. A softmax along another axis than the last does not give class probabilities at all.

## Why

The activation of a hidden layer was copied to the last layer, or the network was written for another kind of target.

## Fix

Regression: use a linear last layer, or scale the targets into the range of the activation. One class per sample: use
softmax with `categorical_crossentropy`. Several labels per sample: use sigmoid with `binary_crossentropy`. Do not
put dropout after the last layer.

## Known limits

Targets that are out of reach by less than 5% of their range count as noise and are not reported. If sigmoid is the
last operation, Keras trains it with `categorical_crossentropy` as if it were softmax; even so, the probabilities
returned by `predict` are wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting
from fitdoctor.catalogue.knowledge.labels.targets import (
    BINARY,
    BINARY_LOSSES,
    CATEGORICAL,
    CROSSENTROPIES,
    REGRESSION,
    ROW_LOSSES,
    SPARSE,
    Target,
    computes_loss,
    is_binary,
    is_one_hot,
    targets,
)
from fitdoctor.catalogue.knowledge.models.rank_edits import left_out_fix
from fitdoctor.catalogue.labels.label_edits import respell, with_activation
from fitdoctor.catalogue.prefilter import LABELS
from fitdoctor.catalogue.words import number, place
from fitdoctor.diagnosis import Evidence, Finding, Severity
from fitdoctor.edits import remove_argument, unsafe
from fitdoctor.facts import DataFacts, FitFacts, LayerFacts, ModelFacts, Statistics
from fitdoctor.source.callees import returned_by
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT211", slug="activation-loss-mismatch", severity=Severity.WARNING, explains=("FIT218",))

INFINITE = float("inf")
RANGES = {
    "relu": (0.0, INFINITE),
    "relu6": (0.0, 6.0),
    "sigmoid": (0.0, 1.0),
    "hard_sigmoid": (0.0, 1.0),
    "softmax": (0.0, 1.0),
    "tanh": (-1.0, 1.0),
    "hard_tanh": (-1.0, 1.0),
    "softsign": (-1.0, 1.0),
    "softplus": (0.0, INFINITE),
    "exponential": (0.0, INFINITE),
}
"""The range of values an activation can output."""
_NO_PROBABILITY = frozenset(
    {"relu", "relu6", "tanh", "elu", "selu", "leaky_relu", "softplus", "gelu", "swish", "silu"}
)
_NOISE = 0.05
_ELEMENTWISE = BINARY_LOSSES | REGRESSION
"""Losses that treat each unit independently."""


@CAUSE.in_source
@doubting(LABELS)
@CAUSE.before_fit
def from_model(model: ModelFacts, data: DataFacts, fit: FitFacts, project: Project) -> Iterator[Finding]:
    """Check the last activation against the loss and the range of the targets."""
    for target in targets(model, data) if data.role == "training" and computes_loss(fit) else ():
        across = _softmax_across(target, project)
        if across is not None:
            yield _along_another_axis(across, target)
            continue
        dropped = _dropped_probabilities(target)
        if dropped is not None:
            yield _behind_the_last(dropped, target, project)
            continue
        if target.last is None or target.loss is None:
            continue
        statistics = target.label_statistics
        if target.loss_name in ROW_LOSSES and target.activation == "sigmoid" and (target.units or 0) > 1:
            if is_one_hot(target.labels) and target.loss.from_logits is not True:
                yield _finding(target, "softmax", *_EXCLUSIVE)
        elif _is_softmax(target) and target.loss_name in _ELEMENTWISE and _several_at_once(statistics):
            yield _finding(target, "sigmoid", *_TOGETHER)
        elif _is_softmax(target) and target.loss_name in BINARY_LOSSES and is_one_hot(target.labels):
            if (target.units or 0) > 2:  # with two softmax units, both losses are equal
                yield _scored_separately(target)
        elif target.loss_name in CROSSENTROPIES and target.activation in _NO_PROBABILITY:
            if target.loss.from_logits is False:
                wanted = "sigmoid" if target.loss_name in BINARY_LOSSES else "softmax"
                yield _finding(
                    target,
                    wanted,
                    f"`{target.loss_name}` expects probabilities, but the last activation is {target.activation}",
                    f"use {wanted} in the last layer",
                )
        elif target.loss_name in REGRESSION and statistics is not None:
            yield from _out_of_reach(target, statistics)


def _softmax_across(target: Target, project: Project) -> LayerFacts | None:
    """Return the softmax that a model or its last layer returns, if it runs along another axis than the classes."""
    shape, last = target.output_shape, target.way[0] if target.way else ""
    if isinstance(last, str) or shape is None or target.loss is None or target.loss_name not in _CLASSES:
        return None
    layer = next(_returned(last, project), last)
    axis, expected = (dict(settings).get("axis", "-1") for settings in (layer.config, target.loss.settings))
    usual = {"-1", str(len(shape) - 1)}
    across = axis.lstrip("-").isdigit() and axis not in usual and expected in usual
    return layer if layer.class_name == "Softmax" and across else None


_CLASSES = ROW_LOSSES | {SPARSE}


def _returned(layer: LayerFacts, project: Project) -> Iterator[LayerFacts]:
    """Yield the layer inside a layer of the user's that its `call` returns the output of."""
    owner = project.class_named(layer.class_name)
    call = owner.methods.get("call") if owner is not None else None
    returned = returned_by(call) if call is not None else None
    if call is not None and isinstance(returned, ast.Call):
        made = call.module.location(call.module.made_by(returned.func))
        yield from (each for each in layer.sublayers if place(each.code) == made)


def _along_another_axis(layer: LayerFacts, target: Target) -> Finding:
    return CAUSE.certain(
        f"the softmax runs along axis {layer.setting('axis')}, but `{target.loss_name}` expects probabilities along the "
        "last axis",
        place(layer.code, target.loss.code if target.loss is not None else None),
        Evidence(
            "axis of the softmax",
            layer.setting("axis") or "",
            f"-1, the {target.units} classes",
            fact="model.layers",
        ),
        unsafe("apply the softmax along the last axis", remove_argument(layer.code, "axis", 0)),
        subject=target.subject,
    )


def _dropped_probabilities(target: Target) -> LayerFacts | None:
    """Return the dropout layer between the probabilities and a loss that takes their logarithm."""
    last, before = (*target.way, "", "")[:2]
    if isinstance(last, str) or isinstance(before, str) or last.class_name not in _DROPOUTS:
        return None
    gives = before.setting("activation") in ("softmax", "sigmoid") or before.class_name == "Softmax"
    logarithm = target.loss_name in CROSSENTROPIES and target.loss is not None
    if not gives or not logarithm or last.setting("rate") in (None, "0", "0.0"):
        return None
    return last


_DROPOUTS = frozenset({"Dropout", "AlphaDropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"})


def _behind_the_last(layer: LayerFacts, target: Target, project: Project) -> Finding:
    return CAUSE.certain(
        f"`{layer.class_name}` after the last activation sets random probabilities to 0, but `{target.loss_name}` "
        "takes their logarithm",
        place(layer.code, target.loss.code if target.loss is not None else None),
        Evidence(
            "last layer",
            f"{layer.class_name}({layer.setting('rate')})",
            "the softmax or sigmoid activation",
            fact="model.layers",
        ),
        left_out_fix(layer, project, 2),
        subject=target.subject,
    )


_EXCLUSIVE = (
    "the labels are one-hot, one class per sample, but sigmoid outputs do not sum to 1",
    "use softmax for mutually exclusive classes",
)
_TOGETHER = (
    "samples have several labels each, but softmax outputs sum to 1",
    "use sigmoid for labels that can occur together",
)


def _scored_separately(target: Target) -> Finding:
    """Report a binary loss on softmax units whose labels are one-hot."""
    assert target.loss is not None
    wanted = CATEGORICAL if target.loss_name == BINARY else "categorical_focal_crossentropy"
    shared = ("alpha", "gamma", "apply_class_balancing", "axis", "from_logits")
    return CAUSE.certain(
        f"`{target.loss_name}` scores the {target.units} softmax units separately, but the labels are one-hot, "
        "one class per sample",
        place(target.loss.code),
        Evidence(
            "loss for softmax and one-hot labels",
            target.loss_name,
            wanted,
            fact="model.losses",
            location=place(target.labels.code, target.labels.use) if target.labels is not None else None,
        ),
        unsafe(f"use `{wanted}`", respell(target.loss.code, wanted, without=shared)),
        subject=target.subject,
    )


def _is_softmax(target: Target) -> bool:
    return target.activation == "softmax" and (target.units or 0) > 1


def _several_at_once(statistics: Statistics | None) -> bool:
    return (
        statistics is not None
        and is_binary(statistics)
        and statistics.row_sums is not None
        and statistics.row_sums[1] > 1
    )


def _out_of_reach(target: Target, statistics: Statistics) -> Iterator[Finding]:
    low, high = RANGES.get(target.activation or "", (-INFINITE, INFINITE))
    least, most = statistics.minimum, statistics.maximum
    if least is None or most is None:
        return
    noise = _NOISE * (most - least)
    if least >= low - noise and most <= high + noise:
        return
    reach = f"{number(low)} to {number(high)}" if high != INFINITE else f"{number(low)} and above"
    yield _finding(
        target,
        "linear",
        f"targets run from {number(least)} to {number(most)}, but {target.activation} outputs {reach}",
        "remove the activation of the last layer",
        Evidence(
            "range of the targets",
            f"{number(least)}..{number(most)}",
            reach,
            fact="data.y.statistics",
            location=place(target.labels.code, target.labels.use) if target.labels is not None else None,
        ),
    )


def _finding(target: Target, wanted: str, message: str, title: str, seen: Evidence | None = None) -> Finding:
    assert target.last is not None
    assert target.loss is not None
    layer = target.last.layer
    evidence = seen or Evidence(
        "last activation",
        str(target.activation),
        wanted,
        fact="model.layers",
        location=place(layer.code) if layer is not None else None,
    )
    return CAUSE.certain(
        message,
        place(layer.code if layer is not None else None, target.loss.code),
        evidence,
        unsafe(title, with_activation(layer, wanted)),
        subject=target.subject,
    )
