"""Scans on a real tf.data service: a dispatcher and workers on loopback, one of them killed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import fitdoctor
from fitdoctor.scan import service
from fitdoctor.scan.local_cluster import LocalCluster
from fitdoctor.scan.pieces import CannotScan

pytestmark = [pytest.mark.tf, pytest.mark.xdist_group("tf-data-service")]
np = pytest.importorskip("numpy")
PROGRAMS = Path(__file__).parents[2] / "docs" / "programs" / "scan"


@pytest.fixture(scope="module")
def tf() -> Any:
    return pytest.importorskip("tensorflow")


@dataclass
class Deployed:
    """A service whose processes run as the documentation says."""

    address: str


def free_port():
    with socket.socket() as one:
        one.bind(("localhost", 0))
        return one.getsockname()[1]


def wait_for(port):
    for _turn in range(600):
        with socket.socket() as one:
            if one.connect_ex(("localhost", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError(f"nothing listens at port {port}")


@pytest.fixture(scope="module")
def cluster(tf, tmp_path_factory):
    """The programs of docs/scan.md as plain processes: one dispatcher, two workers."""
    folder = tmp_path_factory.mktemp("service")
    for name in ("dispatcher.py", "worker.py"):
        (folder / name).write_text((PROGRAMS / name).read_text("utf-8"), "utf-8")
    port, *workers = free_port(), free_port(), free_port()
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}

    def start(*words):
        command = [sys.executable, *words]
        return subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL)

    processes = [start("dispatcher.py", str(port))]
    wait_for(port)
    processes += [start("worker.py", f"localhost:{port}", "localhost", str(worker)) for worker in workers]
    for worker in workers:
        wait_for(worker)
    yield Deployed(f"grpc://localhost:{port}")
    for process in processes:
        process.kill()
        process.wait()


def pipeline(tf, rows=1000):
    x = np.random.default_rng(0).standard_normal((rows, 4)).astype("float32")
    x[:, 1] = 2
    x[:, 3] = x[:, 0]
    x[rows // 2, 2] = np.nan
    y = np.arange(rows) % 7
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(8)


def test_workers_count_what_one_process_counts(tf, cluster):
    dataset = pipeline(tf)
    here = fitdoctor.scan(dataset)
    there = fitdoctor.scan(dataset, service=cluster.address)
    assert there.complete and [f.id for f in there.diagnosis.findings] == ["FIT110"]
    for one, other in zip(here.data[0].components, there.data[0].components, strict=True):
        for name in (
            "path", "part", "rows", "minimum", "maximum", "nan", "inf", "distinct", "constant_columns",
            "duplicate_columns", "nonfinite_columns",
        ):  # fmt: skip
            assert getattr(one, name) == getattr(other, name), name
        assert one.mean == pytest.approx(other.mean, rel=1e-6)
        assert sorted(one.labels or ()) == sorted(other.labels or ())
    assert there.data[0].components[0].constant_columns == ("1",)
    assert "on a service, the position of the first NaN or Inf is unknown" in " ".join(str(there).split())


def test_rows_in_training_and_validation_are_found(tf, cluster):
    x = np.random.default_rng(0).standard_normal((500, 3)).astype("float32")
    slices = tf.data.Dataset.from_tensor_slices
    held_out = slices(x[:120]).batch(50)
    report = fitdoctor.scan(slices(x).batch(8), validation_data=held_out, service=cluster.address)
    assert report.shared_rows == 120 and [f.id for f in report.diagnosis.findings] == ["FIT003"]
    report = fitdoctor.scan(slices(x[120:]), validation_data=slices(x[:120]), service=cluster.address)
    assert report.shared_rows == 0 and report.ok
    split = {"validation_data": slices(x).take(100), "service": cluster.address}
    report = fitdoctor.scan(slices(x).skip(100), **split)
    assert report.shared_rows is None and "each worker runs `skip` and `take` on its own shard" in " ".join(
        str(report).split()
    )
    dice = np.arange(1500).reshape(500, 3) % 2 == 0
    report = fitdoctor.scan(slices(dice), validation_data=slices(dice[:9]), service=cluster.address)
    assert report.shared_rows is None and "naturally repeat" in " ".join(str(report).split())


def test_samples_structures_and_text(tf, cluster):
    element = {
        "i": np.arange(100, dtype="int64") + 2**60,
        "r": tf.ragged.constant([[1.0] * (i % 3) for i in range(100)]),
        "t": [f"w{i}" for i in range(100)],
        "b": np.arange(100) % 2 == 0,
    }
    report = fitdoctor.scan(tf.data.Dataset.from_tensor_slices(element), service=cluster.address)
    told = {one.path: one for one in report.data[0].components}
    assert all(one.rows in (100, 99) for one in told.values()) and report.complete
    assert told["x['i']"].maximum == float(2**60 + 99) and told["x['b']"].mean == 0.5
    assert told["x['t']"].minimum is None and told["x['r']"].maximum == 1


def test_a_limit_ends_an_endless_pipeline(tf, cluster):
    endless = pipeline(tf, 64).repeat()
    with pytest.raises(CannotScan, match="is infinite"):
        fitdoctor.scan(endless, service=cluster.address)
    report = fitdoctor.scan(endless, service=cluster.address, limit=32)
    assert report.data[0].elements >= 32 and not report.complete


def test_what_workers_raise_is_told(tf, cluster):
    def checked(x, y):
        tf.debugging.assert_less(tf.reduce_max(y), tf.constant(6, tf.int64), message="a label of 6")
        return x, y

    report = fitdoctor.scan(pipeline(tf).map(checked), service=cluster.address)
    assert not report.complete and "a label of 6" in report.problems[0].what


def test_a_damaged_record_is_told_with_its_file_and_the_rest_is_counted(tf, cluster, tmp_path):
    feature = tf.train.Feature(float_list=tf.train.FloatList(value=[1.0]))
    example = tf.train.Example(features=tf.train.Features(feature={"x": feature})).SerializeToString()
    paths = [str(tmp_path / f"{name}.tfrecord") for name in "abc"]
    for path in paths:
        with tf.io.TFRecordWriter(path) as file:
            for _record in range(100):
                file.write(example)
    raw = bytearray(Path(paths[1]).read_bytes())
    raw[len(raw) // 2] ^= 255
    Path(paths[1]).write_bytes(raw)
    features = {"x": tf.io.FixedLenFeature([], tf.float32)}
    report = fitdoctor.scan(paths, features=features, service=cluster.address)
    assert report.data[0].rows == 250 and "b.tfrecord" in report.problems[0].what


def test_what_cannot_be_sent_is_said_at_once(tf):
    def python(x, y):
        return tf.numpy_function(lambda a: a, [x], tf.float32), y

    def batches():
        yield np.zeros(3)

    generator = tf.data.Dataset.from_generator(batches, output_signature=tf.TensorSpec((3,), tf.float64))
    began = time.monotonic()
    for dataset, named in ((pipeline(tf).map(python), "test_service.py"), (generator, "from_generator")):
        with pytest.raises(CannotScan, match=r"cannot be sent to workers") as refused:
            fitdoctor.scan(dataset, service="grpc://localhost:1")
        assert named in str(refused.value)
    with pytest.raises(CannotScan, match=r"only tf\.data pipelines"):
        fitdoctor.scan(np.zeros((3, 2)), service="grpc://localhost:1")
    with pytest.raises(CannotScan, match="grpc://host:port"):
        fitdoctor.scan(pipeline(tf), service="localhost")
    with pytest.raises(CannotScan, match="service answers at grpc://localhost:1"):
        fitdoctor.scan(pipeline(tf), service="localhost:1")
    assert time.monotonic() - began < 10


def test_what_each_worker_does_for_itself_is_said(tf, cluster):
    dataset = pipeline(tf).take(5)
    assert any(
        "`take`" in remark for remark in fitdoctor.scan(dataset, service=cluster.address).data[0].remarks
    )


def test_a_worker_that_dies_takes_no_row_twice(tf, monkeypatch):
    monkeypatch.setattr(service, "AFTER_DEATH", 4.0)

    def slow(i):
        value = tf.cast(i, tf.float32)
        for _turn in range(20):
            square = tf.random.stateless_uniform((120, 120), (1, 2)) + value
            value += 0.0 * tf.reduce_sum(tf.linalg.matmul(square, square))
        return tf.stack([value, value])

    rows = 3000
    with LocalCluster(2) as running:
        monkeypatch.setattr(LocalCluster, "__enter__", lambda _self: running)
        monkeypatch.setattr(LocalCluster, "__exit__", lambda *_args: None)

        def kill():
            time.sleep(1.5)
            running.processes[0].kill()

        threading.Thread(target=kill, daemon=True).start()
        report = fitdoctor.scan(tf.data.Dataset.range(rows).map(slow), local_workers=2)
    counted, told = report.data[0].rows, report.data[0].components[0]
    assert 0 < counted <= rows and told.mean is not None
    # Each row holds its own number twice: rows that came twice would show in the sum.
    assert told.mean * counted <= rows * (rows - 1) / 2
    if report.complete:  # it died between two shares of the data
        assert counted == rows and "1 worker died; even so, every row was counted" in str(report)
    else:
        said = f"1 worker died: {counted:,} of {rows:,} rows were counted, each once"
        assert said in report.problems[0].what and not report.ok


def test_waiting_for_workers_ends(tf):
    """What is done when nothing comes: with all rows there, with a dead worker, with no word for long."""
    source = service.ServiceSource("d", tf.data.Dataset.range(10), None)
    run = service._Run(source, "grpc://localhost:1", lambda: 1, 60.0, service.Quiet())
    assert not run._all_there() and not run._given_up(1.0)
    assert run._given_up(100.0) and "1 worker died: 0 of 10 rows" in source.problems[0].what
    run.rows = 10
    assert run._all_there() and run._take_all()
    silent = service._Run(
        service.ServiceSource("d", tf.data.Dataset.range(10), None), "", int, 60.0, service.Quiet()
    )
    assert not silent._given_up(59.0) and silent._given_up(61.0)
    assert "no worker returned anything for 61 s" in silent.source.problems[0].what
