"""A worker of a tf.data service on this machine: `python -m fitdoctor.scan.local_worker HOST:PORT`."""

from __future__ import annotations

import os
import sys
import time


def main() -> int:
    """Serve until the process that started this one has gone."""
    import tensorflow as tf

    parent = os.getppid()
    service = tf.data.experimental.service
    worker = service.WorkerServer(
        service.WorkerConfig(dispatcher_address=sys.argv[1], heartbeat_interval_ms=1000)
    )
    print("ready", flush=True)
    while os.getppid() == parent:
        time.sleep(0.5)
    del worker
    return 0


if __name__ == "__main__":
    sys.exit(main())
