"""Weights of another shape than the layer that they are set on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.words import shape_words
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix
from fitdoctor.edits import fix, set_argument, unsafe
from fitdoctor.facts import FailureFacts, Shape, Unknown
from fitdoctor.failure.failed_line import at_frame, module_of, raised_here
from fitdoctor.failure.shapes import parse_shape
from fitdoctor.source.definitions import CallSite
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_SAID = re.compile(
    r"Layer (?:(?P<layer>\S+) )?weight shape (?P<own>\([^)]*\)) (?:is )?not compatible with provided weight shape "
    r"(?P<given>\([^)]*\))"
)
_SIZES = (("input_dim", 0), ("output_dim", 1))
"""The arguments of `Embedding` that make the shape of its weights."""


def refused_weights(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report the layer, and the sizes that the weights would need."""
    said = _SAID.search(failure.message)
    own, given = (parse_shape(said["own"]), parse_shape(said["given"])) if said is not None else (None, None)
    if said is None or own is None or given is None:
        return
    frame = failure.last_user_frame
    module = module_of(project, frame)
    name = f"layer `{said['layer']}`" if said["layer"] else "the layer"
    place = failure.location
    site = None
    if module is not None and frame is not None:
        calls = [call for call in module.calls if at_frame(module, call.node, frame)]
        setting = next((call for call in calls if call.method == "set_weights"), None)
        site = _embedding(module, calls, setting)
        shown = setting or site
        place = module.location(shown.node) if shown is not None else place
    yield cause.finding(
        f"the weights have shape {shape_words(given)}, but {name} has weights of shape {shape_words(own)}",
        place,
        Evidence("shape of the weights", shape_words(given), shape_words(own), "failure.message"),
        raised_here(failure),
        _remedy(site, own, given),
        subject="weights of a layer",
        confidence=Confidence.CERTAIN,
    )


def _embedding(module: Module, calls: list[CallSite], setting: CallSite | None) -> CallSite | None:
    """Return the `Embedding(…)` on the line, or the one that `set_weights` is called on."""
    if setting is not None and isinstance(setting.node.func, ast.Attribute):
        made = module.made_by(setting.node.func.value)
        calls = [module.call(made)] if isinstance(made, ast.Call) else []
    found = [call for call in calls if call.name.rpartition(".")[2] == "Embedding"]
    return found[0] if len(found) == 1 else None


def _remedy(site: CallSite | None, own: Shape, given: Shape) -> Fix:
    wrong = [(name, at) for name, at in _SIZES if len(own) == len(given) == 2 and own[at] != given[at]]
    if site is None or not wrong:
        return fix("change the layer to the sizes of the weights, or create weights of the layer's shape")
    sizes = " and ".join(f"`{name}={given[at]}`" for name, at in wrong)
    code = site.module.code(site.node)
    edits = [set_argument(code, name, str(given[at]), position=at) for name, at in wrong]
    return unsafe(f"change the layer to the sizes of the weights: {sizes}", *edits)
