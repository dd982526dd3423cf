"""The progress bar of a scan: rows, rate and remaining time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from fitdoctor.quiet_start import terminal


class Bar:
    """A watcher that draws a progress bar and removes it at the end."""

    def __init__(self, show: Callable[[str], None] | None = None) -> None:
        """Draw a bar.

        Args:
            show: shows a text until the bar begins; called with "" then.
        """
        self._show = show
        self._progress: Any = None
        self._task: Any = None
        self._rows = 0
        self._drawn = 0.0

    def begin(self, name: str, rows: int | None) -> None:
        """Show a bar for a source."""
        if self._show is not None:
            self._show("")
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(show_speed=True),
            TextColumn("{task.completed:,.0f} rows, {task.fields[rate]} rows/s"),
            TimeRemainingColumn(),
            console=Console(file=terminal()),
            transient=True,
        )
        self._task = self._progress.add_task(name[:40], total=rows, rate="…")
        self._rows = 0
        self._began = time.monotonic()
        self._progress.start()

    def advance(self, rows: int) -> None:
        """Move the bar, at most twenty times a second."""
        self._rows += rows
        now = time.monotonic()
        if now - self._drawn > 0.05:
            self._drawn = now
            rate = self._rows / max(now - self._began, 1e-6)
            self._progress.update(self._task, completed=self._rows, rate=f"{rate:,.0f}")

    def end(self) -> None:
        """Remove the bar."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
