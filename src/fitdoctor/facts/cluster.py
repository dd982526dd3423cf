"""What TF_CONFIG says and what is wrong with its text; no connection is made."""

from __future__ import annotations

import json
import re
from typing import Any

from fitdoctor.diagnosis import Diagnosis, Location
from fitdoctor.records import dataclass

_ADDRESS = re.compile(r"(?:[\w.\-]+|\[[0-9a-fA-F:]+\]):(\d{1,5})")
_HIGHEST_PORT = 65535


@dataclass(frozen=True)
class Problem:
    """A part of TF_CONFIG that does not describe a cluster."""

    text: str
    fails: bool = True
    """Whether the strategy raises or waits forever; otherwise it trains, but alone."""
    remedy: str = ""
    """What to do, if writing valid JSON is not enough."""
    part: str = ""
    """`task` if it concerns the identity of this worker, `cluster` if it concerns what all workers share."""


@dataclass(frozen=True)
class Cluster:
    """The tasks of a valid TF_CONFIG by name (`worker 0`) with their addresses, and the one that this process is."""

    tasks: tuple[tuple[str, str], ...]
    task: str

    @property
    def chief(self) -> str:
        """The task that reports for all: the chief, or else the first worker."""
        names = [name for name, _address in self.tasks]
        return next((name for name in ("chief 0", "master 0", "worker 0") if name in names), names[0])

    @property
    def others(self) -> tuple[tuple[str, str], ...]:
        """The other tasks."""
        return tuple(entry for entry in self.tasks if entry[0] != self.task)

    @property
    def address(self) -> str:
        """The address on which this task listens."""
        return dict(self.tasks).get(self.task, "")


@dataclass(frozen=True)
class ClusterFacts:
    """What a program knew about its cluster when it created a multi-worker strategy."""

    config: str
    """The value of TF_CONFIG at that time."""
    made: Location | None = None
    """Where the strategy is created."""
    taken: str = ""
    """This worker's own address, if another process already listens there."""
    unresolved: tuple[str, ...] = ()
    """Addresses whose host has no entry in DNS."""
    disagreeing: tuple[str, ...] = ()
    """Workers that run on this machine with a different `cluster`."""
    silent: tuple[str, ...] = ()
    """Workers, with their addresses, that did not answer while the strategy waited for them."""
    waited: int = 0
    """The number of seconds that it had waited."""


@dataclass(frozen=True)
class Member:
    """A worker that has ended: its findings, and the run that they come from."""

    name: str
    diagnosis: Diagnosis
    config: str = ""
    calls: tuple[dict[str, Any], ...] = ()
    """The checked calls of `fit`, as plain facts."""


def cluster_of(text: str) -> Cluster | None:
    """Return the cluster that TF_CONFIG describes; None if it describes none or is unusable."""
    if not text.strip() or config_problems(text):
        return None
    config = json.loads(text)
    if not config.get("cluster"):
        return None
    tasks = tuple(
        (f"{kind} {index}", address.removeprefix("grpc://"))
        for kind, listed in config["cluster"].items()
        for index, address in (listed.items() if isinstance(listed, dict) else enumerate(listed))
    )
    return Cluster(tasks, f"{config['task']['type']} {int(config['task']['index'])}")


def config_problems(text: str) -> list[Problem]:
    """Yield what TensorFlow could not use; nothing if the configuration is empty or valid."""
    if not text.strip():
        return []
    try:
        config: Any = json.loads(text)
    except ValueError as error:
        return [Problem(f"TF_CONFIG is not JSON: {error}")]
    if not isinstance(config, dict):
        return [Problem("TF_CONFIG is not a JSON object with `cluster` and `task`", fails=bool(config))]
    cluster, task = config.get("cluster"), config.get("task")
    if cluster is None and task is None:
        return []
    if not cluster:
        missing = "TF_CONFIG has no `cluster` with the workers' addresses: this worker trains alone"
        return [Problem(missing, fails=False)]
    if not isinstance(cluster, dict):
        return [
            Problem("`cluster` in TF_CONFIG is not an object with the workers' addresses", part="cluster")
        ]
    return [*_addresses(cluster), *_task(cluster, task)]


def _addresses(cluster: dict[str, Any]) -> list[Problem]:
    problems: list[Problem] = []
    seen: dict[str, str] = {}
    for kind, listed in cluster.items():
        items = list(listed.values()) if isinstance(listed, dict) else listed
        if not isinstance(items, list) or not items:
            problems.append(
                Problem(f"`{kind}` in the cluster of TF_CONFIG has no list of addresses", part="cluster")
            )
            continue
        for index, address in enumerate(items):
            name = f"{kind} {index}"
            if not _is_address(address):
                wrong = f"the address of {name} in TF_CONFIG is not a `host:port`: {address!r}"
                problems.append(
                    Problem(
                        wrong,
                        remedy="write every address as `host:port`, with a port up to 65535",
                        part="cluster",
                    )
                )
            elif address in seen:
                wrong = f"{seen[address]} and {name} have the same address {address} in TF_CONFIG"
                problems.append(Problem(wrong, remedy="give every worker its own address", part="cluster"))
            else:
                seen[address] = name
    return problems


def _is_address(address: Any) -> bool:
    parts = _ADDRESS.fullmatch(address.removeprefix("grpc://")) if isinstance(address, str) else None
    return parts is not None and int(parts[1]) <= _HIGHEST_PORT


def _task(cluster: dict[str, Any], task: Any) -> list[Problem]:
    if not isinstance(task, dict) or "type" not in task or "index" not in task:
        wrong = "TF_CONFIG has no `task` with `type` and `index`, so the worker does not know its role"
        return [
            Problem(wrong, remedy="give each worker a `task` with its own `type` and `index`", part="task")
        ]
    kind, index = task["type"], task["index"]
    if kind not in cluster:
        known = ", ".join(map(str, cluster))
        wrong = f"the task type in TF_CONFIG is `{kind}`, but the cluster has only {known}"
        remedy = "use a type that the cluster has, or add addresses for that type"
        return [] if kind == "evaluator" else [Problem(wrong, remedy=remedy, part="task")]
    listed, remedy = cluster[kind], "give each worker its own index, starting at 0"
    try:
        number = int(index)
    except (TypeError, ValueError):
        return [
            Problem(f"the task index in TF_CONFIG is not a number: {index!r}", remedy=remedy, part="task")
        ]
    if isinstance(listed, list) and not 0 <= number < len(listed):
        valid = f"indices run from 0 to {len(listed) - 1}" if len(listed) > 1 else "the only index is 0"
        wrong = f"the task index in TF_CONFIG is {number}, but {valid} for `{kind}`"
        return [Problem(wrong, remedy=remedy, part="task")]
    return []
