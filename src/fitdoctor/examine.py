"""Turns what is known at each moment into cases for the engine, and its answers into one diagnosis."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from fitdoctor.catalogue import Cause, catalogue, source_causes
from fitdoctor.diagnosis import (
    Confidence,
    Crash,
    Diagnosis,
    Excerpt,
    Finding,
    Location,
    Moment,
    Raised,
    Script,
    Severity,
    Unexplained,
)
from fitdoctor.engine import Case, ReadLine, diagnose, whole_line
from fitdoctor.facts import (
    DataFacts,
    EnvironmentFacts,
    FailureFacts,
    FitFacts,
    HeldTensor,
    ModelFacts,
    SourceFacts,
    TrainingFacts,
    Unknown,
)
from fitdoctor.patterns import pattern
from fitdoctor.records import dataclass, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, Protocol

    from fitdoctor.source.fit_facts import FitSite
    from fitdoctor.source.module import Module
    from fitdoctor.source.project import Project
else:
    Protocol = object


class Call(Protocol):
    """A call of fit, as facts."""

    @property
    def model(self) -> ModelFacts | Unknown:
        """The model that it was called on."""

    @property
    def fit(self) -> FitFacts:
        """The call itself."""

    @property
    def data(self) -> tuple[DataFacts, ...]:
        """What it was given, for training and for validation."""


@dataclass(frozen=True)
class SeenCall:
    """A call of fit that was seen in a program."""

    model: ModelFacts | Unknown
    fit: FitFacts
    data: tuple[DataFacts, ...]


NOT_SEEN = Unknown("the call of fit was not seen")
NO_SOURCE = Unknown("the source was not read")


# --- reading ------------------------------------------------------------------------------------------------------


def read_project(paths: Iterable[Path | str], keras: int = 3) -> Project:
    """Read files together; those that cannot be read as Python are left out."""
    from fitdoctor.source.module import Module
    from fitdoctor.source.project import Project
    from fitdoctor.source.read import SourceError, read_source

    modules = []
    for path in paths:
        try:
            modules.append(Module(read_source(path, keras)))
        except SourceError:
            continue
    return Project(tuple(modules))


def line_reader(project: Project | None = None) -> ReadLine:
    """Gives lines of the user's files as they were read for the project, others from the disk."""
    texts: dict[str, SourceFacts | None] = {}
    for module in project.modules if project is not None else ():
        texts[module.path] = module.facts

    def read_line(location: Location) -> str | None:
        if location.path not in texts:
            texts[location.path] = _facts_on_disk(location.path)
        facts = texts[location.path]
        return None if facts is None else _line(facts, location)

    return read_line


def _facts_on_disk(path: str) -> SourceFacts | None:
    from fitdoctor.source.read import SourceError, read_source

    if path.startswith("<") or not os.path.isfile(path):
        return None
    try:
        return read_source(path)
    except SourceError:
        return None


def _line(facts: SourceFacts, location: Location) -> str | None:
    text = facts.text
    if location.cell is not None:
        cells = facts.cells or ()
        if not 1 <= location.cell <= len(cells):
            return None
        text = cells[location.cell - 1]
    lines = text.split("\n")
    return lines[location.line - 1] if 1 <= location.line <= len(lines) else None


# --- cases --------------------------------------------------------------------------------------------------------


class _Facts(Mapping[str, "tuple[Any, ...] | Unknown"]):
    """Facts by type, some of them made only when a judge asks: reading source costs more than most judges."""

    def __init__(self, **facts: tuple[Any, ...] | Unknown | Callable[[], tuple[Any, ...] | Unknown]) -> None:
        self._facts = dict(facts)

    def __getitem__(self, name: str) -> tuple[Any, ...] | Unknown:
        value = self._facts[name]
        if callable(value):
            value = self._facts[name] = value()
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)


ProjectSource = Callable[[], "Project | None"]


