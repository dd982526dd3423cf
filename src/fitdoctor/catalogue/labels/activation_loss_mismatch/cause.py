"""An output activation that does not go with the loss, or cannot reach the targets.

## What happens

Training runs to its end, and the model cannot learn what it should: relu never gives a negative value, tanh none beyond
±1, sigmoid none outside 0..1, so that targets there stay out of reach. Sigmoid units with `categorical_crossentropy`
give numbers that do not sum to 1, although every sample has exactly one class; softmax units cannot give two labels of
one sample a probability near 1; relu or tanh outputs are no probabilities at all, and a crossentropy clips them. Dropout
behind the last activation sets probabilities to 0 by chance: the loss is huge, or NaN where it hits a whole row.

## Why

The activation of a hidden layer was copied to the last one, or the network was written for another kind of target.

## Fix

Regression: a linear last layer, or targets scaled into the range of the activation. One class of several: softmax with
`categorical_crossentropy`. Several labels at once: sigmoid with `binary_crossentropy`. No dropout behind the last layer.

## Known limits

A few targets slightly out of reach (up to a twentieth of their spread) are taken for noise. Keras trains sigmoid with
`categorical_crossentropy` as it would train softmax when the activation comes last; the probabilities that `predict`
gives are wrong all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting
from fitdoctor.catalogue.doubts import LABELS
from fitdoctor.catalogue.labels.targets import (
    BINARY_LOSSES,
    CROSSENTROPIES,
    REGRESSION,
    ROW_LOSSES,
    Target,
    is_binary,
    is_one_hot,
    targets,
)
from fitdoctor.catalogue.words import number, place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import unsafe
from fitdoctor.facts import DataFacts, LayerFacts, ModelFacts, Statistics, Unknown
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
"""What an activation can give."""
_NO_PROBABILITY = frozenset(
    {"relu", "relu6", "tanh", "elu", "selu", "leaky_relu", "softplus", "gelu", "swish", "silu"}
)
_NOISE = 0.05
_ELEMENTWISE = BINARY_LOSSES | REGRESSION
"""Losses that take each unit by itself."""


@CAUSE.in_source
@doubting(LABELS)
@CAUSE.before_fit
def from_model(model: ModelFacts, data: DataFacts, project: Project | Unknown) -> Iterator[Finding]:
    """The activation against the loss, and against the targets that were seen."""
    for target in targets(model, data) if data.role == "training" else ():
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
        elif target.loss_name in CROSSENTROPIES and target.activation in _NO_PROBABILITY:
            if target.loss.from_logits is False:
                wanted = "sigmoid" if target.loss_name in BINARY_LOSSES else "softmax"
                yield _finding(
                    target,
                    wanted,
                    f"`{target.loss_name}` wants probabilities, but the last activation is {target.activation}",
                    f"use {wanted} in the last layer",
                )
        elif target.loss_name in REGRESSION and statistics is not None:
            yield from _out_of_reach(target, statistics)


def _dropped_probabilities(target: Target) -> LayerFacts | None:
    """The dropout between the probabilities and a loss that takes their logarithm."""
    last, before = (*target.way, "", "")[:2]
    if isinstance(last, str) or isinstance(before, str) or last.class_name not in _DROPOUTS:
        return None
    gives = before.setting("activation") in ("softmax", "sigmoid") or before.class_name == "Softmax"
    logarithm = target.loss_name in CROSSENTROPIES and target.loss is not None
    if not gives or not logarithm or last.setting("rate") in (None, "0", "0.0"):
        return None
    return last


_DROPOUTS = frozenset({"Dropout", "AlphaDropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"})


def _behind_the_last(layer: LayerFacts, target: Target, project: Project | Unknown) -> Finding:
    from fitdoctor.catalogue.model.layer_ranks import left_out_fix

    return CAUSE.finding(
        f"`{layer.class_name}` behind the last activation sets probabilities to 0 by chance, and `{target.loss_name}` "
        "takes their logarithm",
        subject=target.subject,
        location=place(layer.code, target.loss.code if target.loss is not None else None),
        evidence=[
            Evidence(
                claim="the last layer",
                observed=f"{layer.class_name}({layer.setting('rate')})",
                expected="the activation that gives the probabilities",
                fact="model.layers",
            )
        ],
        fixes=[left_out_fix(layer, project, 2)],
        confidence=Confidence.CERTAIN,
    )


_EXCLUSIVE = (
    "sigmoid units with one-hot labels: every sample has one class, but the outputs do not sum to 1",
    "use softmax for classes that exclude each other",
)
_TOGETHER = (
    "softmax units with several labels a sample: their probabilities can only sum to 1",
    "use sigmoid for labels that occur together",
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
        f"targets run from {number(least)} to {number(most)}, but {target.activation} gives {reach}",
        "leave out the activation of the last layer",
        Evidence(
            claim="the targets",
            observed=f"{number(least)}..{number(most)}",
            expected=reach,
            fact="data.y.statistics",
            location=place(target.labels.code, target.labels.use) if target.labels is not None else None,
        ),
    )


def _finding(target: Target, wanted: str, message: str, title: str, seen: Evidence | None = None) -> Finding:
    from fitdoctor.catalogue.labels.label_edits import with_activation

    assert target.last is not None
    assert target.loss is not None
    layer = target.last.layer
    evidence = seen or Evidence(
        claim="the last activation",
        observed=str(target.activation),
        expected=wanted,
        fact="model.layers",
        location=place(layer.code) if layer is not None else None,
    )
    return CAUSE.finding(
        message,
        subject=target.subject,
        location=place(layer.code if layer is not None else None, target.loss.code),
        evidence=[evidence],
        fixes=[unsafe(title, with_activation(layer, wanted))],
        confidence=Confidence.CERTAIN,
    )
