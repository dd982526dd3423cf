"""CSV files: split into blocks at line ends, each read by a fast parser if possible, else field by field."""

from __future__ import annotations

import csv
import functools
import io
import os
import sys
from collections.abc import Iterator
from typing import Any

from fitdoctor.scan.pieces import CannotScan, Component, Problem
from fitdoctor.scan.table_source import Block, TableSource, column_values, listed, other_columns, part_named

BLOCK = 4 << 20
NOTHING = frozenset(
    spelt
    for word in ("", "na", "n/a", "nan", "null", "none", "-nan", "#n/a", "<na>")
    for spelt in (word, word.upper(), word.capitalize(), word.replace("nan", "NaN"))
)
"""The spellings of a missing value."""
FOR_PANDAS = 1 << 20
TOLD = 20
NUMBERS = 0.95
"""The share of numbers in the first lines above which a column counts as numeric."""


def csv_source(
    paths: list[str], labels: tuple[str, ...] = (), limit: int | None = None, name: str = ""
) -> TableSource:
    """Return a source for CSV files with the same columns, read as one table.

    Raises:
        CannotScan: a file cannot be read, or its first lines are not a table.
    """
    layout = _layout(paths[0])
    unknown = [label for label in labels if label not in layout.names]
    if unknown:
        raise CannotScan(f"`{paths[0]}` has no column `{unknown[0]}`: it has {listed(layout.names)}")
    components = tuple(
        Component(column, part_named(column, labels), column, "csv column") for column in layout.names
    )
    return TableSource(
        name or paths[0],
        components,
        lambda source: _blocks(source, paths, layout),
        rows=_estimated_rows(paths, layout),
        limit=limit,
    )


class _Layout:
    """The format of a file: its delimiter, its columns, and which of them are numeric."""

    def __init__(self, delimiter: str, names: tuple[str, ...], header: bool, numbers: list[bool]) -> None:
        self.delimiter = delimiter
        self.names = names
        self.header = header
        self.numbers = numbers
        self.line_bytes = 1.0
        self.order = list(range(len(names)))
        """The position of each column of the first file in this one."""

    def with_columns(self, names: tuple[str, ...]) -> _Layout:
        """Return the layout of a file with the same columns, perhaps in another order."""
        numbers = dict(zip(self.names, self.numbers, strict=True))
        other = _Layout(self.delimiter, names, self.header, [numbers[name] for name in names])
        other.order = [names.index(name) for name in self.names]
        return other


def _layout(path: str) -> _Layout:
    try:
        with open(path, "rb") as file:
            head = file.read(256 << 10)
    except OSError as error:
        raise CannotScan(f"cannot read `{path}`: {error.strerror}") from error
    if not head.strip():
        raise CannotScan(f"`{path}` is empty")
    if b"\0" in head:
        raise CannotScan(f"`{path}` is not a CSV file: it contains binary data")
    text = head.decode("utf-8-sig", errors="replace")
    whole = len(head) < 256 << 10
    if not whole and "\n" in text:
        text = text[: text.rindex("\n") + 1]
    delimiter = _delimiter(text)
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    first = rows[0]
    header = _is_header(first, rows[1] if len(rows) > 1 else None)
    body = rows[1:] if header else rows
    names = _told_apart(first) if header else tuple(map(str, range(len(first))))
    numbers = [_holds_numbers([row[i] for row in body if i < len(row)]) for i in range(len(names))]
    layout = _Layout(delimiter, names, header, numbers)
    layout.line_bytes = max(len(text) / max(len(rows), 1), 1.0)
    return layout


def _is_header(first: list[str], second: list[str] | None) -> bool:
    """Whether the first line names columns: it is all text, or numbers start below it."""
    kinds = [_is_number(field) for field in first]
    if all(kinds):
        return False
    return not any(kinds) or second is None or kinds != [_is_number(field) for field in second]


def _told_apart(names: list[str]) -> tuple[str, ...]:
    """Return unique column names: `a`, `a.1`."""
    found: list[str] = []
    for name in names:
        number, plain = 0, name
        while name in found:
            number += 1
            name = f"{plain}.{number}"
        found.append(name)
    return tuple(found)


