"""Which Keras a project uses: read from its pins, from a notebook's installs and kernel, and from imports.

What counts as wrong differs between Keras 2 and Keras 3, and TensorFlow 2.16 is the first to include Keras 3.
"""

from __future__ import annotations

import functools
import glob
import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from fitdoctor.facts import SourceFacts
from fitdoctor.records import dataclass, replace
from fitdoctor.source.keras_changes import is_import_of_old_keras

if TYPE_CHECKING:
    from fitdoctor.source.project import Project

    Pin = tuple[str, str]
    """A package in lower case with dashes, and its version specifier."""


@dataclass(frozen=True)
class Assumed:
    """The major version of Keras to check for, and what says so ("" for the installed one)."""

    major: int
    reason: str = ""
    tensorflow_1: bool = False
    """Whether it runs on TensorFlow 1: a graph that is built once, and names such as `acc` in the history."""
    older_optimizers: bool = False
    """Whether it runs on TensorFlow before 2.11, in which one optimizer can train several models."""


_TENSORFLOWS = frozenset(
    ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-macos", "tensorflow-intel")
)
_OF_KERAS_2 = frozenset(
    "tensorflow-gpu tensorflow-addons keras-applications keras-contrib keras-resnet keras-rl keras-rl2 keras2onnx".split()
)
"""Packages whose last release needs Keras 2."""
_PACKAGES = _TENSORFLOWS | _OF_KERAS_2 | {"keras"}
_BEFORE_KERAS_3 = {
    "tensorflow": ("1.4.0", "1.15.5", *(f"2.{minor}.{patch}" for minor in range(16) for patch in range(5))),
    "keras": ("1.2.2", "2.0.0", "2.1.6", "2.2.5", "2.3.1", *(f"2.{minor}.0" for minor in range(4, 16))),
}
_WITH_KERAS_3 = {
    "tensorflow": tuple(f"2.{minor}.{patch}" for minor in range(16, 40) for patch in range(3)),
    "keras": tuple(f"3.{minor}.{patch}" for minor in range(40) for patch in range(4)),
}
_FIRST_PYTHON = (3, 9)
"""The first Python of TensorFlow 2.16: a kernel with an older Python has an older TensorFlow."""


def judged(pins: Iterable[Pin], source: str) -> Assumed | None:
    """Return what the pins of one file imply; Keras's own pin comes before TensorFlow's."""
    pins = sorted(pins, key=lambda pin: pin[0] != "keras")
    for package, specifier in pins:
        major = _major(package, specifier)
        if major is not None:
            first = (2, 4) if package == "keras" else (2, 0)
            return Assumed(
                major,
                f"{source} requires {package}{specifier}",
                _is_before(package, specifier, first),
                _is_before(package, specifier, (2, 11)),
            )
    old = next((package for package, _specifier in pins if package in _OF_KERAS_2), None)
    return Assumed(2, f"{source} requires {old}") if old else None


