"""`fitdoctor.Doctor()`: a callback that checks the call of fit it is given to, before its first step, and looks back after.

Keras calls its callbacks when fit is under way: what fails before that, or ends it with an exception, is for `watch()`.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterable
from types import FrameType
from typing import TYPE_CHECKING, Any

from fitdoctor.optional_packages import require
from fitdoctor.runner import hooks
from fitdoctor.runner.programs import user_frame

if TYPE_CHECKING:
    from fitdoctor.api import OnError
    from fitdoctor.runner.fit_interceptor import Looked, Watching


def Doctor(*, ignore: Iterable[str] = (), select: Iterable[str] = (), on_error: OnError = "raise") -> Any:
    """Make a callback for `model.fit(…, callbacks=[fitdoctor.Doctor()])`, of the Keras that the program uses.

    Args:
        ignore: ids (or beginnings of ids) of causes to leave out.
        select: ids of the causes to judge by; all by default.
        on_error: `raise`, or `warn` to print a certain error and go on.
    """
    from fitdoctor.api import watching

    return _class_for(_keras())(watching(select, ignore, on_error))


def _keras() -> str:
    from fitdoctor.collect.environment import wants_legacy_keras

    legacy = wants_legacy_keras()
    if "keras" in sys.modules and not legacy:
        return "keras"
    return "tf_keras" if legacy or "tf_keras" in sys.modules else "keras"


@functools.cache
def _class_for(keras: str) -> type[Any]:
    base = require(f"{keras}.callbacks", "`Doctor`").Callback
    return type("Doctor", (_Doctor, base), {"__doc__": Doctor.__doc__})


class _Doctor:
    """What the callback does, whichever Keras it is of."""

    model: Any
    # Keras 2 asks these; and a callback of one Keras may be given to the other.
    _supports_tf_logs = True

    def __init__(self, watching: Watching) -> None:
        super().__init__()
        self._watching = watching
        self._looked: Looked | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        """Look at the call that has begun, unless somebody watches the program anyway."""
        self._looked = None
        frame = _frame_of_fit(self.model)
        if frame is not None and hooks.watcher_of_this_thread() is None:
            given, user = _arguments(frame), user_frame(frame)
            positional, direct = _passed(frame, user)
            self._looked = self._watching.look(
                "fit", self.model, (), given, user, positional=positional, direct=direct
            )

    def on_train_end(self, logs: Any = None) -> None:
        """Look at how it went."""
        if self._looked is not None:
            self._watching.trained(self.model, self.model.history, self._looked, None)
            self._looked = None

    def _implements_train_batch_hooks(self) -> bool:
        return False

    _implements_test_batch_hooks = _implements_predict_batch_hooks = _implements_train_batch_hooks


def _frame_of_fit(model: Any) -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "fit" and frame.f_locals.get("self") is model:
            return frame
        frame = frame.f_back
    return None


def _passed(fit: FrameType, user: FrameType | None) -> tuple[int | None, bool]:
    """How many arguments fit got by position, and whether the user's frame called it itself.

    Keras wraps fit to shorten tracebacks; the wrapper's frame still holds the arguments as they were passed.
    """
    positional = None
    frame = fit.f_back
    while frame is not None and frame is not user:
        if not frame.f_code.co_filename.endswith("traceback_utils.py"):
            return None, False
        args = frame.f_locals.get("args")
        if isinstance(args, tuple):
            positional = max(len(args) - 1, 0)
        frame = frame.f_back
    return positional, positional is not None


def _arguments(frame: FrameType) -> dict[str, Any]:
    """What fit was given, as it stands now: what it was to split off for validation, Keras has taken off already."""
    code, values = frame.f_code, frame.f_locals
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    given = {name: values[name] for name in names if name in values}
    if given.pop("validation_split", None):
        given.pop("validation_data", None)
    callbacks = given.get("callbacks")
    given["callbacks"] = list(getattr(callbacks, "callbacks", ()))
    # Keras reads from them already.
    return {name: value for name, value in given.items() if not inspect.isgenerator(value)}
