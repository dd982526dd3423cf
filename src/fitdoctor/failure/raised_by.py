"""Says which library, or part of the program, raised a failure that is not about training."""

from __future__ import annotations

from fitdoctor.facts import FailureFacts, Frame
from fitdoctor.failure.frames import is_framework
from fitdoctor.patterns import pattern

_PACKAGE = pattern(r"(?:^|/)(?:site|dist)-packages/(?P<name>[\w.]+?)(?:\.py)?(?:/|$)")
_STANDARD = pattern(r"(?:^|/)lib(?:64)?/(?:python[\d.]+/)?(?P<name>\w+)(?:\.py|/)")
_TITLES = {
    "sklearn": "scikit-learn", "cv2": "OpenCV", "PIL": "Pillow", "skimage": "scikit-image", "torch": "PyTorch",
    "numpy": "NumPy", "scipy": "SciPy", "matplotlib": "Matplotlib", "h5py": "h5py", "xgboost": "XGBoost",
    "np": "NumPy", "pd": "pandas", "plt": "Matplotlib", "sns": "Seaborn",
}  # fmt: skip
_DOWNLOADS = frozenset({"urllib", "http", "ssl", "socket", "requests", "urllib3"})

_WORDS = (
    (pattern(r"^OpenCV\("), "raised by OpenCV, not by training"),
    (pattern(r"\bpytorch\b|/torch/|\bstate_dict\b|CUDA out of memory|\btorch\."
             r"|mat1 and mat2 shapes|Expected all tensors to be on the same device|The size of tensor a \(\d+\) must match"
             r"|Expected input batch_size|CUDA error: device-side assert"),
     "raised by PyTorch, not by Keras or TensorFlow"),
    (pattern(r"CERTIFICATE_VERIFY_FAILED|<urlopen error|URL fetch failure|HTTP Error \d+|Max retries exceeded"),
     "a download failed; training did not begin"),
    (pattern(r"Model-building function did not return a valid Keras Model|Unknown parameter: "), "raised by Keras Tuner"),
    (pattern(r"Apply node that caused the error|theano\."), "raised by Theano, an old backend of Keras"),
    (pattern(r"operands could not be broadcast together with shapes|shapes \(.{0,60}\) not aligned: "
             r"|The truth value of an array with more than one element is ambiguous"
             r"|all the input array dimensions|could not broadcast input array"),
     "raised by NumPy, not by training"),
    (pattern(r"x and y must have same first dimension|is not a valid value for (?:ls|cmap)"),
     "raised by Matplotlib, not by training"),
    (pattern(r"Expected 2D array, got 1D array|Input (?:X |y )?contains NaN|inconsistent numbers of samples"
             r"|instance is not fitted yet|Number of features of the model must match"
             r"|Classification metrics can't handle|n_splits=\d+ cannot"
             r"|The '\w+' parameter of \w+ must be"),
     "raised by scikit-learn, not by training"),
    (pattern(r"'(?:DataFrame|Series|Index)' object has no attribute|not in index|None of \[.{0,200} are in the"
             r"|Invalid file path or buffer object type|Length of values \(?\d+|You are trying to merge on"
             r"|cannot reindex|Unable to parse string"
             r"|The truth value of a (?:DataFrame|Series) is ambiguous|Shape of passed values is"),
     "raised by pandas, not by training"),
)  # fmt: skip
_OWN = frozenset(
    {"tensorflow", "keras", "tf_keras", "builtins", "tf", "errors_impl", "errors", "core", "exceptions"}
)
"""Packages whose exceptions may be about training, and parts of their names as people shorten them."""
_LIBRARY = pattern(r"\.so\b|\.dll\b|\.dylib\b")
_FILES = pattern(
    r"Unable to (?:synchronously )?(?:open|create) file|Failed to find any matching files|[Nn]o such file or directory"
    r"|No file or directory found at|File system scheme"
    r"|Transport endpoint is not connected|[Ii]s (?:not )?a directory"
    r"|SavedModel file does not exist|Cannot create group in read.only mode"
)
_IN_WORKER = pattern(r"(?:^|/)(?:multiprocessing/pool|concurrent/futures/(?:_base|process))\.py$")
_PLAIN_PYTHON = pattern(
    r"^'(?:NoneType|int|float|str|list|dict|tuple|set|bool|function|method|type|generator|map|zip|range)' object "
    r"(?:is not|has no|does not|cannot)|^(?:list|tuple|string) index out of range$|^invalid literal for int\(\)"
    r"|^unsupported operand type\(s\) for|^division by zero$|^(?:can only concatenate|must be str|can't multiply)"
    r"|^only integer scalar arrays can be converted|^too many indices for array"
    r"|^'(?:module|NoneType)' object is not callable"
)
"""What Python itself says of a line, as far as no tensor takes part."""
_TYPES = {
    "FileNotFoundError": "a file or folder that the program reads does not exist; this is not a failure of training",
    "NotADirectoryError": "a path that the program reads is not a folder; this is not a failure of training",
    "PermissionError": "the program may not read or write a file; this is not a failure of training",
    "NameError": "the program uses a name that it has not defined; this is not a failure of training",
    "UnboundLocalError": "the program reads a local name before it sets it; this is not a failure of training",
    "RecursionError": "a function calls itself, or an object contains itself, without end; this is not about the data",
    "SyntaxError": "Python cannot parse the program; nothing was run",
    "IndentationError": "Python cannot parse the program; nothing was run",
    "TabError": "Python cannot parse the program; nothing was run",
    "SIGABRT": "TensorFlow or a library of it aborted the process; the lines before this one say where",
    "KeyboardInterrupt": "the program was interrupted; nothing failed",
    "SystemExit": "the program ended itself; nothing failed",
    "URLError": "a download failed; training did not begin",
    "HTTPError": "a download failed; training did not begin",
    "ConnectionError": "a connection failed; training did not begin",
    "SSLError": "a download failed; training did not begin",
    "UnidentifiedImageError": "raised by Pillow: a file is not an image that it can read",
    "JSONDecodeError": "raised by the json module: a file is not valid JSON",
}
_CALLED = pattern(r"\b(?P<name>cv2|np|numpy|pd|pandas|plt|sns|torch)\.\w+")
_OWN_CALL = pattern(r"\b(?:tf|keras|K|model|layers|tensorflow)\b|\.(?:fit|predict|evaluate|compile)\(")
_FRAMEWORK = pattern(r"tensorflow|keras|Tensor\b|\btf\.")
_OF_PYTHON = (
    "IndexError",
    "KeyError",
    "ZeroDivisionError",
    "AttributeError",
    "RecursionError",
    "UnicodeDecodeError",
)
"""Errors that Python raises for a line itself; a `ValueError` without library frames may be from a cut traceback."""
_ENDS = ("NameError", "KeyboardInterrupt", "SystemExit", "SyntaxError", "IndentationError", "TabError")
_BESIDE_KERAS = {
    "kerastuner": "Keras Tuner", "keras_tuner": "Keras Tuner", "autokeras": "AutoKeras", "transformers": "Transformers",
    "tensorflow_hub": "TensorFlow Hub", "tensorflow_decision_forests": "TensorFlow Decision Forests",
    "tensorflow_addons": "TensorFlow Addons", "tensorflow_datasets": "TensorFlow Datasets", "keras_cv": "KerasCV",
    "tensorflow_probability": "TensorFlow Probability", "tensorflow_io": "TensorFlow I/O", "keras_nlp": "KerasNLP",
    "tensorflow_text": "TensorFlow Text", "keras_hub": "KerasHub", "tensorboard": "TensorBoard",
}  # fmt: skip
_NOT_INSTALLED = pattern(r"^No module named '?(?P<name>[\w.]+)'?$")


