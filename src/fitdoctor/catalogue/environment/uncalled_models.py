"""`.input` and `.output` of a Keras 3 Sequential model, which exist only after it is called on a symbolic tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.traced import at_frame, module_of
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_SAID = pattern(
    r"^The layer (?P<layer>\S+) has never been called and thus has no defined (?P<what>input|output)\."
)
_NOW = {"input": "inputs[0]", "output": "outputs[0]"}


def reads_uncalled(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report the first such read of each Sequential that the file creates and only reads attributes of."""
    told: set[str] = set()
    for node in _reads(module):
        assert isinstance(node.value, ast.Name)
        if node.value.id not in told and _is_uncalled(module, node.value):
            told.add(node.value.id)
            yield _finding(cause, module, node, Confidence.LIKELY)


def _reads(module: Module) -> Iterator[ast.Attribute]:
    for node in module.nodes(ast.Attribute):
        if node.attr in _NOW and isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name):
            yield node


def _is_uncalled(module: Module, name: ast.Name) -> bool:
    """Return whether the name is a Sequential of this file that is used only for its attributes."""
    made = module.made_by(name)
    if not isinstance(made, ast.Call) or module.resolve(made.func).rpartition(".")[2] != "Sequential":
        return False
    if not module.resolve(made.func).startswith("keras."):
        return False
    return all(isinstance(module.parent(read), ast.Attribute) for read in module.reads.get(name.id, ()))


def failed_uncalled(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Finding | None:
    """Report the layer and the attribute that Keras names."""
    said = _SAID.search(failure.message)
    if said is None:
        return None
    frame = failure.last_user_frame
    module = module_of(project, frame)
    for node in module.nodes(ast.Attribute) if module is not None else ():
        if frame is not None and node.attr == said["what"] and module is not None:
            if at_frame(module, node, frame) and "layers" not in module.segment(node.value):
                return _finding(cause, module, node, Confidence.CERTAIN)
    return cause.finding(
        f"`{said['layer']}` has no `{said['what']}` because it was never called on a symbolic tensor",
        subject=f"{said['what']} of {said['layer']}",
        location=frame.location if frame is not None else None,
        evidence=[Evidence(claim="error", observed=failure.message[:120], fact="failure.message")],
        fixes=[fix(f"use `{_NOW[said['what']]}`")],
        confidence=Confidence.CERTAIN,
    )


def _finding(cause: Cause, module: Module, node: ast.Attribute, confidence: Confidence) -> Finding:
    receiver = module.segment(node.value)
    edits = [
        Edit(module.location(each), f"{receiver}.{_NOW[each.attr]}")
        for each in module.nodes(ast.Attribute)
        if each.attr in _NOW and module.segment(each.value) == receiver and isinstance(each.ctx, ast.Load)
    ]
    return cause.finding(
        f"a Keras 3 `Sequential` has no `{node.attr}` until it is called on a symbolic tensor",
        subject=f"{node.attr} of {receiver}",
        location=module.location(node),
        evidence=[
            Evidence(
                claim="attribute",
                observed=f"{receiver}.{node.attr}",
                expected=f"{receiver}.{_NOW[node.attr]}",
            )
        ],
        fixes=[fix(f"use `{receiver}.{_NOW[node.attr]}`", edits)],
        confidence=confidence,
    )
