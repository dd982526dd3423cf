"""What happens when a watched program calls Keras: check, report, perhaps stop, run, record how it ended."""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

from fitdoctor.collect.fit_call import CollectedCall
from fitdoctor.diagnosis import Diagnosis, Finding, Fix, Location, Moment, Origin, Severity, described
from fitdoctor.engine_inputs import Call
from fitdoctor.facts import DataFacts, EnvironmentFacts, FailureFacts, TrainingFacts
from fitdoctor.gc_pause import gc_paused
from fitdoctor.records import dataclass, field, replace
from fitdoctor.runner.cadence import Cadence, spec_of
from fitdoctor.runner.endings import Mark, chain, failure_at, mark_of, remember
from fitdoctor.runner.hidden import hide_our_frames
from fitdoctor.runner.notebook_display import write
from fitdoctor.runner.session import Recorder, Started
from fitdoctor.runner.will_fail import FitWillFail, brief, will_fail
from fitdoctor.source.project import Project

LONG = ("fit", "evaluate", "predict")
"""Methods that may run for a long time: the session records while one runs."""
MOST_CALLS = 50
"""The most calls without a finding that are kept with all their facts."""
MOST_QUESTIONS = 8
"""About how many findings a second run is asked."""
MOST_TRAININGS = 8
"""The most trainings of one model that are remembered."""
MOST_LEAK_SEARCHES = 5
"""How many trainings are searched for tensors that outlive their trace; a leak shows in the first ones."""


