"""What the child of `run` does before the user's program starts and when it ends."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

from fitdoctor.runner.fit_interceptor import Checks
from fitdoctor.runner.noted_code import Sites
from fitdoctor.runner.session import FAULTS, Options, Recorder, Started, read_options

Start = tuple[Callable[..., Any], tuple[Any, ...]]
"""The function that starts the program, and its arguments."""

_recorder: Recorder | None = None
_checks: Checks | None = None
_quiet = False
_pid = 0
_faults: TextIO | None = None


def begin(folder: str, before: frozenset[str]) -> Start:
    """Set up the interpreter as Python would for this program, and start watching.

    Args:
        folder: the session's folder.
        before: the names of the modules that a fresh interpreter has.
    """
    global _recorder, _pid, _checks, _quiet
    options = read_options(Path(folder))
    _end_with_parent(options.parent)
    _recorder = Recorder(Path(folder), options.folder)
    _pid = os.getpid()
    _note_faults(Path(folder) / FAULTS)
    began, environment = time.time(), dict(os.environ)
    if options.second:
        return _noted(options, folder, before)
    start = _as_module(options) if options.module else _as_script(options, folder)
    started = Started(options, environment, began) if options.locate else None
    _checks = _watch(options, _recorder, started)
    _quiet = options.quiet
    if options.pipes:
        from fitdoctor.runner.start_window import quiet_tensorflow

        quiet_tensorflow(*options.pipes)
    if options.keep_files:
        from fitdoctor.runner.kept_files import keep_files

        keep_files(Path(folder))
    _uncover_shadowed(before)
    return start


def ended(error: BaseException | None) -> None:
    """Record how the program's main code ended. What fails here is ours, and must not reach the program."""
    if _recorder is None or os.getpid() != _pid:
        return
    try:
        from fitdoctor.runner.endings import record_end
        from fitdoctor.runner.hooks import hide_our_frames_in

        if error is not None:
            hide_our_frames_in(error)
        record_end(_recorder, error)
        if _checks is not None:
            _recorder.write(
                "checks", called=_checks.called, checked=_checks.checked, seconds=round(_checks.seconds, 6)
            )
        _hide_stop(error)
    except Exception as failure:
        _recorder.write("crash", where="end of the program", error=f"{type(failure).__name__}: {failure}")


def _hide_stop(error: BaseException | None) -> None:
    """Let an uncaught stop end the program without a traceback: the report has said everything.

    A program with its own hook for uncaught exceptions still sees it.
    """
    from fitdoctor.runner.notebook_program import print_exception
    from fitdoctor.runner.will_fail import FitWillFail

    ours = sys.excepthook in (sys.__excepthook__, print_exception)
    if isinstance(error, FitWillFail) and not _quiet and ours:
        sys.excepthook = lambda _kind, _error, _trace: None


def _as_script(options: Options, folder: str, sites: Sites | None = None) -> Start:
    path = options.script
    main = _fresh_main()
    # Since Python 3.9 `__file__` of a script is absolute, but not normalised.
    absolute = path if os.path.isabs(path) else os.path.join(os.getcwd(), path)
    shown = options.shown_as or path
    sys.argv[:] = [shown, *options.arguments]
    sys.orig_argv[:] = [sys.executable, *_interpreter_options(), shown, *options.arguments]
    if not sys.flags.safe_path:
        sys.path.insert(0, os.path.dirname(os.path.realpath(shown)))
    if options.replaced:
        from fitdoctor.runner.stand_ins import stand_in

        stand_in(dict(options.replaced))
    from importlib.machinery import SourceFileLoader

    main.__dict__.update(
        __file__=absolute, __cached__=None, __loader__=SourceFileLoader("__main__", absolute)
    )
    if path.endswith(".ipynb"):
        from fitdoctor.runner.notebook_program import run_notebook

        del main.__dict__["__file__"], main.__dict__["__cached__"]  # no notebook has them
        # Where Jupyter starts it: what it reads lies beside it.
        os.chdir(os.path.dirname(os.path.abspath(shown)))
        compiled = sites.compiled_tree if sites is not None else None
        return run_notebook, (absolute, main, folder, compiled, options.past_failures)
    with open(path, "rb") as file:
        source = file.read()
    code = (
        compile(source, absolute, "exec", dont_inherit=True)
        if sites is None
        else sites.compiled(source, absolute)
    )
    return exec, (code, main.__dict__)


