"""Axes of the data in the wrong order.

## What happens

The model expects samples of shape (24, 24, 3), but the data has (3, 24, 24): the same lengths, permuted. A
functional model rejects it with `expected shape=(None, 24, 24, 3), found shape=(32, 3, 24, 24)`. In a Sequential
model the first convolution raises: `expected axis -1 of input shape to have value 3, but received input with shape
(32, 3, 24, 24)`.

## Why

PyTorch, GDAL and MNE put the channels (bands, electrodes) first. Keras layers expect them last unless
`data_format="channels_first"` is set.

## Fix

Move the axis: `np.moveaxis(x, 1, -1)`, or `np.transpose`. A reshape would also run, but it scrambles every image: its
values stay in their order in memory. `lint` reports it.

## Known limits

If all axes have the same length, the order cannot be determined from the shape. A reshape is reported only if the source
shows the shape of a sample before and after it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.inputs.refused_inputs import Given, Mismatch, explains_inputs
from fitdoctor.catalogue.knowledge.data.data_places import (
    map_samples,
    only_input_line,
    rework_data,
    reworked,
    shape_line,
)
from fitdoctor.catalogue.knowledge.data.loop_data import model_call, reworked_batch
from fitdoctor.catalogue.knowledge.data.pipeline_steps import receiver_end
from fitdoctor.catalogue.knowledge.data.shapes import relation
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, replace_code, spell, unsafe
from fitdoctor.facts import Code, DataFacts, FailureFacts, FitFacts, ModelFacts, Shape, Unknown
from fitdoctor.failure.shapes import InputMismatch
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT104",
    slug="channel-axis-order",
    severity=Severity.ERROR,
    aspect="shape",
    raises="ValueError",
    explains=("FIT101", "FIT320"),
)


def _explain(given: Given, found: list[Mismatch]) -> Iterator[Finding]:
    """Report data whose axes are permuted and that the model rejects."""
    for mismatch in found:
        if mismatch.kind != "permuted":
            continue
        array = mismatch.array
        sample, expected = shape_words(mismatch.found_sample), shape_words(mismatch.expected_sample)
        yield given.finding(
            CAUSE,
            f"each sample of `{array.path}` has shape {sample}, but the model expects {expected}: the axes are permuted",
            shape_line(array, given.data),
            mismatch,
            *_fixes(mismatch, given.fit, given.data),
        )


def _fixes(mismatch: Mismatch, fit_call: FitFacts | Unknown, data: DataFacts) -> list[Fix]:
    array = mismatch.array
    order = _order(mismatch.found_sample, mismatch.expected_sample)
    if data.form == "dataloader":
        return [fix(f"move the axes of each sample: `x.permute{order}`")]
    if data.form == "dataset":
        moved = f"tf.transpose(x, {order})"
        return [fix(f"move the axes of each sample: `{moved}`", map_samples(data, array, moved))]
    numpy, imports = spell(reworked(array), "numpy", "np")
    move = _moved(mismatch.found_sample, mismatch.expected_sample)
    template = f"{numpy}.{move}"
    edits = rework_data(array, fit_call, template) if "numpy" in array.container else ()
    return [
        fix(
            f"move the axes of `{array.path}`: `{template.replace('{}', 'x')}`",
            edits,
            imports if edits else (),
        ),
        fix(f"change the input shape of the model to {shape_words(mismatch.found_sample)}"),
    ]


def _moved(found: Shape, expected: Shape) -> str:
    """Return the NumPy call that reorders the axes: `moveaxis` if moving one is enough."""
    rank = len(found)
    for source, target in ((0, rank - 1), (rank - 1, 0)):
        axes = list(found)
        axes.insert(target, axes.pop(source))
        if relation(tuple(axes), expected) == "same":
            return f"moveaxis({{}}, {source + 1}, {target + 1 if target < rank - 1 else -1})"
    order = _order(found, expected)
    return f"transpose({{}}, (0, {', '.join(str(axis + 1) for axis in order)}))"


def _order(found: Shape, expected: Shape) -> tuple[int, ...]:
    """Return the axes of a sample in the order the model expects."""
    for order in itertools.permutations(range(len(found))):
        if relation(tuple(found[axis] for axis in order), expected) == "same":
            return order
    return tuple(range(len(found)))


def _in_loop(failure: FailureFacts, said: InputMismatch, project: Project) -> Iterator[Fix]:
    """Yield a fix for the batch that a custom training loop passes to the model."""
    called = model_call(project, failure)
    if said.found is None or called is None:
        return
    found = said.found[1:]
    # A convolution reports only the channel axis, which comes first in the data.
    expected = said.expected[1:] if said.expected is not None else (*found[1:], found[0])
    order = f"(0, {', '.join(str(axis + 1) for axis in _order(found, expected))})"
    edits = reworked_batch(*called, f"np.{_moved(found, expected)}", f"tf.transpose({{}}, {order})")
    yield fix(f"move the axes: `tf.transpose(x, {order})`", edits)


def _read(
    failure: FailureFacts,
    said: InputMismatch,
    model: ModelFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project,
) -> Iterator[Finding]:
    """Report permuted axes from the message."""
    if said.found is None:
        return
    found = said.found[1:]
    if said.expected is not None:
        *sizes, channels = said.expected[1:]
        first = sizes == [None, None] and found[0] == channels != found[-1]
        permuted = relation(found, said.expected[1:]) == "permuted" or first
        words = shape_words(said.expected[1:])
    else:
        # A convolution reports only the channel axis, which comes first in the data.
        permuted = said.axis == -1 and len(found) == 3 and found[0] == said.axis_length
        words = f"{said.axis_length} channels in the last axis"
    if not permuted:
        return
    yield CAUSE.certain(
        f"each sample has shape {shape_words(found)}, but the model expects {words}: the axes are permuted",
        place(only_input_line(data), failure.location),
        Evidence(
            "shape of the input",
            shape_words(said.found),
            shape_words(said.expected) if said.expected else words,
        ),
        *_in_loop(failure, said, project),
        fix("move the channel axis: `np.moveaxis(x, 1, -1)`"),
        subject="argument x of fit",
    )


explains_inputs(CAUSE, _explain, _read)


@CAUSE.in_source
@mentions("reshape")
def from_reshape(data: DataFacts) -> Iterator[Finding]:
    """Report a reshape that gives the axes of each sample each other's lengths, which runs but scrambles the values."""
    for array in data.x:
        for event in array.events("reshape"):
            found, wanted = event.text.split("\n")
            order = (0, *(axis + 1 for axis in _order(_sizes(found), _sizes(wanted))))
            yield CAUSE.finding(
                f"`reshape` turns samples of shape ({found}) into ({wanted}) and mixes up their values: no axis is moved",
                place(event.code, array.use),
                Evidence("shape of a sample", f"({wanted}) by `reshape`", f"({wanted}) by `transpose`"),
                unsafe(f"move the axes instead: `x.transpose{order}`", _transposed(event.code, order)),
                subject=f"axes of {array.path}",
                severity=Severity.WARNING,
            )


def _transposed(code: Code | Unknown, order: tuple[int, ...]) -> tuple[Edit, ...]:
    """Return the edit of `x.reshape(…)`."""
    end = receiver_end(code) if isinstance(code, Code) and not code.name else None
    return replace_code(code, f"{code.text[:end]}.transpose{order}") if isinstance(code, Code) and end else ()


def _sizes(text: str) -> Shape:
    return tuple(int(size) for size in text.split(", "))
