"""Custom optimizers written for Keras 2, and loss scaling under its old names."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.environment.keras_3_fixes import attribute_name
from fitdoctor.catalogue.graph.traced import raised_here
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.keras_objects import is_keras_optimizer
from fitdoctor.source.module import ClassInfo, Module
from fitdoctor.source.project import Project

_OLDER_METHODS = (
    "_resource_apply_dense",
    "_resource_apply_sparse",
    "_create_slots",
    "_prepare_local",
    "get_updates",
)
"""Methods that Keras called before 2.11, and Keras 3 never calls."""
_REFUSED = pattern(
    r"Argument `learning_rate` should be float, or an instance"
    r"|__init__\(\) missing 1 required positional argument: 'learning_rate'"
    r"|has no attribute '_(?:set|get)_hyper'"
    r"|object has no attribute '_create_(?:hypers|slots)'"
)


def older_classes(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report a class that updates variables in a method that Keras 3 never calls."""
    for owner in module.classes:
        if _is_older(owner):
            yield _finding(cause, owner, Confidence.LIKELY, [])


def failed_class(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report a class whose constructor Keras rejected, or that has no update method."""
    if isinstance(project, Unknown):
        return
    nothing = failure.type == "NotImplementedError" and any(
        frame.library and frame.function == "update_step" for frame in failure.frames
    )
    if not nothing and not _REFUSED.search(failure.message):
        return
    for module in project.modules:
        for owner in module.classes:
            if _is_older(owner):
                yield _finding(cause, owner, Confidence.CERTAIN, [raised_here(failure)])
                return


def _is_older(owner: ClassInfo) -> bool:
    return (
        owner.kind == "Optimizer"
        and any(name in owner.methods for name in _OLDER_METHODS)
        and owner.module.method(owner, "update_step") is None
    )


def _finding(cause: Cause, owner: ClassInfo, confidence: Confidence, evidence: list[Evidence]) -> Finding:
    older = next(name for name in _OLDER_METHODS if name in owner.methods)
    return cause.finding(
        f"`{owner.name}` is written for Keras before 2.11: Keras 3 does not call its `{older}`",
        subject=f"optimizer {owner.name}",
        location=_first_line(owner, older),
        evidence=[
            Evidence("method that updates a variable", observed=older, expected="update_step"),
            *evidence,
        ],
        fixes=[
            fix(
                "call `super().__init__(learning_rate=learning_rate, name=name)` first, and implement "
                "`update_step(self, gradient, variable, learning_rate)`"
            )
        ],
        confidence=confidence,
    )


def _first_line(owner: ClassInfo, older: str) -> Location:
    """Return the first line to change: the base class call without a learning rate, otherwise the method."""
    begin = owner.methods.get("__init__")
    for node in ast.walk(begin.node) if begin is not None else ():
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "__init__"
            and not any(keyword.arg == "learning_rate" for keyword in node.keywords)
            and not (node.args and "learning_rate" in owner.module.segment(node.args[0]))
        ):
            return owner.module.location(node)
    return owner.module.code(owner.methods[older].node).location


def scaling_fix(module: Module, node: ast.Attribute) -> tuple[Fix, str]:
    """Use `scale_loss`; in Keras 3, `apply_gradients` removes the scale again."""
    edits: list[Edit] = []
    for each in module.nodes(ast.Attribute):
        if each is not node and not is_keras_optimizer(module, each.value):
            continue
        call = module.parent(each)
        if each.attr == "get_scaled_loss":
            edits.append(Edit(attribute_name(module, each), "scale_loss"))
        elif each.attr == "get_unscaled_gradients" and isinstance(call, ast.Call) and len(call.args) == 1:
            edits.append(Edit(module.location(call), module.segment(call.args[0])))
    title = "call `scale_loss`, and pass the gradients to `apply_gradients` unchanged: it removes the scale"
    return fix(title, tuple(edits)), "scale_loss" if node.attr == "get_scaled_loss" else ""
