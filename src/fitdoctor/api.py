"""The Python API: check one call, watch a block or the whole process, explain an error, lint source."""

from __future__ import annotations

import functools
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterable
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, cast

from fitdoctor.diagnosis import Diagnosis
from fitdoctor.optional_packages import require
from fitdoctor.runner.will_fail import FitWillFail, will_fail

if TYPE_CHECKING:
    from fitdoctor.memory.prediction import Prediction
    from fitdoctor.runner.fit_interceptor import Watching
    from fitdoctor.source.project import Project

__all__ = [
    "FitWillFail",
    "MemoryUnknown",
    "check",
    "explain",
    "install",
    "lint",
    "memory",
    "uninstall",
    "watch",
]

P = ParamSpec("P")
R = TypeVar("R")

OnError = Literal["raise", "warn"]


def check(
    model: Any,
    *args: Any,
    method: str = "fit",
    on_error: Literal["return", "raise", "warn"] = "return",
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    **kwargs: Any,
) -> Diagnosis:
    """Check a call of `fit` without making it.

    Takes the arguments of `model.fit`; trains nothing and changes nothing. A generator is not read, since that would
    use it up.

    Args:
        model: the model whose `fit` would be called.
        *args: as for `model.fit`.
        method: the method that would be called: `fit`, `evaluate`, `predict`, `train_on_batch`, `test_on_batch`.
        on_error: `raise` raises `FitWillFail` for a certain error, `warn` prints the findings, `return` only returns
            them.
        select: ids, id prefixes or slugs of the causes to check for; all by default.
        ignore: ids, id prefixes or slugs of causes to skip.
        **kwargs: as for `model.fit`.

    Returns:
        The findings; `diagnosis.ok` is true if none is a warning or an error.

    Raises:
        TypeError: `model` has no such method.
        FitWillFail: the call is certain to fail, and `on_error` is `raise`.
    """
    from fitdoctor.gc_pause import gc_paused
    from fitdoctor.runner.programs import user_frame

    _one_of("on_error", on_error, ("return", "raise", "warn"))
    if not callable(getattr(model, method, None)):
        raise TypeError(f"`check` expects a Keras model: a `{type(model).__name__}` has no `{method}`")
    frame = user_frame(sys._getframe(1))
    with gc_paused():
        diagnosis = _checked(model, method, args, kwargs, frame, tuple(select), tuple(ignore))
    if on_error == "warn" and diagnosis.findings:
        _print(diagnosis)
    if on_error == "raise" and any(finding.stops for finding in diagnosis.findings):
        raise will_fail(diagnosis)
    return diagnosis


def _checked(
    model: Any,
    method: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    frame: FrameType | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
) -> Diagnosis:
    from fitdoctor.collect.budget import Budget
    from fitdoctor.collect.environment import environment
    from fitdoctor.collect.fit_call import bind, collect_call, passed_to
    from fitdoctor.diagnose import examine_call

    passed = passed_to(model, method, len(args), leading=1)
    if any(map(inspect.isgenerator, (*args, *kwargs.values()))):
        args, kwargs = (), _without_generators(bind(model, method, args, kwargs))
    collected = collect_call(model, method, args, kwargs, frame, Budget(), passed)
    return examine_call(collected, _project_here, environment(), select=select, ignore=ignore)


