"""Merge of tensors with different shapes.

## What happens

`Add`, `Multiply`, `Average` and the like raise `ValueError: Inputs have incompatible shapes. Received shapes (6, 6, 8)
and (6, 6, 16)`; `Concatenate` raises `A Concatenate layer requires inputs with matching shapes except for the
concatenation axis`. Both happen when the model is created.

## Why

The branches that meet in the layer change their axes differently: a block that doubles its filters next to a shortcut
that does not; windows of different sizes without `padding="same"`; an odd length that is halved, which loses a row, and
then doubled; a branch that is not flattened.

## Fix

Bring the branches to the same shape: a 1 × 1 convolution on the shortcut (or a `Dense` for vectors), `padding="same"` in
the branches, an input length that stays even each time the model halves it (or padding of the smaller tensor), or
`Flatten`.

## Known limits

Sizes that the model leaves open (`Input((None, None, 3))`) are known only at run time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.model.layer_refusals import Refusal, of_failure, of_site
from fitdoctor.catalogue.model.layer_source import around, found_in, merged_tensors
from fitdoctor.catalogue.model.merged_lengths import of_lengths
from fitdoctor.catalogue.model.merged_pairs import Pair, Verdict
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix, set_argument, unsafe
from fitdoctor.facts import Code, DataFacts, FailureFacts, LayerFacts, ModelFacts, Shape, Unknown
from fitdoctor.failure.patterns import operation_shapes, shapes_in
from fitdoctor.patterns import pattern
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.source.fits.fit_sites import ModelSite

CAUSE = Cause(
    id="FIT305",
    slug="merge-shape-mismatch",
    severity=Severity.ERROR,
    raises="ValueError",
    explains=("FIT320",),
)

_SAID = pattern(
    r"Inputs have incompatible shapes\. Received shapes"
    r"|requires inputs with matching shapes except for the concatenation axis"
    r"|Incompatible input shapes: axis values"
    r"|Cannot merge tensors with different batch sizes"
    r"|Operands could not be broadcast together with shapes"
)
_ARITHMETIC = "Cannot broadcast shape, the failure dim"
_ELEMENTWISE = frozenset({"Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"})


def _speaks_of_merging(message: str) -> bool:
    return bool(_SAID.search(message))


@CAUSE.in_source
def from_source(site: ModelSite, project: Project) -> Iterator[Finding]:
    """Report merges of tensors whose shapes are known from the source."""
    refusal = of_site(site)
    if refusal is not None and _speaks_of_merging(refusal.message):
        yield _finding(refusal, project)


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, project: Project | Unknown, model: ModelFacts | Unknown, data: DataFacts | Unknown
) -> Iterator[Finding]:
    """Read the shapes from the Keras error."""
    if isinstance(data, DataFacts) and data.role != "training":
        return
    if _ARITHMETIC in failure.message and not failure.layer_class and failure.called != "fit":
        yield _of_arithmetic(failure)
    if not _speaks_of_merging(failure.message):
        return
    refusal = of_failure(failure, project, model, data, _speaks_of_merging)
    if refusal is not None:
        yield _finding(refusal, project)


def _of_arithmetic(failure: FailureFacts) -> Finding:
    """Report `a + b` of two tensors of a functional model."""
    frame = failure.last_user_frame
    shapes = shapes_in(failure.message)
    words = _listed(shapes)
    code = frame.code if frame is not None else Unknown("the traceback shows none of the user's lines")
    return CAUSE.finding(
        f"tensors of {words} cannot be combined",
        subject="arithmetic",
        location=place(code, frame.location if frame is not None else None),
        evidence=[Evidence(claim="inputs", observed=words, expected="equal shapes", fact="failure.message")],
        fixes=[fix("bring the tensors to the same shape before combining them")],
        confidence=Confidence.CERTAIN,
    )


def _listed(shapes: tuple[Shape, ...]) -> str:
    """Return `shapes (2,), (3,) and (4,)`."""
    words = [shape_words(shape) for shape in shapes]
    if len(words) < 2:
        return "different shapes"
    return f"shapes {', '.join(words[:-1])} and {words[-1]}"


def _called(refusal: Refusal) -> Location | None:
    """Return where the tensors are merged: a layer created in `__init__` is called elsewhere."""
    made = place(refusal.layer.code if refusal.layer else None)
    if made is None or refusal.place is None:
        return made or refusal.place
    apart = not made.line - 2 <= refusal.place.line <= made.end_line + 2
    return refusal.place if apart and made.path == refusal.place.path else made


def _finding(refusal: Refusal, project: Project | Unknown) -> Finding:
    shapes = _shapes(refusal)
    words = _listed(shapes)
    verdict = _verdict(refusal, shapes, project)
    shown = _named(refusal)
    return CAUSE.finding(
        f"{shown} cannot merge tensors of {words}",
        subject=f"layer {refusal.name}",
        location=place(verdict.location, _called(refusal)),
        evidence=[
            Evidence(
                claim=f"inputs of {shown}",
                observed=words,
                expected="equal shapes"
                if refusal.name != "Concatenate"
                else "equal shapes except along the axis",
                location=place(refusal.layer.code if refusal.layer else None, refusal.place),
            ),
            *verdict.evidence,
        ],
        fixes=verdict.fixes,
        confidence=refusal.confidence,
    )


_LAYER_OF_WORDS = pattern(r"A `(?P<layer>\w+)` layer requires")


def _named(refusal: Refusal) -> str:
    """Return the layer in backticks, by its class or as the message calls it."""
    said = _LAYER_OF_WORDS.search(refusal.message)
    if refusal.layer is None and said is not None:
        return f"`{said['layer']}`"
    return "a layer" if refusal.name == "a layer" else f"`{refusal.name}`"


def _shapes(refusal: Refusal) -> tuple[Shape, ...]:
    if len(refusal.shapes) > 1:
        return refusal.shapes
    said = operation_shapes(refusal.message)
    shapes = said.shapes if said is not None and len(said.shapes) > 1 else shapes_in(refusal.message)
    # The messages of elementwise layers omit the batch axis.
    bare = "Inputs have incompatible shapes" in refusal.message
    return tuple((None, *shape) for shape in shapes) if bare else shapes


# --- why they differ ----------------------------------------------------------------------------------------------


def _verdict(refusal: Refusal, shapes: tuple[Shape, ...], project: Project | Unknown) -> Verdict:
    if refusal.layer is not None and refusal.layer.class_name == "Dot":
        return _multiplied(refusal.layer, shapes)
    pair = _pair(refusal, shapes, project)
    if pair is None:
        return Verdict(fixes=(fix("bring the tensors to the same shape before merging them"),))
    if len(pair.shapes[0]) != len(pair.shapes[1]):
        return _ranks(pair)
    last = len(pair.shapes[0]) - 1
    if refusal.name in _ELEMENTWISE and (last in pair.axes or _strides_past_shortcut(pair)):
        return _projected(pair)
    return of_lengths(pair)


def _multiplied(layer: LayerFacts, shapes: tuple[Shape, ...]) -> Verdict:
    """Blame `Dot` axes of different sizes, where the feature axes would match."""
    alike = len({shape[-1] for shape in shapes if shape}) == 1 and all(len(shape) > 2 for shape in shapes)
    edits = set_argument(layer.code, "axes", "-1", position=0) if alike else ()
    features = "the feature axis, the last one of both: `axes=-1`"
    return Verdict(fixes=(unsafe(f"multiply along {features if alike else 'axes of the same size'}", edits),))


def _pair(refusal: Refusal, shapes: tuple[Shape, ...], project: Project | Unknown) -> Pair | None:
    found = found_in(
        project, refusal.layer.code if refusal.layer is not None else Unknown("the layer was not found")
    )
    module, node = found if found is not None else (None, None)
    tensors = merged_tensors(module, node) if module is not None and node is not None else []
    for second, shape in enumerate(shapes[1:], 1):
        axes = _differing(refusal, shapes[0], shape)
        if axes or len(shape) != len(shapes[0]):
            return Pair(refusal, 0, second, (shapes[0], shape), axes, module, node, tensors)
    return None


def _differing(refusal: Refusal, one: Shape, other: Shape) -> tuple[int, ...]:
    if len(one) != len(other):
        return ()
    skipped: int | None = None
    if refusal.layer is not None and refusal.layer.class_name == "Concatenate":
        text = refusal.layer.setting("axis") or "-1"
        skipped = int(text) % len(one) if re.fullmatch(r"-?\d+", text) else len(one) - 1
    loose = refusal.name in _ELEMENTWISE
    return tuple(
        axis
        for axis, (left, right) in enumerate(zip(one, other, strict=True))
        if axis not in (0, skipped)
        and left is not None
        and right is not None
        and left != right
        and not (loose and 1 in (left, right))
    )


def _ranks(pair: Pair) -> Verdict:
    """Blame a branch that is not flattened while the other is."""
    higher = pair.first if len(pair.shapes[0]) > len(pair.shapes[1]) else pair.second
    branch = pair.branch(higher)
    tensor = pair.tensor(higher)
    edits: tuple[Edit, ...] = ()
    if tensor is not None and pair.module is not None and pair.node is not None:
        if min(map(len, pair.shapes)) == 2:
            edits = around(pair.module, tensor, pair.node, "Flatten")
    last = next((layer for layer in branch if layer.class_name != "Dropout"), None)
    evidence: tuple[Evidence, ...] = ()
    if last is not None:
        shape = shape_words(pair.shapes[0 if higher == pair.first else 1])
        evidence = (
            Evidence(claim=f"output of `{last.class_name}`", observed=shape, location=place(last.code)),
        )
    location = place(last.code) if last is not None else None
    return Verdict(location, evidence, (fix("flatten it before merging", edits),))


def _strides_past_shortcut(pair: Pair) -> bool:
    """Whether one tensor is the input of the other's block, and the block uses strides."""
    for skip, (have, wanted) in ((pair.first, pair.shapes), (pair.second, pair.shapes[::-1])):
        if pair.refusal.ways and not pair.branch(skip):
            return (_stride(have, wanted) or 1) > 1
    return False


