"""Data with a different number of axes than in the previous call.

## What happens

The second `fit`, or `evaluate` after a `fit` with validation data, raises `ValueError: Cannot take the length of
shape with unknown rank.` The labels had shape `(n, 1)` in the first call and have shape `(n,)` in this one, or vice
versa. Each call works on its own. The same happens with inputs: images of shape `(n, 28, 28)` in one call and `(n,
28, 28, 1)` in the other.

## Why

Keras 3 compiles its step once and lets TensorFlow relax the input shapes when a call brings a different one. Only a
tensor of unknown rank matches both `(n, 1)` and `(n,)`, and the loss or the first layer needs the rank.
`train_on_batch` shares its step with `fit`, and `evaluate` shares its step with validation; `predict` has its own.
Keras 2 retraces instead, so training works there.

## Fix

Give the data the same axes in every call: `y.reshape(-1, 1)`. Compiling the model again also creates a new step.

## Known limits

Reported only after the failure. Pipelines that lose the rank themselves are a separate cause (FIT709).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, spell, unsafe
from fitdoctor.facts import ArrayFacts, DataFacts, FailureFacts, ModelFacts, Unknown
from fitdoctor.failure.failed_line import at_frame, module_of, raised_here
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT413", slug="rank-changed-between-calls", severity=Severity.ERROR, raises="ValueError")

_SAID = ("shape with unknown rank", "as_list() is not defined on an unknown TensorShape")
_LOSES_RANK = ("py_function", "numpy_function", "py_func", "from_generator", "decode_image", "SparseTensor")
_STEPS = (("fit", "train_on_batch"), ("evaluate", "test_on_batch", "fit"), ("predict", "predict_on_batch"))
"""Methods that share a compiled step; those in the second row share it through the validation data of `fit`."""


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, model: ModelFacts | Unknown, data: DataFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Report an unknown rank if the data has a known one and the model was called before."""
    frame = failure.last_user_frame
    if frame is None or not project or not any(said in failure.message for said in _SAID):
        return
    if isinstance(model, ModelFacts) and model.keras != 3 or _has_unknown_rank(data):
        return
    module = module_of(project, frame)
    if module is None or any(word in each.text for each in project.modules for word in _LOSES_RANK):
        return
    site = _failing(module, failure)
    before = _before(module, site) if site is not None else None
    if site is None or before is None:
        return
    part = "input" if "Exception encountered when calling" in failure.raw_message else "labels"
    yield CAUSE.finding(
        f"the {part} of this call {'has' if part == 'input' else 'have'} a different rank than in the previous call",
        module.location(site.node),
        Evidence(
            f"the {part} of this call",
            _shape(data, part),
            "the same axes as in the previous call",
            fact="data.y.shape" if part == "labels" else "data.x.shape",
        ),
        Evidence("the step was compiled for this earlier call", location=module.location(before.node)),
        raised_here(failure),
        _remedy(module, site, part, data),
        subject=f"argument {'x' if part == 'input' else 'y'} of {site.method}",
    )


def _has_unknown_rank(data: DataFacts | Unknown) -> bool:
    return isinstance(data, DataFacts) and any(
        isinstance(array.shape, Unknown) for array in (*data.x, *data.y, *data.sample_weight)
    )


def _failing(module: Module, failure: FailureFacts) -> CallSite | None:
    frame = failure.last_user_frame
    assert frame is not None
    for site in module.method_calls(*(name for names in _STEPS for name in names)):
        if at_frame(module, site.node, frame):
            return site
    return None


def _before(module: Module, site: CallSite) -> CallSite | None:
    """Return an earlier call on the same model that shares the step; in a loop it may come later in the file."""
    model = module.segment(site.receiver)
    for names in _STEPS:
        if site.method not in names or site.method == "fit" and names[0] == "evaluate":
            continue
        for other in module.method_calls(*names):
            if other.node is site.node or module.segment(other.receiver) != model:
                continue
            if names[0] == "evaluate" and other.method == "fit" and not _validates(other):
                continue
            return other
    return site if _repeats(module, site) else None


def _validates(site: CallSite) -> bool:
    return site.argument("validation_data") is not None or site.argument("validation_split") is not None


def _repeats(module: Module, site: CallSite) -> bool:
    """Return whether the call runs repeatedly: in a loop, or in a function called from several places."""
    around = module.parent(site.node)
    while around is not None and not isinstance(around, ast.Module):
        if isinstance(around, (ast.For, ast.While)):
            return True
        around = module.parent(around)
    function = site.function
    return function is not None and len(module.callers.get(function.node, [])) > 1


def _array(data: DataFacts | Unknown, part: str) -> ArrayFacts | None:
    arrays = (data.x if part == "input" else data.y) if isinstance(data, DataFacts) else ()
    return arrays[0] if len(arrays) == 1 else None


def _shape(data: DataFacts | Unknown, part: str) -> str:
    array = _array(data, part)
    return str(array.shape) if array is not None and not isinstance(array.shape, Unknown) else ""


def _remedy(module: Module, site: CallSite, part: str, data: DataFacts | Unknown) -> Fix:
    """Reshape labels of shape `(n,)` and `(n, 1)` into each other."""
    title = f"give the {part} the same axes in every call"
    given = site.argument("y", 1)
    array = _array(data, "labels")
    shape = array.shape if array is not None and not isinstance(array.shape, Unknown) else ()
    flat, column = len(shape) == 1, len(shape) == 2 and shape[-1] == 1
    if part == "input" or given is None or not (flat or column):
        return fix(title)
    numpy, imports = spell(module.code(site.node), "numpy", "np")
    target = "(-1, 1)" if flat else "-1"
    text = f"{numpy}.reshape({module.segment(given)}, {target})"
    return unsafe(f"{title}: `{text}`", (Edit(module.location(given), text),), imports)
