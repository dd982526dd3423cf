"""Reads a Python file or notebook into text that `ast` can parse, with the original line numbers."""

from __future__ import annotations

import os
import re
from _ast import PyCF_ONLY_AST
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fitdoctor.facts import SourceFacts
from fitdoctor.quiet_warnings import warnings_silenced
from fitdoctor.records import replace
from fitdoctor.source.keras_version import Assumed

if TYPE_CHECKING:
    import ast
    from pathlib import Path


MAX_BYTES = 16 * 2**20
"""Larger Python files are not written by people."""
MAX_NOTEBOOK_BYTES = 512 * 2**20
"""Notebooks contain their images."""

_DECLARED = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))

# Cell magics whose cell is Python all the same; the cell of any other one is something else (bash, html, a file).
_PYTHON_CELLS = frozenset(
    "time timeit capture prun memit mprun lprun heat debug python3 python wandb skip tensorflow_version fitdoctor".split()
)
# Line magics that run the Python that follows them.
_RUNS_PYTHON = re.compile(
    r"%(?:time|timeit|prun|memit|lprun|mprun|debug|fitdoctor[ \t]+check)\b(?:\s+-\w+(?:\s+\d+\b)?)*\s+(?=[^\s-])"
)
_COMPOUND = re.compile(r"(?:for|while|with|if|try|def|class|async)\b")
# Line magics and shell aliases that IPython takes without their `%`.
_AUTOMAGIC = re.compile(
    r"(?m)^[ \t]*(?:pip3?|conda|cd|ls|ll|mkdir|rmdir|rm|cp|mv|cat|less|more|man|load_ext|reload_ext|autoreload"
    r"|matplotlib|run|env|history|writefile|who|whos|timeit|time|pylab|config|git|wget|unzip)[ \t]+[^\s=(,:\[]"
)
_ASSIGNED_MAGIC = re.compile(r"^(\s*[\w.,\s\[\]\"']+=\s*)([!%])(?=\S)")
_HELP = re.compile(r"^\s*(\?{1,2}\s*[\w.*]+|%{0,2}[\w.*\[\]()'\"]+\s*\?{1,2})\s*$")
_STRING_START = re.compile(r"\"\"\"|'''|\"|'")