def source_cases(
    project: Project,
    *,
    files: Collection[str] | None = None,
    fit_sites: bool = True,
    crashes: list[Crash] | None = None,
) -> list[Case]:
    """One case a module, and one for each call of fit and each model whose facts the source tells.

    Args:
        project: the files.
        files: only these of them, by path; the others are there for what these take from them.
        fit_sites: with the calls and models; living ones are better known than what the source lets one guess.
        crashes: takes what failed in our own reading.
    """
    cases: list[Case] = []
    for module in project.modules:
        if files is not None and module.path not in files:
            continue
        facts = {"Module": (module,), "Project": (project,)}
        cases.append(SourceCase(Moment.SOURCE, facts, module.path))
        if not fit_sites:
            continue
        try:
            cases.extend(_site_cases(module, project))
        # A border: following a program must not keep the judges of its text from theirs.
        except Exception as error:
            if crashes is not None:
                crashes.append(Crash(f"following {module.path}", f"{type(error).__name__}: {error}"))
    return cases


@dataclass(frozen=True)
class SourceCase(Case):
    """What the source of one file tells."""

    path: str = ""


def _site_cases(module: Module, project: Project) -> Iterator[SourceCase]:
    from fitdoctor.source.fit_sites import fit_sites, model_sites

    facts: dict[str, tuple[Any, ...] | Unknown]
    for site in fit_sites(module):
        facts = {**_call_facts(site), "Project": (project,)}
        yield SourceCase(Moment.SOURCE, facts, module.path)
    for made in model_sites(module):
        # A model that cannot be made is known only as far as it has come: not what a judge of models expects.
        facts = {"ModelFacts": (made.model,)} if made.failure is None else {"ModelSite": (made,)}
        yield SourceCase(Moment.SOURCE, {**facts, "Project": (project,)}, module.path)


def call_case(
    collected: Call,
    project: ProjectSource = lambda: None,
    environment: EnvironmentFacts | None = None,
) -> Case:
    """The case of a living call of fit."""
    return Case(
        Moment.BEFORE_FIT,
        _Facts(
            **_call_facts(collected),
            EnvironmentFacts=_environment(environment),
            Project=lambda: _project(project()),
            Module=lambda: _module_of(project(), _path_of_call(collected)),
        ),
    )


def training_case(training: TrainingFacts, collected: Call, project: ProjectSource = lambda: None) -> Case:
    """The case of a fit that has ended."""
    return Case(
        Moment.WHILE_TRAINING,
        _Facts(
            TrainingFacts=(training,),
            **_call_facts(collected),
            Project=lambda: _project(project()),
        ),
    )


def leak_case(held: tuple[HeldTensor, ...], project: ProjectSource = lambda: None) -> Case:
    """The case of a program that has ended and still holds tensors of its traces."""
    return Case(
        Moment.WHILE_TRAINING,
        _Facts(TrainingFacts=(TrainingFacts(held=held),), Project=lambda: _project(project())),
    )


def failure_case(
    failure: FailureFacts,
    project: ProjectSource = lambda: None,
    collected: Call | None = None,
    environment: EnvironmentFacts | None = None,
) -> Case:
    """The case of an exception, with the call of fit that it came from where that was seen."""
    frame = failure.last_user_frame
    call = collected or _call_in_source(failure, project)
    unseen: dict[str, tuple[Any, ...] | Unknown] = {
        "ModelFacts": NOT_SEEN,
        "FitFacts": NOT_SEEN,
        "DataFacts": NOT_SEEN,
    }
    return Case(
        Moment.AFTER_FAILURE,
        _Facts(
            FailureFacts=(failure,),
            **(unseen if call is None else _call_facts(call)),
            EnvironmentFacts=_environment(environment),
            Project=lambda: _project(project()),
            Module=lambda: _module_of(project(), frame.path if frame else ""),
        ),
    )


def _call_facts(call: Call) -> dict[str, tuple[Any, ...] | Unknown]:
    return {
        "ModelFacts": call.model if isinstance(call.model, Unknown) else (call.model,),
        "FitFacts": (call.fit,),
        "DataFacts": call.data or Unknown("the data was not looked at"),
    }


