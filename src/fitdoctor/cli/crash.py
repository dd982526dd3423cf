"""Report an internal error of fitdoctor: one sentence, the versions and the path of a log."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from datetime import UTC, datetime
from importlib import metadata

from fitdoctor import __version__

_PACKAGES = ("tensorflow", "tensorflow-cpu", "keras", "tf_keras", "numpy", "rich")


def report_crash(error: BaseException, words: list[str]) -> int:
    """Write the log, print the message, and return the exit status of an internal error."""
    first = str(error).strip().split("\n")[0]
    print(f"fitdoctor: internal error: {type(error).__name__}: {first}", file=sys.stderr)
    print(f"  {_versions()}", file=sys.stderr)
    try:
        path = _write_log(error, words)
    except OSError as refused:
        print(f"  the log could not be written: {refused}", file=sys.stderr)
    else:
        print(f"  please report this bug and attach the log: {path}", file=sys.stderr)
    return 2


def _write_log(error: BaseException, words: list[str]) -> str:
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    handle, path = tempfile.mkstemp(prefix=f"fitdoctor-{stamp}-", suffix=".log")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as log:
        log.write(f"{_versions()}\ncommand: fitdoctor {' '.join(words)}\n\n")
        log.write("".join(traceback.format_exception(error)))
    return path


def _versions() -> str:
    parts = [f"fitdoctor {__version__}", f"Python {platform.python_version()}"]
    for package in _PACKAGES:
        try:
            parts.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    return f"{', '.join(parts)} on {platform.system()}"
