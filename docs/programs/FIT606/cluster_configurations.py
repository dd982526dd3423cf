"""`ValueError: When cluster_spec is given, you must also specify task_type and task_id`

`UnknownError: Could not start gRPC server` if the port is in use
"""

import json
import os
import socket

import tensorflow as tf


def raised(config):
    os.environ["TF_CONFIG"] = json.dumps(config)
    try:
        tf.distribute.MultiWorkerMirroredStrategy()
    except Exception as error:
        return str(error)
    return ""


with socket.socket() as taken:
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    workers = {"worker": [f"127.0.0.1:{taken.getsockname()[1]}", "127.0.0.1:1"]}
    message = "When `cluster_spec` is given, you must also specify `task_type` and `task_id`"
    assert message in raised({"cluster": workers})
    task = {"type": "worker", "index": 0}
    assert "Could not start gRPC server" in raised({"cluster": workers, "task": task})
