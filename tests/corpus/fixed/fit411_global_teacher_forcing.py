import tensorflow as tf
import numpy as np

TEACHER_FORCING = tf.Variable(1.0, trainable=False)

cell = tf.keras.layers.GRUCell(8)
proj = tf.keras.layers.Dense(1)
opt = tf.keras.optimizers.Adam(1e-2)


@tf.function
def train_step(seq):
    with tf.GradientTape() as tape:
        state = tf.zeros((tf.shape(seq)[0], 8))
        prev, loss = seq[:, 0], 0.0
        for t in range(1, seq.shape[1]):
            h, state = cell(prev, state)
            pred = proj(h)
            loss += tf.reduce_mean(tf.square(pred - seq[:, t]))
            prev = TEACHER_FORCING * seq[:, t] + (1.0 - TEACHER_FORCING) * pred
    variables = cell.trainable_variables + proj.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


phase = np.random.default_rng(0).uniform(0, 6, (48, 1))
seqs = tf.constant(np.sin(np.arange(8) * 0.7 + phase)[..., None], tf.float32)
for epoch in range(6):
    TEACHER_FORCING.assign(max(0.0, 1.0 - epoch / 5))
    loss = train_step(seqs)
    print(epoch, round(float(loss), 4))
