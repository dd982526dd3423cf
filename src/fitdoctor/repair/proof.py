"""Runs a program, repaired or not, in a child with a time limit, and judges whether a repair holds."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection
from enum import Enum
from pathlib import Path
from typing import Any

from fitdoctor.diagnose import Run, examine_run
from fitdoctor.diagnosis import Crash, Diagnosis, Finding, Severity, described
from fitdoctor.engine_inputs import Call, SeenCall
from fitdoctor.facts import Unknown
from fitdoctor.json_codec import from_plain, to_plain
from fitdoctor.records import dataclass, replace
from fitdoctor.repair.copies import Laid, in_own_words
from fitdoctor.repair.emptied import emptied
from fitdoctor.runner import death
from fitdoctor.runner.session import Options, read_now, read_pieces, write_options
from fitdoctor.runner.supervise import BOOTSTRAP, gathered, interpreter_options, with_pictures


@dataclass(frozen=True)
class Wishes:
    """The user's options."""

    script: str
    arguments: tuple[str, ...] = ()
    timeout: float = 120.0
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    keras: int = 3
    module: str = ""
    """Its name, if it is run with `-m`."""

    @property
    def path_start(self) -> str:
        """The folder that the program imports its modules from first."""
        return os.getcwd() if self.module else os.path.dirname(os.path.abspath(self.script))


@dataclass(frozen=True)
class Seen:
    """A run of the program: how it ended, and what was found."""

    diagnosis: Diagnosis
    status: int = 0
    timed_out: bool = False
    call: SeenCall | None = None
    """The `fit` call in which the program ended; else the last one seen."""
    stage: tuple[int, int] = (0, 1)
    """How far it got: the number of Keras calls that started, and 0 if it ended inside the last of them."""
    place: tuple[tuple[str, int], ...] = ()
    """Where it raised: the user's frames, outermost first; if it was stopped: the call."""
    seconds: float = 0.0

    @property
    def ended_well(self) -> bool:
        """Whether the program ran to its end."""
        return self.status == 0 and not self.timed_out

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The errors that were found."""
        return tuple(found for found in self.diagnosis.findings if found.severity is Severity.ERROR)

    @property
    def wrong(self) -> str:
        """How it ended, in a few words; "" if it ended well."""
        if self.timed_out:
            return "does not finish in time"
        script = self.diagnosis.script
        if self.status == 0 or script is None:
            return "" if self.status == 0 else f"exits with status {self.status}"
        if self.errors:
            return f"stops at {self.errors[0].id}: {self.errors[0].message}"
        if script.exception is not None:
            first = script.exception.message.strip().split("\n")[0]
            return f"raises {script.exception.type}: {first[:100]}".rstrip(": ")
        return f"ends with {script.signal}" if script.signal else f"exits with status {self.status}"


# --- running ------------------------------------------------------------------------------------------------------

Start = Callable[[Path, float], tuple[int, bool] | None]
"""From the folder with the options and the seconds to the return code, and whether time ended it; None if it cannot."""


def run(
    wishes: Wishes,
    laid: Laid,
    start: Start | None = None,
    put_back: Callable[[Path], None] | None = None,
    whole: bool = False,
) -> Seen:
    """Run the program, discard its output, and examine the run.

    Args:
        wishes: the user's options.
        laid: the prepared program.
        start: starts the child; by default, and if that is impossible, a fresh interpreter.
        put_back: restores the files after the run, from the child's copies in its folder.
        whole: every fit runs to its end; otherwise each is cut to two steps.
    """
    with tempfile.TemporaryDirectory(prefix="fitdoctor-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        options = Options(
            script="" if wishes.module else laid.script,
            module=wishes.module,
            shown_as=wishes.script if laid.script != wishes.script else "",
            replaced=laid.replaced,
            arguments=wishes.arguments,
            select=wishes.select,
            ignore=wishes.ignore,
            smoke=not whole,
            tell="",
            folder=os.getcwd(),
            parent=0 if start else os.getpid(),
            keras=wishes.keras,
            keep_files=put_back is not None,
            # Where data became bad is asked once, of the program as it is.
            locate="" if laid.repaired else "quick",
        )
        write_options(folder, options)
        watch = death.Watch()
        began = time.monotonic()
        try:
            ended = start(folder, wishes.timeout) if start is not None else None
            returncode, timed_out = ended or _bounded(folder, wishes.timeout)
        finally:
            if put_back is not None:
                put_back(folder)
        seconds = time.monotonic() - began
        pieces = read_pieces(folder)
        sign = None
        if returncode < 0 and not timed_out:
            sign = watch.sign(returncode, folder, read_now(folder))
    try:
        known = gathered(options, pieces, returncode, sign)
        diagnosis = with_pictures(examine_run(known, wishes.select, wishes.ignore), known)
    # A border: the search says what failed in our own judgement and ends in order.
    except Exception as error:
        return Seen(Diagnosis(crashes=(Crash("diagnosis", described(error)),)), returncode or 1, timed_out)
    begun = sum(piece["kind"] == "call" for piece in pieces)
    return Seen(
        diagnosis=_own(Diagnosis, diagnosis, laid),
        status=returncode if returncode >= 0 else 128 - returncode,
        timed_out=timed_out,
        call=_call(known, laid),
        stage=(begun, 0 if known.stopped or known.failed_call is not None else 1),
        place=_place(known, laid),
        seconds=seconds,
    )


def _bounded(folder: Path, limit: float) -> tuple[int, bool]:
    """Return the child's return code, and whether the time limit ended it; nothing that it started survives."""
    command = [sys.executable, *interpreter_options(sys.orig_argv), str(BOOTSTRAP), str(folder)]
    # Compiled copies would stay behind in `__pycache__`.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        command, stdin=quiet, stdout=quiet, stderr=quiet, env=environment, start_new_session=True
    )
    try:
        return process.wait(limit), False
    except subprocess.TimeoutExpired:
        _end(process)
        return process.wait(), True
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the child's whole process group."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(10)


