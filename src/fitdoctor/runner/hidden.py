"""Keeps fitdoctor's own frames out of the stacks that TensorFlow prints in its error messages."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

_RUNNER = Path(__file__).parent
_FILES = frozenset(
    {
        *(
            str(_RUNNER / name)
            for name in (
                "bootstrap.py",
                "hooks.py",
                "fit_interceptor.py",
                "joining.py",
                "notebook_program.py",
            )
        ),
        str(_RUNNER.parent / "collect" / "origins.py"),
    }
)

_done = threading.local()


def hide_our_frames() -> None:
    """Register our files with TensorFlow's stack filter for this thread.

    TensorFlow keeps one stack of filters per thread. Ours replaces the empty one at its bottom: a filter on top would be
    popped instead of another one when that one ends.
    """
    if getattr(_done, "yes", False):
        return
    library: Any = sys.modules.get("tensorflow.python.util.tf_stack")
    if library is None:
        return
    _done.yes = True
    try:
        filters = library._source_filter_stacks[threading.get_ident()]
        if type(filters[0]) is library.SentinelFilter:
            ours = _filter(library)
            ours.update()
            filters[0] = ours
    # Internals of TensorFlow: where they are different, its messages name two files more, and that is all.
    except (AttributeError, TypeError, IndexError, NotImplementedError):
        return


def _filter(library: Any) -> Any:
    def get_filtered_filenames(self: Any) -> frozenset[str]:
        return _FILES

    made = type("OurFrames", (library.StackTraceFilter,), {"get_filtered_filenames": get_filtered_filenames})
    return made()
