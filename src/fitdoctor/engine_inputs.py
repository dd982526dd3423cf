"""Cases for the engine: the facts from source, from a live call of `fit`, from its end or from its failure."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from fitdoctor.diagnosis import Crash, Moment
from fitdoctor.engine import Case
from fitdoctor.facts import CALLS, DataFacts, FitFacts, ModelFacts, TrainingFacts, Unknown
from fitdoctor.records import dataclass

if TYPE_CHECKING:
    from typing import Any, Protocol

    from fitdoctor.facts import ClusterFacts, EnvironmentFacts, FailureFacts
    from fitdoctor.source.fits.fit_facts import FitSite
    from fitdoctor.source.module import Module
    from fitdoctor.source.project import Project
else:
    Protocol = object


class Call(Protocol):
    """The facts about one call of `fit`."""

    @property
    def model(self) -> ModelFacts | Unknown:
        """The model that it is called on."""

    @property
    def fit(self) -> FitFacts:
        """The call itself."""

    @property
    def data(self) -> tuple[DataFacts, ...]:
        """Its training and validation data."""


@dataclass(frozen=True)
class SeenCall:
    """A call of `fit` seen in a program."""

    model: ModelFacts | Unknown
    fit: FitFacts
    data: tuple[DataFacts, ...]


NOT_SEEN = Unknown("the call of fit was not seen")
NO_SOURCE = Unknown("the source was not read")


# --- from source ------------------------------------------------------------------------------------------------------


def source_cases(
    project: Project,
    *,
    files: Collection[str] | None = None,
    calls: Collection[Call] = (),
    crashes: list[Crash] | None = None,
    sites: bool = True,
) -> list[Case]:
    """Return one case per module, and one per call of `fit` and per model that the source describes.

    Args:
        project: the files.
        files: the paths of those to judge; the others only provide what these import.
        calls: calls that were seen live, which judges of both moments do not judge from source again.
        crashes: receives internal errors.
        sites: whether to include calls of `fit` and models.
    """
    cases: list[Case] = []
    live = {place for call in calls for place in _places_of(call)}
    modules = project.modules if files is None else map(project.module_at, files)
    for module in modules:
        if module is None:
            continue
        facts = {"Module": (module,), "Project": (project,)}
        cases.append(Case(Moment.SOURCE, facts, module.path))
        if not sites:
            continue
        try:
            cases.extend(
                _within_budget(module, project, live) if live else _site_cases(module, project, live)
            )
        # A boundary: if the interpreter fails, the judges of the text still run.
        except Exception as error:
            if crashes is not None:
                crashes.append(Crash(f"following {module.path}", f"{type(error).__name__}: {error}"))
    return cases


def called_in_source(call: Call, project: ProjectSource) -> Case:
    """Return the case of one call of `fit` in the source."""
    return Case(Moment.SOURCE, {**_call_facts(call), "Project": _project(project())})


_Place = tuple[str, "int | None", int]
_MOST_STEPS = 1_000_000
"""Units of work (see `work_budget`), about three seconds: a program that has run is not delayed for longer."""


def _within_budget(module: Module, project: Project, live: set[_Place]) -> list[Case]:
    from fitdoctor.source.work_budget import OverBudget, WorkBudget

    try:
        with WorkBudget(_MOST_STEPS):
            return list(_site_cases(module, project, live))
    except OverBudget:
        return []


def _places_of(call: Call) -> Iterator[_Place]:
    """Where a call of `fit` is, and where its model is created."""
    for code in (call.fit.code, Unknown("") if isinstance(call.model, Unknown) else call.model.code):
        if not isinstance(code, Unknown):
            yield os.path.abspath(code.location.path), code.location.cell, code.location.line


def _site_cases(module: Module, project: Project, live: set[_Place]) -> Iterator[Case]:
    from fitdoctor.source.fits.fit_sites import fit_sites, model_sites, spread_sites

    facts: dict[str, tuple[Any, ...] | Unknown]
    for site in fit_sites(module):
        seen = not live.isdisjoint(_places_of(site)) and site.fit.method in CALLS
        facts = {**_call_facts(site), "Project": (project,)}
        yield Case(Moment.SOURCE, facts, module.path, _call_name(site), seen)
    for made in model_sites(module):
        # Of a model that cannot be built, only part is known, which judges of models do not expect.
        facts = {"ModelFacts": (made.model,)} if made.failure is None else {"ModelSite": (made,)}
        yield Case(Moment.SOURCE, {**facts, "Project": (project,)}, module.path, seen_live=bool(live))
    for spread in spread_sites(module):
        yield Case(Moment.SOURCE, {"SpreadSite": (spread,), "Project": (project,)}, module.path)


# --- from a living program, or from its failure ----------------------------------------------------------------------


class _Facts(Mapping[str, "tuple[Any, ...] | Unknown"]):
    """Facts by type, some computed only when a judge asks, since reading source costs more than most judges."""

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
"""Reads the user's files; called once, since that costs more than most judges."""


