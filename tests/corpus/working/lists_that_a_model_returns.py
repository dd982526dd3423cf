"""A model returns lists of tensors; a traced step adds them and loops over them in Python."""

import tensorflow as tf


class Pyramid(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.levels = [tf.keras.layers.Dense(size) for size in (2, 3)]
        self.scores = [tf.keras.layers.Dense(1) for _ in self.levels]

    def call(self, inputs):
        maps = [level(inputs) for level in self.levels]
        return [score(one) for score, one in zip(self.scores, maps)], maps


class Detector:
    def __init__(self):
        self.pyramid = Pyramid()

    def anchors_like(self, maps):
        found = []
        for one in maps:
            found.append(tf.ones_like(one))
        return found

    @tf.function
    def step(self, x):
        scores, maps = self.pyramid(x)
        anchors = self.anchors_like(maps)
        return tf.add_n([tf.reduce_sum(one) for one in scores + anchors])


detector = Detector()
print(detector.step(tf.random.normal((6, 3))))
