"""Finds the Python code that people paste beside an error message."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.quiet_warnings import warnings_silenced
from fitdoctor.source.keras_3_api import PUBLIC_NAMES

_LONGEST = 60_000
"""Characters of a text that may be a question with code; logs are longer."""
_BEGINS = re.compile(
    r"\s*(?:(?:import|from|class|def|for|while|if|elif|with)\s+\S.*|(?:else|try|finally|except[^:]*):|@\w.*"
    r"|return\b.*|[A-Za-z_][\w.]*(?:\[[^\]]*\])?(?:\s*,\s*[A-Za-z_][\w.]*)*\s*(?:[-+*/|&@]|//|\*\*)?=(?!=).*"
    r"|[A-Za-z_][\w.]*\s?\(.*)"
)
"""A line that may begin a statement."""
_MARKS = re.compile(
    r"^(?:> ?)*(?:>>> ?|\.\.\. ?|In ?\[\d*\]: ?)?`{0,6}(?:python|py)?(?=\s|[A-Za-z_@`]|$)|`{1,6}\s*$"
)
"""What a question adds to code: quote marks, prompts, backticks."""
_FRAME = re.compile(
    r"\s*File (?:\"[^\"\n]+\", line \d+|\S+:\d+)|\s*(?:[A-Za-z]:)?[/\\<~.\w][^\s()=]*:\d+ [\w<>.]+ {0,2}\*{0,2}\s*$"
)
"""A frame of a traceback, below which the line that it quotes follows."""
_SHORTEST = 2
"""The fewest statements that are code rather than a line of prose that happens to parse."""
_MOST_ATTEMPTS = 60


def pasted_code(text: str) -> str:
    """Return the code in a text, each line where the text has it, and the rest blank; "" if there is none."""
    if len(text) > _LONGEST or not re.search(r"(?i)keras|tensorflow|\bmodel\b|layer", text):
        return ""
    lines = [_bare(line) for line in text.split("\n")]
    code = [""] * len(lines)
    statements = 0
    for first, last in _runs(lines):
        for start, end, count in _parsed(lines, first, last):
            code[start:end] = _dedented(lines[start:end])
            statements += count
    code = ["" if line.startswith("#") else line for line in code]
    return _with_imports(code) if statements >= _SHORTEST else ""


def _bare(line: str) -> str:
    return _MARKS.sub("", line.rstrip("\r").replace("\xa0", " "))


def _runs(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans of lines that may be statements, without the lines that a traceback quotes."""
    start, depth = None, 0
    for index, line in enumerate(lines):
        quoted = index > 0 and _FRAME.match(lines[index - 1]) is not None
        may_be = (
            not quoted
            and not _FRAME.match(line)
            and (
                not line.strip()
                or line.lstrip().startswith(("#", ")", "]", "}", '"""'))
                or _BEGINS.match(line) is not None
            )
        )
        if depth > 0 and not quoted and line.strip():
            may_be = True
        if may_be:
            start = index if start is None and line.strip() else start
            depth = max(0, depth + sum(map(line.count, "([{")) - sum(map(line.count, ")]}")))
        else:
            if start is not None:
                yield start, index
            start, depth = None, 0
    if start is not None:
        yield start, len(lines)


def _parsed(lines: list[str], first: int, last: int) -> Iterator[tuple[int, int, int]]:
    """Yield the spans that are valid Python, with their number of statements."""
    for _ in range(_MOST_ATTEMPTS):
        if first >= last:
            return
        wrong, count = _syntax_error(lines[first:last])
        if wrong is None:
            yield first, last, count
            return
        end = first + wrong
        while end > first:
            before, count = _syntax_error(lines[first:end])
            if before is None:
                yield first, end, count
                break
            end -= 1
        first += wrong + 1


def _dedented(lines: list[str]) -> list[str]:
    """Remove the indentation of the first line from all."""
    margin = next((len(line) - len(line.lstrip()) for line in lines if line.strip()), 0)
    return [line[margin:] if not line[:margin].strip() else line for line in lines]


def _syntax_error(lines: list[str]) -> tuple[int | None, int]:
    """Return the line of the first syntax error, and the number of statements if there is none."""
    try:
        with warnings_silenced():
            tree = ast.parse("\n".join(_dedented(lines)))
    except SyntaxError as error:
        return min(max((error.lineno or 1) - 1, 0), len(lines) - 1), 0
    except (ValueError, RecursionError, MemoryError):
        return 0, 0
    statements = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
    return None, sum(
        not isinstance(node, ast.Expr) or isinstance(node.value, ast.Call) for node in statements
    )


# --- imports that people leave out ----------------------------------------------------------------------------------

_USUAL = {
    "np": "import numpy as np",
    "numpy": "import numpy",
    "tf": "import tensorflow as tf",
    "keras": "import keras",
    "K": "from keras import backend as K",
    "layers": "from keras import layers",
    "models": "from keras import models",
    "pd": "import pandas as pd",
    "train_test_split": "from sklearn.model_selection import train_test_split",
    "ImageDataGenerator": "from keras.preprocessing.image import ImageDataGenerator",
}


def _with_imports(code: list[str]) -> str:
    """Add the imports that the code does without on a line before it, without moving any other line."""
    text = "\n".join(code)
    try:
        with warnings_silenced():
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    bound = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
    free = sorted(named - bound)
    missing = [_USUAL[name] for name in free if name in _USUAL]
    for package in ("layers", "models", "optimizers", "callbacks"):
        public = PUBLIC_NAMES[f"keras.{package}"]
        if not set(free).isdisjoint(public):  # a repair that needs another name then adds no import
            missing.append(f"from keras.{package} import {', '.join(sorted(set(public) - bound))}")
    if not missing or code[0].strip():
        return text
    return "\n".join(["; ".join(missing), *code[1:]])
