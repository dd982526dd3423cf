"""Turn facts into a diagnosis: select the judges, run them, merge and rank what they find."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from fitdoctor.catalogue import Cause, Judge, causes_at
from fitdoctor.diagnosis import (
    Confidence,
    Crash,
    Diagnosis,
    Edit,
    Evidence,
    Excerpt,
    Finding,
    Fix,
    Location,
    Moment,
    Severity,
    Skipped,
    described,
)
from fitdoctor.edits import same_place
from fitdoctor.facts import Unknown
from fitdoctor.records import dataclass, replace
from fitdoctor.source.project import NO_FILES

ReadLine = Callable[[Location], str | None]
"""Returns the text of a location's first line, or None."""


@dataclass(frozen=True)
class Case:
    """What is known at one moment: facts by the name of their type.

    Where there are several of one type (training and validation data), each is judged.
    """

    moment: Moment
    facts: Mapping[str, tuple[Any, ...] | Unknown]
    path: str = ""
    """The file to judge; "" for the whole program."""
    call: str = ""
    """The call of `fit` that it is about; "" if it is not about a single one."""
    seen_live: bool = False
    """Whether the same call or model is also judged live, where a judge of both moments knows more."""

    @property
    def scope(self) -> Scope:
        """Return the scope in which a finding of this case can explain others."""
        return self.path, self.call


Scope = tuple[str, str]
"""A file and a call in it; "" matches any."""
EVERYTHING: Scope = ("", "")


@dataclass(frozen=True)
class Found:
    """A finding, and the scopes of the cases that led to it."""

    finding: Finding
    scopes: frozenset[Scope] = frozenset((EVERYTHING,))


def diagnose(
    cases: Iterable[Case],
    *,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
    causes: Mapping[str, Cause] | None = None,
    read_line: ReadLine | None = None,
) -> Diagnosis:
    """Judge the cases by every selected cause.

    Args:
        cases: what is known, moment by moment.
        select: ids, or beginnings of ids, to judge by; all when empty.
        ignore: ids, or beginnings of ids, to leave out.
        causes: the catalogue to judge by; by default those that ship and judge at these moments.
        read_line: gives source lines for excerpts and fingerprints.
    """
    cases = list(cases)
    if causes is None:
        causes = causes_at({case.moment for case in cases})
    chosen = selected(causes, select, ignore)
    findings: list[Found] = []
    skipped: dict[tuple[str, str], Skipped] = {}
    crashes: list[Crash] = []
    for case in cases:
        kinds = set(case.facts)
        for cause in chosen:
            for judge in cause.judges:
                # No case of this kind has the facts that the judge needs, so it is not reported as skipped.
                if judge.moment is not case.moment or not judge.needs <= kinds:
                    continue
                if not (case.seen_live and cause.judges_live(judge)):
                    _judge(cause, judge, case, findings, skipped, crashes)
    told = without_consequences(merge(findings), {cause.id: cause for cause in chosen})
    stages = {cause.id: cause.stage for cause in chosen}
    ranked = sorted(told, key=lambda finding: _rank(finding, stages.get(finding.id, 1)))
    ranked = [_at_the_change(finding) for finding in ranked]
    if read_line is not None:
        ranked = [_in_simple_words(finding, read_line) for finding in ranked]
    ranked, excerpts = _complete(ranked, read_line or (lambda _location: None))
    found = {finding.id for finding in ranked}
    return Diagnosis(
        findings=tuple(ranked),
        skipped=tuple(entry for entry in skipped.values() if entry.id not in found),
        crashes=tuple(dict.fromkeys(crashes)),
        excerpts=excerpts,
    )


def _at_the_change(finding: Finding) -> Finding:
    """Move the location of a call over several lines to the argument that the first fix replaces."""
    place = finding.location
    if place is None or place.line == place.end_line or not finding.fixes:
        return finding
    inside = [
        edit.location
        for edit in finding.fixes[0].edits
        if (edit.location.path, edit.location.cell) == (place.path, place.cell)
        and place.line <= edit.location.line <= edit.location.end_line <= place.end_line
    ]
    if len(inside) != 1 or inside[0].line in (place.line, place.end_line) or inside[0] == inside[0].start:
        return finding
    return replace(finding, location=inside[0])


def _in_simple_words(finding: Finding, read_line: ReadLine) -> Finding:
    """Return the finding with its edits simplified to what a person would write."""
    if not any(fix.edits for fix in finding.fixes):
        return finding
    from fitdoctor.source.simplify import simplified

    return replace(finding, fixes=tuple(simplified(fix, read_line) for fix in finding.fixes))


