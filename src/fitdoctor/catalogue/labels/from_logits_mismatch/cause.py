"""Loss and output that disagree about logits.

## What happens

`from_logits=True` declares that the output layer is linear. Without it, the loss reads the outputs as probabilities.
A linear layer with the default loss (`"sparse_categorical_crossentropy"`) is the worse mistake: the outputs are
clipped to 0..1, most gradients vanish, and there is no warning. In the opposite case, `from_logits=True` after
softmax or sigmoid, Keras 3 warns and looks for the logits before the activation. If the activation is the last
operation, Keras finds them and trains as if the flag were not set. With a layer in between (`Reshape`, `Flatten`) it
does not find them, and the activation is applied twice. The same happens in a custom loss with
`tf.nn.sigmoid_cross_entropy_with_logits` or `tf.nn.softmax_cross_entropy_with_logits`: TensorFlow never looks for logits.

## Why

The activation was removed, or the flag was copied, without changing the other.

## Fix

Use either a linear last layer with `from_logits=True`, or softmax (sigmoid) with the default loss. With logits,
`predict` also returns logits.

## Known limits

If the last activation cannot be determined (a Lambda layer, custom code), nothing is reported. Of a custom loss, only a
crossentropy of the predictions as they are is checked.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.labels.targets import (
    BINARY_LOSSES,
    CROSSENTROPIES,
    Activation,
    Target,
    computes_loss,
    metrics_for,
    targets,
)
from fitdoctor.catalogue.labels.label_edits import camel_case, with_activation
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Edit, Evidence, Finding, Severity
from fitdoctor.edits import remove_argument, set_argument, spell, unsafe
from fitdoctor.facts import Code, DataFacts, FitFacts, InnerLoss, LossFacts, ModelFacts, Unknown

CAUSE = Cause(
    id="FIT210", slug="from-logits-mismatch", severity=Severity.WARNING, explains=("FIT211", "FIT218")
)

_THRESHOLDED = frozenset({"accuracy", "BinaryAccuracy", "AUC", "Precision", "Recall"})


@CAUSE.in_source
@CAUSE.before_fit
@mentions("rossentropy", "cross_entropy", "bce", "BCE")
def from_model(model: ModelFacts, data: DataFacts, fit: FitFacts) -> Iterator[Finding]:
    """Check the last activation against `from_logits`."""
    for target in targets(model, data) if data.role == "training" and computes_loss(fit) else ():
        inner = target.loss.inner if target.loss is not None else None
        if inner is not None and target.last is not None:
            yield from _from_inner(target, target.last, inner)
        if target.loss_name not in CROSSENTROPIES or target.loss is None or target.last is None:
            continue
        wanted = "sigmoid" if target.loss_name in BINARY_LOSSES else "softmax"
        if target.loss.from_logits is True and target.activation in ("softmax", "sigmoid"):
            if target.units != 1 or target.activation == "sigmoid":
                yield _probabilities(target, target.loss)
        elif target.loss_name == "categorical_crossentropy" and target.units == 1:
            continue  # the loss is always 0, whatever the activation
        elif target.loss.from_logits is False and target.activation == "linear":
            yield _logits(model, target, target.loss, wanted)


def _from_inner(target: Target, last: Activation, inner: InnerLoss) -> Iterator[Finding]:
    """Check the last activation against the crossentropy that a custom loss applies."""
    place_of_layer = place(last.layer.code) if last.layer is not None else None
    # Keras's own losses look for the logits before the activation.
    own = inner.name.endswith("_with_logits")
    if inner.from_logits and last.name == inner.activation and own:
        yield CAUSE.certain(
            f"`{inner.name}` applies the {last.name} itself, but the output already goes through {last.name}",
            place_of_layer or inner.code.location,
            Evidence("last activation", last.name, "linear", fact="model.layers", location=place_of_layer),
            Evidence(
                "the loss expects logits", inner.name, fact="model.losses", location=inner.code.location
            ),
            unsafe("remove the activation", with_activation(last.layer, "linear")),
            subject=target.subject,
            notes=["with logits, apply the activation to what `predict` returns"],
        )
    elif not inner.from_logits and last.name == "linear" and last.layer is not None:
        yield CAUSE.certain(
            f"`{inner.name}` expects probabilities, but the last layer is linear",
            inner.code.location,
            Evidence(
                "last activation", "linear", inner.activation, fact="model.layers", location=place_of_layer
            ),
            unsafe(
                f"use {inner.activation} in the last layer", with_activation(last.layer, inner.activation)
            ),
            subject=target.subject,
        )


def _probabilities(target: Target, loss: LossFacts) -> Finding:
    assert target.last is not None
    layer = target.last.layer
    if target.last.direct:
        note = "Keras finds the logits before this activation and trains as if the flag were not set"
    else:
        note = "another layer follows the activation, so Keras does not find the logits"
    return CAUSE.certain(
        f"the loss has `from_logits=True`, but the output already goes through {target.activation}",
        place(loss.code, layer.code if layer is not None else None),
        Evidence(
            "last activation",
            str(target.activation),
            "linear",
            fact="model.layers",
            location=place(layer.code) if layer is not None else None,
        ),
        unsafe("remove `from_logits=True` from the loss", remove_argument(loss.code, "from_logits")),
        unsafe("remove the activation", with_activation(layer, "linear")),
        subject=target.subject,
        notes=[note],
        severity=Severity.INFO if target.last.direct else Severity.WARNING,
    )


def _logits(model: ModelFacts, target: Target, loss: LossFacts, wanted: str) -> Finding:
    assert target.last is not None
    layer = target.last.layer
    activation = unsafe(f"use {wanted} in the last layer", with_activation(layer, wanted))
    flag = unsafe("set `from_logits=True` on the loss", _with_flag(loss))
    # With the flag, metrics that use a threshold would still read the logits as probabilities.
    thresholded = wanted == "sigmoid" and any(
        metric.class_name in _THRESHOLDED for metric in metrics_for(model, target)
    )
    thresholded |= bool(activation.edits) and _is_configured(model, loss)
    places = (layer.code if layer is not None else None, loss.code)
    return CAUSE.certain(
        f"`{loss.name}` expects probabilities, but the last layer is linear",
        place(*places) if thresholded else place(*reversed(places)),
        Evidence(
            "last activation",
            "linear",
            wanted,
            fact="model.layers",
            location=place(layer.code) if layer is not None else None,
        ),
        Evidence("loss", "from_logits=False", fact="model.losses", location=place(loss.code)),
        *([activation, flag] if thresholded else [flag, activation]),
        subject=target.subject,
    )


def _is_configured(model: ModelFacts, loss: LossFacts) -> bool:
    """Return whether the name of the loss is written elsewhere than in `compile`, where an object would surprise."""
    call, code = model.compile_code, loss.code
    if isinstance(call, Unknown) or isinstance(code, Unknown) or code.text[:1] not in "\"'":
        return False
    here, own = call.location, code.location
    return here.path != own.path or not here.line <= own.line <= here.end_line


def _with_flag(loss: LossFacts) -> tuple[Edit, ...]:
    code = loss.code
    if not isinstance(code, Code):
        return ()
    if code.close_paren is not None:
        return set_argument(code, "from_logits", "True", position=0)
    path, _dot, name = code.text.rpartition(".")
    if code.text[:1] not in "\"'" and name not in (loss.name, camel_case(loss.name)):
        return ()
    keras, imports = spell(code, "keras", "keras")
    made = f"{camel_case(loss.name)}(from_logits=True)"
    if name == camel_case(loss.name):  # an imported class
        return (Edit(code.location, f"{path}.{made}" if path else made),)
    return (Edit(code.location, f"{keras}.losses.{made}"), *imports)