def _call_in_source(failure: FailureFacts, project: ProjectSource) -> Call | None:
    """What the source says about the call of fit that failed; a log has no living one."""
    read = project()
    if read is None:
        return None
    from fitdoctor.catalogue.traced import module_of

    for frame in reversed(failure.user_frames):
        module = module_of(read, frame)
        for site in _fit_sites(module) if module is not None else ():
            code = site.fit.code
            if (
                not isinstance(code, Unknown)
                and code.location.cell == frame.cell
                and code.location.line <= frame.line <= code.location.end_line
            ):
                return SeenCall(site.model, site.fit, site.data)
    return None


def _fit_sites(module: Module) -> tuple[FitSite, ...]:
    try:
        from fitdoctor.source.fit_sites import fit_sites

        return fit_sites(module)
    # A border: the failure itself tells enough, and `source_cases` reports what is wrong here.
    except Exception:
        return ()


def _environment(environment: EnvironmentFacts | None) -> tuple[EnvironmentFacts] | Unknown:
    return Unknown("the environment was not looked at") if environment is None else (environment,)


def _project(project: Project | None) -> tuple[Project] | Unknown:
    return NO_SOURCE if project is None else (project,)


def _module_of(project: Project | None, path: str) -> tuple[Module] | Unknown:
    module = project.module_at(path) if project is not None and path else None
    return NO_SOURCE if module is None else (module,)


def _path_of_call(collected: Call) -> str:
    code = collected.fit.code
    return "" if isinstance(code, Unknown) else code.location.path


# --- diagnoses ----------------------------------------------------------------------------------------------------


def examine_source(project: Project, select: Collection[str] = (), ignore: Collection[str] = ()) -> Diagnosis:
    """Judge source alone."""
    crashes: list[Crash] = []
    cases = source_cases(project, crashes=crashes)
    diagnosis = _finished(cases, lambda: project, select, ignore)
    return replace(diagnosis, crashes=(*diagnosis.crashes, *crashes))


def examine_call(
    collected: Call,
    project: ProjectSource = lambda: None,
    environment: EnvironmentFacts | None = None,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
) -> Diagnosis:
    """Judge a living call of fit."""
    return _finished([call_case(collected, project, environment)], project, select, ignore)


def examine_training(
    training: TrainingFacts,
    collected: Call,
    project: ProjectSource = lambda: None,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
) -> Diagnosis:
    """Judge how a fit went."""
    return _finished([training_case(training, collected, project)], project, select, ignore)


def examine_failure(
    failure: FailureFacts,
    project: ProjectSource = lambda: None,
    collected: Call | None = None,
    environment: EnvironmentFacts | None = None,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
) -> Diagnosis:
    """Judge an exception; one that no cause explains is told as such."""
    failure = _what_it_repeats(failure)
    case = failure_case(failure, project, collected, environment)
    diagnosis = _finished([case], project, select, ignore)
    if diagnosis.findings:
        return diagnosis
    if failure.wrapped is not None:
        inner = examine_failure(failure.wrapped, project, collected, environment, select, ignore)
        if inner.findings:
            return inner
    return _with_unexplained(diagnosis, failure, project(), collected)


@dataclass(frozen=True)
class Run:
    """All that is known when a program has ended."""

    project: Project | None
    calls: Sequence[Call] = ()
    trainings: Sequence[tuple[TrainingFacts, Call]] = ()
    """How the fits went that came to their end."""
    held: tuple[HeldTensor, ...] = ()
    """Symbolic tensors that it still held at its end."""
    failure: FailureFacts | None = None
    """What ended the program."""
    failed_call: Call | None = None
    """The call that it escaped from."""
    stopped: bool = False
    """fitdoctor itself stopped it."""
    whole: bool = True
    """Every fit ran as the program asked, not cut short by `--smoke`."""
    environment: EnvironmentFacts | None = None
    crashes: tuple[Crash, ...] = ()
    script: Script | None = None


