"""Says which library, or part of the program, raised a failure that is not about training."""

from __future__ import annotations

import re

from fitdoctor.facts import FailureFacts, Frame
from fitdoctor.failure.frames import is_framework, is_keras

_PACKAGE = re.compile(r"(?:^|/)(?:site|dist)-packages/(?P<name>google/\w+|[\w.]+?)(?:\.py)?(?:/|$)")
_STANDARD = re.compile(r"(?:^|/)lib(?:64)?/(?:python[\d.]+/)?(?P<name>\w+)(?:\.py|/)")
_TITLES = {
    "sklearn": "scikit-learn", "cv2": "OpenCV", "PIL": "Pillow", "skimage": "scikit-image", "torch": "PyTorch",
    "numpy": "NumPy", "scipy": "SciPy", "matplotlib": "Matplotlib", "h5py": "h5py", "xgboost": "XGBoost",
    "pandas": "pandas", "seaborn": "Seaborn", "torchvision": "torchvision", "lightgbm": "LightGBM", "jax": "JAX",
    "google/colab": "Google Colab", "google/protobuf": "Protocol Buffers",
    "catboost": "CatBoost", "statsmodels": "statsmodels", "nltk": "NLTK", "spacy": "spaCy", "gensim": "gensim",
    "np": "NumPy", "pd": "pandas", "plt": "Matplotlib", "sns": "Seaborn",
}  # fmt: skip
_NO_DOWNLOAD = re.compile(
    r"CERTIFICATE_VERIFY_FAILED|<urlopen error|URL fetch failure|HTTP Error \d+|Max retries exceeded"
)
_DOWNLOADS = frozenset({"urllib", "http", "ssl", "socket", "requests", "urllib3"})

