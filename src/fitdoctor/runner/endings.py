"""How a watched program, or a call of Keras in it, ended with an exception."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType

from fitdoctor.facts import FailureFacts
from fitdoctor.records import replace
from fitdoctor.runner.session import Recorder
from fitdoctor.runner.will_fail import FitWillFail

Mark = tuple[int, type, str]

_calls_of_errors: dict[Mark, int | None] = {}
"""The call that the last exception to escape from Keras came from.

By marks, not by the exception: holding that would hold its frames, and with them arrays that may have to be freed.
"""


def mark_of(error: BaseException) -> Mark:
    """Return values that identify an exception without holding a reference to it."""
    from fitdoctor.failure.living import message_of

    return id(error), type(error), message_of(error)


def remember(error: BaseException, call: int | None) -> None:
    """Remember which call the exception came from."""
    _calls_of_errors.clear()
    _calls_of_errors[mark_of(error)] = call


def _call_of(error: BaseException) -> int | None:
    for each in chain(error):
        if _calls_of_errors and mark_of(each) in _calls_of_errors:
            return _calls_of_errors[mark_of(each)]
    return None


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and its causes, nearest first."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def record_end(recorder: Recorder, error: BaseException | None) -> None:
    """Record how the program's main code ended, and which files it consists of."""
    from fitdoctor.runner.programs import user_files

    recorder.write("sources", paths=[str(path) for path in user_files()])
    stop = next((each for each in chain(error) if isinstance(each, FitWillFail)), None)
    if stop is not None:
        recorder.write("end", failure=None, call=None, stopped=True, message=str(stop))
        return
    if isinstance(error, SystemExit) and error.code not in (None, 0):
        # `except Exception: …; sys.exit(1)`: the exception that was being handled is the reason.
        error = error.__context__
    if not isinstance(error, Exception):
        recorder.write("end", failure=None, call=None, stopped=False)
        _record_left(recorder)
        return
    from fitdoctor.failure.living import from_exception

    recorder.write("end", failure=from_exception(error), call=_call_of(error), stopped=False)
    # After the failure itself: what is more important is safe first.
    from fitdoctor.collect.environment import environment

    recorder.write("environment", environment=environment(with_conflicts=True))


def _record_left(recorder: Recorder) -> None:
    """Record what a program still holds at its end: custom loops trace functions without calling `fit`."""
    if "tensorflow" not in sys.modules:
        return
    from fitdoctor.collect.training import left_behind

    left = left_behind()
    if left.held or left.kept or left.retraced:
        recorder.write("left", training=left)


def failure_at(error: BaseException, method: str, frame: FrameType | None) -> FailureFacts:
    """Return the facts of an exception in Keras's own method, with the user's frames above it."""
    from fitdoctor.failure.frames import frame_of
    from fitdoctor.failure.living import call_under_way, from_exception
    from fitdoctor.runner.programs import user_frame

    failure = from_exception(error)
    above = []
    while frame is not None:
        path = frame.f_code.co_filename
        stands = frame_of(path, frame.f_lineno, frame.f_code.co_name)
        above.append(replace(stands, code=call_under_way(frame)))
        frame = user_frame(frame.f_back)
    frames = (*reversed(above), *failure.frames)
    return replace(failure, frames=frames, called=failure.called or method)
