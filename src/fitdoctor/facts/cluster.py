"""What a TF_CONFIG says, and what is wrong with it as far as its text tells: nothing is connected to."""

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
    """Something in a TF_CONFIG that does not describe a cluster."""

    text: str
    fails: bool = True
    """The strategy raises or waits for ever; else it trains, but alone."""
    remedy: str = ""
    """What to do, where that is more than to write it as JSON."""
    part: str = ""
    """`task` where it is about which worker this one is, `cluster` where it is about what all share."""


@dataclass(frozen=True)
class Cluster:
    """The tasks of a sound TF_CONFIG by name (`worker 0`), with their addresses, and which one this process is."""

    tasks: tuple[tuple[str, str], ...]
    task: str

    @property
    def chief(self) -> str:
        """The task that speaks for all: the chief, else the first worker."""
        names = [name for name, _address in self.tasks]
        return next((name for name in ("chief 0", "master 0", "worker 0") if name in names), names[0])

    @property
    def others(self) -> tuple[tuple[str, str], ...]:
        """The tasks but this one."""
        return tuple(entry for entry in self.tasks if entry[0] != self.task)

    @property
    def address(self) -> str:
        """Where this task is to listen."""
        return dict(self.tasks).get(self.task, "")


@dataclass(frozen=True)
class ClusterFacts:
    """What a program was told of its cluster when it made a strategy over several workers."""

    config: str
    """TF_CONFIG as it stood then."""
    made: Location | None = None
    """Where the strategy was made."""
    taken: str = ""
    """This worker's own address, when another process listens there already."""
    unresolved: tuple[str, ...] = ()
    """Addresses whose host has no entry in DNS."""
    disagreeing: tuple[str, ...] = ()
    """Workers that are under way on this machine with another `cluster`."""
    silent: tuple[str, ...] = ()
    """Workers, with their addresses, that did not answer while the strategy waited for them."""
    waited: int = 0
    """For how many seconds it had waited then."""


@dataclass(frozen=True)
class Member:
    """A worker that has ended: what was found there, and the run that it rests on."""

    name: str
    diagnosis: Diagnosis
    config: str = ""
    calls: tuple[dict[str, Any], ...] = ()
    """The calls of fit that were looked at, as plain facts."""


def cluster_of(text: str) -> Cluster | None:
    """The cluster that a TF_CONFIG describes; None where it describes none or cannot be used."""
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
    """What TensorFlow could not use; nothing for an empty or a sound configuration."""
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
