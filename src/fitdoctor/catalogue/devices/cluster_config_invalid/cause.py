"""Invalid TF_CONFIG, or a cluster whose workers do not answer.

## What happens

When the strategy is created: `JSONDecodeError`, `ValueError: The task_id 1 exceeds the maximum id of worker`,
`ValueError: When cluster_spec is given, you must also specify task_type and task_id`, or `UnknownError: Could not start
gRPC server` if the port is in use. Or nothing: the program waits silently for a worker that never
connects. Neither Ctrl-C nor `kill` (SIGTERM) ends it, only `kill -9`.

## Why

`TF_CONFIG` is JSON in an environment variable: a `cluster` with the addresses of all workers, and a `task` with this
worker's type and index. A Python dict converted with `str` has single quotes, which JSON does not allow. Indices start
at 0. Every worker needs its own address, on a port that no other process uses. The strategy opens this worker's port and
then waits for all the others. A `task` without a `cluster` is not an error: the worker then trains alone.

## Fix

Write it with `json.dumps`. Give every worker the same list of addresses and its own index, starting at 0. Start all of
them.

## Known limits

`run`, `watch` and `install` check `TF_CONFIG` when a `MultiWorkerMirroredStrategy` is created. They stop the program if
it is certain to fail, because of the text or this worker's own port. Other workers may start later, so silence from them
does not stop the program: after 30 seconds they are listed, and `run` can then be interrupted like any program. A host
name that does not resolve yet is a warning. The coordinator of a `ParameterServerStrategy` gets its cluster from a
resolver, and nothing is checked before it connects (its `fit` works in Keras 2 and fails in Keras 3, see FIT902).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, spell
from fitdoctor.facts import ClusterFacts, EnvironmentFacts, FailureFacts, Unknown
from fitdoctor.facts.cluster import Problem, config_problems
from fitdoctor.records import replace
from fitdoctor.source.index import names_in
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT606",
    slug="cluster-config-invalid",
    severity=Severity.ERROR,
    raises=("JSONDecodeError", "ValueError", "KeyError", "TypeError", "UnknownError", "InvalidArgumentError"),
)


REFUSALS = (
    ("exceeds the maximum id of", "the task in TF_CONFIG is not in its cluster", "task"),
    ("not found in cluster_spec", "the task in TF_CONFIG is not in its cluster", "task"),
    (
        "you must also specify `task_type` and `task_id`",
        "TF_CONFIG has no `task` with `type` and `index`",
        "task",
    ),
    ("Invalid device filter: /job:", "the task index in TF_CONFIG is not in its cluster", "task"),
    (
        "Could not start gRPC server",
        "this worker's port in TF_CONFIG is in use by another process",
        "cluster",
    ),
    (
        "Could not parse port for local server from",
        "this worker's address in TF_CONFIG is not a `host:port`",
        "cluster",
    ),
    (
        "must be a list or a dictionary from integers to strings",
        "the cluster in TF_CONFIG has no list of addresses",
        "cluster",
    ),
)
"""TensorFlow's wording, our message, and the part of TF_CONFIG concerned."""


_REMEDIES = {
    "task": "give each worker a `task` with a `type` from the cluster and its own `index`, starting at 0",
    "cluster": "give every worker its own `host:port` address, on a port that no other process uses",
}


@CAUSE.before_fit
def from_cluster(cluster: ClusterFacts, project: Project) -> Iterator[Finding]:
    """Check the configuration that the strategy is about to read."""
    made = [Evidence("the strategy is created here", location=cluster.made)] if cluster.made else []
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
    """Yield a message, a remedy, a severity and a confidence for every problem with the addresses."""
    if cluster.taken:
        yield (
            f"another process is already listening on this worker's own address {cluster.taken}",
            "stop the other process, or give this worker another port in every TF_CONFIG",
            Severity.ERROR,
            Confidence.CERTAIN,
        )
    for address in cluster.unresolved:
        yield (
            f"the host of {address} in TF_CONFIG does not resolve on this machine: the strategy waits for it",
            "use a host name that this machine can resolve, or an IP address",
            Severity.WARNING,
            Confidence.LIKELY,
        )
    if cluster.disagreeing:
        yield (
            f"{', '.join(cluster.disagreeing)} runs with a different `cluster` in its TF_CONFIG",
            "give every worker the same `cluster`: only `task` differs",
            Severity.ERROR,
            Confidence.LIKELY,
        )
    if cluster.silent:
        yield (
            f"{', '.join(cluster.silent)} did not answer for {cluster.waited} seconds: the strategy waits for every worker",
            "start every worker with the same `cluster` in its TF_CONFIG, and open their ports to each other",
            Severity.WARNING,
            Confidence.LIKELY,
        )


