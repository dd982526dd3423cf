import numpy as np
import tensorflow as tf


class PairwiseRankingLoss(tf.keras.losses.Loss):
    """RankNet: every pair of the batch is compared, so (batch, batch) is meant."""

    def call(self, y_true, y_pred):
        rel = tf.reshape(tf.cast(y_true, tf.float32), [-1])
        score = tf.reshape(y_pred, [-1])
        diff = score[:, tf.newaxis] - score[tf.newaxis, :]
        better = tf.cast(rel[:, tf.newaxis] > rel[tf.newaxis, :], tf.float32)
        pair_loss = better * tf.nn.softplus(-diff)
        return tf.reduce_sum(pair_loss) / tf.maximum(tf.reduce_sum(better), 1.0)


rng = np.random.default_rng(7)
docs = rng.normal(size=(200, 8)).astype("float32")
relevance = docs[:, 0] - 0.5 * docs[:, 1]

inp = tf.keras.Input((8,))
score = tf.keras.layers.Dense(1)(tf.keras.layers.Dense(12, activation="relu")(inp))
ranker = tf.keras.Model(inp, score)
ranker.compile(optimizer="adam", loss=PairwiseRankingLoss())
ranker.fit(docs, relevance, epochs=2, batch_size=20, verbose=2)
