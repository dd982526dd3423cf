"""The progress bar of `lint`: on a terminal only, and only when reading takes longer than a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_PATIENCE = 1.0
"""Seconds before there is a bar: most projects are done by then."""
_PAUSE = 0.1


@contextmanager
def progress(label: str, total: int, done: Callable[[], int]) -> Iterator[None]:
    """Show how far the work in the block has come.

    Args:
        label: what is being done.
        total: how many pieces of work there are.
        done: returns how many are done; called from another thread.
    """
    if not sys.stderr.isatty():
        yield
        return
    ended = threading.Event()
    bar = threading.Thread(target=_draw, args=(label, total, done, ended), daemon=True)
    bar.start()
    try:
        yield
    finally:
        ended.set()
        bar.join()


def _draw(label: str, total: int, done: Callable[[], int], ended: threading.Event) -> None:
    if ended.wait(_PATIENCE):
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as shown:
        task = shown.add_task(label, total=total)
        while not ended.wait(_PAUSE):
            shown.update(task, completed=done())
