"""A step with the signature of a Transformer tutorial, int64, and token ids that are int32."""

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential(
    [tf.keras.layers.Embedding(50, 8), tf.keras.layers.GlobalAveragePooling1D(), tf.keras.layers.Dense(2)]
)
losses = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam()
SIGNATURE = [
    tf.TensorSpec(shape=(None, None), dtype=tf.int64),  # <- FIT111
    tf.TensorSpec(shape=(None,), dtype=tf.int64),
]


@tf.function(input_signature=SIGNATURE)
def train_step(tokens, labels):
    with tf.GradientTape() as tape:
        loss = losses(labels, model(tokens, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))


rng = np.random.default_rng(1)
tokens, labels = rng.integers(0, 50, (32, 9), dtype="int32"), rng.integers(0, 2, 32, dtype="int32")
for batch in tf.data.Dataset.from_tensor_slices((tokens, labels)).batch(16):
    train_step(*batch)
