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
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.environment.keras_3_fixes import as_keras
from fitdoctor.catalogue.environment.keras_signatures import PUBLIC_NAMES
from fitdoctor.catalogue.sayings import Saying, findings_from_message
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import Conflict, EnvironmentFacts, FailureFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.records import replace
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
_SYSTEM = "this system is older than the one the package was built for"
_HARMLESS = pattern(r"'MessageFactory' object has no attribute 'GetPrototype'")
"""TensorFlow 2.16 prints this for each of its messages under protobuf 6, without a traceback, and continues."""

SAYINGS = (
    (pattern(r"compiled using NumPy 1\.x cannot be run|_ARRAY_API not found"), _NUMPY,
     "install NumPy below 2 (`pip install 'numpy<2'`), or TensorFlow 2.18 or later"),
    (pattern(r"numpy\.core\.\w+ failed to import|numpy\.dtype size changed|numpy\.ufunc size changed"), _NUMPY,
     "reinstall NumPy and the packages compiled against it in one `pip install`"),
    (pattern(r"Descriptors cannot (?:not )?be created directly"), _PROTOBUF,
     "install a protobuf version that TensorFlow supports; `fitdoctor env` shows which"),
    (pattern(r"incompatible Protobuf Gencode/Runtime versions"), _PROTOBUF,
     "install a protobuf at least as new as the one TensorFlow was built with: `pip install -U protobuf`"),
    (pattern(r"cannot import name '(?:builder|runtime_version)' from 'google\.protobuf"), _PROTOBUF,
     "install a newer protobuf: `pip install -U protobuf`"),
    (_HARMLESS, _PROTOBUF, "install a protobuf version that TensorFlow supports; `fitdoctor env` shows which"),
    (pattern(r"Keras cannot be imported\. Check that it is installed"),
     "TensorFlow cannot find its Keras package",
     "install `keras`; with `TF_USE_LEGACY_KERAS=1`, install the `tf_keras` version that matches TensorFlow"),
    (pattern(r"installed version of Keras is Keras 3, but this is not yet supported"),
     "transformers needs Keras 2, but Keras 3 is installed",
     "install `tf-keras` alongside Keras 3: `pip install tf-keras`"),
    (pattern(r"cannot import name '\w+' from 'tensorflow\.(?:compat|python|_api|__internal__)"), _KERAS,
     "install the Keras version that matches this TensorFlow; `fitdoctor env` shows which"),
    (pattern(r"module 'tensorflow\.(?:compat\.v2\.)?__internal__[\w.]*' has no attribute"), _KERAS,
     "install the Keras version that matches this TensorFlow; `fitdoctor env` shows which"),
    (pattern(r"module 'tensorflow\.(?:python\.[\w.]+|compat\.v2)' has no attribute '(?:__internal__|_?[A-Z]\w+)'"), _KERAS,
     "install the Keras version that matches this TensorFlow; `fitdoctor env` shows which"),
    (pattern(r"Unable to convert function return value to a Python type! The signature was\s+\(\) -> handle"),
     "the native part of TensorFlow is incompatible with this NumPy version",
     "install a NumPy version that TensorFlow supports; `fitdoctor env` shows which"),
    (pattern(r"Keras requires TensorFlow [\d.]+ or higher"), _KERAS,
     "install a newer TensorFlow, or the Keras version that matches this one; `fitdoctor env` shows which"),
    (pattern(r"'InputLayer'[\s\S]{0,600}(?:Unrecognized keyword arguments|unexpected keyword argument)\W{1,6}batch_shape"),
     "the model was saved with Keras 3 but is loaded with Keras 2",
     "load it with Keras 3 (TensorFlow 2.16 or later), or rebuild the model and load its weights"),
    (pattern(r"requires TensorFlow version [><=]+ ?[\d.]+; ?Detected an installation of version"),
     "a package needs a different TensorFlow version from the installed one",
     "install the version of the package that matches this TensorFlow"),
    (pattern(r"module 'ml_dtypes' has no attribute"),
     "the installed ml_dtypes is too old for this TensorFlow or Keras",
     "install a newer version: `pip install -U ml_dtypes`"),
    (pattern(r"TensorBoard is not installed, missing implementation for"),
     "the `TensorBoard` callback needs the package `tensorboard`, which is not installed",
     "install it (`pip install tensorboard`), or remove the callback"),
    (pattern(r"version [`'](?:GLIBC|GLIBCXX|CXXABI)_[\d.]+' not found"), _SYSTEM,
     "use a newer system or image, or an older TensorFlow"),
    (pattern(r"DLL load failed while importing _pywrap_tensorflow_internal|Failed to load the native TensorFlow runtime"),
     "the native part of TensorFlow cannot be loaded",
     "reinstall TensorFlow in a fresh environment; on Windows install the Microsoft Visual C++ Redistributable"),
)  # fmt: skip
"""Error patterns, with their meaning and fix. Those before TensorFlow 2.16 are from published reports; not run here."""

