"""Parquet files, by way of pyarrow where that is installed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from fitdoctor.scan.pieces import CannotScan, Component, Problem
from fitdoctor.scan.table_source import Block, TableSource, listed, part_named

ROWS = 1 << 16


def parquet_source(
    paths: list[str], labels: tuple[str, ...] = (), limit: int | None = None, name: str = ""
) -> TableSource:
    """Parquet files with the same columns, read as one table.

    Raises:
        CannotScan: pyarrow is not installed, or a file cannot be read.
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
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise CannotScan(f"`{path}` needs pyarrow: `python -m pip install pyarrow`") from None
    try:
        return ParquetFile(path)
    # pyarrow has its own exceptions, below ValueError and OSError.
    except (OSError, ValueError) as error:
        raise CannotScan(f"`{path}` cannot be read as Parquet: {str(error)[:200]}") from error


def _blocks(
    source: TableSource, paths: list[str], files: list[Any], names: tuple[str, ...]
) -> Iterator[Block]:
    for path, file in zip(paths, files, strict=True):
        if tuple(file.schema_arrow.names) != names:
            theirs = listed(tuple(file.schema_arrow.names))
            source.problems.append(
                Problem(f"`{path}` has other columns than the first file: {theirs}", fatal=True)
            )
            continue
        try:
            for batch in file.iter_batches(batch_size=ROWS):
                yield Block(batch.num_rows, path, None, partial(_columns, batch))
        except (OSError, ValueError) as error:
            source.problems.append(Problem(f"`{path}`: {str(error)[:200]}", fatal=True))


def _columns(batch: Any) -> list[Any]:
    return [_values(column) for column in batch.columns]


def _values(column: Any) -> Any:
    import numpy as np

    values = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind in "biuf":
        return values
    if values.dtype.kind in "Mm":
        found = values.astype(np.int64).astype(np.float64)
        found[np.isnat(values)] = np.nan
        return found
    return np.array(values, dtype=object)
