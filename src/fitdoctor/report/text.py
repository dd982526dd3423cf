"""A diagnosis for people at a terminal, in the shape that rustc made familiar."""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.diagnosis import (
    Applicability,
    Confidence,
    Diagnosis,
    Evidence,
    Finding,
    Fix,
    Location,
    Moment,
    Severity,
    Unexplained,
)
from fitdoctor.report import Look
from fitdoctor.report.excerpt import Hunk, Lines, hunks
from fitdoctor.report.paint import Line, cells, painted, printable, prose, wrapped

_SEEN = {
    Moment.SOURCE: "read in the source",
    Moment.BEFORE_FIT: "seen before the first step",
    Moment.AFTER_FAILURE: "from the failure",
    Moment.WHILE_TRAINING: "seen while training",
    Moment.IN_DATA: "seen in the data",
}

_MOST_MESSAGE_LINES = 12


def render(diagnosis: Diagnosis, look: Look) -> str:
    """The diagnosis as text: the primary finding in full, the others a line each."""
    lines = Lines(diagnosis)
    blocks = list(_blocks(diagnosis, lines, look))
    page: list[Line] = []
    for block in blocks:
        if page:
            page.append([])
        page.extend(block)
    return painted(page, color=look.color)


def _blocks(diagnosis: Diagnosis, lines: Lines, look: Look) -> Iterator[list[Line]]:
    full = len(diagnosis.findings) if look.verbose else 1
    for finding in diagnosis.findings[:full]:
        yield list(_finding(finding, lines, look))
    others = diagnosis.findings[full:]
    if others:
        yield [line for finding in others for line in _brief(finding, look.width)]
    for unexplained in diagnosis.unexplained:
        yield list(_unexplained(unexplained, lines, look))
    closing = list(_closing(diagnosis, look))
    if closing:
        yield closing


# --- one finding ---------------------------------------------------------------------------------------------------


def _finding(finding: Finding, lines: Lines, look: Look) -> Iterator[Line]:
    style = finding.severity.value
    header: Line = [(f"{style}[{finding.id}]", style), (": ", "strong"), *prose(finding.message, "strong")]
    yield from wrapped(header, look.width, [("  ", "")])
    margin = _margin(finding, lines)
    if finding.location is not None:
        yield from _excerpt(finding.location, finding.subject, lines, margin, look.width)
    yield from _evidence(finding.evidence, margin, look.width)
    for note in finding.notes:
        yield from _remark("note", prose(note), margin, look.width)
    for index, fix in enumerate(finding.fixes):
        yield from _fix(fix, index, lines, margin, look)
    yield from _remark(*_source_of_truth(finding), margin, look.width)


def _margin(finding: Finding, lines: Lines) -> int:
    """How wide the line numbers are."""
    numbers = [finding.location.line] if finding.location else []
    for fix in finding.fixes:
        for hunk in hunks(fix, lines):
            numbers.append(hunk.line + max(len(hunk.removed), len(hunk.added)))
    return max((len(str(number)) for number in numbers), default=1)


def _gutter(margin: int, number: int | None = None, sign: str = "|") -> Line:
    label = "" if number is None else str(number)
    return [(f"{label:>{margin}} {sign} ", "gutter")]


def _place(location: Location) -> str:
    return printable(location.exact)


def _excerpt(location: Location, subject: str, lines: Lines, margin: int, width: int) -> Iterator[Line]:
    yield [(f"{'':>{margin}}--> ", "gutter"), (_place(location), "")]
    text = lines.at(location.path, location.line, location.cell)
    if text is None:
        return
    yield _gutter(margin)
    room = width - margin - 3
    above = lines.before(location)
    if above is not None:
        yield [*_gutter(margin, above[0]), (_cropped(printable(above[1].rstrip()), room), "dim")]
    yield from _marked(location, text.rstrip(), subject, margin, room)
    yield _gutter(margin)


