"""Checks many files: read together, each checked separately, distributed over the cores if there are many."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fitdoctor.cli.discover import Found, ignored_in
from fitdoctor.cli.lint_progress import progress
from fitdoctor.diagnosis import Crash, Diagnosis, Edit, Finding, Location
from fitdoctor.facts import SourceFacts
from fitdoctor.gc_pause import gc_paused
from fitdoctor.records import dataclass, field, replace
from fitdoctor.source.keras_version import (
    IMPORTS,
    Assumed,
    of_folder,
    of_separate_programs,
    root_of,
    with_older_keras,
)
from fitdoctor.source.work_budget import OverBudget, WorkBudget

if TYPE_CHECKING:
    from fitdoctor.engine import Case
    from fitdoctor.source.module import Module
    from fitdoctor.source.project import Project
    from fitdoctor.source.suppressions import Unused

_WORTH_SHARING = 40
"""Files; below this number, starting processes costs more than it saves."""


@dataclass(frozen=True)
class Wishes:
    """The command-line options for every file, on top of each file's configuration."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    keras: int | None = None


@dataclass
class Linted:
    """What was found, and which files could not be read."""

    diagnoses: list[Diagnosis] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    """One line each: place and reason."""
    remarks: list[str] = field(default_factory=list)
    """Unused suppressions, one line each."""
    assumed: set[Assumed] = field(default_factory=set)
    """The Keras versions that the project itself asks for."""
    moves: list[Finding] = field(default_factory=list)
    """What Keras 3 would reject in files that are checked for Keras 2."""
    leaning: bool = False
    """Files were read that the user did not name, because a named file imports them."""

    @property
    def diagnosis(self) -> Diagnosis:
        """All that was found."""
        return joined(self.diagnoses)

    @property
    def spotless(self) -> bool:
        """Whether there is nothing at all to report."""
        return not (
            self.unreadable
            or self.remarks
            or self.assumed
            or any(part.findings or part.crashes for part in self.diagnoses)
        )


