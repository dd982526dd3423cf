import keras
import numpy as np
from keras import layers, ops


class AddCLS(layers.Layer):
    def build(self, input_shape):
        self.token = self.add_weight(shape=(1, 1, input_shape[-1]), initializer="random_normal", name="cls")

    def call(self, x):
        cls = ops.repeat(self.token, ops.shape(x)[0], axis=0)
        return ops.concatenate([cls, x], axis=1)


class TinyTransformer(keras.Model):
    def __init__(self, dim=16, classes=2):
        super().__init__()
        self.embed = layers.Dense(dim)
        self.cls = AddCLS()
        self.att = layers.MultiHeadAttention(2, dim // 2)
        self.norm = layers.LayerNormalization()
        self.head = layers.Dense(classes, activation="softmax")

    def call(self, x):
        h = self.cls(self.embed(x))
        h = self.norm(h + self.att(h, h))
        return self.head(h[:, 0])  # rank 3 to rank 2: what Dense wants


rng = np.random.default_rng(0)
x = rng.normal(size=(128, 6, 4)).astype("float32")
y = (x[:, :, 0].mean(axis=1) > 0).astype("int32")
model = TinyTransformer()
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=1, batch_size=16, verbose=2)
