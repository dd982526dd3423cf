"""Parquet files, read with pyarrow if it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from fitdoctor.optional_packages import require
from fitdoctor.scan.pieces import CannotScan, Component, Problem
from fitdoctor.scan.table_source import Block, TableSource, listed, other_columns, part_named

ROWS = 1 << 16


def parquet_source(
    paths: list[str], labels: tuple[str, ...] = (), limit: int | None = None, name: str = ""
) -> TableSource:
    """Return a source for Parquet files with the same columns, read as one table.

    Raises:
        CannotScan: a file cannot be read.
        MissingPackage: pyarrow is not installed.
    """
    files = [_opened(path) for path in paths]
    names = tuple(files[0].schema_arrow.names)
    unknown = [label for label in labels if label not in names]
    if unknown:
        raise CannotScan(f"`{paths[0]}` has no column `{unknown[0]}`: it has {listed(names)}")
    return TableSource(
        name or paths[0],
        tuple(Component(one, part_named(one, labels), one, "parquet column") for one in names),
        lambda source: _blocks(source, paths, files, names),
        rows=sum(file.metadata.num_rows for file in files),
        limit=limit,
    )


def _opened(path: str) -> Any:
    parquet = require("pyarrow.parquet", f"reading `{path}`")
    try:
        return parquet.ParquetFile(path, page_checksum_verification=True)
    # pyarrow has its own exceptions, below ValueError and OSError.
    except (OSError, ValueError) as error:
        raise CannotScan(f"`{path}` cannot be read as Parquet: {str(error)[:200]}") from error


def _blocks(
    source: TableSource, paths: list[str], files: list[Any], names: tuple[str, ...]
) -> Iterator[Block]:
    for path, file in zip(paths, files, strict=True):
        theirs = tuple(file.schema_arrow.names)
        if sorted(theirs) != sorted(names):
            source.problems.append(Problem(other_columns(path, theirs), fatal=True))
            continue
        for group in range(file.num_row_groups):
            yield from _group(source, path, file, group, names)


def _group(source: TableSource, path: str, file: Any, group: int, names: tuple[str, ...]) -> Iterator[Block]:
    """Read a row group; a damaged one does not hide the next."""
    left = file.metadata.row_group(group).num_rows
    try:
        for batch in file.iter_batches(batch_size=ROWS, row_groups=[group]):
            left -= batch.num_rows
            yield Block(batch.num_rows, path, None, partial(_columns, batch, names))
    except (OSError, ValueError) as error:
        what = f"`{path}`, row group {group}: {left} rows cannot be read: {str(error)[:200]}"
        source.problems.append(Problem(what, fatal=True))
        yield Block(left, path, None, None)


def _columns(batch: Any, names: tuple[str, ...]) -> list[Any]:
    theirs = batch.schema.names
    return [_values(batch.column(theirs.index(name))) for name in names]


def _values(column: Any) -> Any:
    import numpy as np
    from pyarrow import types

    if types.is_decimal(column.type) or types.is_boolean(column.type) and column.null_count:
        column = column.cast("float64")
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind in "biuf":
        return values
    if values.dtype.kind in "Mm":
        found = values.astype(np.int64).astype(np.float64)
        found[np.isnat(values)] = np.nan
        return found
    return np.array(values, dtype=object)