def _major(package: str, specifier: str) -> int | None:
    """Return 2 or 3 if the specifier admits only versions that bring that Keras."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    if package not in _TENSORFLOWS | {"keras"} or not specifier:
        return None
    try:
        allowed = SpecifierSet(specifier)
    except InvalidSpecifier:
        return None
    kind = "keras" if package == "keras" else "tensorflow"
    before = any(allowed.contains(version, prereleases=True) for version in _BEFORE_KERAS_3[kind])
    after = any(allowed.contains(version, prereleases=True) for version in _WITH_KERAS_3[kind])
    if before == after:
        return _from_exact(kind, specifier)
    return 2 if before else 3


def _from_exact(kind: str, specifier: str) -> int | None:
    """Return the Keras of an `==` version that is in neither list, such as a pre-release."""
    version = _exact(specifier)
    if version is None:
        return None
    return 3 if version >= ((3, 0) if kind == "keras" else (2, 16)) else 2


def _exact(specifier: str) -> tuple[int, int] | None:
    exact = re.fullmatch(r"===?\s*(\d+)(?:\.(\d+))?.*", specifier)
    return None if exact is None else (int(exact[1]), int(exact[2] or 0))


def _is_before(package: str, specifier: str, since: tuple[int, int]) -> bool:
    """Whether the specifier admits only older versions. Keras before 2.4 builds graphs even on TensorFlow 2."""
    from packaging.specifiers import SpecifierSet

    kind = "keras" if package == "keras" else "tensorflow"
    exact = _exact(specifier)
    if exact is not None:
        return exact < since
    later = [*_BEFORE_KERAS_3[kind], *_WITH_KERAS_3[kind]]
    allowed = SpecifierSet(specifier)
    return not any(
        allowed.contains(version, prereleases=True)
        for version in later
        if tuple(map(int, version.split(".")[:2])) >= since
    )


def is_keras_2(project: Project) -> bool:
    """Return whether the whole program uses Keras 2."""
    modules = project.modules
    return bool(modules) and all(module.keras == 2 for module in modules)


# --- files that pin versions --------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def of_folder(folder: str) -> Assumed | None:
    """Return what the nearest requirements, lock or project file at or above a folder implies, within its repository."""
    here = _in_folder(folder)
    above = os.path.dirname(folder)
    if here is not None or above == folder or os.path.exists(os.path.join(folder, ".git")):
        return here
    return of_folder(above)


@functools.lru_cache(maxsize=4096)
def root_of(path: str) -> str:
    """Return the repository of a file, or "" outside of one."""
    folder = os.path.dirname(os.path.abspath(path))
    while not os.path.exists(os.path.join(folder, ".git")):
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return ""
    return folder


def _in_folder(folder: str) -> Assumed | None:
    try:
        names = set(os.listdir(folder))
    except OSError:
        return None
    open_version: Assumed | None = None
    paths = {name: os.path.join(folder, name) for name in _in_order(names)}
    for name, path in paths.items():
        if not name.endswith(".lock") and _LEGACY.search(_text_of(path)):
            return Assumed(2, f"{name} sets TF_USE_LEGACY_KERAS")
    for path in paths.values():
        pins = _pins_of(path)
        found = judged(pins, os.path.basename(path))
        if found is None or (open_version is not None and found.major != open_version.major):
            continue
        if any(_major(*pin) is not None for pin in pins):
            return found
        # A package of Keras 2 does not tell which TensorFlow; another file, such as the README, may.
        open_version = open_version or found
    return open_version


def _in_order(names: set[str]) -> Iterator[str]:
    """Sort lock files first: they list what is really installed."""
    yield from (name for name in ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock") if name in names)
    yield from sorted(name for name in names if re.fullmatch(r"[\w.-]*requirements[\w.-]*\.(txt|in)", name))
    yield from ("requirements",) if "requirements" in names else ()
    declared = ("pyproject.toml", "Pipfile", "setup.cfg", "setup.py")
    yield from (name for name in declared if name in names)
    yield from sorted(name for name in names if re.fullmatch(r"(conda|env|environment)[\w.-]*\.ya?ml", name))
    yield from (name for name in ("Dockerfile", ".travis.yml") if name in names)
    yield from sorted(name for name in names if name.lower() in ("readme.md", "readme.rst", "readme.txt"))


_MOST_BYTES = 8 * 2**20


_LEGACY = re.compile(r"""\bTF_USE_LEGACY_KERAS["'`]?\s*[=:]\s*["'`]?(?:1|[Tt]rue)\b""")
"""With it, TensorFlow 2.16 and later use Keras 2, from the package `tf-keras`."""


def _text_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MOST_BYTES)
    except OSError:
        return ""


def _pins_of(path: str) -> list[Pin]:
    name = os.path.basename(path)
    if os.path.isdir(path):
        files = sorted(glob.glob(os.path.join(glob.escape(path), "*.txt")))
        return [pin for file in files for pin in _pins_of(file)]
    text = _text_of(path)
    # Most of these files have nothing to do with us; the TOML and JSON readers are slow to import.
    if "tensorflow" not in text.lower() and "keras" not in text.lower():
        return []
    if name.endswith((".lock", ".toml")) or name == "Pipfile":
        return list(_from_document(name, text))
    if name.lower().startswith("readme"):
        return list(_from_readme(text))
    if name in ("Dockerfile", ".travis.yml"):
        images = [
            ("tensorflow", f"=={version}")
            for version in re.findall(r"tensorflow/tensorflow:(\d+\.\d+\.\d+)", text)
        ]
        # NVIDIA's images of 2023 and before have TensorFlow 2.14 at most.
        images += [
            ("tensorflow", "==1.15.5" if major == "1" else "<2.15")
            for year, major in re.findall(r"nvidia/tensorflow:(\d\d)\.\d\d-tf([12])\b", text)
            if year <= "23"
        ]
        return [*images, *installed_by(text)]
    if name.endswith((".yml", ".yaml")):
        return list(_from_conda(text))
    quoted = re.findall(r"""["']([^"'\n]+)["']""", text) if name == "setup.py" else text.splitlines()
    return [pin for line in quoted if (pin := requirement(line)) is not None]


