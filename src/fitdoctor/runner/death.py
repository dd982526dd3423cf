"""Explains why a program died by a signal, as far as its parent can tell."""

from __future__ import annotations

import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

from fitdoctor.facts import FailureFacts, Frame
from fitdoctor.failure.frames import frame_of
from fitdoctor.runner.session import FAULTS

_FRAME = re.compile(r'^  File "(?P<path>.+)", line (?P<line>\d+) in (?P<function>.+)$')

_NATIVE = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL")
"""Signals by which native code ends."""


def signal_name(number: int) -> str:
    """`SIGKILL` for 9."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class Watch:
    """Compares the kernel's count of out-of-memory kills before and after."""

    def __init__(self) -> None:
        self._before = _memory_kills()

    def sign(self, returncode: int, folder: Path, now: dict[str, Any]) -> FailureFacts | None:
        """Return a death by a signal as a failure; None if the user caused it (Ctrl-C, SIGTERM)."""
        name = signal_name(-returncode)
        if name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGPIPE"):
            return None
        message = self._message(name, now)
        frames = tuple(_frames(folder / FAULTS)) or _frames_of_now(now)
        return FailureFacts(
            type=name, message=message, raw_message=message, frames=frames, called=str(now.get("method", ""))
        )

    def _message(self, name: str, now: dict[str, Any]) -> str:
        parts = [f"the program was killed by {name}{_under_way(now)}"]
        if name == "SIGKILL":
            if _memory_kills() > self._before:
                parts.append("the kernel ran out of memory and killed a process")
            else:
                parts.append("it was killed from outside, often by the kernel when memory runs out")
        elif name in _NATIVE:
            parts.append("native code (TensorFlow, a driver or another extension) crashed")
        peak = _peak_memory()
        if peak:
            parts.append(f"it was using {peak / 2**30:.1f} GiB{_of_all()}")
        return "; ".join(parts)


def _under_way(now: dict[str, Any]) -> str:
    if not now:
        return ""
    seconds = max(time.time() - float(now.get("since", time.time())), 0.0)
    return f" {seconds:.0f} s into `{now.get('method')}`"


def _frames(path: Path) -> list[Frame]:
    """Return the stack that the interpreter wrote when native code crashed, outermost first."""
    try:
        text = path.read_text(errors="replace")
    except OSError:
        return []
    current = text.partition("Current thread")[2].partition("\n\n")[0]
    found = []
    for line in current.splitlines():
        match = _FRAME.match(line)
        if match:
            found.append(frame_of(match["path"], int(match["line"]), match["function"]))
    return found[::-1]


def _frames_of_now(now: dict[str, Any]) -> tuple[Frame, ...]:
    if not now.get("path"):
        return ()
    return (frame_of(str(now["path"]), int(now["line"]), "<module>"),)


def _memory_kills() -> int:
    """Return how often the kernel has killed because of memory: in our cgroup, or on the whole machine."""
    total = 0
    for path in ("/sys/fs/cgroup/memory.events", "/proc/vmstat"):
        try:
            text = Path(path).read_text()
        except OSError:
            continue
        for line in text.splitlines():
            name, _, count = line.partition(" ")
            if name == "oom_kill" and count.isdigit():
                total += int(count)
    return total


def _peak_memory() -> int:
    """Return the peak memory of the child in bytes; 0 if the system does not report it."""
    try:
        import resource
    except ImportError:
        return 0
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024


def _of_all() -> str:
    """Return the memory limit of the process in words: that of the machine or, if smaller, of the container."""
    from fitdoctor.memory.available import limits

    found = [limit for limit in limits() if limit.name != "RLIMIT_AS"]
    if not found:
        return ""
    least = min(found, key=lambda limit: limit.total)
    place = "on this machine" if least.name == "this machine" else f"in {least.name}"
    return f" of {least.total / 2**30:.1f} GiB {place}"
