"""Incompatible versions of installed packages.

## What happens

The import fails, far from your own code:

- `AttributeError: _ARRAY_API not found` in the log, followed by `ImportError: numpy.core.umath failed to import`
  (TensorFlow 2.16 with NumPy 2.1)
- `ImportError: cannot import name 'builder' from 'google.protobuf.internal'` (TensorFlow 2.16 with protobuf 3.19)
- `TypeError: Descriptors cannot be created directly` or `VersionError: Detected incompatible Protobuf Gencode/Runtime
  versions` (protobuf)
- `ImportError: Keras cannot be imported. Check that it is installed.` (`TF_USE_LEGACY_KERAS=1` without `tf_keras`)
- `Your currently installed version of Keras is Keras 3` (transformers)
- `ModuleNotFoundError: No module named 'tensorflow'` from inside Keras
- `version GLIBCXX_3.4.26 not found` (a system older than the package)

## Why

TensorFlow is compiled against a range of NumPy and protobuf versions, and each TensorFlow version supports one Keras.
pip checks this only for packages that it installs together. A later `pip install` of another package can replace one
of them with an incompatible version.

## Fix

Install compatible versions. `fitdoctor env` lists what the packages' metadata and release notes require. The safest
way is a fresh virtual environment and a single `pip install` of everything you need.

## Known limits

The first two conflicts, and imports of missing or incomplete packages, were run in separate environments. The others
were not run here and are based on published error reports. `'MessageFactory' object has no attribute 'GetPrototype'`
(TensorFlow 2.16 with protobuf 6) is printed without a traceback and is harmless: TensorFlow continues, and the
finding says so. Packages other than TensorFlow, Keras and their dependencies are not checked. `lint` reports only
combinations that cannot be imported at all. It does so only if it runs in the environment of the TensorFlow that
trains, and not if `--keras` or the configuration sets the Keras version.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import EnvironmentFacts, FailureFacts, Unknown
from fitdoctor.failure.frames import is_keras
from fitdoctor.failure.traced_code import SIZE_OF_INPUT, is_size_in_recurrent_layer
from fitdoctor.source.keras_3_api import PUBLIC_NAMES
from fitdoctor.source.keras_changes import below_keras
from fitdoctor.source.module import Module

CAUSE = Cause(
    id="FIT901",
    slug="version-conflict",
    severity=Severity.ERROR,
    raises=(
        "ImportError",
        "AttributeError",
        "TypeError",
        "VersionError",
        "ValueError",
        "ModuleNotFoundError",
        "TBNotInstalledError",
    ),
    explains=("FIT902",),
)

_NUMPY = "a package built for NumPy 1 is used with NumPy 2"
_PROTOBUF = "this TensorFlow cannot use the installed protobuf version"
_KERAS = "the installed Keras and TensorFlow versions are incompatible"
_MATCHING_KERAS = "install the Keras version that matches this TensorFlow; `fitdoctor env` shows which"
_CONTINUES = (
    "TensorFlow prints this line because protobuf is newer than it supports, and continues: nothing failed"
)
_SYSTEM = "this system is older than the one the package was built for"
_HARMLESS = re.compile(r"'MessageFactory' object has no attribute 'GetPrototype'")
"""TensorFlow 2.16 prints this for each of its messages under protobuf 6, without a traceback, and continues."""

SAYINGS = (
    (re.compile(r"compiled using NumPy 1\.x cannot be run|_ARRAY_API not found"), _NUMPY,
     "install NumPy below 2 (`pip install 'numpy<2'`), or TensorFlow 2.18 or later"),
    (re.compile(r"numpy\.core\.\w+ failed to import|numpy\.dtype size changed|numpy\.ufunc size changed"), _NUMPY,
     "reinstall NumPy and the packages compiled against it in one `pip install`"),
    (re.compile(r"Descriptors cannot (?:not )?be created directly"), _PROTOBUF,
     "install a protobuf version that TensorFlow supports; `fitdoctor env` shows which"),
    (re.compile(r"incompatible Protobuf Gencode/Runtime versions"), _PROTOBUF,
     "install a protobuf at least as new as the one TensorFlow was built with: `pip install -U protobuf`"),
    (re.compile(r"cannot import name '(?:builder|runtime_version)' from 'google\.protobuf"), _PROTOBUF,
     "install a newer protobuf: `pip install -U protobuf`"),
    (_HARMLESS, _PROTOBUF, "install a protobuf version that TensorFlow supports; `fitdoctor env` shows which"),
    (re.compile(r"Keras cannot be imported\. Check that it is installed"),
     "TensorFlow cannot find its Keras package",
     "install `keras`; with `TF_USE_LEGACY_KERAS=1`, install the `tf_keras` version that matches TensorFlow"),
    (re.compile(r"installed version of Keras is Keras 3, but this is not yet supported"),
     "transformers needs Keras 2, but Keras 3 is installed",
     "install `tf-keras` alongside Keras 3: `pip install tf-keras`"),
    (re.compile(r"cannot import name '\w+' from 'tensorflow\.(?:compat|python|_api|__internal__)"), _KERAS, _MATCHING_KERAS),
    (re.compile(r"module 'tensorflow\.(?:compat\.v2\.)?__internal__[\w.]*' has no attribute"), _KERAS, _MATCHING_KERAS),
    (re.compile(r"module 'tensorflow\.(?:python\.(?!keras\.api\b)[\w.]+|compat\.v2)' "
                r"has no attribute '(?:__internal__|_?[A-Z]\w+)'"),
     _KERAS, _MATCHING_KERAS),
    (re.compile(r"Unable to convert function return value to a Python type! The signature was\s+\(\) -> handle"),
     "the native part of TensorFlow is incompatible with this NumPy version",
     "install a NumPy version that TensorFlow supports; `fitdoctor env` shows which"),
    (re.compile(r"Keras requires TensorFlow [\d.]+ or higher"), _KERAS,
     "install a newer TensorFlow, or the Keras version that matches this one; `fitdoctor env` shows which"),
    (re.compile(r"'InputLayer'[\s\S]{0,600}(?:Unrecognized keyword arguments|unexpected keyword argument)"
                r"\W{1,6}batch_shape"),
     "the model was saved with Keras 3 but is loaded with Keras 2",
     "load it with Keras 3 (TensorFlow 2.16 or later), or rebuild the model and load its weights"),
    (re.compile(r"requires TensorFlow version [><=]+ ?[\d.]+; ?Detected an installation of version"),
     "a package needs a different TensorFlow version from the installed one",
     "install the version of the package that matches this TensorFlow"),
    (re.compile(r"module 'ml_dtypes' has no attribute"),
     "the installed ml_dtypes is too old for this TensorFlow or Keras",
     "install a newer version: `pip install -U ml_dtypes`"),
    (re.compile(r"TensorBoard is not installed, missing implementation for"),
     "writing summaries for TensorBoard needs the package `tensorboard`, which is not installed",
     "install it (`pip install tensorboard`), or remove the `TensorBoard` callback and the calls of `tf.summary`"),
    (re.compile(r"Could not import PIL(?:\.Image)?\b"),
     "reading or writing images needs the package Pillow, which is not installed",
     "install it: `pip install pillow`"),
    (re.compile(r"version [`'](?:GLIBC|GLIBCXX|CXXABI)_[\d.]+' not found"), _SYSTEM,
     "use a newer system or image, or an older TensorFlow"),
    (re.compile(r"DLL load failed while importing _pywrap_tensorflow_internal|Failed to load the native TensorFlow runtime"),
     "the native part of TensorFlow cannot be loaded",
     "reinstall TensorFlow in a fresh environment; on Windows install the Microsoft Visual C++ Redistributable"),
)  # fmt: skip
"""Error patterns, with their meaning and fix. Those before TensorFlow 2.16 are from published reports; not run here."""

_OTHER_KERAS = "load it with the Keras that saved it, or rebuild the model in code and load its weights"
CAUSE.message(
    r"^0$",
    "the model was saved by another version of Keras than the one that loads it",
    _OTHER_KERAS,
    subject="installed packages",
    types=("KeyError",),
    raised_in=("from_config",),
)
CAUSE.message(
    r"^'(?P<name>metrics|samples|batch_size|do_validation|nb_sample|nb_epoch)'$",
    "a callback reads `params['{name}']`, which only older versions of Keras pass to callbacks",
    "read the names of the metrics from `logs`, and sizes from the program's own variables",
    subject="installed packages",
    types=("KeyError",),
    fits=lambda failure: bool(failure.frames) and "params[" in failure.frames[-1].text,
)
_TENSORFLOW_CALLED = re.compile(r"\b(?:tf|\w+_ops|ops|nn)\.\w+\(")


def _keras_calls_tensorflow(failure: FailureFacts) -> bool:
    last = failure.frames[-1] if failure.frames else None
    return last is not None and is_keras(last.path) and bool(_TENSORFLOW_CALLED.search(last.text))


CAUSE.message(
    r"^_?\w+\(\) got an unexpected keyword argument '(?P<name>\w+)'",
    "the installed Keras passes `{name}` to a function of TensorFlow that does not have it: the versions do not match",
    "install the Keras version that matches this TensorFlow; `fitdoctor env` shows which",
    subject="installed packages",
    types=("TypeError",),
    fits=_keras_calls_tensorflow,
)
CAUSE.message(
    SIZE_OF_INPUT.pattern,
    "NumPy 1.20 or later is installed with a TensorFlow before 2.5, whose recurrent layers fail with it",
    "install NumPy below 1.20, or a newer TensorFlow",
    subject="installed packages",
    types=("NotImplementedError",),
    fits=is_size_in_recurrent_layer,
)
CAUSE.message(
    r"^'module' object is not callable",
    "the program was written for Keras 1, in which `merge` is a function",
    "call the function for the mode: `concatenate([a, b])`, `add([a, b])`, `multiply([a, b])` or `dot([a, b], axes=…)`",
    subject="installed packages",
    types=("TypeError",),
    fits=lambda failure: (
        bool(failure.frames) and re.search(r"\bmerge\(\s*\[", failure.frames[-1].text) is not None
    ),
)
CAUSE.message(
    r"Keras symbolic inputs/outputs do not implement `__len__`",
    "code written for Keras before 2.4 takes the length of a Keras tensor",
    "use a version of the package made for this Keras; a model's number of outputs is `len(model.outputs)`",
    subject="installed packages",
)
CAUSE.message(
    r"Unknown layer: '?(?:Functional|Model|Sequential|layers|name|config|class_name|module|TFOpLambda|SlicingOpLambda"
    r"|TensorFlowOpLayer)\b",
    "the model was saved by another version of Keras than the one that loads it",
    _OTHER_KERAS,
    subject="installed packages",
)
CAUSE.message(
    r"(?:unexpected keyword argument|argument not understood:',) '(?:ragged|batch_shape|groups)'",
    "the model was saved by a newer Keras than the one that loads it",
    _OTHER_KERAS,
    subject="installed packages",
)
CAUSE.message(
    r"unsupported operand type\(s\) for [^\n]{1,4}: (?:'Dimension' and '\w+'|'\w+' and 'Dimension')",
    "in TensorFlow 1, the sizes of a shape are `Dimension` objects, which do not mix with floats",
    "use `int(shape[i])`, or TensorFlow 2, where sizes are plain integers",
    subject="installed packages",
)
"""What the words alone make likely."""

_PROCESSOR = (
    "the processor does not support instructions that this TensorFlow was compiled with (AVX)",
    "install a TensorFlow built for this processor (conda-forge has one), or use another machine",
)
_IN_LIBRARY = re.compile(
    r"module 'numpy' has no attribute '(?:bool|object|int|float|complex|str|typeDict|complex_)'"
)
_SYMBOLIC_SHAPE = re.compile(r"Cannot convert a symbolic Tensor \(.{1,200}\) to a numpy array")
_ABSENT = re.compile(r"No module named '(?P<name>(?!jax|torch|openvino)[\w.]+)'")
"""A missing Keras backend is FIT904."""
_DISTRIBUTIONS = {
    "google": "protobuf",
    "absl": "absl-py",
    "opt_einsum": "opt-einsum",
    "pasta": "google-pasta",
}
"""Distributions whose name differs from the module's."""
_OWN = ("tensorflow", "keras", "tf_keras")
"""Packages that training code imports itself."""
_FAMILY = ("tensorflow", "keras", "tf_keras", "tensorboard", "transformers", "google/protobuf", "h5py")


