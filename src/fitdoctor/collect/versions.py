"""Find conflicts between installed packages, from their metadata and from known incompatible pairs.

Only metadata is read, so it works if TensorFlow itself cannot be imported.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterator, Sequence

from fitdoctor.facts import Conflict
from fitdoctor.records import dataclass

TENSORFLOWS = (
    "tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-intel", "tensorflow-macos", "tensorflow-rocm",
    "tf-nightly", "tf-nightly-cpu",
)  # fmt: skip
"""Distributions that provide the module `tensorflow`."""
KERASES = (("keras", ("keras", "keras-nightly")), ("tf_keras", ("tf_keras", "tf-keras-nightly")))
"""Distributions that provide each Keras module."""
CHECKED = (
    *TENSORFLOWS, "keras", "tf_keras", "tensorflow-hub", "tensorflow-probability", "tensorflow-addons",
    "tensorflow-text", "tensorflow-datasets", "tensorflow-io", "keras-hub", "keras-nlp", "keras-cv", "keras-tuner",
    "tensorboard", "tensorflow-metal",
)  # fmt: skip
"""Distributions whose requirements are checked."""


@dataclass(frozen=True)
class KnownPair:
    """Two packages with documented incompatible versions that their metadata does not declare."""

    package: str
    versions: str
    other: str
    other_versions: str
    problem: str
    remedy: str
    source: str
    fatal: bool = False
    """Whether importing `tf.keras` fails in every program."""


KNOWN_PAIRS = (
    KnownPair(
        "tensorflow", "<2.18", "numpy", ">=2",
        "was built for NumPy 1", "install NumPy below 2, or TensorFlow 2.18 or later",
        "release notes of TensorFlow 2.18: support for NumPy 2.0", fatal=True,
    ),
    KnownPair(
        "tensorflow", "<2.16", "keras", ">=3",
        "uses Keras 2 as `tf.keras`, but the package `keras` is Keras 3",
        "install TensorFlow 2.16 or later, or Keras 2.15",
        "release notes of TensorFlow 2.16: Keras 3 is the default",
    ),
    KnownPair(
        "tensorflow", ">=2.16", "keras", "<3",
        "uses Keras 3 as `tf.keras`, but the package `keras` is Keras 2",
        "install Keras 3, or `tf_keras` with `TF_USE_LEGACY_KERAS=1`",
        "release notes of TensorFlow 2.16: Keras 3 is the default", fatal=True,
    ),
    KnownPair(
        "tensorflow-addons", ">=0", "keras", ">=3",
        "depends on Keras 2 and is no longer maintained",
        "use the Keras 3 equivalents, or `tf_keras` with `TF_USE_LEGACY_KERAS=1`",
        "README of TensorFlow Addons: end of life in May 2024",
    ),
)  # fmt: skip


def versions_of(names: tuple[str, ...]) -> dict[str, str]:
    """Return the installed versions of some distributions."""
    installed = _by_folder(sys.path)
    found = {}
    for name in names:
        version = installed.get(_normal(name))
        if version is None and _OTHER_FORM in installed:
            try:
                version = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                continue
        if version is not None:
            found[name] = version
    return found


_OTHER_FORM = ""
"""Marks distributions whose folder name lacks name and version."""


def _by_folder(path: list[str]) -> dict[str, str]:
    """Return the version of every distribution from folder names, without reading metadata."""
    found: dict[str, str] = {}
    for place in path:
        try:
            entries = os.listdir(place or ".")
        except NotADirectoryError:
            found[_OTHER_FORM] = ""
            continue
        except OSError:
            continue
        for entry in entries:
            stem, ending = os.path.splitext(entry)
            name, dash, version = stem.partition("-")
            if ending == ".dist-info" and dash:
                found.setdefault(_normal(name), version)
            elif ending in (".dist-info", ".egg-info", ".egg", ".egg-link"):
                found[_OTHER_FORM] = ""
    return found


def _normal(name: str) -> str:
    return name.lower().replace("-", "_").replace(".", "_")


def conflicts(*, legacy_keras: bool = False) -> tuple[Conflict, ...]:
    """Return the conflicts among installed packages that matter to training.

    Args:
        legacy_keras: whether `tf.keras` is the package `tf_keras`.
    """
    found = [*_unmet(legacy_keras), *_pairs(KNOWN_PAIRS), *_two_in_one_folder(), *_without_files()]
    if legacy_keras:
        found.extend(_legacy_keras_missing())
    return tuple(dict.fromkeys(found))


def fatal_conflicts(*, legacy_keras: bool = False) -> tuple[Conflict, ...]:
    """Return the conflicts that break importing `tf.keras`."""
    if legacy_keras:
        return tuple(_legacy_keras_missing())
    return tuple(_pairs([pair for pair in KNOWN_PAIRS if pair.fatal]))


def _legacy_keras_missing() -> Iterator[Conflict]:
    version = installed_version("tensorflow")
    if version is not None and installed_version("tf_keras") is None:
        yield Conflict(
            f"tensorflow {version}", "tf_keras",
            "`TF_USE_LEGACY_KERAS` requires `tf_keras`, which is not installed",
            f"install `tf_keras` in the version of TensorFlow ({version}), or unset the variable",
            "the environment variable `TF_USE_LEGACY_KERAS`",
        )  # fmt: skip


def _unmet(legacy_keras: bool) -> Iterator[Conflict]:
    seen: set[str] = set()
    for name, version in versions_of(CHECKED).items():
        # `tensorflow` and `tensorflow-cpu` of the same version are one package under two names.
        kind = f"tensorflow {version}" if name in TENSORFLOWS else name
        if kind in seen:
            continue
        seen.add(kind)
        python = importlib.metadata.metadata(name).json.get("requires_python") or ""
        yield from _python(name, version, str(python))
        for text in importlib.metadata.requires(name) or ():
            for conflict in _requirement(name, version, text):
                # TensorFlow then uses `tf_keras`, and nothing needs the other.
                if not (legacy_keras and conflict.second == "keras" and installed_version("tf_keras")):
                    yield conflict


def _python(name: str, version: str, specifier: str) -> Iterator[Conflict]:
    here = platform.python_version()
    if specifier and not _meets(here, specifier):
        yield Conflict(
            f"{name} {version}", f"Python {here}", f"{name} {version} requires Python {specifier}, but this is {here}",
            f"use Python {specifier}", f"the metadata of {name} {version}",
        )  # fmt: skip


def _requirement(name: str, version: str, text: str) -> Iterator[Conflict]:
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        wanted = Requirement(text)
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            return
    # Metadata of old packages may contain invalid requirements.
    except (InvalidRequirement, KeyError, ValueError):
        return
    installed = installed_version(wanted.name)
    if installed is None:
        if wanted.name.lower() in ("numpy", "keras", "protobuf", "h5py", "ml-dtypes", "tensorflow"):
            yield Conflict(
                f"{name} {version}", wanted.name, f"{name} {version} requires `{wanted.name}`, which is not installed",
                f"install `{wanted}`", f"the metadata of {name} {version}",
            )  # fmt: skip
        return
    if str(wanted.specifier) and not _meets(installed, str(wanted.specifier)):
        yield Conflict(
            f"{name} {version}",
            f"{wanted.name} {installed}",
            f"{name} {version} requires {wanted.name} {wanted.specifier}, but {installed} is installed",
            f"install `{wanted.name}{wanted.specifier}`",
            f"the metadata of {name} {version}",
        )


def installed_version(name: str) -> str | None:
    """Return the version of a distribution; for `tensorflow`, of any of its distributions."""
    names = TENSORFLOWS if name.lower().replace("_", "-") == "tensorflow" else (name,)
    return next(iter(versions_of(names).values()), None)


def _pairs(pairs: Sequence[KnownPair]) -> Iterator[Conflict]:
    for pair in pairs:
        version, other = installed_version(pair.package), installed_version(pair.other)
        if version is None or other is None:
            continue
        if _meets(version, pair.versions) and _meets(other, pair.other_versions):
            yield Conflict(
                f"{pair.package} {version}",
                f"{pair.other} {other}",
                f"{pair.package} {version} {pair.problem} ({pair.other} {other})",
                pair.remedy,
                pair.source,
            )


def _two_in_one_folder() -> Iterator[Conflict]:
    """Yield pairs of distributions that install into the same folder and overwrite each other."""
    for module, names in (("tensorflow", TENSORFLOWS), *KERASES):
        found = versions_of(names)
        if len(set(found.values())) > 1:
            (first, one), (second, other) = list(found.items())[:2]
            yield Conflict(
                f"{first} {one}", f"{second} {other}",
                f"{first} {one} and {second} {other} are installed in the same folder",
                "uninstall both and install one of them", f"both provide the module `{module}`",
            )  # fmt: skip


def _without_files() -> Iterator[Conflict]:
    """Yield packages with metadata but missing files, as after an incomplete installation."""
    for names in (TENSORFLOWS, *(names for _module, names in KERASES), ("numpy",), ("h5py",), ("ml-dtypes",)):
        for name, version in list(versions_of(names).items())[:1]:
            lost = _lost_files(name)
            if not lost:
                continue
            others = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
            yield Conflict(
                f"{name} {version}", "its files",
                f"{name} {version} has metadata, but its files are missing: `{lost[0]}`{others}",
                f"reinstall it: `pip install --force-reinstall --no-deps {name}=={version}`",
                f"the file list in the metadata of {name} {version}",
            )  # fmt: skip


def _lost_files(name: str) -> list[str]:
    """Return the files in the list of a distribution that do not exist."""
    try:
        home = importlib.metadata.distribution(name)
        listed = home.read_text("RECORD") or ""
    except (importlib.metadata.PackageNotFoundError, OSError, UnicodeDecodeError):
        return []
    paths = (line.partition(",")[0] for line in listed.splitlines())
    needed = [
        path
        for path in paths
        if path.endswith((".so", ".pyd", ".dylib"))
        or path.endswith("/__init__.py")
        and path.count("/") == 1
        and not path.startswith(("..", '"'))
    ]
    return [path for path in needed if not os.path.exists(str(home.locate_file(path)))]


def _meets(version: str, specifier: str) -> bool:
    """Whether a version meets a specifier; unreadable ones pass."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion

    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return True
