"""Drops TensorFlow's start-up messages from standard error and passes everything else on at once.

Native code writes them to file descriptor 2, where Python's `sys.stderr` never sees them. While TensorFlow starts, the
descriptor leads to a pipe, and another process reads that pipe: a crash or a kill loses nothing, and a thread that
holds the interpreter's lock cannot hold the output up.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

_STAMP = rb"(?:[IWE]\d{4} [\d:.]+ +\d+ |\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IWE] )"
"""How absl stamps a line, and how TensorFlow itself did before."""

NOISE = re.compile(
    rb"WARNING: All log messages before absl::InitializeLog\(\) is called are written to STDERR"
    rb"|To enable the following instructions: .* rebuild TensorFlow with the appropriate compiler flags"
    rb"|" + _STAMP + rb"\S*(?:"
    rb"cpu_feature_guard\.cc|computation_placer\.cc|cudart_stub\.cc|cuda_dso_loader\.cc|cuda_diagnostics\.cc"
    rb"|cuda_executor\.cc:\d+\] successful NUMA node read"
    rb"|\S+:\d+\] (?:oneDNN custom operations are on"
    rb"|Unable to register cu(?:DNN|FFT|BLAS) (?:factory|plugin)"
    rb"|(?:Could not find|Cannot find) (?:cuda|CUDA) drivers"
    rb"|failed call to cuInit"
    rb"|TF-TRT Warning: (?:Could not find TensorRT|Cannot dlopen some TensorRT libraries)"
    rb"|Could not load dynamic library '(?:libcudart|libnvinfer)"
    rb"|Ignore above cudart dlerror))"
    rb"|WARNING:tensorflow:From \S+: .*\bdeprecated\b"
)
"""Start-up lines that say nothing about the program."""
_INFORMATION = re.compile(rb"(?:I\d{4} [\d:.]+ +\d+ |\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: I )\S+:\d+\] ")
"""Any line of native code at level INFO."""
_ADVICE = b"Instructions for updating:"

END = b"\0fitdoctor: TensorFlow has started\0"
"""Marks the end of a start in the pipe, as the end of a line."""
_PARTIAL = 0.2
"""Seconds after which a line that has not ended is passed on."""


class NoiseFilter:
    """Takes what was written, in pieces, and gives back what is to be shown."""

    def __init__(self, *, information: bool = False) -> None:
        """Drop noise.

        Args:
            information: drop every line of native code at level INFO as well.
        """
        self.ends = 0
        """How many starts have ended so far."""
        self._information = information
        self._rest = b""
        self._dropped = 0
        """Lines that still belong to the deprecation that was dropped last."""

    def feed(self, data: bytes) -> bytes:
        """The whole lines that are not noise; a line that has not ended is kept."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        shown = b""
        for line in lines:
            text, end, _ = line.partition(END)
            self.ends += bool(end)
            if not self._drops(text):
                shown += text if end else text + b"\n"
        return shown

    def flush(self) -> bytes:
        """What is left of a line that has not ended."""
        rest, self._rest = self._rest, b""
        return rest

    def _drops(self, line: bytes) -> bool:
        if NOISE.match(line) or self._information and _INFORMATION.match(line):
            self._dropped = 1 if line.startswith(b"WARNING:tensorflow") else 0
            return True
        if self._dropped and line.startswith(_ADVICE):
            self._dropped = 2
            return True
        if self._dropped == 2 or self._dropped and not line.strip():
            self._dropped -= 1
            return True
        self._dropped = 0
        return False


def text_without_noise(text: str) -> str:
    """A text that TensorFlow wrote, without its start-up messages."""
    noise = NoiseFilter(information=True)
    data = text.encode("utf-8", "surrogateescape")
    return (noise.feed(data) + noise.flush()).decode("utf-8", "surrogateescape")


def wanted() -> bool:
    """Whether to drop anything.

    Level 0 asks for everything. The other levels ask for less, and TensorFlow prints its first lines in spite of them.
    """
    return os.environ.get("TF_CPP_MIN_LOG_LEVEL") != "0" and hasattr(os, "fork")


# --- a command of ours --------------------------------------------------------------------------------------------

_terminal: TextIO | None = None


def terminal() -> TextIO:
    """Standard error as it was before `quiet_process`: where progress is shown."""
    return _terminal or sys.stderr


@contextmanager
def quiet_process() -> Iterator[None]:
    """Keep TensorFlow's start-up messages off this process's standard error."""
    global _terminal
    if not wanted() or _terminal is not None or "tensorflow" in sys.modules:
        yield
        return
    import subprocess

    command = [sys.executable, "-I", "-S", os.path.abspath(__file__)]
    try:
        kept = os.dup(2)
        reader, writer = os.pipe()
        relaying = subprocess.Popen(command, stdin=reader, stdout=kept, stderr=subprocess.DEVNULL)
    except OSError:  # no standard error, or no descriptor or process to be had
        yield
        return
    os.close(reader)
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os.dup2(writer, 2)
    os.close(writer)
    _terminal = os.fdopen(os.dup(kept), "w", errors="backslashreplace", buffering=1)
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)
        _terminal.close()
        _terminal = None
        # A process that the user's code left behind may hold the pipe open: it is not waited for.
        with suppress(subprocess.TimeoutExpired):
            relaying.wait(1.0)


def relay(source: int, target: int, noise: NoiseFilter, reply: int | None = None) -> None:
    """Read `source` to its end and write what is not noise to `target`.

    Args:
        source: the reading end of the pipe.
        target: where to write.
        noise: what to drop.
        reply: where to say that all that came before the end of a start was written.
    """
    import select

    ended = 0
    while True:
        ready, _, _ = select.select([source], [], [], _PARTIAL)
        data = os.read(source, 1 << 16) if ready else b""
        _write(target, noise.feed(data) if data else noise.flush())
        if noise.ends > ended:
            for call in _STARTED:
                call()
            if reply is not None:
                os.write(reply, b"." * (noise.ends - ended))
            ended = noise.ends
        if ready and not data:
            return


def _write(target: int, data: bytes) -> None:
    with suppress(OSError):  # nobody reads standard error any more
        while data:
            data = data[os.write(target, data) :]


_STARTED: list[Callable[[], object]] = []
"""Called in the parent of `run` when TensorFlow has started in the program."""


@contextmanager
def when_started(call: Callable[[], object]) -> Iterator[None]:
    """Call something when TensorFlow has started in the program that `run` runs."""
    _STARTED.append(call)
    try:
        yield
    finally:
        _STARTED.remove(call)


if __name__ == "__main__":
    import signal

    # Ctrl-C is for the command: this process ends when the command has closed the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    relay(0, 1, NoiseFilter(information=True))