@CAUSE.in_source
def from_source(module: Module, environment: EnvironmentFacts) -> Iterator[Finding]:
    """Report installed packages with which the TensorFlow import in a file would fail, where `lint` runs."""
    imports: list[ast.Import | ast.ImportFrom] = [*module.nodes(ast.Import), *module.nodes(ast.ImportFrom)]
    of_family = sorted(filter(_is_of_family, imports), key=lambda node: node.lineno)
    conflicts = environment.conflicts if isinstance(environment.conflicts, tuple) else ()
    for conflict in conflicts if of_family else ():
        yield CAUSE.finding(
            f"TensorFlow and Keras cannot be imported with the installed packages: {conflict.problem}",
            module.location(of_family[0]),
            Evidence(conflict.first, conflict.second, fact=conflict.source),
            fix(conflict.remedy),
            subject="installed packages",
        )


def _is_of_family(node: ast.Import | ast.ImportFrom) -> bool:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    return any(name.partition(".")[0] == "tensorflow" for name in names)


@CAUSE.after_failure
def from_failure(failure: FailureFacts, environment: EnvironmentFacts | Unknown) -> Iterator[Finding]:
    """Report a library's error about an incompatible version."""
    for problem, remedy, confidence in _explanations(failure):
        conflicts = environment.conflicts if isinstance(environment, EnvironmentFacts) else ()
        found = conflicts if isinstance(conflicts, tuple) else ()
        said = failure.message.strip().split("\n")[0][:120]
        yield CAUSE.finding(
            problem,
            failure.location,
            Evidence("the library reports", said),
            *(Evidence(each.problem, each.second, fact=each.source) for each in found[:3]),
            *(fix(conflict.remedy) for conflict in found[:1]),
            fix(remedy),
            subject="installed packages",
            confidence=confidence,
            severity=Severity.INFO if problem == _CONTINUES else None,
        )
        return