_WORDS = (
    (re.compile(r"^OpenCV\("), "raised by OpenCV, not by training"),
    (re.compile(r"\bpytorch\b|/torch/|\bstate_dict\b|CUDA out of memory|\btorch\."
             r"|mat1 and mat2 shapes|Expected all tensors to be on the same device|The size of tensor a \(\d+\) must match"
             r"|Expected input batch_size|CUDA error: device-side assert|element 0 of tensors does not require grad"),
     "raised by PyTorch, not by Keras or TensorFlow"),
    (re.compile(r"Model-building function did not return a valid Keras Model|Unknown parameter: "), "raised by Keras Tuner"),
    (re.compile(r"\b(?:action|time_step|sample)_specs?\b|\baction spec\b"), "raised by TF-Agents, not by Keras itself"),
    (re.compile(r"^(?![\s\S]*(?i:out of memory|failed to alloc))[\s\S]*"
             r"(?:Apply node that caused the error|drop a non-broadcastable dimension|theano\.|Theano [Vv]ariable)"),
     "raised by Theano, an old Keras backend"),
    (re.compile(r"operands could not be broadcast together with shapes|shapes \(.{0,60}\) not aligned: "
             r"|The truth value of an array with more than one element is ambiguous"
             r"|all the input array dimensions|could not broadcast input array|cannot reshape array of size"
             r"|[Cc]annot copy sequence with size|need at least one array to (?:stack|concatenate)"),
     "raised by NumPy, not by training"),
    (re.compile(r"cannot perform relative import|attempted relative import"),
     "raised by Python: a relative import works only inside a package, not in a script or notebook"),
    (re.compile(r"Can't get attribute '\w+' on <module '__main__'"),
     "raised by pickle: a worker process cannot find a function of this program; import it from a module"),
    (re.compile(r"x and y must have same first dimension|is not a valid value for (?:ls|cmap)"),
     "raised by Matplotlib, not by training"),
    (re.compile(r"Expected 2D array, got (?:1D|scalar) array|Input (?:X |y )?contains NaN|inconsistent numbers of samples"
             r"|instance is not fitted yet|Number of features of the model must match"
             r"|Classification metrics can't handle|n_splits=\d+ cannot"
             r"|The '\w+' parameter of \w+ must be"),
     "raised by scikit-learn, not by training"),
    (re.compile(r"'(?:DataFrame|Series|Index)' object has no attribute|not in index|None of \[.{0,200} are in the"
             r"|Invalid file path or buffer object type|Length of values \(?\d+|You are trying to merge on"
             r"|cannot reindex|Unable to parse string"
             r"|The truth value of a (?:DataFrame|Series) is ambiguous|Shape of passed values is"),
     "raised by pandas, not by training"),
)  # fmt: skip
_OWN = frozenset(
    {
        "tensorflow",
        "keras",
        "tf_keras",
        "builtins",
        "tf",
        "errors_impl",
        "impl",
        "errors",
        "core",
        "exceptions",
    }
)
"""Packages whose exceptions may be about training, and parts of their names as people shorten them."""
_LIBRARY = re.compile(r"\.so\b|\.dll\b|\.dylib\b")
_FILES = re.compile(
    r"Unable to (?:synchronously )?(?:open|create) file|Failed to find any matching files|[Nn]o such file or directory"
    r"|No file or directory found at|File system scheme"
    r"|Transport endpoint is not connected|[Ii]s (?:not )?a directory"
    r"|Parent directory of \S+ doesn't exist|SavedModel file does not exist"
    r"|cannot find the (?:path|file) specified|Cannot create group in read.only mode"
)
_DAMAGED = re.compile(r"\((?:file signature not found|truncated file)")
_IN_WORKER = re.compile(r"(?:^|/)(?:multiprocessing/pool|concurrent/futures/(?:_base|process))\.py$")
_SCRIPT = re.compile(r"/script_ops\.py$")
"""Where TensorFlow calls Python code of a pipeline."""
_PASSED_ON = re.compile(r"/(?:six|keras/utils/data_utils|trainers/data_adapters/py_dataset_adapter)\.pyc?$")
"""Where Keras raises again what a generator raised in another thread."""
_PLAIN_PYTHON = re.compile(
    r"^'(?:NoneType|int|float|str|list|dict|tuple|set|bool|function|method|type|generator|map|zip|range)' object "
    r"(?:is not|has no|does not|cannot)|^(?:list|tuple|string) index out of range$|^invalid literal for int\(\)"
    r"|^unsupported operand type\(s\) for|^division by zero$|^(?:can only concatenate|must be str|can't multiply)"
    r"|^(?:list|tuple|string) indices must be integers|^'numpy\.\w+' object is not iterable$"
    r"|^only integer scalar arrays can be converted|^too many indices for array"
    r"|^'(?:module|NoneType)' object is not callable"
    r"|^Can't instantiate abstract class(?! Dataset with)"
    r"|^(?:not enough|too many) values to unpack|^substring not found$|is not in list$|^could not convert string to float"
)
"""What Python itself says of a line, as far as no tensor takes part."""
_TYPES = {
    "FileNotFoundError": "a file or folder that the program reads does not exist; this is not a failure of training",
    "NotADirectoryError": "a path that the program reads is not a folder; this is not a failure of training",
    "PermissionError": "the program may not read or write a file; this is not a failure of training",
    "PermissionDeniedError": "the program may not read or write a file; this is not a failure of training",
    "FileExistsError": "a file or folder that the program creates exists already; this is not a failure of training",
    "NameError": "the program uses a name that it has not defined; this is not a failure of training",
    "UnboundLocalError": "the program reads a local name before it sets it; this is not a failure of training",
    "RecursionError": "a function calls itself, or an object contains itself, without end; this is not about the data",
    "SyntaxError": "Python cannot parse the program; nothing was run",
    "IndentationError": "Python cannot parse the program; nothing was run",
    "TabError": "Python cannot parse the program; nothing was run",
    "KernelCrash": "the process of the notebook ended without an exception, often because memory ran out; `fitdoctor run` "
    "on the notebook says more",
    "SIGSEGV": "the process crashed inside compiled code, mostly in a GPU library or because versions do not match; "
    "the lines before this one may say where",
    "SIGABRT": "TensorFlow or a library of it aborted the process; the lines before this one say where",
    "KeyboardInterrupt": "the program was interrupted; nothing failed",
    "SystemExit": "the program ended itself; nothing failed",
    "URLError": "a download failed; this is not a failure of training",
    "HTTPError": "a download failed; this is not a failure of training",
    "ConnectionError": "a connection failed; this is not a failure of training",
    "SSLError": "a download failed; this is not a failure of training",
    "UnidentifiedImageError": "raised by Pillow: a file is not an image that it can read",
    "JSONDecodeError": "raised by the json module: a file is not valid JSON",
}
_CALLED = re.compile(r"\b(?P<name>cv2|np|numpy|pd|pandas|plt|sns|torch)\.\w+")
_OWN_CALL = re.compile(r"\b(?:tf|keras|K|model|layers|tensorflow)\b|\.(?:fit|predict|evaluate|compile)\(")
_OWN_ATTRIBUTE = re.compile(r"'(?P<owner>\w+)' object has no attribute '(?P<name>[a-z]\w*)'")
_GRAPHVIZ = re.compile(
    r"[\"']?dot[\"']? not found in path|Graphviz's executables|pydot.{0,40}(?:failed|install)"
)
_CIRCULAR = re.compile(r"partially initialized module '(?P<name>[\w.]+)'")
_WRONG_CALL = re.compile(r"(?P<name>[\w.<>]+)\(\) (?:takes|missing|got an unexpected|got multiple) ")
KERAS_CALL = re.compile(
    r"^(?:\w+\.)?(?:fit|evaluate|predict|fit_generator|evaluate_generator|predict_generator|compile|train_on_batch"
    r"|load_weights|save_weights|load_model|flow|flow_from_directory|flow_from_dataframe|to_categorical|pad_sequences"
    r"|image_dataset_from_directory|apply_gradients|add_weight|add_metric|add_loss)\(\) "
    r"got an unexpected keyword"
)
"""A call of Keras with arguments that it does not have, whoever wrote the line."""
_FRAMEWORK = re.compile(
    r"tensorflow|keras|Tensor\b|Variable' object|\btf\.|set attribute|has no setter"
    r"|'(?:Functional|Sequential|Model|Optimizer|Adam\w*|SGD|RMSprop|History|Dense|Embedding|LSTM|GRU|SimpleRNN"
    r"|Conv(?:olution)?\dD\w*|BatchNormalization|Bidirectional|TimeDistributed)' object has no"
)
_OF_TENSORS = re.compile(
    r"has no attribute '(?:base_dtype|_get_trainable_state|is_keras_tensor"
    r"|_datatype_enum|_variant_tensor|_in_graph_mode|_shape_tuple|_inbound_nodes"
    r"|inbound_nodes|_keras_\w+|set_model|set_params)'|object is not an iterator|'tuple' object has no attribute 'layer'"
)
"""What Keras and TensorFlow do with every tensor and every generator."""
_OF_PYTHON = (
    "IndexError",
    "KeyError",
    "ZeroDivisionError",
    "AttributeError",
    "RecursionError",
    "UnicodeDecodeError",
)
"""Errors that Python raises for a line itself; a `ValueError` without library frames may be from a cut traceback."""
_OF_READING = ("KeyError", "AttributeError", "ZeroDivisionError")
"""Errors of the line's own expressions; a library that raised them would have a frame."""
_OF_CALLED_CODE = (
    "IndexError",
    "ZeroDivisionError",
    "AssertionError",
    "UnicodeDecodeError",
    "FileNotFoundError",
)
"""The same for code of the program that Keras calls: a generator, a callback."""
_OF_TRAINING_LOOP = re.compile(r"variable '(?:logs|epoch_logs|batch_logs|batch_index|index_array|val_outs)'")
"""Local names of the loop that trains in Keras."""
_ENDS = (
    *("NameError", "KeyboardInterrupt", "SystemExit", "SyntaxError", "IndentationError", "TabError"),
    *("FileExistsError", "PermissionError", "PermissionDeniedError"),
)
"""Types that mean the same whatever library raised them."""
_BESIDE_KERAS = {
    "kerastuner": "Keras Tuner", "keras_tuner": "Keras Tuner", "autokeras": "AutoKeras", "transformers": "Transformers",
    "tensorflow_hub": "TensorFlow Hub", "tensorflow_decision_forests": "TensorFlow Decision Forests",
    "tensorflow_addons": "TensorFlow Addons", "tensorflow_datasets": "TensorFlow Datasets", "keras_cv": "KerasCV",
    "tensorflow_probability": "TensorFlow Probability", "tensorflow_io": "TensorFlow I/O", "keras_nlp": "KerasNLP",
    "tensorflow_text": "TensorFlow Text", "keras_hub": "KerasHub", "tensorboard": "TensorBoard", "tf_agents": "TF-Agents",
    "tensorflow_model_optimization": "TensorFlow Model Optimization", "tensorflow_recommenders": "TensorFlow Recommenders",
    "tensorflow_transform": "TensorFlow Transform", "tensorflow_data_validation": "TensorFlow Data Validation", "tfx": "TFX",
    "object_detection": "the TensorFlow Object Detection API", "tensorflow_federated": "TensorFlow Federated",
}  # fmt: skip
_QUOTED = re.compile(r"(?:\w+\.)*(?P<type>\w{2,40}Error|error(?=: OpenCV)): (?P<said>[^\n]{1,300})")
_OF_OPENCV = re.compile(r"OpenCV\(")
_PART = re.compile(r"(?:tensorflow|keras|tf_keras)\.")
_MISSING_NAME = re.compile(
    r"^cannot import name '?(?P<name>\w+)'?(?: from (?:partially initialized module )?'(?P<package>[\w.]+)')?"
)
_OF_FRAMEWORK = re.compile(r"\b(?:tensorflow|keras|tf_keras)\b")
_REBUILDS = frozenset({"load_model", "from_config", "model_from_json", "model_from_config", "deserialize"})
_NOT_INSTALLED = re.compile(r"^No module named '?(?P<name>[\w.]+)'?$|^You must install (?P<drawer>pydot)\b")


