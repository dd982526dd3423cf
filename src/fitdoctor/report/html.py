"""One self-contained page: it loads nothing, runs no script but its own, and shows what the user wrote as text.

Made of the cards that notebooks show, so that there is one design. The pictures are finished SVG and the folding is
`<details>`: the page is complete where scripts are blocked, in print, and on paper.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from fitdoctor import __version__
from fitdoctor.catalogue.words import counted
from fitdoctor.data_statistics import DataReport
from fitdoctor.diagnosis import Diagnosis, Invocation, MemoryCourse, Training, Way
from fitdoctor.report import Look
from fitdoctor.report.card import (
    assets,
    badge,
    bare_frame,
    escaped,
    finding_part,
    folded_finding,
    place,
    sentence,
    tone_of,
    unexplained_part,
)
from fitdoctor.report.charts import curves, histogram, statistics_table
from fitdoctor.report.excerpt import Lines
from fitdoctor.report.flow import ARROW, breaks, flow
from fitdoctor.report.text import counts

_MOST_UNFOLDED = 5
"""More findings than this are folded, but for the first."""
_NAMES = {
    "python": "Python",
    "tensorflow": "TensorFlow",
    "keras": "Keras",
    "tf_keras": "Keras 2",
    "numpy": "NumPy",
}
_SECTIONS = {
    "findings": "Findings",
    "flow": "Data flow",
    "data": "Data",
    "memory": "Memory",
    "training": "Training",
}
"""The kinds of sections, in the order of the page."""


def render(diagnosis: Diagnosis, look: Look) -> str:
    """The diagnosis as an HTML page."""
    lines = Lines(diagnosis)
    parts = list(_findings(diagnosis, lines))
    parts += [bare_frame(unexplained_part(each, lines), "warning") for each in diagnosis.unexplained]
    for number, way in enumerate(diagnosis.ways):
        parts += _way(way, unfolded=number == 0 or breaks(way))
    parts += [part for course in diagnosis.memory for part in _memory(course)]
    parts += [part for training in diagnosis.trainings for part in _training(training)]
    if diagnosis.scan is not None:
        parts += [part for data in diagnosis.scan.data for part in _data(data)]
        if diagnosis.scan.shared_rows is not None:
            shared = f"rows in both training and validation data: {diagnosis.scan.shared_rows:,}"
            parts.append(bare_frame(f'<div class="fd-part">{shared}</div>'))
    parts += _rest(diagnosis)
    contents, body = _linked("".join(parts))
    verdict, tone = _verdict(diagnosis), tone_of(diagnosis)
    said = f"{badge(verdict, tone)} {sentence(_ending(diagnosis))}"
    top = head(diagnosis.invocation, said, tone, diagnosis.tool_version, contents)
    return page(title(diagnosis.invocation, verdict), top + body, diagnosis.tool_version)


def page(title: str, body: str, version: str = "") -> str:
    """A whole page around cards; ends with a line break.

    Args:
        title: plain text.
        body: HTML that is safe already.
        version: of the fitdoctor that made what is shown.
    """
    style, script = _page_assets()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )
    text = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{escaped(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{ARROW}\n<main>\n{body}\n"
        f"<footer>fitdoctor {escaped(version or __version__)}</footer>\n</main>\n"
        f"<script>{script}</script>\n</body>\n</html>\n"
    )
    # Bytes in a file name that are not text cannot be written as UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")


@functools.cache
def _page_assets() -> tuple[str, str]:
    folder = Path(__file__).parent
    style, script = assets()
    return style + (folder / "page.css").read_text("utf-8"), script + (folder / "page.js").read_text("utf-8")


# --- the head -----------------------------------------------------------------------------------------------------


def title(known: Invocation | None, verdict: str) -> str:
    """Return what the tab of the browser shows."""
    return f"{f'{known.program}: ' if known and known.program else ''}{verdict} (fitdoctor)"


def _verdict(diagnosis: Diagnosis) -> str:
    if diagnosis.findings:
        return counts(diagnosis.findings)
    unexplained = len(diagnosis.unexplained)
    return counted(unexplained, "unexplained error") if unexplained else "no problems found"


def _linked(body: str) -> tuple[str, str]:
    """Return links to the first section of each kind, and the page with one anchor for each."""
    links = []
    for name, title in _SECTIONS.items():
        anchor = f' id="{name}">'
        before, found, after = body.partition(anchor)
        body = before + found + after.replace(anchor, ">")
        if found:
            links.append(f'<a href="#{name}">{title}</a>')
    return f"<nav>{''.join(links)}</nav>" if len(links) > 1 else "", body


def head(known: Invocation | None, verdict: str, tone: str, version: str = "", contents: str = "") -> str:
    """Program, arguments, date, versions, verdict (as HTML) and links to what follows."""
    words = [known.program, *map(_quoted, known.arguments)] if known else ["fitdoctor"]
    facts: list[tuple[str, str]] = []
    if known is not None:
        if known.command:
            facts.append(("Command", f"fitdoctor {known.command}"))
        if known.started:
            facts.append(("Started", known.started.replace("T", " ").replace("Z", " UTC")))
        if known.seconds is not None and math.isfinite(known.seconds):
            facts.append(("Duration", _duration(known.seconds)))
        facts += [(_NAMES.get(name, name), version) for name, version in known.versions]
    facts.append(("fitdoctor", version or __version__))
    listed = "".join(f"<div><dt>{escaped(name)}</dt><dd>{escaped(text)}</dd></div>" for name, text in facts)
    return bare_frame(
        f'<header class="fd-part"><h1>{escaped(" ".join(words))}</h1>'
        f'<div class="fd-verdict">{verdict}</div><dl>{listed}</dl>{contents}</header>',
        tone,
    )


def _quoted(word: str) -> str:
    import shlex

    return shlex.quote(word)


def _ending(diagnosis: Diagnosis) -> str:
    """How the program ended, in words."""
    script = diagnosis.script
    if script is None:
        return ""
    if script.signal:
        return f"killed by {script.signal}"
    raised = script.exception.type if script.exception else ""
    if raised == "FitWillFail":
        return "stopped before the first step"
    status = "" if script.exit_code is None else f"exit status {script.exit_code}"
    return f"raised `{raised}`, {status}" if raised and status else status


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


# --- findings -----------------------------------------------------------------------------------------------------


def _findings(diagnosis: Diagnosis, lines: Lines) -> Iterator[str]:
    if diagnosis.findings:
        yield '<div id="findings"></div>'
    few = len(diagnosis.findings) <= _MOST_UNFOLDED
    for number, finding in enumerate(diagnosis.findings):
        whole = number == 0
        body = finding_part(finding, lines) if whole else folded_finding(finding, lines, unfolded=few)
        yield bare_frame(body, finding.severity.value)


# --- what was seen of the run -------------------------------------------------------------------------------------


def _section(kind: str, title: str, where: str, body: str, *, unfolded: bool = True) -> Iterator[str]:
    """A heading, and what belongs to it in a card."""
    if not body:
        return
    yield f'<h2 id="{kind}">{title} {where}</h2>'
    part = f'<div class="fd-part">{body}</div>'
    if not unfolded:
        part = f'<details class="fd-more"><summary>Show</summary>{part}</details>'
    yield bare_frame(part)


def _way(way: Way, *, unfolded: bool) -> Iterator[str]:
    method, where = f"<code>{escaped(way.method)}</code>", place(way.location)
    if way.steps:
        yield from _section("flow", f"Data flow through {method}", where, flow(way), unfolded=unfolded)
    if way.data:
        labels = "".join(histogram(one) for one in way.data)
        charts = f'<div class="fd-charts">{labels}</div>' if labels else ""
        title = f"Data passed to {method}"
        yield from _section("data", title, where, statistics_table(way.data) + charts, unfolded=unfolded)


def _memory(course: MemoryCourse) -> Iterator[str]:
    from fitdoctor.report.memory import drawn
    from fitdoctor.report.memory_card import drawing

    peak = max((size for _stage, size in course.points), default=0)
    picture = drawing(drawn(course.points, course.free, peak))
    if not picture:
        return
    note = (
        f'<div class="fd-dim">Bytes of tensors at a batch size of {course.batch_size:,}, estimated from the shapes of the '
        "layers; <code>fitdoctor memory</code> measures the step itself.</div>"
    )
    title = f"Memory over one step of <code>{escaped(course.method)}</code>"
    yield from _section("memory", title, place(course.location), picture + note)


def _training(training: Training) -> Iterator[str]:
    if training.history:
        title = f"Training in <code>{escaped(training.method)}</code>"
        yield from _section("training", title, place(training.location), curves(training))


def _data(data: DataReport) -> Iterator[str]:
    """All statistics of a scan."""
    read = [f"{data.rows:,} rows"]
    if data.elements is not None:
        read.append(f"{data.elements:,} elements")
    read.append(f"{data.seconds:.1f} s")
    if data.interrupted:
        read.append("interrupted, partial results")
    elif not data.complete:
        read.append("not read to the end" if data.expected is None else f"of {data.expected:,}")
    labels = "".join(histogram(one) for one in data.components)
    remarks = "".join(f"<li>{remark}</li>" for remark in _remarks(data))
    body = (
        f'<div class="fd-dim">{", ".join(read)}</div>{statistics_table(data.components)}'
        + (f"<ul>{remarks}</ul>" if remarks else "")
        + (f'<div class="fd-charts">{labels}</div>' if labels else "")
    )
    yield from _section("data", f"{escaped(data.role.capitalize())} data", escaped(data.name), body)


def _remarks(data: DataReport) -> Iterator[str]:
    """What a table cannot hold, as HTML."""
    for one in data.components:
        name = f"<code>{escaped(one.path)}</code>"
        if one.first_nonfinite:
            yield f"{name}: first missing or non-finite value: {sentence(one.first_nonfinite)}"
        if one.nonfinite_columns:
            columns = (
                f"<code>{escaped(column)}</code> ({count:,})" for column, count in one.nonfinite_columns
            )
            yield f"{name}: non-finite values by column: {', '.join(columns)}"
        for what, seen in (("shapes", one.shapes), ("dtypes", one.types)):
            if len(seen) > 1:
                each = (
                    f"{escaped(item.what)} × {item.count:,}"
                    + (f", first in element {item.first:,}" if item.first is not None else "")
                    for item in seen
                )
                yield f"{name}: {what}: {'; '.join(each)}"
        if one.constant_columns:
            yield f"{name}: constant columns: {_names(one.constant_columns)}"
        for group in one.duplicate_columns:
            yield f"{name}: identical columns: {_names(group)}"
    constant = [one.path for one in data.components if one.constant and data.rows > 1 and one.part == "x"]
    if constant and len(data.components) > 1:
        yield f"constant columns: {_names(constant)}"
    for group in data.duplicate_columns:
        yield f"identical columns: {_names(group)}"
    for remark in data.remarks:
        yield sentence(remark)
    for problem in data.problems:
        at = f"element {problem.element:,}: " if problem.element is not None else ""
        yield f'<span class="fd-broken">problem: {at}{escaped(problem.what)}</span>'


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"<code>{escaped(name)}</code>" for name in names)


# --- the rest -----------------------------------------------------------------------------------------------------


def _rest(diagnosis: Diagnosis) -> Iterator[str]:
    """Internal errors, and the causes that could not be checked."""
    for title, entries in (
        (
            counted(len(diagnosis.crashes), "internal error") + " of fitdoctor",
            [(each.where, each.error) for each in diagnosis.crashes],
        ),
        (
            f"{counted(len(diagnosis.skipped), 'cause')} could not be checked",
            [(each.id, each.reason) for each in diagnosis.skipped],
        ),
    ):
        if entries:
            rows = "".join(f"<li><code>{escaped(name)}</code> {escaped(text)}</li>" for name, text in entries)
            yield bare_frame(
                f'<details class="fd-more"><summary>{title}</summary><div class="fd-part"><ul>{rows}</ul></div></details>'
            )