def _explanations(failure: FailureFacts) -> Iterator[tuple[str, str, Confidence]]:
    """Yield what an error means and how to fix it, surest first."""
    certain, likely = Confidence.CERTAIN, Confidence.LIKELY
    said = f"{failure.message}\n{failure.raw_message}\n" + "\n".join(each.message for each in failure.earlier)
    for expected, problem, remedy in SAYINGS:
        if expected.search(said):
            continues = expected is _HARMLESS and not failure.frames
            yield _CONTINUES if continues else problem, remedy, certain
    if failure.type == "SIGILL":
        yield *_PROCESSOR, certain
    absent = _ABSENT.fullmatch(failure.message.strip())
    if absent is not None and failure.type in ("ModuleNotFoundError", "ImportError"):
        importer = _raised_in_family(failure)
        if importer and failure.type == "ModuleNotFoundError":
            yield *_incomplete(absent["name"], importer), certain
        elif absent["name"] in _OWN:
            yield (
                f"`{absent['name']}` is not installed for the Python that ran this program, or its files are missing",
                f"install it with the same Python: `python -m pip install {absent['name']}`",
                certain,
            )
    if _IN_LIBRARY.search(said) and _raised_in_family(failure):
        yield (
            "a library uses names that NumPy has removed",
            "install NumPy below 1.24 (below 2 for `complex_`), or a newer version of that library",
            certain,
        )
    if _decodes_text(failure):
        yield (
            "h5py 3 returns text where this version of Keras expects bytes",
            "install h5py below 3 (`pip install 'h5py<3'`), or TensorFlow 2.5 or later",
            certain if failure.frames else likely,
        )
    if lacking := _lacking_name(failure):
        yield lacking, "install versions that match; `fitdoctor env` shows which", likely
    if _SYMBOLIC_SHAPE.search(said) and any(each.function == "_constant_if_small" for each in failure.frames):
        yield (
            "TensorFlow before 2.5 passes its own tensors to NumPy, which NumPy 1.20 and later reject",
            "install NumPy below 1.20, or a newer TensorFlow",
            certain,
        )