def raised_by(failure: FailureFacts) -> str:
    """Return one sentence about where a failure comes from, or "" if it comes from Keras or TensorFlow."""
    absent = _NOT_INSTALLED.match(failure.message.strip())
    name = absent["name"] or absent["drawer"] if absent is not None else ""
    if _PART.match(name):
        return ""  # the package is there, in another version
    if name and failure.type in ("ModuleNotFoundError", "ImportError"):
        name = name.partition(".")[0]
        return f"the package `{name}` is not installed for this Python; this is not a failure of training"
    unknown = _MISSING_NAME.match(failure.message)
    if unknown is not None and failure.type in ("ModuleNotFoundError", "ImportError"):
        source = unknown["package"] or (failure.frames[-1].text if failure.frames else "")
        if not _OF_FRAMEWORK.search(source):
            package = f"`{unknown['package']}`" if unknown["package"] else "version of the package"
            return f"the installed {package} has no `{unknown['name']}`; this is not a failure of training"
    if _OF_TRAINING_LOOP.search(failure.message):
        return ""
    if failure.type in _ENDS:
        # A function that was saved with a model does not find the names of the program that saved it.
        saved = failure.type == "NameError" and not _REBUILDS.isdisjoint(f.function for f in failure.frames)
        return "" if saved else _TYPES[failure.type]
    after = _after_user(failure.frames)
    raiser = _installed_raiser(after)
    if raiser in _BESIDE_KERAS:
        return f"raised by {_BESIDE_KERAS[raiser]}, not by Keras itself"
    if after and "/tensorflow/lite/" in after[-1].path.replace("\\", "/"):
        return "raised by TensorFlow Lite, which runs converted models; this is not a failure of training"
    inside = failure.earlier[0] if failure.earlier and "PyFunc" in failure.node else None
    if inside is not None and (inside.type in _TYPES or _PLAIN_PYTHON.search(inside.message)):
        return f"raised by the Python function that the pipeline calls: {inside.type}: {inside.message[:80]}"
    quoted = _QUOTED.match(failure.message) if failure.type == "UnknownError" else None
    in_python = quoted is not None and (quoted["type"] in _TYPES or _PLAIN_PYTHON.search(quoted["said"]))
    if quoted is not None and _OF_OPENCV.match(quoted["said"]):
        return "raised by OpenCV, in the Python function that the pipeline calls"
    if quoted is not None and in_python:
        return f"raised by the Python function that the pipeline calls: {quoted[0][:100]}"
    if failure.frames and not after and any(_SCRIPT.search(frame.path) for frame in failure.frames):
        return (
            f"raised by the Python function that the pipeline calls: {failure.type}: {failure.message[:80]}"
        )
    if "has already been registered to" in failure.message:
        return "a class or function is registered twice, mostly because its cell was run again; restart the kernel"
    if _NO_DOWNLOAD.search(failure.message):
        return _TYPES["URLError"]
    circular = _CIRCULAR.search(failure.message)
    if circular is not None:
        return (
            f"`{circular['name']}` is imported by a module that it imports itself: a file of the program is called like a "
            "package, or the installed package is damaged"
        )
    if _GRAPHVIZ.search(failure.message):
        return "Graphviz, which draws the picture of the model, is not installed; training does not need it"
    if "error happened while compiling the node" in failure.message:
        return "Theano, the backend of this Keras, cannot compile its code on this machine; use TensorFlow as the backend"
    by_framework = any(is_framework(frame.path) for frame in after or failure.frames)
    damaged = by_framework and _DAMAGED.search(failure.message)
    if _FILES.search(failure.message) and not _LIBRARY.search(failure.message) and not damaged:
        return "a file cannot be opened, or does not exist; this is not a failure of training"
    last = after[-1].path.replace("\\", "/") if after else ""
    if _IN_WORKER.search(last) or failure.type in _OF_CALLED_CODE and _PASSED_ON.search(last):
        return (
            "raised in a worker process, where the data is read; the traceback before this one shows the line"
        )
    if after and failure.message == "'NoneType' object is not callable" and "_fn(*args" in after[-1].text:
        return "an earlier call of this `tf.function` failed or was interrupted; define the function again, then call it"
    unread = bool(failure.frames) and not failure.frames[-1].line  # cut above the line that raised
    said_by_python = _PLAIN_PYTHON.search(failure.message) and not _OF_TENSORS.search(failure.message)
    if not after and said_by_python and not unread:
        if failure.frames:
            return "raised by a line of the program itself, not by Keras or TensorFlow"
        return "a plain Python error, not one of Keras or TensorFlow; the whole traceback would show its line"
    if failure.frames and not after and failure.type in _OF_CALLED_CODE:
        return "raised by a line of the program itself, not by Keras or TensorFlow"
    own = _OWN_ATTRIBUTE.match(failure.message)
    if own and failure.frames and not after and f"self.{own['name']}" in failure.frames[-1].text:
        return f"the program's own class `{own['owner']}` has no `{own['name']}`, which this line reads"
    refused = _WRONG_CALL.match(failure.message) if failure.type == "TypeError" else None
    if (
        refused
        and failure.frames
        and not after
        and _calls_own_function(failure.frames[-1].text, refused["name"])
    ):
        return _with_wrong_arguments(refused["name"])
    # Code of the program that Keras calls may call another library.
    if by_framework or failure.called in _REBUILDS and not after:
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
    if (
        called
        and failure.type not in _OF_READING
        and not failure.called
        and not _OWN_CALL.search(failure.frames[-1].text)
    ):
        return f"raised by {_TITLES.get(called['name'], called['name'])}, not by training"
    if not failure.frames or after or _FRAMEWORK.search(failure.message):
        return ""
    line = failure.frames[-1].text
    of_keras = refused and re.search(
        rf"\b(?:tf|keras|tensorflow)\.(?:\w+\.)*{re.escape(refused['name'])}\(", line
    )
    if KERAS_CALL.match(failure.message) or of_keras:
        return ""
    if refused is not None:
        return _with_wrong_arguments(refused["name"])
    plain = (
        not unread
        and failure.type in _OF_PYTHON
        and not failure.called
        and not _OF_TENSORS.search(failure.message)
    )
    if plain or line and failure.type == "TypeError" and not _OWN_CALL.search(line):
        return "raised by a line of the program itself, not by Keras or TensorFlow"
    return ""


