"""A diagnosis for people at a terminal, in the style of rustc."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fitdoctor.catalogue.words import counted
from fitdoctor.diagnosis import (
    Applicability,
    Diagnosis,
    Evidence,
    Finding,
    Fix,
    Location,
    Moment,
    Severity,
    Unexplained,
)
from fitdoctor.edits import same_place
from fitdoctor.report import Look
from fitdoctor.report.excerpt import Hunk, Lines, hunks, in_their_files
from fitdoctor.report.paint import (
    Line,
    Span,
    cells,
    code,
    link,
    painted,
    printable,
    prose,
    restyled,
    table,
    unbroken,
    wrapped,
)

_FOUND = {
    Moment.SOURCE: "found in the source",
    Moment.BEFORE_FIT: "found before the first step",
    Moment.AFTER_FAILURE: "found from the error",
    Moment.WHILE_TRAINING: "found during training",
    Moment.IN_DATA: "found in the data",
}

_FIGURE = re.compile(r"\d+(?:\.\d+)?")
_SHAPE = re.compile(r"\([^()]{1,30}\)")
_BREAK = re.compile(r"\s*\n\s*")
_WORD = re.compile(rf"{_FIGURE.pattern}|[^\W\d]\w*")

_MOST_MESSAGE_LINES = 12
_LONGEST_LINE_OF_MESSAGE = 600


def render(diagnosis: Diagnosis, look: Look) -> str:
    """Return the diagnosis as text: the first findings in full, the others in one line each."""
    lines = Lines(diagnosis)
    blocks = list(_blocks(diagnosis, lines, look))
    page: list[Line] = []
    for block in blocks:
        if page:
            page.append([])
        page.extend(block)
    return painted(page, color=look.color, links=look.links)


def _blocks(diagnosis: Diagnosis, lines: Lines, look: Look) -> Iterator[list[Line]]:
    full = len(diagnosis.findings) if look.verbose else look.full
    for finding in diagnosis.findings[:full]:
        yield list(_finding(finding, lines, look))
    others = diagnosis.findings[full:]
    if others:
        yield [line for finding in others for line in _brief(finding, look)]
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
        yield from _excerpt(finding.location, _name_of_marked(finding), lines, margin, look)
    yield from _evidence(finding, margin, look)
    for note in finding.notes:
        yield from _remark("note", prose(note), margin, look.width)
    for index, fix in enumerate(finding.fixes):
        yield from _fix(fix, index, finding.location, lines, margin, look)
    yield from _remark(*_certainty(finding), margin, look.width)


_DATA = ("labels", "argument x of fit", "argument y of fit")


def _name_of_marked(finding: Finding) -> str:
    """Return the words beside the carets: the subject, unless it is data and the layer or loss is marked."""
    if finding.location is not None and finding.subject.startswith(_DATA):
        for each in finding.evidence:
            if each.location is None:
                continue
            here = same_place(each.location, finding.location)
            if each.fact.startswith("model." if here else "data."):
                return ""
    return finding.subject


def _margin(finding: Finding, lines: Lines) -> int:
    """Return the width of the line numbers."""
    numbers = [finding.location.line] if finding.location else []
    for fix in finding.fixes:
        for hunk in hunks(fix, lines):
            numbers.append(hunk.line + max(len(hunk.removed), len(hunk.added)))
    return max((len(str(number)) for number in numbers), default=1)


def _gutter(margin: int, number: int | None = None) -> Line:
    label = "" if number is None else str(number)
    return [(f"{label:>{margin}} | ", "gutter")]


def _place(location: Location, look: Look, text: str = "") -> Span:
    """Return a location as text, as a hyperlink if the terminal supports them."""
    linked = look.links and look.color and location.cell is None
    return printable(text or location.exact), link(location.path, location.line) if linked else ""


def _excerpt(location: Location, subject: str, lines: Lines, margin: int, look: Look) -> Iterator[Line]:
    yield [(f"{'':>{margin}}--> ", "gutter"), _place(location, look)]
    text = lines.at(location.path, location.line, location.cell)
    if text is None:
        return
    yield _gutter(margin)
    room = look.width - margin - 3
    above = lines.before(location)
    if above is not None and any(map(str.isalnum, above[1])):
        yield [*_gutter(margin, above[0]), (_cropped(printable(above[1].rstrip()), room), "dim")]
    yield from _marked(location, text.rstrip(), subject, margin, look)


def _cropped(text: str, room: int) -> str:
    if cells(text) <= room:
        return text
    while text and cells(text) > room - 1:
        text = text[: max(len(text) - max((cells(text) - room) // 2, 1), 0)]
    return text + "…"


def _marked(location: Location, text: str, subject: str, margin: int, look: Look) -> Iterator[Line]:
    """Yield the line, and carets under the span; a long line is shown around the span."""
    room = look.width - margin - 3
    start = min(max(location.column - 1, 0), len(text))
    ends_here = location.end_line == location.line and location.end_column > location.column
    end = min(location.end_column - 1, len(text)) if ends_here else len(text)
    before, span, after = (printable(part) for part in (text[:start], text[start:end], text[end:]))
    if cells(before) + cells(span) + cells(after) > room:
        keep = max(room - min(cells(span), room - 8) - 8, 0)
        if cells(before) > keep:
            before = "…" + before[len(before) - keep :]
        # One more than there is room for, so that a cropped span says so itself.
        span = _cropped(span + after[:1], room - cells(before)) if cells(before + span) >= room else span
        after = _cropped(after, room - cells(before) - cells(span)) if cells(before + span) < room else ""
    yield [*_gutter(margin, location.line), *code(before + span + after, color=look.color)]
    marks = " " * cells(before) + "^" * max(cells(span), 1)
    label = f" {printable(subject)}" if subject and cells(marks) + cells(subject) + 1 <= room else ""
    yield [*_gutter(margin), (marks, "error"), *prose(label)]


# --- evidence ------------------------------------------------------------------------------------------------------


def _evidence(finding: Finding, margin: int, look: Look) -> Iterator[Line]:
    """Yield observed and expected values as a table, and other observations one line each.

    Figures that the message contains are not repeated, unless `verbose` is set.
    """
    rows, seen = [], []
    for each in finding.evidence:
        claim = _claim(each, finding, look)
        repeated = bool(each.observed or each.expected) and not look.verbose and _repeats(each, finding)
        if repeated and not _adds(each, finding):
            continue
        if each.expected and not repeated:
            rows.append((claim, _with_whole_shapes(each.observed), _with_whole_shapes(each.expected)))
        elif each.observed and not repeated:
            seen.append([*claim, (": ", ""), (_with_whole_shapes(each.observed), "error")])
        else:
            seen.append(claim)
    if rows:
        yield _gutter(margin)
        yield from _table(rows, margin, look.width)
    for line in seen:
        yield from _remark("seen", line, margin, look.width)


def _with_whole_shapes(text: str) -> str:
    # Code of several lines is shown in one.
    return _SHAPE.sub(lambda shape: unbroken(shape[0]), printable(_BREAK.sub(" ", text)))


def _repeats(evidence: Evidence, finding: Finding) -> bool:
    """Whether the message already contains what was observed and expected."""
    said = set(_WORD.findall(finding.message))
    return set(_WORD.findall(f"{evidence.observed} {evidence.expected}")) <= said


def _adds(evidence: Evidence, finding: Finding) -> bool:
    """Whether the claim has a figure that the message lacks: `label 10 appears in row 25`."""
    outside_names = " ".join(evidence.claim.split("`")[::2]).replace("Keras 2 ", "")
    return not set(_FIGURE.findall(outside_names)) <= set(_FIGURE.findall(finding.message))


def _claim(evidence: Evidence, finding: Finding, look: Look) -> Line:
    claim = prose(evidence.claim)
    place, here = evidence.location, finding.location
    if place is None:
        return claim
    same = here is not None and (place.path, place.cell) == (here.path, here.cell)
    where = unbroken(f"line {place.line}") if same else str(place)
    return [*claim, (" (", ""), _place(place, look, where), (")", "")]


def _table(rows: list[tuple[Line, str, str]], margin: int, width: int) -> Iterator[Line]:
    body: list[list[Line]] = [[[], [("observed", "dim")], [("expected", "dim")]]]
    body += [[claim, [(observed, "error")], [(expected, "added")]] for claim, observed, expected in rows]
    laid = table(body, width - margin - 3)
    if laid is None:
        yield from _stacked(rows, margin, width)
        return
    for line in laid:
        yield [*_gutter(margin), *line]


def _stacked(rows: list[tuple[Line, str, str]], margin: int, width: int) -> Iterator[Line]:
    for claim, observed, expected in rows:
        yield from wrapped([*_gutter(margin), *claim], width, _gutter(margin))
        hang = [*_gutter(margin), (" " * 12, "")]
        for label, text, style in (("observed", observed, "error"), ("expected", expected, "added")):
            if text:
                start: Line = [*_gutter(margin), (f"  {label}  ", "dim"), (text, style)]
                yield from wrapped(start, width, hang)


# --- fixes and remarks ---------------------------------------------------------------------------------------------


def _fix(
    fix: Fix, index: int, here: Location | None, lines: Lines, margin: int, look: Look
) -> Iterator[Line]:
    title: Line = [("help", "help"), (": ", ""), *prose(fix.title if index == 0 else f"or {fix.title}")]
    label = fix_label(fix)
    if label:
        title.append((f" ({label})", "caution" if fix.applicability is Applicability.UNSAFE else "dim"))
    yield from wrapped(title, look.width, [("      ", "")])
    if index > 0 and not look.verbose:
        return
    for number, (hunk, elsewhere) in enumerate(in_their_files(hunks(fix, lines), here)):
        if elsewhere is not None:
            yield [(f"{'':>{margin}}::: ", "gutter"), _place(elsewhere, look, str(elsewhere))]
        else:
            yield [(f"{'':>{margin}} ⋮", "gutter")] if number else _gutter(margin)
        yield from _hunk(hunk, margin, look)


def fix_label(fix: Fix) -> str:
    """Return whether a fix can be applied without review: `safe`, or `unsafe: changes what the model learns`."""
    if not fix.edits:
        return ""
    unsafe = fix.applicability is Applicability.UNSAFE
    label = "unsafe: changes what the model learns" if unsafe else "safe"
    return f"{label}; verified by running the repaired program" if fix.verified else label


def _hunk(hunk: Hunk, margin: int, look: Look) -> Iterator[Line]:
    room = look.width - margin - 3
    if hunk.before is not None:
        yield [*_gutter(margin, hunk.line - 1), (_cropped(printable(hunk.before), room), "dim")]
    for sign, style, texts, others in (
        ("-", "removed", hunk.removed, hunk.added),
        ("+", "added", hunk.added, hunk.removed),
    ):
        for offset, text in enumerate(texts):
            number: Line = [(f"{hunk.line + offset:>{margin}} ", "gutter"), (f"{sign} ", style)]
            indent = len(text) - len(text.lstrip())
            # In full, since it may be copied: what is too long goes on below, further in.
            hang: Line = [(" " * (margin + 1), ""), (f"{sign} ", style), (" " * (indent + 8), "")]
            if len(texts) == len(others) == 1:
                line = _changed(text, others[0], style, look)
            else:
                line = [(printable(text), style)]
            yield from wrapped([*number, *line], look.width, hang)
    if hunk.after is not None and not hunk.removed:
        at = hunk.line + len(hunk.added)
        yield [*_gutter(margin, at), (_cropped(printable(hunk.after), room), "dim")]


def _changed(text: str, other: str, style: str, look: Look) -> Line:
    """Return a line of code with its difference from another line highlighted."""
    text, other = printable(text), printable(other)
    shortest, head, tail = min(len(text), len(other)), 0, 0
    while head < shortest and text[head] == other[head]:
        head += 1
    while tail < shortest - head and text[-1 - tail] == other[-1 - tail]:
        tail += 1
    return restyled(code(text, color=look.color), head, len(text) - tail, f"changed {style}")


def _remark(label: str, text: Line, margin: int, width: int) -> Iterator[Line]:
    start: Line = [(f"{'':>{margin}} = ", "gutter"), (f"{label}: ", "strong"), *text]
    yield from wrapped(start, width, [(" " * (margin + 3), "")])


def _certainty(finding: Finding) -> tuple[str, Line]:
    details: Line = [(unbroken(f"fitdoctor explain {finding.id}"), "name")]
    return finding.confidence.value, [*prose(when_found(finding)), ("; details: ", ""), *details]


def when_found(finding: Finding) -> str:
    """Return the moment at which a finding was made, in words."""
    if finding.moment is Moment.SOURCE and finding.location is None:
        return "found in the installed packages and settings"
    return _FOUND[finding.moment]


# --- the rest ------------------------------------------------------------------------------------------------------


def _brief(finding: Finding, look: Look) -> Iterator[Line]:
    style = finding.severity.value
    line: Line = [(f"{style}[{finding.id}]", style)]
    if finding.location is not None:
        line += [(" ", ""), _place(finding.location, look, str(finding.location))]
    return wrapped([*line, (": ", ""), *prose(finding.message)], look.width, [("  ", "")])


def _unexplained(unexplained: Unexplained, lines: Lines, look: Look) -> Iterator[Line]:
    said, _, _traceback = unexplained.message.strip().partition("\nTraceback (most recent call last)")
    message = "\n".join(said.split("\n")[:_MOST_MESSAGE_LINES])
    header: Line = [
        ("unexplained", "warning"),
        (": ", "strong"),
        (unexplained.type or "a traceback without its exception", "strong"),
    ]
    if message:
        header += [(": ", ""), *[(_multiline(message), "")]]
    yield from wrapped(header, look.width, [("  ", "")])
    margin = len(str(unexplained.location.line)) if unexplained.location else 1
    if unexplained.location is not None:
        yield from _excerpt(unexplained.location, "", lines, margin, look)
    facts = [("called", unexplained.called), ("layer", unexplained.layer)]
    facts += [("received", argument) for argument in unexplained.arguments]
    for label, value in facts:
        if value:
            yield from _remark(label, [(printable(value), "")], margin, look.width)
    closing = unexplained.note or "no known cause matches this error"
    yield from _remark("note", [(closing, "")], margin, look.width)


def _multiline(message: str) -> str:
    lines = (
        line[:_LONGEST_LINE_OF_MESSAGE] + "…" * (len(line) > _LONGEST_LINE_OF_MESSAGE)
        for line in message.split("\n")
    )
    return "\n".join(map(printable, lines))


def _closing(diagnosis: Diagnosis, look: Look) -> Iterator[Line]:
    number = len(diagnosis.findings)
    if look.counts and not number and not diagnosis.unexplained:
        yield [("no problems found", "help")]
    elif look.counts and number > 1:
        hint = "" if look.verbose or look.full >= number else "; use `--verbose` to see each in full"
        yield [(counts(diagnosis.findings), "strong"), (hint, "dim")]
    for crash in diagnosis.crashes:
        text: Line = [("internal error", "warning"), (f": {printable(crash.where)}: ", "")]
        yield from wrapped([*text, (printable(crash.error), "")], look.width, [("  ", "")])
    if look.verbose:
        for skipped in diagnosis.skipped:
            note: Line = [("not checked: ", "dim"), (f"{skipped.id}: {printable(skipped.reason)}", "dim")]
            yield from wrapped(note, look.width, [("  ", "")])


def counts(findings: Iterable[Finding]) -> str:
    """Return the number of findings of each severity: `1 error, 2 warnings`."""
    severities = [finding.severity for finding in findings]
    return ", ".join(
        counted(severities.count(severity), severity.value, "info" if severity is Severity.INFO else "")
        for severity in Severity
        if severity in severities
    )


def brief(findings: Iterable[Finding], look: Look) -> str:
    """The findings as text, one line each."""
    lines = (line for found in findings for line in _brief(found, look))
    return painted(lines, color=look.color, links=look.links)
