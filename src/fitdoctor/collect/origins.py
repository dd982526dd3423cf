"""Record where layers, models, datasets, callbacks and losses are created, and where they are compiled or frozen.

A `Recorder` wraps the constructors of libraries that are already imported. Its records are in a table keyed by object
identity and are dropped with the objects; nothing is stored on user objects.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

from fitdoctor.collect.sites import Site, site_at
from fitdoctor.failure.frames import is_library
from fitdoctor.source.schedules import POSITIONAL

Note = tuple[CodeType, int, int]
"""A code object, its instruction and line; the site is computed on demand."""

STAGE = "stage"
"""A stage of a pipeline is noted with its callers: where helpers make the stages, these decide on their order."""
CALLERS = ("caller 1", "caller 2", "caller 3")

_notes: dict[int, tuple[weakref.ref[Any], dict[str, Note]]] = {}
_library_paths: dict[str, bool] = {}


def recorded_site(thing: Any, what: str = "made") -> Site | None:
    """Return where an object was created or compiled, if recorded."""
    entry = _notes.get(id(thing))
    if entry is None or entry[0]() is not thing:
        return None
    note = entry[1].get(what)
    return None if note is None else site_at(*note)


def recorded_callers(thing: Any) -> list[Site]:
    """Return the calls that led to where a dataset was created, the nearest first."""
    return [site for what in CALLERS if (site := recorded_site(thing, what)) is not None]


def note(thing: Any, what: str = "made", frame: FrameType | None = None) -> FrameType | None:
    """Record that the nearest user frame created or compiled an object, and return it; the first record wins."""
    found = _user_frame(frame if frame is not None else sys._getframe(1), thing)
    if found is None:
        return None
    entry = _notes.get(id(thing))
    if entry is None or entry[0]() is not thing:
        key = id(thing)
        try:
            reference = weakref.ref(thing, lambda _dead: _notes.pop(key, None))
        except TypeError:
            return None
        entry = _notes[key] = (reference, {})
    if what == "made" and what in entry[1]:
        return None
    entry[1][what] = (found.f_code, found.f_lasti, found.f_lineno)
    return found


def _user_frame(frame: FrameType | None, thing: Any) -> FrameType | None:
    for _ in range(200):
        if frame is None:
            return None
        path = frame.f_code.co_filename
        known = _library_paths.get(path)
        if known is None:
            known = _library_paths[path] = is_library(path)
        if not known and not _is_own_constructor(frame, thing):
            return frame
        frame = frame.f_back
    return None


def _is_own_constructor(frame: FrameType, thing: Any) -> bool:
    """Whether the frame is `super().__init__()` of a user class, which is not where the object is created."""
    code = frame.f_code
    if code.co_name not in ("__init__", "__new__") or not code.co_varnames:
        return False
    return frame.f_locals.get(code.co_varnames[0]) is thing


class Recorder:
    """Wraps constructors while active; call `start` again after more libraries are imported."""

    def __init__(self) -> None:
        self._wrapped: list[tuple[type, str, Any]] = []

    def start(self) -> None:
        """Wrap constructors that are imported and not wrapped yet."""
        for owner, name, what in _targets():
            if name not in vars(owner):
                continue
            original = vars(owner)[name]
            inner = _function_of(original)
            if getattr(inner, "_fitdoctor_original", None) is not None or not callable(inner):
                continue
            wrapper: Any = _wrap_new(inner) if name == "__new__" else _wrap(inner, what)
            if isinstance(original, staticmethod):
                wrapper = staticmethod(wrapper)
            elif isinstance(original, property):
                wrapper = original.setter(wrapper)
            self._wrapped.append((owner, name, original))
            setattr(owner, name, wrapper)

    def stop(self) -> None:
        """Restore the originals unless something else has wrapped them since."""
        while self._wrapped:
            owner, name, original = self._wrapped.pop()
            if getattr(_function_of(vars(owner).get(name)), "_fitdoctor_original", None) is not None:
                setattr(owner, name, original)

    def __enter__(self) -> Recorder:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()


def _function_of(attribute: Any) -> Any:
    """Return the function behind an attribute of a class; of a property, the one that sets it."""
    if isinstance(attribute, property):
        return attribute.fset
    return attribute.__func__ if isinstance(attribute, staticmethod) else attribute


def _wrap(function: Callable[..., Any], what: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = note(self, "made" if what == STAGE else what, sys._getframe(1))
        for caller in CALLERS if what == STAGE else ():
            found = note(self, caller, found.f_back) if found is not None else None
        return function(self, *args, **kwargs)

    wrapper._fitdoctor_original = function  # type: ignore[attr-defined]
    return wrapper


def _wrap_new(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(cls: Any, *args: Any, **kwargs: Any) -> Any:
        made = function(cls, *args, **kwargs)
        note(made, "made", sys._getframe(1))
        return made

    wrapper._fitdoctor_original = function  # type: ignore[attr-defined]
    return wrapper


_CLASSES = (
    ("keras.src.layers.layer", "Layer", "__new__", "made"),
    ("keras.src.layers.layer", "Layer", "trainable", "trainable"),
    ("keras.src.trainers.trainer", "Trainer", "compile", "compile"),
    ("keras.src.callbacks.callback", "Callback", "__init__", "made"),
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer", "__init__", "made"),
    ("keras.src.losses.loss", "Loss", "__init__", "made"),
    ("keras.src.metrics.metric", "Metric", "__init__", "made"),
    *(
        ("keras.src.optimizers.schedules.learning_rate_schedule", name, "__init__", "made")
        for name in POSITIONAL
    ),
    ("tensorflow.python.data.ops.dataset_ops", "DatasetV2", "__init__", STAGE),
    ("tf_keras.src.engine.base_layer", "Layer", "__init__", "made"),
    ("tf_keras.src.engine.base_layer", "Layer", "trainable", "trainable"),
    ("tf_keras.src.engine.training", "Model", "compile", "compile"),
    ("tf_keras.src.callbacks", "Callback", "__init__", "made"),
    ("tf_keras.src.optimizers.optimizer", "_BaseOptimizer", "__init__", "made"),
)


def _targets() -> Iterator[tuple[type, str, str]]:
    for module, name, method, what in _CLASSES:
        owner = getattr(sys.modules.get(module), name, None)
        if isinstance(owner, type):
            yield owner, method, what
