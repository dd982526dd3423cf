"""In a notebook: a cell that ends with an exception of training is explained below its traceback."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fitdoctor.failure.frames import is_framework
from fitdoctor.runner.will_fail import FitWillFail
from fitdoctor.source.running_notebook import shell

if TYPE_CHECKING:
    from fitdoctor.runner.watching import Watching

_EVENT = "post_run_cell"

_registered: list[tuple[Any, Callable[[Any], None]]] = []


def explain_cells(watching: Watching) -> bool:
    """Explain the cells that fail from now on; False where no notebook runs."""
    stop_explaining()
    running = shell()
    if running is None:
        return False

    def told(result: Any) -> None:
        error = getattr(result, "error_in_exec", None)
        if isinstance(error, Exception) and not isinstance(error, FitWillFail):
            watching.tell_failure(error, concerns_training)

    running.events.register(_EVENT, told)
    _registered.append((running.events, told))
    return True


def stop_explaining() -> None:
    """Let cells fail without a word."""
    while _registered:
        events, told = _registered.pop()
        events.unregister(_EVENT, told)


def concerns_training(error: BaseException) -> bool:
    """Whether an exception came from TensorFlow or Keras, or from the user's code under them."""
    trace = error.__traceback__
    while trace is not None:
        if is_framework(trace.tb_frame.f_code.co_filename):
            return True
        trace = trace.tb_next
    return False
