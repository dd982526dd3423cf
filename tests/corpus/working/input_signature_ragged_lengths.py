import numpy as np
import tensorflow as tf

emb = tf.keras.layers.Embedding(30, 8)
rnn = tf.keras.layers.GRU(8)
head = tf.keras.layers.Dense(1)
emb.build((None, None))
rnn.build((None, None, 8))
head.build((None, 8))
variables = emb.trainable_variables + rnn.trainable_variables + head.trainable_variables
opt = tf.keras.optimizers.Adam(1e-2)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function(input_signature=[tf.TensorSpec((None, None), tf.int32), tf.TensorSpec((None, 1), tf.float32)])
def step(tokens, labels):
    with tf.GradientTape() as tape:
        loss = bce(labels, head(rnn(emb(tokens))))
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


rng = np.random.default_rng(0)
for length in range(4, 12):
    tokens = rng.integers(0, 30, (16, length))
    labels = (tokens[:, :1] > 15).astype("float32")
    print(length, float(step(tf.constant(tokens, tf.int32), tf.constant(labels))))
