"""A TF_CONFIG that does not describe a cluster, or a cluster whose workers are not there.

## What happens

When the strategy is made: `JSONDecodeError`, `ValueError: The task_id 1 exceeds the maximum id of worker`, `ValueError:
When cluster_spec is given, you must also specify task_type and task_id`, `UnknownError: Could not start gRPC server`
for a port that is taken. Or nothing: the program waits for a worker that never comes, without a message, for an hour,
and neither Ctrl-C nor `kill` (SIGTERM) ends it, only `kill -9`.

## Why

`TF_CONFIG` is JSON in an environment variable: a `cluster` with the addresses of all workers and a `task` with this
worker's type and index. A Python dict turned to text has single quotes, which JSON does not know; an index counts from
0; every worker needs an address of its own, where nothing else listens. The strategy opens this worker's port and then
waits for all the others. A `task` without a `cluster` is no error: the worker then trains alone.

## Fix

Write it with `json.dumps`, give each worker its own index from 0, and the same list of addresses; start all of them.

## Known limits

`run`, `watch` and `install` read it when a `MultiWorkerMirroredStrategy` is made and stop the program where it is
certain to fail: its text, its own port. Other workers may be started later, so that they do not answer stops nothing;
after 30 seconds they are named, and `run` can be ended then as any program. A host that has no name yet is a warning.
The coordinator of a `ParameterServerStrategy` is told its cluster by a resolver: nothing is tried before it connects
(its `fit` works in Keras 2 and fails in Keras 3, see FIT902).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.devices.cluster_places import assignments, place_of
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, spell
from fitdoctor.facts import ClusterFacts, EnvironmentFacts, FailureFacts, Unknown
from fitdoctor.facts.cluster import Problem, config_problems
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT606",
    slug="cluster-config-invalid",
    severity=Severity.ERROR,
    raises=("JSONDecodeError", "ValueError", "KeyError", "TypeError", "UnknownError", "InvalidArgumentError"),
)


REFUSALS = (
    ("exceeds the maximum id of", "the task is not in the cluster", "task"),
    ("not found in cluster_spec", "the task is not in the cluster", "task"),
    (
        "you must also specify `task_type` and `task_id`",
        "TF_CONFIG has no `task` with `type` and `index`",
        "task",
    ),
    ("Invalid device filter: /job:", "the index of the task in TF_CONFIG is not one of the cluster", "task"),
    ("Could not start gRPC server", "this worker's port in TF_CONFIG is taken by another process", "cluster"),
    (
        "Could not parse port for local server from",
        "this worker's address in TF_CONFIG is no `host:port`",
        "cluster",
    ),
    (
        "must be a list or a dictionary from integers to strings",
        "the cluster of TF_CONFIG has no list of addresses",
        "cluster",
    ),
)
"""What TensorFlow says when it cannot use a cluster, what that means, and which part it is about."""


_REMEDIES = {
    "task": "tell each worker who it is: `task` with a `type` of the cluster, and its own `index`, counted from 0",
    "cluster": "give every worker an address of its own, `host:port`, where nothing else listens",
}


@CAUSE.before_fit
def from_cluster(cluster: ClusterFacts, project: Project | Unknown) -> Iterator[Finding]:
    """The configuration as the strategy is about to read it."""
    made = [Evidence(claim="the strategy is made here", location=cluster.made)] if cluster.made else []
    for problem in config_problems(cluster.config):
        severity = Severity.ERROR if problem.fails else Severity.WARNING
        found = _finding(problem, project, Confidence.CERTAIN, made, cluster.made)
        yield replace(found, severity=severity)
    for wrong, remedy, severity, confidence in _troubles(cluster):
        found = _finding(
            Problem(wrong, remedy=remedy, part="cluster"), project, confidence, made, cluster.made
        )
        yield replace(found, severity=severity)


def _troubles(cluster: ClusterFacts) -> Iterator[tuple[str, str, Severity, Confidence]]:
    """What is wrong with the addresses, what to do, whether it surely ends the program, and how sure that is."""
    if cluster.taken:
        yield (
            f"another process listens at this worker's own address {cluster.taken} already",
            "end the other process, or give this worker another port in every TF_CONFIG",
            Severity.ERROR,
            Confidence.CERTAIN,
        )
    for address in cluster.unresolved:
        yield (
            f"the host of {address} in TF_CONFIG is not known here: the strategy waits for it",
            "write the worker's name as this machine knows it, or its IP address",
            Severity.WARNING,
            Confidence.LIKELY,
        )
    if cluster.disagreeing:
        yield (
            f"{', '.join(cluster.disagreeing)} is under way with another `cluster` in its TF_CONFIG",
            "give every worker the same `cluster`: only `task` differs",
            Severity.ERROR,
            Confidence.LIKELY,
        )
    if cluster.silent:
        yield (
            f"{', '.join(cluster.silent)} did not answer for {cluster.waited} seconds: the strategy waits for all",
            "start every worker with the same `cluster` in its TF_CONFIG, and open their ports to each other",
            Severity.WARNING,
            Confidence.LIKELY,
        )


def _finding(
    problem: Problem,
    project: Project | Unknown,
    confidence: Confidence,
    evidence: list[Evidence],
    made: Location | None = None,
) -> Finding:
    place = made
    remedies = [fix(problem.remedy or "set TF_CONFIG to JSON with `cluster` and `task`, by `json.dumps`")]
    for module in project.modules if isinstance(project, Project) else ():
        for node in assignments(module):
            place = place_of(module, node, problem.part)
            remedies = remedies if problem.remedy else [_dumped(module, node)]
            break
    return CAUSE.finding(
        problem.text,
        subject="TF_CONFIG",
        location=place,
        evidence=evidence,
        fixes=remedies,
        confidence=confidence,
    )


def _dumped(module: Module, node: ast.Assign) -> Fix:
    """`json.dumps(x)` for `str(x)`."""
    title = "write TF_CONFIG with `json.dumps`"
    value = node.value
    if isinstance(value, ast.Call) and module.resolve(value.func) in ("str", "repr") and value.args:
        name, imports = spell(module.code(value), "json", "json")
        return fix(title, (Edit(module.location(value.func), f"{name}.dumps"),), imports)
    return fix(title)


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, project: Project | Unknown, environment: EnvironmentFacts | Unknown
) -> Iterator[Finding]:
    """The strategy could not read the cluster, or the task is not in it."""
    message = failure.message
    in_resolver = any(
        "cluster_resolver" in frame.path or "distribute" in frame.path for frame in failure.frames
    )
    said = message.strip().splitlines()[0] if message.strip() else ""
    problem = next(
        (
            Problem(text, remedy=_REMEDIES[part], part=part)
            for words, text, part in REFUSALS
            if words in message
        ),
        None,
    )
    if failure.type == "JSONDecodeError" and in_resolver:
        problem = Problem("TF_CONFIG is not JSON")
    frame = failure.last_user_frame
    if problem is None and frame is not None and "TF_CONFIG" in frame.text:
        # The program reads it itself.
        config = environment.cluster_config if isinstance(environment, EnvironmentFacts) else ""
        problem = next(iter(config_problems(config)), None)
    if problem is None:
        return
    evidence = [
        Evidence(
            claim="TF_CONFIG could not be used",
            observed=said,
            fact="failure.message",
            location=frame.location if frame else None,
        )
    ]
    yield _finding(problem, project, Confidence.CERTAIN, evidence, frame.location if frame else None)
