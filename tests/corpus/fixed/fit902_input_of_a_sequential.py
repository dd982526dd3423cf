import numpy as np, tensorflow as tf
m = tf.keras.Sequential([
    tf.keras.layers.Conv2D(8, 3, activation="relu", input_shape=(16, 16, 1), name="conv"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(10)])
m.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
m.fit(np.random.rand(10, 16, 16, 1), np.random.randint(0, 10, 10), verbose=0)
feature = tf.keras.Model(m.inputs[0], [m.get_layer("conv").output, m.outputs[0]])
print(feature(np.random.rand(1, 16, 16, 1))[0].shape)
