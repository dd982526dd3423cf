"""Layer input with an unknown size.

## What happens

`ValueError: Shapes used to initialize variables must be fully-defined (no `None` dimensions). Received: shape=(None, 2) for
variable path='sequential/dense/kernel'`; in Keras 2 `The last dimension of the inputs to a Dense layer should be defined.
Found None.` The model cannot be created, or fails on the first data.

## Why

The kernel of a `Dense` layer has one row per feature. After a `Flatten`, that is height times width times channels. If
the model accepts images (or sequences) of any size, that number is unknown.

## Fix

Pool over the open axes instead of flattening them (`GlobalAveragePooling2D`), or give the `Input` fixed sizes.

## Known limits

If a custom operation leaves an axis open, the finding names the layer that fails, not the operation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.models.layer_source import found_in, spell_layer
from fitdoctor.catalogue.knowledge.models.refusals import Refusal, explains_refusals
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import LayerFacts, Unknown
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT324", slug="size-left-open", severity=Severity.ERROR, raises="ValueError")

_SAID = re.compile(
    r"must be fully-defined \(no `None` dimensions\)"
    r"|last (?:dimension of the inputs to a|axis of the input of) `?Dense`?(?: layer)? (?:should|must) be defined"
    r"|channel dimension of the inputs should be defined"
)


def _speaks_of_it(message: str) -> bool:
    return bool(_SAID.search(message))


@explains_refusals(CAUSE, _speaks_of_it)
def size_left_open(refusal: Refusal, project: Project) -> Iterator[Finding]:
    """Report a layer whose input has an open feature axis."""
    flattened = next((layer for layer in refusal.way[:3] if layer.class_name == "Flatten"), None)
    begun = next((layer for layer in refusal.way if layer.class_name == "InputLayer"), None)
    why = "the output size of `Flatten` before it depends on the input size"
    yield refusal.finding(
        CAUSE,
        f"`{refusal.name}` needs a fixed number of features, but "
        + (why if flattened else "the feature axis of its input is open"),
        place(flattened.code if flattened is not None else None, refusal.location),
        Evidence(
            "input shape",
            _shape_of(begun),
            "fixed sizes, or pooling over the open axes",
            location=place(begun.code) if begun is not None else None,
        ),
        *_fixes(flattened, refusal, project),
    )


def _shape_of(layer: LayerFacts | None) -> str:
    shapes = layer.output_shapes if layer is not None else Unknown()
    return shape_words(shapes[0]) if not isinstance(shapes, Unknown) and shapes else "an open size"


def _fixes(flattened: LayerFacts | None, refusal: Refusal, project: Project) -> list[Fix]:
    lengths = fix("set the sizes of the data in the `Input`")
    found = found_in(project, flattened.code) if flattened is not None else None
    axes = _axes(refusal.way[refusal.way.index(flattened) + 1 :]) if flattened is not None else ""
    if flattened is None or not axes:
        return [lengths]
    pooling = f"GlobalAveragePooling{axes}"
    title = f"pool instead of flattening: `{pooling}`"
    if found is None:
        return [fix(title), lengths]
    module, node = found
    spelling, imports = spell_layer(module, node, pooling)
    return [unsafe(title, (Edit(module.location(node), f"{spelling}()"), *imports)), lengths]


def _axes(before: tuple[LayerFacts, ...]) -> str:
    """Return `1D`, `2D` or `3D`: from the flattened shape, else from the layers before."""
    for layer in before:
        if not isinstance(layer.output_shapes, Unknown) and layer.output_shapes:
            rank = len(layer.output_shapes[0])
            return f"{rank - 2}D" if 3 <= rank <= 5 else ""
        if layer.class_name[-2:] in ("1D", "2D", "3D"):
            return layer.class_name[-2:]
        if layer.class_name in ("LSTM", "GRU", "SimpleRNN", "Bidirectional", "Embedding"):
            return "1D"
    return ""


CAUSE.message(
    r"unsupported operand type\(s\) for \*=?: '(?:NoneType|int)' and '(?:NoneType|int)'",
    "a weight has an axis of unknown length, because the layer's input shape is not fully known",
    "set the length of that axis in the model's input shape",
    subject="input shape",
    types=("TypeError",),
    raised_in=("build", "add_weight"),
)
CAUSE.message(
    r"The last dimension of the inputs to (?:a )?`?(?P<name>\w+)`? (?:layer )?should be defined",
    "`{name}` needs a fixed number of features, but the feature axis of its input is open",
    "set the last length of the model's input shape",
    subject="input shape",
    types=("ValueError",),
)
CAUSE.message(
    r"(?:int|long)\(\) argument must be a string.{0,60}not 'NoneType'|\(<class 'NoneType'>\) to a Tensor",
    "a weight has an axis of unknown length, because the layer's input shape is not fully known",
    "set the length of that axis in the model's input shape",
    subject="input shape",
    types=("TypeError", "ValueError"),
    raised_in=("add_weight",),
)
CAUSE.message(
    r"This model has not yet been built|but the (?:layer|model) isn't built"
    r"|The layer has never been called and thus has no defined",
    "the model has no weights yet, because its input shape is not known",
    "start the model with `keras.Input(shape=…)`, or call it on a batch of data first",
    subject="input shape",
    types=("ValueError", "AttributeError"),
    confidence=Confidence.LIKELY,
)
