"""What explaining costs: after a script has failed under `run`, and for a log of 50 MB."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import Row

PROGRAM = Path(__file__).parent / "programs" / "failing.py"
LOG_BYTES = 50_000_000


def rows(quick: bool) -> list[Row]:
    """The time from the failure to the end of the diagnosis, beside the script's own; reading a long log."""
    return [_after_failure(epochs=2 if quick else 30, times=2 if quick else 3), *_long_logs()]


def _after_failure(epochs: int, times: int) -> Row:
    """What `run` adds after the moment of failure, beside the whole of the script as plain Python runs it."""
    program = [str(PROGRAM), str(epochs)]
    plain, watched = [], []
    for _turn in range(times):
        plain.append(_failed([sys.executable, *program], "numpy"))
        watched.append(
            _failed([sys.executable, "-m", "fitdoctor", "run", "--keep-going", *program], "FIT401")
        )
    whole = min(seconds for seconds, _ in plain)
    added = max(min(after for _, after in watched) - min(after for _, after in plain), 0.0)
    return Row(
        "explaining a failure under run", added, whole, added / whole, "<= 0.03", "s", "the failed script"
    )


def _failed(command: list[str], words: str) -> tuple[float, float]:
    """How long the program took as a whole, and from the failure that it announces to its end."""
    began = time.time()
    ended = subprocess.run(
        command, check=False, capture_output=True, text=True, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    )
    end = time.time()
    if ended.returncode != 1 or words not in ended.stderr:
        raise RuntimeError(f"{' '.join(command)} did not fail as it should:\n{ended.stderr[-2_000:]}")
    return end - began, end - float(ended.stdout.split()[-1])


def _long_logs() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.log"
        found = []
        for name, text in (("progress bars", _progress()), ("tracebacks", _tracebacks())):
            path.write_text(text, "utf-8")
            began = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "fitdoctor", "explain", str(path)], check=True, capture_output=True
            )
            found.append(Row(f"explain, 50 MB of {name}", time.perf_counter() - began, bar="<= 5", unit="s"))
        return found


TRACEBACK = """Traceback (most recent call last):
  File "/home/user/train.py", line 31, in <module>
    model.fit(x, y, epochs=10)
  File "/usr/lib/python3.11/site-packages/keras/src/utils/traceback_utils.py", line 122, in error_handler
    raise e.with_traceback(filtered_tb) from None
ValueError: Input 0 of layer "dense" is incompatible with the layer: expected axis -1 of input shape to have value 16, but
received input with shape (None, {size})
"""


def _progress() -> str:
    """A day of training with its failure at the end."""
    chance = random.Random(0)
    line = "\x1b[1m{step}/9999\x1b[0m \x1b[32m━━━━━━━━\x1b[0m\x1b[37m━━━━\x1b[0m 1s 3ms/step - loss: {loss:.4f}\r"
    lines = [line.format(step=step % 9999, loss=chance.random()) for step in range(LOG_BYTES // 92)]
    return "".join(lines) + "\n" + TRACEBACK.format(size=15)


def _tracebacks() -> str:
    """A service that failed and was started again, over and over."""
    return "".join(
        f"2026-11-15 22:00:{number % 60:02d} restart {number}\n{TRACEBACK.format(size=number)}"
        for number in range(LOG_BYTES // (len(TRACEBACK) + 40))
    )
