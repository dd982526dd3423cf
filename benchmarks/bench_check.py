"""What looking at `fit` costs: `check` before the first step, a healthy program under `run`, and each step in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import Row

PROGRAMS = Path(__file__).parent / "programs"


def rows(quick: bool) -> list[Row]:
    """The cost of `check` on a large model and on many rows; the overhead of `run`."""
    return [
        *_first_step("functional", "functional ResNet50", "<= 0.02"),
        *([] if quick else _first_step("subclassed", "subclassed model of that size", "<= 0.10")),
        _many_rows(),
        # A program that ends in seconds says nothing of what `run` adds to one that does not.
        *([] if quick else _healthy(epochs=60, times=3)),
        *([] if quick else [_python_loops(rows=400_000, times=3)]),
    ]


def _first_step(kind: str, name: str, bar: str) -> list[Row]:
    # In a new process each time; the first one may still read its files from the disk.
    turns = [_output([sys.executable, str(PROGRAMS / "first_step.py"), kind])[0] for _turn in range(2)]
    seconds = {part: min(turn[part] for turn in turns) for part in ("check", "fit")}
    alternative = "fit(steps_per_epoch=1), what users do instead"
    return [
        Row(
            f"check, {name}",
            seconds["check"],
            seconds["fit"],
            seconds["check"] / seconds["fit"],
            bar,
            "s",
            alternative,
        )
    ]


def _many_rows() -> Row:
    seconds, _ = _output([sys.executable, str(PROGRAMS / "many_rows.py")])
    some, many = seconds["16000000"], seconds["256000000"]
    return Row("check, 256,000,000 rows", many, some, many / some, "<= 1.1", "s", "16,000,000 rows")


def _healthy(epochs: int, times: int) -> list[Row]:
    """The best of several runs in turn, with and without us; the losses must be the same to the bit."""
    program = [str(PROGRAMS / "healthy.py"), str(epochs)]
    plain, watched = [], []
    for _ in range(times):
        plain.append(_output([sys.executable, *program]))
        watched.append(_output([sys.executable, "-m", "fitdoctor", "run", *program]))
    if len({json.dumps(said["loss"]) for said, _ in (*plain, *watched)}) != 1:
        raise RuntimeError("the losses of a healthy program differ with and without fitdoctor")
    whole = min(seconds for _, seconds in watched), min(seconds for _, seconds in plain)
    step = min(said["step"] for said, _ in watched), min(said["step"] for said, _ in plain)
    return [
        Row("run, a healthy program", *whole, whole[0] / whole[1], "<= 1.05", "s", "python"),
        Row("run, a step after the first", *step, step[0] / step[1], "<= 1.01", "s", "python"),
    ]


def _python_loops(rows: int, times: int) -> Row:
    """A program of which most is plain Python: ten million bindings."""
    program = [str(PROGRAMS / "python_loops.py"), str(rows)]
    plain, watched = [], []
    for _ in range(times):
        plain.append(_output([sys.executable, *program]))
        watched.append(_output([sys.executable, "-m", "fitdoctor", "run", *program]))
    if len({json.dumps(said) for said, _ in (*plain, *watched)}) != 1:
        raise RuntimeError("the losses of a healthy program differ with and without fitdoctor")
    ours, alone = min(seconds for _, seconds in watched), min(seconds for _, seconds in plain)
    return Row("run, data prepared in Python loops", ours, alone, ours / alone, "<= 1.05", "s", "python")


def _output(command: list[str]) -> tuple[dict[str, Any], float]:
    """What the program printed as its last line, and how long it took."""
    began = time.perf_counter()
    ended = subprocess.run(
        command, check=False, capture_output=True, text=True, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    )
    seconds = time.perf_counter() - began
    if ended.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{ended.stderr[-2_000:]}")
    return json.loads(ended.stdout.strip().splitlines()[-1]), seconds