def _projected(pair: Pair) -> Verdict:
    """Blame a shortcut past a block that changes the channels or the lengths."""
    lengths = {index: len(pair.branch(index)) for index in (pair.first, pair.second)}
    skip = min(lengths, key=lambda index: lengths[index])
    main = pair.second if skip == pair.first else pair.first
    wanted = pair.shapes[0 if main == pair.first else 1]
    have = pair.shapes[0 if skip == pair.first else 1]
    rank = len(wanted)
    sizing = next((layer for layer in pair.branch(main) if _size_of(layer) is not None), None)
    evidence = []
    if sizing is not None and wanted[-1] != have[-1]:
        claim = f"`{sizing.class_name}` outputs {wanted[-1]} channels, but the shortcut has {have[-1]}"
        evidence.append(Evidence(claim=claim, location=place(sizing.code)))
    stride = _stride(have, wanted)
    title = "bring the shortcut to the same shape with a " + ("`Dense`" if rank == 2 else "1 × 1 convolution")
    tensor, module, node = pair.tensor(skip), pair.module, pair.node
    if tensor is None or module is None or node is None or rank not in (2, 3, 4, 5) or stride is None:
        return Verdict(evidence=tuple(evidence), fixes=(fix(title),))
    size = _size_text(module, node, sizing, wanted[-1])
    strides = _stride_text(module, node, pair.branch(main), stride)
    text = (
        size if rank == 2 else f"{size}, 1" + (f', strides={strides}, padding="same"' if stride != 1 else "")
    )
    source = _assigned(module, tensor)
    edits = around(module, source, node, "Dense" if rank == 2 else f"Conv{rank - 2}D", text)
    fitting = _fits_at_times(module, node, source, size, strides if stride != 1 else "")
    if fitting and edits:
        edits = (replace(edits[0], replacement=f"{fitting} else {edits[0].replacement}"), *edits[1:])
    return Verdict(module.location(source), tuple(evidence), (fix(title, edits),))


