"""Models that are called under a tape but whose output the loss does not use."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.variables.gradient_ways import asked_about, gradient_calls, tapes, with_functions
from fitdoctor.diagnosis import Confidence, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.records import dataclass
from fitdoctor.source.module import Module


@dataclass(frozen=True)
class Unused:
    """A model output that nothing reads, and the loss that is differentiated."""

    module: Module
    model: str
    output: ast.Name
    loss: ast.stmt
    asked: ast.Call


def unused_outputs(module: Module) -> Iterator[Unused]:
    """Return tapes whose model is called once and whose output is never read."""
    for tape, block in tapes(module):
        for asked in gradient_calls(module, tape, block):
            model, loss = asked_about(module, asked), asked.args[0] if asked.args else None
            made = _made(module, block, loss.id) if isinstance(loss, ast.Name) else None
            output = _only_output(module, block, model) if model and model != "self" else None
            if made is not None and output is not None and not _is_read(module, output):
                yield Unused(module, model, output, made, asked)


def _made(module: Module, block: ast.With, name: str) -> ast.stmt | None:
    """Return the only statement in a block that computes the loss."""
    found = [
        statement
        for statement in block.body
        if isinstance(statement, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in statement.targets)
    ]
    return found[0] if len(found) == 1 else None


def _only_output(module: Module, block: ast.With, model: str) -> ast.Name | None:
    """Return the name of the model output, if the block does nothing else with the model."""
    named = [
        node
        for inner in with_functions(module, block.body)
        for node in ast.walk(inner)
        if isinstance(node, (ast.Name, ast.Attribute)) and module.segment(node) == model
    ]
    call = module.parent(named[0]) if len(named) == 1 else None
    statement = module.parent(call) if isinstance(call, ast.Call) and call.func is named[0] else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or statement not in block.body:
        return None
    target = statement.targets[0]
    return target if isinstance(target, ast.Name) else None


def _is_read(module: Module, output: ast.Name) -> bool:
    scope = module.index.lookup(output.id, module.scope(output))
    return any(
        module.index.lookup(read.id, module.scope(read)) is scope for read in module.reads.get(output.id, [])
    )


def unused_finding(cause: Cause, found: Unused, confidence: Confidence, evidence: list[Evidence]) -> Finding:
    """Return the finding for a loss that does not depend on the model it should train."""
    module = found.module
    return cause.finding(
        f"the loss does not use `{found.output.id}`, the output of `{found.model}`, so no gradient reaches its weights",
        subject="loss",
        location=module.location(found.loss),
        evidence=[
            Evidence("this output is never read", location=module.location(found.output)),
            Evidence(
                f"the gradients of `{found.model}` are computed here", location=module.location(found.asked)
            ),
            *evidence,
        ],
        fixes=[fix(f"compute the loss from `{found.output.id}`")],
        confidence=confidence,
    )