class watch:
    """Check every call of `fit` inside a `with` block or a decorated function.

    A certain error raises `FitWillFail` before the first step; other findings are printed to standard error. An
    exception raised by training gets its diagnosis as a note.

    Args:
        ignore: ids, id prefixes or slugs of causes to skip.
        select: ids, id prefixes or slugs of the causes to check for; all by default.
        on_error: `raise`, or `warn` to print a certain error and continue.
    """

    def __init__(
        self, *, ignore: Iterable[str] = (), select: Iterable[str] = (), on_error: OnError = "raise"
    ) -> None:
        _one_of("on_error", on_error, ("raise", "warn"))
        self._settings = (tuple(select), tuple(ignore), on_error)
        # One block may be entered again while it is open: by recursion, or in several threads.
        self._open = threading.local()

    def __enter__(self) -> watch:
        from fitdoctor.runner import hooks

        watcher = watching(*self._settings)
        hooks.activate(watcher)
        self._stack().append(watcher)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        from fitdoctor.runner import hooks

        hooks.deactivate(self._stack().pop())

    def _stack(self) -> list[Watching]:
        stack: list[Watching] | None = getattr(self._open, "stack", None)
        if stack is None:
            stack = self._open.stack = []
        return stack

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Wrap a function so that its calls of `fit` are checked."""
        if inspect.iscoroutinefunction(function):
            return cast("Callable[P, R]", self._around_coroutine(function))

        @functools.wraps(function)
        def watched(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return watched

    def _around_coroutine(self, function: Any) -> Any:
        @functools.wraps(function)
        async def watched(*args: Any, **kwargs: Any) -> Any:
            with self:
                return await function(*args, **kwargs)

        return watched


_installed: list[Watching] = []
_install_lock = threading.Lock()


def installed() -> bool:
    """Whether `install` is active."""
    return bool(_installed)


def install(
    *,
    ignore: Iterable[str] = (),
    select: Iterable[str] = (),
    on_error: OnError = "raise",
    locate: bool = True,
) -> None:
    """Check every call of `fit` for the rest of the process, in all threads; a second call changes the settings.

    In a notebook, a cell that fails is explained below it; elsewhere the exception gets its diagnosis as a note.

    Args:
        ignore: ids, id prefixes or slugs of causes to skip.
        select: ids, id prefixes or slugs of the causes to check for; all by default.
        on_error: `raise`, or `warn` to print a certain error and continue.
        locate: in a notebook, run the cells again in another process to find the line that made data bad, if they
            took only seconds so far.
    """
    from fitdoctor.runner import hooks
    from fitdoctor.runner.cell_failures import explain_cells
    from fitdoctor.runner.second_run import started_here

    watcher = watching(select, ignore, on_error)
    with _install_lock:
        watcher.note = watcher.shows_stops = watcher.reads_source = not explain_cells(watcher)
        if locate and not watcher.note:
            watcher.started = started_here()
        hooks.activate(watcher, everywhere=True)
        for earlier in _installed:
            hooks.deactivate(earlier)
        _installed[:] = [watcher]


def uninstall() -> None:
    """Undo `install`; do nothing if it is not active."""
    from fitdoctor.runner import hooks
    from fitdoctor.runner.cell_failures import stop_explaining

    with _install_lock:
        stop_explaining()
        for watcher in _installed:
            hooks.deactivate(watcher)
        _installed.clear()


def explain(what: str | BaseException | None = None) -> Diagnosis:
    """Diagnose an exception, or the text of a log or traceback.

    Args:
        what: the exception, or text that contains one or more tracebacks; by default the exception being handled,
            else the last one that ended a notebook cell or an interactive statement.

    Returns:
        The findings for the last failure; empty if the text contains none.

    Raises:
        ValueError: no argument is given, and nothing has failed.
    """
    from fitdoctor.collect.environment import environment
    from fitdoctor.diagnose import examine_failure

    what = _last_exception() if what is None else what
    if isinstance(what, FitWillFail):
        return what.diagnosis
    if isinstance(what, Exception) and _installed:
        # Who watches knows the call that it came from.
        known = _installed[0].diagnosis_of(what, lambda _error: True)
        if known is not None:
            return known
    if isinstance(what, BaseException):
        from fitdoctor.failure.living import from_exception

        return examine_failure(from_exception(what), _project_here, environment=environment())
    from fitdoctor.diagnose import examine_saved, failures_told_in
    from fitdoctor.engine_inputs import files_of

    failures = failures_told_in(what)
    if not failures:
        return Diagnosis()
    if len(failures) == 1:
        return examine_saved(failures[0], what)
    return examine_failure(failures[-1], lambda: files_of(failures[-1]))


def _last_exception() -> BaseException:
    last = sys.exc_info()[1] or getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if isinstance(last, BaseException):
        return last
    raise ValueError("nothing to explain: no exception so far; pass an exception, or the text of a traceback")


def lint(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> Diagnosis:
    """Check Python files, notebooks or folders without running them, as `fitdoctor lint` does.

    Args:
        paths: one path or several; folders are searched for .py and .ipynb files that neither `.gitignore`
            nor `[tool.fitdoctor]` excludes.

    Returns:
        The findings. Files that are not valid Python are skipped.

    Raises:
        FileNotFoundError: a path does not exist.
        ConfigError: the `[tool.fitdoctor]` table of a `pyproject.toml` is invalid.
    """
    from fitdoctor.cli.discover import NothingThere, discover
    from fitdoctor.cli.lint_files import Wishes, lint_files

    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    try:
        files = discover([os.fspath(path) for path in given])
    except NothingThere as error:
        raise FileNotFoundError(str(error)) from None
    # In one process: a program that has started TensorFlow must not be forked.
    return lint_files(files, Wishes(), jobs=1).diagnosis


class MemoryUnknown(ValueError):
    """The memory of a step cannot be predicted; the message says why and what would help."""


def memory(
    model: Any,
    x: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    *,
    batch_size: int | None = None,
    input_shape: Any = None,
    available: int | None = None,
    quick: bool = False,
) -> Prediction:
    """Predict the peak memory of one training step and the largest batch that fits.

    Trains nothing and changes nothing: the step is traced without running it, then discarded.

    Args:
        model: a compiled model of any kind.
        x: the data, as for `model.fit`; by default the shapes of the model's inputs are used.
        y: as for `model.fit`.
        sample_weight: as for `model.fit`.
        batch_size: samples per step; by default that of the data, else 32.
        input_shape: the input shape without the batch axis, if the model leaves it open; a list or dict of shapes for
            several inputs.
        available: bytes of memory to compare with; by default what is free now.
        quick: estimate from the layers' shapes, in milliseconds.

    Returns:
        The prediction: `peak`, `needed`, `fits`, `largest_batch`, tables by kind and by layer, remedies.

    Raises:
        MemoryUnknown: it cannot be known; the message says why.
        MissingPackage: TensorFlow is not installed (an ImportError).
    """
    from fitdoctor.collect.memory import CannotTell, Wanted, predict_memory

    if not hasattr(model, "train_step") or not hasattr(model, "layers"):
        raise TypeError(f"expected a Keras model, not {type(model).__name__}")
    for name, value in (("batch_size", batch_size), ("available", available)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise MemoryUnknown(f"`{name}` must be an integer of at least 1, not {value!r}")
    require("tensorflow", "`memory`")
    if inspect.isgenerator(x):
        raise MemoryUnknown("a generator cannot be read without using it up: pass one batch instead")
    try:
        return predict_memory(model, x, y, sample_weight, Wanted(batch_size, input_shape, quick, available))
    except CannotTell as error:
        raise MemoryUnknown(str(error)) from None


def _without_generators(bound: dict[str, Any]) -> dict[str, Any]:
    """The arguments without generators, which reading would use up."""
    return {name: value for name, value in bound.items() if not inspect.isgenerator(value)}


def watching(select: Iterable[str], ignore: Iterable[str], on_error: OnError) -> Watching:
    """A watcher that checks calls of Keras and prints to standard error, or below the cell of a notebook."""
    from fitdoctor.report.paint import wants_color
    from fitdoctor.runner.fit_interceptor import Watching
    from fitdoctor.runner.notebook_display import draws_html, show

    _one_of("on_error", on_error, ("raise", "warn"))
    return Watching(
        select=tuple(select),
        ignore=tuple(ignore),
        stop=on_error == "raise",
        note=True,
        colour=wants_color("auto", sys.stderr),
        show=show if draws_html() else None,
    )


def _project_here() -> Project:
    from fitdoctor.runner.programs import user_project

    return user_project()


def _print(diagnosis: Diagnosis) -> None:
    from fitdoctor.runner.notebook_display import show

    show(diagnosis)


def _one_of(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