_REQUIREMENT = re.compile(
    r"\s*([A-Za-z][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?\s*((?:[=<>!~]=?=?\s*[\w.*+!-]+\s*,?\s*)*)\)?"
)


def requirement(line: str) -> Pin | None:
    """The package and version of a line such as `tensorflow-gpu>=2.3,<2.6 ; python_version < "3.9"`."""
    found = _REQUIREMENT.match(line.split("#")[0].split(";")[0])
    if found is None:
        return None
    package = found[1].lower().replace("_", "-")
    return (package, re.sub(r"\s+", "", found[2]).rstrip(",")) if package in _PACKAGES else None


def _from_conda(text: str) -> Iterator[Pin]:
    for line in text.splitlines():
        entry = re.match(r"""\s*-\s*["']?([^"'#]+)""", line)
        if entry is None:
            continue
        # conda writes `tensorflow=2.3` and `tensorflow=2.3.0=mkl_py37`: the versions that begin so.
        conda = re.match(r"(?:[\w-]+::)?([\w-]+)\s*=\s*(\d[\w.]*)", entry[1])
        if conda is not None and "==" not in entry[1]:
            yield conda[1].lower(), f"=={conda[2].rstrip('.')}.*"
        elif (pin := requirement(entry[1])) is not None:
            yield pin


_NAMED = re.compile(
    r"(?i)(?:(?<=<code>)|(?<![\w/>=-]))(tensorflow(?:-gpu)?|keras)(?:</code>|[`*]*)"
    r"(?:\s*==?|\s*\(version|\s+v(?:ersion)?\.?)?[\s`*]*"
    r"(\d+\.\d+(?:\.\d+)?)(?!\.?\d|[\w.]*[+x]|\W{0,3}(?:or|and|to)\s+(?:later|above|newer|higher|greater|up|\d))"
)


def _from_readme(text: str) -> Iterator[Pin]:
    """The versions that a README names, unless they differ: `tensorflow==2.3.1`, "TensorFlow 1.15"."""
    named = {(package.lower(), f"=={version}") for package, version in _NAMED.findall(text)}
    # "TensorFlow 2.0" also means any TensorFlow 2.
    named = {(package, version) for package, version in named if version != "==2.0"}
    if len({_major(package, version) for package, version in named}) == 1:
        # The newest first: a README also names the version of an earlier implementation.
        yield from sorted(named, key=lambda pin: [int(part) for part in pin[1][2:].split(".")], reverse=True)


def _from_document(name: str, text: str) -> Iterator[Pin]:
    document = _parsed(name, text)
    if name == "Pipfile.lock":
        for section in ("default", "develop"):
            for package, about in _table(document, section).items():
                yield package.lower(), str(about.get("version", "")) if isinstance(about, dict) else ""
        return
    packages = document.get("package", ())
    for package in packages if isinstance(packages, list) else ():
        if isinstance(package, dict) and "version" in package:
            yield str(package.get("name", "")).lower(), f"=={package['version']}"
    project = _table(document, "project")
    extras = _table(project, "optional-dependencies").values()
    for line in [
        *_listed(project.get("dependencies")),
        *(line for extra in extras for line in _listed(extra)),
    ]:
        if (pin := requirement(line)) is not None:
            yield pin
    poetry = _table(_table(document, "tool"), "poetry")
    for table in (_table(poetry, "dependencies"), _table(document, "packages")):
        for package, about in table.items():
            version = about.get("version", "") if isinstance(about, dict) else about
            yield package.lower().replace("_", "-"), _plain_specifier(str(version))