class SourceError(Exception):
    """A file that cannot be read as Python, and why."""

    def __init__(self, message: str, path: str, line: int = 0, cell: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line
        """The line (of the cell, in a notebook), or 0 where there is none."""
        self.cell = cell

    def __str__(self) -> str:
        cell = "" if self.cell is None else f":cell {self.cell}"
        line = f":{self.line}" if self.line else ""
        return f"{self.path}{cell}{line}: {self.message}"


def display_path(path: Path | str) -> str:
    """Return a path as it is shown: relative if it is below the working directory, else absolute."""
    text = os.fspath(path)
    if not text or text.startswith("<"):
        return text
    try:
        here = os.getcwd()
    except OSError:  # the working directory was removed
        return os.path.abspath(text) if os.path.isabs(text) else text
    absolute = os.path.normpath(os.path.join(here, text))
    below = here if here.endswith(os.sep) else here + os.sep
    return absolute[len(below) :] if absolute.startswith(below) else absolute


def read_source(path: Path | str, keras: int = 3, assumed: bool = False) -> SourceFacts:
    """Read a .py file or an .ipynb notebook.

    Args:
        path: the file.
        keras: the major version of Keras to check for, unless the program chooses one itself.
        assumed: the version is only a default: a notebook that shows what it runs on is checked for that.

    Raises:
        SourceError: it cannot be opened or decoded, is too large, or is not a Python notebook.
    """
    shown = display_path(path)
    notebook = os.fspath(path).endswith(".ipynb")
    raw = _bytes_of(path, shown, MAX_NOTEBOOK_BYTES if notebook else MAX_BYTES)
    text = _decode(raw, shown, notebook)
    if notebook:
        return _notebook(text, shown, keras, assumed)
    if assumed and ("__version__" in text or "tensorflow_addons" in text or "keras_contrib" in text):
        from fitdoctor.source.keras_version import of_program

        found = of_program(text)
        if found is not None:
            return of_project(source_from_text(text, shown, found.major), found)
    return source_from_text(text, shown, keras)


def of_project(facts: SourceFacts, assumed: Assumed) -> SourceFacts:
    """Return the facts with the reason for the Keras that they are judged for, unless the program itself chooses another."""
    if not assumed.reason or facts.keras_because or facts.keras != assumed.major:
        return facts
    return replace(
        facts,
        keras_because=assumed.reason,
        tensorflow_1=assumed.tensorflow_1,
        older_optimizers=assumed.older_optimizers,
    )


def source_from_text(text: str, path: Path | str, keras: int = 3) -> SourceFacts:
    """Return the facts of Python text in memory; its locations use `path`."""
    return SourceFacts(
        display_path(path), _unified(text.removeprefix("\ufeff")), keras=_keras_of(text, keras)
    )


def source_from_cells(cells: list[str] | tuple[str, ...], path: Path | str, keras: int = 3) -> SourceFacts:
    """Return the facts of a notebook's code cells, with magics blanked out."""
    typed = tuple(map(_unified, cells))
    blanked = tuple(map(without_magics, typed))
    joined = "\n".join(blanked)
    return SourceFacts(display_path(path), joined, blanked, typed, _keras_of(joined, keras))


_LEGACY_SWITCH = re.compile(r"""TF_USE_LEGACY_KERAS["']\s*(?:\]\s*=|,)\s*["'](?:1|[Tt]rue)["']""")
_IMPORTS = re.compile(r"(?m)^\s*(?:from\s+([\w.]+)\s+import\s+(.*)|import\s+(.*))")
_PRIVATE = "tensorflow.python.keras"
"""The old Keras inside TensorFlow."""
_OF_TENSORFLOW = re.compile(r"\b(?:tf|tensorflow)\.keras\b")
_WHOLE = re.compile(r"(?m)^\s*import\s+tensorflow\b(?!\.)")
_INSIDE_KERAS_2 = re.compile(r"(?m)^\s*(?:import|from)\s+tf_keras\.src\b")
"""A file of `tf_keras` itself, whose text mentions `tf.keras`."""


def _keras_of(text: str, keras: int) -> int:
    """Return the major version of Keras that a program chooses itself; else the one it is checked for."""
    if not any(word in text for word in ("tf_keras", "LEGACY_KERAS", _PRIVATE)):
        return keras
    if _LEGACY_SWITCH.search(text) or _INSIDE_KERAS_2.search(text):
        return 2
    named = set(_kerases_imported(text))
    if _WHOLE.search(text) and _OF_TENSORFLOW.search(text):
        return keras
    return 2 if named == {"tf_keras"} else keras


def _kerases_imported(text: str) -> Iterator[str]:
    """Yield the packages that an import takes Keras from: `tf_keras`, `keras` (or TensorFlow's), the private copy."""
    for source, names, modules in _IMPORTS.findall(text):
        words = [part.split()[0] for part in (modules or names).split(",") if part.split()]
        if source == "tensorflow":
            words = [f"tensorflow.{word}" for word in words]
        elif source:
            words = [source]
        for word in words:
            if word == _PRIVATE or word.startswith(_PRIVATE + "."):
                yield _PRIVATE
            elif word.split(".")[0] in ("tf_keras", "keras"):
                yield word.split(".")[0]
            elif word.startswith("tensorflow.keras"):
                yield "keras"


def parse(facts: SourceFacts) -> ast.Module:
    """The syntax tree of the text.

    Raises:
        SourceError: it is not Python, or is nested too deeply to parse.
    """
    try:
        # An invalid escape in the user's file is not ours to print.
        with warnings_silenced():
            tree: ast.Module = compile(facts.text, facts.path or "<source>", "exec", PyCF_ONLY_AST)  # type: ignore[assignment]
            return tree
    except SyntaxError as error:
        line, cell = _place(facts, error.lineno or 0)
        raise SourceError(f"not valid Python: {error.msg}", facts.path, line, cell) from None
    except (RecursionError, MemoryError):
        # CPython's parser gives MemoryError where its own stack overflows.
        raise SourceError("nested too deeply to parse", facts.path) from None
    except ValueError as error:  # NUL bytes, on Pythons before 3.12; lone surrogates
        raise SourceError(f"not valid Python: {error}", facts.path) from None


def cell_starts(cells: tuple[str, ...]) -> list[int]:
    """Return the line of the joined text (from 1) at which each cell starts."""
    starts, line = [], 1
    for cell in cells:
        starts.append(line)
        line += cell.count("\n") + 1
    return starts


def _place(facts: SourceFacts, line: int) -> tuple[int, int | None]:
    if facts.cells is None or line < 1:
        return line, None
    number, first = 1, 1
    for index, start in enumerate(cell_starts(facts.cells), start=1):
        if start <= line:
            number, first = index, start
    return line - first + 1, number


def _bytes_of(path: Path | str, shown: str, limit: int) -> bytes:
    try:
        with open(path, "rb") as file:
            raw = file.read(limit + 1)
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror or error}", shown) from None
    except ValueError as error:  # a NUL in the path
        raise SourceError(f"cannot be read: {error}", shown) from None
    if len(raw) > limit:
        raise SourceError(f"larger than {limit // 2**20} MiB, not read", shown)
    return raw


