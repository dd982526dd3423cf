"""A diagnosis as a card in a notebook: HTML that loads nothing, keeps its styles to itself, and escapes everything.

Composed in plain Python: a card must appear wherever fitdoctor runs, without a package for templates.
"""

from __future__ import annotations

import functools
import html
from collections.abc import Iterable, Iterator
from pathlib import Path

from fitdoctor.diagnosis import Applicability, Diagnosis, Evidence, Finding, Fix, Location, Unexplained
from fitdoctor.records import replace
from fitdoctor.report.excerpt import Hunk, Lines, hunks, in_their_files
from fitdoctor.report.highlight import tokens
from fitdoctor.report.paint import printable
from fitdoctor.report.text import fix_label, when_found

_MOST_FINDINGS = 50
_LONGEST_MESSAGE = 2000


def card(diagnosis: Diagnosis, note: str = "") -> str:
    """The HTML of a diagnosis: the first finding in full, the others folded, and a remark below."""
    below = f'<div class="fd-more fd-part fd-dim">{sentence(note)}</div>' if note else ""
    return framed(body(diagnosis) + below, tone_of(diagnosis))


def body(diagnosis: Diagnosis) -> str:
    """Return the content of a card, without its frame."""
    lines = Lines(diagnosis)
    parts = [finding_part(found, lines) for found in diagnosis.findings[:1]]
    parts += [unexplained_part(each, lines) for each in diagnosis.unexplained]
    parts += [folded_finding(found, lines) for found in diagnosis.findings[1:_MOST_FINDINGS]]
    left_out = len(diagnosis.findings) - _MOST_FINDINGS
    if left_out > 0:
        parts.append(
            f'<div class="fd-part fd-dim">{left_out} more findings: <code>print(diagnosis)</code></div>'
        )
    if not parts:
        parts.append(
            '<div class="fd-part"><span class="fd-badge fd-good">fitdoctor</span> No problems found</div>'
        )
    parts += [_crash(crash.where, crash.error) for crash in diagnosis.crashes]
    return "".join(parts)


def tone_of(diagnosis: Diagnosis) -> str:
    """Return the color of the card's edge: that of its worst finding."""
    if diagnosis.findings:
        return diagnosis.findings[0].severity.value
    return "warning" if diagnosis.unexplained else "good"


# --- what other cards need, too -----------------------------------------------------------------------------------


def framed(body: str, tone: str = "") -> str:
    """Return a card around HTML that is already escaped.

    Args:
        body: elements of the class `fd-part` or `fd-more`.
        tone: `error`, `warning`, `info`, `good`, or "" for a plain edge.
    """
    style, script = assets()
    return bare_frame(f"<style>{style}</style>{body}<script>{script}</script>", tone)


def bare_frame(body: str, tone: str = "") -> str:
    """The same for a page that has the styles and the script already."""
    edge = f" fd-{tone}" if tone else ""
    return f'<div class="fitdoctor-card{edge}" data-fitdoctor="card">{body}</div>'


@functools.cache
def assets() -> tuple[str, str]:
    """The styles and the script of a card."""
    folder = Path(__file__).parent
    return (folder / "card.css").read_text("utf-8"), (folder / "card.js").read_text("utf-8")


def escaped(text: str) -> str:
    """Return any text escaped for HTML, without control codes or characters that reorder text."""
    return html.escape(printable(text))


