"""Repairs a program: takes what is wrong, tries repairs on a copy, and keeps those that are proven."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping

from fitdoctor.diagnose import CUT_SHORT
from fitdoctor.diagnosis import Applicability, Diagnosis, Finding, Fix, Location, Severity
from fitdoctor.records import dataclass, field, replace
from fitdoctor.repair.candidates import MOST, Candidate, candidates
from fitdoctor.repair.files import (
    CannotEdit,
    Change,
    UserFile,
    edited,
    grouped,
    module_of_text,
    project_root,
    read_file,
)
from fitdoctor.repair.proof import Judged, Seen, Verdict, elsewhere, judged
from fitdoctor.source.lines import lines_of
from fitdoctor.source.read import SourceError
from fitdoctor.source.simplify import simplified

MOST_ROUNDS = 10
"""The most findings that `--all` repairs, one after another."""

MOST_DEEPER = 3
"""The most repairs tried for an error that another repair uncovered."""

MOST_UNCOVERED = 4
"""The most errors in a row, each uncovered by the previous repair, that are repaired together."""

MOST_RUNS = 60
"""The most runs of the program per search."""

Prove = Callable[[Mapping[str, UserFile], Mapping[str, str], bool], Seen]
"""Runs the program with these files containing these texts, whole or with every fit cut to two steps."""
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Mended:
    """A repair that was chosen."""

    finding: Finding
    candidate: Candidate
    judged: Judged
    verified: bool = False
    passed_over: Candidate | None = None
    """The next one in rank, which was not tried because this one works."""

    @property
    def reasons(self) -> list[str]:
        """What the proof showed, and why this repair was chosen, one line each."""
        return [self.judged.reason, *self.candidate.reasons(self.passed_over)]

    @property
    def fix(self) -> Fix:
        """The repair, marked as verified or not."""
        return replace(self.candidate.fix, verified=self.verified)


@dataclass(frozen=True)
class Refused:
    """A repair that was tried and rejected."""

    finding: Finding
    candidate: Candidate
    reason: str


@dataclass(frozen=True)
class _Proved:
    """A repair, and the run that shows whether it works."""

    candidate: Candidate
    judged: Judged
    texts: dict[str, str]
    seen: Seen
    meets_it_again: bool = False
    """The program continues and stops at the same cause later: another repair may fix both."""

    @property
    def rank(self) -> tuple[bool, int]:
        """Smaller is better."""
        return self.meets_it_again, self.judged.new_warnings


@dataclass
class Search:
    """The state of a search: the files as read, the texts as repaired so far, and the last run."""

    script: str
    prove: Prove
    tell: Tell
    unsafe: bool = False
    everything: bool = False
    keras: int = 3
    files: dict[str, UserFile] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    mended: list[Mended] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    held_back: list[tuple[Finding, Candidate]] = field(default_factory=list)
    """Unsafe repairs that were not requested."""
    first: Seen = field(default_factory=lambda: Seen(Diagnosis()))
    last: Seen = field(default_factory=lambda: Seen(Diagnosis()))
    runs: int = 0
    """How often a repaired program ran."""
    whole: bool = False
    """Whether every fit runs to its end, as two steps showed nothing."""
    _ran: dict[frozenset[tuple[str, str]], Seen] = field(default_factory=dict)
    _in_source: frozenset[str] | None = None

    def go(self) -> None:
        """Run the program, and repair it.

        Raises:
            CannotEdit: the script itself cannot be read or does not parse.
        """
        main = os.path.realpath(self.script)
        self.files[main] = replace(read_file(self.script), path=main)
        self.tell(f"running {self.script} (two steps per fit)")
        self.first = self.last = self._seen_at_first()
        given_up: set[tuple[str, str]] = set()
        for _round in range(MOST_ROUNDS):
            target = self._next(given_up)
            if target is None:
                break
            before = self.last
            if self._mend(target):
                if not (self.everything or self._stops_at(target) or self._stands(before)):
                    break
            else:
                given_up.add(_key(target))
        holds = self.last.ended_well
        self.mended = [replace(each, verified=holds) for each in self.mended]

    def _seen_at_first(self) -> Seen:
        """Run the program as it is; in full if two steps of training show nothing wrong, or end it for want of more."""
        seen = self.prove(self.files, {}, False)
        wants_more = any(failure.note == CUT_SHORT for failure in seen.diagnosis.unexplained)
        shows_nothing = seen.ended_well and not seen.diagnosis.at_least(Severity.WARNING)
        if seen.call is None or not (wants_more or shows_nothing):
            return seen
        self.tell("two steps show nothing wrong: running it in full")
        whole = self.prove(self.files, {}, True)
        self.whole = not whole.timed_out
        return whole if self.whole else seen

    def _stops_at(self, finding: Finding) -> bool:
        """Whether the repaired program stops at the same cause again, in another place: that is repaired with it."""
        return any(found.id == finding.id for found in self.last.errors[:1])

    def _stands(self, before: Seen) -> bool:
        """Whether the program stops in the same statement as before: a mistake may need more than one repair."""
        return not self.last.ended_well and bool(self.last.place) and not elsewhere(before, self.last)

    def _next(self, given_up: set[tuple[str, str]]) -> Finding | None:
        """Return what to repair next: errors first, then the warnings of a program that runs to its end."""
        diagnosis = self.last.diagnosis
        wanted = self.last.errors
        # What is said of a program that does not run cannot be proved.
        if not wanted and self.last.ended_well and not diagnosis.unexplained:
            wanted = tuple(found for found in diagnosis.findings if found.severity is Severity.WARNING)
        return next((each for each in wanted if _key(each) not in given_up), None)

    def _mend(self, finding: Finding, path: tuple[Finding, ...] = ()) -> bool:
        """Take the best repair of a finding; if none works alone, one with repairs of what it uncovers.

        Args:
            finding: what to repair.
            path: the findings whose repairs uncovered this one, one after another.
        """
        found = self._candidates(finding)
        allowed = [each for each in found if self.unsafe or each.fix.applicability is Applicability.SAFE]
        held_back = [(finding, each) for each in found if each not in allowed]
        self.held_back += [each for each in held_back if each not in self.held_back]
        tried = allowed[: MOST_DEEPER if path else MOST]
        best: _Proved | None = None
        halfway: list[_Proved] = []
        for number, candidate in enumerate(tried, 1):
            # What changes less of the program's meaning goes before what warns less.
            if best is not None and candidate.fix.applicability is not best.candidate.fix.applicability:
                break
            # A repair that uncovers an error of another line has done its part: that error is next.
            if best is None and any(_comes_before(each, candidate) for each in halfway):
                break
            if self.runs >= MOST_RUNS:
                break
            self.tell(f"{finding.id}: trying repair {number} of {len(tried)}: {candidate.fix.title}")
            proved = self._try(finding, candidate)
            if isinstance(proved, str):
                self._refuse(finding, candidate, proved)
            elif proved.judged.verdict is Verdict.FAILS:
                self._refuse(finding, candidate, proved.judged.reason)
            elif proved.judged.verdict is Verdict.UNCOVERS:
                halfway.append(proved)
            else:
                if best is None or proved.rank < best.rank:
                    best = proved
                if best.rank == (False, 0):
                    break
        if best is not None:
            self.refused += [Refused(finding, each.candidate, each.judged.reason) for each in halfway]
            untried = found[found.index(best.candidate) + 1 :]
            self._take(
                finding, best, next((each for each in untried if not self._was_refused(finding, each)), None)
            )
            return True
        return self._mend_what_is_uncovered(finding, halfway, path)

    def _mend_what_is_uncovered(
        self, finding: Finding, halfway: list[_Proved], path: tuple[Finding, ...]
    ) -> bool:
        """Take a repair that only uncovers the next error, preferably with a repair of that error."""
        if len(path) < MOST_UNCOVERED:
            if any(self._mend_both(finding, each, (*path, finding)) for each in halfway[:MOST_DEEPER]):
                return True
        for each in halfway if not path else ():
            if _is_elsewhere(each):
                self._take(finding, each)
                return True
        self.refused += [Refused(finding, each.candidate, each.judged.reason) for each in halfway]
        return False

    def _candidates(self, finding: Finding) -> tuple[Candidate, ...]:
        """Yield the repairs to try, each as a person would write it."""
        lines: dict[tuple[str, int | None], list[str]] = {}

        def read_line(place: Location) -> str | None:
            key = (place.path, place.cell)
            if key not in lines:
                lines[key] = self._lines(place)
            return lines[key][place.line - 1] if 1 <= place.line <= len(lines[key]) else None

        found = candidates(finding, project_root(self.script))
        different: dict[frozenset[tuple[str, str]], Candidate] = {}
        inapplicable = []
        for each in found:
            simple = replace(each, fix=simplified(each.fix, read_line))
            if not simple.fix.edits:
                continue
            try:
                different.setdefault(frozenset(self._edited(simple).items()), simple)
            except CannotEdit:
                inapplicable.append(simple)
        return tuple(sorted((*different.values(), *inapplicable), key=lambda each: each.rank))

    def _lines(self, place: Location) -> list[str]:
        path = os.path.realpath(place.path)
        with contextlib.suppress(CannotEdit, SourceError):
            if path not in self.files:
                self.files[path] = read_file(path)
            module = module_of_text(self.files[path], self._text(path), place.path, self.keras)
            return lines_of(module.facts, place.cell)
        return []

    def _refuse(self, finding: Finding, candidate: Candidate, reason: str) -> None:
        self.refused.append(Refused(finding, candidate, reason))

    def _was_refused(self, finding: Finding, candidate: Candidate) -> bool:
        return any(each.finding == finding and each.candidate == candidate for each in self.refused)

    def _take(self, finding: Finding, proved: _Proved, passed_over: Candidate | None = None) -> None:
        self.texts.update(proved.texts)
        self.mended.append(Mended(finding, proved.candidate, proved.judged, passed_over=passed_over))
        self.last = proved.seen

    def _mend_both(self, finding: Finding, first: _Proved, path: tuple[Finding, ...]) -> bool:
        """Take a repair together with one for the error that it uncovers, if the program then gets further."""
        uncovered = first.seen.errors[0]
        if _key(uncovered) in map(_key, path):
            return False
        texts, last, mended = dict(self.texts), self.last, len(self.mended)
        self.tell(f"now fixing {uncovered.id}, which the last repair uncovered")
        self._take(finding, first)
        if self._mend(uncovered, path):
            return True
        self.texts, self.last = texts, last
        del self.mended[mended:]
        return False

    def _try(self, finding: Finding, candidate: Candidate) -> _Proved | str:
        """Run the program with the repair, or return why that is impossible."""
        try:
            texts = self._edited(candidate)
        except CannotEdit as error:
            return str(error)
        if all(self._text(path) == text for path, text in texts.items()):
            return "it changes nothing"
        seen = self._run({**self.texts, **texts})
        main = os.path.realpath(self.script)
        grown = texts.get(main, self._text(main)).count("\n") - self._text(main).count("\n")
        result = judged(self.last, seen, finding, max(grown, 0), self._lurking())
        again = any(each.id == finding.id for each in seen.errors[:1])
        return _Proved(candidate, result, texts, seen, again)

    def _run(self, texts: dict[str, str]) -> Seen:
        """Run the program with these texts, unless it ran with them before."""
        key = frozenset((path, text) for path, text in texts.items() if text != self.files[path].text)
        if key not in self._ran:
            self.runs += 1
            self._ran[key] = self.prove(self.files, texts, self.whole)
        return self._ran[key]

    def _lurking(self) -> frozenset[str]:
        """Return the errors that the unchanged source shows: a repair that reaches one did not cause it."""
        if self._in_source is None:
            from fitdoctor.diagnose import examine_source
            from fitdoctor.source.project import Project

            found = examine_source(Project.around(self.script, self.keras)).findings
            self._in_source = frozenset(each.id for each in found if each.severity is Severity.ERROR)
        return self._in_source

    def _text(self, path: str) -> str:
        return self.texts.get(path, self.files[path].text)

    def _edited(self, candidate: Candidate) -> dict[str, str]:
        texts = {}
        for path, edits in grouped(candidate.fix.edits).items():
            if path not in self.files:
                self.files[path] = read_file(path)
            texts[path] = edited(self.files[path], self._text(path), edits)
            self.files[path].encoded(texts[path])
        return texts

    # --- what came of it ----------------------------------------------------------------------------------------

    @property
    def changes(self) -> tuple[Change, ...]:
        """The files that the repairs change."""
        return tuple(
            Change(self.files[path], text)
            for path, text in self.texts.items()
            if text != self.files[path].text
        )

    @property
    def clean(self) -> bool:
        """Whether every error found is repaired and verified."""
        return self.last.ended_well and not self.last.errors and all(each.verified for each in self.mended)

    def diagnosis(self) -> Diagnosis:
        """Return the findings, from the start and on the way, with verified repairs marked."""
        findings = list(self.first.diagnosis.findings)
        for each in self.mended:
            place = next((i for i, found in enumerate(findings) if found == each.finding), None)
            marked = _with_fix(each.finding, each.fix)
            if place is None:
                findings.append(marked)
            else:
                findings[place] = marked
        return replace(self.first.diagnosis, findings=tuple(findings))


def _key(finding: Finding) -> tuple[str, str]:
    return finding.id, finding.subject


def _comes_before(first: _Proved, candidate: Candidate) -> bool:
    """Whether an uncovered error should be repaired before another repair is tried."""
    return candidate.fix.applicability is not first.candidate.fix.applicability and _is_elsewhere(first)


def _is_elsewhere(proved: _Proved) -> bool:
    """Whether the uncovered error is on another line than the repair's edits."""
    place = proved.seen.errors[0].location
    return place is not None and not any(
        os.path.realpath(edit.location.path) == os.path.realpath(place.path)
        and edit.location.cell == place.cell
        and edit.location.line <= place.line <= edit.location.end_line + edit.replacement.count("\n")
        for edit in proved.candidate.fix.edits
    )


def _with_fix(finding: Finding, fix: Fix) -> Finding:
    """Return the finding with this repair first."""
    others = tuple(other for other in finding.fixes if other.edits != fix.edits)
    return replace(finding, fixes=(fix, *others))
