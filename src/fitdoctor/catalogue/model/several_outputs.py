"""All outputs of a layer (`return_state=True`) passed to a layer that expects one tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.traced import at_frame, module_of, raised_here
from fitdoctor.catalogue.model.layer_source import is_layer_call
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Location
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.called import called_in
from fitdoctor.failure.patterns import input_count
from fitdoctor.patterns import pattern
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_BY_KERAS = frozenset("fit evaluate predict train_on_batch test_on_batch predict_on_batch".split())
_STEPS = ("train_step", "test_step", "predict_step")
_WHOLE = pattern(r"(?:functional|model|sequential)(?:_\d+)?")
_SEVERAL = frozenset({"return_state", "return_attention_scores"})


def inside_model(failure: FailureFacts) -> bool:
    """Whether a line that builds the model passed several tensors to a layer that expects one."""
    said, frame = input_count(failure.message), failure.last_user_frame
    if said is None or said.expected != 1 or (said.received or 0) < 2 or frame is None:
        return False
    if any(each.function in _STEPS for each in failure.user_frames):
        return False  # the parts of a batch that the step did not unpack
    return called_in(frame) not in _BY_KERAS and not _WHOLE.fullmatch(said.layer)


def refused(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Read the number of tensors from the Keras error."""
    said, frame = input_count(failure.message), failure.last_user_frame
    if said is None or frame is None or not inside_model(failure):
        return
    module = module_of(project, frame)
    made = _maker(module, failure) if module is not None else None
    yield cause.finding(
        f"layer `{said.layer}` expects one tensor, but receives the {said.received} outputs of the previous layer",
        subject=f"input of {said.layer}",
        location=made or frame.location,
        evidence=[
            Evidence(
                claim="input tensors",
                observed=str(said.received),
                expected="1",
                fact="failure.message",
                location=frame.location,
            ),
            raised_here(failure),
        ],
        fixes=[fix("unpack the outputs and pass only one of them, or remove `return_state`")],
        confidence=Confidence.CERTAIN,
    )


def _maker(module: Module, failure: FailureFacts) -> Location | None:
    """Return where the list comes from: the argument's call, or the only layer with several outputs."""
    frame = failure.last_user_frame
    for site in module.calls:
        if frame is None or not at_frame(module, site.node, frame) or len(site.node.args) != 1:
            continue
        made = module.made_by(site.node.args[0])
        adds = isinstance(site.node.func, ast.Attribute) and site.node.func.attr == "add"
        if isinstance(made, ast.Call) and made is not site.node.args[0] and not adds:
            return module.location(made)
    telling = [
        site.node
        for site in module.calls
        if is_layer_call(module, site.node) and any(word.arg in _SEVERAL for word in site.node.keywords)
    ]
    return module.location(telling[0]) if len(telling) == 1 else None
