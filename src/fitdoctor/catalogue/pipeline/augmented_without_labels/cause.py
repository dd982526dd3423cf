"""Images flipped, rotated or cropped at random, but not the masks that label their pixels.

## What happens

Nothing fails. After a random flip, half of the masks no longer lie on what they mark, and the loss stays high.

## Why

The function that was written for classification returns the label as it is. For a mask, a depth map or another image as
the target, the same flip must be applied to both. A `RandomFlip` at the start of the model has the same effect: it never
sees the labels.

## Fix

Apply one random operation to both, for instance to `tf.concat([image, mask], axis=-1)`, or `tf.image.stateless_random_…`
to each with the same seed. Changes of brightness and noise concern the image alone.

## Known limits

Labels count as labels of pixels if they have the height and width of the images. A function in which the labels are
passed to another function is not judged.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.data.generator_sources import expression_of
from fitdoctor.catalogue.words import listing, place, shape_words
from fitdoctor.diagnosis import Edit, Evidence, Finding, Severity
from fitdoctor.edits import fix, insert_after, insert_before, spell, unsafe
from fitdoctor.facts import DataFacts, ModelFacts
from fitdoctor.source.callees import function_given, returned_by
from fitdoctor.source.definitions import argument_of, last_name
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT719", slug="augmented-without-labels", severity=Severity.WARNING)

_LAYERS = frozenset(
    "RandomFlip RandomRotation RandomTranslation RandomZoom RandomCrop RandomShear RandomPerspective "
    "RandomElasticTransform".split()
)
"""Layers that move pixels, without parameters that also take the labels."""
_MOVES = ("random_flip_left_right", "random_flip_up_down", "random_crop", "resize_and_random_crop")
_KEEPS = frozenset("cast convert_to_tensor one_hot float32 int32 to_float expand_dims squeeze".split())
"""Functions that leave every pixel where it is."""


@CAUSE.in_source
@CAUSE.before_fit
def from_layers(model: ModelFacts, training: DataFacts) -> Iterator[Finding]:
    """Report layers that move the pixels of the images only."""
    moving = [layer for layer in model.layers if layer.class_name in _LAYERS]
    if not moving or model.kind not in ("sequential", "functional") or model.overrides:
        return
    if _labels_pixels(training):
        yield CAUSE.finding(
            f"{listing([each.name for each in moving], 3)} moves the pixels of the images, but not their labels",
            place(moving[0].code),
            _labels_are_pixels(training),
            fix("augment images and labels together, in a function for `Dataset.map`"),
            subject="labels",
        )


@CAUSE.in_source
@CAUSE.before_fit
def from_map(training: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a mapped function that moves the pixels of the images, and returns the labels as they were."""
    for step in training.pipeline if _labels_pixels(training) else ():
        found = expression_of(project, step.code) if step.operation == "map" else None
        mapped = argument_of(found[1], "map_func", 0) if found and isinstance(found[1], ast.Call) else None
        function = function_given(found[0], mapped) if found and mapped is not None else None
        moves = _moves(function) if function is not None else []
        if function is not None and moves:
            module = function.module
            image, labels = function.parameters[:2]
            yield CAUSE.finding(
                f"the pixels of `{image}` are moved at random, but `{labels}` is returned as it was",
                module.location(moves[0]),
                _labels_are_pixels(training),
                unsafe("move both together", _together(module, moves, image, labels, training)),
                subject="labels",
            )


def _labels_pixels(data: DataFacts) -> bool:
    """Whether x are images, and y has their height and width."""
    if len(data.x) != 1 or len(data.y) != 1:
        return False
    images, labels = data.x[0].shape, data.y[0].shape
    if not isinstance(images, tuple) or not isinstance(labels, tuple) or len(images) < 4 or len(labels) < 3:
        return False
    after = len(images) - 3
    sizes = images[after : after + 2]
    return all(size is not None and size > 1 for size in sizes) and labels[after : after + 2] == sizes


def _labels_are_pixels(data: DataFacts) -> Evidence:
    return Evidence(
        "the labels have a value for each pixel",
        shape_words(data.y[0].shape),
        fact="data.y.shape",
    )


def _moves(function: FunctionInfo) -> list[ast.Call]:
    """Return the calls that move the pixels of the first parameter at random, if no other gets the second."""
    parameters = function.parameters
    if len(parameters) != 2:
        return []
    module, (image, labels) = function.module, parameters
    returned = returned_by(function)
    if not isinstance(returned, ast.Tuple) or len(returned.elts) != 2 or not _is_of(returned.elts[1], labels):
        return []
    calls = [node for node in ast.walk(function.node) if isinstance(node, ast.Call)]
    for call in calls:
        given = {
            node.id
            for each in (*call.args, *call.keywords)
            for node in ast.walk(each)
            if isinstance(node, ast.Name)
        }
        if labels in given and last_name(call) not in _KEEPS:
            return []
    return [
        call for call in calls if _moves_pixels(module, call) and call.args and _is_of(call.args[0], image)
    ]


def _moves_pixels(module: Module, call: ast.Call) -> bool:
    name = module.called(call)
    if name.startswith("tensorflow.image."):
        return name.rpartition(".")[2].removeprefix("stateless_") in _MOVES
    made = module.origin(call.func)
    layers = (each for each in ast.walk(made.node) if isinstance(each, ast.Call))
    return made.certain and any(
        made.module.called(each).removeprefix("keras.layers.") in _LAYERS for each in layers
    )


def _is_of(given: ast.expr, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(given))


def _together(
    module: Module, moves: list[ast.Call], image: str, labels: str, data: DataFacts
) -> tuple[Edit, ...]:
    """Join image and labels before the first move, and part them after the last."""
    images, pixels = data.x[0], data.y[0]
    assert isinstance(images.shape, tuple)
    assert isinstance(pixels.shape, tuple)
    if images.dtype != pixels.dtype or len(images.shape) != len(pixels.shape):
        return ()
    lines = [module.statement(each) for each in moves]
    block = module.block(lines[0])
    for call, line in zip(moves, lines, strict=True):
        match line:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if value is call and target == image:
                continue
        return ()
    first, last = block.index(lines[0]), block.index(lines[-1])
    if block[first : last + 1] != lines or len(moves[0].args) != 1:
        return ()
    concat, imports = spell(module.code(moves[0]), "tensorflow", "tf")
    joined = f"{image} = {concat}.concat([{image}, {labels}], axis=-1)"
    channels = images.shape[-1]
    parted = f"{image}, {labels} = {image}[..., :{channels}], {image}[..., {channels}:]"
    return (
        *insert_before(module.code(lines[0]), joined),
        *insert_after(module.code(lines[-1]), parted),
        *imports,
    )