def _cropped(text: str, room: int) -> str:
    if cells(text) <= room:
        return text
    while text and cells(text) > room - 1:
        text = text[: max(len(text) - max((cells(text) - room) // 2, 1), 0)]
    return text + "…"


def _marked(location: Location, text: str, subject: str, margin: int, room: int) -> Iterator[Line]:
    """The line, and carets under the span; a line that is too long is shown around the span."""
    start = min(max(location.column - 1, 0), len(text))
    ends_here = location.end_line == location.line and location.end_column > location.column
    end = min(location.end_column - 1, len(text)) if ends_here else len(text)
    before, span, after = (printable(part) for part in (text[:start], text[start:end], text[end:]))
    if cells(before) + cells(span) + cells(after) > room:
        keep = max(room - min(cells(span), room - 8) - 8, 0)
        if cells(before) > keep:
            before = "…" + before[len(before) - keep :]
        span = _cropped(span, room - cells(before))
        after = _cropped(after, room - cells(before) - cells(span)) if after else ""
    yield [*_gutter(margin, location.line), (before, ""), (span, ""), (after, "")]
    marks = " " * cells(before) + "^" * max(cells(span), 1)
    label = f" {printable(subject)}" if subject and cells(marks) + cells(subject) + 1 <= room else ""
    yield [*_gutter(margin), (marks, "error"), *prose(label)]


# --- evidence ------------------------------------------------------------------------------------------------------


def _evidence(evidence: tuple[Evidence, ...], margin: int, width: int) -> Iterator[Line]:
    pairs = [each for each in evidence if each.observed or each.expected]
    rows = [(_claim(each), printable(each.observed), printable(each.expected)) for each in pairs]
    if rows:
        yield from _table(rows, margin, width)
        yield _gutter(margin)
    for each in evidence:
        if not (each.observed or each.expected):
            yield from _remark("seen", prose(_claim(each)), margin, width)


def _claim(evidence: Evidence) -> str:
    where = f" ({evidence.location})" if evidence.location else ""
    return printable(evidence.claim + where)


def _table(rows: list[tuple[str, str, str]], margin: int, width: int) -> Iterator[Line]:
    head = ("", "observed", "expected" if any(row[2] for row in rows) else "")
    widths = [max(cells(row[column]) for row in [head, *rows]) for column in range(3)]
    if margin + 3 + sum(widths) + 4 > width:
        yield from _stacked(rows, margin, width)
        return
    styles = ("", "error", "added")
    yield _row(head, widths, ("dim", "dim", "dim"), margin)
    for row in rows:
        yield _row(row, widths, styles, margin)


def _row(row: tuple[str, str, str], widths: list[int], styles: tuple[str, ...], margin: int) -> Line:
    line = _gutter(margin)
    for text, column, style in zip(row, widths, styles, strict=True):
        padding = " " * (column - cells(text) + 2)
        line += [*(prose(text) if not style else [(text, style)]), (padding, "")]
    return line


def _stacked(rows: list[tuple[str, str, str]], margin: int, width: int) -> Iterator[Line]:
    for claim, observed, expected in rows:
        yield from wrapped([*_gutter(margin), *prose(claim)], width, _gutter(margin))
        hang = [*_gutter(margin), (" " * 12, "")]
        for label, text, style in (("observed", observed, "error"), ("expected", expected, "added")):
            if text:
                start: Line = [*_gutter(margin), (f"  {label}  ", "dim"), (text, style)]
                yield from wrapped(start, width, hang)


# --- fixes and remarks ---------------------------------------------------------------------------------------------


def _fix(fix: Fix, index: int, lines: Lines, margin: int, look: Look) -> Iterator[Line]:
    title: Line = [("help", "help"), (": ", ""), *prose(fix.title if index == 0 else f"or {fix.title}")]
    manner = _manner(fix)
    if manner:
        title.append((f" ({manner})", "dim"))
    yield from wrapped(title, look.width, [("      ", "")])
    if index > 0 and not look.verbose:
        return
    drawn = hunks(fix, lines)
    if not drawn:
        return
    yield _gutter(margin)
    for number, hunk in enumerate(drawn):
        if number:
            yield [(f"{'':>{margin}} ⋮", "gutter")]
        yield from _hunk(hunk, margin, look.width)
    yield _gutter(margin)


def _manner(fix: Fix) -> str:
    if fix.verified:
        return "verified: the repaired program ran"
    if fix.edits and fix.applicability is Applicability.UNSAFE:
        return "unsafe: changes what the model learns"
    return ""


def _hunk(hunk: Hunk, margin: int, width: int) -> Iterator[Line]:
    room = width - margin - 3
    skipped = _shared_start((*hunk.removed, *hunk.added), room)

    def shown(text: str, skip: int = 0) -> str:
        return _cropped(("…" if skip else "") + printable(text[skip:]), room)

    if hunk.before is not None:
        yield [*_gutter(margin, hunk.line - 1), (shown(hunk.before), "dim")]
    for offset, text in enumerate(hunk.removed):
        yield [*_signed(margin, hunk.line + offset, "-", "removed"), (shown(text, skipped), "removed")]
    for offset, text in enumerate(hunk.added):
        yield [*_signed(margin, hunk.line + offset, "+", "added"), (shown(text, skipped), "added")]
    if hunk.after is not None and not hunk.removed:
        yield [*_gutter(margin, hunk.line + len(hunk.added)), (shown(hunk.after), "dim")]


def _shared_start(texts: tuple[str, ...], room: int) -> int:
    """How much of the beginning of long lines to leave out so that the place where they differ is in sight."""
    if len(texts) < 2 or all(cells(printable(text)) <= room for text in texts):
        return 0
    shared = 0
    while shared < min(map(len, texts)) and len({text[shared] for text in texts}) == 1:
        shared += 1
    return shared - 24 if shared > room - 24 else 0


def _signed(margin: int, number: int, sign: str, style: str) -> Line:
    return [(f"{number:>{margin}} ", "gutter"), (f"{sign} ", style)]


def _remark(label: str, text: Line, margin: int, width: int) -> Iterator[Line]:
    start: Line = [(f"{'':>{margin}} = ", "gutter"), (f"{label}: ", "strong"), *text]
    yield from wrapped(start, width, [(" " * (margin + 3), "")])


def _source_of_truth(finding: Finding) -> tuple[str, Line]:
    sure = finding.confidence.value if finding.confidence is not Confidence.POSSIBLE else "perhaps"
    seen = _SEEN[finding.moment]
    if finding.moment is Moment.SOURCE and finding.location is None:
        seen = "read in the installed packages and settings"
    text: Line = [*prose(seen), ("; read more: ", ""), *_command(f"explain {finding.id}")]
    return sure, text


def _command(words: str) -> Line:
    return [(f"fitdoctor {words}", "name")]


# --- the rest ------------------------------------------------------------------------------------------------------


def _brief(finding: Finding, width: int) -> Iterator[Line]:
    style = finding.severity.value
    where = f" {printable(str(finding.location))}" if finding.location else ""
    line: Line = [(f"{style}[{finding.id}]", style), (where, "dim"), (": ", ""), *prose(finding.message)]
    return wrapped(line, width, [("  ", "")])


def _unexplained(unexplained: Unexplained, lines: Lines, look: Look) -> Iterator[Line]:
    message = "\n".join(unexplained.message.strip().split("\n")[:_MOST_MESSAGE_LINES])
    header: Line = [("unexplained", "warning"), (": ", "strong"), (unexplained.type, "strong")]
    if message:
        header += [(": ", ""), *[(_multiline(message), "")]]
    yield from wrapped(header, look.width, [("  ", "")])
    margin = len(str(unexplained.location.line)) if unexplained.location else 1
    if unexplained.location is not None:
        yield from _excerpt(unexplained.location, "", lines, margin, look.width)
    facts = [("called", unexplained.called), ("layer", unexplained.layer)]
    facts += [("received", argument) for argument in unexplained.arguments]
    for label, value in facts:
        if value:
            yield from _remark(label, [(printable(value), "")], margin, look.width)
    closing = unexplained.note or "no cause in the catalogue fits this failure"
    yield from _remark("note", [(closing, "")], margin, look.width)


def _multiline(message: str) -> str:
    return "\n".join(printable(line) for line in message.split("\n"))


def _closing(diagnosis: Diagnosis, look: Look) -> Iterator[Line]:
    if not diagnosis.findings and not diagnosis.unexplained:
        yield [("no problem found", "help")]
    elif len(diagnosis.findings) > 1:
        yield [(_counted(diagnosis), "strong"), *_hint(look)]
    for crash in diagnosis.crashes:
        text: Line = [("fitdoctor's own fault", "warning"), (f": {printable(crash.where)}: ", "")]
        yield from wrapped([*text, (printable(crash.error), "")], look.width, [("  ", "")])
    if look.verbose:
        for skipped in diagnosis.skipped:
            note: Line = [("not judged: ", "dim"), (f"{skipped.id}: {printable(skipped.reason)}", "dim")]
            yield from wrapped(note, look.width, [("  ", "")])


def _counted(diagnosis: Diagnosis) -> str:
    counts = []
    for severity in Severity:
        number = sum(finding.severity is severity for finding in diagnosis.findings)
        if number:
            plural = "" if number == 1 or severity is Severity.INFO else "s"
            counts.append(f"{number} {severity.value}{plural}")
    return ", ".join(counts)


def _hint(look: Look) -> Line:
    return [] if look.verbose else [("; --verbose shows each in full", "dim")]
