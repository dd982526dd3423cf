"""Judges many files: read together, each judged on its own, shared among the cores when there are many."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from fitdoctor.cli.discover import Found, ignored_in
from fitdoctor.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fitdoctor.diagnosis import Crash, Diagnosis, Finding, Skipped
    from fitdoctor.engine import Case
    from fitdoctor.source.module import Module
    from fitdoctor.source.project import Project
    from fitdoctor.source.suppressions import Unused

_WORTH_SHARING = 40
"""Files; below that, starting processes costs more than it saves."""


@dataclass(frozen=True)
class Wishes:
    """What the command line asks of every file, on top of each file's configuration."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    keras: int | None = None


@dataclass(frozen=True)
class Linted:
    """What was found, and which files could not be read."""

    diagnosis: Diagnosis
    unreadable: tuple[str, ...] = ()
    """One line each: place and reason."""
    remarks: tuple[str, ...] = ()
    """Suppressions that suppress nothing, one line each."""

    @property
    def spotless(self) -> bool:
        """Whether there is nothing whatever to tell."""
        return not (self.unreadable or self.remarks or self.diagnosis.findings or self.diagnosis.crashes)


def lint_files(files: Sequence[Found], wishes: Wishes, jobs: int = 0) -> Linted:
    """Judge the files. Files of one project are read together, so that a class finds its bases in another file.

    Args:
        files: what to judge.
        wishes: what the command line asks for.
        jobs: how many processes; 0 for one a core.
    """
    workers = min(jobs or os.cpu_count() or 1, max(len(files) // (_WORTH_SHARING // 2), 1))
    if workers < 2 or len(files) <= _WORTH_SHARING:
        return _judged(files, wishes, range(len(files)))
    from concurrent.futures import ProcessPoolExecutor

    # Dealt out like cards: neighbours in a folder are alike in size and cost.
    shares = [range(first, len(files), workers) for first in range(workers)]
    with ProcessPoolExecutor(workers) as pool:
        parts = list(pool.map(_judged, [files] * workers, [wishes] * workers, shares))
    return Linted(
        joined(part.diagnosis for part in parts),
        tuple(sorted(line for part in parts for line in part.unreadable)),
        tuple(sorted(line for part in parts for line in part.remarks)),
    )


def lint_text(text: str, found: Found, wishes: Wishes) -> Linted:
    """Judge text that is in no file yet, such as an editor's buffer."""
    from fitdoctor.diagnosis import Diagnosis
    from fitdoctor.source.module import Module
    from fitdoctor.source.project import Project
    from fitdoctor.source.read import SourceError, source_from_text

    facts = source_from_text(text, found.path, _keras(found, wishes))
    try:
        project = Project((Module(facts),))
    except SourceError as error:
        return Linted(Diagnosis(), (str(error),))
    remarks: list[str] = []
    diagnoses = _diagnoses(project, {facts.path: found}, wishes, remarks)
    return Linted(joined(diagnoses), (), tuple(remarks))


def _judged(files: Sequence[Found], wishes: Wishes, mine: Iterable[int]) -> Linted:
    from fitdoctor.source.project import Project

    wanted = {files[index].path for index in mine}
    unreadable: list[str] = []
    remarks: list[str] = []
    diagnoses: list[Diagnosis] = []
    for keras, group in _by_keras(files, wishes).items():
        modules, asked = [], {}
        for found in group:
            module = _read(found, keras, unreadable if found.path in wanted else [])
            if module is None:
                continue
            modules.append(module)
            if found.path in wanted:
                asked[module.path] = found
        project = Project(modules)
        diagnoses.extend(_diagnoses(project, asked, wishes, remarks))
    return Linted(joined(diagnoses), tuple(sorted(unreadable)), tuple(sorted(remarks)))


def _by_keras(files: Sequence[Found], wishes: Wishes) -> dict[int, list[Found]]:
    groups: dict[int, list[Found]] = {}
    for found in files:
        groups.setdefault(_keras(found, wishes), []).append(found)
    return groups


def _keras(found: Found, wishes: Wishes) -> int:
    from fitdoctor.cli.installed import keras_major

    return wishes.keras or found.config.keras or keras_major()


def _read(found: Found, keras: int, unreadable: list[str]) -> Module | None:
    from fitdoctor.source.module import Module
    from fitdoctor.source.read import SourceError, read_source

    try:
        return Module(read_source(found.path, keras))
    except SourceError as error:
        unreadable.append(str(error))
        return None


def _diagnoses(
    project: Project, asked: dict[str, Found], wishes: Wishes, remarks: list[str]
) -> list[Diagnosis]:
    """One diagnosis a file: what one file is blamed for must not hide a finding in another."""
    from fitdoctor.catalogue import source_causes
    from fitdoctor.diagnosis import Diagnosis
    from fitdoctor.engine import diagnose
    from fitdoctor.examine import SourceCase, line_reader, source_cases
    from fitdoctor.records import replace
    from fitdoctor.source.suppressions import suppress

    read_line = line_reader(project)
    crashes: list[Crash] = []
    cases: dict[str, list[Case]] = {}
    for case in source_cases(project, files=asked.keys(), crashes=crashes):
        if isinstance(case, SourceCase):
            cases.setdefault(case.path, []).append(case)
    diagnoses = [Diagnosis(crashes=tuple(crashes))]
    for path, found in asked.items():
        select = wishes.select or found.config.select
        ignore = (*wishes.ignore, *found.config.ignore, *ignored_in(found))
        diagnosis = diagnose(
            cases.get(path, []), select=select, ignore=ignore, causes=source_causes(), read_line=read_line
        )
        diagnosis = replace(diagnosis, skipped=tuple(filter(_could_be_known, diagnosis.skipped)))
        module = project.module_at(path)
        if module is not None:
            heeded = suppress(module, diagnosis.findings)
            diagnosis = replace(diagnosis, findings=heeded.kept)
            # With part of the causes left out, a suppression of theirs has nothing to suppress.
            if not select and not ignore:
                remarks.extend(_remark(unused) for unused in heeded.unused if _should_have_been_found(unused))
        diagnoses.append(diagnosis)
    return diagnoses


def _could_be_known(skipped: Skipped) -> bool:
    """Not what the engine says of facts that a case of this kind never has."""
    return not (skipped.reason.startswith("no ") and skipped.reason.endswith(" here"))


def _should_have_been_found(unused: Unused) -> bool:
    """Whether reading the source alone can tell: a comment may be meant for what only `run` sees."""
    from fitdoctor.catalogue import find
    from fitdoctor.diagnosis import Moment

    if not unused.name:
        return False
    cause = find(unused.name)
    return cause is None or not {Moment.BEFORE_FIT, Moment.WHILE_TRAINING} & set(cause.moments)


def _remark(unused: Unused) -> str:
    return f"{unused.location}: {unused.message}"


def joined(diagnoses: Iterable[Diagnosis]) -> Diagnosis:
    """One diagnosis of many: worst and surest first, then by place."""
    from fitdoctor.diagnosis import Diagnosis

    parts = list(diagnoses)

    def every(field: str) -> list[Any]:
        return list(dict.fromkeys(item for part in parts for item in getattr(part, field)))

    # In an order of their own: however the files were shared out, the report is the same.
    return Diagnosis(
        findings=tuple(sorted(every("findings"), key=_rank)),
        skipped=tuple(sorted(every("skipped"), key=lambda skipped: (skipped.id, skipped.reason))),
        crashes=tuple(sorted(every("crashes"), key=lambda crash: (crash.where, crash.error))),
        unexplained=tuple(every("unexplained")),
        excerpts=tuple(sorted(every("excerpts"), key=lambda line: (line.path, line.cell or 0, line.line))),
        tool_version=next((part.tool_version for part in parts if part.tool_version), ""),
    )


def _rank(finding: Finding) -> tuple[Any, ...]:
    location = finding.location
    place = (location.path, location.cell or 0, location.line, location.column) if location else ("", 0, 0, 0)
    return (finding.severity.rank, finding.confidence.rank, place, finding.id)
