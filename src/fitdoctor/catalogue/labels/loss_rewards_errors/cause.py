"""A custom loss that is smaller for wrong predictions than for right ones.

## What happens

Nothing fails. The reported loss falls, as `fit` minimizes it, and the predictions move away from the labels: a segmentation
marks everything but the object, an autoencoder returns the negative of its input.

## Why

The function is a score, where more is better: a Dice coefficient, an overlap, a similarity, a log-likelihood, R². `fit`
minimizes whatever `loss=` returns. As a metric, the same function would be right.

## Fix

Return `1 - score` for a score between 0 and 1, otherwise `-score`.

## Known limits

The loss is computed for labels of the training data, once with these labels as predictions and once with those of other
rows. That needs labels of the shape of the model's only output, and more than one number per sample: with a single one,
such as the flag of a contrastive loss, a smaller value for another flag can be right. A loss in proportion to the
predictions, such as the Wasserstein loss, is not judged, and neither is one in a custom training step.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.words import number
from fitdoctor.diagnosis import Evidence, Finding, Fix, Severity
from fitdoctor.edits import unsafe, wrap
from fitdoctor.facts import DataFacts, LossFacts, LossOrder, ModelFacts

CAUSE = Cause(id="FIT222", slug="loss-rewards-errors", severity=Severity.WARNING)

_CLEARLY = 0.05
"""The least difference, relative to the two values."""


@CAUSE.before_fit
def from_values(model: ModelFacts, training: DataFacts) -> Iterator[Finding]:
    """Compare the loss of right predictions with that of wrong ones."""
    order = training.loss_order
    if order is None or not _prefers_wrong(order):
        return
    loss = model.losses[0]
    yield CAUSE.finding(
        f"`{loss.name}` is {number(order.of_right)} for right predictions and {number(order.of_wrong)} for wrong ones, "
        "but `fit` minimizes it",
        loss.result.location if loss.result is not None else None,
        Evidence(
            "loss of the labels themselves", number(order.of_right), "the smallest", fact="data.loss_order"
        ),
        Evidence(
            "loss of the labels of other rows", number(order.of_wrong), f"more than {number(order.of_right)}"
        ),
        _turned(loss, order),
        subject="loss",
    )


def _prefers_wrong(order: LossOrder) -> bool:
    size = abs(order.of_right) + abs(order.of_wrong)
    in_proportion = abs(order.of_double - 2 * order.of_right) < _CLEARLY * abs(order.of_right)
    return order.of_right - order.of_wrong > _CLEARLY * size and not in_proportion


def _turned(loss: LossFacts, order: LossOrder) -> Fix:
    """Make a loss of the score."""
    if 0.9 < order.of_right < 1.001 and order.of_wrong > -0.001:
        template, shown = "1 - ({})", "1 - …"
    else:
        template, shown = "-({})", "-…"
    edits = wrap(loss.result, template) if loss.result is not None else ()
    return unsafe(f"return what is smaller for better predictions: `{shown}`", edits)
