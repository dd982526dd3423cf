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

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.traced import at_frame, module_of
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import append_arguments, fix, unsafe
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT909",
    slug="weights-of-another-model",
    severity=Severity.ERROR,
    raises="ValueError",
)

_LAYERS = pattern(
    r"Layer count mismatch when loading weights[^.]*\. Model expected (?P<expected>\d+) layers, found (?P<found>\d+)"
    r"|load a weight file containing (?P<old_found>\d+) layers? into a model with (?P<old_expected>\d+) layers?"
)
_WEIGHTS = pattern(
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
_SHAPES = pattern(
    r"Shape mismatch in layer #\d+ \(named (?P<layer>[\w/]+)\).*?expects shape (?P<expected>\([\d, ]*\))\. Received saved "
    r"weight with shape (?P<found>\([\d, ]*\))"
    r"|Layer (?P<set_layer>[\w/]+) weight shape (?P<set_expected>\([\d, ]*\)) (?:is )?not compatible with provided weight "
    r"shape (?P<set_found>\([\d, ]*\))"
    r"|could not be loaded\. Example error message for object <\w+ name=(?P<v3_layer>[\w/]+)[^>]*>:[\s\S]{0,200}?"
    r"variable\.shape=(?P<v3_expected>\([\d, ]*\)), Received: value\.shape=(?P<v3_found>\([\d, ]*\))"
    r"|layer #\d+ \(named (?P<old_layer>[\w/]+)\), weight .{0,200}? has shape (?P<old_expected>[(\[][\d, ]*[)\]]), but "
    r"the saved weight has shape (?P<old_found>[(\[][\d, ]*[)\]])"
)
_UNREAD = pattern(
    r"A total of \d+ objects could not be loaded\. Example error message for object <\w+ name=(?P<layer>[\w/]+)"
)
_UNBUILT = pattern(
    r"You are loading weights into a model that has not yet been built"
    r"|Unable to load weights saved in HDF5 format into a subclassed Model which has not created its variables yet"
)


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report the first layer whose weights do not match."""
    message = failure.message
    if _loads_by_itself(message, project):
        return
    for pattern_, what in ((_LAYERS, "layers"), (_WEIGHTS, "weights"), (_SHAPES, "shape")):
        said = pattern_.search(message)
        if said is not None:
            layer, found, expected = (
                _group(said.groupdict(), name) for name in ("layer", "found", "expected")
            )
            yield _finding(_message(what, layer, found, expected), found, expected, failure, project)
            return
    unread = _UNREAD.search(message)
    if unread is not None:
        yield _finding(f"the saved weights do not match layer `{unread['layer']}`", "", "", failure, project)
    elif _UNBUILT.search(message):
        yield _unbuilt(failure)
    elif (set_ := _SET.search(message)) is not None and _sets_weights(failure):
        words = f"weights of shape {set_['found']} are loaded into a layer with weights of shape {set_['expected']}"
        yield _finding(words, set_["found"], set_["expected"], failure, project)


_OBJECT = pattern(r"could not be loaded\. Example error message for object <(?P<class>\w+) ")


def _loads_by_itself(message: str, project: Project | Unknown) -> bool:
    """Whether the layer has a `load_own_variables` of its own, which may assign them to the wrong variables."""
    said = _OBJECT.search(message)
    if said is None or isinstance(project, Unknown):
        return False
    return any(
        owner.name == said["class"] and owner.module.method(owner, "load_own_variables") is not None
        for module in project.modules
        for owner in module.classes
    )


_SET = pattern(r"Shapes (?P<expected>\([\d, ]*\)) and (?P<found>\([\d, ]*\)) are incompatible")


def _sets_weights(failure: FailureFacts) -> bool:
    """Whether Keras was giving weights to a layer; a loss compares shapes in the same words."""
    inside = {frame.function for frame in failure.frames if frame.library}
    return not inside.isdisjoint(
        {"set_weights", "batch_set_value", "load_weights", "load_weights_from_hdf5_group"}
    )


def _group(groups: dict[str, str | None], name: str) -> str:
    """The named group of whichever wording matched."""
    values = (value for key, value in groups.items() if value and (key == name or key.endswith(f"_{name}")))
    return next(values, "")


def _message(what: str, layer: str, found: str, expected: str) -> str:
    if what == "layers":
        return f"the weight file has {found} layers, but the model has {expected}"
    if what == "weights":
        return f"layer `{layer}` expects {expected} weight arrays, but receives {found}"
    return f"layer `{layer}` has weights of shape {expected}, but the loaded ones have shape {found}"


def _finding(
    message: str, found: str, expected: str, failure: FailureFacts, project: Project | Unknown
) -> Finding:
    frame = failure.last_user_frame
    return CAUSE.finding(
        message,
        subject="weights",
        location=frame.location if frame else None,
        evidence=[
            Evidence(
                claim="weights for another architecture",
                observed=found,
                expected=expected,
                fact="failure.message",
            )
        ],
        fixes=[
            fix("build the model exactly as it was when the weights were saved"),
            *_skipping(failure, project),
        ],
        confidence=Confidence.CERTAIN,
    )


def _skipping(failure: FailureFacts, project: Project | Unknown) -> Iterator[Fix]:
    """Load only the layers that match, if the weights come from a file."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if module is None or frame is None:
        return
    for site in module.method_calls("load_weights"):
        if not at_frame(module, site.node, frame) or site.argument("skip_mismatch") is not None:
            continue
        title = (
            "load only the layers that match, and train the others from scratch, with `skip_mismatch=True`"
        )
        edits: tuple[Edit, ...] = append_arguments(module.code(site.node), "skip_mismatch=True")
        yield unsafe(title, edits)
        return


def _unbuilt(failure: FailureFacts) -> Finding:
    frame = failure.last_user_frame
    return CAUSE.finding(
        "the model has no weights yet, so there is nothing to load into",
        subject="weights",
        location=frame.location if frame else None,
        evidence=[
            Evidence(claim="Keras creates weights when it knows the input shape", fact="failure.message")
        ],
        fixes=[fix("call the model on a batch, or `model.build(input_shape)`, before loading the weights")],
        confidence=Confidence.CERTAIN,
    )
