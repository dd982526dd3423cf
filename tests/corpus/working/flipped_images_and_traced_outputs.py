"""NumPy functions that work on tensors, sizes that are known while tracing, and a look at a traced function's graph."""

import numpy as np
import tensorflow as tf


def augment(image, label):
    image = np.flip(image, axis=1)
    pixels = np.prod(image.shape)
    return image / tf.cast(pixels, tf.float32), label


data = tf.data.Dataset.from_tensor_slices((np.ones((16, 4, 4, 1), "float32"), np.ones(16, "float32")))
data = data.map(augment).batch(4, drop_remainder=True)
model = tf.keras.Sequential(
    [tf.keras.Input((4, 4, 1)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)]
)
model.compile("sgd", "mse")
model.fit(data, verbose=0)


@tf.function
def forward(x):
    return model(x) * 2.0


concrete = forward.get_concrete_function(tf.TensorSpec((None, 4, 4, 1), tf.float32))
outputs = concrete.outputs
inputs = [tensor for tensor in concrete.graph.inputs if "unknown" not in tensor.name]
print(outputs, len(inputs))