def selected(causes: Mapping[str, Cause], select: Collection[str], ignore: Collection[str]) -> list[Cause]:
    """Return the causes that `select` names without those that `ignore` names, by id, prefix or slug."""
    if not select and not ignore:
        return list(causes.values())
    return [cause for cause in causes.values() if is_selected(cause, select, ignore)]


def is_selected(cause: Cause, select: Collection[str], ignore: Collection[str]) -> bool:
    """Return whether a cause is selected (all are if `select` is empty) and not ignored."""
    chosen = not select or any(_names(word, cause) for word in select)
    return chosen and not any(_names(word, cause) for word in ignore)


def _names(word: str, cause: Cause) -> bool:
    word = word.strip()
    return cause.id.startswith(word.upper()) or cause.slug == word.lower()


def _judge(
    cause: Cause,
    judge: Judge,
    case: Case,
    findings: list[Found],
    skipped: dict[tuple[str, str], Skipped],
    crashes: list[Crash],
) -> None:
    choices: list[tuple[Any, ...]] = []
    for parameter, kind, optional in judge.wants:
        facts = case.facts[kind] if kind in case.facts else Unknown(f"no {kind} here")
        if kind == "Project" and isinstance(facts, Unknown):
            facts = (NO_FILES,)
        if isinstance(facts, Unknown):
            if not optional:
                skipped.setdefault((cause.id, facts.reason), Skipped(cause.id, facts.reason))
                return
            choices.append((facts,))
        elif kind == "DataFacts" and parameter in ("training", "validation"):
            choices.append(tuple(data for data in facts if data.role == parameter))
        else:
            choices.append(facts)
    for arguments in itertools.product(*choices):
        try:
            for finding in judge.function(*arguments):
                if finding.confidence.rank < judge.surest.rank:
                    finding = replace(finding, confidence=judge.surest)
                findings.append(Found(_judged(finding, case), frozenset((case.scope,))))
        # A crash here is our bug. It must neither hurt the user's program nor silence other judges.
        except Exception as error:
            where = f"{cause.id} {judge.function.__name__}"
            crashes.append(Crash(where, described(error)))


def _judged(finding: Finding, case: Case) -> Finding:
    """Return a finding with its moment; after a failure, what no other fact shows was read from its message."""
    failures = case.facts.get("FailureFacts", ())
    if case.moment is not Moment.AFTER_FAILURE or isinstance(failures, Unknown):
        return replace(finding, moment=case.moment)
    raised_at = (None, *(failure.location for failure in failures))
    evidence = tuple(
        replace(each, fact="failure.message") if not each.fact and each.location in raised_at else each
        for each in finding.evidence
    )
    return replace(finding, moment=case.moment, evidence=evidence)


def merge(findings: Iterable[Found]) -> list[Found]:
    """Merge the findings of one cause about one subject at several moments."""
    merged: list[Found] = []
    for found in findings:
        for index, other in enumerate(merged):
            if _same(found, other):
                joined = _joined(other.finding, found.finding)
                merged[index] = Found(joined, found.scopes | other.scopes)
                break
        else:
            merged.append(found)
    return merged


def _same(one: Found, other: Found) -> bool:
    first, second = one.finding, other.finding
    if first.id != second.id:
        return False
    if first.location is None or second.location is None:
        return any(_meet(scope, another) for scope in one.scopes for another in other.scopes)
    if same_place(first.location, second.location):
        one_change = any(
            one and one <= other for one, other in itertools.permutations(map(_edits, (first, second)))
        )
        return first.subject == second.subject or first.moment is not second.moment or one_change
    return first.moment is not second.moment and first.subject == second.subject and bool(first.subject)


def _edits(finding: Finding) -> set[Edit]:
    return {edit for fix in finding.fixes[:1] for edit in fix.edits}


def _meet(first: Scope, second: Scope) -> bool:
    """Return whether two scopes can mean the same call of the same program."""
    return all(not one or not other or one == other for one, other in zip(first, second, strict=True))


def _joined(first: Finding, second: Finding) -> Finding:
    """Return the stronger of two findings, with what the other adds.

    The finding whose fix edits its own line is stronger; otherwise the one made at the later moment.
    """
    moments = list(Moment)

    def weakness(found: Finding) -> tuple[bool, bool, int, int]:
        edits = any(fix.edits for fix in found.fixes)
        return found.location is None, not edits, -moments.index(found.moment), -len(_edits(found))

    base, other = sorted((first, second), key=weakness)
    moment = max(first.moment, second.moment, key=moments.index)
    return replace(
        base,
        moment=moment,
        severity=min(first.severity, second.severity, key=lambda severity: severity.rank),
        confidence=min(first.confidence, second.confidence, key=lambda sure: sure.rank),
        evidence=_joined_evidence(base.evidence, other.evidence),
        fixes=_joined_fixes(base.fixes, other.fixes),
        notes=tuple(dict.fromkeys((*base.notes, *other.notes))),
    )


