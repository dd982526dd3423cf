"""`scan` against the memory's bandwidth, NumPy, pandas and a bare tf.data loop, and how it grows with workers."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from benchmarks import Row


def rows(quick: bool) -> list[Row]:
    """All figures of the scan."""
    return [
        *_in_memory(quick),
        *_file(quick),
        *_pipelines(quick),
        *_pandas(quick),
        *([] if quick else _workers()),
    ]


def _best(works: dict[str, Callable[[], Any]], turns: int, seconds: float) -> dict[str, float]:
    """The least time of each."""
    return {name: min(spent) for name, spent in _times(works, turns, seconds).items()}


def _usual(works: dict[str, Callable[[], Any]], turns: int, seconds: float) -> dict[str, float]:
    """The median of each: what tf.data's own threads do makes the time of a turn jump between two levels."""
    return {name: statistics.median(spent) for name, spent in _times(works, turns, seconds).items()}


def _times(works: dict[str, Callable[[], Any]], turns: int, seconds: float) -> dict[str, list[float]]:
    """The times of each, taken in turns, so that a busy machine is busy for all of them."""
    spent: dict[str, list[float]] = {name: [] for name in works}
    ends = time.perf_counter() + seconds
    for turn in range(turns):
        for name, work in works.items():
            began = time.perf_counter()
            work()
            spent[name].append(time.perf_counter() - began)
        if time.perf_counter() > ends and turn >= 2:
            break
    return spent


def _count(x: Any) -> None:
    from fitdoctor.scan.opening import open_data
    from fitdoctor.scan.pieces import count

    counted = count(open_data("x", x))
    assert counted.complete


def _in_memory(quick: bool) -> list[Row]:
    import numpy as np

    # Many times the last cache of common processors, so that memory is what is read; and as large as data that one
    # would think twice about reading: starting threads takes a fifth of a scan of 0.25 GB.
    x = np.random.default_rng(0).standard_normal((1 << 20, 256), dtype=np.float32)
    flat = x.reshape(-1)

    def five() -> None:
        np.isnan(x).any()
        np.isinf(x).any()
        x.min()
        x.max()
        x.mean()

    best = _best(
        {"dot": lambda: np.dot(flat, flat), "ours": lambda: _count(x), "five": five},
        turns=10 if quick else 60,
        seconds=15 if quick else 60,
    )
    size = x.nbytes / 1e9
    ours = size / best["ours"]
    words = f"scan, {size:.2f} GB of float32 in memory"
    return [
        Row(words, ours, size / best["dot"], best["dot"] / best["ours"], ">= 0.6", "GB/s", "np.dot(x, x)"),
        Row(words, ours, size / best["five"], best["five"] / best["ours"], ">= 2", "GB/s", "5 NumPy calls"),
    ]


def _file(quick: bool) -> list[Row]:
    import os
    import tempfile

    import numpy as np

    from fitdoctor.scan.files import open_files
    from fitdoctor.scan.pieces import count

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.npy")
        x = np.random.default_rng(0).standard_normal(
            (64 << 10 if quick else 256 << 10, 256), dtype=np.float32
        )
        np.save(path, x)
        best = _best(
            {
                "ours": lambda: count(open_files([path])["training"]),
                "load": lambda: np.load(path),
            },
            turns=5 if quick else 20,
            seconds=10,
        )
    size = x.nbytes / 1e9
    against = "np.load alone"
    return [
        Row(
            f"scan, {size:.2f} GB in a .npy file, cached",
            size / best["ours"],
            size / best["load"],
            best["load"] / best["ours"],
            "",
            "GB/s",
            against,
        )
    ]


def _pipelines(quick: bool) -> list[Row]:
    import numpy as np
    import tensorflow as tf

    x = np.random.default_rng(0).standard_normal((20_000, 28, 28), dtype=np.float32)
    y = np.arange(len(x)) % 10
    samples = tf.data.Dataset.from_tensor_slices((x, y))
    batches = samples.map(lambda image, label: (image * 2.0, label)).batch(32).prefetch(2)

    def bare(dataset: Any) -> None:
        for _element in dataset:
            pass

    found = []
    for words, dataset in (("batches of 32 images", batches), ("single images", samples.take(5_000))):
        usual = _usual(
            {"bare": lambda dataset=dataset: bare(dataset), "ours": lambda dataset=dataset: _count(dataset)},  # type: ignore[misc]
            turns=11 if quick else 31,
            seconds=15 if quick else 60,
        )
        number = len(x) if words.startswith("batches") else 5_000
        rate = {name: number / spent / 1000 for name, spent in usual.items()}
        found.append(
            Row(
                f"scan, a tf.data pipeline, {words}",
                rate["ours"],
                rate["bare"],
                rate["ours"] / rate["bare"],
                ">= 0.9",
                "k rows/s",
                "iterating it bare",
            )
        )
    return found


def _pandas(quick: bool) -> list[Row]:
    import numpy as np
    import pandas as pd

    from fitdoctor.scan.opening import open_data
    from fitdoctor.scan.pieces import count

    table = np.random.default_rng(0).standard_normal((200_000 if quick else 1_000_000, 20))
    table[::1000, 3] = np.nan
    frame = pd.DataFrame(table, columns=[f"c{i}" for i in range(20)])
    best = _best(
        {
            "ours": lambda: count(open_data("x", frame)),
            "pandas": lambda: (frame.describe(), frame.isna().sum()),
        },
        turns=3 if quick else 8,
        seconds=20,
    )
    return [
        Row(
            f"scan, a frame of {len(frame):,} rows and 20 columns",
            best["ours"],
            best["pandas"],
            best["pandas"] / best["ours"],
            "",
            "s",
            "describe + isna",
        )
    ]


def _workers() -> list[Row]:
    import tensorflow as tf

    from fitdoctor.scan.local_cluster import LocalCluster
    from fitdoctor.scan.scanning import Wishes, scan_all

    number = 1500

    def slow(index: Any) -> Any:
        value = tf.random.stateless_uniform((160, 160), tf.stack([index, index]))
        for _turn in range(6):
            value = tf.linalg.matmul(value, value) / 160.0
        return value

    # One core a worker: otherwise tf.data runs the map function on all cores by itself, and one worker is enough.
    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    options.experimental_optimization.map_parallelization = False
    pipeline = tf.data.Dataset.range(number).map(slow).with_options(options)
    spent: dict[int, float] = {}
    for workers in (1, 2):
        with LocalCluster(workers) as cluster:
            wishes = Wishes(service=cluster.address)
            # The first pass makes the workers trace and start; it is not what grows with the data.
            scan_all(pipeline.take(32), wishes=wishes)
            spent[workers] = min(scan_all(pipeline, wishes=wishes).data[0].seconds for _turn in range(3))
    return [
        Row(
            f"scan, {number} elements of a slow map, 2 workers",
            number / spent[2],
            number / spent[1],
            spent[1] / spent[2],
            "",
            "elements/s",
            "1 worker",
        )
    ]
