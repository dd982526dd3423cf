"""In a notebook: a cell that ends with an exception of training is explained below its traceback.

The traceback shows the user's own frames; `%tb` and `%debug` still have them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from fitdoctor.diagnosis import Confidence, Diagnosis
from fitdoctor.failure.frames import is_framework, is_library
from fitdoctor.records import dataclass, field
from fitdoctor.runner.endings import Mark, chain, mark_of
from fitdoctor.runner.fit_interceptor import Watching
from fitdoctor.runner.notebook_display import cell_ended, cell_starts, show
from fitdoctor.source.running_notebook import is_timed, lines_timed, shell

_SHORTENED = "The traceback above is shortened to your own code; `%tb` shows all of it."
_MOST_LINES = 6
"""The most lines of an exception's message: TensorFlow puts whole stacks into it."""

_explaining: list[Cells] = []


def explain_cells(watching: Watching) -> bool:
    """Explain cells that fail from now on; False if this is not a notebook."""
    stop_explaining()
    running = shell()
    if running is None:
        return False
    cells = Cells(running, watching)
    cells.begin()
    _explaining.append(cells)
    return True


def stop_explaining() -> None:
    """Stop explaining failed cells."""
    while _explaining:
        _explaining.pop().end()


@dataclass(eq=False)
class Cells:
    """Follows the cells of a notebook and shows the diagnosis of each failure below its cell."""

    shell: Any
    watching: Watching
    _depth: int = 0
    """Nesting depth of running cells: `%%capture` runs its body as another cell."""
    _waiting: list[tuple[Diagnosis, str]] = field(default_factory=list)
    _judged: tuple[Mark, Diagnosis | None] | None = None
    _shortened: bool = False
    _before: tuple[Any, Any] = ((), None)
    """The handlers that other code has registered for exceptions."""
    _handler: Any = None

    def begin(self) -> None:
        """Register for IPython's events about cells and their exceptions."""
        self.shell.events.register("pre_run_cell", self._starts)
        self.shell.events.register("post_run_cell", self._ended)
        self._before = self.shell.custom_exceptions, self.shell.CustomTB
        self.shell.set_custom_exc((Exception,), self._traceback)
        self._handler = self.shell.CustomTB

    def end(self) -> None:
        """Restore IPython's handlers."""
        self.shell.events.unregister("pre_run_cell", self._starts)
        self.shell.events.unregister("post_run_cell", self._ended)
        if self.shell.CustomTB is self._handler:
            self.shell.custom_exceptions, self.shell.CustomTB = self._before

    def _starts(self, info: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            cell_starts()
            known = getattr(info, "cell_id", None)
            self.watching.cell_starts(str(known or getattr(info, "raw_cell", "")), bool(known))

    def _ended(self, result: Any) -> None:
        error = getattr(result, "error_in_exec", None)
        if isinstance(error, Exception):
            diagnosis = self._diagnosis_of(error)
            if diagnosis is not None:
                self._waiting.append((diagnosis, _SHORTENED if self._shortened else ""))
        self._depth -= 1
        if self._depth > 0:
            return
        self._depth, self._judged, self._shortened = 0, None, False
        self.watching.note_cell()
        cell_ended()
        shown, self._waiting = self._waiting, []
        stopped = self.watching.take_stopped()
        if stopped is not None and all(diagnosis.findings != stopped.findings for diagnosis, _note in shown):
            # The program caught the stop and went on: it is told all the same.
            shown.append((stopped, ""))
        for diagnosis, note in shown:
            show(diagnosis, note)

    def _diagnosis_of(self, error: Exception) -> Diagnosis | None:
        """Return the diagnosis of an exception, if it says anything; cached."""
        mark = mark_of(error)
        if self._judged is None or self._judged[0] != mark:
            self._judged = mark, self.watching.diagnosis_of(error, concerns_training)
        return self._judged[1]

    # --- the traceback ------------------------------------------------------------------------------------------

    def _traceback(
        self,
        running: Any,
        kind: type[BaseException],
        error: BaseException,
        trace: TracebackType,
        tb_offset: int | None = None,
    ) -> Any:
        """The handler that IPython calls for an exception that ends a cell."""
        others, handler = self._before
        if others and isinstance(error, others):
            return handler(kind, error, trace, tb_offset)
        short = self._short(error, trace)
        if short is None:
            _as_ever(running, error, trace)
            return None
        with _user_frames_only(error), _timed_source():
            whole = running.InteractiveTB.structured_traceback(kind, error, short, tb_offset=0)
        text = _with_short_message(whole)
        # The frame of IPython itself, which it never shows, is not worth a word.
        self._shortened = text != whole or _length(trace) > _length(short) + 1
        error._render_traceback_ = lambda: text  # type: ignore[attr-defined]
        try:
            running.showtraceback((kind, error, trace))
        finally:
            del error._render_traceback_  # type: ignore[attr-defined]
        return None

    def _short(self, error: BaseException, trace: TracebackType) -> TracebackType | None:
        """Return the user's part of a traceback; None if all of it should be shown."""
        if not isinstance(error, Exception) or isinstance(error, SyntaxError):
            return None
        diagnosis = self._diagnosis_of(error)
        if diagnosis is None or diagnosis.primary is None or diagnosis.unexplained:
            return None
        unsure = diagnosis.primary.confidence is Confidence.POSSIBLE
        return None if unsure else _of_the_user(trace)


def _as_ever(running: Any, error: BaseException, trace: TracebackType) -> None:
    """Show an exception as IPython does without a handler."""
    if trace.tb_frame.f_code.co_name == "run_code":
        running.showtraceback(running_compiled_code=True)
    elif isinstance(error, IndentationError):
        running.showindentationerror()
    else:
        running.showsyntaxerror()


@contextmanager
def _user_frames_only(error: BaseException) -> Iterator[None]:
    """Reduce an exception and its causes to the user's frames while it is printed."""
    whole = [(each, each.__traceback__) for each in chain(error)]
    try:
        for each, trace in whole:
            each.__traceback__ = _of_the_user(trace) or trace
        yield
    finally:
        for each, trace in whole:
            each.__traceback__ = trace


@contextmanager
def _timed_source() -> Iterator[None]:
    """Let IPython quote the lines that `%%time` runs."""
    import linecache

    timed = lines_timed()
    for name, lines in timed.items():
        linecache.cache[name] = (sum(map(len, lines)), None, lines, name)
    try:
        yield
    finally:
        for name in timed:
            linecache.cache.pop(name, None)


def _with_short_message(text: list[str]) -> list[str]:
    """Return a traceback whose long exception message is cut in the middle."""
    lines = text[-1].split("\n") if text else []
    left_out = len(lines) - _MOST_LINES
    if left_out < 2:
        return text
    kept = [*lines[: _MOST_LINES - 2], f"… {left_out} more lines …", *lines[-2:]]
    return [*text[:-1], "\n".join(kept)]


def _length(trace: TracebackType | None) -> int:
    length = 0
    while trace is not None:
        length, trace = length + 1, trace.tb_next
    return length


def _of_the_user(trace: TracebackType | None) -> TracebackType | None:
    entries: list[TracebackType] = []
    while trace is not None:
        if not is_library(trace.tb_frame.f_code.co_filename):
            if entries and is_timed(trace.tb_frame.f_code.co_filename):
                entries.pop()  # the line of the cell is the call of the magic
            entries.append(trace)
        trace = trace.tb_next
    short = None
    for entry in reversed(entries):
        short = TracebackType(short, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return short


def concerns_training(error: BaseException) -> bool:
    """Whether an exception came from TensorFlow or Keras, or from the user's code under them."""
    trace = error.__traceback__
    while trace is not None:
        if is_framework(trace.tb_frame.f_code.co_filename):
            return True
        trace = trace.tb_next
    return False