def _incomplete(name: str, importer: str) -> tuple[str, str]:
    """Return meaning and fix of a module that a library of the family cannot find."""
    package = name.partition(".")[0]
    if package == importer.partition("/")[0]:
        return f"part of the installed {package} is missing: `{name}`", (
            "reinstall it: `pip install --force-reinstall --no-deps`, with the package name that `fitdoctor env` shows"
        )
    if "." in name:
        return _KERAS, _MATCHING_KERAS
    wanted = _DISTRIBUTIONS.get(package, package)
    return f"{importer} needs `{wanted}`, which is not installed", f"install it: `pip install {wanted}`"


_SAVING = re.compile(r"/keras/(?:engine/(?:saving|topology|network)|saving/\w+|models)\.py$")
_LACKING = re.compile(
    r"module '(?P<module>(?:tensorflow|keras|tf_keras)[\w.]*)' has no attribute '(?P<name>\w+)'"
)
_REJECTED_IMPORT = re.compile(r"^cannot import name '(?P<name>\w+)'")
_IMPORTING = re.compile(r"\bfrom (?:tensorflow|keras|tf_keras)[\w.]* import\b")


def _decodes_text(failure: FailureFacts) -> bool:
    """Return whether Keras before 2.5 decodes what h5py 3 already has decoded."""
    if failure.type != "AttributeError" or "'str' object has no attribute 'decode'" not in failure.message:
        return False
    last = failure.frames[-1] if failure.frames else None
    return last is None or last.library and bool(_SAVING.search(last.path.replace("\\", "/")))


