"""Runs programs from a process that has already imported TensorFlow: one second instead of five."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from fitdoctor.runner.supervise import BOOTSTRAP, interpreter_options

ZYGOTE = BOOTSTRAP.with_name("zygote.py")
_READ_AT_IMPORT = ("environ", "putenv", "dotenv", "faulthandler", "settrace", "setprofile")
"""What a program may set before it imports TensorFlow, and TensorFlow or Python would act on."""


class WarmStart:
    """Runs programs in forks of one process; `start` is for `proof.run`.

    Attributes:
        process: the process that forks; None if programs must start in fresh interpreters.
    """

    def __init__(self, folder: str, texts: list[str]) -> None:
        """Start the process, unless the program has no use for it or sets something up before TensorFlow is imported.

        Args:
            folder: the one that the program imports its modules from first.
            texts: its source and that of its modules.
        """
        self.process: subprocess.Popen[bytes] | None = None
        self._beside = _names_in(folder)
        trains = any(word in text for word in ("tensorflow", "keras") for text in texts)
        sets_up = any(word in text for word in _READ_AT_IMPORT for text in texts)
        if sys.platform == "linux" and trains and not sets_up:
            self.process = subprocess.Popen(
                [sys.executable, *interpreter_options(sys.orig_argv), str(ZYGOTE)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
                start_new_session=True,
            )

    def __enter__(self) -> WarmStart:
        return self

    def __exit__(self, *_error: object) -> None:
        self._end()

    def start(self, folder: Path, limit: float) -> tuple[int, bool] | None:
        """Run the program whose options are in the folder.

        Returns:
            The return code, and whether the time limit ended it; None if the program must start in a fresh interpreter.
        """
        child = 0
        try:
            request = {"folder": str(folder), "cwd": os.getcwd(), "limit": limit, "beside": self._beside}
            child = self._asked(request).get("pid", 0)
            if not child:
                return None
            ended = self._answer()
            return ended["code"], ended["timed_out"]
        except (OSError, ValueError, KeyError):
            # It ended, or never began: TensorFlow cannot be imported, or the memory is not enough for two.
            self._end()
            return None
        finally:
            if child:
                # What the program started in its group must not live on, whatever ended it.
                with contextlib.suppress(OSError):
                    os.killpg(child, signal.SIGKILL)

    def _asked(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.process is None or self.process.stdin is None:
            return {}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self.process is not None
        assert self.process.stdout is not None
        answer = json.loads(self.process.stdout.readline())
        return answer if isinstance(answer, dict) else {}

    def _end(self) -> None:
        if self.process is None:
            return
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()
        self.process = None


def _names_in(folder: str) -> list[str]:
    """Return the modules of a folder: they take precedence over others of the same name."""
    return sorted({name.split(".")[0] for name in os.listdir(folder) if not name.startswith(".")})
