"""TFRecord files with a feature specification, parsed in batches; unparsable records are reported by number."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from fitdoctor.scan.element_source import ElementSource, summary_of
from fitdoctor.scan.opening import named
from fitdoctor.scan.pieces import CannotScan
from fitdoctor.scan.table_source import part_named

BATCH = 256
FRAME = 16
"""Bytes around a record: its length and two checksums."""


def tfrecord_source(
    paths: list[str],
    features: str | dict[str, Any] | None,
    labels: tuple[str, ...] = (),
    limit: int | None = None,
    name: str = "",
) -> ElementSource:
    """Return a source for TFRecord files of `tf.train.Example`s.

    Args:
        paths: the files, read one after the other.
        features: the specification: a dict as for `tf.io.parse_example`, MODULE:NAME of one, or a JSON file.
        labels: the features that are labels.
        limit: how many records to read.
        name: its name in messages.

    Raises:
        CannotScan: a file does not exist, or there is no specification.
    """
    for path in paths:
        if not os.path.isfile(path):
            raise CannotScan(f"there is no file `{path}`")
    if features is None:
        raise CannotScan(
            f"`{paths[0]}` needs a feature specification (`--features FILE.json` or MODULE:NAME)"
            f"{_seen_in(paths[0])}"
        )
    spec = features if isinstance(features, dict) else specification(features)
    records = _Records(paths, spec, labels, limit)
    source = ElementSource(name or paths[0], "dataset", lambda: records, batched=True, records=True)
    records.source = source
    source.cut = records.cut
    return source


def tfrecord_dataset(
    paths: list[str], spec: dict[str, Any], labels: tuple[str, ...], together: int = BATCH
) -> Any:
    """Return the files as a pipeline of batches for a tf.data service, which distributes whole files.

    Args:
        paths: the files.
        spec: the specification of the features.
        labels: the features that are labels.
        together: how many records are parsed at a time, and lost if one of them raises.
    """
    import tensorflow as tf

    files = tf.data.Dataset.from_tensor_slices(paths)
    return (
        files.interleave(tf.data.TFRecordDataset, cycle_length=1)
        .batch(together)
        .map(lambda batch: _element(tf.io.parse_example(batch, spec), labels))
    )


def specification(given: str) -> dict[str, Any]:
    """Return the specification from a JSON file, or the dict that MODULE:NAME refers to.

    Raises:
        CannotScan: it does not exist, or is not a specification.
    """
    if ":" in given and not os.path.exists(given):
        found = named(given)
        found = found() if callable(found) else found
        if not isinstance(found, dict):
            raise CannotScan(f"`{given}` is not a dict of features")
        return found
    try:
        with open(given, encoding="utf-8") as file:
            plain = json.load(file)
    except OSError as error:
        raise CannotScan(f"cannot read `{given}`: {error.strerror}") from error
    except ValueError as error:
        raise CannotScan(f"`{given}` is not valid JSON: {error}") from error
    if not isinstance(plain, dict) or not plain:
        raise CannotScan(f"`{given}` must be a JSON object that maps each feature to its specification")
    return {name: _feature(given, name, entry) for name, entry in plain.items()}


def _feature(path: str, name: str, entry: Any) -> Any:
    import tensorflow as tf

    entry = {"dtype": entry} if isinstance(entry, str) else entry
    known = {"dtype", "shape", "variable", "default"}
    if not isinstance(entry, dict) or not set(entry) <= known or entry.get("dtype") not in (
        "float32", "int64", "string",
    ):  # fmt: skip
        raise CannotScan(
            f'`{path}`: feature `{name}` must look like {{"dtype": "float32", "shape": [28, 28]}}, with dtype '
            '`float32`, `int64` or `string`; use `"variable": true` for a variable length'
        )
    dtype = tf.dtypes.as_dtype(entry["dtype"])
    if entry.get("variable"):
        return tf.io.RaggedFeature(dtype)
    return tf.io.FixedLenFeature(entry.get("shape", []), dtype, entry.get("default"))


def _element(parsed: dict[str, Any], labels: tuple[str, ...]) -> Any:
    """Return (x, y) of the parsed features, as `fit` would receive them."""
    x = {name: value for name, value in parsed.items() if part_named(name, labels) != "y"}
    y = {name: value for name, value in parsed.items() if part_named(name, labels) == "y"}
    return (x, y) if y else x


class RecordFailure(Exception):
    """A record that cannot be parsed, or a file that cannot be read further."""

    def __init__(self, record: int, what: str) -> None:
        super().__init__(what)
        self.element = record


class _Records(Iterator[Any]):
    """Batches of parsed records; a batch that fails is reread record by record."""

    def __init__(
        self, paths: list[str], spec: dict[str, Any], labels: tuple[str, ...], limit: int | None
    ) -> None:
        self._spec = spec
        self._labels = labels
        self._left = limit
        self._before = 0
        self.cut = False
        self.source: ElementSource | None = None
        self._steps = self._all(paths)

    def __next__(self) -> Any:
        found = next(self._steps)
        if isinstance(found, RecordFailure):
            raise found
        return found

    def _all(self, paths: list[str]) -> Iterator[Any]:
        for path in paths:
            yield from self._file(path)
            if self._left == 0:
                self.cut = True
                if self.source is not None:
                    self.source.cut = True
                return

    def _file(self, path: str) -> Iterator[Any]:
        import tensorflow as tf

        raw = tf.data.TFRecordDataset(path)
        done = 0
        read: int | None = 0
        batches = iter(raw.batch(BATCH))
        while self._left != 0:
            try:
                batch = next(batches)
                if read is not None:
                    read += int(tf.reduce_sum(tf.strings.length(batch))) + FRAME * len(batch)
                if self._left is not None:
                    batch = batch[: self._left]
                parsed = tf.io.parse_example(batch, self._spec)
            except StopIteration:
                rest = 0 if read is None else os.path.getsize(path) - read
                if rest:
                    # TensorFlow takes what is left of a record's head for the end of the file.
                    what = f"`{path}` is truncated: {rest} bytes follow its last whole record"
                    yield RecordFailure(self._before + done, what)
                break
            except tf.errors.OpError:
                met, read = 0, None
                for number, found in self._one_by_one(raw, path, done):
                    met = number
                    yield found
                done += met
                if met < BATCH:
                    break
                continue
            count = int(batch.shape[0])
            done += count
            self._took(count)
            yield _element(parsed, self._labels)
        self._before += done

    def _took(self, count: int) -> None:
        if self._left is not None:
            self._left -= count

    def _one_by_one(self, raw: Any, path: str, done: int) -> Iterator[tuple[int, Any]]:
        """Yield the records of a failed batch, with the number read so far; a broken frame ends the file."""
        import tensorflow as tf

        records = iter(raw.skip(done).take(BATCH))
        for count in range(1, BATCH + 1):
            number = self._before + done + count - 1
            if self._left == 0:
                return
            try:
                record = next(records)
            except StopIteration:
                return
            except tf.errors.OpError as error:
                yield (
                    count - 1,
                    RecordFailure(number, f"`{path}` cannot be read further: {summary_of(error)}"),
                )
                return
            self._took(1)
            try:
                yield count, _element(tf.io.parse_example(record[None], self._spec), self._labels)
            except tf.errors.OpError as error:
                yield count, RecordFailure(number, f"`{path}`: {summary_of(error)}")


def _seen_in(path: str) -> str:
    """Return the features of the first record, as JSON for the specification."""
    import tensorflow as tf

    try:
        for record in tf.data.TFRecordDataset(path).take(1):
            example = tf.train.Example.FromString(record.numpy())
            found = {name: _guessed(value) for name, value in sorted(example.features.feature.items())}
            return f"; for its first record it would be:\n{json.dumps(found)}" if found else ""
    # The border to a file of any content: the sentence stands without the guess.
    except Exception:
        return ", and its first record cannot be read"
    return ", and the file contains no record"


def _guessed(feature: Any) -> dict[str, Any]:
    kind = feature.WhichOneof("kind")
    dtype = {"float_list": "float32", "int64_list": "int64", "bytes_list": "string"}.get(kind, "string")
    length = len(getattr(feature, kind).value) if kind else 0
    return {"dtype": dtype, "shape": [] if length == 1 else [length]}
