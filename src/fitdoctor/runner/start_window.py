"""In the child of `run`: routes standard error through the parent while TensorFlow starts, and only then.

At all other times the program has its own descriptor, so that a terminal is still a terminal.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec
from types import ModuleType, TracebackType
from typing import Any

from fitdoctor.quiet_start import END, wanted
from fitdoctor.runner.hooks import Load, execute_with, hide_our_frames_in

FRAMEWORKS = frozenset({"tensorflow", "keras", "tf_keras"})
CONTEXT = "tensorflow.python.eager.context"
INITIALIZERS = ("ensure_initialized", "_initialize_physical_devices")
"""Methods of TensorFlow's context that search for devices when first called."""


def quiet_tensorflow(writer: int, replies: int) -> None:
    """Drop TensorFlow's messages while it is imported and while it searches for devices.

    Args:
        writer: the pipe to the parent.
        replies: the pipe on which the parent confirms that it has read everything.
    """
    for descriptor in (writer, replies):
        os.set_inheritable(descriptor, False)
    sys.meta_path.insert(0, _Finder(_Window(writer, replies)))


class _Window:
    """The period in which standard error goes to the parent; may be entered again while it is open."""

    def __init__(self, writer: int, replies: int) -> None:
        self._writer = writer
        self._replies = replies
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._depth = 0
        self._kept = -1

    def __enter__(self) -> None:
        with self._lock:
            self._depth += 1
            if self._depth > 1 or os.getpid() != self._pid or not wanted():
                return
            with suppress(OSError):  # the program has closed its standard error
                _flush()
                kept = os.dup(2)
                os.dup2(self._writer, 2)
                self._kept = kept

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth or self._kept < 0:
                return
            _flush()
            os.dup2(self._kept, 2)
            os.close(self._kept)
            self._kept = -1
            if os.getpid() == self._pid:
                with suppress(OSError):
                    os.write(self._writer, END + b"\n")
                    os.read(self._replies, 1)


def _flush() -> None:
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.flush()


class _Finder:
    """Finds nothing itself: it opens the window while the frameworks are loaded."""

    def __init__(self, window: _Window) -> None:
        self._window = window

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in FRAMEWORKS and name != CONTEXT:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec: ModuleSpec | None = find(name, path, target)
            if spec is not None:
                self._prepare(spec)
                return spec
        return None

    def _prepare(self, spec: ModuleSpec) -> None:
        def execute(module: ModuleType, load: Load) -> None:
            if spec.name == CONTEXT:
                load(module)
                _quiet_once(module, self._window)
            else:
                with self._window:
                    load(module)

        execute_with(execute, spec)


def _quiet_once(module: ModuleType, window: _Window) -> None:
    """Open the window during the first search for devices, then restore the class."""
    context: Any = getattr(module, "Context", None)
    for name in INITIALIZERS:
        original = getattr(context, "__dict__", {}).get(name)
        if original is not None:
            setattr(context, name, _first_call(context, name, original, window))


def _first_call(owner: Any, name: str, original: Callable[..., Any], window: _Window) -> Callable[..., Any]:
    @functools.wraps(original)
    def first(*args: Any, **kwargs: Any) -> Any:
        setattr(owner, name, original)
        try:
            with window:
                return original(*args, **kwargs)
        except BaseException as error:
            hide_our_frames_in(error)
            raise

    return first
