"""The parent of `run`: starts the program, survives its end, and collects the results."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from fitdoctor.diagnose import Run, examine_run
from fitdoctor.diagnosis import (
    Crash,
    Diagnosis,
    MemoryCourse,
    Moment,
    Origin,
    Raised,
    Script,
    Training,
    Way,
    described,
)
from fitdoctor.engine_inputs import SeenCall
from fitdoctor.facts import ClusterFacts, EnvironmentFacts, FailureFacts, TrainingFacts
from fitdoctor.facts.cluster import cluster_of
from fitdoctor.json_codec import from_plain
from fitdoctor.quiet_start import NoiseFilter, relay, wanted
from fitdoctor.records import dataclass, replace
from fitdoctor.runner import death
from fitdoctor.runner.data_path import way_of, with_break
from fitdoctor.runner.invocation import invocation, run_versions
from fitdoctor.runner.joining import JOINING
from fitdoctor.runner.session import Options, Started, read_now, read_pieces, seen_from, write_options
from fitdoctor.runner.step_memory import course_of
from fitdoctor.runner.worker_probe import silent_among
from fitdoctor.source.project import read_project

BOOTSTRAP = Path(__file__).with_name("bootstrap.py")


@dataclass(frozen=True)
class Ended:
    """How the program ended, and the results."""

    status: int
    """The exit status to return: the program's own, or 128 + n if signal n ended it."""
    diagnosis: Diagnosis
    told: frozenset[str]
    """Fingerprints of the findings that the child has printed."""
    pieces: tuple[dict[str, Any], ...]
    seconds: float
    diagnosing: float = 0.0
    """Seconds that the diagnosis took after the program had ended."""


