"""The user's files as they are and as a repair would change them, byte for byte the same elsewhere."""

from __future__ import annotations

import ast
import difflib
import os
import tempfile
import tokenize
import warnings
from collections.abc import Iterable, Sequence
from io import BytesIO

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import apply_edits
from fitdoctor.failure.frames import is_library
from fitdoctor.records import dataclass, replace
from fitdoctor.repair import notebooks
from fitdoctor.source.module import Module
from fitdoctor.source.read import source_from_cells, source_from_text
from fitdoctor.source.written_numbers import CONFIGURATIONS


class CannotEdit(Exception):
    """A file cannot be changed; the message says why."""


@dataclass(frozen=True)
class UserFile:
    """A file as it was read."""

    path: str
    raw: bytes
    encoding: str
    text: str

    @property
    def is_notebook(self) -> bool:
        """Whether its code is in cells."""
        return self.path.endswith(".ipynb")

    def encoded(self, text: str) -> bytes:
        """Return another text in the file's encoding.

        Raises:
            CannotEdit: the file's encoding has no such characters.
        """
        try:
            return text.encode(self.encoding)
        except UnicodeEncodeError:
            raise CannotEdit(
                f"`{self.path}` is written in {self.encoding}, which lacks a character"
            ) from None


def read_file(path: str) -> UserFile:
    """Read a Python file, notebook or configuration file that is to be changed.

    Raises:
        CannotEdit: it cannot be read, or does not parse.
    """
    try:
        with open(path, "rb") as file:
            return file_of(path, file.read())
    except OSError as error:
        raise CannotEdit(f"cannot read `{path}`: {error.strerror}") from None


def file_of(path: str, raw: bytes) -> UserFile:
    """Return a `UserFile` for content that was already read, even if it is in no file.

    Raises:
        CannotEdit: it cannot be decoded, or does not parse.
    """
    try:
        encoding = "utf-8"
        if not path.endswith(".ipynb"):
            encoding, _lines = tokenize.detect_encoding(BytesIO(raw).readline)
        text = raw.decode(encoding)
    except (SyntaxError, UnicodeDecodeError):
        raise CannotEdit(f"cannot decode `{path}`") from None
    read = UserFile(path, raw, encoding, text)
    # A lone carriage return is a line break to Python and none to us: such a file is left alone.
    if not read.is_notebook and "\r" in text.replace("\r\n", ""):
        raise CannotEdit(f"`{path}` has unsupported line endings")
    if not parses(read, text):
        raise CannotEdit(f"`{path}` does not parse")
    return read


def parses(file: UserFile, text: str) -> bool:
    """Whether a text of the file is Python, or a notebook of Python; a configuration file is not checked."""
    if file.path.endswith(CONFIGURATIONS):
        return True
    try:
        code = notebooks.script_of(text).text if file.is_notebook else text.removeprefix("\ufeff")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def module_of_text(file: UserFile, text: str, shown: str, keras: int) -> Module:
    """Return a text of the file as a module.

    Args:
        file: the file.
        text: its text, as it is or as it would be.
        shown: the path for its locations.
        keras: the major version of Keras to check for.

    Raises:
        SourceError: it does not parse.
    """
    if file.is_notebook:
        return Module(source_from_cells(notebooks.cells_of(text), shown, keras))
    return Module(source_from_text(text, shown, keras))


def edited(file: UserFile, text: str, edits: Iterable[Edit]) -> str:
    """Return a text of the file with edits applied.

    Raises:
        CannotEdit: the edits overlap, lie outside the file, or the result does not parse.
    """
    try:
        if file.is_notebook:
            new = notebooks.with_edits(text, edits)
        else:
            newline = "\r\n" if "\r\n" in text else "\n"
            new = apply_edits(
                text, [replace(edit, replacement=edit.replacement.replace("\n", newline)) for edit in edits]
            )
    except ValueError as error:
        raise CannotEdit(f"the edits are not compatible: {error}") from None
    if not parses(file, new):
        raise CannotEdit("the repaired file would not parse")
    return new


@dataclass(frozen=True)
class Change:
    """A file before and after the repair."""

    file: UserFile
    new: str

    def diff(self, shown: str = "") -> str:
        """The change as a unified diff; of a notebook, the diff of its code cells."""
        name = shown or self.file.path
        old, new = self.file.text, self.new
        if self.file.is_notebook:
            old, new = notebooks.readable(old), notebooks.readable(new)
        lines = difflib.unified_diff(
            _lines(old), _lines(new), f"a/{name.lstrip('/')}", f"b/{name.lstrip('/')}"
        )
        return "".join(lines)


def _lines(text: str) -> list[str]:
    # Split at \n alone, as Python counts lines; a \r before it belongs to the line.
    lines = [line.rstrip("\r\n") + "\n" for line in text.split("\n")]
    return lines[:-1] if lines and lines[-1] == "\n" else lines


# --- whose files --------------------------------------------------------------------------------------------------

_ROOTS = (".git", ".hg", "pyproject.toml", "setup.py", "setup.cfg")


def project_root(script: str) -> str:
    """Return the folder of the user's project: the nearest one with a project marker.

    Without one, it is the current folder if that contains the script (but never the home folder), else the script's.
    """
    own = os.path.dirname(os.path.realpath(script))
    here = os.path.realpath(os.getcwd())
    contains = own.startswith(here.rstrip(os.sep) + os.sep)
    private = here in (
        os.path.realpath(os.path.expanduser("~")),
        os.path.realpath(tempfile.gettempdir()),
        os.sep,
    )
    folder = own
    while True:
        if any(os.path.exists(os.path.join(folder, mark)) for mark in _ROOTS):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return here if contains and not private else own
        folder = above


def may_edit(path: str, root: str) -> bool:
    """Whether a file belongs to the user and to this project."""
    real = os.path.realpath(path)
    inside = real.startswith(root.rstrip(os.sep) + os.sep)
    return inside and os.path.isfile(real) and not is_library(real)


def grouped(edits: Sequence[Edit]) -> dict[str, list[Edit]]:
    """Return edits by the real path of the file that they change."""
    groups: dict[str, list[Edit]] = {}
    for edit in edits:
        groups.setdefault(os.path.realpath(edit.location.path), []).append(edit)
    return groups
