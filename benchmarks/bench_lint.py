"""`lint` against pyflakes and pylint, on the installed Keras sources, and its cold start."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Literal

from benchmarks import Row

_LINT = [sys.executable, "-m", "fitdoctor", "lint", "--output-format", "concise"]

SMALL = '''"""A small model that trains."""

import keras
import numpy as np

x = np.zeros((64, 8), dtype="float32")
y = np.zeros((64, 1), dtype="float32")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=2)
'''


def rows(quick: bool) -> list[Row]:
    """Throughput on many files, growth with length, and the cold start on one small clean file."""
    return [*_throughput(quick), _growth(quick), *_cold_start(quick)]


def _throughput(quick: bool) -> list[Row]:
    files = _keras_sources()[: 40 if quick else 400]
    few = files[:: max(len(files) // (3 if quick else 40), 1)]
    ours = _seconds(_lint("--jobs", "1"), files)
    pyflakes = _seconds([sys.executable, "-m", "pyflakes"], files)
    # pylint takes minutes on all of them: both are measured on the same few.
    ours_few = _seconds(_lint("--jobs", "1"), few)
    pylint = _seconds([sys.executable, "-m", "pylint", "--score=n", "--jobs=1"], few)
    alone, shared = _seconds(_lint("--jobs", "1"), files, "wall"), _seconds(_lint(), files, "wall")
    many, some = f"lint, {len(files)} files of keras", f"lint, {len(few)} files of keras"
    return [
        Row(f"{many}, one core", ours, pyflakes, pyflakes / ours, ">= 0.5", "s", "pyflakes"),
        Row(f"{some}, one core", ours_few, pylint, pylint / ours_few, ">= 50", "s", "pylint"),
        Row(f"{many}, all cores", shared, alone, alone / shared, "", "s", "one core"),
    ]


def _growth(quick: bool) -> Row:
    """Ten times the lines should take ten times as long."""
    with tempfile.TemporaryDirectory() as folder:
        single, short, long = (Path(folder) / f"{name}.py" for name in ("single", "short", "long"))
        lines = 200 if quick else 1_000
        block = SMALL.replace('"""A small model that trains."""', "")
        unit = block.count("\n")
        short.write_text(block * (lines // unit), "utf-8")
        long.write_text(block * (10 * lines // unit), "utf-8")
        single.write_text(block, "utf-8")
        start = _seconds(_lint(), [single])
        first = _seconds(_lint(), [short]) - start
        second = _seconds(_lint(), [long]) - start
    return Row(
        f"lint, {10 * lines} lines over {lines}", second, first, second / first, "<= 13", "s", "a tenth"
    )


def _cold_start(quick: bool) -> list[Row]:
    times = 10 if quick else 40
    with tempfile.TemporaryDirectory() as folder:
        keras, plain = Path(folder) / "small.py", Path(folder) / "json_codec.py"
        keras.write_text(SMALL, "utf-8")
        plain.write_text("import sys\n\nprint(sys.argv)\n", "utf-8")
        # The commands as they are installed: `python -m` adds its own start to both.
        scripts = Path(sys.executable).parent
        lint = [str(scripts / "fitdoctor"), *_lint()[3:]]
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "pyflakes": [str(scripts / "pyflakes"), str(keras)],
            "Keras": [*lint, str(keras)],
            "other": [*lint, str(plain)],
            "Keras again": [word for word in (*lint, str(keras)) if word != "--no-cache"],
        }
        # In turns, so that a busy machine is busy for all of them.
        spent: dict[str, list[float]] = {name: [] for name in commands}
        for _turn in range(times):
            for name, command in commands.items():
                spent[name].append(_once(command))
    best = {name: 1000 * min(seconds) for name, seconds in spent.items()}
    nothing = "python -c pass"
    compared = [
        ("Keras", "pyflakes", "<= 1"),
        ("Keras", nothing, "<= 8"),
        ("other", nothing, "<= 8"),
        ("Keras again", "pyflakes", "<= 1"),
    ]
    return [
        Row(
            f"lint, cold start on a small file, {kind}",
            best[kind],
            best[other],
            best[kind] / best[other],
            bar,
            "ms",
            other,
        )
        for kind, other, bar in compared
    ]


def _keras_sources() -> list[Path]:
    spec = importlib.util.find_spec("keras")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("bench_lint needs the package keras")
    return sorted(Path(spec.submodule_search_locations[0], "src").rglob("*.py"))


def _lint(*options: str) -> list[str]:
    # Without the memory of clean files: every run reads and judges.
    return [*_LINT, "--no-cache", *options]


def _seconds(
    command: list[str], files: list[Path], clock: Literal["processor", "wall"] = "processor"
) -> float:
    """The better of two runs."""
    return min(_once([*command, *map(str, files)], clock) for _turn in range(2))


def _once(command: list[str], clock: Literal["processor", "wall"] = "processor") -> float:
    """Seconds of one run: of processor time, which other work on the machine changes little, unless told otherwise."""
    started = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _process, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        # pylint's status is a sum of flags; ours is 2 when something went wrong.
        if "fitdoctor" in command and running.returncode == 2:
            errors.seek(0)
            raise RuntimeError(f"lint failed: {errors.read().decode()}")
    return used.ru_utime + used.ru_stime if clock == "processor" else time.perf_counter() - started