def sentence(text: str) -> str:
    """Return a sentence as HTML with its `names` as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escaped(text)
    return "".join(
        f"<code>{escaped(part)}</code>" if index % 2 else escaped(part) for index, part in enumerate(parts)
    )


def badge(text: str, tone: str = "") -> str:
    """A short label."""
    return f'<span class="fd-badge{f" fd-{tone}" if tone else ""}">{escaped(text)}</span>'


def place(location: Location | None) -> str:
    """Return a location as HTML."""
    return "" if location is None else f'<span class="fd-place">{escaped(str(location))}</span>'


# --- one finding --------------------------------------------------------------------------------------------------


def finding_part(finding: Finding, lines: Lines) -> str:
    """A finding in full."""
    severity = finding.severity.value
    head = f"{badge(severity, severity)} {badge(finding.id)} {place(finding.location)}"
    return (
        f'<div class="fd-part"><div class="fd-head">{head}</div>'
        f'<div class="fd-message">{sentence(finding.message)}</div>{_details(finding, lines)}</div>'
    )


def folded_finding(finding: Finding, lines: Lines, *, unfolded: bool = False) -> str:
    """A finding behind a line that says what it is."""
    severity = finding.severity.value
    head = f"{badge(severity, severity)} {badge(finding.id)} {sentence(finding.message)} {place(finding.location)}"
    part = f'<div class="fd-part">{_details(finding, lines)}</div>'
    state = " open" if unfolded else ""
    return f'<details class="fd-more"{state}><summary>{head}</summary>{part}</details>'


def _details(finding: Finding, lines: Lines) -> str:
    parts = [_excerpt(finding.location, lines) if finding.location else "", _evidence(finding.evidence)]
    if finding.notes:
        parts.append(_list(sentence(note) for note in finding.notes))
    parts += [_fix(fix, finding.location, lines) for fix in finding.fixes[:1]]
    parts += [_other_fix(fix, finding.location, lines) for fix in finding.fixes[1:]]
    parts.append(
        f'<div class="fd-foot fd-dim">{finding.confidence.value}: {when_found(finding)}; details: '
        f"<code>fitdoctor explain {escaped(finding.id)}</code></div>"
    )
    return "".join(parts)


def _list(items: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def _excerpt(location: Location, lines: Lines) -> str:
    text = lines.at(location.path, location.line, location.cell)
    if text is None:
        return ""
    text = text.rstrip()
    above = lines.before(location)
    rows = [] if above is None else [_row(above[0], _code(above[1].rstrip()), "fd-faint")]
    start = min(max(location.column - 1, 0), len(text))
    one_line = location.end_line == location.line and location.end_column > location.column
    end = min(location.end_column - 1, len(text)) if one_line else len(text)
    rows.append(_row(location.line, _code(text, start, end)))
    return f"<pre>{''.join(rows)}</pre>"


def _row(number: int, code: str, kind: str = "", sign: str = "") -> str:
    signed = f'<span class="fd-sign">{sign} </span>' if sign else ""
    # The line break is for front ends that strip the styles.
    return f'<span class="fd-row {kind}"><span class="fd-number">{number} </span>{signed}{code}\n</span>'


def _code(text: str, start: int = 0, end: int = 0) -> str:
    """Return highlighted source, with the characters from `start` to `end` marked."""
    before, span, after = (list(_cut(text, *ends)) for ends in ((0, start), (start, end), (end, len(text))))
    marked = f"<mark>{''.join(span)}</mark>" if span else ""
    return "".join(before) + marked + "".join(after)


def _cut(text: str, start: int, end: int) -> Iterator[str]:
    position = 0
    for kind, part in tokens(text):
        shown = part[max(start - position, 0) : max(end - position, 0)]
        position += len(part)
        if shown:
            yield f'<span class="{kind}">{escaped(shown)}</span>' if kind else escaped(shown)


def _evidence(evidence: tuple[Evidence, ...]) -> str:
    pairs = [each for each in evidence if each.observed or each.expected]
    rows = "".join(
        f'<tr><td>{_claim(each)}</td><td class="fd-observed">{escaped(each.observed)}</td>'
        f'<td class="fd-expected">{escaped(each.expected)}</td></tr>'
        for each in pairs
    )
    table = f"<table><tr><th></th><th>observed</th><th>expected</th></tr>{rows}</table>" if rows else ""
    seen = [_claim(each) for each in evidence if not (each.observed or each.expected)]
    return table + (_list(seen) if seen else "")


def _claim(evidence: Evidence) -> str:
    where = f' <span class="fd-place">({escaped(str(evidence.location))})</span>' if evidence.location else ""
    return sentence(evidence.claim) + where


# --- fixes --------------------------------------------------------------------------------------------------------


def _fix(fix: Fix, here: Location | None, lines: Lines) -> str:
    changes = hunks(fix, lines)
    return (
        f'<div class="fd-label"><span><strong>Fix:</strong> {sentence(fix.title)} '
        f"{_manner(fix)}</span> {_copy(changes)}</div>{_diff(changes, here)}"
    )


def _other_fix(fix: Fix, here: Location | None, lines: Lines) -> str:
    changes = hunks(fix, lines)
    head = f"<strong>Or:</strong> {sentence(fix.title)} {_manner(fix)}"
    if not changes:
        return f'<div class="fd-label"><span>{head}</span></div>'
    return (
        f'<details class="fd-other"><summary>{head}</summary>'
        f'<div class="fd-label">{_copy(changes)}</div>{_diff(changes, here)}</details>'
    )


def _manner(fix: Fix) -> str:
    label = fix_label(replace(fix, verified=False))
    if not label:
        return ""
    manner = badge(label, "warning" if fix.applicability is Applicability.UNSAFE else "good")
    return f"{manner} {badge('verified: the repaired program ran', 'good')}" if fix.verified else manner


def _copy(changes: tuple[Hunk, ...]) -> str:
    """Return the element for the Copy button, which a script fills; an untrusted notebook strips the script."""
    text = "\n".join(line for hunk in changes for line in hunk.added)
    if not text:
        return ""
    value = html.escape(text.encode("utf-8", "replace").decode("utf-8")).replace("\n", "&#10;")
    return f'<span class="fd-copy" data-text="{value}"></span>'


def _diff(changes: tuple[Hunk, ...], here: Location | None) -> str:
    rows: list[str] = []
    for index, (hunk, elsewhere) in enumerate(in_their_files(changes, here)):
        if elsewhere is not None:
            rows.append(f'<span class="fd-row fd-faint">  {escaped(str(elsewhere))}\n</span>')
        elif index:
            rows.append('<span class="fd-row fd-faint"><span class="fd-number">⋮ </span>\n</span>')
        if hunk.before is not None:
            rows.append(_row(hunk.line - 1, _code(hunk.before), "fd-faint", " "))
        rows += [
            _row(hunk.line + offset, _code(text), f"fd-{kind}", sign)
            for kind, sign, texts in (("removed", "-", hunk.removed), ("added", "+", hunk.added))
            for offset, text in enumerate(texts)
        ]
        if hunk.after is not None and not hunk.removed:
            rows.append(_row(hunk.line + len(hunk.added), _code(hunk.after), "fd-faint", " "))
    return f"<pre>{''.join(rows)}</pre>" if rows else ""


# --- the rest -----------------------------------------------------------------------------------------------------


def unexplained_part(failure: Unexplained, lines: Lines) -> str:
    """A failure that no known cause explains."""
    message = failure.message.strip()
    if len(message) > _LONGEST_MESSAGE:
        message = message[:_LONGEST_MESSAGE].rpartition(" ")[0] + " …"
    text = "\n".join(escaped(line) for line in message.split("\n"))
    facts = [("called", failure.called), ("layer", failure.layer)]
    facts += [("received", argument) for argument in failure.arguments]
    told = [f"{label}: {escaped(value)}" for label, value in facts if value]
    note = failure.note or "no known cause matches this error"
    return (
        f'<div class="fd-part"><div class="fd-head">{badge("unexplained", "warning")} {badge(failure.type)}'
        f' {place(failure.location)}</div><div class="fd-raw">{text}</div>'
        f"{_excerpt(failure.location, lines) if failure.location else ''}{_list(told) if told else ''}"
        f'<div class="fd-foot fd-dim">{escaped(note)}</div></div>'
    )


def _crash(where: str, error: str) -> str:
    return f'<div class="fd-more fd-part fd-dim">internal error of fitdoctor: {escaped(where)}: {escaped(error)}</div>'
