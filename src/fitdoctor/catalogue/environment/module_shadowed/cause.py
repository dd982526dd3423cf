"""Local file or folder that shadows TensorFlow, Keras or NumPy.

## What happens

- If the program itself is called `tensorflow.py`: `AttributeError: partially initialized module 'tensorflow' has no
  attribute 'keras' (most likely due to a circular import)`.
- If a file of that name is next to the program, or only an empty folder is left of TensorFlow: `AttributeError:
  module 'tensorflow' has no attribute 'keras'`.
- `ImportError: cannot import name 'layers' from 'keras' (/home/user/project/keras.py)`.

## Why

Python searches the program's own folder first. If it finds no other module, a folder without `__init__.py` counts as
an empty package, for example the remains of an interrupted uninstall, or a data folder called `tensorflow`.

## Fix

Rename the file or folder, and delete its `__pycache__`. If it is among the installed packages, reinstall the package.

## Known limits

Reported only after the failure, because a file with such a name is harmless inside your own package. In a saved
traceback, it is detected only if the traceback or the message names the file. The examples were run by hand; they
are not run here, because the tests import TensorFlow first.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import EnvironmentFacts, FailureFacts, Unknown
from fitdoctor.failure.frames import is_library
from fitdoctor.source.imports import first_import
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT907",
    slug="module-shadowed",
    severity=Severity.ERROR,
    raises=("AttributeError", "ImportError", "ModuleNotFoundError"),
    explains=("FIT406", "FIT901", "FIT902"),
)

FAMILY = "tensorflow keras tf_keras numpy pandas scipy sklearn matplotlib torch jax".split()
_SAID = re.compile(
    r"module '(?P<missing>[\w.]+)' has no attribute"
    r"|cannot import name '[\w.]+' from (?:partially initialized module )?'(?P<refused>[\w.]+)'"
    r"(?: \(most likely due to a circular import\))? \((?P<place>[^()\n]+|unknown location)\)"
    r"|No module named '(?P<absent>[\w.]+)'; '[\w.]+' is not a package"
    r"|^No module named '(?P<part>tensorflow\.(?:keras|python)|keras\.(?:models|layers|optimizers|utils|callbacks))'$"
)


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, environment: EnvironmentFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Report a message about a known package if something else was imported under its name."""
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
    yield CAUSE.certain(
        f"`import {package}` imports "
        + (f"the empty folder `{place}`" if emptied else f"your own `{place}`")
        + " instead of the package",
        _import_of(package, project) or failure.location,
        Evidence(f"imported as `{package}`", place),
        fix(_remedy(package, place, emptied=emptied)),
        subject=f"import of {package}",
    )


_ALWAYS = re.compile(
    r"^module 'tensorflow' has no attribute '(?:constant|Variable|float32|nn|reduce_mean"
    r"|__version__)'$|^module 'keras' has no attribute '(?:Sequential|Model|layers|models|__version__)'$"
    r"|^module 'numpy' has no attribute '(?:array|ndarray|zeros|float32|random|__version__)'$"
)
"""Attributes that every version of the package has."""


def _unplaced(package: str, failure: FailureFacts, project: Project) -> Finding:
    """Report the same if nothing shows which file it was."""
    return CAUSE.finding(
        f"`import {package}` imports a local file or folder of that name instead of the package",
        _import_of(package, project) or failure.location,
        Evidence("an attribute that every version has is missing"),
        fix(
            f"print `{package}.__file__` and rename that file or folder; if it is an empty folder left by an old "
            "installation, reinstall the package"
        ),
        subject=f"import of {package}",
        confidence=Confidence.LIKELY,
    )


def _stand_in(package: str, failure: FailureFacts, environment: EnvironmentFacts | Unknown, said: str) -> str:
    """Return the imported file or folder, as named by the traceback, the message or the loaded modules."""
    # A file of that name inside a package may appear in the traceback of an unrelated failure.
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
    return place == "unknown location" or is_library(place, here=False)


def _import_of(package: str, project: Project) -> Location | None:
    for module in project.modules:
        statement = first_import(module, (package,))
        if statement is not None:
            return module.location(statement)
    return None


def _remedy(package: str, place: str, *, emptied: bool) -> str:
    if emptied and "site-packages" in place:
        return f"delete `{place}` and reinstall the package"
    return f"rename `{place}`, because it shadows the package `{package}`"