def examine_run(run: Run, select: Collection[str] = (), ignore: Collection[str] = ()) -> Diagnosis:
    """Judge all moments of a run together."""

    def project() -> Project | None:
        return run.project

    cases: list[Case] = []
    crashes = list(run.crashes)
    if run.project is not None and any(_may_train(module.text) for module in run.project.modules):
        cases.extend(source_cases(run.project, fit_sites=not run.calls, crashes=crashes))
    cases.extend(call_case(call, project, run.environment) for call in run.calls)
    cases.extend(training_case(training, call, project) for training, call in run.trainings)
    if run.held:
        cases.append(leak_case(run.held, project))
    if run.failure is not None:
        cases.append(_explained_case(run, project, select, ignore))
    causes = None
    if all(case.moment is Moment.SOURCE for case in cases):
        texts = [module.text for module in run.project.modules] if run.project is not None else []
        causes = source_causes(texts, {frozenset(case.facts) for case in cases})
    diagnosis = _finished(cases, project, select, ignore, causes)
    findings = tuple(finding for finding in diagnosis.findings if not _refuted(finding, run, diagnosis))
    if run.failure is not None and not any(_explains_end(finding, run) for finding in findings):
        diagnosis = _with_unexplained(diagnosis, run.failure, run.project, run.failed_call)
    return replace(
        diagnosis,
        findings=findings,
        crashes=(*diagnosis.crashes, *crashes),
        script=run.script,
    )


def _may_train(text: str) -> bool:
    return "keras" in text or "tensorflow" in text


def _what_it_repeats(failure: FailureFacts) -> FailureFacts:
    """The exception inside, where the one around it only repeats its message: its own lines tell more."""
    while failure.wrapped is not None and failure.wrapped.message[:80].strip():
        inner = failure.wrapped
        if inner.type == failure.type or inner.message[:80] not in failure.message:
            break
        failure = inner
    return failure


def _explained_case(
    run: Run, project: ProjectSource, select: Collection[str], ignore: Collection[str]
) -> Case:
    """The case of what ended the program, or of what that passes on, where only the latter is known."""
    assert run.failure is not None
    failure = whole = _what_it_repeats(run.failure)
    first = failure_case(failure, project, run.failed_call, run.environment)
    while failure.wrapped is not None:
        case = failure_case(failure, project, run.failed_call, run.environment)
        if diagnose([case], select=select, ignore=ignore).findings:
            return case
        failure = failure.wrapped
    case = failure_case(failure, project, run.failed_call, run.environment)
    known = failure is whole or bool(diagnose([case], select=select, ignore=ignore).findings)
    return case if known else first


def _refuted(finding: Finding, run: Run, diagnosis: Diagnosis) -> bool:
    """Whether the end of the program speaks against an error that was announced and not proved."""
    if finding.severity is not Severity.ERROR or finding.moment is Moment.AFTER_FAILURE:
        return False
    if finding.moment is Moment.BEFORE_FIT and finding.confidence is Confidence.CERTAIN:
        return False
    if run.script is not None and run.script.exit_code == 0 and run.whole:
        return True
    if finding.moment is not Moment.SOURCE:
        return False
    return _raises_another(finding, run.failure) or any(
        _explains_end(other, run) for other in diagnosis.findings
    )


_UNRELATED = ("NameError", "FileNotFoundError", "NotADirectoryError", "PermissionError", "SystemExit")
"""Ends that say nothing about training: the program did not come to the announced failure."""


def _raises_another(finding: Finding, failure: FailureFacts | None) -> bool:
    """Whether what ended the program is not the exception that the finding announces."""
    cause = catalogue().get(finding.id)
    if failure is None or cause is None or cause.raises is None:
        return False
    announced = (cause.raises,) if isinstance(cause.raises, str) else cause.raises
    return failure.type not in (*announced, *_UNRELATED)


