"""Image batches that Keras reads from folders, one folder per class, or from arrays."""

from __future__ import annotations

from fitdoctor.facts.unknown import Unknown
from fitdoctor.records import replace
from fitdoctor.source.data import arrays
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.library import handles, handles_method
from fitdoctor.source.interpreter.values import (
    ELEMENT,
    FLOW,
    UNTOLD,
    Arguments,
    Array,
    Bounds,
    Dataset,
    Items,
    Made,
    Plain,
    Step,
    Value,
)


@handles("keras.utils.image_dataset_from_directory", "keras.preprocessing.image_dataset_from_directory")
def _directory(run: Interpreter, arguments: Arguments) -> Value:
    if not arguments.complete:
        return Dataset(known=False, node=arguments.node)
    size = run.sequence(arguments.get("image_size") or Items((Plain(256), Plain(256))))
    batch = arguments.get("batch_size") or Plain(32)
    channels = {"rgb": 3, "rgba": 4, "grayscale": 1}
    mode = arguments.get("color_mode") or Plain("rgb")
    depth = channels.get(mode.value) if isinstance(mode, Plain) else None
    length = arrays.whole(batch)
    if size is None or depth is None or length is None or arguments.get("subset") == Plain("both"):
        return Dataset(known=False, node=arguments.node)
    axes = tuple(arrays.dim_of(axis) for axis in size)
    images = Array((None, *axes, depth), "float32", ELEMENT)
    labels = _directory_labels(arguments.get("label_mode") or Plain("int"), arguments)
    element: Value = images if labels is None else Items((images, labels))
    step = Step("image_dataset_from_directory", element, (("batch_size", str(length)),), arguments.node)
    return Dataset(element, UNTOLD, length, (step,), node=arguments.node)


def _directory_labels(mode: Value, arguments: Arguments) -> Value | None:
    name = mode.value if isinstance(mode, Plain) else ""
    if name is None or arguments.get("labels") == Plain(None):
        return None
    if arguments.get("labels") is not None:
        return UNTOLD
    return {
        "int": Array((None,), "int32", ELEMENT),
        "binary": Array((None, 1), "float32", ELEMENT, bounds=Bounds(0, 1, True)),
        # The number of folders is unknown, so the axis is open.
        "categorical": Array((None, None), "float32", ELEMENT, unit_rows=True),
    }.get(name, UNTOLD)


_GENERATOR = "keras.preprocessing.image.ImageDataGenerator"


@handles_method(f"{_GENERATOR}.flow")
def _flow_of_arrays(run: Interpreter, arguments: Arguments) -> Value:
    """Return image batches from an array, with the rows of `y` unchanged."""
    images, labels = arguments.get("x", 1), arguments.get("y", 2)
    if not arguments.complete or arguments.get("sample_weight") is not None:
        return UNTOLD
    if not isinstance(images, Array) or images.rank != 4 or isinstance(images.dims, Unknown):
        return UNTOLD
    batch = Array((None, *images.dims[1:]), "float32", ELEMENT)
    if labels is None:
        return Made(FLOW, (batch,), node=arguments.node)
    if not isinstance(labels, Array) or isinstance(labels.dims, Unknown):
        return UNTOLD
    # The rows are shuffled, so a batch may lack some of the values.
    rows = replace(labels, dims=(None, *labels.dims[1:]), container=ELEMENT, numbers=None, buffer=0)
    return Made(FLOW, (Items((batch, rows)),), node=arguments.node)


@handles_method(FLOW)
def _flow(run: Interpreter, arguments: Arguments) -> Value:
    """Return image batches from folders."""
    maker = arguments.positional[0]
    size = run.sequence(arguments.get("target_size", 2) or Items((Plain(256), Plain(256))))
    mode, kind = arguments.get("color_mode", 3) or Plain("rgb"), arguments.get("class_mode", 5) or Plain(None)
    depth = {"rgb": 3, "rgba": 4, "grayscale": 1}.get(mode.value) if isinstance(mode, Plain) else None
    plain = isinstance(maker, Made) and maker.get("data_format") is None and run.plain_defaults
    if size is None or depth is None or not plain or not arguments.complete or not isinstance(kind, Plain):
        return UNTOLD
    images = Array((None, *(arrays.dim_of(side) for side in size), depth), "float32", ELEMENT)
    labels = {
        "sparse": Array((None,), "float32", ELEMENT),
        "binary": Array((None,), "float32", ELEMENT),
        "categorical": Array((None, None), "float32", ELEMENT, unit_rows=True),
    }
    given = arguments.get("class_mode", 5)
    name = "categorical" if given is None else kind.value
    element = Items((images, labels.get(name, UNTOLD) if isinstance(name, str) else UNTOLD))
    return Made(FLOW, (element,), node=arguments.node)
