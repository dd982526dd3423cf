"""A file or folder of the program's own stands in the place of TensorFlow, Keras or NumPy.

## What happens

`AttributeError: partially initialized module 'tensorflow' has no attribute 'keras' (most likely due to a circular
import)`, where the program itself is called `tensorflow.py`; `AttributeError: module 'tensorflow' has no attribute
'keras'`, where a file of that name lies beside it, or where an empty folder is all that is left of TensorFlow;
`ImportError: cannot import name 'layers' from 'keras' (/home/user/project/keras.py)`.

## Why

Python looks for a module in the folder of the program first. A folder without `__init__.py` counts as a package with
nothing in it when no other is found: what an interrupted uninstall leaves behind, or a folder for data that is called
`tensorflow`.

## Fix

Rename the file or folder, and delete its `__pycache__`. Where it lies among the installed packages, install the package
again.

## Known limits

Told from the failure alone: a file with such a name does no harm inside a package of yours. From a saved text it is
known only where the traceback or the message names the file. The programs were run, but are not run here with the
tests: TensorFlow is imported before them there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.environment.imports import first_import
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import EnvironmentFacts, FailureFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT907",
    slug="module-shadowed",
    severity=Severity.ERROR,
    raises=("AttributeError", "ImportError", "ModuleNotFoundError"),
    explains=("FIT406", "FIT901", "FIT902"),
)

FAMILY = (
    "tensorflow",
    "keras",
    "tf_keras",
    "numpy",
    "pandas",
    "scipy",
    "sklearn",
    "matplotlib",
    "torch",
    "jax",
)
_SAID = pattern(
    r"module '(?P<missing>[\w.]+)' has no attribute"
    r"|cannot import name '[\w.]+' from (?:partially initialized module )?'(?P<refused>[\w.]+)'"
    r"(?: \(most likely due to a circular import\))? \((?P<place>[^()\n]+|unknown location)\)"
    r"|No module named '(?P<absent>[\w.]+)'; '[\w.]+' is not a package"
    r"|^No module named '(?P<part>tensorflow\.(?:keras|python)|keras\.(?:models|layers|optimizers|utils|callbacks))'$"
)


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, environment: EnvironmentFacts | Unknown, project: Project | Unknown
) -> Iterator[Finding]:
    """The message speaks of a known package, and what was imported under its name is something else."""
    said = _SAID.search(failure.message)
    if said is None or failure.type not in ("AttributeError", "ImportError", "ModuleNotFoundError"):
        return
    package = (said["missing"] or said["refused"] or said["absent"] or said["part"]).partition(".")[0]
    if package not in FAMILY and (package not in sys.stdlib_module_names or said["absent"]):
        return
    place = _stand_in(package, failure, environment, said["place"] or "")
    if not place:
        if package in FAMILY and (said["absent"] or said["part"] or _ALWAYS.search(failure.message)):
            yield _unplaced(package, failure, project)
        return
    emptied = not place.endswith(".py")
    yield CAUSE.finding(
        f"`{package}` is not the package: "
        + (f"the folder `{place}` with nothing in it" if emptied else f"your own `{place}`")
        + " is imported in its place",
        subject=f"import of {package}",
        location=_import_of(package, project) or _last_line(failure),
        evidence=[Evidence(claim=f"what `import {package}` found", observed=place)],
        fixes=[fix(_remedy(package, place, emptied=emptied))],
        confidence=Confidence.CERTAIN,
    )


_ALWAYS = pattern(
    r"^module 'tensorflow' has no attribute '(?:constant|Variable|keras|data|float32|function|compat|nn|reduce_mean"
    r"|__version__)'$|^module 'keras' has no attribute '(?:Sequential|Model|layers|models|__version__)'$"
    r"|^module 'numpy' has no attribute '(?:array|ndarray|zeros|float32|random|__version__)'$"
)
"""What no version of the package has ever been without."""


def _unplaced(package: str, failure: FailureFacts, project: Project | Unknown) -> Finding:
    """The same, where nothing says which file it was."""
    return CAUSE.finding(
        f"`{package}` is not the package: a file or folder of that name is imported in its place",
        subject=f"import of {package}",
        location=_import_of(package, project) or _last_line(failure),
        evidence=[Evidence(claim="a part that every version has is missing", fact="failure.message")],
        fixes=[
            fix(
                f"print `{package}.__file__`, and rename what it names: `{package}.py` or a folder `{package}` beside the "
                "program; where it is an emptied folder of an old installation, install the package again"
            )
        ],
        confidence=Confidence.LIKELY,
    )


def _stand_in(package: str, failure: FailureFacts, environment: EnvironmentFacts | Unknown, said: str) -> str:
    """The file or folder that was imported, as the traceback, the message or the living modules name it."""
    # A file of such a name inside of a package may well be on the way to a failure that has other reasons.
    itself = "partially initialized" in failure.message or "is not a package" in failure.message
    places = [frame.path for frame in failure.user_frames] if itself else []
    if said and not _is_installed(said):
        places.append(said)
    for place in places:
        if _names(place, package):
            return place
    if isinstance(environment, EnvironmentFacts):
        return dict(environment.stand_ins).get(package, "")
    return ""


def _names(place: str, package: str) -> bool:
    parts = place.replace("\\", "/").split("/")
    return parts[-1] == f"{package}.py" or parts[-2:] == [package, "__init__.py"]


def _is_installed(place: str) -> bool:
    from fitdoctor.failure.frames import is_library

    return place == "unknown location" or is_library(place, here=False)


def _import_of(package: str, project: Project | Unknown) -> Location | None:
    for module in () if isinstance(project, Unknown) else project.modules:
        statement = first_import(module, (package,))
        if statement is not None:
            return module.location(statement)
    return None


def _last_line(failure: FailureFacts) -> Location | None:
    frame = failure.last_user_frame
    return frame.location if frame else None


def _remedy(package: str, place: str, *, emptied: bool) -> str:
    if emptied and "site-packages" in place:
        return f"delete `{place}` and install the package again"
    return f"rename `{place}`: no file or folder of yours may be called `{package}`"