def _calls_own_function(line: str, name: str) -> bool:
    """Whether a line calls its own function, or a method of its own class that Keras does not define."""
    name = name.rpartition(".")[2]
    of_keras = name.startswith(("__", "add_", "call", "compute_", "compiled_"))
    own = not of_keras and (name.islower() or f"self.{name}(" in line)
    return own and bool(re.search(rf"(?:\bself\.|(?<![\w.])){re.escape(name)}\(", line))


def _with_wrong_arguments(name: str) -> str:
    name = name.removesuffix(".__init__").removeprefix("__init__")
    return f"this line calls {f'`{name}`' if name else 'a class'} with too few, too many or unknown arguments"


_SILENT = (
    "StopIteration",
    "KeyboardInterrupt",
    "AssertionError",
    "MemoryError",
    "SystemExit",
    "GeneratorExit",
    "EOFError",
    "NotImplementedError",
)
"""Exceptions that are often raised without a message."""
_CUT = re.compile(r'File "|Exception encou[a-z]*$')
"""The beginning of a frame or of a wrapper, where the message should be."""
_BACKENDS = {"torch": "PyTorch", "torchvision": "PyTorch", "jax": "JAX", "jaxlib": "JAX", "theano": "Theano"}


def raised_by_backend(failure: FailureFacts) -> str:
    """Return one sentence if the library that Keras computes with raised a failure, or ""."""
    backend = _BACKENDS.get(_installed_raiser(failure.frames), "")
    keras = any(is_keras(frame.path) for frame in failure.frames)
    return f"raised by {backend}, which Keras uses as its backend here" if backend and keras else ""


