"""Input too small for its convolutions and pooling.

## What happens

`ValueError: Computed output size would be zero or negative. Received inputs shape=(None, 1, 1, 32), kernel
shape=(3, 3, 32, 32) … padding=valid` when the model is created or, for a model without an `Input`, when `fit` traces it.

## Why

Without padding, a window of size k shortens an axis by k - 1, and a stride or pooling of 2 halves the rest. After a few
layers, the axis is shorter than the next window. Often the model was designed for larger images, or the sequence axis is
shorter than assumed (or is a different axis).

## Fix

Set `padding="same"` where the axis becomes too short, use fewer layers, or use a larger input.

## Known limits

Sizes that the model leaves open are known only at run time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.models.layer_source import found_in, is_layer_call, layer_of
from fitdoctor.catalogue.knowledge.models.refusals import Refusal, explains_refusals
from fitdoctor.catalogue.training_loops import loops_around
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, set_argument, unsafe
from fitdoctor.facts import LayerFacts
from fitdoctor.failure.failed_line import function_at, module_of
from fitdoctor.failure.shapes import exhausted_dimension
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT306",
    slug="dimension-exhausted",
    severity=Severity.ERROR,
    raises="ValueError",
    explains=("FIT320",),
)

_MOST_STEPS = 12


def _speaks_of_it(message: str) -> bool:
    return exhausted_dimension(message) is not None


@explains_refusals(CAUSE, _speaks_of_it)
def dimension_exhausted(refusal: Refusal, project: Project) -> Iterator[Finding]:
    """Report a window larger than its input."""
    said = exhausted_dimension(refusal.message)
    left = refusal.shapes[0] if refusal.shapes else said.input if said is not None else None
    layer = refusal.layer or _by_window(refusal, project)
    name = layer.class_name if layer is not None else "layer"
    shown = f"`{name}`" if layer is not None else "a layer"
    window = _window(layer)
    observed = shape_words(left) if left is not None else "too small"
    message = f"{shown} has a window of {window}, but its input is " + (
        "only " * (left is not None) + observed
    )
    if not window:
        message = f"the window of {shown} is larger than its input" + (f", {observed}" * (left is not None))
    yield refusal.finding(
        CAUSE,
        message,
        place(layer.code if layer is not None else None, refusal.place),
        Evidence(
            f"input of {shown}", observed, f"at least {window}" if window else "", location=refusal.place
        ),
        *_shrinking(refusal),
        *_of_keras_1(refusal, project),
        *(list(_of_channels_first(refusal)) or _fixes(layer, project)),
        # A function that is called several times creates several layers: one line, one finding.
        subject=f"window of {name}",
    )


def _by_window(refusal: Refusal, project: Project) -> LayerFacts | None:
    """Return the only layer in the source with the window in the message."""
    said = exhausted_dimension(refusal.message)
    frame = refusal.failure.last_user_frame if refusal.failure is not None else None
    module = module_of(project, frame)
    if said is None or not said.kernel or module is None or frame is None:
        return None
    pools = "pool" in refusal.message
    sizes = {str(length) for length in (said.kernel if pools else said.kernel[:-2])}
    rank = len(said.kernel) - (0 if pools else 2)
    found = []
    for site in module.calls:
        if is_layer_call(module, site.node):
            layer = layer_of(module, site.node)
            if f"{'Pooling' if pools else 'Conv'}{rank}D" in layer.class_name:
                if set(re.findall(r"\d+", _window(layer))) == sizes:
                    found.append((module.class_of(site.node), layer))
    function = function_at(module, frame.line, frame.cell)
    near = [layer for owner, layer in found if function is not None and owner is function.owner]
    alike = near or [layer for _, layer in found]
    return alike[0] if len(alike) == 1 else None


def _window(layer: LayerFacts | None) -> str:
    if layer is None:
        return ""
    size = layer.setting("kernel_size") or layer.setting("pool_size")
    if size is None and "Pooling" in layer.class_name:
        return "2"
    return size or ""


def _shrinking(refusal: Refusal) -> list[Evidence]:
    """List the lengths after each layer."""
    steps = []
    for layer in reversed(refusal.way[:_MOST_STEPS]):
        shapes = layer.output_shapes
        if isinstance(shapes, tuple) and shapes:
            steps.append(f"{layer.class_name} {shape_words(shapes[0][1:-1])}")
    return [Evidence("sizes after each layer", ", ".join(steps))] if steps else []


def _of_keras_1(refusal: Refusal, project: Project) -> Iterator[Fix]:
    """Write `Conv2D(64, 3, 3)` with a tuple: in Keras 1, these were rows and columns; now the last is `strides`."""
    layers = (*refusal.way, *([refusal.layer] if refusal.layer is not None else []))
    found = next(
        (place for each in layers if (place := found_in(project, each.code)) and _squares(*place)), None
    )
    if found is None:
        return
    module = found[0]
    edits = [edit for site in module.calls_under("keras.layers.") for edit in _squares(module, site.node)]
    yield unsafe("write the kernel size as a tuple: the third argument of `Conv2D` is `strides`", edits)


def _of_channels_first(refusal: Refusal) -> Iterator[Fix]:
    """Advise to put the channels last, if the shape of the input begins with as few as an image has."""
    first = refusal.way[-1] if refusal.way else refusal.layer
    shapes = first.input_shapes if first is not None else ()
    shape = shapes[0] if isinstance(shapes, tuple) and len(shapes) == 1 else None
    if first is None or shape is None or first.setting("data_format") is not None:
        return
    match shape[1:]:
        case (1 | 3 | 4 as channels, int(rows), int(columns)) if min(rows, columns) > 8:
            yield fix(
                f"write the input shape with its channels last, `({rows}, {columns}, {channels})`, and move that axis of "
                "the images, too: `np.moveaxis(x, 1, -1)`"
            )


def _squares(module: Module, call: ast.AST) -> tuple[Edit, ...]:
    match call:
        case ast.Call(
            args=[_, ast.Constant(value=int(rows)) as first, ast.Constant(value=int(columns)) as last, *_]
        ):
            if rows == columns > 1 and module.called(call) in _CONVOLUTIONS:
                return (
                    Edit(replace(module.location(first), end_column=module.location(first).column), "("),
                    Edit(replace(module.location(last), column=module.location(last).end_column), ")"),
                )
    return ()


_CONVOLUTIONS = ("keras.layers.Conv2D", "keras.layers.Convolution2D")


def _fixes(layer: LayerFacts | None, project: Project) -> list[Fix]:
    title = 'keep the length with `padding="same"`'
    rest = fix("use a larger input, or fewer layers that shrink it")
    if layer is None:
        return [fix(title), rest]
    found = found_in(project, layer.code)
    block = _repeated(*found) if found is not None else None
    if found is None or block is None:
        return [fix(title, _padded(layer)), rest]
    # In a loop, the other layers would become too short next.
    module = found[0]
    inner = [
        layer_of(module, node)
        for node in ast.walk(block)
        if isinstance(node, ast.Call) and is_layer_call(module, node)
    ]
    convolutions = [edit for each in inner if "Conv" in each.class_name for edit in _padded(each)]
    others = [edit for each in inner if "Conv" not in each.class_name for edit in _padded(each)]
    some = [fix(f"{title} in the convolutions", convolutions)] if convolutions and others else []
    return [*some, fix(title, convolutions, others), rest]


def _padded(layer: LayerFacts) -> tuple[Edit, ...]:
    convolves = (
        "Conv" in layer.class_name and "LSTM" not in layer.class_name and "Transpose" not in layer.class_name
    )
    pools = "Pooling" in layer.class_name and not layer.class_name.startswith("Global")
    if not convolves and not pools or layer.setting("padding") == "same":
        return ()
    position = (2 if layer.class_name.startswith("Depthwise") else 3) if convolves else 2
    return set_argument(layer.code, "padding", '"same"', position=position)


def _repeated(module: Module, node: ast.AST) -> ast.AST | None:
    """Return the loop or function that creates a layer, perhaps more than once."""
    current: ast.AST | None = node
    while current is not None and not isinstance(current, (ast.For, ast.While)):
        if isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return (
                current if len(module.callers.get(current, [])) > 1 or _is_looped(module, current) else None
            )
        current = module.parent(current)
    return current


def _is_looped(module: Module, function: ast.AST) -> bool:
    return any(any(loops_around(source, call)) for source, call in module.callers.get(function, []))