def _fits_at_times(module: Module, node: ast.Call, source: ast.expr, size: str, strides: str) -> str:
    """Return a condition that keeps the shortcut unchanged where it fits: `x if x.shape[-1] == filters`.

    "" for a block that runs once, or always with the same size.
    """
    function = module.function_of(node)
    if function is None or len(module.callers.get(function.node, ())) < 2:
        return ""
    if size not in function.parameters:
        return ""
    name = module.segment(source)
    condition = f"{name}.shape[-1] == {size}"
    if strides.isidentifier():
        condition += f" and {strides} == 1"
    return f"{name} if {condition}"


def _size_of(layer: LayerFacts) -> str | None:
    return layer.setting("filters") or layer.setting("units")


def _size_text(module: Module, node: ast.Call, layer: LayerFacts | None, size: int | None) -> str:
    """Return the block's own expression for the number of channels, if it is in the same function."""
    if layer is not None and isinstance(layer.code, Code):
        argument = layer.code.argument("filters", 0) or layer.code.argument("units", 0)
        if argument is not None and layer.code.function == module.code(node).function:
            return argument.text
    return str(size)


def _stride_text(module: Module, node: ast.Call, branch: tuple[LayerFacts, ...], stride: int) -> str:
    """Return the block's own expression for the stride, which may vary per call."""
    function = module.code(node).function
    for layer in branch:
        code = layer.code
        argument = None if isinstance(code, Unknown) else code.argument("strides", 2)
        if argument is not None and not isinstance(code, Unknown) and code.function == function:
            if argument.text.isidentifier() or str(stride) in argument.text:
                return argument.text
    return str(stride)


def _stride(have: Shape, wanted: Shape) -> int | None:
    """Return the stride that shrinks the lengths as needed; None if no single stride does."""
    strides = set()
    for before, after in zip(have[1:-1], wanted[1:-1], strict=True):
        if before is None or after is None:
            strides.add(1)
            continue
        fitting = [stride for stride in range(1, 9) if -(-before // stride) == after]
        if not fitting:
            return None
        strides.add(fitting[0])
    return strides.pop() if len(strides) == 1 else (1 if not strides else None)


def _assigned(module: Module, tensor: ast.expr) -> ast.expr:
    """Return `x` for a name assigned as `shortcut = x`."""
    for assignment in module.assignments(tensor.id, tensor) if isinstance(tensor, ast.Name) else ():
        value = assignment.value
        if isinstance(value, ast.Name) and assignment.how == "=" and not assignment.path:
            return value
    return tensor