def _plain_specifier(version: str) -> str:
    """Convert Poetry's `^2.4` and `~2.4` to pip's notation."""
    if re.fullmatch(r"\d[\w.]*", version):
        return f"=={version}"
    caret = re.fullmatch(r"\^\s*(\d+)([\w.]*)", version)
    if caret is not None:
        return f">={caret[1]}{caret[2]},<{int(caret[1]) + 1}"
    tilde = re.fullmatch(r"~\s*(\d+)\.(\d+)([\w.]*)", version)
    if tilde is not None:
        return f">={tilde[1]}.{tilde[2]}{tilde[3]},<{tilde[1]}.{int(tilde[2]) + 1}"
    return "" if version == "*" else version


def _parsed(name: str, text: str) -> dict[str, Any]:
    import json
    import tomllib

    try:
        document = json.loads(text) if name == "Pipfile.lock" else tomllib.loads(text)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _table(document: dict[str, Any], key: str) -> dict[str, Any]:
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def _listed(value: Any) -> list[str]:
    return [line for line in value if isinstance(line, str)] if isinstance(value, list) else []


# --- notebooks ----------------------------------------------------------------------------------------------------

_INSTALL = re.compile(
    r"(?m)^[ \t]*(?:RUN[ \t]+|[!%]|-[ \t]+)?[ \t]*(?:\w+[ \t]+-m[ \t]+)?(?:pip3?|uv pip|conda)[ \t]+install[ \t]+([^\n]*)"
)
_CHOSEN = re.compile(r"(?m)^[ \t]*%tensorflow_version[ \t]+(\d)")
_LAST_PYTHON_OF_1 = (3, 7)
"""Also the last of TensorFlow 2.11."""
_OF_1 = re.compile(
    r"(?m)^\s*(?:from|import)\s+keras\b"
    r"|\btf\.(?:(?:compat\.v1\.)?placeholder|set_random_seed|Session|InteractiveSession|ConfigProto"
    r"|get_default_graph|reset_default_graph"
    r"|global_variables_initializer|get_variable|variable_scope|layers|contrib|app|logging|gfile|python_io)\b"
)
"""What a notebook of the time of TensorFlow 1 contains: Keras itself was then a separate package."""
_OF_2 = re.compile(
    # TensorFlow 1.14 has `tf.compat.v1` as well.
    r"\btf\.compat\.(?!v1\.(?:placeholder|Session|train|global_variables_initializer|set_random_seed)\b)"
    r"|\btf\.function\b|\bGradientTape\b|\b(?:tf|tensorflow)\.keras\b"
)


def of_notebook(cells: Iterable[str], metadata: Any) -> Assumed | None:
    """Return what a notebook implies about its Keras: the versions it installs, then the Python of its kernel."""
    cells = list(cells)
    for cell in cells:
        found = judged(installed_by(cell), "a cell") or of_program(cell)
        if found is None and (chosen := _CHOSEN.search(cell)):
            # Colab had it until TensorFlow 2.8.
            found = Assumed(2, "a cell has %tensorflow_version", chosen[1] == "1", older_optimizers=True)
        if found is not None:
            return found
    information = metadata.get("language_info") if isinstance(metadata, dict) else None
    version = information.get("version") if isinstance(information, dict) else None
    numbers = re.match(r"(\d+)\.(\d+)", version) if isinstance(version, str) else None
    python = (int(numbers[1]), int(numbers[2])) if numbers is not None else _FIRST_PYTHON
    # A hand-written 3.1 is 3.10: TensorFlow never ran on the real one.
    if python < _FIRST_PYTHON and not (3, 0) <= python < (3, 3):
        text = "\n".join(cells)
        old = python <= _LAST_PYTHON_OF_1
        first = old and bool(_OF_1.search(text)) and not _OF_2.search(text)
        return Assumed(2, f"the kernel has Python {python[0]}.{python[1]}", first, old)
    return None