def note_about(failure: FailureFacts) -> str:
    """Return what `raised_by` says, or what the words of a call with wrong arguments tell without a traceback."""
    cut = (
        not failure.type or not failure.message and failure.type not in _SILENT or _CUT.match(failure.message)
    )
    if failure.from_text and failure.frames and cut:
        return "the text ends before the message of the exception; paste the traceback to its last line"
    note = raised_by(failure)
    refused = _WRONG_CALL.match(failure.message) if not note and not failure.frames else None
    if refused is not None and failure.type == "TypeError":
        return f"`{refused['name']}` is called with too few, too many or unknown arguments"
    return note or raised_by_backend(failure) or _of_own_line(failure)


def _of_own_line(failure: FailureFacts) -> str:
    """Return what a line of the program reads that does not exist, or ""."""
    last = failure.frames[-1] if failure.frames else None
    if last is None or last.library:
        return ""
    if failure.type == "StopIteration" and "next(" in last.text:
        return "the iterator that this line reads has no more elements"
    if re.match(r"raise [A-Z]\w+(?:Error|Exception)\(", last.text):
        return "raised by a line of the program itself, not by Keras or TensorFlow"
    absent, key = _OWN_ATTRIBUTE.match(failure.message), failure.message.strip("'\"")
    if absent and f".{absent['name']}" in last.text:
        return f"this line reads `{absent['name']}`, which an object of the class `{absent['owner']}` does not have"
    if failure.type == "KeyError" and (
        f"['{key}']" in last.text.replace('"', "'") or key.isdigit() and "[" in last.text
    ):
        return f"this line reads the key `{key}`, which does not exist there"
    return ""