def _as_module(options: Options) -> Start:
    import runpy

    _fresh_main()
    sys.argv[:] = ["-m", *options.arguments]
    sys.orig_argv[:] = [sys.executable, *_interpreter_options(), "-m", options.module, *options.arguments]
    if not sys.flags.safe_path:
        sys.path.insert(0, os.getcwd())
    if options.replaced:
        from fitdoctor.runner.stand_ins import stand_in

        stand_in(dict(options.replaced))
    # What `python -m` itself calls: its frames stand in a plain traceback, too.
    return runpy._run_module_as_main, (options.module,)  # type: ignore[attr-defined]


def _fresh_main() -> ModuleType:
    """Return a `__main__` with what the interpreter puts there, and nothing of fitdoctor."""
    import builtins

    main = ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    if sys.version_info < (3, 14):
        main.__annotations__ = {}
    sys.modules["__main__"] = main
    return main


def _interpreter_options() -> list[str]:
    """Return the options that the interpreter was started with: everything before this file's path."""
    given: list[str] = []
    for word in sys.orig_argv[1:]:
        if word.endswith("bootstrap.py"):
            break
        given.append(word)
    return given


def _watch(options: Options, recorder: Recorder, started: Started | None) -> Checks:
    from fitdoctor.runner import hooks
    from fitdoctor.runner.fit_interceptor import Watching

    watching = Watching(
        select=options.select,
        ignore=options.ignore,
        stop=not options.keep_going,
        smoke=options.smoke,
        trace=options.trace,
        # Elsewhere the paths look different, and what is told here would be told again by the parent.
        tell=options.tell if os.getcwd() == options.folder else "",
        colour=options.colour,
        verbose=options.verbose,
        recorder=recorder,
        keras=options.keras,
        cluster=options.cluster,
        started=started,
    )
    hooks.activate(watching)
    return watching.checks


def _noted(options: Options, folder: str, before: frozenset[str]) -> Start:
    """Note the program's values instead of watching it: it runs a second time."""
    from fitdoctor.runner import hooks
    from fitdoctor.runner.second_child import begin_second_run

    answering = begin_second_run(Path(folder))
    start = _as_module(options) if options.module else _as_script(options, folder, answering.history.sites)
    hooks.activate(answering)
    _uncover_shadowed(before)
    return start


def _uncover_shadowed(before: frozenset[str]) -> None:
    """Forget modules of the standard library that the program replaces with its own.

    In plain Python, a `queue.py` next to the script takes precedence over the standard library's; here, ours may have
    been imported first.
    """
    if not sys.path or sys.flags.safe_path:
        return
    beside = _importable(sys.path[0] or ".")
    for name in list(sys.modules):
        top = name.partition(".")[0]
        if top in beside and top != "fitdoctor" and name not in before and name != "__main__":
            del sys.modules[name]


def _importable(folder: str) -> set[str]:
    """The names of the modules and regular packages in a folder."""
    try:
        names = os.listdir(folder)
    except OSError:
        return set()
    return {name.partition(".")[0] for name in names if name.endswith(".py")} | {
        name
        for name in names
        if name.isidentifier() and os.path.isfile(os.path.join(folder, name, "__init__.py"))
    }


def _note_faults(path: Path) -> None:
    """Let a crash in native code write its stack to the session's folder."""
    global _faults
    import faulthandler

    if not faulthandler.is_enabled():  # PYTHONFAULTHANDLER: the user wants it on stderr
        _faults = open(path, "w")  # noqa: SIM115 - open as long as the process lives
        faulthandler.enable(_faults)


def _end_with_parent(parent: int) -> None:
    """Let the kernel end the program when `run` is killed, as killing `python train.py` would."""
    if sys.platform != "linux" or not parent:
        return
    import ctypes

    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent:
        os._exit(128 + signal.SIGKILL)
