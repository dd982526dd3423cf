"""Tensors kept from every training step.

## What happens

Memory grows with every step until it runs out, hours into the training.

## Why

A list that a prediction, a batch or gradients are appended to at every step keeps all of them alive. A number takes
24 bytes; a batch of predictions takes as much as it does on the device.

## Fix

Keep numbers: `float(loss)`. A curve needs one mean per epoch, which a Keras metric computes without keeping
anything.

## Known limits

A list that is cleared in the loop, or kept for one epoch of an evaluation, is not reported. While the program runs,
any list with at least 16 MiB of tensors after training is also detected, whatever the tensors are, if the source
contains a line that appends to it at every step.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.models.model_classes import STEPS
from fitdoctor.catalogue.knowledge.tracing.gradient_ways import is_model_call, tapes
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import TrainingFacts
from fitdoctor.records import replace
from fitdoctor.source.module import CallSite, FunctionInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT804", slug="tensors-kept-each-step", severity=Severity.WARNING, keeps_training=True)

EACH_STEP = ("on_train_batch_end", "on_train_batch_begin", "on_batch_end", "on_batch_begin")


@CAUSE.in_source
@mentions("append")
def from_source(module: Module) -> Iterator[Finding]:
    """Report `kept.append(tensor)` in a training loop, a per-batch callback or an eager `train_step`."""
    for site in module.method_calls("append"):
        if len(site.node.args) != 1 or not _every_step(module, site) or _is_cleared(module, site):
            continue
        kind = _kept(module, site.node.args[0])
        if kind:
            yield _finding(module, site, kind)
        elif _is_loss(module, site.node.args[0]):
            yield _small(module, site)


@CAUSE.while_training
def while_running(training: TrainingFacts, project: Project) -> Iterator[Finding]:
    """Report a list with many tensors that a line of the source appends to at every step."""
    for kept in training.kept:
        for module, site in _fills(project, kept.attribute):
            size = f"{kept.bytes / 2**20:.0f} MiB"
            found = _finding(module, site, _kept(module, site.node.args[0]) or "the tensors")
            held = Evidence(f"`{kept.path}` contains {kept.count:,} tensors", size, fact="training.kept")
            yield replace(found, evidence=(*found.evidence, held), confidence=Confidence.CERTAIN)
            break


def _fills(project: Project, name: str) -> Iterator[tuple[Module, CallSite]]:
    """Yield the calls that append to a list of that name at every step."""
    for module in project.modules:
        for site in module.method_calls("append"):
            assert isinstance(site.node.func, ast.Attribute)
            target = site.node.func.value
            called = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
            if called == name and len(site.node.args) == 1 and _every_step(module, site):
                if not _is_cleared(module, site):
                    yield module, site


def _every_step(module: Module, site: CallSite) -> bool:
    """Whether the line runs eagerly at every training step."""
    function = site.function
    if function is not None and function.owner is not None:
        if function.owner.kind == "Callback":
            return function.name in EACH_STEP
        if function.traced is not None and function.traced.how == "train_step":
            return function.traced.eager
    if function is not None and function.traced is not None and not function.traced.eager:
        return False
    loop = _loop(module, site.node)
    while isinstance(loop, ast.For) and isinstance(loop.iter, (ast.List, ast.Tuple)):
        loop = _loop(module, loop)  # a loop over a literal is not a loop over batches
    return loop is not None and any(_inside(tape.block, loop) for tape in tapes(module))


def _loop(module: Module, node: ast.AST) -> ast.For | ast.While | None:
    parent = module.parent(node)
    while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(parent, (ast.For, ast.While)):
            return parent
        parent = module.parent(parent)
    return None


def _inside(node: ast.AST, loop: ast.AST) -> bool:
    return any(node is other for other in ast.walk(loop))


def _is_cleared(module: Module, site: CallSite) -> bool:
    """Whether the list is recreated in the outermost loop, or emptied."""
    assert isinstance(site.node.func, ast.Attribute)
    name = module.segment(site.node.func.value)
    function = site.function
    if function is not None and name in module.scope(site.node).bindings and _runs_often(function):
        return True  # every call creates its own list, for example for the gradients of micro-batches
    loop = _loop(module, site.node)
    for other in module.method_calls("clear", "pop"):
        assert isinstance(other.node.func, ast.Attribute)
        if module.segment(other.node.func.value) == name:
            return True
    while loop is not None:
        for node in ast.walk(loop):
            if isinstance(node, ast.Assign) and any(
                module.segment(target) == name for target in node.targets
            ):
                return True
        loop = _loop(module, loop)
    return False


def _runs_often(function: FunctionInfo) -> bool:
    """Whether a function is a training step or is called in a loop."""
    project = function.module.project
    calls = (project.calls_of if project is not None else function.module.calls_of).get(function.node, [])
    return function.name in STEPS or any(_loop(source, call) is not None for source, call in calls)


def _kept(module: Module, value: ast.expr) -> str:
    """Return "the predictions" or "the gradients" if such tensors are kept, else ""."""
    parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]
    for part in parts:
        made = module.made_by(part)
        if is_model_call(module, made):
            return "the predictions"
        if (
            isinstance(made, ast.Call)
            and isinstance(made.func, ast.Attribute)
            and made.func.attr == "gradient"
        ):
            return "the gradients"
    return ""


def _is_loss(module: Module, value: ast.expr) -> bool:
    """Whether the value is the loss that a tape differentiates."""
    return isinstance(value, ast.Name) and any(
        getattr(loss, "id", "") == value.id
        for tape in tapes(module)
        if module.function_of(tape.block) is module.function_of(value)
        for call in tape.gradients
        for loss in call.args[:1]
    )


def _small(module: Module, site: CallSite) -> Finding:
    """Build the info finding for a loss kept as a tensor: it needs little memory."""
    value = site.node.args[0]
    edits = (Edit(module.location(value), f"float({module.segment(value)})"),)
    return CAUSE.finding(
        "the list keeps the loss of every step as a tensor",
        module.location(site.node),
        Evidence("kept at every step", module.segment(value)),
        fix("keep a float instead of the tensor", edits),
        subject=f"list {module.segment(site.node.func).removesuffix('.append')}",
        severity=Severity.INFO,
    )


def _finding(module: Module, site: CallSite, kind: str) -> Finding:
    return CAUSE.finding(
        f"the list keeps {kind} of every step, so memory grows until it runs out",
        module.location(site.node),
        Evidence("kept at every step", module.segment(site.node.args[0])),
        _as_numbers(module, site),
        subject=f"list {module.segment(site.node.func).removesuffix('.append')}",
    )


def _as_numbers(module: Module, site: CallSite) -> Fix:
    """Replace a single tensor by its mean as a float."""
    value = site.node.args[0]
    if isinstance(value, (ast.Tuple, ast.List)):
        return fix("keep floats, such as `float(loss)`, instead of tensors")
    text = module.segment(value)
    tf = dict(module.spellings).get("tensorflow")
    keras = dict(module.spellings).get("keras")
    mean = f"{tf}.reduce_mean" if tf else f"{keras}.ops.mean"
    return unsafe(
        "keep the mean as a float instead of the tensor",
        (Edit(module.location(value), f"float({mean}({text}))"),),
    )