def _holds_numbers(fields: list[str]) -> bool:
    """Whether a column is numeric; text in it is then an error in the file."""
    return sum(map(_is_number, fields)) >= NUMBERS * len(fields)


def _delimiter(text: str) -> str:
    """Return the character that splits the first lines into most fields, the same number in each."""
    lines = [line for line in text.splitlines()[:20] if line]
    best, most = ",", 1
    for candidate in ",;\t|":
        counts = [len(row) for row in csv.reader(lines, delimiter=candidate)]
        usual = max(set(counts), key=counts.count)
        if usual > most and counts.count(usual) >= 0.6 * len(counts):
            best, most = candidate, usual
    return best


def _is_number(field: str) -> bool:
    if field.strip() in NOTHING:
        return True
    try:
        float(field)
    except ValueError:
        return False
    return True


def _estimated_rows(paths: list[str], layout: _Layout) -> int | None:
    try:
        return int(sum(os.path.getsize(path) for path in paths) / layout.line_bytes)
    except OSError:
        return None


# --- blocks -------------------------------------------------------------------------------------------------------


def _blocks(source: TableSource, paths: list[str], layout: _Layout) -> Iterator[Block]:
    for path in paths:
        try:
            yield from _blocks_of(source, path, layout)
        except OSError as error:
            source.problems.append(Problem(f"cannot read `{path}`: {error.strerror}", fatal=True))


def _blocks_of(source: TableSource, path: str, layout: _Layout) -> Iterator[Block]:
    line = 1
    first = True
    for raw in _raw_blocks(path):
        text = raw.decode("utf-8-sig" if first else "utf-8", errors="replace")
        if first and layout.header:
            names, head, text = _without_header(text, layout)
            line += head
            if sorted(names) != sorted(layout.names):
                source.problems.append(Problem(other_columns(path, names), fatal=True))
                return
            layout = layout.with_columns(names)
        first = False
        block = _block(source, path, layout, text, line)
        line += text.count("\n")
        if block.rows:
            yield block


def _raw_blocks(path: str) -> Iterator[bytes]:
    """Yield the file in blocks that end at a line end outside quotes."""
    rest = b""
    with open(path, "rb") as file:
        while True:
            chunk = file.read(BLOCK)
            if not chunk:
                break
            rest += chunk
            end = rest.rfind(b"\n") + 1
            # Inside quotes a line may go on: an odd number of quotes means that it does.
            if end and b'"' in rest and rest.count(b'"', 0, end) % 2:
                continue
            if end:
                yield rest[:end]
                rest = rest[end:]
    if rest:
        yield rest


