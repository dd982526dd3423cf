"""`lint --watch`: check again whenever one of the files changes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence

from fitdoctor.cli import UsageError
from fitdoctor.cli.discover import Found

_PAUSE = 0.4
"""Seconds between two looks at the files."""


def watch(files: Callable[[], Sequence[Found]], check: Callable[[], int]) -> int:
    """Check, then wait for a change and check again, until Ctrl-C.

    Args:
        files: finds the files; called before every check, so that new files are included.
        check: checks them, prints, and returns an exit status.

    Returns:
        The status of the last check.
    """
    status = 0
    seen: object = None
    try:
        while True:
            now = _stamps(files)
            if now != seen:
                seen = now
                if sys.stdout.isatty():
                    print("\x1b[2J\x1b[H", end="")
                try:
                    status = check()
                except UsageError as error:
                    # A configuration that is being edited may be broken for a moment.
                    print(f"fitdoctor: {error}", file=sys.stderr)
                    status = 2
                sys.stdout.flush()
                print(
                    f"fitdoctor: {time.strftime('%H:%M:%S')}, watching for changes; Ctrl-C ends",
                    file=sys.stderr,
                )
            time.sleep(_PAUSE)
    except KeyboardInterrupt:
        return status


def _stamps(files: Callable[[], Sequence[Found]]) -> dict[str, object]:
    """The time and size of every file, with the settings that apply to it."""
    try:
        found = files()
    except UsageError as error:
        return {"": str(error)}
    stamps: dict[str, object] = {}
    for each in found:
        try:
            stat = os.stat(each.path)
            stamps[each.path] = (stat.st_mtime_ns, stat.st_size, each.config)
        except OSError:
            stamps[each.path] = None
    return stamps
