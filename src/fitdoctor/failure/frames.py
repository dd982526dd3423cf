"""Whose code a frame is: the user's, or that of an installed package, the standard library or a generator of code."""

from __future__ import annotations

import functools
import os
import site
import sys

from fitdoctor.diagnosis import NOTEBOOK
from fitdoctor.facts import Frame
from fitdoctor.patterns import pattern

_PACKAGE_FOLDERS = frozenset({"site-packages", "dist-packages"})
_EXAMPLE = pattern(r"(?:broken|fixed)(?:_\w+)?\.py")
"""The programs that show a cause lie in our own package and are the user's code all the same."""
_TYPED_IN = (
    "<ipython-input-",
    "<stdin>",
    "<input>",
    "<console>",
    "<timed exec>",
    "<timed eval>",
    "<cell ",
    "<command-",
)
"""Pseudo-files that hold what the user typed; every other `<…>` is generated code."""

_COMPILED = (".pyx", ".pxd", ".pxi", ".c", ".cc", ".cpp", ".h")
"""Sources of extension modules, which NumPy and pandas name by paths that lead nowhere."""

_NUMBERED_CELL = pattern(
    r"(?:^<|[/\\]|^)ipython-input-(\d{1,6})-|^<cell (\d{1,6})>|^(?:Cell|Input) In ?\[(\d{1,6})\]"
)
_CELL_FILE = pattern(
    r"""(?x)(?:^|[/\\])ipykernel_\d+[/\\]\d+\.py$
    | (?:^|[/\\])ipython-input-[\w-]+\.py$
    | ^(?:Cell|Input)[ ]In[ ]?\["""
)
_LIBRARY_SOURCE = pattern(
    r"""(?x)(?:^|/)(?:
        lib(?:64)?/python\d[\d.]*(?:/|$)
      | python\d[\d.]*/(?:lib|site-packages)/
      | (?:tf_)?keras/src/
      | keras/(?:engine|utils|layers|legacy|backend|optimizers)/
      | tensorflow(?:_core)?/(?:python|core|compiler|lite|api)/
      | tensorflow_estimator/python/
      | python\.framework/
      | bazel-out/
    )"""
)
_INTERPRETER = pattern(r"python|conda|/envs/|pyenv|virtualenv|venv")
_GENERATED = "__autograph_generated_file"


def is_generated(path: str) -> bool:
    """Whether it is a file that AutoGraph wrote: a copy of the user's code with other line numbers."""
    return _GENERATED in path


def is_cell(path: str) -> bool:
    """Whether it is a cell of a notebook, or a line typed into IPython."""
    return path.startswith(("<ipython-input-", "<cell ", "<timed ")) or bool(_CELL_FILE.search(path))


def cell_number(path: str) -> int | None:
    """The number of the cell where its pseudo-file tells it."""
    match = _NUMBERED_CELL.search(path)
    if match is None:
        return None
    return int(next(group for group in match.groups() if group))


def is_library(path: str, *, here: bool = True) -> bool:
    """Whether the code is not of the user's project.

    Args:
        path: a file as a frame names it.
        here: it is a file of this machine and interpreter; False for a path in saved text, which is judged by
            its parts alone.
    """
    if is_generated(path):
        return True
    if is_cell(path):
        return False
    if path.startswith("<"):
        return not path.startswith(_TYPED_IN)
    if path.endswith(_COMPILED):
        return True
    slashed = path.replace("\\", "/")
    parts = slashed.split("/")
    if "fitdoctor" in parts and parts[-4:-3] == ["catalogue"] and _EXAMPLE.fullmatch(parts[-1]):
        return False
    if not _PACKAGE_FOLDERS.isdisjoint(parts):
        return True
    if here:
        return _below(os.path.abspath(path), _library_folders())
    return _below(path, (_own_package(),)) or _looks_like_library(slashed)


def _looks_like_library(slashed: str) -> bool:
    lowered = slashed.lower()
    return bool(_LIBRARY_SOURCE.search(lowered)) or _is_foreign_stdlib(lowered)


