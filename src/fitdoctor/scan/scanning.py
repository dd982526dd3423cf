"""`fitdoctor.scan`: opens the data, reads it here or on a tf.data service, and checks the statistics."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fitdoctor.collect.codes import Codes
from fitdoctor.collect.data import form_of
from fitdoctor.facts import Unknown
from fitdoctor.optional_packages import require
from fitdoctor.scan.files import is_file, open_files
from fitdoctor.scan.judge import judged
from fitdoctor.scan.opening import made, named, open_data
from fitdoctor.scan.outcome import Scanned, ScanReport, report_of
from fitdoctor.scan.pieces import TABLE, CannotScan, Source, Watcher, count
from fitdoctor.scan.service import Pipeline
from fitdoctor.scan.shared_rows import RowMatch
from fitdoctor.scan.table_source import TableSource

NO_VALIDATION = Unknown("there is no validation data")


@dataclass(frozen=True)
class Wishes:
    """The settings of a scan."""

    model: Any = None
    classes: int | None = None
    declared: str = ""
    """How the user set `classes`, for messages."""
    labels: tuple[str, ...] = ()
    features: str | dict[str, Any] | None = None
    limit: int | None = None
    service: str | None = None
    local_workers: int = 0
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    patience: float = 60.0
    """Seconds after which silent workers of a service are abandoned."""


def scan_all(
    x: Any,
    y: Any = None,
    sample_weight: Any = None,
    validation_data: Any = None,
    wishes: Wishes | None = None,
    watcher: Watcher | None = None,
    codes: Codes | None = None,
) -> ScanReport:
    """Read all the data and report on it.

    Raises:
        CannotScan: the data cannot be read as asked.
        MissingPackage: reading it needs a package that is not installed.
    """
    wanted = wishes or Wishes()
    require("numpy", "`scan`")
    if wanted.service or wanted.local_workers:
        scans, shared = _on_service(x, validation_data, wanted, watcher)
    else:
        sources = _sources(x, y, sample_weight, validation_data, wanted)
        scans, shared = _here(sources, watcher)
    diagnosis = judged(
        scans,
        wanted.model,
        wanted.classes,
        shared,
        codes,
        select=wanted.select,
        ignore=wanted.ignore,
        declared=wanted.declared,
    )
    return ScanReport(
        tuple(report_of(one) for one in scans), diagnosis, shared if isinstance(shared, int) else None
    )


def _sources(x: Any, y: Any, sample_weight: Any, validation_data: Any, wanted: Wishes) -> dict[str, Source]:
    sources = _opened(x, "x", y, sample_weight, wanted)
    if validation_data is not None:
        parts = _validation_parts(validation_data)
        sources["validation"] = _opened(parts[0], "validation_data", *parts[1:], wanted)["training"]
    return sources


def _validation_parts(given: Any) -> tuple[Any, Any, Any]:
    if isinstance(given, (list, tuple)) and form_of(given) == "arrays" and not _names_files(given):
        return (*given, None, None)[:3]
    return (given, None, None)


def _opened(x: Any, name: str, y: Any, sample_weight: Any, wanted: Wishes) -> dict[str, Source]:
    if _names_files(x):
        words = [os.fspath(one) for one in (x if isinstance(x, (list, tuple)) else [x])]
        labels = wanted.labels
        if y is not None:
            if not _names_files(y) or isinstance(y, (list, tuple)):
                raise CannotScan("when x is a file, y must be a file too")
            words.append(os.fspath(y))
            labels = (*labels, os.fspath(y))
        return open_files(words, labels=labels, features=wanted.features, limit=wanted.limit)
    if isinstance(x, str):
        name, x = x, named(x)
    return {"training": open_data(name, x, y, sample_weight, wanted.limit)}


def _names_files(x: Any) -> bool:
    if isinstance(x, os.PathLike):
        return True
    if isinstance(x, (list, tuple)):
        return bool(x) and all(isinstance(one, (str, os.PathLike)) for one in x)
    return isinstance(x, str) and (is_file(x) or ":" not in x)


def _here(sources: dict[str, Source], watcher: Watcher | None) -> tuple[list[Scanned], int | Unknown]:
    """Scan on this machine, validation data first: its rows are then looked up while the training data is read."""
    training, validation = sources["training"], sources.get("validation")
    if validation is None:
        return [Scanned(training, count(training, watcher=watcher))], NO_VALIDATION
    match = RowMatch(_compared(validation))
    second = Scanned(validation, count(validation, watcher=watcher, match=match), "validation")
    if second.counted.interrupted:
        return [second], Unknown("it was interrupted")
    match.turn()
    match.component = _compared(training)
    first = Scanned(training, count(training, watcher=watcher, match=match))
    return [first, second], _shared(match, first)


def _shared(match: RowMatch, training: Scanned) -> int | Unknown:
    """Return the number of validation rows in the training data, and add what to say about it to the remarks."""
    shared = match.shared()
    if match.every > 1:
        training.remarks.append(
            f"only 1 in {match.every} validation rows was compared with the training rows"
        )
    if isinstance(shared, str):
        training.remarks.append(f"training and validation rows could not be compared: {shared}")
        return Unknown(shared)
    return shared


def _compared(source: Source) -> int:
    """Return the component whose rows are compared; for a table, all of its columns."""
    if isinstance(source, TableSource):
        return TABLE
    return next((i for i, one in enumerate(source.components) if one.part == "x"), 0)


def _on_service(
    x: Any, validation_data: Any, wanted: Wishes, watcher: Watcher | None
) -> tuple[list[Scanned], int | Unknown]:
    """Scan on a service, validation data first, so that the hashes of training rows need not be kept."""
    require("tensorflow", "a tf.data service")
    from fitdoctor.scan.service import scan_on_service
    from fitdoctor.scan.shipping import done_by_each

    training = _pipeline(x, "x", wanted)
    if validation_data is None:
        return [scan_on_service(training, wanted, watcher)], NO_VALIDATION
    match = RowMatch()
    pipeline = _pipeline(validation_data, "validation_data", wanted)
    second = scan_on_service(pipeline, wanted, watcher, "validation", match)
    if second.counted.interrupted:
        return [second], Unknown("it was interrupted")
    match.turn()
    first = scan_on_service(training, wanted, watcher, match=match)
    others = sorted({step for one in (training, pipeline) for step in done_by_each(one.dataset)})
    if others:
        # Each worker splits its own shard: what it takes for validation is not what it skips for training.
        match.refuse(
            f"on a service, each worker runs {' and '.join(f'`{step}`' for step in others)} on its own shard"
        )
    return [first, second], _shared(match, first)


def _pipeline(x: Any, name: str, wanted: Wishes) -> Pipeline:
    """Return the tf.data pipeline to send, with its name."""
    from fitdoctor.scan.service import Pipeline

    if _names_files(x):
        from fitdoctor.scan.files import expanded, kind_of_file

        words = expanded([os.fspath(one) for one in (x if isinstance(x, (list, tuple)) else [x])])
        if {kind_of_file(path) for path in words} != {"tfrecord"} or wanted.features is None:
            raise CannotScan(
                "a tf.data service reads TFRecord files only, with `--features`; for other files give a tf.data pipeline "
                "(MODULE:NAME) that reads them"
            )
        from fitdoctor.scan.tfrecord_source import specification, tfrecord_dataset

        given = wanted.features
        spec = given if isinstance(given, dict) else specification(given)
        careful = tfrecord_dataset(words, spec, wanted.labels, together=1)
        return Pipeline(words[0], tfrecord_dataset(words, spec, wanted.labels), careful)
    if isinstance(x, str):
        name, x = x, named(x)
    if callable(x) and form_of(x) == "other":
        x = made(name, x)
    if form_of(x) != "dataset":
        raise CannotScan(
            f"`{name}` is a `{type(x).__name__}`: a tf.data service runs only tf.data pipelines; scan it without "
            "`--service`, or convert it to a `tf.data.Dataset`"
        )
    return Pipeline(name, x)


def scan(
    x: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    validation_data: Any = None,
    model: Any = None,
    classes: int | None = None,
    labels: str | Iterable[str] = (),
    features: str | dict[str, Any] | None = None,
    limit: int | None = None,
    service: str | None = None,
    local_workers: int = 0,
    progress: bool = False,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
) -> ScanReport:
    """Read all the data that `fit` would see, once, and report what it contains and what is wrong with it.

    Reading uses up a generator; pass the function that creates it instead. Ctrl-C stops reading and returns the results
    so far.

    Args:
        x: what `fit` takes (arrays, a tf.data.Dataset, a generator, a PyDataset), a function that returns it, the path of
            a file or a list of paths (.npy, .npz, .csv, .parquet, TFRecord), or `"MODULE:NAME"`.
        y: the labels, if x is arrays.
        sample_weight: the sample weights, if x is arrays.
        validation_data: as for `fit`, or a path; the scan reports how many of its rows are also in the training data.
        model: the model to check labels and ids against.
        classes: without a model, the number of classes; labels must be 0 to `classes - 1`.
        labels: the columns, keys or features that are labels; guessed from their names by default.
        features: the features of TFRecord files: a dict as for `tf.io.parse_example`, MODULE:NAME, or a JSON file.
        limit: the most rows of arrays and files, or elements of a pipeline, to read; required for infinite data.
        service: the address of a tf.data service (`grpc://host:port`) whose workers read the data.
        local_workers: start a tf.data service with this many workers on this machine, to try it out.
        progress: show a progress bar on standard error.
        select: ids of the causes to check; all by default.
        ignore: ids of causes to skip.

    Returns:
        The statistics of every component and the diagnosis.

    Raises:
        CannotScan: the data cannot be read as asked (a ValueError).
        MissingPackage: reading it needs a package that is not installed (an ImportError).
    """
    import sys

    from fitdoctor.collect.call_arguments import Passed
    from fitdoctor.collect.locate import FrameCodes
    from fitdoctor.scan.progress import Bar

    names = (labels,) if isinstance(labels, str) else tuple(labels)
    wishes = Wishes(
        model=model,
        classes=classes,
        labels=names,
        features=features,
        limit=limit,
        service=service,
        local_workers=local_workers,
        select=tuple(select),
        ignore=tuple(ignore),
    )
    codes = FrameCodes(sys._getframe(1), Passed("scan", ("x", "y", "sample_weight")))
    return scan_all(x, y, sample_weight, validation_data, wishes, Bar() if progress else None, codes)