@dataclass(eq=False)
class Checks:
    """The numbers of calls made and checked, by method, and the seconds spent on checking."""

    called: dict[str, int] = field(default_factory=dict)
    checked: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def call(self, method: str) -> None:
        """Count a call."""
        with self._lock:
            self.called[method] = self.called.get(method, 0) + 1

    def check(self, method: str) -> None:
        """Count a checked call."""
        with self._lock:
            self.checked[method] = self.checked.get(method, 0) + 1

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Add the time that the block takes."""
        began = time.perf_counter()
        try:
            yield
        finally:
            with self._lock:
                self.seconds += time.perf_counter() - began


@dataclass(frozen=True)
class Looked:
    """A call that was checked."""

    number: int
    collected: CollectedCall
    diagnosis: Diagnosis


@dataclass(eq=False)
class Watching:
    """Watches the calls of one program, or of one `watch()` block."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    stop: bool = True
    """A certain error stops the program before the first step."""
    smoke: bool = False
    """Cut every fit to two steps."""
    trace: bool = False
    tell: str = "text"
    """`text`, `concise`, or "" to print nothing."""
    colour: bool = False
    verbose: bool = False
    """Print every finding in full."""
    checks: Checks = field(default_factory=Checks)
    heard: Callable[[Iterable[Finding]], None] | None = None
    """Receives the findings as they are printed."""
    note: bool = False
    """Add the diagnosis as a note to an exception that escapes (`run` reports in the parent instead)."""
    show: Callable[[Diagnosis], None] | None = None
    """Shows findings when they are made; None prints them on standard error."""
    reads_source: bool = False
    """Also report what only the source shows, at the first `fit`: where no parent does so at the end."""
    shows_stops: bool = True
    """Report a stop where it is found; False if it is shown below the traceback of its cell."""
    recorder: Recorder | None = None
    keras: int = 3
    cluster: str = ""
    """The folder for the workers of a cluster; "" for the default one."""
    started: Started | None = None
    """For a second run that finds where data became bad; None where that is not wanted."""
    _cadence: Cadence = field(default_factory=Cadence)
    _told: dict[tuple[str, bool], str] = field(default_factory=dict)
    """The fingerprints of the findings and whether they were printed, with the notebook cell that ran then."""
    _cell: str = ""
    _by_id: bool = False
    """The notebook gives its cells ids: `_cell` is one."""
    _cells: dict[int, str] | None = None
    """In a notebook without a parent that reports at its end: the cells run so far, by execution number."""
    _stopped: Diagnosis | None = None
    _asked: set[str] = field(default_factory=set)
    """The fingerprints of findings that a second run was asked about."""
    _origins: tuple[Origin, ...] = ()
    """What second runs answered."""
    _crashes: set[tuple[str, str]] = field(default_factory=set)
    _trained: WeakKeyDictionary[Any, tuple[DataFacts, ...]] = field(default_factory=WeakKeyDictionary)
    """What each model was trained on, latest last."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _busy: threading.local = field(default_factory=threading.local)
    _numbers: int = 0
    _called_at: dict[tuple[str, int, str], int] = field(default_factory=dict)
    """The calls of Keras by where they are made."""
    _searches: int = 0
    _last_failed: tuple[Mark, Call | None, tuple[str, int, str]] | None = None
    """The last exception that escaped from Keras, by its marks, and the facts and the place of its call."""
    _environment: EnvironmentFacts | None = None
    _project: tuple[int, Project] | None = None
    """The user's files, and how many notebook cells had run when they were read."""

    def imported(self, library: str) -> None:
        """Keras has been imported."""
        hide_our_frames()

    def call(
        self,
        original: Callable[..., Any],
        method: str,
        model: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Make a call of Keras, with checks before and after."""
        hide_our_frames()
        if any(model is other for other in self._under_way()):
            # Keras's own validation inside fit, or a callback that evaluates the model that is being trained.
            return original(model, *args, **kwargs)
        caller = sys._getframe(2)
        frame = _user_frame(caller)
        if method == "__init__":
            from fitdoctor.runner.joining import join

            return join(self, functools.partial(original, model), args, kwargs, frame)
        place = _place(frame, method)
        self.checks.call(method)
        self._called_at[place] = self._called_at.get(place, 0) + 1
        looked = None
        if self._cadence.due(place, model, (spec_of(args), spec_of(kwargs))):
            began = time.perf_counter()
            with self.checks.timed():
                looked = self.look(method, model, args, kwargs, frame, direct=frame is caller)
            self._cadence.looked(place, time.perf_counter() - began)
            if looked is not None:
                args, kwargs = looked.collected.args, looked.collected.kwargs
        asked = args, kwargs
        if self.smoke and method in ("fit", "evaluate"):
            args, kwargs = self._shortened(original, model, args, kwargs, looked)
        began = time.perf_counter()
        try:
            with self._running(model, method, place):
                result = original(model, *args, **kwargs)
            if method == "fit" and looked is not None:
                with self.checks.timed():
                    self.trained(model, result, looked, frame)
            if self.smoke and method == "fit":
                self._lengthened(result, original, model, *asked)
            return result
        except Exception as error:
            if not isinstance(error, FitWillFail):
                self._failed(error, method, frame, looked)
            raise
        finally:
            self._cadence.ran(place, time.perf_counter() - began)

    # --- before -------------------------------------------------------------------------------------------------

    def look(
        self,
        method: str,
        model: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: FrameType | None,
        *,
        positional: int | None = None,
        direct: bool = True,
    ) -> Looked | None:
        """Check a call that is about to be made, and report.

        Args:
            method: the method of Keras.
            model: the model that it is called on.
            args: its positional arguments.
            kwargs: its keyword arguments.
            frame: the user's frame that the call came from.
            positional: how many arguments the user passed by position, where `args` does not show it.
            direct: the user's frame called the method itself, not a library that the user called.

        Raises:
            FitWillFail: the call is certain to fail, and certain errors stop the program.
        """
        began, place = time.perf_counter(), _place(frame, method)
        with gc_paused():
            given = len(args) if positional is None else positional
            collected = self._collected(method, model, args, kwargs, frame, given, direct)
            if collected is None:
                return None
            collected = self._after_training(model, collected)
            diagnosis = self._examined(collected)
        if self.started is not None and diagnosis.findings:
            diagnosis = self._at_origins(diagnosis, collected, place)
        if self._cells is not None:
            diagnosis = _with_repeated_cells(diagnosis)
        self.checks.check(method)
        new = self.new_in(diagnosis)
        with self._lock:
            self._numbers += 1
            number = self._numbers
        seconds = time.perf_counter() - began
        looked = Looked(number, collected, diagnosis)
        for crash in collected.crashes:
            self._note_crash(f"collect {method}", crash)
        if self.recorder is not None and (new or number <= MOST_CALLS):
            self._record_call(looked, method, place, seconds)
        if self.trace:
            self._print_trace(collected)
        stops = self.stop and any(finding.stops for finding in diagnosis.findings)
        if self.shows_stops or not stops:
            self.say(diagnosis, new)
        if stops:
            self._stopped = diagnosis
            raise will_fail(diagnosis)
        return looked

    def _collected(
        self,
        method: str,
        model: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: FrameType | None,
        positional: int,
        direct: bool,
    ) -> CollectedCall | None:
        try:
            from fitdoctor.collect.budget import Budget
            from fitdoctor.collect.fit_call import collect_call, passed_to

            passed = passed_to(model, method, positional, direct=direct)
            return collect_call(model, method, args, kwargs, frame, Budget(), passed)
        # A border: whatever goes wrong in our look must not reach the program.
        except Exception as error:
            self.crashed(f"collect {method}", error)
            return None

    def _after_training(self, model: Any, collected: CollectedCall) -> CollectedCall:
        """Remember what a model is trained on, and add that to the later calls of `evaluate` and `predict`."""
        before = self._trained.get(model, ())
        if collected.fit.method in ("fit", "train_on_batch"):
            self._trained[model] = (*before[-MOST_TRAININGS + 1 :], *collected.data[:1])
        return replace(collected, fit=replace(collected.fit, trained_on=before))

    def _examined(self, collected: CollectedCall) -> Diagnosis:
        try:
            from fitdoctor.diagnose import examine_call

            in_cells = self._cells is not None and collected.fit.method == "fit"
            with_source = in_cells or self.reads_source and collected.fit.method == "fit"
            # The cells of a notebook change; files are read once.
            self.reads_source = self.reads_source and not with_source
            diagnosis = examine_call(
                collected,
                self.project,
                self.environment(),
                select=self.select,
                ignore=self.ignore,
                with_source=with_source,
                other_calls=in_cells,
            )
            if not in_cells:
                return diagnosis
            self.note_cell()
            return replace(
                diagnosis, findings=tuple(found for found in diagnosis.findings if self._is_current(found))
            )
        except Exception as error:
            self.crashed("diagnose", error)
            return Diagnosis()

    def _at_origins(self, diagnosis: Diagnosis, call: Call, place: tuple[str, int, str]) -> Diagnosis:
        """The diagnosis with the lines where data became bad, as far as a second run tells them."""
        assert self.started is not None
        try:
            from fitdoctor.diagnose import at_origins
            from fitdoctor.runner.number_origins import number_origins
            from fitdoctor.runner.second_run import SecondRun

            project = self.project()
            if project is None:
                return diagnosis
            found = {finding.fingerprint for finding in diagnosis.findings} - self._asked
            if found and len(self._asked) < MOST_QUESTIONS:
                self._asked |= found
                origins = number_origins(diagnosis, project, self.started.options.arguments)
                second = SecondRun(self.started, *self._until_now())
                origins += second.origins(
                    diagnosis, call, self._named(place), self._called_at.get(place, 0), project
                )
                if origins and self.recorder is not None:
                    self.recorder.write("origins", origins=origins)
                self._origins += origins
            return at_origins(diagnosis, self._origins, project)
        except Exception as error:
            self.crashed("second run", error)
            return diagnosis

    def _until_now(self) -> tuple[float, float]:
        """Return the seconds of the processor and of the clock since the program began."""
        assert self.started is not None
        used = time.process_time()
        # In a notebook, the clock counts the time that the user took to think.
        return used, used if self.started.live else time.time() - self.started.began

    def _named(self, place: tuple[str, int, str]) -> tuple[str, int, str]:
        """The place of a call as a second run names it."""
        from fitdoctor.source.running_notebook import named_by_cell

        path, line, method = place
        return (*named_by_cell(path, line), method)

    def project(self) -> Project | None:
        """Return the user's files as they are loaded now; read once, or once per cell in a notebook."""
        from fitdoctor.runner.programs import user_project
        from fitdoctor.source.running_notebook import cells_run

        cells = len(cells_run())
        if self._project is None or self._project[0] != cells:
            self._project = cells, user_project(self.keras)
        return self._project[1]

    def environment(self) -> EnvironmentFacts:
        """Return versions and settings as the program sees them."""
        if self._environment is None:
            from fitdoctor.collect.environment import environment

            self._environment = environment()
        return self._environment

    def _record_call(self, looked: Looked, method: str, place: tuple[str, int, str], seconds: float) -> None:
        assert self.recorder is not None
        self.recorder.write(
            "call",
            number=looked.number,
            method=method,
            site=_site(place),
            seconds=round(seconds, 6),
            model=looked.collected.model,
            fit=looked.collected.fit,
            data=looked.collected.data,
            told=self.printed(looked.diagnosis),
            environment=self._environment,
            place=(*self._named(place), self._called_at.get(place, 0)),
            until=self._until_now() if self.started is not None else (),
        )
        if looked.number == 1:
            self._record_sources()

    def _record_sources(self) -> None:
        from fitdoctor.runner.programs import user_files

        if self.recorder is not None:
            self.recorder.write("sources", paths=[str(path) for path in user_files()])

    def _shortened(
        self,
        original: Callable[..., Any],
        model: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        looked: Looked | None,
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        from fitdoctor.runner.smoke import shortened

        return shortened(original, model, args, kwargs, looked.collected.data if looked else ())

    def _lengthened(self, *call: Any) -> None:
        from fitdoctor.runner.smoke import lengthened

        lengthened(*call)

    # --- telling ------------------------------------------------------------------------------------------------

    def new_in(self, diagnosis: Diagnosis) -> set[str]:
        """Return the fingerprints of findings that are new, and remember them."""
        found = {(one.fingerprint, _is_printed(one)): self._home(one) for one in diagnosis.findings}
        with self._lock:
            # What was mere information before, and is a warning by now, has not been told.
            new = found.keys() - self._told.keys()
            self._told |= {key: found[key] for key in new}
        return {fingerprint for fingerprint, _printed in new}

    def _home(self, finding: Finding) -> str:
        """Return the cell whose next run lets a finding be reported again: the one it is in, if only read there."""
        number = finding.location.cell if finding.location is not None else None
        if finding.moment is not Moment.SOURCE or number is None or self._cells is None:
            return self._cell
        return self._cells.get(number, self._cell)

    def printed(self, diagnosis: Diagnosis) -> list[str]:
        """Return the fingerprints of findings that the program's output shows, now or from an earlier check."""
        return [found.fingerprint for found in diagnosis.findings if self.tell and _is_printed(found)]

    def cell_starts(self, cell: str, by_id: bool) -> None:
        """Forget what was shown below a notebook cell that runs again, so that it is reported again.

        Args:
            cell: its id, or its text where the notebook gives it none (nbclient, papermill).
            by_id: whether it is the id.
        """
        with self._lock:
            self._cell, self._by_id = cell, by_id
            self._cells = self._cells or {}
            self._told = {found: where for found, where in self._told.items() if where != cell}

    def note_cell(self) -> None:
        """Remember which cell the last execution number belongs to."""
        from fitdoctor.source.running_notebook import cells_run

        if self._cells is not None:
            self._cells[len(cells_run())] = self._cell

    def _is_current(self, finding: Finding) -> bool:
        """Whether a finding is about a cell as it ran last; one that was edited and run again no longer counts."""
        from fitdoctor.source.running_notebook import seems_replaced

        place = finding.location
        if finding.moment is not Moment.SOURCE or place is None or place.cell is None or self._cells is None:
            return True
        if not self._by_id:
            return not seems_replaced(place.cell, place.line)
        cell = self._cells.get(place.cell)
        return cell is not None and place.cell == max(
            key for key, each in self._cells.items() if each == cell
        )

    def take_stopped(self) -> Diagnosis | None:
        """Return what stopped a call since the last time this was called."""
        stopped, self._stopped = self._stopped, None
        return stopped

    def say(self, diagnosis: Diagnosis, new: set[str]) -> None:
        """Print what is new and more than information; `run` prints information when the program has ended."""
        findings = tuple(
            found for found in diagnosis.findings if found.fingerprint in new and _is_printed(found)
        )
        if self.heard is not None:
            self.heard(findings)
        if not self.tell or not findings:
            return
        shown = replace(diagnosis, findings=findings, skipped=(), crashes=())
        if self.show is not None:
            self.show(shown)
        else:
            self._print(shown)

    def _print(self, diagnosis: Diagnosis) -> None:
        from fitdoctor.report import render
        from fitdoctor.report.paint import shows_links, terminal_width

        text = render(
            diagnosis,
            self.tell,
            color=self.colour,
            width=terminal_width(sys.stderr),
            verbose=self.verbose,
            counts=False,
            links=shows_links(sys.stderr),
        )
        write(text)

    def _print_trace(self, collected: CollectedCall) -> None:
        from fitdoctor.runner.trace import trace_table

        write(trace_table(collected, color=self.colour))

    # --- while it runs, and after -------------------------------------------------------------------------------

    def _under_way(self) -> list[Any]:
        models: list[Any] | None = getattr(self._busy, "models", None)
        if models is None:
            models = self._busy.models = []
        return models

    @contextmanager
    def _running(self, model: Any, method: str, place: tuple[str, int, str]) -> Iterator[None]:
        models = self._under_way()
        models.append(model)
        noted = self.recorder is not None and method in LONG
        if self.recorder is not None and noted:
            self.recorder.now(method=method, path=place[0], line=place[1], since=time.time())
        try:
            yield
        finally:
            models.pop()
            if self.recorder is not None and noted:
                self.recorder.now()

    def trained(self, model: Any, history: Any, looked: Looked, frame: FrameType | None) -> None:
        """Check how training went, once it has ended."""
        try:
            from fitdoctor.collect.training import training_facts
            from fitdoctor.diagnose import examine_training

            call = looked.collected
            x = call.args[0] if call.args else call.kwargs.get("x")
            facts = training_facts(model, history, self._left(model, looked, frame), x)
            diagnosis = examine_training(
                facts, looked.collected, self.project, select=self.select, ignore=self.ignore
            )
            new = self.new_in(diagnosis)
            if self.recorder is not None:
                told = self.printed(diagnosis)
                self.recorder.write("training", call=looked.number, training=facts, told=told)
            self.say(diagnosis, new)
        except Exception as ours:
            self.crashed("training", ours)

    def _left(self, model: Any, looked: Looked, frame: FrameType | None) -> TrainingFacts | None:
        """Report what the first trainings leave behind."""
        from fitdoctor.collect.training import left_behind

        self._searches += 1
        if self._searches > MOST_LEAK_SEARCHES:
            return None
        callbacks = looked.collected.kwargs.get("callbacks")
        given = callbacks if isinstance(callbacks, (list, tuple)) else (callbacks,)
        return left_behind(model, given, frame)

    def _failed(self, error: Exception, method: str, frame: FrameType | None, looked: Looked | None) -> None:
        try:
            failure = failure_at(error, method, frame)
            if self.recorder is not None:
                number = looked.number if looked is not None else None
                self.recorder.write("failure", failure=failure, call=number, method=method)
                remember(error, number)
            if self.note:
                self._add_note(error, failure, looked)
            elif self.recorder is None:
                self._last_failed = mark_of(error), _facts_of(looked), _place(frame, method)
        except Exception as ours:
            self.crashed("failure", ours)

    def diagnosis_of(self, error: Exception, concerns: Callable[[BaseException], bool]) -> Diagnosis | None:
        """Return the diagnosis of an exception; None if there is nothing to say.

        Args:
            error: the exception.
            concerns: whether to report an exception that no cause explains.
        """
        stop = next((each for each in chain(error) if isinstance(each, FitWillFail)), None)
        if stop is not None:
            return replace(stop.diagnosis, skipped=(), crashes=())
        try:
            from fitdoctor.failure.living import from_exception

            last = self._last_failed if self._last_failed and self._last_failed[0] == mark_of(error) else None
            call = last[1] if last is not None else None
            diagnosis = self._explained(from_exception(error), call)
            if self.started is not None and last is not None and call is not None:
                diagnosis = self._at_origins(diagnosis, call, last[2])
            if self._cells is not None:
                diagnosis = _with_repeated_cells(diagnosis)
            if diagnosis.findings or diagnosis.unexplained and concerns(error):
                return replace(diagnosis, skipped=(), crashes=())
        except Exception as ours:
            self.crashed("failure", ours)
        return None

    def _explained(self, failure: FailureFacts, call: Call | None) -> Diagnosis:
        from fitdoctor.diagnose import examine_failure

        return examine_failure(
            failure, self.project, call, self.environment(), select=self.select, ignore=self.ignore
        )

    def _add_note(self, error: Exception, failure: FailureFacts, looked: Looked | None) -> None:
        diagnosis = self._explained(failure, looked.collected if looked is not None else None)
        if diagnosis.findings:
            error.add_note(f"fitdoctor: {brief(diagnosis.findings[:1])}")

    def crashed(self, where: str, error: Exception) -> None:
        """Record a failure of fitdoctor itself; the program is not affected."""
        self._note_crash(where, described(error))

    def _note_crash(self, where: str, error: str) -> None:
        if self.recorder is not None and (where, error) not in self._crashes:
            self._crashes.add((where, error))
            self.recorder.write("crash", where=where, error=error)


# --- places -------------------------------------------------------------------------------------------


def _is_printed(finding: Finding) -> bool:
    return finding.severity is not Severity.INFO


def _with_repeated_cells(diagnosis: Diagnosis) -> Diagnosis:
    """Say which findings come from a cell that changed its variable twice: the cells as they stand are not wrong."""
    from fitdoctor.source.running_notebook import changed_again

    findings = []
    for found in diagnosis.findings:
        place = found.location
        again = changed_again(place.cell, place.line) if place is not None and place.cell else None
        if place is not None and again is not None:
            earlier, name = again
            note = f"this cell also ran as In[{earlier}], and each run changes `{name}` again"
            found = replace(
                found,
                notes=(note, *found.notes),
                fixes=(
                    Fix(f"run the cells from the one that creates `{name}`, each of them once"),
                    *found.fixes,
                ),
            )
        findings.append(found)
    return replace(diagnosis, findings=tuple(findings))


def _facts_of(looked: Looked | None) -> Call | None:
    """Return the facts of a call without its arguments, which may be large."""
    from fitdoctor.engine_inputs import SeenCall

    if looked is None:
        return None
    return SeenCall(looked.collected.model, looked.collected.fit, looked.collected.data)


def _user_frame(frame: FrameType | None) -> FrameType | None:
    from fitdoctor.runner.programs import user_frame

    return user_frame(frame)


def _site(place: tuple[str, int, str]) -> str:
    """Return where a call is: `train.py:15`, in a notebook with its cell."""
    from fitdoctor.failure.frames import frame_of, is_cell

    path, line, method = place
    if not is_cell(path):
        return f"{path}:{line}"
    frame = frame_of(path, line, method)
    return str(Location(os.path.abspath(frame.path), frame.line, cell=frame.cell))


def _place(frame: FrameType | None, method: str) -> tuple[str, int, str]:
    if frame is None:
        return "", 0, method
    return frame.f_code.co_filename, frame.f_lineno, method
