"""Weights loaded into a model with a different architecture.

## What happens

- `load_weights` raises `ValueError: A total of 2 objects could not be loaded … The shape of the target variable and the
  shape of the target value in variable.assign(value) must match`.
- For an `.h5` file: `Layer count mismatch when loading weights from file. Model expected 3 layers, found 2 saved layers`,
  `Weight count mismatch for layer #0` or `Shape mismatch in layer #0`.
- `set_weights` raises `You called set_weights(weights) on layer 'dense' with a weight list of length 1, but the layer was
  expecting 2 weights` or `Layer dense weight shape (8, 4) is not compatible with provided weight shape (8, 5)`.

## Why

A weight file contains arrays, not a model. Keras assigns them to the layers of the model at hand in order, so both models
need the same layers with the same sizes. A different number of classes, another input size or a layer more is enough.

## Fix

Build the model exactly as it was when its weights were saved. To reuse only the layers that match, for instance for
another number of classes, pass `skip_mismatch=True` (with `by_name=True` for an old `.h5` file). To keep model and weights
together, save with `model.save("model.keras")` and load with `load_model`.

## Known limits

Reported only after the failure: what a file contains is known when it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Evidence, Finding, Fix, Severity
from fitdoctor.edits import append_arguments, fix, unsafe
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.failed_line import calls_at
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT909", slug="weights-of-another-model", severity=Severity.ERROR, raises="ValueError")

_LAYERS = re.compile(
    r"Layer count mismatch when loading weights[^.]*\. Model expected (?P<expected>\d+) layers, found (?P<found>\d+)"
    r"|load a weight file containing (?P<old_found>\d+) layers? into a model with (?P<old_expected>\d+) layers?"
)
_WEIGHTS = re.compile(
    r"Weight count mismatch for layer #\d+ \(named (?P<layer>[\w/]+) in the current model.*?"
    r"Layer expects (?P<expected>\d+) weight\(s\)\. Received (?P<found>\d+)"
    r"|on layer [\"'](?P<set_layer>[\w/]+)[\"'] with a\s+weight list of length (?P<set_found>\d+), but the layer was "
    r"expecting (?P<set_expected>\d+) weights"
    r"|layer #\d+ \(named \"?(?P<old_layer>[\w/]+)\"?[^)]*\) expects (?P<old_expected>\d+) weight\(s\), but the saved "
    r"weights have (?P<old_found>\d+)"
    r"|Layer #\d+ \(named \"?(?P<older_layer>[\w/.-]+)\"?[^)]*\) was found[\s\S]{0,200}? expects (?P<older_expected>\d+) "
    r"weights, but the saved weights have (?P<older_found>\d+)"
    r"|Layer '(?P<v3_layer>[\w/]+)' expected (?P<v3_expected>\d+) variables, but received (?P<v3_found>\d+) variables "
    r"during loading"
)
_SHAPES = re.compile(
    r"Shape mismatch in layer #\d+ \(named (?P<layer>[\w/]+)\).*?expects shape (?P<expected>\([\d, ]*\))\. Received saved "
    r"weight with shape (?P<found>\([\d, ]*\))"
    r"|Layer (?P<set_layer>[\w/]+) weight shape (?P<set_expected>\([\d, ]*\)) (?:is )?not compatible with provided weight "
    r"shape (?P<set_found>\([\d, ]*\))"
    r"|could not be loaded\. Example error message for object <\w+ name=(?P<v3_layer>[\w/]+)[^>]*>:[\s\S]{0,200}?"
    r"variable\.shape=(?P<v3_expected>\([\d, ]*\)), Received: value\.shape=(?P<v3_found>\([\d, ]*\))"
    r"|layer #\d+ \(named (?P<old_layer>[\w/]+)\), weight .{0,200}? has shape (?P<old_expected>[(\[][\d, ]*[)\]]), but "
    r"the saved weight has shape (?P<old_found>[(\[][\d, ]*[)\]])"
)
_UNREAD = re.compile(
    r"A total of \d+ objects could not be loaded\. Example error message for object <\w+ name=(?P<layer>[\w/]+)"
)
_UNBUILT = re.compile(
    r"You are loading weights into a model that has not yet been built"
    r"|Unable to load weights saved in HDF5 format into a subclassed Model which has not created its variables yet"
)


_SET = re.compile(r"Shapes (?P<expected>\([\d, ]*\)) and (?P<found>\([\d, ]*\)) are incompatible")
_OBJECT = re.compile(r"could not be loaded\. Example error message for object <(?P<class>\w+) ")
_SETTERS = frozenset({"set_weights", "batch_set_value", "load_weights", "load_weights_from_hdf5_group"})
_WORDINGS = (
    (_LAYERS, "the weight file has {found} layers, but the model has {expected}"),
    (_WEIGHTS, "layer `{layer}` expects {expected} weight arrays, but receives {found}"),
    (_SHAPES, "layer `{layer}` has weights of shape {expected}, but the loaded ones have shape {found}"),
    (_UNREAD, "the saved weights do not match layer `{layer}`"),
    (_SET, "weights of shape {found} are loaded into a layer with weights of shape {expected}"),
)


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report the first layer whose weights do not match."""
    if _loads_by_itself(failure.message, project):
        return
    for wording, problem in _WORDINGS:
        said = wording.search(failure.message)
        # A loss compares shapes in the same words.
        if said is None or wording is _SET and not _sets_weights(failure):
            continue
        groups = {name: _group(said.groupdict(), name) for name in ("layer", "found", "expected")}
        yield CAUSE.certain(
            problem.format(**groups),
            failure.location,
            Evidence("weights for another architecture", groups["found"], groups["expected"]),
            fix("build the model exactly as it was when the weights were saved"),
            *_skipping(failure, project),
            subject="weights",
        )
        return
    if _UNBUILT.search(failure.message):
        yield CAUSE.certain(
            "the model has no weights yet, so there is nothing to load into",
            failure.location,
            Evidence("Keras creates weights when it knows the input shape"),
            fix("call the model on a batch, or `model.build(input_shape)`, before loading the weights"),
            subject="weights",
        )


def _loads_by_itself(message: str, project: Project) -> bool:
    """Return whether the layer has its own `load_own_variables`, which may assign them to the wrong variables."""
    said = _OBJECT.search(message)
    if said is None or not project:
        return False
    return any(
        owner.name == said["class"] and owner.module.method(owner, "load_own_variables") is not None
        for module in project.modules
        for owner in module.classes
    )


def _sets_weights(failure: FailureFacts) -> bool:
    """Return whether Keras was assigning weights to a layer."""
    return any(frame.library and frame.function in _SETTERS for frame in failure.frames)


def _group(groups: dict[str, str | None], name: str) -> str:
    """Return the named group of whichever wording matched."""
    values = (value for key, value in groups.items() if value and (key == name or key.endswith(f"_{name}")))
    return next(values, "")


def _skipping(failure: FailureFacts, project: Project) -> Iterator[Fix]:
    """Load only the layers that match, if the weights come from a file."""
    for site in calls_at(failure, project):
        if site.method == "load_weights" and site.argument("skip_mismatch") is None:
            yield unsafe(
                "load only the layers that match, and train the others from scratch, with `skip_mismatch=True`",
                append_arguments(site.module.code(site.node), "skip_mismatch=True"),
            )
            return
