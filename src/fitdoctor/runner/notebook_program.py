"""Runs the code cells of a notebook in order as one program, with IPython where it is installed.

The notebook's file is only read. Magics do what they do in IPython; without it they are skipped.
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
import warnings
from collections.abc import Callable
from types import CodeType, ModuleType, TracebackType
from typing import Any

from fitdoctor.failure.frames import is_cell
from fitdoctor.source.read import read_source, without_magics
from fitdoctor.source.running_notebook import run_from_file

_NAME = "<cell {}>"
"""The file name under which a cell is compiled, as shown in tracebacks."""


Compiled = Callable[[ast.AST, str, str], CodeType]
"""From a parsed cell, its name and the mode of `compile` to its code."""


def run_notebook(
    path: str, main: ModuleType, folder: str, compiled: Compiled | None = None, past_failures: bool = False
) -> None:
    """Run the cells; an exception in one of them ends the program.

    Args:
        path: the notebook.
        main: the module in which its code runs.
        folder: where IPython may keep its files.
        compiled: compiles the cells; by default, as they are.
        past_failures: go on after a cell that fails.
    """
    cells = [_numbered(cell) for cell in read_source(path).typed]
    run_from_file(path)
    try:
        shell = _ipython(main, folder, compiled)
    except ImportError:
        shell = None
    try:
        if shell is None:
            _run_without_ipython(cells, main, compiled)
        else:
            _run_with_ipython(shell, cells, past_failures)
    except BaseException:
        if sys.excepthook is sys.__excepthook__:
            # The interpreter's own looks for the source in files alone.
            sys.excepthook = print_exception
        raise


def print_exception(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print a traceback with the lines of the cells."""
    import traceback

    traceback.print_exception(kind, error, trace)


def _numbered(cell: str) -> str:
    """Return the cell with a comment in a blank first line: IPython skips such lines, and blank cells."""
    return cell if cell.lstrip().startswith("%%") or cell.partition("\n")[0].strip() else "#" + cell


def _run_with_ipython(shell: Any, cells: list[str], past_failures: bool) -> None:
    with warnings.catch_warnings():
        # Of `sys.exit()`, which means here what it says.
        warnings.filterwarnings("ignore", "To exit: use 'exit'")
        for cell in cells:
            result = shell.run_cell(cell, store_history=True)
            error = result.error_before_exec or result.error_in_exec or shell.failed
            if error is not None and not past_failures:
                raise error.with_traceback(_from_cell(error.__traceback__))


def _from_cell(trace: TracebackType | None) -> TracebackType | None:
    """Return the traceback from the user's code on."""
    while trace is not None and not is_cell(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return trace


def _ipython(main: ModuleType, folder: str, compiled: Compiled | None) -> Any:
    """Return an IPython shell that keeps no history and leaves tracebacks to the program.

    Raises:
        ImportError: it is not installed.
    """
    from IPython.core.compilerop import CachingCompiler
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class Compiler(CachingCompiler):  # type: ignore[misc]
        def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
            last = self.shell.history_manager.input_hist_raw[-1] if self.shell is not None else raw_code
            if raw_code.rstrip("\n") == last:
                return _NAME.format(number)
            name: str = super().get_code_name(raw_code, transformed_code, number)
            return name

        def __call__(self, code: Any, name: str, mode: str, **given: Any) -> CodeType:
            if compiled is not None and isinstance(code, ast.AST):
                return compiled(code, name, mode)
            made: CodeType = super().__call__(code, name, mode, **given)
            return made

        shell: Any = None

    class Shell(InteractiveShell):  # type: ignore[misc]
        compiler_class = Compiler

        def enable_gui(self, gui: Any = None) -> None:
            pass

        def ask_exit(self) -> None:  # what `exit()` and `quit()` call
            raise SystemExit

        failed: BaseException | None = None
        """The exception of a nested cell, which `%%capture` swallows."""

        def showtraceback(self, *args: Any, **given: Any) -> None:
            if sys.exc_info()[1] is None:  # `%tb`
                super().showtraceback(*args, **given)
            else:
                self.failed = sys.exc_info()[1]

        showsyntaxerror = showindentationerror = showtraceback

    # What a kernel sets: a figure is shown as text, and `plt.show()` opens no window.
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    own = os.path.join(folder, "ipython")
    shell = Shell.instance(config=config, ipython_dir=own, user_module=main, user_ns=main.__dict__)
    shell.compile.shell = shell
    return shell


class _Cells:
    """What is asked of IPython's shell about the cells that ran, where there is none."""

    kernel = None

    def __init__(self) -> None:
        self.history_manager = self
        self.compile = self
        self.input_hist_raw = [""]
        self._filename_map: dict[str, int] = {}


def _run_without_ipython(cells: list[str], main: ModuleType, compiled: Compiled | None) -> None:
    running = _Cells()
    run_from_file(shell=running)
    main.__dict__["display"] = print
    told = False
    for number, cell in enumerate(cells, 1):
        code, name = without_magics(cell), _NAME.format(number)
        if code != cell and not told:
            told = True
            print("fitdoctor: IPython is not installed, so magics are skipped", file=sys.stderr)
        running.input_hist_raw.append(cell)
        running._filename_map[name] = number
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        made = (
            compile(code, name, "exec", dont_inherit=True)
            if compiled is None
            else compiled(ast.parse(code), name, "exec")
        )
        exec(made, main.__dict__)
