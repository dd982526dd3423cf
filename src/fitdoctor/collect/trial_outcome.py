"""The outcome of a trial: shapes, or the failure that fit would raise, with its layer and line."""

from __future__ import annotations

import traceback
import types
from typing import Any

from fitdoctor.collect.scratch import NotTriable
from fitdoctor.diagnosis import Location
from fitdoctor.facts import FailureSummary, Outcome, Spec, Unknown

Frames = list[tuple[types.FrameType, int]]


def specs_of(value: Any, path: str = "") -> tuple[Spec, ...]:
    """Return shapes and dtypes of the tensors of a structure."""
    if value is None:
        return ()
    if isinstance(value, dict):
        return tuple(spec for key, item in value.items() for spec in specs_of(item, str(key)))
    if isinstance(value, (list, tuple)):
        return tuple(
            spec for index, item in enumerate(value) for spec in specs_of(item, f"{path or ''}{index}")
        )
    shape = getattr(value, "shape", None)
    if shape is None:
        return ()
    try:
        known = tuple(None if size is None else int(size) for size in shape)
    except (TypeError, ValueError):
        return (Spec(Unknown("unknown rank"), dtype_of(value), path),)
    return (Spec(known, dtype_of(value), path),)


def dtype_of(value: Any) -> str:
    """Return the dtype name of a tensor."""
    dtype = getattr(value, "dtype", "")
    return str(getattr(dtype, "name", dtype))


def failed(error: Exception, *, eager: bool, distributed: bool) -> Outcome | Unknown:
    """Return the failure as fit would raise it, Unknown if the scratch graph may be the reason.

    Args:
        error: what the trial raised.
        eager: whether the model runs eagerly, unlike the trial.
        distributed: whether it was created under a `tf.distribute` strategy.
    """
    frames = frames_of(error)
    reason = _doubt(error, frames, eager, distributed)
    if reason:
        return Unknown(reason)
    from fitdoctor.failure.living import message_of
    from fitdoctor.failure.messages import read_message

    layer, inputs = _failing_layer(frames)
    return Outcome(
        failure=FailureSummary(
            type(error).__name__,
            read_message(message_of(error)).text,
            layer=str(getattr(layer, "name", "")) if layer is not None else "",
            layer_class=type(layer).__name__ if layer is not None else "",
            inputs=inputs,
            place=_place(error, frames),
        )
    )


def frames_of(error: BaseException) -> Frames:
    """Return the frames down to the error; AutoGraph raises a new exception when it leaves user code."""
    found = list(traceback.walk_tb(error.__traceback__))
    inner = error.__context__
    return [*found, *frames_of(inner)] if hasattr(inner, "ag_error_metadata") and inner is not None else found


def _doubt(error: Exception, frames: Frames, eager: bool, distributed: bool) -> str:
    refusal = _refusal(error)
    if refusal is not None:
        return str(refusal)
    if eager:
        return "the model runs eagerly, but the trial is traced"
    if "stateless scope" in str(error) or "larger than 2GB" in str(error):
        return "the scope of the trial does not allow it"
    if frames and str(frames[-1][0].f_globals.get("__name__", "")).startswith("fitdoctor.collect."):
        return "the trial does not support this version of Keras"
    building = False
    for frame, _line in frames:
        path = frame.f_code.co_filename
        name = frame.f_code.co_name
        if distributed and "/tensorflow/python/distribute/" in path.replace("\\", "/"):
            return "the distribution strategy is involved"
        if path.endswith("polymorphic_function.py") and name == "__call__":
            return "a custom tf.function is involved"
        # A variable without a value can be used in computations here, but not read.
        if path.endswith(("common/variables.py", "tensorflow/core.py")) and name in ("numpy", "__array__"):
            return "the value of a variable is read while the model is called"
        building = building or name == "_maybe_build"
        if building and path.endswith("resource_variable_ops.py"):
            return "a variable is used while its layer is built, which Keras 2 does outside the graph"
    return ""


def _refusal(error: BaseException | None) -> NotTriable | None:
    """Return the `NotTriable` behind an exception, else None."""
    for _ in range(10):
        if error is None or isinstance(error, NotTriable):
            return error
        error = error.__cause__ or error.__context__
    return None


def _failing_layer(frames: Frames) -> tuple[Any, tuple[Spec, ...]]:
    """Return the innermost layer being called and its inputs."""
    for frame, _line in reversed(frames):
        if frame.f_code.co_name != "__call__":
            continue
        names = frame.f_locals
        if frame.f_code.co_filename.endswith("layers/layer.py"):
            return names.get("self"), specs_of(names.get("original_args", names.get("args", ())))
        if frame.f_code.co_filename.endswith("engine/base_layer.py"):
            return names.get("self"), specs_of(names.get("inputs", names.get("args", ())))
    return None, ()


def _place(error: Exception, frames: Frames) -> Location | None:
    """Return the innermost user line; AutoGraph maps its generated lines to user lines."""
    from fitdoctor.failure.frames import frame_of, is_library

    places = [(frame.f_code.co_filename, line) for frame, line in reversed(frames)]
    inner: BaseException = error
    while inner.__context__ is not None and hasattr(inner.__context__, "ag_error_metadata"):
        inner = inner.__context__
    converted = getattr(getattr(inner, "ag_error_metadata", None), "translated_stack", ())
    for path, line in [*((info.filename, info.lineno) for info in converted), *places]:
        if not is_library(path):
            return frame_of(path, line, "").location
    return None
