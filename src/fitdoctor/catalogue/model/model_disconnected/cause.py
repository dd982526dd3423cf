"""Model outputs not connected to its inputs.

## What happens

`keras.Model(inputs, outputs)` raises `ValueError: Output with path … is not connected to inputs` (Keras 2:
"Graph disconnected: cannot obtain value for tensor …"). A `Sequential` model with an `Input` among its layers raises
"You cannot add a different Input layer to it", or "Layer InputLayer has no positional arguments" when it is built.

## Why

The outputs are computed from another `Input`: one created by mistake, one whose name was reassigned to another `Input`,
one missing from `inputs`, or the input of the decoder where the encoder's output should go. In a `Sequential` model only
the first layer can be an `Input`.

## Fix

Pass `Model` every `Input` that its outputs depend on, or compute the outputs from the inputs it gets. To join two models,
call the second on the output of the first.

## Known limits

The other `Input` is named only if the file creates the layers directly. Otherwise the finding points at the `Model` call.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, replace_code
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.failed_line import calls_at
from fitdoctor.records import replace
from fitdoctor.source.assignments import last_assignment
from fitdoctor.source.fits.fit_sites import ModelSite
from fitdoctor.source.line_edits import delete_lines
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT315", slug="model-disconnected", severity=Severity.ERROR, raises="ValueError")

_SAID = re.compile(
    r"is not connected to `inputs`|Graph disconnected|Could not compute output (?:KerasT|T)ensor"
)
_MODEL = ("keras.Model", "keras.models.Model", "keras.Functional")
_INPUT = ("keras.Input", "keras.layers.Input")
_FIRST = "remove this `Input`, or make it the only one and the first layer, with the shape of one sample"


@CAUSE.in_source
@mentions("Model")
def from_source(site: ModelSite, project: Project) -> Iterator[Finding]:
    """Report outputs in the source that depend on an `Input` missing from the model's inputs."""
    place = site.call
    if site.failure is None or place is None or not _SAID.search(site.failure.message):
        return
    module = project.module_at(place.path)
    for call in module.calls if module is not None else ():
        if module is not None and module.location(call.node) == place:
            yield replace(_at_model(module, call, []), confidence=Confidence.LIKELY)


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Explain the Keras error about disconnected outputs."""
    if _is_lost_tensor(failure):
        yield _lost(failure, project)
        return
    if not _SAID.search(failure.message):
        return
    evidence = [Evidence("error", failure.first_line)]
    for site in calls_at(failure, project):
        if site.argument("outputs", 1) is not None and _makes_model(site.module, site):
            yield _at_model(site.module, site, evidence)
            return
    yield _plain(failure, evidence)


def _is_lost_tensor(failure: FailureFacts) -> bool:
    """Whether Keras 3.3 created such a model and missed a tensor in the first step."""
    last = failure.frames[-1].function if failure.frames else ""
    return failure.type == "KeyError" and last == "_run_through_graph"


def _lost(failure: FailureFacts, project: Project) -> Finding:
    evidence = [Evidence("Keras cannot find a tensor that the outputs need")]
    for module in project.modules:
        for site in module.calls:
            outputs = site.argument("outputs", 1)
            if outputs is None or not _makes_model(module, site):
                continue
            inputs = site.argument("inputs", 0)
            given = set(_sources(module, inputs)) if inputs is not None else set()
            if any(node not in given for node in _sources(module, outputs)):
                return _at_model(module, site, evidence)
    return _plain(failure, evidence)


def _makes_model(module: Module, site: CallSite) -> bool:
    if site.name in _MODEL:
        return True
    made = module.definition(site.node.func)
    return getattr(made, "kind", "") == "Model"


def _plain(failure: FailureFacts, evidence: list[Evidence]) -> Finding:
    return CAUSE.certain(
        "the outputs of the model are not connected to its inputs",
        failure.location,
        *evidence,
        fix("compute the outputs from the inputs passed to the model"),
        subject="model",
    )


def _at_model(module: Module, site: CallSite, evidence: list[Evidence]) -> Finding:
    inputs, outputs = site.argument("inputs", 0), site.argument("outputs", 1)
    assert outputs is not None
    given = set(_sources(module, inputs)) if inputs is not None else set()
    missing = [node for node in _sources(module, outputs) if node not in given]
    location, message, fixes = (
        site.node,
        "the outputs of the model are not connected to its inputs",
        [_join()],
    )
    blamed: ast.AST = location
    if len(missing) == 1:
        other, node = missing[0], missing[0]
        again = _made_again(module, inputs, other)
        if again is not None:
            blamed = again
            message = f"`{_target(module, other)}` is reassigned: the outputs depend on the previous `Input`"
            fixes = [fix("keep the first `Input`", _taken_out(module, again))]
        elif _target(module, other) == "" and _is_input(module, node):
            blamed = other
            message = "the outputs depend on an `Input` that is not among the model's inputs"
            fixes = _instead(module, other, inputs, outputs)
        elif _target(module, other):
            message = (
                f"the outputs depend on `{_target(module, other)}`, which is not among the model's inputs"
            )
            title = f"add `{_target(module, other)}` to the inputs of `Model`, or compute the outputs from its inputs"
            fixes = [fix(title, _both(module, inputs, outputs, other))]
    elif not missing and inputs is not None:
        fixes = _input_of_base(module, inputs, outputs) or fixes
    others = [
        Evidence("the outputs depend on", f"`{module.segment(node)[:70]}`", location=module.location(node))
        for node in missing[:3]
    ]
    return CAUSE.certain(
        message,
        module.location(blamed),
        *others,
        *evidence,
        *fixes,
        subject="model",
    )


def _both(module: Module, inputs: ast.expr | None, outputs: ast.expr, other: ast.AST) -> tuple[Edit, ...]:
    """Add one more input to those the outputs use, in order of creation."""
    made = [
        node for node in (_sources(module, inputs) if inputs is not None else []) if _target(module, node)
    ]
    if inputs is None or not isinstance(inputs, (ast.Name, ast.List)) or not made:
        return ()
    if not set(_sources(module, inputs)) <= set(_sources(module, outputs)):
        return ()
    names = [_target(module, node) for node in sorted([*made, other], key=lambda node: node.lineno)]  # type: ignore[attr-defined]
    return replace_code(module.code(inputs), f"[{', '.join(names)}]")


def _input_of_base(module: Module, inputs: ast.expr, outputs: ast.expr) -> list[Fix]:
    """Replace the inputs by `base.input` if the outputs depend on `base.output`."""
    bases = {
        module.segment(node.value)
        for node in _behind(module, outputs)
        if isinstance(node, ast.Attribute) and node.attr == "output" and isinstance(node.value, ast.Name)
    }
    if len(bases) != 1:
        return []
    name = f"{bases.pop()}.input"
    return [
        fix(f"pass the input that the outputs depend on: `{name}`", replace_code(module.code(inputs), name))
    ]


def _join() -> Fix:
    return fix("compute the outputs from the inputs: call the second model on the output of the first")


def _is_input(module: Module, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and module.resolve(node.func) in _INPUT


def _sources(module: Module, value: ast.expr) -> list[ast.AST]:
    """Return the `Input` calls that a value depends on, as far as the file shows."""
    return [node for node in _behind(module, value) if _is_input(module, node)]


def _behind(module: Module, value: ast.expr) -> Iterator[ast.expr]:
    """Yield the expressions that a value depends on, nearest first, up to the `Input` calls."""
    seen: set[ast.AST] = set()
    waiting: list[ast.expr] = [value]
    while waiting and len(seen) < 500:
        current = waiting.pop(0)
        if current in seen:
            continue
        seen.add(current)
        yield current
        if _is_input(module, current):
            continue
        if isinstance(current, ast.Name):
            assigned = last_assignment(module, current)
            if assigned is not None and assigned[0].value is not None:
                waiting.append(assigned[0].value)
        elif isinstance(current, ast.Call):
            waiting += [*current.args, *(keyword.value for keyword in current.keywords)]
            if isinstance(current.func, ast.Attribute) and not module.resolve(current.func):
                waiting.append(current.func.value)
        elif isinstance(current, ast.expr):
            waiting += [child for child in ast.iter_child_nodes(current) if isinstance(child, ast.expr)]


def _target(module: Module, node: ast.AST) -> str:
    """Return the name that an `Input` is assigned to; "" if it is used inline."""
    parent = module.parent(node)
    if (
        isinstance(parent, ast.Assign)
        and len(parent.targets) == 1
        and isinstance(parent.targets[0], ast.Name)
    ):
        return parent.targets[0].id
    return ""


def _made_again(module: Module, inputs: ast.expr | None, other: ast.AST) -> ast.AST | None:
    """Return the later `Input` that reuses the name of the one the outputs depend on."""
    name = _target(module, other)
    if not name or inputs is None:
        return None
    for node in _sources(module, inputs):
        if node is not other and _target(module, node) == name:
            return node
    return None


def _taken_out(module: Module, again: ast.AST) -> tuple[Edit, ...]:
    return (delete_lines(module, module.statement(again)),)


def _instead(module: Module, other: ast.AST, inputs: ast.expr | None, outputs: ast.expr) -> list[Fix]:
    """Use the one input that the outputs do not use yet instead of the new one."""
    used = set(_sources(module, outputs))
    free = [node for node in (_sources(module, inputs) if inputs is not None else []) if node not in used]
    name = _target(module, free[0]) if len(free) == 1 else ""
    if not name:
        return [_join()]
    return [fix(f"use the input `{name}`", replace_code(module.code(other), name))]


CAUSE.message(
    r"Output tensors to a (?:Model|Functional) must be the output of a (?:TensorFlow|Keras) `?Layer`?",
    "an output of the model was computed outside its layers, so Keras cannot trace it to the inputs",
    "compute it in a layer: a Keras layer, a `Lambda` or a custom layer",
    subject="outputs",
    types=("ValueError",),
)


@CAUSE.rule(
    "Sequential",
    says=r"cannot add a different Input layer|Layer InputLayer has no positional arguments",
    problem="a `Sequential` model has an `Input` that is not its first layer",
    remedy=_FIRST,
    subject="Input",
    anywhere=True,
)
def input_among_layers(module: Module) -> Iterator[Finding]:
    """Find an `Input` after other layers in the list of a `Sequential` model; Keras 2 passes it over."""
    for site in module.calls_to("keras.Sequential") if module.keras != 2 else ():
        layers = site.argument("layers", 0)
        for each in layers.elts[1:] if isinstance(layers, ast.List | ast.Tuple) else ():
            if isinstance(each, ast.Call) and module.resolve(each.func) in (
                *_INPUT,
                "keras.layers.InputLayer",
            ):
                yield CAUSE.finding(
                    "an `Input` is among the layers of a `Sequential` model, not the first of them",
                    module.location(each),
                    fix(_FIRST),
                    subject="Input",
                )