def raised_by(failure: FailureFacts) -> str:
    """Return one sentence about where a failure comes from, or "" if it comes from Keras or TensorFlow."""
    absent = _NOT_INSTALLED.match(failure.message.strip())
    if absent is not None and failure.type in ("ModuleNotFoundError", "ImportError"):
        name = absent["name"].partition(".")[0]
        return f"the package `{name}` is not installed for this Python; this is not a failure of training"
    if failure.type in _ENDS:
        return _TYPES[failure.type]
    after = _after_user(failure.frames)
    raiser = _package(after[-1]) if after else ""
    if raiser in _BESIDE_KERAS:
        return f"raised by {_BESIDE_KERAS[raiser]}, not by Keras itself"
    inside = failure.earlier[0] if failure.earlier and "PyFunc" in failure.node else None
    if inside is not None and (inside.type in _TYPES or _PLAIN_PYTHON.search(inside.message)):
        return f"raised by the Python function that the pipeline calls: {inside.type}: {inside.message[:80]}"
    if _FILES.search(failure.message) and not _LIBRARY.search(failure.message):
        return "a file cannot be opened, or does not exist; this is not a failure of training"
    if after and _IN_WORKER.search(after[-1].path.replace("\\", "/")):
        return (
            "raised in a worker process, where the data is read; the traceback before this one shows the line"
        )
    if not after and _PLAIN_PYTHON.search(failure.message):
        if failure.frames:
            return "raised by a line of the program itself, not by Keras or TensorFlow"
        return "a plain Python error, not one of Keras or TensorFlow; the whole traceback would show its line"
    if any(is_framework(frame.path) for frame in failure.frames):
        return ""
    package = next((name for name in map(_package, after) if name), "")
    if package in _DOWNLOADS:
        return "a connection failed; this is not a failure of training"
    if failure.type in _TYPES:
        return _TYPES[failure.type]
    if not package and failure.package not in _OWN:
        package = failure.package
    if package:
        return f"raised by {_TITLES.get(package, package)}, not by training"
    for expected, note in _WORDS:
        if expected.search(failure.message):
            return note
    if failure.frames and not after and failure.frames[-1].text.startswith(("raise ", "assert ")):
        return "raised by the program itself, not by Keras or TensorFlow"
    called = _CALLED.search(failure.frames[-1].text) if failure.frames and not after else None
    if called and not failure.called and not _OWN_CALL.search(failure.frames[-1].text):
        return f"raised by {_TITLES.get(called['name'], called['name'])}, not by training"
    about_framework = _FRAMEWORK.search(failure.message)
    if (
        failure.type in _OF_PYTHON
        and failure.frames
        and not after
        and not failure.called
        and not about_framework
    ):
        return "raised by a line of the program itself, not by Keras or TensorFlow"
    return ""


def is_beside_keras(failure: FailureFacts) -> bool:
    """Whether a package that is built on Keras raised it, which may be about training."""
    after = _after_user(failure.frames)
    return bool(after) and _package(after[-1]) in _BESIDE_KERAS


def _after_user(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Return the library frames below the user's last line."""
    last = max((index for index, frame in enumerate(frames) if not frame.library), default=-1)
    return frames[last + 1 :]


def _package(frame: Frame) -> str:
    path = frame.path.replace("\\", "/")
    found = _PACKAGE.search(path) or _STANDARD.search(path)
    name: str = found["name"] if found is not None else ""
    return name.partition(".")[0]


def is_of_another_library(frames: tuple[Frame, ...]) -> bool:
    """Whether the user's last line called a package that is neither Keras nor TensorFlow, and stayed there."""
    after = _after_user(frames)
    return bool(after) and not any(is_framework(frame.path) for frame in after) and bool(_package(after[0]))
