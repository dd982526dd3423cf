"""`%load_ext fitdoctor` in a notebook, and the magic `%fitdoctor` that comes with it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from fitdoctor import __version__
from fitdoctor.api import install, uninstall, watching
from fitdoctor.diagnosis import NOTEBOOK, Diagnosis
from fitdoctor.failure.frames import is_cell
from fitdoctor.runner import hooks
from fitdoctor.runner.notebook_display import show
from fitdoctor.runner.programs import user_frame
from fitdoctor.source.running_notebook import cells_run, notebook_path, notebook_source, place_in_cell

_NAME = "fitdoctor"
_USAGE = """\
  %fitdoctor on | off               start or stop checking this notebook
  %fitdoctor check model.fit(x, y)  check a call without training
  %%fitdoctor check                 the same for the first call in a cell
  %fitdoctor lint                   check the source of the cells run so far"""


def load_ipython_extension(shell: Any) -> None:
    """Check every call of fit from the next cell on, and explain the cells that fail."""
    from IPython.core.magic import no_var_expand

    # Under `fitdoctor run notebook.ipynb` every call is watched already.
    if notebook_path() == NOTEBOOK:
        install()
    # What stands in braces is Python here: IPython must not expand it.
    shell.register_magic_function(no_var_expand(fitdoctor), "line_cell", _NAME)


def unload_ipython_extension(shell: Any) -> None:
    """Leave the notebook alone again."""
    uninstall()
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop(_NAME, None)


def fitdoctor(line: str, cell: str | None = None) -> None:
    """Check calls of fit in this notebook, without training; say what is being checked."""
    from IPython.core.error import UsageError

    command, _space, rest = line.strip().partition(" ")
    if command == "check":
        _check(rest if cell is None else cell, whole_cell=cell is not None)
    elif rest or cell is not None or command not in _COMMANDS:
        raise UsageError(f"unknown command `%fitdoctor {line.strip() or '%%'}`; the commands are:\n{_USAGE}")
    else:
        _COMMANDS[command]()


def _status() -> None:
    from fitdoctor.api import installed

    if installed():
        print(f"fitdoctor {__version__} is on: it checks every `fit` and explains the cells that fail.")
    else:
        print(f"fitdoctor {__version__} is off: `%fitdoctor on` starts it.")
    print(_USAGE)


def _on() -> None:
    install()
    print("fitdoctor is on")


def _off() -> None:
    uninstall()
    print("fitdoctor is off")


def _lint() -> None:
    from fitdoctor.diagnose import examine_source
    from fitdoctor.records import replace
    from fitdoctor.source.project import read_project

    notebook = notebook_source()
    found = examine_source(read_project([notebook])) if notebook is not None else Diagnosis()
    show(replace(found, skipped=()))


_COMMANDS: dict[str, Callable[[], None]] = {
    "": _status,
    "help": _status,
    "on": _on,
    "off": _off,
    "lint": _lint,
}


# --- a call that is checked and not made --------------------------------------------------------------------------


class _Checked(BaseException):
    """Ends a program at its first call of Keras. Not an `Exception`: the program must not catch it."""

    def __init__(self, diagnosis: Diagnosis) -> None:
        super().__init__()
        self.diagnosis = diagnosis


class _OnlyChecks:
    """Looks at the first call of Keras that it sees, and ends the program there."""

    def __init__(self) -> None:
        self._watching = watching((), (), "warn")
        self._watching.tell = ""

    def call(
        self,
        original: Callable[..., Any],
        method: str,
        model: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Check the call, and do not make it."""
        if method not in hooks.METHODS:
            return original(model, *args, **kwargs)
        looked = self._watching.look(method, model, args, kwargs, user_frame(sys._getframe(1)))
        raise _Checked(looked.diagnosis if looked is not None else Diagnosis())

    def imported(self, library: str) -> None:
        """Nothing to do for it."""

    def crashed(self, where: str, error: Exception) -> None:
        """Nothing to do for it."""


def _check(code: str, *, whole_cell: bool) -> None:
    from IPython.core.error import UsageError
    from IPython.core.getipython import get_ipython

    from fitdoctor.records import replace

    if not code.strip():
        raise UsageError("%fitdoctor check: give the call, such as `%fitdoctor check model.fit(x, y)`")
    frame = _cell_frame(sys._getframe(1))
    name = frame.f_code.co_filename if frame is not None else "<string>"
    lines, column = _start(frame, code, whole_cell)
    # On the line and in the column where it stands in its cell: so are the locations.
    padding = "\n" * lines + ("0" + " " * (column - 3) + "; " if column >= 3 else "")
    program = compile(padding + code, name, "exec", dont_inherit=True)
    checks = _OnlyChecks()
    hooks.activate(checks)
    try:
        exec(program, get_ipython().user_ns)
    except _Checked as checked:
        show(replace(checked.diagnosis, skipped=()))
    else:
        raise UsageError("%fitdoctor check: this code calls no `fit`, `evaluate` or `predict`")
    finally:
        hooks.deactivate(checks)


def _cell_frame(frame: FrameType | None) -> FrameType | None:
    while frame is not None and not is_cell(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _start(frame: FrameType | None, code: str, whole_cell: bool) -> tuple[int, int]:
    """The lines and columns before the code in its cell."""
    placed = place_in_cell(frame.f_code.co_filename, frame.f_lineno) if frame is not None else None
    cells = cells_run()
    if placed is None or placed[0] > len(cells):
        return 0, 0
    lines = cells[placed[0] - 1].split("\n")
    if whole_cell:
        return next((index for index, text in enumerate(lines, 1) if text.strip()), 1), 0
    text = lines[placed[1] - 1] if placed[1] <= len(lines) else ""
    return placed[1] - 1, max(text.find(code.strip()), 0)
