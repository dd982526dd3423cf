"""Shows what a slow command is doing: a spinner on a terminal, nothing anywhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fitdoctor.quiet_start import terminal


@contextmanager
def status(text: str) -> Iterator[Callable[[str], None]]:
    """Show `text` beside a spinner until the block ends.

    Yields:
        A function that replaces the text; an empty text removes the spinner for good.
    """
    stream = terminal()
    if not stream.isatty():
        yield _nothing
        return
    from rich.console import Console
    from rich.text import Text

    with Console(file=stream).status(Text(text)) as shown:

        def update(text: str) -> None:
            if text:
                shown.update(Text(text))
            else:
                shown.stop()

        yield update


def _nothing(text: str) -> None:
    """Show nothing."""