def supervise(options: Options) -> Ended:
    """Run the program to its end and diagnose it."""
    with tempfile.TemporaryDirectory(prefix="fitdoctor-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        options = replace(options, folder=os.getcwd(), parent=os.getpid())
        began, started = time.monotonic(), time.time()
        watch = death.Watch()
        with _quiet_start(options) as pipes:
            write_options(folder, replace(options, pipes=pipes))
            returncode = _run(folder, pipes)
        seconds = time.monotonic() - began
        pieces = read_pieces(folder)
        now = read_now(folder)
        sign = watch.sign(returncode, folder, now) if returncode < 0 else None
        if returncode < 0 and now.get("method") == JOINING:
            pieces += _waited_for(pieces, int(time.time() - now["since"]))
    began = time.monotonic()
    try:
        run = gathered(options, pieces, returncode, sign)
        diagnosis = examine_run(run, options.select, options.ignore)
        diagnosis = _at_late_origins(diagnosis, run, options, pieces, started)
        diagnosis = replace(with_pictures(diagnosis, run), trainings=_histories(run))
    # The program has ended, well or not, and its status must be given back whatever we make of it.
    except Exception as error:
        diagnosis = Diagnosis(crashes=(Crash("diagnosis", described(error)),))
    program, seen = options.script or f"-m {options.module}", run_versions(pieces)
    diagnosis = replace(
        diagnosis, invocation=invocation("run", program, options.arguments, started, seconds, seen)
    )
    status = returncode if returncode >= 0 else 128 - returncode
    return Ended(
        status, diagnosis, _told(pieces), tuple(pieces), seconds, diagnosing=time.monotonic() - began
    )


# --- the process --------------------------------------------------------------------------------------------------


@contextmanager
def _quiet_start(options: Options) -> Iterator[tuple[int, ...]]:
    """Create two pipes for the child's quiet start of TensorFlow, read by a thread; none if not needed."""
    if options.verbose or not wanted():
        yield ()
        return
    source, written = os.pipe()
    replies, reply = os.pipe()
    thread = threading.Thread(target=relay, args=(source, 2, NoiseFilter(), reply), daemon=True)
    thread.start()
    try:
        yield written, replies
    finally:
        os.close(written)
        # Processes that the program left behind may hold the pipe open: they are not waited for.
        thread.join(1.0)
        for descriptor in (replies, reply, *(() if thread.is_alive() else (source,))):
            os.close(descriptor)


def _run(folder: Path, pipes: tuple[int, ...] = ()) -> int:
    command = [sys.executable, *interpreter_options(sys.orig_argv), str(BOOTSTRAP), str(folder)]
    child: list[subprocess.Popen[bytes]] = []
    with _passing_signals_to(child, folder) as killed_for:
        process = subprocess.Popen(command, pass_fds=pipes)
        child.append(process)
        ended = threading.Event()
        threading.Thread(target=_read_catalogue, args=(ended,), daemon=True).start()
        try:
            returncode = process.wait()
            return -killed_for[0] if killed_for and returncode == -signal.SIGKILL else returncode
        finally:
            ended.set()


def interpreter_options(command: list[str]) -> list[str]:
    """Return Python's own options (`-X dev`, `-O`) in a command: the program gets the same."""
    index = 1
    while index < len(command) and command[index].startswith("-") and command[index] not in ("-m", "-c", "-"):
        index += 2 if command[index] in ("-X", "-W", "--check-hash-based-pycs") else 1
    return command[1:index]


_TENSORFLOW_STARTS = 1.0
"""Seconds; TensorFlow takes longer than this on every machine."""


def _read_catalogue(ended: threading.Event) -> None:
    """Load the catalogue while the program runs: loading takes longer than judging.

    A program that ends before TensorFlow could be imported needs little of it, and its start should not be slowed down.
    """
    if ended.wait(_TENSORFLOW_STARTS):
        return
    from fitdoctor.catalogue import catalogue

    # Whatever is wrong with it, the main thread will meet and tell.
    with suppress(Exception):
        catalogue()


@contextmanager
def _passing_signals_to(child: list[subprocess.Popen[bytes]], folder: Path) -> Iterator[list[int]]:
    """While the child runs, pass signals to it: the parent must stay alive to report.

    A child that waits for other workers cannot handle signals, because TensorFlow blocks it: it is killed instead. Yields
    the signal for which that was done.
    """
    killed_for: list[int] = []

    def passed_on(number: int, _frame: FrameType | None) -> None:
        if not child or child[0].poll() is not None:
            return
        if not (number in _FROM_TERMINAL and _in_foreground()):
            child[0].send_signal(number)
        if number in _ENDING and not killed_for and read_now(folder).get("method") == JOINING:
            killed_for.append(number)
            grace = threading.Timer(_GRACE, child[0].kill)
            grace.daemon = True
            grace.start()

    kept: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number in _PASSED:
            # Ignored before us (nohup, a job in the background): ignored by the child, too.
            if signal.getsignal(number) is not signal.SIG_IGN:
                kept[number] = signal.signal(number, passed_on)
    try:
        yield killed_for
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


_GRACE = 1.0
"""Seconds that a child waiting for other workers has to end by itself."""
_ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_FROM_TERMINAL = tuple(getattr(signal, name) for name in ("SIGINT", "SIGQUIT") if hasattr(signal, name))
_PASSED = (
    *_FROM_TERMINAL,
    *(getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2") if hasattr(signal, name)),
)


def _in_foreground() -> bool:
    """Whether the terminal sends its signals to the whole process group, so that the child already has them."""
    if not hasattr(os, "tcgetpgrp"):
        return True
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


# --- what was seen ------------------------------------------------------------------------------------------------


def gathered(
    options: Options, pieces: list[dict[str, Any]], returncode: int, sign: FailureFacts | None
) -> Run:
    """Return everything known about an ended program, from the records of its process.

    Args:
        options: the options of the run.
        pieces: the records it wrote.
        returncode: how it ended; -n when signal n ended it.
        sign: what is known about a death by a signal.
    """
    unread: list[Crash] = []
    if options.folder and options.folder != os.getcwd():
        pieces = seen_from(pieces, os.getcwd(), options.folder)

    def read(make: Callable[[], Any], where: str) -> Any:
        try:
            return make()
        except (ValueError, KeyError, TypeError) as error:
            unread.append(Crash(f"session: {where}", str(error)))
            return None

    calls = {
        piece["number"]: call
        for piece in pieces
        if piece["kind"] == "call" and (call := read(lambda piece=piece: _call(piece), "call"))  # type: ignore[misc]
    }
    end = next((piece for piece in reversed(pieces) if piece["kind"] == "end"), None)
    if any(piece["kind"] == "silent" for piece in pieces) and not calls:
        sign = None  # it waited for other workers, and was killed because nothing else ends that
    failure = sign
    if failure is None and end is not None and end.get("failure") is not None and returncode != 0:
        failure = read(lambda: from_plain(FailureFacts, end["failure"]), "failure")
    environments = [piece["environment"] for piece in pieces if piece.get("environment")]
    environment = (
        read(lambda: from_plain(EnvironmentFacts, environments[-1]), "environment") if environments else None
    )
    return Run(
        project=_project(options, pieces),
        calls=tuple(calls.values()),
        trainings=_trainings(pieces, calls, read),
        clusters=read(lambda: _clusters(pieces), "cluster") or (),
        left=read(lambda: _left(pieces), "left"),
        failure=failure,
        failed_call=_failed_call(calls, end, sign),
        stopped=bool(end and end.get("stopped")),
        whole=not options.smoke,
        environment=environment,
        crashes=(*_crashes(pieces), *unread),
        script=_script(returncode, failure, end),
        origins=read(lambda: _origins(pieces), "origins") or (),
    )


def _at_late_origins(
    diagnosis: Diagnosis, run: Run, options: Options, pieces: list[dict[str, Any]], began: float
) -> Diagnosis:
    """Move findings that were made from the failure to where their data became bad, or their number is written."""
    late = tuple(each for each in diagnosis.findings if each.moment is Moment.AFTER_FAILURE)
    end: dict[str, Any] = next((piece for piece in reversed(pieces) if piece["kind"] == "end"), {})
    piece: dict[str, Any] = next(
        (each for each in pieces if each["kind"] == "call" and each["number"] == end.get("call")), {}
    )
    if not (late and options.locate and piece.get("until") and run.failed_call and run.project):
        return diagnosis
    from fitdoctor.diagnose import at_origins
    from fitdoctor.runner.number_origins import number_origins
    from fitdoctor.runner.second_run import SecondRun

    asked = replace(diagnosis, findings=late)
    origins = number_origins(asked, run.project, options.arguments)
    second = SecondRun(Started(options, dict(os.environ), began), *piece["until"])
    path, line, method, number = piece["place"]
    origins += second.origins(asked, run.failed_call, (path, line, method), number, run.project)
    return at_origins(diagnosis, origins, run.project)


def with_pictures(diagnosis: Diagnosis, run: Run) -> Diagnosis:
    """Return a diagnosis with what reports draw: the data flow, and the memory over a step."""
    return replace(diagnosis, ways=with_break(_ways(run), diagnosis.primary), memory=_memory(run))


def _ways(run: Run) -> tuple[Way, ...]:
    """Return the data flow through the call that failed, else through the first calls."""
    calls = [run.failed_call] if run.failed_call is not None else run.calls
    return tuple(way_of(call) for call in calls[:_MOST_WAYS])


_MOST_WAYS = 3


def _memory(run: Run) -> tuple[MemoryCourse, ...]:
    """The memory over a step of the call that failed, else of the first one."""
    call = run.failed_call if run.failed_call is not None else next(iter(run.calls), None)
    course = course_of(call, run.environment) if call is not None else None
    return () if course is None else (course,)


_MOST_TRAININGS = 20


def _histories(run: Run) -> tuple[Training, ...]:
    """The epochs of the calls that came to their end."""
    return tuple(
        Training(call.fit.method, getattr(call.fit.code, "location", None), training.history)
        for training, call in run.trainings[:_MOST_TRAININGS]
        if training.history
    )


def _failed_call(
    calls: dict[Any, SeenCall], end: dict[str, Any] | None, sign: FailureFacts | None
) -> SeenCall | None:
    """Return the call in which the program ended: the one that raised, or the last one before a signal."""
    if sign is not None and sign.called and calls:
        return calls[max(calls)]
    return calls.get(end.get("call")) if end is not None else None


def _trainings(
    pieces: list[dict[str, Any]], calls: dict[Any, SeenCall], read: Callable[[Callable[[], Any], str], Any]
) -> tuple[tuple[TrainingFacts, SeenCall], ...]:
    """Return how the completed fits went, each with its call."""
    found = []
    for piece in pieces:
        if piece["kind"] == "training" and piece["call"] in calls:
            plain = piece["training"]
            training = read(lambda plain=plain: from_plain(TrainingFacts, plain), "training")  # type: ignore[misc]
            if training is not None:
                found.append((training, calls[piece["call"]]))
    return tuple(found)


def _waited_for(pieces: list[dict[str, Any]], seconds: int) -> list[dict[str, Any]]:
    """Return the workers that did not answer when the program was ended while waiting for them."""
    made = next((piece for piece in pieces if piece["kind"] == "cluster"), None)
    cluster = cluster_of(str(made["cluster"].get("config", ""))) if made is not None else None
    if cluster is None or any(piece["kind"] == "silent" for piece in pieces):
        return []
    silent = silent_among(list(cluster.others))
    return [{"kind": "silent", "workers": silent, "seconds": seconds}] if silent else []


def _clusters(pieces: list[dict[str, Any]]) -> tuple[ClusterFacts, ...]:
    """Return what was known about the cluster, with the workers that did not answer later."""
    silent = next((piece for piece in pieces if piece["kind"] == "silent"), {})
    return tuple(
        replace(
            from_plain(ClusterFacts, piece["cluster"]),
            silent=tuple(silent.get("workers", ())),
            waited=silent.get("seconds", 0),
        )
        for piece in pieces
        if piece["kind"] == "cluster"
    )


def _left(pieces: list[dict[str, Any]]) -> TrainingFacts | None:
    """Return what the program still held when it ended, and the functions it traced too often."""
    found = next((piece for piece in reversed(pieces) if piece["kind"] == "left"), None)
    return None if found is None else from_plain(TrainingFacts, found["training"])


def _origins(pieces: list[dict[str, Any]]) -> tuple[Origin, ...]:
    """Where a second run saw data become bad."""
    return tuple(
        from_plain(Origin, each)
        for piece in pieces
        if piece["kind"] == "origins"
        for each in piece["origins"]
    )


def _call(piece: dict[str, Any]) -> SeenCall:
    return from_plain(SeenCall, {name: piece[name] for name in ("model", "fit", "data")})


def _script(returncode: int, failure: FailureFacts | None, end: dict[str, Any] | None) -> Script:
    if returncode < 0:
        return Script(None, death.signal_name(-returncode), None)
    exception = Raised(failure.type, failure.message) if failure is not None else None
    if end is not None and end.get("stopped"):
        exception = Raised("FitWillFail", str(end.get("message", "")))
    return Script(returncode, None, exception)


def _project(options: Options, pieces: list[dict[str, Any]]) -> Any:
    """Return the program's files: those that the child last reported as loaded, or the script alone."""
    paths: dict[str, None] = {os.path.abspath(options.script): None} if options.script else {}
    for piece in pieces:
        if piece["kind"] == "sources":
            paths.update(dict.fromkeys(piece["paths"]))
    return read_project((path for path in paths if os.path.isfile(path)), options.keras)


def _crashes(pieces: list[dict[str, Any]]) -> tuple[Crash, ...]:
    return tuple(
        Crash(str(piece["where"]), str(piece["error"])) for piece in pieces if piece["kind"] == "crash"
    )


def _told(pieces: list[dict[str, Any]]) -> frozenset[str]:
    return frozenset(
        print_
        for piece in pieces
        if piece["kind"] in ("cluster", "call", "training")
        for print_ in piece["told"]
    )
