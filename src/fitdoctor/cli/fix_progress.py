"""Shows what `fix` is doing, with the seconds it has taken, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows a line until the next one, or the end of the block.

    Args:
        quiet: show nothing.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda _line: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as shown:
        task = shown.add_task("", total=None)
        yield lambda line: shown.update(task, description=escape(line))
