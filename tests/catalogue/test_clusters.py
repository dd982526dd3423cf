"""Strategies over several workers, with real TensorFlow and real ports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.clusters import config, free_port, listening
from tests.support.diagnosed import run_watched
from tests.support.fork_server import ForkServer

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
    script.write_text(TRAIN.replace("{config}", config(f"localhost:{free_port()}")))
    diagnosis, ended = run_watched(server, script)
    assert (ended.status, ended.stdout) == (0, "made 1\n"), ended.stderr[-1500:]
    assert not diagnosis.findings and not diagnosis.crashes