def _own(kind: Any, value: Any, laid: Laid) -> Any:
    """Return facts or findings with the user's paths instead of those of the copies."""
    if not laid.origins:
        return value
    if kind is Diagnosis:
        return Diagnosis.from_json(in_own_words(value.to_json(), laid))
    return from_plain(kind, in_own_words(to_plain(value), laid))


def _call(known: Run, laid: Laid) -> SeenCall | None:
    call = _ended_in(known)
    if call is None:
        return None
    return _own(SeenCall, SeenCall(call.model, call.fit, call.data), laid)  # type: ignore[no-any-return]


def _ended_in(known: Run) -> Call | None:
    """Return the `fit` call in which the program ended; else the last one seen."""
    if known.failed_call is not None:
        return known.failed_call
    return next((call for call in reversed(known.calls) if call.fit.method == "fit"), None)


def _place(known: Run, laid: Laid) -> tuple[tuple[str, int], ...]:
    plain = []
    if known.failure is not None:
        plain = [{"path": frame.path, "line": frame.line} for frame in known.failure.user_frames]
    elif known.stopped and known.calls and not isinstance(code := known.calls[-1].fit.code, Unknown):
        plain = [{"path": code.location.path, "line": code.location.line}]
    moved = in_own_words(plain, replace(laid, origins=_without_cells(laid)))
    return tuple((frame["path"], frame["line"]) for frame in moved)


def _without_cells(laid: Laid) -> tuple[Any, ...]:
    """Lines of a notebook are compared in its script, where they are in order."""
    return tuple((copy, replace(origin, cells=None)) for copy, origin in laid.origins)


# --- judging ------------------------------------------------------------------------------------------------------


class Verdict(Enum):
    """What a run of the repaired program shows about the repair."""

    HOLDS = "holds"
    """The cause is gone, the program runs to its end, and there is nothing new."""
    FURTHER = "further"
    """The cause is gone and its point is passed; something else stops the program."""
    UNCOVERS = "uncovers"
    """The cause is gone; another error, not seen before, stops the program at the same point."""
    FAILS = "fails"


