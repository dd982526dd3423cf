"""A tf.data service on this machine: a dispatcher in this process, and workers in separate processes."""

from __future__ import annotations

import os
import subprocess
import sys
from types import TracebackType
from typing import Any

from fitdoctor.scan.pieces import CannotScan

START_SECONDS = 120.0


class LocalCluster:
    """A dispatcher and its workers, for the duration of a `with` block."""

    def __init__(self, workers: int) -> None:
        self._number = workers
        self._dispatcher: Any = None
        self.processes: list[subprocess.Popen[str]] = []
        self.address = ""

    def __enter__(self) -> LocalCluster:
        import tensorflow as tf

        service = tf.data.experimental.service
        self._dispatcher = service.DispatchServer(service.DispatcherConfig(port=0))
        self.address = self._dispatcher.target
        command = [sys.executable, "-m", "fitdoctor.scan.local_worker", self.address.split("://")[1]]
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": os.environ.get("TF_CPP_MIN_LOG_LEVEL", "3")}
        # Where this process found fitdoctor and the user's modules, the workers find them too.
        environment["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
        try:
            for _worker in range(self._number):
                self.processes.append(
                    subprocess.Popen(
                        command,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL,
                        stdin=subprocess.DEVNULL,
                        text=True,
                        env=environment,
                        start_new_session=True,  # Ctrl-C is for us: workers end when we end them
                    )
                )
            for process in self.processes:
                assert process.stdout is not None
                if process.stdout.readline().strip() != "ready":
                    raise CannotScan(f"a local worker did not start: `{' '.join(command)}`")
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def dead(self) -> int:
        """Return how many workers have ended."""
        return sum(process.poll() is not None for process in self.processes)

    def _end(self) -> None:
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        # The dispatcher is left to the end of the process: stopping it waits for clients that still wait for workers.
        _KEPT.append(self._dispatcher)


_KEPT: list[Any] = []
