"""Models whose gradients a tape computes although they are not called inside its block."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.knowledge.tracing.gradient_ways import OF_TRAINING, Tape, tapes, with_functions
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.failed_line import module_of
from fitdoctor.records import dataclass
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project


@dataclass(frozen=True)
class Uncalled:
    """A tape that computes the gradients of a model that its block does not call."""

    tape: Tape
    model: str
    weights: ast.Attribute
    """The `model.trainable_weights` expression."""
    before: ast.expr | None
    """The model call right before the block whose result the block uses; None if that is not the mistake."""

    @property
    def module(self) -> Module:
        """The file of the tape."""
        return self.tape.module


def uncalled_at(failure: FailureFacts, project: Project) -> Uncalled | None:
    """Return the tape whose gradients the failing line applies, if it did not record the model."""
    asked = asked_at(failure, project)
    return _uncalled(*asked) if asked is not None else None


def asked_at(failure: FailureFacts, project: Project) -> tuple[Tape, ast.Call] | None:
    """Return the `gradient` call whose result the failing line applies, and its tape."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if module is None or frame is None:
        return None
    asked = [
        (tape, call)
        for tape in tapes(module)
        for call in tape.gradients
        if _is_before(module, call, frame.line, frame.cell)
    ]
    return max(asked, key=lambda each: each[1].lineno, default=None)


def _is_before(module: Module, call: ast.Call, line: int, cell: int | None) -> bool:
    """Return whether a call is in the function of a line and not after it."""
    function, place = module.function_of(call), module.location(call)
    if place.cell != cell or place.line > line:
        return False
    whole = module.location(function.node) if function is not None else None
    return whole is None or line <= whole.end_line


def _uncalled(tape: Tape, call: ast.Call) -> Uncalled | None:
    module = tape.module
    weights = module.made_by(call.args[1]) if len(call.args) > 1 else None
    if not isinstance(weights, ast.Attribute) or weights.attr not in OF_TRAINING:
        return None
    model = module.segment(weights.value)
    body = with_functions(module, tape.block.body)
    if model == "self" or _names(module, body, model) or _names(module, body, "self", whole=True):
        return None
    before = None if _is_asked_elsewhere(module, call, model) else called_before(tape, model)
    return Uncalled(tape, model, weights, before)


def _names(module: Module, body: list[ast.stmt], name: str, whole: bool = False) -> bool:
    """Return whether statements mention a model; with `whole`, call it or pass it on."""
    return any(
        isinstance(node, (ast.Name, ast.Attribute))
        and module.segment(node) == name
        and not (whole and isinstance(module.parent(node), ast.Attribute))
        for inner in body
        for node in ast.walk(inner)
    )


def _is_asked_elsewhere(module: Module, call: ast.Call, model: str) -> bool:
    """Return whether another tape in the function computes the same gradients, so this tape has the wrong sources."""
    for site in module.method_calls("gradient"):
        if site.node is not call and site.function is module.function_of(call) and len(site.node.args) > 1:
            weights = module.made_by(site.node.args[1])
            if isinstance(weights, ast.Attribute) and module.segment(weights.value) == model:
                return True
    return False


def called_before(tape: Tape, model: str) -> ast.expr | None:
    """Return the model call before the block whose result the block reads."""
    read = {node.id for node in tape.read}
    for statement in reversed(tape.before()):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as made) if name in read:
                if tape.module.segment(made.func) == model and not _is_frozen(made):
                    return made
    return None


def _is_frozen(call: ast.Call) -> bool:
    """Return whether a model is called with `training=False`, so it is not the one to train."""
    return any(
        keyword.arg == "training" and isinstance(keyword.value, ast.Constant) and not keyword.value.value
        for keyword in call.keywords
    )
