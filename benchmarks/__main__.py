"""Runs every benchmark, prints one table and writes results.json with the machine and the versions."""

from __future__ import annotations

import argparse
import compileall
import importlib
import json
import os
import platform
import sys
import time
import traceback
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import Row

HERE = Path(__file__).parent
PACKAGES = ("fitdoctor", "tensorflow-cpu", "tensorflow", "keras", "tf_keras", "numpy", "pyflakes", "pylint")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="benchmarks to run, such as `lint` (default: all)")
    parser.add_argument(
        "--quick", action="store_true", help="fewer files and repetitions: ends in two minutes"
    )
    options = parser.parse_args()
    known = sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))
    unknown = set(options.names) - set(known)
    if unknown:
        parser.error(f"no benchmark `{unknown.pop()}`: choose among {', '.join(known)}")
    _compile()
    rows: list[Row] = []
    failed = False
    for name in options.names or known:
        started = time.perf_counter()
        try:
            rows += importlib.import_module(f"benchmarks.bench_{name}").rows(quick=options.quick)
        except Exception:
            # Half an hour of the others must not be lost with it.
            traceback.print_exc()
            failed = True
        print(f"{name}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
    Console(width=None if sys.stdout.isatty() else 120).print(table(rows))
    # A part of the rows, or rough ones, must not replace the whole figures.
    if not (options.names or options.quick or failed):
        (HERE / "results.json").write_text(json.dumps(results(rows), indent=2) + "\n", "utf-8")
    return int(failed)


def _compile() -> None:
    """With bytecode kept, as it is for everything that was installed: an installer compiles what it installs."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(HERE.parent / "src", quiet=1)


def table(rows: list[Row]) -> Table:
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    drawn.add_column("what")
    for column in ("ours", "alternative", "ratio", "bar"):
        drawn.add_column(column, justify="right")
    drawn.add_column("")
    for row in rows:
        mark = {True: "[green]holds[/]", False: "[red]missed[/]", None: ""}[row.held]
        other = "" if row.alternative is None else f"{row.alternative:.4g} {row.unit} ({row.against})"
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        drawn.add_row(row.what, f"{row.ours:.4g} {row.unit}", other, ratio, row.bar, mark)
    return drawn


def results(rows: list[Row]) -> dict[str, Any]:
    return {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "system": f"{platform.system()} {platform.release()}",
            "processor": _processor(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        },
        "versions": _versions(),
        "rows": [{**asdict(row), "held": row.held} for row in rows],
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


if __name__ == "__main__":
    sys.exit(main())
