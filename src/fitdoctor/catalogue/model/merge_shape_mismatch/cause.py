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
from fitdoctor.catalogue.knowledge.labels.label_shapes import same_values
from fitdoctor.catalogue.knowledge.models.layer_source import around, found_in, merged_tensors
from fitdoctor.catalogue.knowledge.models.refusals import Refusal, explains_refusals
from fitdoctor.catalogue.training_loops import loops_around
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, set_argument, unsafe
from fitdoctor.facts import Code, DataFacts, FailureFacts, LayerFacts, Shape, Unknown
from fitdoctor.failure.shapes import operation_shapes, shapes_in
from fitdoctor.records import dataclass
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT305",
    slug="merge-shape-mismatch",
    severity=Severity.ERROR,
    raises=("ValueError", "InvalidArgumentError"),
    explains=("FIT320",),
)

_SAID = re.compile(
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


@explains_refusals(CAUSE, _speaks_of_merging)
def merge_refused(refusal: Refusal, project: Project) -> Iterator[Finding]:
    """Report a merge of tensors with different shapes."""
    shapes = _shapes(refusal)
    if any(0 in shape for shape in shapes):
        return  # FIT306: nothing is left of an axis
    words = _listed(shapes)
    verdict = _verdict(refusal, shapes, project)
    shown = _named(refusal)
    alike = "equal shapes" if refusal.name != "Concatenate" else "equal shapes except along the axis"
    yield refusal.finding(
        CAUSE,
        f"{shown} cannot merge tensors of {words}",
        place(verdict.location, _called(refusal)),
        Evidence(f"inputs of {shown}", words, alike, location=refusal.location),
        *verdict.evidence,
        *verdict.fixes,
    )


@CAUSE.after_failure
def from_arithmetic(failure: FailureFacts, data: DataFacts | Unknown) -> Iterator[Finding]:
    """Report `a + b` of two tensors of a functional model."""
    if _ARITHMETIC not in failure.message or failure.layer_class or failure.called == "fit":
        return
    if isinstance(data, DataFacts) and data.role != "training":
        return
    frame, words = failure.last_user_frame, _listed(shapes_in(failure.message))
    yield CAUSE.certain(
        f"tensors of {words} cannot be combined",
        place(frame.code, frame.location) if frame is not None else None,
        Evidence("inputs", words, "equal shapes"),
        fix("bring the tensors to the same shape before combining them"),
        subject="arithmetic",
    )


_NODE = re.compile(
    r"(?:^|/)(?P<layer>(?P<kind>add|subtract|multiply|average|maximum|minimum|concatenate)(?:_\d+)?)/\w+$"
)
"""The node of a merging layer that has the name which Keras gives it."""


@CAUSE.after_failure
def from_node(failure: FailureFacts) -> Iterator[Finding]:
    """Report a merging layer that fails while it runs, because sizes that the model leaves open differ."""
    layer, shapes = _NODE.search(failure.node), operation_shapes(failure.message)
    if failure.type != "InvalidArgumentError" or layer is None or shapes is None or len(shapes.shapes) != 2:
        return
    first, second = shapes.shapes
    if len(first) < 3 and len(second) < 3 or first == second:  # labels and outputs
        return
    words = _listed((first, second))
    yield CAUSE.finding(
        f"the layer `{layer['layer']}` cannot merge tensors of {words}",
        failure.location,
        Evidence(f"inputs of `{layer['layer']}`", words, "equal shapes"),
        fix(
            "give both branches the same strides, pooling and padding, so that they change the lengths alike"
        ),
        subject=f"layer {layer['layer']}",
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


_LAYER_OF_WORDS = re.compile(r"A `(?P<layer>\w+)` layer requires")


def _named(refusal: Refusal) -> str:
    """Return the layer in backticks, by its class or as the message calls it."""
    said = _LAYER_OF_WORDS.search(refusal.message)
    if refusal.layer is None and said is not None:
        return f"`{said['layer']}`"
    return refusal.shown


def _shapes(refusal: Refusal) -> tuple[Shape, ...]:
    if len(refusal.shapes) > 1:
        return refusal.shapes
    said = operation_shapes(refusal.message)
    shapes = said.shapes if said is not None and len(said.shapes) > 1 else shapes_in(refusal.message)
    # The messages of elementwise layers omit the batch axis.
    bare = "Inputs have incompatible shapes" in refusal.message
    return tuple((None, *shape) for shape in shapes) if bare else shapes


# --- why they differ ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """A location, evidence and fixes."""

    location: Location | None = None
    evidence: tuple[Evidence, ...] = ()
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, eq=False)
class Pair:
    """Two tensors with incompatible shapes."""

    refusal: Refusal
    first: int
    second: int
    shapes: tuple[Shape, Shape]
    axes: tuple[int, ...]
    """The axes on which they differ; () if they differ in rank."""
    module: Module | None
    node: ast.Call | None
    tensors: list[ast.expr]

    def shape(self, index: int) -> Shape:
        """Return the shape of one of the tensors."""
        return self.shapes[index != self.first]

    def branch(self, index: int) -> tuple[LayerFacts, ...]:
        """Return the layers of one branch since it left the other, last first."""
        ways = self.refusal.ways
        if max(self.first, self.second) >= len(ways):
            return ()
        own, other = ways[index], ways[self.second if index == self.first else self.first]
        shared = {layer.name for layer in other if layer.name}
        for at, layer in enumerate(own):
            if layer.name in shared:
                return own[:at]
        return own

    def tensor(self, index: int) -> ast.expr | None:
        """Return the expression for one of the tensors."""
        return self.tensors[index] if index < len(self.tensors) else None


def _verdict(refusal: Refusal, shapes: tuple[Shape, ...], project: Project) -> Verdict:
    if refusal.layer is not None and refusal.layer.class_name == "Dot":
        return _multiplied(refusal.layer, shapes)
    pair = _pair(refusal, shapes, project)
    if pair is None:
        return Verdict(fixes=(fix("bring the tensors to the same shape before merging them"),))
    if len(pair.shapes[0]) != len(pair.shapes[1]):
        return _ranks(pair)
    last = len(pair.shapes[0]) - 1
    if refusal.name in _ELEMENTWISE and last in pair.axes:
        return _projected(pair)
    return _same_padding(pair) or _strided(pair) or _far_apart(pair) or _halved(pair)


_LOST_IN_HALVING = 8
"""Rows that branches can differ by because odd lengths were halved, and the result doubled again, several times."""


def _far_apart(pair: Pair) -> Verdict | None:
    """Advise on lengths that differ by more than what halving loses, as far as the shapes show it."""
    lengths = [(pair.shapes[0][axis] or 0, pair.shapes[1][axis] or 0) for axis in pair.axes]
    if any(0 in both for both in lengths) or all(
        max(b) - min(b) <= _LOST_IN_HALVING < max(b) for b in lengths
    ):
        return None
    if all(max(both) - min(both) <= 1 for both in lengths):
        return None
    factors = {max(both) / min(both) for both in lengths}
    if len(factors) == 1 and (factor := factors.pop()) == int(factor):
        title = (
            f"bring both branches to the same lengths: the larger is {int(factor)} times as long, so one of them lacks an "
            "`UpSampling` or a transposed convolution, or the tensor of another level is meant"
        )
    else:
        title = "bring both tensors to the same lengths with `Cropping`, `ZeroPadding` or `Resizing`, and check the axis"
    return Verdict(fixes=(fix(title),))


def _multiplied(layer: LayerFacts, shapes: tuple[Shape, ...]) -> Verdict:
    """Blame `Dot` axes of different sizes, where the feature axes would match."""
    alike = len({shape[-1] for shape in shapes if shape}) == 1 and all(len(shape) > 2 for shape in shapes)
    edits = set_argument(layer.code, "axes", "-1", position=0) if alike else ()
    features = "the feature axis, the last one of both: `axes=-1`"
    return Verdict(fixes=(unsafe(f"multiply along {features if alike else 'axes of the same size'}", edits),))


def _pair(refusal: Refusal, shapes: tuple[Shape, ...], project: Project) -> Pair | None:
    found = found_in(project, refusal.code)
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
    higher, lower = sorted((pair.first, pair.second), key=lambda index: -len(pair.shape(index)))
    if pair.refusal.name in _ELEMENTWISE and not same_values(pair.shape(higher)[1:], pair.shape(lower)[1:]):
        return _repeated(pair, lower, pair.shape(higher)[-1])
    branch = pair.branch(higher)
    tensor = pair.tensor(higher)
    edits: tuple[Edit, ...] = ()
    if tensor is not None and pair.module is not None and pair.node is not None:
        if min(map(len, pair.shapes)) == 2:
            edits = around(pair.module, tensor, pair.node, "Flatten")
    last = next((layer for layer in branch if layer.class_name != "Dropout"), None)
    evidence: tuple[Evidence, ...] = ()
    if last is not None:
        shape = shape_words(pair.shape(higher))
        evidence = (Evidence(f"output of `{last.class_name}`", shape, location=place(last.code)),)
    location = place(last.code) if last is not None else None
    return Verdict(location, evidence, (fix("flatten it before merging", edits),))


def _repeated(pair: Pair, lower: int, features: int | None) -> Verdict:
    """Blame the features of a vector that elementwise layers repeat along the axes that it lacks."""
    last = next((layer for layer in pair.branch(lower) if layer.class_name != "Dropout"), None)
    if last is None or features is None:
        return Verdict(fixes=(fix("give both tensors the same number of features"),))
    setting = "filters" if last.setting("filters") is not None else "units"
    edits = set_argument(last.code, setting, str(features), position=0) if last.setting(setting) else ()
    title = f"output {features} features from `{last.class_name}`, like the other tensor"
    return Verdict(place(last.code), fixes=(unsafe(title, edits),))


def _projected(pair: Pair) -> Verdict:
    """Blame a shortcut past a block that changes the channels or the lengths."""
    lengths = {index: len(pair.branch(index)) for index in (pair.first, pair.second)}
    skip = min(lengths, key=lambda index: lengths[index])
    main = pair.second if skip == pair.first else pair.first
    wanted, have = pair.shape(main), pair.shape(skip)
    rank = len(wanted)
    sizing = next((layer for layer in pair.branch(main) if _size_of(layer) is not None), None)
    evidence = []
    if sizing is not None and wanted[-1] != have[-1]:
        claim = f"`{sizing.class_name}` outputs {wanted[-1]} channels, but the shortcut has {have[-1]}"
        evidence.append(Evidence(claim, location=place(sizing.code)))
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
    return Verdict(module.location(source), tuple(evidence), (fix(title, edits),))


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


# --- why their lengths differ ---------------------------------------------------------------------------------------


def _same_padding(pair: Pair) -> Verdict | None:
    """Blame unpadded windows that shorten the branches differently."""
    merged = range(len(pair.refusal.ways))
    windows = [layer for index in merged for layer in pair.branch(index) if _shortens(layer)]
    others = [
        layer
        for index in merged
        for layer in pair.branch(index)
        if re.search(r"UpSampling|Transpose|Pooling|Cropping|Padding", layer.class_name)
    ]
    if not windows or others:
        return None
    windows.sort(key=lambda layer: place(layer.code) or Location("", 0))
    unique = list({layer.code: layer for layer in windows if isinstance(layer.code, Code)}.values())
    edits = [edit for layer in unique for edit in set_argument(layer.code, "padding", '"same"', position=3)]
    evidence = tuple(
        Evidence(
            f"without padding, `{layer.class_name}` shortens its input",
            f"kernel_size {layer.setting('kernel_size')}",
            location=place(layer.code),
        )
        for layer in unique
    )
    title = 'keep the length with `padding="same"`'
    return Verdict(place(unique[0].code) if unique else None, evidence, (fix(title, edits),))


def _shortens(layer: LayerFacts) -> bool:
    if not re.fullmatch(r"(Separable|Depthwise)?Conv\dD", layer.class_name):
        return False
    numbers = re.findall(r"\d+", layer.setting("kernel_size") or "")
    strides = re.findall(r"\d+", layer.setting("strides") or "1")
    return (
        (layer.setting("padding") or "valid") == "valid" and set(numbers) != {"1"} and set(strides) <= {"1"}
    )


def _by_size(pair: Pair) -> tuple[int, int, dict[int, Shape]]:
    """Return the index of the smaller tensor, that of the other, and both shapes."""
    small, big = pair.first, pair.second
    shapes = dict(zip((small, big), pair.shapes, strict=True))
    if any((shapes[small][axis] or 0) > (shapes[big][axis] or 0) for axis in pair.axes):
        small, big = big, small
    return small, big, shapes


def _strided(pair: Pair) -> Verdict | None:
    """Blame a strided window without padding if the other branch has padding."""
    small, big, shapes = _by_size(pair)
    for layer in pair.branch(small):
        window = re.fullmatch(r"(?:Separable|Depthwise)?(Conv|Max|Average)(?:Pooling)?\dD", layer.class_name)
        before, after = layer.input_shapes, layer.output_shapes
        if window is None or not isinstance(before, tuple) or not isinstance(after, tuple):
            continue
        if (layer.setting("padding") or "valid") != "valid" or after[0][1:-1] != shapes[small][1:-1]:
            continue
        numbers = re.findall(r"\d+", layer.setting("strides") or layer.setting("pool_size") or "")
        strides = [int(number) for number in numbers] * (len(before[0]) if len(numbers) == 1 else 1)
        lengths = zip(before[0][1:-1], strides, strict=False)
        if tuple(-(-length // stride) for length, stride in lengths if length) != shapes[big][1:-1]:
            continue
        position = 3 if window[1] == "Conv" else 2
        edits = set_argument(layer.code, "padding", '"same"', position=position)
        seen = Evidence(
            f"`{layer.class_name}` has no padding",
            f"{shape_words(before[0])} becomes {shape_words(after[0])}",
            location=place(layer.code),
        )
        return Verdict(place(layer.code), (seen,), (fix('use `padding="same"` with the strides', edits),))
    return None


def _halved(pair: Pair) -> Verdict:
    """Blame an odd length that is halved and then doubled."""
    small, big, shapes = _by_size(pair)
    losing = _loses_a_row(pair, small)
    evidence: tuple[Evidence, ...] = ()
    if (
        losing is not None
        and isinstance(losing.input_shapes, tuple)
        and isinstance(losing.output_shapes, tuple)
    ):
        evidence = (
            Evidence(
                f"`{losing.class_name}` halves an odd length",
                f"{shape_words(losing.input_shapes[0])} becomes {shape_words(losing.output_shapes[0])}",
                location=place(losing.code),
            ),
        )
    fixes = [fix("choose an input length that stays even each time the model halves it")]
    where = place(losing.code) if losing is not None else None
    tensor = pair.tensor(small)
    padding = _missing_each_time(pair, small, big) or _missing(shapes[small], shapes[big])
    if tensor is not None and pair.module is not None and pair.node is not None and padding:
        rank = len(shapes[small]) - 2
        edits = around(pair.module, tensor, pair.node, f"ZeroPadding{rank}D", padding)
        fixes.insert(0, fix("pad the smaller tensor before merging", edits))
        where = pair.module.location(pair.node) if edits else where
    return Verdict(where, evidence, tuple(fixes))


def _missing_each_time(pair: Pair, small: int, big: int) -> str:
    """Return the padding as an expression, for a merge that runs several times with different shapes."""
    module, node, rank = pair.module, pair.node, len(pair.shapes[0]) - 2
    if module is None or node is None or not 1 <= rank <= 3 or not _runs_again(module, node):
        return ""
    tensors = [pair.tensor(small), pair.tensor(big)]
    names = [
        module.segment(each) for each in tensors if isinstance(each, (ast.Name, ast.Subscript, ast.Attribute))
    ]
    if len(names) != 2:
        return ""
    amounts = [f"(0, {names[1]}.shape[{at}] - {names[0]}.shape[{at}])" for at in range(1, rank + 1)]
    return amounts[0] if rank == 1 else f"({', '.join(amounts)})"


def _runs_again(module: Module, node: ast.AST) -> bool:
    if next(loops_around(module, node), None) is not None:
        return True
    function = module.function_of(node)
    calls = module.callers.get(function.node, []) if function is not None else []
    return len(calls) > 1 or any(next(loops_around(caller, call), None) is not None for caller, call in calls)


def _loses_a_row(pair: Pair, small: int) -> LayerFacts | None:
    for layer in pair.branch(small):
        shapes = layer.input_shapes, layer.output_shapes
        if "Pooling" not in layer.class_name and layer.setting("strides") is None:
            continue
        if isinstance(shapes[0], tuple) and isinstance(shapes[1], tuple) and shapes[0] and shapes[1]:
            before, after = shapes[0][0], shapes[1][0]
            if len(before) == len(after) and any(
                one is not None and other is not None and one > other and one % other
                for one, other in zip(before[1:-1], after[1:-1], strict=True)
            ):
                return layer
    return None


def _missing(small: Shape, big: Shape) -> str:
    """Return the `ZeroPadding` argument that makes up the difference; "" if there is none."""
    amounts = []
    for one, other in zip(small[1:-1], big[1:-1], strict=True):
        if one is None or other is None or other < one:
            return ""
        amounts.append(f"(0, {other - one})")
    if not 1 <= len(amounts) <= 3:
        return ""
    return amounts[0] if len(amounts) == 1 else f"({', '.join(amounts)})"
