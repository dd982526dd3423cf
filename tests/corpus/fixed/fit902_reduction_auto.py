import numpy as np
import tensorflow as tf

loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum_over_batch_size")
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)])
model.compile(optimizer="adam", loss=loss_object)
model.fit(np.random.rand(32, 4), np.random.randint(0, 3, 32), epochs=1, verbose=2)
