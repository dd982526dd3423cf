"""Mask lost in a custom layer.

## What happens

Training runs, but the recurrent, pooling or attention layer also reads the padding, and short sequences are mostly padding.
The model learns worse than it could. Keras warns once: `Layer 'scale' (of type Scale) was passed an input with a mask
attached to it. However, this layer does not support masking and will therefore destroy the mask information.`

## Why

`Embedding(mask_zero=True)` and `Masking` attach a mask to their output. A layer passes it on only if it supports masking,
and a custom layer does not by default.

## Fix

If the layer keeps the time axis, set `self.supports_masking = True` in its `__init__`: it then passes the mask on. A
layer that changes the time axis has to define `compute_mask`.

## Known limits

It is reported after training, and only if a layer that uses masks comes later in a sequential or functional model. Layers of
Keras that lose the mask, such as `Flatten`, are not reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Evidence, Finding, Severity
from fitdoctor.edits import insert_after, unsafe
from fitdoctor.facts import LayerFacts, ModelFacts, TrainingFacts
from fitdoctor.source.definitions import ClassInfo
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT334", slug="mask-lost", severity=Severity.WARNING)

_READ_MASKS = frozenset(
    "LSTM GRU SimpleRNN RNN Bidirectional GlobalAveragePooling1D MultiHeadAttention Attention AdditiveAttention".split()
)


@CAUSE.while_training
def from_warning(training: TrainingFacts, model: ModelFacts, project: Project) -> Iterator[Finding]:
    """Report custom layers for which Keras warned that they destroy a mask that a later layer uses."""
    for layer in model.layers:
        reader = _reader_after(model, layer) if layer.name in training.masks_lost else None
        owner = project.class_named(layer.class_name) if project and reader is not None else None
        if reader is None or owner is None:
            continue
        begun = _super_call(owner)
        yield CAUSE.certain(
            f"`{owner.name}` loses the mask of its input, so `{reader.name}` also reads the padding",
            owner.module.location(begun if begun is not None else owner.node).start,
            Evidence(
                "Keras warned that the layer does not support masking",
                layer.name,
                fact="training.masks_lost",
                location=place(layer.code),
            ),
            Evidence(f"`{reader.class_name}` uses the mask", location=place(reader.code)),
            unsafe(
                "pass the mask on: `self.supports_masking = True`",
                insert_after(owner.module.code(begun), "self.supports_masking = True")
                if begun is not None
                else (),
            ),
            subject=f"layer {layer.name}",
        )


def _reader_after(model: ModelFacts, lossy: LayerFacts) -> LayerFacts | None:
    """Return a layer of Keras behind another one that uses masks."""
    if model.kind == "subclassed":
        return None
    reached, after = {lossy.name}, False
    for layer in model.layers:
        if layer.name == lossy.name:
            after = True
        elif after and (not layer.fed_by or not reached.isdisjoint(layer.fed_by)):
            if layer.builtin and layer.class_name in _READ_MASKS:
                return layer
            reached.add(layer.name)
    return None


def _super_call(owner: ClassInfo) -> ast.stmt | None:
    """Return the statement `super().__init__(…)` of a class."""
    made = owner.methods.get("__init__")
    for statement in getattr(made.node, "body", ()) if made is not None else ():
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="__init__"))):
                return statement
    return None
