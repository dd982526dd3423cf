"""One diagnosis for the runs of several workers: shared findings once, others with the names of their workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fitdoctor.catalogue.devices.differing_workers import differences
from fitdoctor.diagnosis import Diagnosis, Finding, Fix, Location, Moment, Severity, Unexplained
from fitdoctor.facts.cluster import Member
from fitdoctor.records import replace

_ABORTED = ("Collective ops is aborted", "UNAVAILABLE", "failed to connect", "Connection reset by peer",
            "Socket closed", "heartbeat", "coordination service", "Cancelled by")  # fmt: skip
"""What a worker reports when another one has ended."""

_APART = "all workers run the same program, so their data, arguments or packages differ"

_CUT_SHORT = "the other workers were aborted when this one failed"


def joined(members: Sequence[Member]) -> Diagnosis:
    """Return the diagnosis of a cluster, reported for the program of the first member."""
    first = members[0].diagnosis
    findings: dict[str, Finding] = {}
    having: dict[str, list[str]] = {}
    for member in members:
        for finding in member.diagnosis.findings:
            findings.setdefault(finding.fingerprint, finding)
            having.setdefault(finding.fingerprint, []).append(member.name)
    differing = list(differences(members))
    told = {finding.id for finding, _names in differing}
    aborted = {member.name for member in members if _was_aborted(member)}
    named = [
        _named(finding, having[mark], len(members), aborted)
        for mark, finding in findings.items()
        if finding.id not in told
    ]
    named += [
        replace(_named(finding, list(names), len(members), set()), moment=Moment.BEFORE_FIT)
        for finding, names in differing
    ]
    wrong = any(found.severity is Severity.ERROR for found in named)
    return replace(
        first,
        findings=tuple(sorted(named, key=lambda found: found.severity.rank)),
        unexplained=tuple(_unexplained(members, wrong)),
        excerpts=_together(members, lambda each: each.excerpts),
        crashes=_together(members, lambda each: each.crashes),
        skipped=_together(members, lambda each: each.skipped),
    )


def _together(members: Sequence[Member], part: Callable[[Diagnosis], tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(item for member in members for item in part(member.diagnosis)))


def _named(finding: Finding, names: list[str], workers: int, aborted: set[str]) -> Finding:
    """Return a finding with its workers; if not all have it, the message says so first."""
    if len(names) == workers:
        return replace(finding, notes=(*finding.notes, f"found on all {workers} workers"))
    who = ", ".join(names)
    if finding.moment is Moment.AFTER_FAILURE and len(aborted - set(names)) == workers - len(names):
        # Whether it would have failed there, too, nobody knows.
        return replace(finding, message=f"{finding.message} (on {who})", notes=(*finding.notes, _CUT_SHORT))
    # What differs speaks for itself; of what one worker's run shows, only that the program is the same for all.
    apart = () if finding.moment is Moment.SOURCE else (_APART,)
    return replace(
        finding,
        message=f"{finding.message} (only on {who})",
        notes=(*finding.notes, *apart),
        location=_own_data(finding) if apart else finding.location,
        fixes=_for_one(finding) if apart else finding.fixes,
    )


def _own_data(finding: Finding) -> Location | None:
    """Return where a worker's data comes from: the model is shared, so it is not the line to change."""
    for seen in finding.evidence:
        if seen.fact.startswith("data.") and seen.location is not None:
            return seen.location
    return finding.location


def _for_one(finding: Finding) -> tuple[Fix, ...]:
    """Return the fixes without edits: all workers share the program, so an edit would fix one and break another.

    Fixes for other lines than that of the worker's own data come last, for the same reason.
    """
    own = _own_data(finding)
    late = [
        each
        for each in finding.fixes
        if own is not None
        and own != finding.location
        and any(edit.location.line != own.line for edit in each.edits)
    ]
    first = [each for each in finding.fixes if each not in late]
    return tuple(replace(each, edits=()) for each in (*first, *late))


def _was_aborted(member: Member) -> bool:
    """Whether a worker ended only because another one had ended."""
    failures = member.diagnosis.unexplained
    return bool(failures) and all(_is_abort(failure) for failure in failures)


def _unexplained(members: Sequence[Member], wrong: bool) -> Iterator[Unexplained]:
    """Return unexplained failures, without those that only result from the end of another worker."""
    every = [(member, failure) for member in members for failure in member.diagnosis.unexplained]
    causes = [entry for entry in every if not _is_abort(entry[1])]
    for member, failure in causes if causes or wrong else every:
        yield replace(failure, message=f"{failure.message} ({member.name})")


def _is_abort(failure: Unexplained) -> bool:
    return any(words in failure.message for words in _ABORTED)