@dataclass(frozen=True)
class Judged:
    """A verdict and its reason in one line."""

    verdict: Verdict
    reason: str
    new_warnings: int = 0


def judged(
    before: Seen, after: Seen, finding: Finding, grown: int = 0, lurking: Collection[str] = ()
) -> Judged:
    """Compare the run of a repaired program with the run before.

    Args:
        before: the run that showed what is wrong.
        after: the run of the repaired program.
        finding: what the repair is for.
        grown: how many lines the repair adds to the program.
        lurking: the ids of errors that the source already had, after the one that stopped the program.
    """
    if after.timed_out:
        return Judged(Verdict.FAILS, "it does not finish in time")
    counts, now = _counted(before.diagnosis), _counted(after.diagnosis)
    stopped_twice = not before.ended_well and not after.ended_well
    still = now[_key(finding)] >= counts[_key(finding)]
    # The same again at a later line is the next one of its kind.
    next_one = stopped_twice and _stops_later(before, after, grown) and elsewhere(before, after, grown)
    if still and not next_one:
        return Judged(Verdict.FAILS, f"{finding.id} is still there")
    lost = emptied(before.call, after.call, finding) if before.stage[0] == after.stage[0] else ""
    if lost:
        return Judged(Verdict.FAILS, f"it {lost}")
    new = [found for found in after.diagnosis.findings if now[_key(found)] > counts[_key(found)]]
    known = {id for id in lurking if id != finding.id}
    worse = [found for found in new if found.severity is Severity.ERROR and found.id not in known]
    warnings = sum(found.severity is Severity.WARNING for found in new)
    gone = f"{finding.id} is fixed"
    if after.ended_well and not worse:
        more = f", with {warnings} new {'warning' if warnings == 1 else 'warnings'}" if warnings else ""
        return Judged(Verdict.HOLDS, f"{gone}, and the program runs to the end{more}", warnings)
    if stopped_twice and _came_further(before, after, worse, grown):
        return Judged(Verdict.FURTHER, f"{gone}; the program now {after.wrong}", warnings)
    if after.ended_well:
        return Judged(Verdict.FAILS, f"it causes {worse[0].id}: {worse[0].message}")
    another = after.errors and _key(after.errors[0]) != _key(finding)
    if another and after.stage >= before.stage:
        return Judged(Verdict.UNCOVERS, f"{gone}; the program now {after.wrong}", warnings)
    return Judged(Verdict.FAILS, f"the program {after.wrong}")


def _came_further(before: Seen, after: Seen, new_errors: list[Finding], grown: int) -> bool:
    """Whether the program passed the point of failure, or stops only at a known error."""
    known = after.errors and not new_errors and not after.diagnosis.unexplained
    return _stops_later(before, after, grown) or (after.stage == before.stage and bool(known))


def _stops_later(before: Seen, after: Seen, grown: int) -> bool:
    """Whether the program stops at a later call of Keras, or further down in the same file."""
    if after.stage != before.stage:
        return after.stage > before.stage
    # Lines are compared in the outermost frames, as far as they are of the same file.
    for (path, line), (other, later) in zip(before.place, after.place, strict=False):
        if path != other or line != later:
            return path == other and later > line + grown and before.stage[1] == 1
    return False


def elsewhere(before: Seen, after: Seen, grown: int = 0) -> bool:
    """Whether the program stops at another line, and not at the same one later on, or moved by the repair."""
    return any(
        path != other or not line <= later <= line + grown
        for (path, line), (other, later) in zip(before.place, after.place, strict=False)
    )


def _key(finding: Finding) -> tuple[str, str]:
    return finding.id, finding.subject


def _counted(diagnosis: Diagnosis) -> Counter[tuple[str, str]]:
    return Counter(_key(found) for found in diagnosis.findings)
