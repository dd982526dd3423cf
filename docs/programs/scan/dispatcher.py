import sys

import tensorflow as tf

service = tf.data.experimental.service
server = service.DispatchServer(service.DispatcherConfig(port=int(sys.argv[1])))
server.join()
