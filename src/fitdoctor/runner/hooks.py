"""Wraps the training methods of Keras once the user's program has imported it, and forwards their calls.

Keras is never imported from here: a finder on `sys.meta_path` waits for it.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType, TracebackType
from typing import Any, Protocol

Load = Callable[[ModuleType], None]
"""What executes a module: the `exec_module` of its loader."""

METHODS = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch")

HOMES = {
    "keras.src.models.model": "Model",
    "tf_keras.src.engine.training": "Model",
    "tf_keras.src.engine.training_v1": "Model",
    "keras.src.engine.training": "Model",
    "keras.engine.training": "Model",
}
"""The modules in which each version of Keras defines its model class, and the name of that class."""

STRATEGIES = {"tensorflow.python.distribute.collective_all_reduce_strategy": "CollectiveAllReduceStrategy"}
"""Where the multi-worker strategy is defined: creating it waits for all workers."""

_WRAPPED_IN = {
    **{module: (name, METHODS) for module, name in HOMES.items()},
    **{module: (name, ("__init__",)) for module, name in STRATEGIES.items()},
}
"""The classes and methods to wrap, by module."""

MAKERS = frozenset(
    {
        "tensorflow.python.data.ops.dataset_ops",
        "keras.src.callbacks.callback",
        "keras.src.losses.loss",
        "keras.src.metrics.metric",
        "keras.src.optimizers.base_optimizer",
        "tf_keras.src.callbacks",
        "tf_keras.src.optimizers.optimizer",
    }
)
"""Other modules whose classes should record where they are created."""

_RUNNER = os.path.dirname(os.path.abspath(__file__))
_OURS = (_RUNNER + os.sep, os.path.join(os.path.dirname(_RUNNER), "collect") + os.sep)
"""The folder of the code between the program and Keras."""


class Watcher(Protocol):
    """An object that sees the calls."""

    def call(
        self,
        original: Callable[..., Any],
        method: str,
        model: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Make the call, with checks before and after."""

    def imported(self, library: str) -> None:
        """Called when Keras has been imported."""

    def crashed(self, where: str, error: Exception) -> None:
        """Called when fitdoctor's own code has failed; the program is not affected."""


EVERYWHERE = 0
"""Instead of a thread: all threads."""

_lock = threading.RLock()
_watchers: tuple[tuple[Watcher, int], ...] = ()
"""The active watchers in the order of their start, each with its thread. Replaced, never changed: read without the lock."""
_wrapped: list[tuple[type, str, Any]] = []
"""(class, method, original) for everything that is wrapped."""
_origins: Any = None
"""Records where objects are created."""
_pid = 0


def activate(watcher: Watcher, everywhere: bool = False) -> None:
    """Let `watcher` see the calls from now on; of several, only the innermost one of the thread sees them.

    Args:
        watcher: the object that sees the calls.
        everywhere: for all threads; a watcher of a single thread takes precedence.
    """
    global _pid, _watchers
    with _lock:
        _watchers = (*_watchers, (watcher, EVERYWHERE if everywhere else threading.get_ident()))
        _pid = os.getpid()
        if not any(isinstance(finder, _Waiting) for finder in sys.meta_path):
            sys.meta_path.insert(0, _Waiting())
    for name in _WRAPPED_IN:
        if name in sys.modules:
            _wrap_module(sys.modules[name])
    _record_origins()


def deactivate(watcher: Watcher) -> None:
    """Remove `watcher`; without any watcher, Keras is restored."""
    global _watchers
    with _lock:
        _watchers = tuple(entry for entry in _watchers if entry[0] is not watcher)
        if not _watchers:
            _unwrap_all()
            if _origins is not None:
                _origins.stop()
            sys.meta_path[:] = [one for one in sys.meta_path if not isinstance(one, _Waiting)]


def watcher_of_this_thread() -> Watcher | None:
    """Return the innermost watcher of this thread, else the last one of any; None in forked processes."""
    watchers = _watchers
    if not watchers or os.getpid() != _pid:
        return None
    me = threading.get_ident()
    for wanted in (me, EVERYWHERE):
        for watcher, thread in reversed(watchers):
            if thread == wanted:
                return watcher
    # A thread that was started inside somebody's `watch()` block.
    return watchers[-1][0]


