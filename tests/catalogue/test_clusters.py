"""Strategies over several workers, with real TensorFlow and real ports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fitdoctor.facts import DataFacts, ModelFacts, Unknown
from fitdoctor.facts.data import Sharding
from tests.catalogue.input_facts import judged
from tests.support.clusters import config, free_port, listening
from tests.support.diagnosed import run_watched
from tests.support.fork_server import ForkServer

SOURCE = Path(__file__).parents[2] / "src"

TRAIN = """\
import os
import tensorflow as tf

os.environ["TF_CONFIG"] = '{config}'
strategy = tf.distribute.MultiWorkerMirroredStrategy()
print("made", strategy.num_replicas_in_sync)
"""


@pytest.mark.tf
def test_run_stops_a_worker_whose_port_is_taken(server: ForkServer, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    with listening() as busy:
        script.write_text(TRAIN.replace("{config}", config(f"localhost:{busy}")))
        diagnosis, ended = run_watched(server, script)
    assert ended.status == 1 and "FitWillFail" in ended.stderr
    assert diagnosis.primary is not None and diagnosis.primary.location is not None
    assert (diagnosis.primary.id, diagnosis.primary.location.line) == ("FIT606", 4)


@pytest.mark.tf
def test_a_cluster_of_one_is_left_alone(server: ForkServer, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    again = "tf.distribute.MultiWorkerMirroredStrategy()\n"  # its port is taken by then: by itself
    script.write_text(TRAIN.replace("{config}", config(f"localhost:{free_port()}")) + again)
    diagnosis, ended = run_watched(server, script)
    assert (ended.status, ended.stdout) == (0, "made 1\n"), ended.stderr[-1500:]
    assert not diagnosis.findings and not diagnosis.crashes


@pytest.mark.parametrize(
    ("policy", "files", "told"),
    [
        ("AUTO", 1, "1 file, but there are 2 workers"),
        ("FILE", 0, "reads no files"),
        ("AUTO", 0, ""),
        ("FILE", 2, ""),
        ("DATA", 1, ""),
        ("OFF", 1, ""),
        ("AUTO", Unknown("not listed"), ""),
    ],
)
def test_fewer_files_than_workers_are_told_before_fit(policy: str, files: int | Unknown, told: str) -> None:
    data = DataFacts(form="dataset", sharding=Sharding(policy, files))
    found = judged(ModelFacts(keras=2, workers=2), data, select="FIT607")
    assert [told in finding.message for finding in found] == [True] * bool(told)
    assert not judged(ModelFacts(keras=2), data, select="FIT607")


WORKER = """\
import json
import os
import sys

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # Keras 3 does not train with several workers
import numpy as np
import tensorflow as tf

index, features = int(sys.argv[1]), int(sys.argv[2])
cluster = {"worker": [f"localhost:{port}" for port in sys.argv[3:]]}
os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})
strategy = tf.distribute.MultiWorkerMirroredStrategy()
x = np.random.default_rng(0).normal(size=(64, features)).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(16)
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(data.with_options(options), epochs=1, verbose=0)
"""


@pytest.mark.tf
def test_the_wrong_one_of_two_workers_is_named_by_the_chief(tmp_path: Path) -> None:
    pytest.importorskip("tf_keras")
    script = tmp_path / "train.py"
    script.write_text(WORKER)
    ports = [str(free_port()), str(free_port())]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "fitdoctor", "run", "train.py"]
    workers = [
        subprocess.Popen(
            [*command, str(index), features, *ports],
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for index, features in enumerate(("4", "5"))
    ]
    try:
        chief, other = (worker.communicate(timeout=120)[1] for worker in workers)
    finally:
        for worker in workers:
            worker.kill()
    assert "error[FIT101]: each sample of `x` has shape (5,)" in chief, chief[-2000:]
    assert "(only on worker 1)" in " ".join(chief.split()), chief
    assert "(line 18)" in chief, chief
    assert "worker 0 prints the report" in other and "error[" not in other
    assert [worker.returncode for worker in workers] == [1, 1]
