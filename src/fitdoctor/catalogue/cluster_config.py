"""What is wrong with a TF_CONFIG, as far as its text tells: nothing is connected to."""

from __future__ import annotations

import json
import re
from typing import Any

_ADDRESS = re.compile(r"[\w.\-]+:\d{1,5}|\[[0-9a-fA-F:]+\]:\d{1,5}")


def config_problems(text: str) -> list[str]:
    """What TensorFlow could not use, in words; nothing for an empty or a sound configuration."""
    if not text.strip():
        return []
    try:
        config: Any = json.loads(text)
    except ValueError as error:
        return [f"TF_CONFIG is not JSON: {error}"]
    if not isinstance(config, dict):
        return ["TF_CONFIG is no JSON object with `cluster` and `task`"]
    cluster, task = config.get("cluster"), config.get("task")
    if cluster is None and task is None:
        return []
    if not isinstance(cluster, dict) or not cluster:
        return ["TF_CONFIG has no `cluster` with the addresses of the workers"]
    return [*_addresses(cluster), *_task(cluster, task)]


def _addresses(cluster: dict[str, Any]) -> list[str]:
    problems: list[str] = []
    seen: dict[str, str] = {}
    for kind, listed in cluster.items():
        items = list(listed.values()) if isinstance(listed, dict) else listed
        if not isinstance(items, list) or not items:
            problems.append(f"`{kind}` in the cluster of TF_CONFIG has no list of addresses")
            continue
        for index, address in enumerate(items):
            name = f"{kind} {index}"
            if not isinstance(address, str) or not _ADDRESS.fullmatch(address.removeprefix("grpc://")):
                problems.append(f"the address of {name} in TF_CONFIG is no `host:port`: {address!r}")
            elif address in seen:
                problems.append(f"{seen[address]} and {name} have the same address {address} in TF_CONFIG")
            else:
                seen[address] = name
    return problems


def _task(cluster: dict[str, Any], task: Any) -> list[str]:
    if not isinstance(task, dict) or "type" not in task or "index" not in task:
        return ["TF_CONFIG has no `task` with `type` and `index`: the worker does not know which one it is"]
    kind, index = task["type"], task["index"]
    if kind not in cluster:
        if kind == "evaluator":
            return []
        return [
            f"the task of TF_CONFIG is a `{kind}`, but the cluster has only {', '.join(map(str, cluster))}"
        ]
    listed = cluster[kind]
    if not isinstance(listed, list):
        return []
    try:
        number = int(index)
    except (TypeError, ValueError):
        return [f"the index of the task in TF_CONFIG is no number: {index!r}"]
    if not 0 <= number < len(listed):
        return [
            f"the index of the task in TF_CONFIG is {number}, but `{kind}` has {len(listed)}: 0 to {len(listed) - 1}"
        ]
    return []
