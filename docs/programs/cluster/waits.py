"""TensorFlow itself waits and prints nothing, and neither Ctrl-C nor `kill` ends it, only `kill -9`."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

PROGRAM = "import tensorflow as tf; print('start', flush=True); tf.distribute.MultiWorkerMirroredStrategy()"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


addresses = [f"127.0.0.1:{free_port()}" for _ in range(2)]  # nobody starts the second worker
cluster = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": 0}}
worker = subprocess.Popen(
    [sys.executable, "-c", PROGRAM],
    env={**os.environ, "TF_CONFIG": json.dumps(cluster), "TF_CPP_MIN_LOG_LEVEL": "3"},
    stdout=subprocess.PIPE,
    stderr=subprocess.STDOUT,
)
try:
    while worker.stdout.readline() != b"start\n":
        assert worker.poll() is None
    time.sleep(3)  # it now waits for the other
    for ending in (signal.SIGINT, signal.SIGTERM):
        worker.send_signal(ending)
        time.sleep(2)
        assert worker.poll() is None
finally:
    worker.kill()
    printed = worker.communicate()[0]
assert printed == b""
