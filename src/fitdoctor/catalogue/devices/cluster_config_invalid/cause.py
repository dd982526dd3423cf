"""A TF_CONFIG that does not describe a cluster.

## What happens

`JSONDecodeError` when the strategy is made, `ValueError: The task_id 1 exceeds the maximum id of worker`, or, with an
address that does not answer, a program that waits for ever.

## Why

`TF_CONFIG` is JSON in an environment variable: a `cluster` with the addresses of all workers and a `task` with this
worker's type and index. A Python dict turned to text has single quotes, which JSON does not know; an index counts from
0; every worker needs an address of its own.

## Fix

Write it with `json.dumps`, give each worker its own index from 0, and the same list of addresses.

## Known limits

It is found when the strategy is made; whether the other workers answer is not tried.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, spell
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT606",
    slug="cluster-config-invalid",
    severity=Severity.ERROR,
    raises=("JSONDecodeError", "ValueError", "KeyError", "TypeError"),
)


def _finding(
    wrong: str, project: Project | Unknown, confidence: Confidence, evidence: list[Evidence]
) -> Finding:
    place, remedies = None, [fix("set TF_CONFIG to JSON with `cluster` and `task`, by `json.dumps`")]
    for module in project.modules if isinstance(project, Project) else ():
        for node in _assignments(module):
            place = _caller(module, node, wrong) or module.location(node)
            remedies = [_dumped(module, node)]
            break
    return CAUSE.finding(
        wrong,
        subject="TF_CONFIG",
        location=place,
        evidence=evidence,
        fixes=remedies,
        confidence=confidence,
    )


def _caller(module: Module, node: ast.Assign, wrong: str) -> Location | None:
    """For a task that is given to the function which writes the variable: the only call of that function."""
    function = module.function_of(node)
    if function is None or "task" not in wrong or not function.parameters:
        return None
    names = {inner.id for inner in ast.walk(node.value) if isinstance(inner, ast.Name)}
    calls = module.callers.get(function.node, [])
    if not names & set(function.parameters) or len(calls) != 1:
        return None
    return calls[0][0].location(calls[0][1])


def _assignments(module: Module) -> Iterator[ast.Assign]:
    """The statements that set `os.environ["TF_CONFIG"]`."""
    for node in module.nodes(ast.Assign):
        for target in node.targets:
            if (
                isinstance(target, ast.Subscript)
                and isinstance(target.slice, ast.Constant)
                and target.slice.value == "TF_CONFIG"
            ):
                yield node


def _dumped(module: Module, node: ast.Assign) -> Fix:
    """`json.dumps(x)` for `str(x)`."""
    title = "write TF_CONFIG with `json.dumps`"
    value = node.value
    if isinstance(value, ast.Call) and module.resolve(value.func) in ("str", "repr") and value.args:
        name, imports = spell(module.code(value), "json", "json")
        return fix(title, (Edit(module.location(value.func), f"{name}.dumps"),), imports)
    return fix(title)


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """The strategy could not read the cluster, or the task is not in it."""
    message = failure.message
    in_resolver = any(
        "cluster_resolver" in frame.path or "distribute" in frame.path for frame in failure.frames
    )
    if "exceeds the maximum id of" in message or "task_type" in message and "cluster" in message:
        wrong = f"the task is not in the cluster: {message.splitlines()[0]}"
    elif failure.type == "JSONDecodeError" and in_resolver:
        wrong = f"TF_CONFIG is not JSON: {message.splitlines()[0]}"
    else:
        return
    frame = failure.last_user_frame
    evidence = [
        Evidence(
            claim="the strategy could not use TF_CONFIG",
            fact="failure.message",
            location=frame.location if frame else None,
        )
    ]
    yield _finding(wrong, project, Confidence.CERTAIN, evidence)
