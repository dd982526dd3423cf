import sys

import tensorflow as tf

dispatcher, host, port = sys.argv[1:]
service = tf.data.experimental.service
server = service.WorkerServer(
    service.WorkerConfig(dispatcher_address=dispatcher, worker_address=f"{host}:{port}", port=int(port))
)
server.join()
