"""The benchmark figures, from the file that `make bench` writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "benchmarks/results.json"
MARKS = {True: "yes", False: "**no**", None: ""}
SIGNS = {">=": "at least", "<=": "at most"}


def page() -> str:
    """Return the page as Markdown."""
    found = json.loads(RESULTS.read_text("utf-8"))
    machine, versions = found["machine"], found["versions"]
    installed = ", ".join(f"{name} {version}" for name, version in versions.items())
    lines = [
        "# Benchmarks",
        "",
        f"Measured on {found['when'][:10]}, on {machine['cores']} cores ({machine['processor']}, {machine['system']}), "
        f"with Python {machine['python']}, {installed}. `make bench` repeats everything and writes the file from which "
        "this page is generated.",
        "",
        "The ratio compares the two figures of a row; *required* is the limit that the project sets itself, for the "
        "ratio or, where there is none, for the figure. Limits that are missed are shown as well. "
        "[Memory](../memory.md#accuracy) has the predictions of memory, model by model.",
        "",
        "| measurement | fitdoctor | compared with | ratio | required | met |",
        "| --- | ---: | --- | ---: | --- | --- |",
    ]
    return "\n".join([*lines, *map(_row, found["rows"]), ""])


def _row(row: dict[str, Any]) -> str:
    other = ""
    if row["alternative"] is not None:
        other = f"{row['against']}: {_figure(row['alternative'], row['unit'])}"
    ratio = "" if row["ratio"] is None else f"{row['ratio']:.3g}"
    sign, _, limit = row["bar"].partition(" ")
    cells = (
        row["what"],
        _figure(row["ours"], row["unit"]),
        other,
        ratio,
        f"{SIGNS[sign]} {limit}" if sign else "",
        MARKS[row["held"]],
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _figure(value: float, unit: str) -> str:
    text = f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
    return f"{text}{'%' if unit == '%' else f' {unit}' if unit else ''}"