def _decode(raw: bytes, shown: str, notebook: bool) -> str:
    encoding = "utf-8"
    for mark, name in _BOMS:
        if raw.startswith(mark):
            encoding = name
            raw = raw[len(mark) :] if name == "utf-8" else raw
            break
    else:
        if not notebook:
            encoding = _declared_encoding(raw)
    try:
        return raw.decode(encoding)
    except LookupError:
        raise SourceError(f"unknown encoding `{encoding}`", shown, 1) from None
    except (UnicodeDecodeError, UnicodeError) as error:
        start = getattr(error, "start", 0)
        line = raw.count(b"\n", 0, start) + 1
        raise SourceError(f"not {encoding} text: byte {start} cannot be decoded", shown, line) from None


def _declared_encoding(raw: bytes) -> str:
    """Return the encoding that the first two lines declare (PEP 263)."""
    for line in raw.split(b"\n", 2)[:2]:
        declared = _DECLARED.match(line) if b"coding" in line else None
        if declared:
            return declared[1].decode("ascii", "replace")
        if line.strip() and not line.lstrip().startswith(b"#"):
            break
    return "utf-8"


def _unified(text: str) -> str:
    """Normalize line endings as Python's tokenizer counts them."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


# --- notebooks ----------------------------------------------------------------------------------------------------


def _notebook(text: str, shown: str, keras: int, assumed: bool) -> SourceFacts:
    import json  # only notebooks pay for it

    try:
        notebook = json.loads(text)
    except json.JSONDecodeError as error:
        raise SourceError(f"not a notebook: {error.msg}", shown, error.lineno) from None
    except RecursionError:
        raise SourceError("not a notebook: nested too deeply", shown) from None
    if not isinstance(notebook, dict):
        raise SourceError("not a notebook: no `cells` in it", shown)
    language = _language(notebook.get("metadata"))
    if language not in ("", "python"):
        raise SourceError(f"the notebook is written in {language}, not Python", shown)
    cells = _code_cells(notebook, shown)
    if assumed:
        from fitdoctor.source.keras_version import of_notebook

        found = of_notebook(cells, notebook.get("metadata"))
        if found is not None:
            facts = source_from_cells(cells, shown, found.major)
            return replace(of_project(facts, found), trained_cells=_trained_cells(notebook))
    return source_from_cells(cells, shown, keras)


def _language(metadata: Any) -> str:
    if not isinstance(metadata, dict):
        return ""
    for entry, key in (("kernelspec", "language"), ("language_info", "name")):
        section = metadata.get(entry)
        if isinstance(section, dict) and isinstance(section.get(key), str):
            language: str = section[key].lower()
            return "python" if language.startswith(("python", "ipython")) else language
    return ""


def _code_cells(notebook: dict[str, Any], shown: str) -> list[str]:
    cells = notebook.get("cells")
    if cells is None and isinstance(notebook.get("worksheets"), list):  # format 3, before 2015
        cells = [cell for sheet in notebook["worksheets"] for cell in _listed(sheet, "cells")]
    if not isinstance(cells, list):
        raise SourceError("not a notebook: no `cells` in it", shown)
    texts = []
    for cell in cells:
        if not isinstance(cell, dict):
            raise SourceError("not a notebook: a cell is not an object", shown)
        if cell.get("cell_type") != "code":
            continue
        source = cell.get("source", cell.get("input", ""))
        if isinstance(source, list) and all(isinstance(line, str) for line in source):
            source = "".join(source)
        if not isinstance(source, str):
            raise SourceError("not a notebook: a cell's source is not text", shown)
        texts.append(source)
    return texts


_PROGRESS = re.compile(r"\bEpoch 0*1/\d+[\s\S]*\bloss: \d")


def _trained_cells(notebook: dict[str, Any]) -> tuple[int, ...]:
    """Return the code cells whose saved output shows a training that ran, and those before if no output is an error."""
    trained, failed = set(), False
    code = [cell for cell in _listed(notebook, "cells") if cell.get("cell_type") == "code"]
    for number, cell in enumerate(code, 1):
        outputs = [output for output in _listed(cell, "outputs") if isinstance(output, dict)]
        if any(output.get("output_type") == "error" for output in outputs):
            failed = True
        elif any(_PROGRESS.search("".join(map(str, output.get("text") or ()))) for output in outputs):
            trained.add(number)
    return tuple(sorted(trained) if failed else range(1, max(trained, default=0) + 1))


def _listed(value: Any, key: str) -> list[Any]:
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, list) else []


def without_magics(cell: str) -> str:
    """Return the cell with IPython syntax blanked out, keeping lines and, where Python follows, columns."""
    lines = cell.split("\n")
    first = next((index for index, line in enumerate(lines) if line.strip()), None)
    if first is None:
        return cell
    if lines[first].lstrip().startswith("%%"):
        lines = _dedented(lines, lines[first])
        name = lines[first][2:].split()[:1]
        if not name or name[0] not in _PYTHON_CELLS:
            return "\n" * (len(lines) - 1)
        lines[first] = ""
    elif not _may_be_ipython(cell, lines[first]) or _is_python(cell):
        return cell
    elif lines[first][0].isspace():
        lines = _dedented(lines, lines[first])
    starts = _statement_starts(lines)
    index = 0
    while index < len(lines):
        if not starts[index]:
            index += 1
            continue
        replaced = _without_magic(lines[index])
        if replaced is not None:
            continued = lines[index].rstrip().endswith("\\")
            lines[index] = replaced
            while continued and index + 1 < len(lines):
                index += 1
                continued = lines[index].rstrip().endswith("\\")
                lines[index] = ""
        index += 1
    return "\n".join(lines)


def columns_before_python(line: str) -> int:
    """How many columns of a line belong to a magic that runs the Python after it."""
    stripped = line.lstrip()
    runs = _RUNS_PYTHON.match(stripped)
    return len(line) - len(stripped) + runs.end() if runs else 0


def _may_be_ipython(cell: str, first: str) -> bool:
    """Whether a cell may contain IPython syntax: a quick test, since most do not."""
    return first[0].isspace() or any(mark in cell for mark in "%!?") or bool(_AUTOMAGIC.search(cell))


def _dedented(lines: list[str], first: str) -> list[str]:
    """The lines without the indentation of the first one, as many versions of IPython read them."""
    indent = first[: len(first) - len(first.lstrip())]
    return [line.removeprefix(indent) for line in lines]


def _is_python(text: str) -> bool:
    try:
        with warnings_silenced():
            compile(text, "<cell>", "exec", PyCF_ONLY_AST)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _without_magic(line: str) -> str | None:
    """Return the replacement for a line that is not Python; None if it is."""
    stripped = line.lstrip()
    indent = line[: len(line) - len(stripped)]
    if stripped.startswith("%"):
        runs = _RUNS_PYTHON.match(stripped)
        if runs and _COMPOUND.match(stripped, runs.end()):
            return indent + stripped[runs.end() :]
        if runs:
            # A statement of the magic's own length, so that the columns of what follows hold.
            return indent + "0" + " " * (runs.end() - 3) + "; " + stripped[runs.end() :]
        return indent + "pass"
    if stripped.startswith("!") or _HELP.match(line):
        return indent + "pass"
    if _AUTOMAGIC.match(line) and not _is_python(stripped):
        return indent + "pass"
    assigned = _ASSIGNED_MAGIC.match(line)
    return assigned[1] + "get_ipython()" if assigned else None


def _statement_starts(lines: list[str]) -> list[bool]:
    """Return whether each line may start a statement: not inside brackets or a multi-line string."""
    starts = []
    depth, quote, joined = 0, "", False
    for line in lines:
        fresh = not depth and not quote and not joined
        starts.append(fresh)
        if fresh and line.lstrip()[:1] in ("%", "!", "?"):
            joined = False  # the shell's quotes and brackets are not Python's
            continue
        depth, quote = _scan(line, depth, quote)
        joined = line.endswith("\\")
    return starts


def _scan(line: str, depth: int, quote: str) -> tuple[int, str]:
    """Return the bracket depth and the open triple quote after a line."""
    position = 0
    while position < len(line):
        if quote:
            if line[position] == "\\":
                position += 2
            elif line.startswith(quote, position):
                position += len(quote)
                quote = ""
            else:
                position += 1
            continue
        character = line[position]
        if character == "#":
            break
        opened = _STRING_START.match(line, position)
        if opened:
            quote = opened[0]
            position = opened.end()
            continue
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth = max(depth - 1, 0)
        position += 1
    return depth, quote if len(quote) == 3 else ""