def files_of(failure: FailureFacts) -> Project | None:
    """Return the user's files that a traceback names, and what they import; None if none can be read."""
    from fitdoctor.source.project import Project
    from fitdoctor.source.read import SourceError

    paths = dict.fromkeys(frame.path for frame in failure.user_frames if os.path.isfile(frame.path))
    for first in paths:
        try:
            return Project.around(first, others=[path for path in paths if path != first])
        except SourceError:
            continue
    return None


def pasted_project(text: str, path: str) -> Project | None:
    """Return the code that a saved text contains beside its traceback; None if there is none."""
    from fitdoctor.failure.pasted_code import pasted_code

    code = pasted_code(text)
    if not code:
        return None
    from fitdoctor.source.module import Module
    from fitdoctor.source.project import Project
    from fitdoctor.source.read import source_from_text

    return Project([Module(source_from_text(code, path or "the pasted code", keras=2))])


def call_case(
    collected: Call, project: ProjectSource = lambda: None, environment: EnvironmentFacts | None = None
) -> Case:
    """Return the case of a live call of `fit`."""
    return Case(
        Moment.BEFORE_FIT,
        _Facts(
            **_call_facts(collected),
            EnvironmentFacts=_environment(environment),
            Project=lambda: _project(project()),
            Module=lambda: _module_of(project(), _path_of_call(collected)),
        ),
        call=_call_name(collected),
    )


def cluster_case(cluster: ClusterFacts, project: ProjectSource = lambda: None) -> Case:
    """Return the case of a multi-worker strategy that is about to be created."""
    return Case(Moment.BEFORE_FIT, _Facts(ClusterFacts=(cluster,), Project=lambda: _project(project())))


def training_case(training: TrainingFacts, collected: Call, project: ProjectSource = lambda: None) -> Case:
    """Return the case of a call of `fit` that has ended."""
    return Case(
        Moment.WHILE_TRAINING,
        _Facts(TrainingFacts=(training,), **_call_facts(collected), Project=lambda: _project(project())),
        call=_call_name(collected),
    )


def leak_case(left: TrainingFacts, project: ProjectSource = lambda: None) -> Case:
    """Return the case of a program that has ended and still references tensors, or traced a function repeatedly."""
    return Case(Moment.WHILE_TRAINING, _Facts(TrainingFacts=(left,), Project=lambda: _project(project())))


def failure_case(
    failure: FailureFacts,
    project: ProjectSource = lambda: None,
    collected: Call | None = None,
    environment: EnvironmentFacts | None = None,
) -> Case:
    """Return the case of an exception, with the call of `fit` that raised it if that was seen."""
    frame = failure.last_user_frame
    call = collected or call_in_source(failure, project)
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
        call="" if call is None else _call_name(call),
    )


def _call_name(call: Call) -> str:
    """Return what identifies a call of `fit`: its place in the source, if known."""
    code = call.fit.code
    return f"call {id(call)}" if isinstance(code, Unknown) else code.location.exact


def _call_facts(call: Call) -> dict[str, tuple[Any, ...] | Unknown]:
    return {
        "ModelFacts": call.model if isinstance(call.model, Unknown) else (call.model,),
        "FitFacts": (call.fit,),
        "DataFacts": call.data or Unknown("the data is unknown"),
    }


def call_in_source(failure: FailureFacts, project: ProjectSource) -> Call | None:
    """Return what the source says about the call of `fit` that failed, since a log has no live one."""
    read = project()
    if read is None:
        return None
    from fitdoctor.failure.failed_line import module_of, stands_at

    for frame in reversed(failure.user_frames):
        module = module_of(read, frame)
        for site in _fit_sites(module) if module is not None else ():
            code = site.fit.code
            if not isinstance(code, Unknown) and stands_at(code.location, frame.line, frame.cell):
                return SeenCall(site.model, site.fit, site.data)
    return None


def _fit_sites(module: Module) -> tuple[FitSite, ...]:
    try:
        from fitdoctor.source.fits.fit_sites import fit_sites

        return fit_sites(module)
    # A boundary: the failure itself says enough, and `source_cases` reports the internal error.
    except Exception:
        return ()


def _environment(environment: EnvironmentFacts | None) -> tuple[EnvironmentFacts] | Unknown:
    return Unknown("the environment is unknown") if environment is None else (environment,)


def _project(project: Project | None) -> tuple[Project]:
    from fitdoctor.source.project import NO_FILES

    return (project or NO_FILES,)


def _module_of(project: Project | None, path: str) -> tuple[Module] | Unknown:
    module = project.module_at(path) if project is not None and path else None
    return NO_SOURCE if module is None else (module,)


def _path_of_call(collected: Call) -> str:
    code = collected.fit.code
    return "" if isinstance(code, Unknown) else code.location.path
