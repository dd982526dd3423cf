"""Why two merged branches differ in length: unpadded windows, strides, halved odd lengths."""

from __future__ import annotations

import ast
import re

from fitdoctor.catalogue.model.layer_source import around
from fitdoctor.catalogue.model.merged_pairs import Pair, Verdict
from fitdoctor.catalogue.training_loops import loops_around
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Evidence, Location
from fitdoctor.edits import fix, set_argument
from fitdoctor.facts import Code, LayerFacts, Shape
from fitdoctor.source.module import Module


def of_lengths(pair: Pair) -> Verdict:
    """Return the layer that makes the lengths differ, and a fix."""
    return _same_padding(pair) or _strided(pair) or _halved(pair)


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
            claim=f"without padding, `{layer.class_name}` shortens its input",
            observed=f"kernel_size {layer.setting('kernel_size')}",
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
            claim=f"`{layer.class_name}` has no padding",
            observed=f"{shape_words(before[0])} becomes {shape_words(after[0])}",
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
                claim=f"`{losing.class_name}` halves an odd length",
                observed=f"{shape_words(losing.input_shapes[0])} becomes {shape_words(losing.output_shapes[0])}",
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