_OTHER_KERAS = "load it with the Keras that saved it, or rebuild the model in code and load its weights"
_LIKELY = (
    Saying(
        pattern(r"^0$"),
        "the model was saved by another version of Keras than the one that loads it",
        _OTHER_KERAS,
        types=("KeyError",),
        raised_in=("from_config",),
    ),
    Saying(
        pattern(r"Keras symbolic inputs/outputs do not implement `__len__`"),
        "code written for Keras before 2.4 takes the length of a Keras tensor",
        "use a version of the package made for this Keras; a model's number of outputs is `len(model.outputs)`",
    ),
    Saying(
        pattern(r"Unknown layer: '(?:Functional|Model|Sequential|layers|name|config|class_name|module)'"),
        "the model was saved by another version of Keras than the one that loads it",
        _OTHER_KERAS,
    ),
    Saying(
        pattern(
            r"(?:unexpected keyword argument|argument not understood:',) '(?:ragged|batch_shape|groups)'"
        ),
        "the model was saved by a newer Keras than the one that loads it",
        _OTHER_KERAS,
    ),
    Saying(
        pattern(
            r"unsupported operand type\(s\) for [^\n]{1,4}: (?:'Dimension' and '\w+'|'\w+' and 'Dimension')"
        ),
        "in TensorFlow 1, the sizes of a shape are `Dimension` objects, which do not mix with floats",
        "use `int(shape[i])`, or TensorFlow 2, where sizes are plain integers",
    ),
)
"""What the words alone make likely."""

_PROCESSOR = (
    "the processor does not support instructions that this TensorFlow was compiled with (AVX)",
    "install a TensorFlow built for this processor (conda-forge has one), or use another machine",
)
_IN_LIBRARY = pattern(
    r"module 'numpy' has no attribute '(?:bool|object|int|float|complex|str|typeDict|complex_)'"
)
_SYMBOLIC_SHAPE = pattern(r"Cannot convert a symbolic Tensor \(.{1,200}\) to a numpy array")
_ABSENT = pattern(r"No module named '(?P<name>(?!jax|torch|openvino)[\w.]+)'")
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
            subject="installed packages",
            location=module.location(of_family[0]),
            evidence=[Evidence(claim=conflict.first, observed=conflict.second, fact=conflict.source)],
            fixes=[fix(conflict.remedy)],
        )


def _is_of_family(node: ast.Import | ast.ImportFrom) -> bool:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    return any(name.partition(".")[0] == "tensorflow" for name in names)


@CAUSE.after_failure
def from_words(failure: FailureFacts) -> Iterator[Finding]:
    """Report what the message alone makes likely."""
    yield from findings_from_message(CAUSE, failure, _LIKELY, "installed packages")


@CAUSE.after_failure
def from_failure(failure: FailureFacts, environment: EnvironmentFacts | Unknown) -> Iterator[Finding]:
    """Report a library's error about an incompatible version."""
    said = f"{failure.message}\n{failure.raw_message}\n" + "\n".join(each.message for each in failure.earlier)
    for expected, problem, remedy in SAYINGS:
        if expected.search(said):
            found = _finding(problem, remedy, failure, environment)
            yield _told_and_gone_on(found) if expected is _HARMLESS and not failure.frames else found
            return
    if failure.type == "SIGILL":
        yield _finding(*_PROCESSOR, failure, environment)
        return
    absent = _ABSENT.fullmatch(failure.message.strip())
    if absent is not None and failure.type == "ModuleNotFoundError" and _raised_in_family(failure):
        yield _finding(*_not_whole(absent["name"], failure), failure, environment)
    elif (
        absent is not None
        and absent["name"] in _OWN
        and failure.type in ("ModuleNotFoundError", "ImportError")
    ):
        yield _finding(*_not_there(absent["name"]), failure, environment)
    elif _IN_LIBRARY.search(said) and _raised_in_family(failure):
        yield _finding(
            "a library uses names that NumPy has removed",
            "install NumPy below 1.24 (below 2 for `complex_`), or a newer version of that library",
            failure,
            environment,
        )
    elif _saved_as_text(failure):
        found = _finding(
            "h5py 3 returns text where this version of Keras expects bytes",
            "install h5py below 3 (`pip install 'h5py<3'`), or TensorFlow 2.5 or later",
            failure,
            environment,
        )
        yield found if failure.frames else replace(found, confidence=Confidence.LIKELY)
    elif (lacking := _lacks(failure)) is not None:
        yield replace(_finding(*lacking, failure, environment), confidence=Confidence.LIKELY)
    elif _SYMBOLIC_SHAPE.search(said) and any(
        frame.function == "_constant_if_small" for frame in failure.frames
    ):
        yield _finding(
            "TensorFlow before 2.5 passes its own tensors to NumPy, which NumPy 1.20 and later reject",
            "install a newer TensorFlow, or NumPy below 1.20",
            failure,
            environment,
        )


