import tensorflow as tf
import numpy as np


class Seq2SeqTrainer:
    def __init__(self, vocab=20, units=16):
        self.emb = tf.keras.layers.Embedding(vocab, 8)
        self.rnn = tf.keras.layers.GRU(units, return_sequences=True)
        self.out = tf.keras.layers.Dense(vocab)
        self.model = tf.keras.Sequential([tf.keras.Input((None,), dtype="int32"), self.emb, self.rnn, self.out])
        self.opt = tf.keras.optimizers.Adam(1e-2)
        self.ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def train_batch(self, inp, tar):
        logits = self.model(inp, training=True)  # <- FIT507
        with tf.GradientTape() as tape:
            loss = self.ce(tar, logits)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss


rng = np.random.default_rng(0)
tokens = np.cumsum(rng.integers(1, 3, (64, 9)), axis=1) % 20
trainer = Seq2SeqTrainer()
for i in range(0, 64, 16):
    batch = tf.constant(tokens[i:i + 16], tf.int32)
    print(float(trainer.train_batch(batch[:, :-1], batch[:, 1:])))