class _Waiting:
    """A finder that finds nothing itself: it arranges for a Keras module to be wrapped once it is loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in _WRAPPED_IN and name not in MAKERS:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec: ModuleSpec | None = find(name, path, target)
            if spec is not None:
                _wrap_after_loading(spec)
                return spec
        return None


def _wrap_after_loading(spec: ModuleSpec) -> None:
    def execute(module: ModuleType, load: Load) -> None:
        load(module)
        if module.__name__ in _WRAPPED_IN:
            _wrap_module(module)
        _record_origins()

    execute_with(execute, spec)


def execute_with(execute: Callable[[ModuleType, Load], None], spec: ModuleSpec) -> None:
    """Let `execute` run the module of this spec; it gets the function that really does.

    Only the loader object changes, and only until it has loaded: its type stays what the program may expect. Another hook
    may have wrapped the same loader before, or may wrap it afterwards.
    """
    loader: Any = spec.loader
    load: Load | None = getattr(loader, "exec_module", None)
    if load is None:
        return
    earlier = vars(loader).get("exec_module")

    def exec_module(module: ModuleType) -> None:
        if vars(loader).get("exec_module") is exec_module:
            if earlier is None:
                del loader.exec_module
            else:
                loader.exec_module = earlier
        try:
            execute(module, load)
        except BaseException as error:
            hide_our_frames_in(error)
            # A bare `raise` does not add this frame again.
            raise

    loader.exec_module = exec_module


def _wrap_module(module: ModuleType) -> None:
    name, methods = _WRAPPED_IN[module.__name__]
    model = getattr(module, name, None)
    if not isinstance(model, type):  # still being imported
        return
    fresh = False
    with _lock:
        for method in methods:
            owner = next((base for base in model.__mro__ if method in vars(base)), None)
            if owner is None or any(kept[:2] == (owner, method) for kept in _wrapped):
                continue
            original = vars(owner)[method]
            _wrapped.append((owner, method, original))
            setattr(owner, method, _wrapping(original, method))
            fresh = True
        watchers = [watcher for watcher, _ in _watchers]
    if fresh and module.__name__ in HOMES:
        for watcher in watchers:
            watcher.imported(module.__name__.partition(".")[0])


def _record_origins() -> None:
    """Record from now on where layers, datasets and other objects are created."""
    global _origins
    if not any(name in sys.modules for name in (*HOMES, *MAKERS)):
        return
    with _lock:
        try:
            if _origins is None:
                from fitdoctor.collect.origins import Recorder

                _origins = Recorder()
            _origins.start()
        # A border: this runs in the middle of the program's own imports.
        except Exception as error:
            for watcher, _ in _watchers:
                watcher.crashed("origins", error)


def _unwrap_all() -> None:
    for owner, method, original in reversed(_wrapped):
        setattr(owner, method, original)
    _wrapped.clear()


def _wrapping(original: Callable[..., Any], method: str) -> Callable[..., Any]:
    @functools.wraps(original)
    def wrapper(model: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            watcher = watcher_of_this_thread()
            if watcher is None:
                return original(model, *args, **kwargs)
            return watcher.call(original, method, model, args, kwargs)
        except BaseException as error:
            hide_our_frames_in(error)
            # A bare `raise` does not add this frame again: the traceback is the one of plain Python.
            raise

    return wrapper


def hide_our_frames_in(error: BaseException) -> None:
    """Remove the frames of our wrappers from an exception's traceback and those of its causes."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        each.__traceback__ = _without_our_frames(each.__traceback__)
        waiting += [each.__cause__, each.__context__]


def _without_our_frames(trace: TracebackType | None) -> TracebackType | None:
    kept: list[TracebackType] = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_OURS):
            kept.append(trace)
        trace = trace.tb_next
    following: TracebackType | None = None
    for one in reversed(kept):
        if one.tb_next is not following:
            one.tb_next = following
        following = one
    return following
