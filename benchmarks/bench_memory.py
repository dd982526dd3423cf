"""How near the predicted peak memory is to the measured one, over eleven kinds of models with three batch sizes each.

A full run writes memory.json and the table in docs/memory.md.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks import Row
from benchmarks.memory_models import KINDS

HERE = Path(__file__).parent
RESULTS = HERE / "memory.json"
PAGE = HERE.parent / "docs" / "memory.md"
BEGIN, END = "[//]: # (begin table)", "[//]: # (end table)"
QUICK = ("dense",)


def rows(quick: bool) -> list[Row]:
    """Predict and measure each (quick: one model with one batch size)."""
    found = []
    for name in QUICK if quick else KINDS:
        predictions = _process("predict", name)
        for prediction in predictions[:1] if quick else predictions:
            measured = _process("measure", name, str(prediction["batch"]))
            found.append({"model": name, "predicted": prediction, "measured": measured})
            print(line(found[-1]), file=sys.stderr, flush=True)
    if not quick:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        write_table(found)
    return [row for figure in ("process", "tensors") for row in _figures(found, figure)]


def _process(*words: str) -> Any:
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory_process", *words],
        capture_output=True,
        text=True,
        cwd=HERE.parent,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        check=False,
    )
    if ended.returncode:
        raise SystemExit(f"memory {' '.join(words)}: {ended.stderr[-500:]}")
    return json.loads(ended.stdout.splitlines()[-1])


def _figures(found: list[dict[str, Any]], figure: str) -> list[Row]:
    ours = [abs(error(each, figure, figure)) for each in found]
    formula = [abs(error(each, "formula", figure)) for each in found]
    what = {"process": "memory of the process", "tensors": "memory of the tensors"}[figure]
    against = "sum of layer outputs + 3 x weights"
    return [
        Row(
            f"{what}, median error",
            100 * statistics.median(ours),
            100 * statistics.median(formula),
            bar="<= 10",
            unit="%",
            against=against,
        ),
        Row(
            f"{what}, worst error",
            100 * max(ours),
            100 * max(formula),
            bar="<= 25",
            unit="%",
            against=against,
        ),
    ]


def error(result: dict[str, Any], ours: str, measured: str) -> float:
    """The relative error of a predicted figure."""
    return float(result["predicted"][ours] / result["measured"][measured] - 1)


# --- the table ----------------------------------------------------------------------------------------------------


def table(found: list[dict[str, Any]]) -> str:
    """The results as Markdown."""
    lines = [
        "| model | batch | process, measured | predicted | error | tensors, measured | predicted | error "
        "| the formula | error |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *map(line, found),
    ]
    summary = [
        f"| {name} | | | | {_spread(found, 'process', 'process', pick)} | | | {_spread(found, 'tensors', 'tensors', pick)} "
        f"| | {_spread(found, 'formula', 'tensors', pick)} |"
        for name, pick in (("median", statistics.median), ("worst", max))
    ]
    return "\n".join([*lines, *summary])


def _spread(found: list[dict[str, Any]], ours: str, measured: str, pick: Any) -> str:
    return f"**{100 * pick([abs(error(each, ours, measured)) for each in found]):.1f}%**"


def line(result: dict[str, Any]) -> str:
    """One row of the table, in megabytes."""
    predicted, measured = result["predicted"], result["measured"]
    cells = [result["model"], str(predicted["batch"])]
    for figure in ("process", "tensors"):
        cells += [
            f"{measured[figure] / 1e6:.0f} MB",
            f"{predicted[figure] / 1e6:.0f} MB",
            f"{100 * error(result, figure, figure):+.1f}%",
        ]
    cells += [f"{predicted['formula'] / 1e6:.0f} MB", f"{100 * error(result, 'formula', 'tensors'):+.0f}%"]
    return f"| {' | '.join(cells)} |"


def write_table(found: list[dict[str, Any]]) -> None:
    """Put the table into the documentation."""
    text = PAGE.read_text("utf-8")
    before, _begin, rest = text.partition(BEGIN)
    _old, _end, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(found)}\n\n{END}{after}", "utf-8")
