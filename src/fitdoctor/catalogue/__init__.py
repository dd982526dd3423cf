"""The causes: one folder each, discovered on disk; ids are permanent."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from fitdoctor.diagnosis import Applicability, Confidence, Evidence, Finding, Fix, Location, Moment, Severity
from fitdoctor.facts import FailureFacts
from fitdoctor.records import dataclass, field, replace
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

if TYPE_CHECKING:
    from pathlib import Path

    from fitdoctor.catalogue.rules import Finder, Rule

ROOT = os.path.dirname(__file__)

FAMILIES = {
    "0": "training",
    "1": "inputs",
    "2": "labels",
    "3": "model",
    "4": "graph",
    "5": "variables",
    "6": "devices",
    "7": "pipeline",
    "8": "memory",
    "9": "environment",
}
"""The digit after `FIT` and the folder of its family."""

RETIRED: dict[str, str] = {}
"""Retired ids and what they meant; they are never reused."""

JudgeFunction = Callable[..., Iterator[Finding]]


@dataclass(frozen=True)
class Judge:
    """A function that reads facts and yields findings; its annotations say which facts."""

    function: JudgeFunction
    moment: Moment
    wants: tuple[tuple[str, str, bool], ...]
    """(parameter, type of fact, whether it may be Unknown)."""
    needs: frozenset[str] = frozenset()
    """The types of fact that the judge requires; a `Project` may be empty."""
    words: tuple[str, ...] = ()
    """It finds nothing in source without any of these words; () if it does not declare any."""
    doubts: frozenset[str] = frozenset()
    """It finds nothing in a call where one of these is certainly in order."""
    surest: Confidence = Confidence.CERTAIN
    """How sure its findings are at most."""


@dataclass(eq=False)
class Cause:
    """One way in which training fails, and the judges that detect it."""

    id: str
    slug: str
    severity: Severity
    raises: str | tuple[str, ...] | None = None
    """The exception that `broken.py` raises; None for a silent cause."""
    never_ends: bool = False
    """Whether `broken.py` hangs instead of raising."""
    stage: int = 1
    """When it takes effect, compared with other causes of the same call: 0 before fit reads anything else, 2 only in
    what training reports, 3 only in a metric."""
    explains: tuple[str, ...] = ()
    """Ids of causes whose findings for the same call are consequences of this one."""
    keeps_training: bool = False
    """Whether its fixes do not change what the model learns: they concern speed, memory, devices or reporting."""
    aspect: str = ""
    """The aspect of the data that it is about (see `collect/aspects.py`): a second run finds the line that made it so."""
    path: str = ""
    """The path of its `cause.py`."""
    page: str = ""
    """The docstring of its module."""
    judges: list[Judge] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)

    @property
    def title(self) -> str:
        """Return the first line of its page."""
        return self.page.strip().splitlines()[0].rstrip(".") if self.page.strip() else self.slug

    @property
    def folder(self) -> Path:
        """Return the folder of its examples."""
        from pathlib import Path

        return Path(self.path).parent

    @property
    def moments(self) -> tuple[Moment, ...]:
        """Return the moments at which its judges can detect it."""
        return tuple(moment for moment in Moment if any(judge.moment is moment for judge in self.judges))

    def judges_live(self, judge: Judge) -> bool:
        """Whether a judge of the source judges live calls of fit as well."""
        return any(
            other.function is judge.function and other.moment is Moment.BEFORE_FIT for other in self.judges
        )

    def in_source(self, function: JudgeFunction) -> JudgeFunction:
        """Register a judge of the source; it may require `Module` or facts read from the source."""
        return self._register(Moment.SOURCE, function)

    def likely_in_source(self, function: JudgeFunction) -> JudgeFunction:
        """Register a judge of the source, which may not show all that the program does: its findings are at most likely."""
        return self._register(Moment.SOURCE, function, Confidence.LIKELY)

    def before_fit(self, function: JudgeFunction) -> JudgeFunction:
        """Register a judge that runs when fit is called."""
        return self._register(Moment.BEFORE_FIT, function)

    def after_failure(self, function: JudgeFunction) -> JudgeFunction:
        """Register a judge of an exception."""
        return self._register(Moment.AFTER_FAILURE, function)

    def while_training(self, function: JudgeFunction) -> JudgeFunction:
        """Register a judge that runs during and after training."""
        return self._register(Moment.WHILE_TRAINING, function)

    def rule(
        self, *words: str, says: str = "", in_source: bool = True, **details: Any
    ) -> Callable[[Finder], Finder]:
        """Register a finder over a `Module` as a rule: its matches are likely in source, and certain after its exception.

        Args:
            words: the source contains one of these if the rule applies.
            says: a regular expression for the message of its exception; "" if it raises none.
            in_source: whether matches are reported without the exception.
            details: the other fields of a `Rule`.
        """

        def register(find: Finder) -> Finder:
            from fitdoctor.catalogue import rules

            rule = self._add_rule(says, find=find, words=words, **details)

            def from_rule(module: Module) -> Iterator[Finding]:
                yield from rules.find(rule, module)

            from_rule.__name__ = getattr(find, "__name__", "rule")
            if in_source:
                self.in_source(mentions(*words)(from_rule))
            return find

        return register

    def message(
        self,
        says: str,
        problem: str,
        *remedies: str,
        subject: str,
        types: tuple[str, ...] = (),
        **details: Any,
    ) -> None:
        """Register a rule without a finder: an exception that shows the cause by its words, whatever the program is.

        Args:
            says: a regular expression for the message.
            problem: the message of the finding; `{name}` is a group of the expression.
            remedies: the fixes.
            subject: what the finding is about.
            types: the types of the exception; () for any.
            details: the other fields of a `Rule`.
        """
        self._add_rule(says, problem=problem, remedy=remedies, subject=subject, types=types, **details)

    def _add_rule(self, says: str, **details: Any) -> Rule:
        import re

        from fitdoctor.catalogue.rules import Rule, findings_from_failure

        rule = Rule(re.compile(says) if says else None, **details)
        if says and not any(known.says for known in self.rules):

            def from_rules(failure: FailureFacts, project: Project) -> Iterator[Finding]:
                yield from findings_from_failure(self, self.rules, failure, project)

            self.after_failure(from_rules)
        self.rules.append(rule)
        return rule

    def _register(
        self, moment: Moment, function: JudgeFunction, surest: Confidence = Confidence.CERTAIN
    ) -> JudgeFunction:
        wants = _wants(function)
        needs = frozenset(kind for _parameter, kind, optional in wants if not optional and kind != "Project")
        words = getattr(function, "words", ())
        doubts: frozenset[str] = getattr(function, "doubts", frozenset())
        self.judges.append(Judge(function, moment, wants, needs, words, doubts, surest))
        return function

    def finding(
        self,
        message: str,
        location: Location | None = None,
        *details: Evidence | Fix,
        subject: str = "",
        notes: Iterable[str] = (),
        confidence: Confidence = Confidence.LIKELY,
        severity: Severity | None = None,
    ) -> Finding:
        """Create a finding of this cause at the line to change, with what was seen and how to fix it.

        The engine sets the moment.
        """
        evidence = tuple(detail for detail in details if isinstance(detail, Evidence))
        fixes = [detail for detail in details if isinstance(detail, Fix)]
        severity = severity or self.severity
        if severity is not Severity.ERROR and not self.keeps_training:
            fixes = [_for_a_program_that_trains(each) for each in fixes]
        return Finding(
            id=self.id,
            slug=self.slug,
            severity=severity,
            confidence=confidence,
            moment=Moment.SOURCE,
            message=message,
            subject=subject,
            location=location,
            evidence=evidence,
            # Fixes with edits come before fixes that are only advice.
            fixes=tuple(sorted(fixes, key=lambda each: not each.edits)),
            notes=tuple(notes),
        )

    def certain(
        self, message: str, location: Location | None = None, *details: Evidence | Fix, **more: Any
    ) -> Finding:
        """Create a finding that is proven: by a trial, by the values that were seen, or by the exception."""
        return self.finding(message, location, *details, confidence=Confidence.CERTAIN, **more)


def _for_a_program_that_trains(fix: Fix) -> Fix:
    """Mark a safe fix of a program that already trains as unsafe: it changes what the model learns."""
    safe = fix.applicability is Applicability.SAFE
    return replace(fix, applicability=Applicability.UNSAFE) if safe else fix


BATCHED_DATA = ("ataset", "yield", "enerator", "Sequence", "flow", "iter", "cycle")
"""Words of which a program that passes batches to fit contains at least one; for `mentions`."""


def mentions(*words: str) -> Callable[[JudgeFunction], JudgeFunction]:
    """Declare, below `in_source`, that a judge finds nothing in a project without any of these words.

    `lint` does not import a cause if none of its judges can find anything.
    """

    def note(function: JudgeFunction) -> JudgeFunction:
        function.words = words  # type: ignore[attr-defined]
        return function

    return note


def doubting(doubt: str) -> Callable[[JudgeFunction], JudgeFunction]:
    """Declare, below `in_source`, that a judge finds nothing in a call where `doubts` rules this part out.

    `lint` does not import a cause if none of its judges can find anything.
    """

    def note(function: JudgeFunction) -> JudgeFunction:
        function.doubts = frozenset({doubt})  # type: ignore[attr-defined]
        return function

    return note


def _wants(function: JudgeFunction) -> tuple[tuple[str, str, bool], ...]:
    """Return the facts a judge requires, from its annotations as text: resolving them needs a slow import."""
    wants = []
    for parameter, annotation in function.__annotations__.items():
        if parameter == "return":
            continue
        text = annotation if isinstance(annotation, str) else annotation.__name__
        names = [name.strip() for name in text.split("|")]
        wants.append((parameter, names[0], "Unknown" in names[1:]))
    return tuple(wants)


class CatalogueError(Exception):
    """The catalogue is inconsistent: a duplicate id, or a folder without a valid cause."""


def load(root: str | os.PathLike[str] = ROOT, read: Callable[[str], Cause] | None = None) -> dict[str, Cause]:
    """Import every cause under `root`, by id in ascending order.

    Args:
        root: the folder of the families.
        read: returns the cause of a `cause.py`; imports it by default.

    Raises:
        CatalogueError: an id or slug is duplicated, retired, or does not match its folder.
    """
    causes: dict[str, Cause] = {}
    slugs: dict[str, str] = {}
    for path in _paths(os.fspath(root)):
        cause = (read or _load_one)(path)
        if cause.id in RETIRED:
            raise CatalogueError(f"{path}: {cause.id} is retired ({RETIRED[cause.id]})")
        if cause.id in causes:
            raise CatalogueError(f"{path}: {cause.id} is already used by {causes[cause.id].slug}")
        if cause.slug in slugs:
            raise CatalogueError(f"{path}: `{cause.slug}` is already used by {slugs[cause.slug]}")
        causes[cause.id] = cause
        slugs[cause.slug] = cause.id
    return dict(sorted(causes.items()))


def _paths(root: str) -> list[str]:
    paths = (os.path.join(root, folder, "cause.py") for folder in _folders(root))
    return sorted(path for path in paths if os.path.isfile(path))


def _folders(root: str) -> list[str]:
    """Return `family/name` of every folder that may contain a cause."""
    families = [name for name in FAMILIES.values() if os.path.isdir(os.path.join(root, name))]
    return [
        f"{family}/{name}"
        for family in families
        for name in os.listdir(os.path.join(root, family))
        if not name.startswith(("_", ".")) and not name.endswith(".py")
    ]


def _load_one(path: str) -> Cause:
    family, folder = path.split(os.sep)[-3:-1]
    name = f"{__name__}.{family}.{folder}.cause"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CatalogueError(f"{path}: cannot be imported")
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    cause = getattr(module, "CAUSE", None)
    if not isinstance(cause, Cause):
        raise CatalogueError(f"{path}: does not define CAUSE")
    if cause.slug.replace("-", "_") != folder:
        raise CatalogueError(f"{path}: `{cause.slug}` does not match the name of its folder")
    if not cause.id.startswith("FIT") or FAMILIES.get(cause.id[3:4]) != family:
        raise CatalogueError(f"{path}: {cause.id} does not belong to the family `{family}`")
    cause.path = path
    cause.page = module.__doc__ or ""
    return cause


def source_causes(texts: Collection[str], kinds: Collection[frozenset[str]]) -> dict[str, Cause]:
    """Return the causes that can be found in this source, by id, without importing the others.

    Args:
        texts: the source of the project.
        kinds: for each case, the types of its facts and what is in doubt (see `kinds_of`).
    """
    return _indexed(
        lambda _moments, judges: any(
            any(facts <= kind for kind in kinds)
            and (not words or any(word in text for word in words for text in texts))
            for facts, words in judges
        )
    )


def causes_at(moments: Collection[Moment]) -> dict[str, Cause]:
    """Return the causes that judge at one of these moments, by id, without importing the others."""
    return _indexed(lambda judging, _judges: any(moment.value in judging for moment in moments))


def _indexed(
    needed: Callable[[tuple[str, ...], list[tuple[set[str], tuple[str, ...]]]], bool],
) -> dict[str, Cause]:
    """Return the causes that the index selects, and those without an index entry."""
    from fitdoctor.catalogue.judge_index import INDEX

    folders = [folder for folder, moments, judges in INDEX.values() if needed(moments, judges)]
    indexed = {folder for folder, _moments, _judges in INDEX.values()}
    folders += sorted(folder for folder in _folders(ROOT) if folder not in indexed)
    causes = [_shipped(os.path.join(ROOT, *folder.split("/"), "cause.py")) for folder in folders]
    return {cause.id: cause for cause in sorted(causes, key=lambda cause: cause.id)}


@functools.cache
def _shipped(path: str) -> Cause:
    return _load_one(path)


@functools.cache
def catalogue() -> dict[str, Cause]:
    """Return all causes of fitdoctor, by id."""
    return load(read=_shipped)


def find(word: str) -> Cause | None:
    """Return the cause with that id or slug, ignoring case."""
    wanted = word.strip().lower().replace("_", "-")
    for cause in catalogue().values():
        if wanted in (cause.id.lower(), cause.slug):
            return cause
    return None


def suggestions(word: str) -> list[str]:
    """Return ids and slugs similar to the word."""
    import difflib

    known = {cause.slug: cause for cause in catalogue().values()}
    known |= {cause.id.lower(): cause for cause in catalogue().values()}
    # `O` for zero, `l` or `I` for one: the most common typos in an id.
    digits = word.lower()[3:].translate(str.maketrans("oil", "011"))
    if word.lower().startswith("fit") and f"fit{digits}" in known:
        return [f"{known[f'fit{digits}'].id} ({known[f'fit{digits}'].slug})"]
    close = difflib.get_close_matches(word.lower().replace("_", "-"), known, n=3, cutoff=0.6)
    return [f"{known[name].id} ({known[name].slug})" for name in close]