def _joined_evidence(first: tuple[Evidence, ...], second: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    """Return the evidence of both, without rows that repeat the figures of an earlier row."""
    rows = {(each.claim, each.observed, each.expected) for each in first if each.observed}
    added = (each for each in second if (each.claim, each.observed, each.expected) not in rows)
    return tuple(dict.fromkeys((*first, *added)))


def _joined_fixes(first: tuple[Fix, ...], second: tuple[Fix, ...]) -> tuple[Fix, ...]:
    """Return the fixes of both, without those of the second whose edits the first already makes."""
    titles = {fix.title for fix in first if fix.edits}
    made = [(fix.applicability, set(fix.edits)) for fix in first if fix.edits]
    candidates = list(first)
    for fix in second:
        repeats = fix.edits and any(
            fix.applicability is one and set(fix.edits) <= edits for one, edits in made
        )
        if fix.title not in titles and not repeats:
            candidates.append(fix)
    with_edits = [fix for fix in candidates if fix.edits]
    edited_titles = {fix.title for fix in with_edits}
    rest = [fix for fix in candidates if not fix.edits and fix.title not in edited_titles]
    return tuple(dict.fromkeys((*with_edits, *rest)))


def without_consequences(findings: list[Found], causes: Mapping[str, Cause]) -> list[Finding]:
    """Remove findings that another finding for the same call explains: one error, one message."""
    return [
        found.finding
        for found in findings
        if not all(
            any(_explains(other, found, scope, causes) for other in findings) for scope in found.scopes
        )
    ]


def _explains(reason: Found, found: Found, scope: Scope, causes: Mapping[str, Cause]) -> bool:
    """Return whether a finding explains another one in that scope and can replace it."""
    cause = causes.get(reason.finding.id)
    if cause is None or found.finding.id not in cause.explains:
        return False
    if reason.finding.severity.rank > found.finding.severity.rank:
        return False
    if ends_program(found.finding) and not accounts_for_failure(reason.finding):
        return False
    return any(_meet(scope, other) for other in reason.scopes)


def ends_program(finding: Finding) -> bool:
    """Return whether it was read from the exception itself."""
    return finding.moment is Moment.AFTER_FAILURE and finding.severity is Severity.ERROR


def accounts_for_failure(finding: Finding) -> bool:
    """Return whether it explains why a call failed: it comes from the exception, or from the live call."""
    if finding.severity is not Severity.ERROR or finding.confidence is Confidence.POSSIBLE:
        return ends_program(finding)
    return finding.moment in (Moment.AFTER_FAILURE, Moment.BEFORE_FIT)


def _rank(finding: Finding, stage: int) -> tuple[Any, ...]:
    location = finding.location
    return (
        0 if ends_program(finding) else 1,
        finding.severity.rank,
        max(stage, 1),
        finding.confidence.rank,
        stage,
        -list(Moment).index(finding.moment),
        location is None,
        (location.path, location.cell or 0, location.line) if location else ("", 0, 0),
        finding.id,
    )


def _complete(findings: list[Finding], read_line: ReadLine) -> tuple[list[Finding], tuple[Excerpt, ...]]:
    """Add line ends, fingerprints and excerpts, which reports need."""
    excerpts: dict[tuple[str, int | None, int], Excerpt] = {}

    def text_at(location: Location) -> str | None:
        key = (location.path, location.cell, location.line)
        if key not in excerpts:
            text = read_line(location)
            if text is None:
                return None
            excerpts[key] = Excerpt(location.path, location.line, text, location.cell)
        return excerpts[key].text

    completed = []
    for finding in findings:
        text = ""
        if finding.location is not None:
            text = text_at(finding.location) or ""
            if finding.location.end_column == 0:
                finding = replace(finding, location=whole_line(finding.location, text))
        for location in _other_places(finding):
            text_at(location)
        completed.append(finding.with_fingerprint(text))
    return completed, tuple(excerpts.values())


def whole_line(location: Location, text: str) -> Location:
    """Return the location of a line without indentation and trailing space."""
    stripped = text.rstrip()
    start = len(stripped) - len(stripped.lstrip()) + 1
    return replace(location, column=max(start, 1), end_column=len(stripped) + 1)


def _other_places(finding: Finding) -> Iterator[Location]:
    for evidence in finding.evidence:
        if evidence.location is not None:
            yield evidence.location
    for fix in finding.fixes:
        for edit in fix.edits:
            for line in range(edit.location.line, edit.location.end_line + 1):
                yield replace(edit.location, line=line, end_line=line)
