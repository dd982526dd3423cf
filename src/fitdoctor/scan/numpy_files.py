"""`.npy` and `.npz` files, read in pieces into small buffers: memory use is bounded whatever their size."""

from __future__ import annotations

import os
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO

from fitdoctor.scan.array_source import ArraySource, Rows
from fitdoctor.scan.pieces import CannotScan, Component, Part, Piece, Problem

BUFFER = 4 << 20
"""Bytes per piece of a file: it stays in the processor cache between reading and counting."""


@dataclass(frozen=True)
class Header:
    """The header of an `.npy` file."""

    shape: tuple[int, ...]
    dtype: Any
    fortran: bool
    offset: int

    @property
    def row_bytes(self) -> int:
        """The bytes of a row."""
        size = int(self.dtype.itemsize)
        for length in self.shape[1:]:
            size *= length
        return size


def read_header(file: Any, path: str) -> Header:
    """Return the header of an `.npy` file, and where its data starts.

    Raises:
        CannotScan: it is not an `.npy` file, or contains Python objects.
    """
    from numpy.lib import format as npy

    try:
        version = npy.read_magic(file)
        if version == (1, 0):
            shape, fortran, dtype = npy.read_array_header_1_0(file)
        else:
            shape, fortran, dtype = npy.read_array_header_2_0(file)
    except (ValueError, EOFError) as error:
        raise CannotScan(f"`{path}` is not a `.npy` file: {_first_line(error)}") from error
    if dtype.hasobject:
        raise CannotScan(
            f"`{path}` contains pickled Python objects, which are not read: save it as a numeric array"
        )
    return Header(shape or (1,), dtype, fortran, file.tell())


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n")[0][:200]


def npy_rows(path: str, component: Component, problems: list[Problem]) -> Rows:
    """Return an `.npy` file as a component; a truncated one is read as far as possible.

    Raises:
        CannotScan: it cannot be read at all.
    """
    try:
        with open(path, "rb") as file:
            header = read_header(file, path)
            size = os.fstat(file.fileno()).st_size - header.offset
    except OSError as error:
        raise CannotScan(f"cannot read `{path}`: {error.strerror}") from error
    rows = header.shape[0]
    there = rows if not header.row_bytes or header.fortran else min(size // header.row_bytes, rows)
    if size < header.row_bytes * rows:
        problems.append(
            Problem(f"`{path}` is truncated: it contains {there:,} of its {rows:,} rows", fatal=True)
        )
        if header.fortran:
            raise CannotScan(f"`{path}` is truncated and stored in column order: no row is complete")
    read = _mapped(path) if header.fortran or header.dtype.names else _reader(path, header)
    return Rows(component, there, header.row_bytes, header.shape, str(header.dtype), read, BUFFER)


def _mapped(path: str) -> Any:
    import numpy as np

    array = np.load(path, mmap_mode="r")
    return lambda start, stop: np.ascontiguousarray(array[start:stop])


def _reader(path: str, header: Header) -> Any:
    """Return a function that reads into one buffer per thread: new memory per piece costs more than reading."""
    import numpy as np

    local = threading.local()

    def read(start: int, stop: int) -> Any:
        number = (stop - start) * header.row_bytes
        buffer = getattr(local, "buffer", None)
        if buffer is None or len(buffer) < number:
            buffer = local.buffer = bytearray(number)
        view = memoryview(buffer)[:number]
        with open(path, "rb", buffering=0) as file:
            file.seek(header.offset + start * header.row_bytes)
            done = 0
            while done < number:
                got = file.readinto(view[done:])
                if not got:
                    raise OSError(f"`{path}` ends before row {stop}")
                done += got
        return np.frombuffer(view, header.dtype).reshape(stop - start, *header.shape[1:])

    return read


def npy_source(
    components: list[tuple[str, Component]], limit: int | None = None, name: str = ""
) -> ArraySource:
    """Return a source for several `.npy` files, one per component."""
    problems: list[Problem] = []
    rows = [npy_rows(path, component, problems) for path, component in components]
    source = ArraySource(name or ", ".join(path for path, _component in components), rows, limit=limit)
    source.problems = problems
    return source


# --- .npz ---------------------------------------------------------------------------------------------------------


class NpzSource:
    """Members of an `.npz` archive, decompressed while they are read."""

    def __init__(
        self, path: str, members: dict[str, Component], limit: int | None = None, name: str = ""
    ) -> None:
        self.name = name or path
        self.form = "arrays"
        self.one_by_one = False
        self.components = tuple(members.values())
        self.problems: list[Problem] = []
        self.cut = False
        self._path = path
        self._members = list(members)
        self._limit = limit
        self._headers: dict[str, Header] = {}
        with _archive(path) as archive:
            for member in members:
                with archive.open(f"{member}.npy") as file:
                    self._headers[member] = read_header(file, f"{path}:{member}")
        longest = max((header.shape[0] for header in self._headers.values()), default=0)
        self.rows: int | None = longest if limit is None else min(longest, limit)
        self._largest = max(members, key=self._bytes)

    def _bytes(self, member: str) -> int:
        header = self._headers[member]
        return header.row_bytes * header.shape[0]

    def pieces(self) -> Iterator[Piece]:
        """Yield one member after another; a member that cannot be decompressed is reported and skipped."""
        for index, member in enumerate(self._members):
            header = self._headers[member]
            rows = header.shape[0] if self._limit is None else min(header.shape[0], self._limit)
            self.cut = self.cut or rows < header.shape[0]
            try:
                with _archive(self._path) as archive, archive.open(f"{member}.npy") as file:
                    read_header(file, member)
                    yield from self._pieces_of(index, member, header, rows, file)
            except (OSError, EOFError, zipfile.BadZipFile, _zlib_error()) as error:
                self.problems.append(
                    Problem(f"`{self._path}`: `{member}` is damaged: {_first_line(error)}", fatal=True)
                )

    def _pieces_of(self, index: int, member: str, header: Header, rows: int, file: Any) -> Iterator[Piece]:
        step = max(BUFFER // max(header.row_bytes, 1), 1)
        if header.fortran:
            step = max(rows, 1)  # stored column by column: only the whole can be turned into rows
        for start in range(0, max(rows, 1), step):
            stop = min(start + step, rows)
            whole = header.shape[0] if header.fortran else stop - start
            data = _exactly(file, whole * header.row_bytes)
            seen = ((header.shape, str(header.dtype), None, 1),) if start == 0 else ()
            part = Part(index, _shaped(data, header, whole)[: stop - start], start, seen=seen)
            yield Piece(stop - start if member == self._largest else 0, partial(list, [part]))


def _shaped(data: bytes, header: Header, rows: int) -> Any:
    import numpy as np

    array = np.frombuffer(data, header.dtype)
    if header.fortran:
        return np.ascontiguousarray(array.reshape(header.shape[::-1]).T)
    return array.reshape(rows, *header.shape[1:])


def _exactly(file: BinaryIO, number: int) -> bytes:
    data = file.read(number)
    if len(data) < number:
        raise EOFError("it ends too early")
    return data


def _zlib_error() -> type[Exception]:
    import zlib

    return zlib.error


def _archive(path: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise CannotScan(f"`{path}` is not a `.npz` file, or is truncated: {_first_line(error)}") from error
    except OSError as error:
        raise CannotScan(f"cannot read `{path}`: {error.strerror}") from error


def npz_members(path: str) -> list[str]:
    """Return the names of the arrays in an archive.

    Raises:
        CannotScan: it is not an archive, or contains no array.
    """
    with _archive(path) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
    if not names:
        raise CannotScan(f"`{path}` contains no array")
    return names