def _is_foreign_stdlib(path: str) -> bool:
    """Windows and conda keep the standard library in `lib/` itself: `C:/…/anaconda3/lib/runpy.py`."""
    before, found, after = path.rpartition("/lib/")
    if not found or not _INTERPRETER.search(before):
        return False
    module = after.split("/")[0].removesuffix(".py")
    return module in sys.stdlib_module_names


def _below(path: str, folders: tuple[str, ...]) -> bool:
    normal = os.path.normcase(path)
    return any(normal.startswith(folder + os.sep) for folder in folders)


@functools.cache
def _own_package() -> str:
    return os.path.normcase(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@functools.cache
def _library_folders() -> tuple[str, ...]:
    """The standard library and the package folders of this interpreter, and fitdoctor itself."""
    import sysconfig

    names = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = {sysconfig.get_path(name) for name in names}
    folders |= {os.path.dirname(os.path.abspath(os.__file__))}
    if site.ENABLE_USER_SITE is not None:
        folders |= {site.getusersitepackages()}
    folders |= {folder for folder in sys.path if _is_install_target(folder)}
    real = {os.path.realpath(folder) for folder in folders if folder}
    every = {os.path.normcase(folder) for folder in (*folders, *real) if folder}
    return (*sorted(every), _own_package())


def _is_install_target(folder: str) -> bool:
    """Whether packages were installed into a folder of its own (`pip install --target`), beside no program."""
    main = getattr(sys.modules.get("__main__"), "__file__", None) or ""
    if not folder or os.path.abspath(folder) in (os.getcwd(), os.path.dirname(os.path.abspath(main))):
        return False
    try:
        return any(name.endswith(".dist-info") for name in os.listdir(folder))
    except OSError:
        return False


def is_framework(path: str) -> bool:
    """Whether the code is TensorFlow's or Keras's own."""
    parts = path.replace("\\", "/").split("/")
    for index, part in enumerate(parts[:-1]):
        if part in _PACKAGE_FOLDERS:
            package = parts[index + 1].removesuffix(".py")
            return package.startswith(("keras", "tf_keras", "tensorflow"))
    return bool(_FRAMEWORK_SOURCE.search("/".join(parts)))


def is_keras(path: str) -> bool:
    """Whether the code is Keras's own, of any version."""
    return bool(_KERAS_SOURCE.search(path.replace("\\", "/")))


_KERAS_SOURCE = pattern(r"(?:^|/)(?:tf_)?keras/(?:src|engine|utils|layers|models|optimizers|backend)/")
_FRAMEWORK_SOURCE = pattern(r"(?:^|/)(?:tf_)?keras/(?:src|engine)/|(?:^|/)tensorflow(?:_core)?/python/")


def shown_path(path: str) -> str:
    """A path as diagnoses show it: relative to the working directory where the file is below it."""
    if path.startswith("<") or is_cell(path):
        return path
    from fitdoctor.source.read import display_path

    return display_path(path)


def frame_of(
    path: str, line: int, function: str, text: str = "", *, here: bool = True, cell: int | None = None
) -> Frame:
    """A frame with its path as shown, whose it is, and the cell where the path tells it."""
    if is_cell(path):
        shown, number, line = (
            _cell_place(path, line) if here and cell is None else (NOTEBOOK, cell or cell_number(path), line)
        )
        return Frame(path if number is None else shown, line, function, text, cell=number)
    return Frame(
        path=shown_path(path) if here or os.path.isabs(path) else path,
        line=line,
        function=function,
        text=text,
        library=is_library(path, here=here),
        cell=cell,
    )


def _cell_place(path: str, line: int) -> tuple[str, int | None, int]:
    """The notebook, the number of a cell, by the shell that runs it or by its name, and the line in it."""
    from fitdoctor.source.running_notebook import notebook_path, place_in_cell

    place = place_in_cell(path, line)
    return (NOTEBOOK, cell_number(path), line) if place is None else (notebook_path(), *place)