_ASKED = r"(?:tf|tensorflow)\.__version__"
_DEMANDED = re.compile(
    rf"(?m)^\s*assert\s+{_ASKED}\s*==\s*[\"'](\d[\w.-]*)[\"']"
    rf"|^\s*assert\s+{_ASKED}\.startswith\(\s*[\"'](\d+\.\d+)[\"']"
    rf"|^\s*if\s+(?:not\s+{_ASKED}\s*==|{_ASKED}\s*!=)\s*[\"'](\d[\w.-]*)[\"']\s*:\s*raise\b"
)
"""`assert tf.__version__ == "2.0.0"`, and the same with `raise`."""
IMPORTS = "the program imports"
_IMPORTS_OF_KERAS_2 = re.compile(r"(?m)^(?:import|from)[ \t]+(tensorflow_addons|keras_contrib)\b")


def of_program(text: str) -> Assumed | None:
    """Return what a program implies that stops on any other version of TensorFlow, or imports a package of Keras 2."""
    if imported := _IMPORTS_OF_KERAS_2.search(text):
        return Assumed(2, f"{IMPORTS} {imported[1]}")
    found = _DEMANDED.search(text)
    version = next(filter(None, found.groups()), "") if found is not None else ""
    return judged([("tensorflow", f"=={version}")], "the program") if version else None


def installed_by(text: str) -> list[Pin]:
    """The packages of `pip install` lines."""
    words = [word.strip("\"'") for line in _INSTALL.findall(text) for word in line.split()]
    return [pin for word in words if (pin := requirement(word)) is not None]


# --- folders of programs without pins -------------------------------------------------------------------------------

_IMPORT = re.compile(r"(?m)^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?import[ \t]+\(?([\w. \t,]+)")
_BEFORE_3 = re.compile(
    r"\.(?:fit|predict|evaluate)_generator\(|\b(?:nb_epoch|nb_filter|border_mode|samples_per_epoch|nb_val_samples)\s*="
    # The copy of Keras 2 inside TensorFlow, which cannot train since TensorFlow 2.16.
    r"|(?m:^)[ \t]*(?:from|import)[ \t]+tensorflow\.python\.keras\b"
    r"|\b(?:SGD|Adam|Adamax|Nadam|RMSprop|Adagrad|Adadelta)\([^()]*\blr\s*="
)
_SINCE_3 = re.compile(
    r"\bkeras\.(?:ops|random|tree|distribution|quantizers)\b|\bfrom keras import [^\n]*\b(?:ops|random)\b|\bkeras_hub\b"
    r"|KERAS_BACKEND\W+(?:jax|torch)\b|\.keras[\"']"
)


def of_separate_programs(programs: dict[str, str]) -> str:
    """Return why programs that leave their Keras open are for Keras 2; "" if they are few or not clearly so.

    Whoever checks one old program may want to move it to Keras 3; who has many of them has Keras 2.

    Args:
        programs: the text of each file by its path.
    """
    imports = {path: _IMPORT.findall(text) for path, text in programs.items()}
    parts = {
        word.rpartition(".")[2]
        for found in imports.values()
        for package, names in found
        if "keras" not in package
        for word in (package, *re.split(r"[\s,]+", names))
    }
    separate = [
        path
        for path, text in programs.items()
        if "keras" in text and os.path.basename(path).rpartition(".")[0] not in parts | {"__init__"}
    ]
    old = sum(_is_before_3(programs[path], imports[path]) for path in separate)
    if old < 3 or 2 * old <= len(separate) or any(map(_SINCE_3.search, programs.values())):
        return ""
    return f"{old} of {len(separate)} programs use what Keras 3 removed"


def _is_before_3(text: str, imports: Iterable[tuple[str, str]]) -> bool:
    """Whether a program uses what only Keras 1 or 2 has."""
    return bool(_BEFORE_3.search(text)) or any(
        is_import_of_old_keras(package, name)
        for package, names in imports
        for name in re.split(r"[\s,]+", names.strip())
        if "keras" in package
    )


def with_older_keras(facts: SourceFacts, reason: str) -> SourceFacts:
    """Return the facts of a program that is for Keras 2, of a version that is not known."""
    first = bool(_OF_1.search(facts.text)) and not _OF_2.search(facts.text)
    return replace(facts, keras=2, keras_because=reason, tensorflow_1=first, older_optimizers=True)
