"""`fit`, two workers | fails: "Attempt to convert a value (PerReplica:" | trains

`fit`, one worker | trains | trains

a loop with `strategy.run`, two workers | trains | not tried
"""

import json
import os
import socket
import traceback


def free_ports(number):
    """Held together until all are known, so that they differ."""
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def fit_of(package):
    def train(strategy):
        import numpy as np

        with strategy.scope():
            model = package().Sequential([package().layers.Dense(1)])
            model.compile("sgd", "mse")
        model.fit(np.ones((32, 3)), np.ones((32, 1)), batch_size=8, verbose=0)

    return train


def keras_3():
    import keras

    return keras


def keras_2():
    import tf_keras

    return tf_keras


def own_loop(strategy):
    import keras
    import tensorflow as tf

    with strategy.scope():
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
        optimizer = keras.optimizers.SGD()
        optimizer.build(model.trainable_variables)

    @tf.function
    def step():
        def replica():
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(tf.ones((8, 3))) - 1.0) ** 2) / strategy.num_replicas_in_sync
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

        strategy.run(replica)

    for _ in range(3):
        step()


def run(train, workers):
    """Return how the workers end: "" for each that trained, otherwise its message."""
    addresses = [f"127.0.0.1:{port}" for port in free_ports(workers)]
    stay, leave = os.pipe()
    children = []
    for index in range(workers):
        read, write = os.pipe()
        child = os.fork()  # TensorFlow may fork as long as it has not run anything
        if child == 0:
            task = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
            os.environ["TF_CONFIG"] = json.dumps(task)
            message = ""
            try:
                import tensorflow as tf

                train(tf.distribute.MultiWorkerMirroredStrategy())
            except BaseException as error:
                message = str(error)[:5000]
                traceback.print_exc()
            os.write(write, message.encode() + b"\n")
            # A worker that leaves early fails the others.
            os.close(leave)
            os.read(stay, 1)
            os._exit(0)
        os.close(write)
        children.append((child, read))
    messages = [os.read(read, 10_000).decode().removesuffix("\n") for _child, read in children]
    os.close(leave)
    for child, _read in children:
        os.waitpid(child, 0)
    return messages


PER_REPLICA = "Attempt to convert a value (PerReplica:"
assert all(message.startswith(PER_REPLICA) for message in run(fit_of(keras_3), 2))
assert run(fit_of(keras_3), 1) == [""]
assert run(fit_of(keras_2), 2) == ["", ""]
assert run(fit_of(keras_2), 1) == [""]
assert run(own_loop, 2) == ["", ""]
