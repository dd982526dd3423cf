"""A scan as a card in a notebook: the statistics of every component, and the findings."""

from __future__ import annotations

from fitdoctor.report.card import body, escaped, framed, sentence, tone_of
from fitdoctor.scan.draw import HEADS, MOST_ROWS, all_remarks, end, row
from fitdoctor.scan.outcome import DataReport, ScanReport

_NUMBERS_FROM = 3
"""The first column that contains numbers."""


def scan_card(report: ScanReport) -> str:
    """The HTML of a scan."""
    parts = [_data(data) for data in report.data]
    if report.shared_rows is not None:
        parts.append(
            f'<div class="fd-part">rows in both training and validation data: {report.shared_rows:,}</div>'
        )
    whole = report.complete and not report.problems
    if report.diagnosis.findings or whole:
        return framed("".join(parts) + body(report.diagnosis), tone_of(report.diagnosis))
    parts.append('<div class="fd-part">No other problems found in the data that was read</div>')
    return framed("".join(parts), "warning")


def _data(data: DataReport) -> str:
    role = "" if data.role == "training" else f"{data.role}: "
    title = f"{escaped(role + data.name)}: {data.rows:,} rows{end(data)}"
    shown = data.components[:MOST_ROWS]
    heads = "".join(f"<th>{head}</th>" for head in HEADS)
    rows = "".join(f"<tr>{_cells(row(component))}</tr>" for component in shown)
    remarks = "".join(f"<li>{sentence(line)}</li>" for line in all_remarks(data, shown))
    listed = f"<ul>{remarks}</ul>" if remarks else ""
    return (
        f'<div class="fd-part"><div class="fd-message">{title}</div>'
        f'<div class="fd-wide"><table><tr>{heads}</tr>{rows}</table></div>{listed}</div>'
    )


def _cells(texts: tuple[str, ...]) -> str:
    kinds = [' class="fd-size"' if index >= _NUMBERS_FROM else "" for index in range(len(texts))]
    return "".join(f"<td{kind}>{escaped(text)}</td>" for kind, text in zip(kinds, texts, strict=True))