def _finding(
    problem: Problem,
    project: Project,
    confidence: Confidence,
    evidence: list[Evidence],
    made: Location | None = None,
) -> Finding:
    place = made
    remedies = [
        fix(problem.remedy or "set TF_CONFIG with `json.dumps` to an object with `cluster` and `task`")
    ]
    for module in project.modules:
        for node in assignments(module):
            place = place_of(module, node, problem.part)
            remedies = remedies if problem.remedy else [_dumped(module, node)]
            break
    return CAUSE.finding(
        problem.text, place, *evidence, *remedies, subject="TF_CONFIG", confidence=confidence
    )


def _dumped(module: Module, node: ast.Assign) -> Fix:
    """Replace `str(x)` by `json.dumps(x)`."""
    title = "write TF_CONFIG with `json.dumps`"
    value = node.value
    if isinstance(value, ast.Call) and module.resolve(value.func) in ("str", "repr") and value.args:
        name, imports = spell(module.code(value), "json", "json")
        return fix(title, (Edit(module.location(value.func), f"{name}.dumps"),), imports)
    return fix(title)


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, project: Project, environment: EnvironmentFacts | Unknown
) -> Iterator[Finding]:
    """Report a strategy that could not use TF_CONFIG."""
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
        # The user's own code parses TF_CONFIG.
        config = environment.cluster_config if isinstance(environment, EnvironmentFacts) else ""
        problem = next(iter(config_problems(config)), None)
    if problem is None:
        return
    evidence = [Evidence("TensorFlow could not use TF_CONFIG", said, location=failure.location)]
    yield _finding(problem, project, Confidence.CERTAIN, evidence, failure.location)


# --- where a program sets TF_CONFIG -----------------------------------------------------------------------------------

VARIABLE = "TF_CONFIG"


def assignments(module: Module) -> Iterator[ast.Assign]:
    """Yield the statements that set `os.environ["TF_CONFIG"]`."""
    for node in module.nodes(ast.Assign):
        for target in node.targets:
            if (
                isinstance(target, ast.Subscript)
                and isinstance(target.slice, ast.Constant)
                and target.slice.value == VARIABLE
            ):
                yield node


def place_of(module: Module, node: ast.Assign, part: str) -> Location:
    """Return the line to change in a statement that sets the variable.

    Args:
        module: the file.
        node: the statement.
        part: `task` or `cluster` if the problem is there; "" if the text is not JSON.
    """
    found = _unreadable(module, node) if not part else None
    if part:
        found = (_caller(module, node) if part == "task" else None) or _entry(module, node, part)
    return found or module.location(node)


def _caller(module: Module, node: ast.Assign) -> Location | None:
    """Return the only call of the function that sets the variable: it passes the task."""
    function = module.function_of(node)
    if function is None or not function.parameters:
        return None
    calls = module.callers.get(function.node, [])
    if not names_in(node.value) & set(function.parameters) or len(calls) != 1:
        return None
    return calls[0][0].location(calls[0][1])


def _entry(module: Module, node: ast.Assign, part: str) -> Location | None:
    """Return the last statement that changes this part, else its entry in the dict."""
    named = [each for each in ast.walk(node.value) if isinstance(each, ast.Name)]
    changed = [
        store
        for store in module.nodes(ast.Assign)
        if store.lineno < node.lineno and any(_stores_in(store, each.id, part) for each in named)
    ]
    if changed:
        return module.location(changed[-1])
    for value in (node.value, *(module.made_by(each) for each in named)):
        for each in ast.walk(value):
            for key, entry in zip(each.keys, each.values, strict=True) if isinstance(each, ast.Dict) else ():
                if isinstance(key, ast.Constant) and key.value == part:
                    return module.location(entry)
    return None


def _stores_in(store: ast.Assign, name: str, part: str) -> bool:
    """Whether a statement is `name["task"]… = …`."""
    for target in store.targets:
        keys = []
        while isinstance(target, ast.Subscript):
            keys.append(target.slice.value if isinstance(target.slice, ast.Constant) else None)
            target = target.value
        if isinstance(target, ast.Name) and target.id == name and part in keys:
            return True
    return False


def _unreadable(module: Module, node: ast.Assign) -> Location | None:
    """Return the line of a literal on which it stops being JSON."""
    import json

    text = module.made_by(node.value)
    if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
        return None
    try:
        json.loads(text.value)
    except json.JSONDecodeError as error:
        # The parser reports the token after an extra or missing comma.
        read, written = text.value[: error.pos].rstrip(), module.segment(text)
        where = module.location(text)
        line = where.line + written[: written.find(read[-8:]) + 1].count("\n")
        return replace(where, line=line, column=1, end_line=line, end_column=1)
    return None