def lint_files(files: Sequence[Found], wishes: Wishes, jobs: int = 0) -> Linted:
    """Check the files. Files of one project are read together, so that a class finds its bases in another file.

    Args:
        files: the files to check.
        wishes: the command-line options.
        jobs: the number of processes; 0 for one per core.
    """
    of_folder.cache_clear()
    workers = min(jobs or os.cpu_count() or 1, max(len(files) // (_WORTH_SHARING // 2), 1))
    if workers < 2 or len(files) <= _WORTH_SHARING:
        _count_with(_Counter())
        with progress(_label(files), 2 * len(files), lambda: int(_counter.value)):
            return _judged(files, wishes, range(len(files)))
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import Value

    # Not locked: a step that is lost in a race moves the bar a hair less.
    shared = Value("Q", 0, lock=False)
    # Dealt out like cards: neighbours in a folder are alike in size and cost.
    shares = [range(first, len(files), workers) for first in range(workers)]
    with (
        progress(_label(files), 2 * len(files), lambda: int(shared.value)),
        ProcessPoolExecutor(workers, initializer=_count_with, initargs=(shared,)) as pool,
    ):
        parts = list(pool.map(_judged, [files] * workers, [wishes] * workers, shares))
    return Linted(
        [diagnosis for part in parts for diagnosis in part.diagnoses],
        [line for part in parts for line in part.unreadable],
        [line for part in parts for line in part.remarks],
        {assumed for part in parts for assumed in part.assumed},
        [move for part in parts for move in part.moves],
        any(part.leaning for part in parts),
    )


class _Counter:
    """The number of files analyzed and checked, for the progress bar; parsing takes almost no time."""

    value = 0


_counter: Any = _Counter()
"""In a worker process it is memory that the parent reads."""


def _count_with(shared: Any) -> None:
    global _counter
    _counter = shared


def _label(files: Sequence[Found]) -> str:
    return "checking 1 file" if len(files) == 1 else f"checking {len(files):,} files"


def lint_text(text: str, found: Found, wishes: Wishes) -> Linted:
    """Check text that is not in a file yet, such as an editor's buffer."""
    from fitdoctor.source.read import source_from_text

    facts = source_from_text(text, found.path, _keras(found, wishes).major)
    judged = Linted()
    _judge_together([(found, facts)], {found.path}, wishes, judged)
    return judged


def _judged(files: Sequence[Found], wishes: Wishes, mine: Iterable[int]) -> Linted:
    wanted = {files[index].path for index in mine}
    judged = Linted()
    groups: dict[int, list[tuple[Found, SourceFacts]]] = {}
    # Trees make many objects and no garbage.
    with gc_paused():
        read = []
        for found in files:
            facts = _read(
                found, wishes, _keras(found, wishes), judged.unreadable if found.path in wanted else []
            )
            if facts is not None:
                read.append((found, facts))
        for found, facts in _with_their_project(read, wishes):
            # A notebook on an older kernel may import scripts that leave the version open.
            own = facts.keras if found.path.endswith(".py") else _keras(found, wishes).major
            groups.setdefault(own, []).append((found, facts))
        for group in groups.values():
            _judge_together(group, wanted, wishes, judged)
            _note_moves(group, wanted, wishes, judged)
    return judged


def _with_their_project(
    read: Sequence[tuple[Found, SourceFacts]], wishes: Wishes
) -> Iterator[tuple[Found, SourceFacts]]:
    """Yield the files; those that leave Keras open are for Keras 2 if other files of their repository show that it is."""
    reasons = {
        root_of(found.path): facts.keras_because
        for found, facts in read
        if facts.keras_because.startswith(IMPORTS) and found.path.endswith(".py")
    }
    undecided: dict[str, dict[str, str]] = {}
    for found, facts in read:
        if _is_open(found, facts, wishes):
            undecided.setdefault(root_of(found.path), {})[found.path] = facts.text
    several = {root: of_separate_programs(programs) for root, programs in undecided.items()}
    for found, facts in read:
        if _is_open(found, facts, wishes):
            root = root_of(found.path)
            if reason := several[root]:
                facts = with_older_keras(facts, reason)
            elif root in reasons and found.path.endswith(".py"):
                facts = replace(facts, keras=2, keras_because=reasons[root])
        yield found, facts


def _is_open(found: Found, facts: SourceFacts, wishes: Wishes) -> bool:
    """Whether nothing but the installed Keras says what to check a file for."""
    return facts.keras != 2 and not (facts.keras_because or wishes.keras or found.config.keras)


def _note_moves(
    group: Sequence[tuple[Found, SourceFacts]], wanted: Collection[str], wishes: Wishes, judged: Linted
) -> None:
    """Record where the project asks for another Keras than the installed one, and what Keras 3 would reject."""
    from fitdoctor.cli.installed import keras_major

    installed = keras_major()
    asked = [
        (found, facts)
        for found, facts in group
        if facts.keras_because and facts.keras != installed and _tells(facts.text)
    ]
    judged.assumed.update(
        Assumed(facts.keras, facts.keras_because) for found, facts in asked if found.path in wanted
    )
    moving = [
        (found, replace(facts, keras=3, tensorflow_1=False, older_optimizers=False))
        for found, facts in asked
        if facts.keras == 2
    ]
    if moving:
        moved = Linted()
        # Calls of `fit` were followed for Keras 2, and what Keras 3 renamed shows without following them.
        _judge_together(moving, wanted, wishes, moved, sites=False)
        known = {(each.id, each.location) for part in judged.diagnoses for each in part.findings}
        judged.moves += [each for each in moved.diagnosis.findings if (each.id, each.location) not in known]


def _keras(found: Found, wishes: Wishes) -> Assumed:
    """Return the Keras to check a file for: the requested one, else the pinned one, else the installed one."""
    from fitdoctor.cli.installed import keras_major

    asked = wishes.keras or found.config.keras
    if asked:
        return Assumed(asked)
    pinned = of_folder(os.path.dirname(os.path.abspath(found.path)))
    return pinned or Assumed(keras_major())


def _read(found: Found, wishes: Wishes, keras: Assumed, unreadable: list[str]) -> SourceFacts | None:
    from fitdoctor.source.read import SourceError, of_project, read_source

    try:
        facts = read_source(found.path, keras.major, assumed=not (wishes.keras or found.config.keras))
        return of_project(facts, keras)
    except SourceError as error:
        unreadable.append(str(error))
        return None


_IMPORTS_TENSORFLOW = re.compile(r"(?m)^\s*(?:import|from)\s+tensorflow\b")

TELLING = ("keras", "tensorflow", "fitdoctor", "noqa: fit")
"""Words of which a project contains at least one if there is anything to find."""


def _tells(text: str) -> bool:
    lowered = text.lower()
    return any(word in lowered for word in TELLING)


def _trains(text: str) -> bool:
    """Whether a script may train a model that another file creates."""
    return ".fit(" in text


def _judge_together(
    group: Sequence[tuple[Found, SourceFacts]],
    wanted: Collection[str],
    wishes: Wishes,
    judged: Linted,
    sites: bool = True,
) -> None:
    """Check the requested files of one project, without their models and calls of `fit` if `sites` is false."""
    from fitdoctor.source.read import SourceError, parse

    trees = []
    for found, facts in group:
        try:
            trees.append((found, facts, parse(facts)))
        except SourceError as error:
            from fitdoctor.source.broken_cells import without_broken_cells

            rest, errors = without_broken_cells(facts)
            if found.path in wanted:
                judged.unreadable.extend(str(each) for each in errors or [error])
            if rest is not None:
                trees.append((found, rest, parse(rest)))
    if not any(_tells(facts.text) or _trains(facts.text) for _found, facts, _tree in trees):
        return
    from fitdoctor.source.module import Module
    from fitdoctor.source.project import SETTINGS, Project, programs, with_imported

    modules = [Module(facts, tree) for _found, facts, tree in trees]
    whole = Project(with_imported(modules, modules[0].keras))
    if not any(_tells(module.text) for module in whole.modules):
        return
    # What a file is judged by lies in other files, too: in those it imports, and in files with settings.
    judged.leaning = (
        judged.leaning
        or len(whole.modules) > len(modules)
        or any(ending in module.text for module in whole.modules for ending in SETTINGS)
    )
    asked = {facts.path: found for found, facts, _tree in trees if found.path in wanted}
    here = list(_of_this_machine(whole, asked, wishes))
    for members in programs(whole):
        own = {module.path: asked[module.path] for module in members if module.path in asked}
        if own and any(_tells(module.text) for module in members):
            project = Project(members)
            judged.diagnoses.extend(_diagnoses(project, own, here, wishes, judged, sites))


_STEPS_PER_FILE = 3_000_000
"""Of work (see `work_budget`). Ordinary files take a few thousand; this many take about ten seconds."""


_ON_THEANO = re.compile(r"(?m)^\s*(?:import|from)\s+theano\b|KERAS_BACKEND\W+theano\b")


def _not_yet(facts: SourceFacts) -> tuple[str, ...]:
    """Return the causes that do not hold yet for the TensorFlow of a project, or for Theano."""
    if facts.tensorflow_1 or _ON_THEANO.search(facts.text):
        # Nothing is traced, and the history has other names.
        return ("FIT4", "FIT5", "FIT322")
    return ("FIT504",) if facts.older_optimizers else ()


def _diagnoses(
    project: Project,
    asked: dict[str, Found],
    here: list[Case],
    wishes: Wishes,
    judged: Linted,
    sites: bool,
) -> list[Diagnosis]:
    """Return one diagnosis per file: a finding in one file must not hide a finding in another."""
    from fitdoctor.catalogue import source_causes
    from fitdoctor.catalogue.prefilter import kinds_of
    from fitdoctor.diagnosis import Diagnosis
    from fitdoctor.engine import diagnose
    from fitdoctor.engine_inputs import source_cases
    from fitdoctor.source.lines import line_reader
    from fitdoctor.source.suppressions import suppress

    read_line = line_reader(project)
    crashes: list[Crash] = []
    cases: dict[str, list[Case]] = {}
    budgets = {path: WorkBudget(_STEPS_PER_FILE) for path in asked}
    for path, budget in list(budgets.items()):
        _counter.value += 1
        with _ending_over_budget(path, budgets, judged), budget:
            cases[path] = list(source_cases(project, files=(path,), crashes=crashes, sites=sites))
    for case in here:
        if case.path in asked:
            cases.setdefault(case.path, []).append(case)
    elsewhere = [module for module in project.modules if module.path not in asked][:_MOST_ELSEWHERE]
    beside = [
        case for module in elsewhere for case in source_cases(project, files=(module.path,), sites=False)
    ]
    causes = source_causes(
        project.texts,
        kinds_of(case for several in cases.values() for case in several),
    )
    diagnoses = [Diagnosis(crashes=tuple(crashes))]
    for path, budget in list(budgets.items()):
        found = asked[path]
        _counter.value += 1
        select = wishes.select or found.config.select
        ignore = (*wishes.ignore, *found.config.ignore, *ignored_in(found))
        module = project.module_at(path)
        if module is not None:
            ignore = (*ignore, *_not_yet(module.facts))
        diagnosis = None
        with _ending_over_budget(path, budgets, judged), budget:
            diagnosis = diagnose(
                cases[path], select=select, ignore=ignore, causes=causes, read_line=read_line
            )
            if beside:
                others = diagnose(beside, select=select, ignore=ignore, causes=causes, read_line=read_line)
                joint = tuple(one for one in others.findings if _is_due_to(path, one))
                diagnosis = replace(diagnosis, findings=(*diagnosis.findings, *joint))
        if diagnosis is None:
            continue
        if module is not None:
            heeded = suppress(
                module, [one for one in diagnosis.findings if not _ran_all_the_same(module, one)]
            )
            diagnosis = replace(diagnosis, findings=_heeded_elsewhere(project, module, heeded.kept))
            judged.remarks.extend(
                _remark(unused) for unused in heeded.unused if _is_checked(unused, select, ignore)
            )
        diagnoses.append(diagnosis)
    return diagnoses


_MOST_ELSEWHERE = 12
"""The most files that are read for findings which a checked file causes in them."""


def _is_due_to(path: str, finding: Finding) -> bool:
    """Return whether a finding in another file rests on a line of this one, which passes a function to Keras, say."""
    return any(each.location is not None and each.location.path == path for each in finding.evidence)


def _ran_all_the_same(module: Module, finding: Finding) -> bool:
    """Return whether the saved output of a notebook shows that training ran in spite of an error."""
    cell = finding.location.cell if finding.location is not None else None
    if finding.severity.value != "error" or finding.location is None or cell is None:
        return False
    return finding.location.path == module.path and cell in module.facts.trained_cells


@contextmanager
def _ending_over_budget(path: str, budgets: dict[str, WorkBudget], judged: Linted) -> Iterator[None]:
    """Report a file that takes too much work as unchecked, and continue with the others."""
    try:
        yield
    except OverBudget:
        del budgets[path]
        judged.unreadable.append(f"{path}: not checked: the analysis takes too long")


def _of_this_machine(project: Project, asked: dict[str, Found], wishes: Wishes) -> Iterator[Case]:
    """Report once, for the first file that imports TensorFlow, that the installed packages cannot be imported."""
    candidates = (module for module in project.modules if "tensorflow" in module.text)
    first = next((module for module in candidates if _IMPORTS_TENSORFLOW.search(module.text)), None)
    if first is None or first.path not in asked or wishes.keras or asked[first.path].config.keras:
        return
    from fitdoctor.cli.installed import conflicts_here

    conflicts = conflicts_here(first.keras == 2 and "TF_USE_LEGACY_KERAS" in first.text)
    if conflicts:
        from fitdoctor.diagnosis import Moment
        from fitdoctor.engine import Case
        from fitdoctor.facts import EnvironmentFacts

        facts = {"Module": (first,), "EnvironmentFacts": (EnvironmentFacts(conflicts=conflicts),)}
        yield Case(Moment.SOURCE, facts, first.path)


def _heeded_elsewhere(project: Project, module: Module, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Remove findings that a comment suppresses in another file, at the line to change."""
    from fitdoctor.source.suppressions import suppress

    kept = []
    for finding in findings:
        place = finding.location
        other = None if place is None or place.path == module.path else project.module_at(place.path)
        if other is None or suppress(other, [finding]).kept:
            kept.append(finding)
    return tuple(kept)


def _is_checked(unused: Unused, select: Collection[str], ignore: Collection[str]) -> bool:
    """Whether `lint` checked the cause: it was not deselected, and does not need a run."""
    from fitdoctor.catalogue import find
    from fitdoctor.diagnosis import Moment
    from fitdoctor.engine import is_selected

    cause = find(unused.name) if unused.name else None
    if cause is None:
        return not (select or ignore)
    return Moment.SOURCE in cause.moments and is_selected(cause, select, ignore)


def _remark(unused: Unused) -> str:
    from fitdoctor.catalogue import find
    from fitdoctor.config import unknown_cause
    from fitdoctor.diagnosis import Moment

    unknown = unknown_cause((unused.name,)) if unused.name else ""
    if unknown:
        return f"{unused.location}: unused suppression: {unknown}"
    cause = find(unused.name) if unused.name else None
    # `lint` does not see everything: data and weights are known only to a run.
    only_source = cause is not None and set(cause.moments) <= {Moment.SOURCE, Moment.AFTER_FAILURE}
    hint = "" if only_source else "; remove it unless `fitdoctor run` needs it"
    return f"{unused.location}: {unused.message}{hint}"


def joined(diagnoses: Iterable[Diagnosis]) -> Diagnosis:
    """Merge many diagnoses: most severe and most certain first, then by location."""
    from fitdoctor.diagnosis import Diagnosis

    parts = list(diagnoses)

    def every(field: str) -> list[Any]:
        return list(dict.fromkeys(item for part in parts for item in getattr(part, field)))

    # In an order of their own: however the files were shared out, the report is the same.
    return Diagnosis(
        findings=tuple(sorted(_once(parts), key=_rank)),
        skipped=tuple(sorted(every("skipped"), key=lambda skipped: (skipped.id, skipped.reason))),
        crashes=tuple(sorted(every("crashes"), key=lambda crash: (crash.where, crash.error))),
        unexplained=tuple(every("unexplained")),
        excerpts=tuple(sorted(every("excerpts"), key=lambda line: (line.path, line.cell or 0, line.line))),
        tool_version=next((part.tool_version for part in parts if part.tool_version), ""),
    )


def _once(parts: Iterable[Diagnosis]) -> Iterator[Finding]:
    """Remove findings that two files, or two calls, report for the same line."""
    reported: set[tuple[str, Location]] = set()
    for part in parts:
        places = {(finding.id, finding.location) for finding in part.findings if finding.location is not None}
        # Three calls with the same list are one line to change.
        unlike = {(each.id, each.location, each.message): each for each in reversed(part.findings)}
        rest = [each for each in unlike.values() if (each.id, each.location) not in reported]
        yield from _without_repeats(rest)
        reported |= places


def _without_repeats(findings: list[Finding]) -> Iterator[Finding]:
    """Remove what one change settles twice: the same edits, or what another finding says at the line to change.

    If `fit` and `evaluate` get data that the `Input` does not fit, the `Input` is wrong.
    """
    changes: set[tuple[Edit, ...]] = set()
    editing = [(each.id, each.message, each.location) for each in findings if _edits(each)]
    for one in sorted(findings, key=_rank):
        settled = any((one.id, one.message, each.location) in editing for each in one.evidence)
        edits = _edits(one)
        if edits in changes or (not edits and settled):
            continue
        if edits:
            changes.add(edits)
        yield one


def _edits(finding: Finding) -> tuple[Edit, ...]:
    """Return the edits of the first fix that has any."""
    return next((each.edits for each in finding.fixes if each.edits), ())


def _rank(finding: Finding) -> tuple[Any, ...]:
    location = finding.location
    place = (location.path, location.cell or 0, location.line, location.column) if location else ("", 0, 0, 0)
    return (finding.severity.rank, finding.confidence.rank, place, finding.id)