def is_beside_keras(failure: FailureFacts) -> bool:
    """Whether a package that is built on Keras raised it, which may be about training."""
    after = _after_user(failure.frames)
    package = _installed_raiser(after) if after else failure.package
    own = not package or package.startswith(("tensorflow", "keras", "tf_keras"))
    return package in _BESIDE_KERAS or bool(after) and not own and package not in _TITLES


def package_below(failure: FailureFacts) -> str:
    """Return the installed package, other than Keras and TensorFlow, whose own line raised it; "" if there is none."""
    last = failure.frames[-1] if failure.frames else None
    name = _package(last) if last is not None and last.library and not is_framework(last.path) else ""
    return "" if name.startswith(("tensorflow", "keras", "tf_keras")) else name


def _after_user(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Return the library frames below the user's last line."""
    last = max((index for index, frame in enumerate(frames) if not frame.library), default=-1)
    return frames[last + 1 :]


def _installed_raiser(frames: tuple[Frame, ...]) -> str:
    """Return the innermost installed package; the standard library raises on behalf of its caller."""
    found = (_PACKAGE.search(frame.path.replace("\\", "/")) for frame in reversed(frames))
    names = (match["name"].partition(".")[0] for match in found if match is not None)
    return next((name for name in names if name != "six"), "")  # six re-raises what others raised


def _package(frame: Frame) -> str:
    path = frame.path.replace("\\", "/")
    found = _PACKAGE.search(path) or _STANDARD.search(path)
    name: str = found["name"] if found is not None else ""
    return "" if name == "six" else name.partition(".")[0]


def is_of_another_library(frames: tuple[Frame, ...]) -> bool:
    """Whether the user's last line called a package that is neither Keras nor TensorFlow, and stayed there."""
    after = _after_user(frames)
    return bool(after) and not any(is_framework(frame.path) for frame in after) and bool(_package(after[0]))
