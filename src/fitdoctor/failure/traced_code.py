"""Failures of traced code: whether a line ran while TensorFlow traced it, and which messages say so."""

from __future__ import annotations

import itertools
import re

from fitdoctor.facts import FailureFacts, Frame
from fitdoctor.failure.failed_line import function_at, module_of
from fitdoctor.source.project import Project

_NUMPY_OF_TENSORFLOW = re.compile(r"\b(?:np|numpy|onp)\.\w+\([^\n]*\b(?:tf|K|keras|tfp)\.\w+")


def raised_in_trace(failure: FailureFacts, project: Project) -> bool:
    """Return whether the user's failing line ran during tracing rather than eagerly."""
    frame = failure.last_user_frame
    if frame is None:
        return True
    # In Keras 2, AutoGraph runs all of `fit`, so the user's line may be the `fit` call.
    if failure.dialect == "autograph" and _called_by_framework(failure):
        return True
    # A layer that rejects its input names itself; the user's line outside only started it.
    if failure.layer_class and _called_by_framework(failure):
        return True
    module = module_of(project, frame)
    if module is not None:
        function = function_at(module, frame.line, frame.cell)
        if function is None:
            return False
        if function.traced is not None and not function.traced.eager:
            return True
        if function.owner is not None and function.owner.kind == "Callback":
            return False
    if failure.from_text and _NUMPY_OF_TENSORFLOW.search(frame.text):
        # A tensor created on this very line is symbolic and has not leaked.
        return True
    if frame.function == "<module>" or frame.function.startswith("on_"):
        return False
    if frame.function in ("call", "train_step", "test_step", "predict_step"):
        return True
    return _called_by_framework(failure)


def _called_by_framework(failure: FailureFacts) -> bool:
    """Return whether TensorFlow or Keras called the user's function that raised."""
    from fitdoctor.failure.called import called_in
    from fitdoctor.failure.frames import is_framework

    last = max(index for index, frame in enumerate(failure.frames) if not frame.library)
    before = failure.frames[:last]
    if any(frame.library and is_framework(frame.path) for frame in before):
        return True
    # Notebooks hide framework frames and pasted text is often cut, so use the line that called it.
    if not failure.from_text:
        return False
    users = failure.user_frames
    whole = any(frame.function.startswith(("<module", "<cell")) for frame in users[:-1])
    return not whole or any(
        called_in(frame) in _TRACING and called_in(frame) != entered.function
        for frame, entered in itertools.pairwise(users)
    )


_TRACING = (
    "fit",
    "evaluate",
    "predict",
    "map",
    "train_on_batch",
    "test_on_batch",
    "predict_on_batch",
    "filter",
)


def library_behind(failure: FailureFacts) -> tuple[Frame, ...]:
    """Return the library frames below the user's innermost line."""
    last = max((index for index, frame in enumerate(failure.frames) if not frame.library), default=-1)
    return failure.frames[last + 1 :]


def made_line(failure: FailureFacts) -> Frame | None:
    """Return the user's line that created the out-of-scope tensor."""
    users = [frame for frame in failure.made_at if not frame.library]
    return users[-1] if users else None


# --- messages -----------------------------------------------------------------------------------------------------

LIBRARIES = ("sklearn.", "scipy.", "cv2.", "pandas.", "skimage.", "librosa.", "PIL.", "statistics.", "torch.")
"""Modules of Python functions that do not accept tensors."""
CASTS = frozenset({"float", "int"})
ARRAY_METHODS = frozenset(
    "numpy item tolist reshape astype flatten ravel mean sum max min std var argmax argmin copy clip "
    "transpose squeeze round dot any all cumsum prod fill sort nonzero repeat swapaxes tobytes".split()
)
"""Array methods that a symbolic tensor does not have."""
VALUE_METHODS = ARRAY_METHODS | frozenset(
    "split decode encode lower upper strip lstrip rstrip startswith endswith replace find join isdigit "
    "T size cpu detach append".split()
)
"""The same for methods of strings, lists and tensors of other libraries, which all need a value."""
_WANTS_A_VALUE = re.compile(
    r"(?i)Cannot convert a symbolic (?:tf\.)?Tensor|"
    r"(?:must be|should be|expected|required)[^\n]{0,100} not '?(?:Symbolic|Keras)?Tensor|"
    r"'(?:Symbolic)?Tensor' object cannot be interpreted as an integer|"
    r"len is not well defined for a symbolic Tensor|"
    r"Object of type (?:Symbolic)?Tensor is not JSON serializable|"
    r"conversion from (?:Symbolic)?Tensor to |cannot convert '(?:Symbolic)?Tensor' object to |"
    r"Could not convert <tf\.Tensor [^>]{0,300}> to a NumPy dtype|"
    r"need a bytes-like object, (?:Symbolic)?Tensor found|sequence by non-int of type '(?:Symbolic)?Tensor'|"
    r"unsupported format string passed to (?:Symbolic)?Tensor|"
    r"numpy\(\) is only available when eager execution is enabled|"
    r"expected a sequence of integers or a single integer, got '<tf\.Tensor|"
    r"Expected sequence or array-like, got <class '[\w.]*Tensor'>|"
    r"complex\(\) first argument must be [^\n]{0,60}Tensor'"
)


SIZE_OF_INPUT = re.compile(
    r"Cannot convert a symbolic (?:tf\.)?Tensor \((?P<path>(?:[\w.-]+/)*)strided_slice\w*:0\) to a numpy array"
)
_RECURRENT = re.compile(r"(?i)lstm|gru|rnn|bidirectional|recurrent")


def is_size_in_recurrent_layer(failure: FailureFacts) -> bool:
    """Return whether a recurrent layer itself failed to read the size of its input, not the program's own NumPy call."""
    size, frame = SIZE_OF_INPUT.search(failure.message), failure.last_user_frame
    line = frame.text if frame is not None else ""
    return (
        size is not None
        and bool(_RECURRENT.search(size["path"] + line))
        and not re.search(r"\bnp\.|numpy", line)
    )


def wants_a_value(failure: FailureFacts) -> bool:
    """Return whether a message says that something needed the value of a symbolic tensor."""
    message = failure.message
    if is_size_in_recurrent_layer(failure):
        return False  # FIT901
    if _WANTS_A_VALUE.search(message):
        return True
    from fitdoctor.failure.patterns import attribute_missing

    missing = attribute_missing(message)
    if missing is None:
        missing_name = _NO_ATTRIBUTE.search(message)
        return missing_name is not None and missing_name["name"] in VALUE_METHODS
    return missing.owner in ("SymbolicTensor", "Tensor") and missing.name in VALUE_METHODS


_NO_ATTRIBUTE = re.compile(r"(?:Symbolic)?Tensor object has no attribute '(?P<name>\w+)'")


def is_out_of_scope(failure: FailureFacts) -> bool:
    """Return whether TensorFlow reports that a tensor belongs to another graph."""
    return (
        failure.type == "InaccessibleTensorError"
        or "is out of scope" in failure.message
        or failure.message.startswith(_OLD_LEAK)
    )


_OLD_LEAK = "An op outside of the function building code is being passed"
"""TensorFlow's message up to 2.6 when eager code got a graph tensor."""