def _lacking_name(failure: FailureFacts) -> str:
    """Return the meaning of a name that a package, not the program, looks for in TensorFlow or Keras; "" if none."""
    # TensorFlow's modules look names up in functions of their own: the frame before asked for the name.
    frames = [each for each in failure.frames if each.function not in ("_getattr", "__getattr__")]
    last = frames[-1] if frames else None
    by_package = last is not None and last.library
    lacking = _LACKING.search(failure.message) if failure.type == "AttributeError" else None
    if lacking is not None:
        module, name = lacking.groups()
        if by_package:
            return f"the installed `{module}` has no `{name}`: a package and this TensorFlow or Keras do not match"
        if name in PUBLIC_NAMES.get(below_keras(module), ()):
            return f"the installed Keras has no `{name}`, which Keras 2.9 and later have: it does not match TensorFlow"
    rejected = _REJECTED_IMPORT.search(failure.message) if failure.type == "ImportError" else None
    if rejected is not None:
        exported = last is None and rejected["name"] in ("keras_export", "tf_export")
        if exported or by_package and last is not None and _IMPORTING.search(last.text):
            return f"a package imports `{rejected['name']}`, which the installed TensorFlow or Keras does not have"
    return ""


def _raised_in_family(failure: FailureFacts) -> str:
    """Return the library of the family that raised the error, or "" for any other place."""
    # NumPy itself raises if one of its names was removed.
    last = next((frame for frame in reversed(failure.frames) if "/numpy/" not in frame.path), None)
    if last is None or not last.library:
        return ""
    return next((name for name in _FAMILY if f"/{name}/" in last.path), "")
