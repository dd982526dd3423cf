"""A layer needs a size that the layers before it leave open.

## What happens

`ValueError: Shapes used to initialize variables must be fully-defined (no `None` dimensions). Received: shape=(None, 2) for
variable path='sequential/dense/kernel'`; in Keras 2 `The last dimension of the inputs to a Dense layer should be defined.
Found None.` The model cannot be made, or fails when it first sees data.

## Why

The kernel of a `Dense` has a row for each number of a sample. Behind a `Flatten` that is height times width times
channels; where the model takes pictures (or series) of any size, nobody knows how many those are.

## Fix

Pool over the open axes instead of flattening them (`GlobalAveragePooling2D`), or give the `Input` its lengths.

## Known limits

Behind operations of your own that leave an axis open, the layer that refuses is named, not the operation.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.model.layer_refusals import Refusal, of_failure, of_site
from fitdoctor.catalogue.model.layer_source import found_in, spell_layer
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import DataFacts, FailureFacts, LayerFacts, ModelFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.source.fits.fit_sites import ModelSite

CAUSE = Cause(
    id="FIT324",
    slug="size-left-open",
    severity=Severity.ERROR,
    raises="ValueError",
)

_SAID = pattern(
    r"must be fully-defined \(no `None` dimensions\)"
    r"|last (?:dimension of the inputs to a|axis of the input of) `?Dense`?(?: layer)? (?:should|must) be defined"
    r"|channel dimension of the inputs should be defined"
)


def _speaks_of_it(message: str) -> bool:
    return bool(_SAID.search(message))


@CAUSE.in_source
def from_source(site: ModelSite, project: Project) -> Iterator[Finding]:
    """Following the source leads to a layer that gets an open axis."""
    refusal = of_site(site)
    if refusal is not None and _speaks_of_it(refusal.message):
        yield _finding(refusal, project)


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    project: Project | Unknown,
    model: ModelFacts | Unknown,
    data: DataFacts | Unknown,
) -> Iterator[Finding]:
    """Keras could not make the weights."""
    if not _speaks_of_it(failure.message):
        return
    refusal = of_failure(failure, project, model, data, _speaks_of_it)
    if refusal is not None:
        yield _finding(refusal, project)


def _finding(refusal: Refusal, project: Project | Unknown) -> Finding:
    flattened = next((layer for layer in refusal.way[:3] if layer.class_name == "Flatten"), None)
    begun = next((layer for layer in refusal.way if layer.class_name == "InputLayer"), None)
    blamed = flattened or refusal.layer
    name = f"`{refusal.name}`"
    return CAUSE.finding(
        f"{name} needs to know how many numbers a sample has, and "
        + (
            "`Flatten` makes as many as the picture or series is large"
            if flattened
            else "the axis before is open"
        ),
        subject=f"layer {refusal.name}",
        location=place(blamed.code if blamed is not None else None, refusal.place),
        evidence=[
            Evidence(
                claim="what the model is given",
                observed=_shape_of(begun),
                expected="lengths, or pooling over the open ones",
                location=place(begun.code) if begun is not None else None,
            )
        ],
        fixes=_fixes(flattened, refusal, project),
        confidence=refusal.confidence,
    )


def _shape_of(layer: LayerFacts | None) -> str:
    shapes = layer.output_shapes if layer is not None else Unknown()
    return shape_words(shapes[0]) if not isinstance(shapes, Unknown) and shapes else "an open size"


def _fixes(flattened: LayerFacts | None, refusal: Refusal, project: Project | Unknown) -> list[Fix]:
    lengths = fix("give the `Input` the lengths of the data")
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
    """`2D` behind a picture: by the shape that is flattened, else by the layers that made it."""
    for layer in before:
        if not isinstance(layer.output_shapes, Unknown) and layer.output_shapes:
            rank = len(layer.output_shapes[0])
            return f"{rank - 2}D" if 3 <= rank <= 5 else ""
        if layer.class_name[-2:] in ("1D", "2D", "3D"):
            return layer.class_name[-2:]
        if layer.class_name in ("LSTM", "GRU", "SimpleRNN", "Bidirectional", "Embedding"):
            return "1D"
    return ""