def _explains_end(finding: Finding, run: Run) -> bool:
    """Whether a finding accounts for the end: it was made from the failure, or from the very call that failed."""
    if finding.moment is Moment.AFTER_FAILURE:
        return True
    return (
        finding.moment is Moment.BEFORE_FIT
        and finding.severity is Severity.ERROR
        and finding.confidence is not Confidence.POSSIBLE
        and (run.stopped or run.failed_call is not None)
    )


def _with_unexplained(
    diagnosis: Diagnosis, failure: FailureFacts, project: Project | None, call: Call | None
) -> Diagnosis:
    told = unexplained(failure, call)
    excerpts = diagnosis.excerpts
    text = line_reader(project)(told.location) if told.location is not None else None
    if told.location is not None and text is not None:
        if told.location.end_column == 0:
            told = replace(told, location=whole_line(told.location, text))
        assert told.location is not None
        excerpt = Excerpt(told.location.path, told.location.line, text, told.location.cell)
        excerpts = tuple(dict.fromkeys((*excerpts, excerpt)))
    return replace(diagnosis, unexplained=(*diagnosis.unexplained, told), excerpts=excerpts)


def unexplained(failure: FailureFacts, call: Call | None = None) -> Unexplained:
    """What is known about a failure that no cause fits, and of the call that it came from."""
    frame = failure.last_user_frame
    location = frame.location if frame is not None else None
    if frame is not None and not isinstance(frame.code, Unknown) and frame.code.location.line == frame.line:
        location = frame.code.location
    layer = f"{failure.layer} ({failure.layer_class})" if failure.layer_class else failure.layer
    return Unexplained(
        type=failure.type,
        message=failure.message,
        location=location,
        called=failure.called,
        layer=layer,
        arguments=tuple(
            f"{name}: {value}" for name, value in failure.arguments if "inspect._empty" not in value
        )
        or tuple(_given(call)),
    )


def _given(call: Call | None) -> Iterator[str]:
    """The shapes and types of what a call was given."""
    for data in call.data if call is not None else ():
        for array in (*data.x, *data.y, *data.sample_weight):
            if not isinstance(array.shape, Unknown):
                dtype = "" if isinstance(array.dtype, Unknown) else f" {array.dtype}"
                yield f"{array.path}: {array.shape}{dtype}"


def raised(failure: FailureFacts) -> Raised:
    """The exception by its type and message."""
    return Raised(failure.type, failure.message)


def _finished(
    cases: list[Case],
    project: ProjectSource,
    select: Collection[str],
    ignore: Collection[str],
    causes: Mapping[str, Cause] | None = None,
) -> Diagnosis:
    """Judge, leave out what the source says to leave out, and sign. A call without findings reads no source.

    Args:
        cases: what is known.
        project: the source, read when it is asked for.
        select: ids to judge by.
        ignore: ids to leave out.
        causes: those that could find something, where the others need not be imported; all by default.
    """
    from fitdoctor import __version__

    readers: list[ReadLine] = []

    def read_line(location: Location) -> str | None:
        if not readers:
            readers.append(line_reader(project()))
        return readers[0](location)

    diagnosis = diagnose(cases, select=select, ignore=ignore, causes=causes, read_line=read_line)
    if diagnosis.findings:
        diagnosis = without_suppressed(diagnosis, project())
    skipped = tuple(entry for entry in diagnosis.skipped if not _FOREIGN.fullmatch(entry.reason))
    return replace(diagnosis, skipped=skipped, tool_version=__version__)


_FOREIGN = pattern(r"no \w+ here")
"""What the engine says of facts that a case of this kind never has: nothing that could have been known."""


def without_suppressed(diagnosis: Diagnosis, project: Project | None) -> Diagnosis:
    """Leave out the findings that a comment in the source suppresses."""
    if project is None:
        return diagnosis
    from fitdoctor.source.suppressions import suppress

    findings = diagnosis.findings
    for path in {finding.location.path for finding in findings if finding.location}:
        module = project.module_at(path)
        if module is not None:
            findings = suppress(module, findings).kept
    return replace(diagnosis, findings=findings)
