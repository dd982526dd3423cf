"""Groups files by type, and into training and validation data."""

from __future__ import annotations

import glob
import os
from typing import Any

from fitdoctor.optional_packages import require
from fitdoctor.scan.csv_source import csv_source
from fitdoctor.scan.numpy_files import NpzSource, npy_source, npz_members
from fitdoctor.scan.parquet_source import parquet_source
from fitdoctor.scan.pieces import CannotScan, Component, Source
from fitdoctor.scan.table_source import part_named, role_named

KINDS = {
    ".npy": "npy",
    ".npz": "npz",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".tfrecord": "tfrecord",
    ".tfrecords": "tfrecord",
    ".tfrec": "tfrecord",
}


def kind_of_file(path: str) -> str | None:
    """Return the type of a file by its extension, or None."""
    base = os.path.basename(path).lower()
    if ".tfrecord" in base:  # train.tfrecord-00001-of-00100
        return "tfrecord"
    return KINDS.get(os.path.splitext(base)[1])


def is_file(text: str) -> bool:
    """Whether a word names files rather than MODULE:NAME."""
    return kind_of_file(text) is not None or os.path.exists(text) or any(c in text for c in "*?[")


def open_files(
    words: list[str],
    *,
    labels: tuple[str, ...] = (),
    features: str | dict[str, Any] | None = None,
    limit: int | None = None,
) -> dict[str, Source]:
    """Return sources by role: files are training data unless their names (or names inside) say validation.

    Raises:
        CannotScan: a file does not exist or cannot be read, or the files are not compatible.
    """
    paths = expanded(words)
    kinds = {kind_of_file(path) for path in paths}
    if None in kinds:
        odd = next(path for path in paths if kind_of_file(path) is None)
        raise CannotScan(f"`{odd}`: unsupported file type; supported: {', '.join(sorted(KINDS))}")
    if len(kinds) > 1:
        raise CannotScan(
            f"files of different types ({', '.join(sorted(map(str, kinds)))}) cannot be scanned as one dataset"
        )
    kind = kinds.pop()
    if kind == "npy":
        return _npy(paths, labels, limit)
    if kind == "npz":
        return _npz(paths, labels, limit)
    if kind == "csv":
        return {"training": csv_source(paths, labels, limit)}
    if kind == "parquet":
        return {"training": parquet_source(paths, labels, limit)}
    require("tensorflow", "reading TFRecord files")
    from fitdoctor.scan.tfrecord_source import tfrecord_source

    return {"training": tfrecord_source(paths, features, labels, limit)}


def expanded(words: list[str]) -> list[str]:
    """Return the paths, with patterns expanded.

    Raises:
        CannotScan: there is no such file.
    """
    found: list[str] = []
    for word in words:
        matches = sorted(glob.glob(word, recursive=True)) if any(c in word for c in "*?[") else [word]
        if not matches:
            raise CannotScan(f"no file matches `{word}`")
        for path in matches:
            if os.path.isdir(path):
                raise CannotScan(f"`{path}` is a folder: give its files, such as `{path}/*.csv`")
            if not os.path.exists(path):
                raise CannotScan(f"there is no file `{path}`")
            if os.path.getsize(path) == 0:
                raise CannotScan(f"`{path}` is empty")
            found.append(path)
    return found


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def _npy(paths: list[str], labels: tuple[str, ...], limit: int | None) -> dict[str, Source]:
    roles: dict[str, list[tuple[str, Component]]] = {}
    for path in paths:
        stem = _stem(path)
        part = "y" if path in labels else part_named(stem, labels)
        role = role_named(stem) if len(paths) > 1 else "training"
        roles.setdefault(role, []).append((path, Component(stem, part, stem, ".npy file")))
    if "training" not in roles:
        roles = {"training": roles["validation"]}
    return {role: npy_source(components, limit) for role, components in roles.items()}


def _npz(paths: list[str], labels: tuple[str, ...], limit: int | None) -> dict[str, Source]:
    if len(paths) > 1:
        raise CannotScan("give one `.npz` file at a time")
    roles: dict[str, dict[str, Component]] = {}
    for member in npz_members(paths[0]):
        component = Component(member, part_named(member, labels), member, ".npz member")
        roles.setdefault(role_named(member), {})[member] = component
    if "training" not in roles:
        roles = {"training": roles["validation"]}
    return {role: NpzSource(paths[0], members, limit) for role, members in roles.items()}
