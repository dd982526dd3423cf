"""The available memory: of the machine, the container or the process, whichever is smallest."""

from __future__ import annotations

import re
from pathlib import Path

from fitdoctor.facts import MemoryLimit

_UNLIMITED = 1 << 60


def limits(root: Path = Path("/")) -> tuple[MemoryLimit, ...]:
    """Return every limit for this process on the CPU, tightest first; empty if the system reports none.

    Args:
        root: where `proc` and `sys` are.
    """
    found = [_machine(root), *_containers(root), _address_space(root)]
    return tuple(sorted((each for each in found if each is not None), key=lambda limit: limit.free))


def _machine(root: Path) -> MemoryLimit | None:
    values = _table(root / "proc/meminfo")
    if "MemTotal" not in values:
        return None
    total = values["MemTotal"] + values.get("SwapTotal", 0)
    free = values.get("MemAvailable", values.get("MemFree", 0)) + values.get("SwapFree", 0)
    return MemoryLimit("this machine", total * 1024, free * 1024)


def _containers(root: Path) -> list[MemoryLimit]:
    """Yield the limits of the process's control groups, of both versions."""
    found = []
    for folder in _groups(root):
        for limit, usage, stat, cache in (
            ("memory.max", "memory.current", "memory.stat", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat", "total_inactive_file"),
        ):
            total = _number(folder / limit)
            if total is None or total >= _UNLIMITED:
                continue
            used = (_number(folder / usage) or 0) - _table(folder / stat).get(cache, 0)
            found.append(MemoryLimit("the container", total, max(0, total - max(0, used))))
    return found


def _groups(root: Path) -> list[Path]:
    """Yield the folders of the process's control groups, up to the top."""
    base = root / "sys/fs/cgroup"
    folders = []
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        _hierarchy, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers and "memory" not in controllers.split(","):
            continue
        top = base / "memory" if controllers else base
        inner = top / path.lstrip("/")
        while True:
            folders.append(inner)
            if inner == top or top not in inner.parents:
                break
            inner = inner.parent
    return list(dict.fromkeys([*folders, base, base / "memory"]))


def _address_space(root: Path) -> MemoryLimit | None:
    try:
        import resource
    except ImportError:
        return None
    soft, _hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft in (resource.RLIM_INFINITY, -1) or soft >= _UNLIMITED:
        return None
    used = _table(root / "proc/self/status").get("VmSize", 0) * 1024
    return MemoryLimit("RLIMIT_AS", soft, max(0, soft - used))


def _table(path: Path) -> dict[str, int]:
    """Return the names and integers in a kernel file."""
    try:
        text = path.read_text()
    except OSError:
        return {}
    return {
        match[1]: int(match[2]) for match in re.finditer(r"^(\w+):?\s+(\d+)(?: kB)?$", text, re.MULTILINE)
    }


def _number(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
