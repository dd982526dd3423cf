"""Finds the TFRecord file of a worker's error, which names the position of a broken record but not the file."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterator
from typing import Any, BinaryIO

from fitdoctor.collect.pipelines import chain

SECONDS = 10.0
"""How long to search through files."""
HEAD, TAIL = 12, 4
"""The bytes before and after a record: its length with a checksum, and a checksum."""
MOST = 64 << 20
_PLACE = re.compile(r"(?:corrupted|truncated) record at (\d+)")


def damaged_file(dataset: Any, message: str) -> str | None:
    """Return the first file of the pipeline, if readable here, with a broken record at the reported position."""
    found = _PLACE.search(message)
    if found is None:
        return None
    ends = time.monotonic() + SECONDS
    for path in files_of(dataset):
        if time.monotonic() > ends:
            return None
        if _is_broken(path, int(found[1]), ends):
            return path
    return None


def files_of(dataset: Any) -> Iterator[str]:
    """Return the file names at the start of a pipeline."""
    for step in chain(dataset):
        names = getattr(step, "_filenames", None)
        if hasattr(names, "element_spec"):
            yield from files_of(names)
        for held in (names, *(getattr(step, "_tensors", None) or ())):
            if getattr(getattr(held, "dtype", None), "name", "") != "string" or not hasattr(held, "numpy"):
                continue
            for name in held.numpy().ravel():
                path = os.fsdecode(name)
                if os.path.isfile(path):
                    yield path


def _is_broken(path: str, place: int, ends: float) -> bool:
    """Whether a record starts at that position and TensorFlow cannot read it."""
    with open(path, "rb") as file:
        at = 0
        while at < place and time.monotonic() < ends:
            at += HEAD + _length(file, at) + TAIL
        if at != place:
            return False
        length = _length(file, place)
        file.seek(place)
        record = file.read(min(HEAD + length + TAIL, MOST))
    return not _is_read(record)


def _length(file: BinaryIO, at: int) -> int:
    file.seek(at)
    return int.from_bytes(file.read(8), "little")


def _is_read(record: bytes) -> bool:
    import tensorflow as tf

    with tempfile.NamedTemporaryFile(suffix=".tfrecord") as file:
        file.write(record)
        file.flush()
        try:
            return sum(1 for _record in tf.data.TFRecordDataset(file.name)) == 1
        except tf.errors.DataLossError:
            return False