def _saved_as_text(failure: FailureFacts) -> bool:
    """Whether Keras before 2.5 decodes what h5py 3 already has decoded."""
    if failure.type != "AttributeError" or "'str' object has no attribute 'decode'" not in failure.message:
        return False
    last = failure.frames[-1] if failure.frames else None
    return last is None or last.library and bool(_SAVING.search(last.path.replace("\\", "/")))


_SAVING = pattern(r"/keras/(?:engine/(?:saving|topology|network)|saving/\w+|models)\.py$")
_LACKING = pattern(
    r"module '(?P<module>(?:tensorflow|keras|tf_keras)[\w.]*)' has no attribute '(?P<name>\w+)'"
)


def _lacks(failure: FailureFacts) -> tuple[str, str] | None:
    """Return meaning and fix of a name that a package, not the program, looks for in TensorFlow or Keras."""
    if failure.type == "ImportError":
        return _lacks_import(failure)
    said = _LACKING.search(failure.message) if failure.type == "AttributeError" else None
    if said is None:
        return None
    public = PUBLIC_NAMES.get(as_keras(said["module"]) or "", ())
    last = failure.frames[-1] if failure.frames else None
    by_package = last is not None and last.library
    if not by_package and said["name"] not in public:
        return None
    return (
        f"the installed `{said['module']}` has no `{said['name']}`: a package and this TensorFlow or Keras do not match"
        if by_package
        else f"the installed Keras has no `{said['name']}`, which Keras 2.9 and later have: it does not match TensorFlow",
        "install versions that match; `fitdoctor env` shows which",
    )


_REFUSED_IMPORT = pattern(r"^cannot import name '(?P<name>\w+)'")
_IMPORTING = pattern(r"\bfrom (?P<module>(?:tensorflow|keras|tf_keras)[\w.]*) import\b")


def _lacks_import(failure: FailureFacts) -> tuple[str, str] | None:
    """Return meaning and fix of a name that a package cannot import from TensorFlow or Keras."""
    said = _REFUSED_IMPORT.search(failure.message)
    last = failure.frames[-1] if failure.frames else None
    if said is None or last is None and said["name"] not in ("keras_export", "tf_export"):
        return None
    written = _IMPORTING.search(last.text) if last is not None else None
    if last is not None and (not last.library or written is None):
        return None
    return (
        f"a package imports `{said['name']}`, which the installed TensorFlow or Keras does not have",
        "install versions that match; `fitdoctor env` shows which",
    )


def _not_whole(name: str, failure: FailureFacts) -> tuple[str, str]:
    """Return meaning and fix of a module that a library of the family cannot find."""
    importer = _raised_in_family(failure)
    package = name.partition(".")[0]
    if package == importer.partition("/")[0]:
        return f"part of the installed {package} is missing: `{name}`", (
            "reinstall it: `pip install --force-reinstall --no-deps`, with the package name that `fitdoctor env` shows"
        )
    if "." in name:
        return _KERAS, "install the Keras version that matches this TensorFlow; `fitdoctor env` shows which"
    wanted = _DISTRIBUTIONS.get(package, package)
    return f"{importer} needs `{wanted}`, which is not installed", f"install it: `pip install {wanted}`"


def _not_there(name: str) -> tuple[str, str]:
    """Return meaning and fix of a missing package, which may be installed for another Python."""
    return (
        f"`{name}` is not installed for the Python that ran this program, or its files are missing",
        f"install it with the same Python: `python -m pip install {name}`",
    )


def _told_and_gone_on(finding: Finding) -> Finding:
    message = "TensorFlow prints this line because protobuf is newer than it supports, and continues: nothing failed"
    return replace(finding, message=message, severity=Severity.INFO)


def _raised_in_family(failure: FailureFacts) -> str:
    """Return the library of the family that raised the error, or "" for any other place."""
    # NumPy itself raises if one of its names was removed.
    last = next((frame for frame in reversed(failure.frames) if "/numpy/" not in frame.path), None)
    if last is None or not last.library:
        return ""
    return next((name for name in _FAMILY if f"/{name}/" in last.path), "")


def _finding(
    problem: str, remedy: str, failure: FailureFacts, environment: EnvironmentFacts | Unknown
) -> Finding:
    frame = failure.last_user_frame
    found: tuple[Conflict, ...] = ()
    if isinstance(environment, EnvironmentFacts) and not isinstance(environment.conflicts, Unknown):
        found = environment.conflicts
    evidence = [Evidence(claim="the library reports", observed=_first_line(failure), fact="failure.message")]
    evidence += [
        Evidence(claim=conflict.problem, observed=conflict.second, fact=conflict.source)
        for conflict in found[:3]
    ]
    return CAUSE.finding(
        problem,
        subject="installed packages",
        location=frame.location if frame else None,
        evidence=evidence,
        fixes=[*(fix(conflict.remedy) for conflict in found[:1]), fix(remedy)],
        confidence=Confidence.CERTAIN,
    )


def _first_line(failure: FailureFacts) -> str:
    return failure.message.strip().split("\n")[0][:120]