def _without_header(text: str, layout: _Layout) -> tuple[tuple[str, ...], int, str]:
    """Return the columns, the number of header lines, and the text after the header."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=layout.delimiter)
    names: list[str] = []
    while not names:
        names = next(reader)
    lines = text.split("\n", reader.line_num)
    return _told_apart(names), reader.line_num, lines[-1] if len(lines) > reader.line_num else ""


def _block(source: TableSource, path: str, layout: _Layout, text: str, line: int) -> Block:
    rows = text.count("\n") + (bool(text) and not text.endswith("\n"))
    if _is_regular(layout, text, rows):
        return Block(
            rows, path, line, lambda: _ordered(layout, _parsed(source, path, layout, text, line, rows))
        )
    fields = _fields(source, path, layout, text, line)
    return Block(
        len(fields),
        path,
        line,
        lambda: _ordered(layout, _columns(source, path, layout, fields, line)),
        exact=False,
    )


def _ordered(layout: _Layout, columns: list[Any]) -> list[Any]:
    return [columns[index] for index in layout.order]


def _is_regular(layout: _Layout, text: str, rows: int) -> bool:
    """Whether the lines are rows with the expected number of delimiters."""
    blank = "\n\n" in text or "\n\r\n" in text or text.startswith(("\n", "\r"))
    return '"' not in text and not blank and text.count(layout.delimiter) == rows * (len(layout.names) - 1)


def _parsed(source: TableSource, path: str, layout: _Layout, text: str, line: int, rows: int) -> list[Any]:
    """Parse a block with a fast parser if there is one; a block that it rejects is read field by field."""
    try:
        columns = _by_pandas(layout, text) if _pandas_pays(len(text)) else _by_numpy(layout, text)
        if columns is not None and all(len(column) == rows for column in columns):
            return columns
    except ValueError:
        pass
    fields = _fields(source, path, layout, text, line, keep=rows)
    return _columns(source, path, layout, fields, line)


def _pandas_pays(size: int) -> bool:
    """Whether pandas is installed, and its parser saves more time than its import takes."""
    return "pandas" in sys.modules or size > FOR_PANDAS and _has_pandas()


@functools.cache
def _has_pandas() -> bool:
    from importlib.util import find_spec

    return find_spec("pandas") is not None


def _by_pandas(layout: _Layout, text: str) -> list[Any]:
    import numpy as np
    import pandas as pd

    # Raises ValueError (ParserError is one) for a row that is too long, and then for none that is too short.
    kinds: Any = {i: np.float64 if number else object for i, number in enumerate(layout.numbers)}
    frame = pd.read_csv(
        io.StringIO(text), sep=layout.delimiter, header=None, dtype=kinds, engine="c", quoting=csv.QUOTE_NONE,
        index_col=False, skip_blank_lines=False, keep_default_na=False, na_values=sorted(NOTHING),
    )  # fmt: skip
    if frame.shape[1] != len(layout.names):
        raise ValueError("another number of columns")
    return [column_values(frame.iloc[:, i]) for i in range(frame.shape[1])]


def _by_numpy(layout: _Layout, text: str) -> list[Any] | None:
    import numpy as np

    if not all(layout.numbers):
        return None
    table = np.loadtxt(io.StringIO(text), delimiter=layout.delimiter, comments=None, ndmin=2)
    return [np.ascontiguousarray(column) for column in table.T]


def _fields(
    source: TableSource, path: str, layout: _Layout, text: str, line: int, keep: int | None = None
) -> list[list[str]]:
    """Return the rows of a block; rows with a wrong number of fields are reported and padded or truncated."""
    width = len(layout.names)
    found = []
    strays: list[tuple[int, int]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=layout.delimiter)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            _tell(source, f"{path}, line {line + reader.line_num - 1}: {error}")
            continue
        if not row:
            continue
        if len(row) != width:
            strays.append((line + reader.line_num - 1, len(row)))
            row = (row + [""] * width)[:width]
        found.append(row)
    for first, last, fields in _runs(strays):
        lines = f"line {first}" if first == last else f"lines {first} to {last}"
        _tell(source, f"{path}, {lines}: {fields} field{'s' * (fields != 1)}, expected {width}")
    if keep is not None and len(found) != keep:
        found = (found + [[""] * width] * keep)[:keep]
    return found


def _runs(strays: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Yield runs of lines with the same number of fields: first line, last line, fields."""
    found: list[tuple[int, int, int]] = []
    for line, fields in strays:
        if found and found[-1][1:] == (line - 1, fields):
            found[-1] = (found[-1][0], line, fields)
        else:
            found.append((line, line, fields))
    return found


def _tell(source: TableSource, what: str) -> None:
    if len(source.problems) < TOLD:
        source.problems.append(Problem(what))


def _columns(
    source: TableSource, path: str, layout: _Layout, fields: list[list[str]], line: int
) -> list[Any]:
    columns = []
    for index, values in enumerate(zip(*fields, strict=True)):
        if layout.numbers[index]:
            columns.append(_numbers(source, f"{path}, column `{layout.names[index]}`", values, line))
        else:
            columns.append(_texts(values))
    return columns


def _numbers(source: TableSource, what: str, values: tuple[str, ...], line: int) -> Any:
    import numpy as np

    try:
        return np.array(values, dtype=np.float64)
    except ValueError:
        pass
    found = np.full(len(values), np.nan)
    told = False
    for index, value in enumerate(values):
        if value.strip() in NOTHING:
            continue
        try:
            found[index] = float(value)
        except ValueError:
            if not told:
                told = True
                _tell(source, f"{what}, line {line + index}: text in a numeric column")
    return found


def _texts(values: tuple[str, ...]) -> Any:
    import numpy as np

    found = np.array(values, dtype=object)
    found[[value.strip() in NOTHING for value in values]] = None
    return found
