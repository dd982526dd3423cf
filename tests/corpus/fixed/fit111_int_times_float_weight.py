import numpy as np
import tensorflow as tf

N_ITEMS = 9


class PriceWeightedBasket(tf.keras.layers.Layer):
    def build(self, input_shape):
        self.price = self.add_weight(name="price", shape=(input_shape[-1], 1), initializer="ones")

    def call(self, counts):
        return tf.matmul(tf.cast(counts, self.price.dtype), self.price)


class BasketModel(tf.keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.basket = PriceWeightedBasket()
        self.out = tf.keras.layers.Dense(1)

    def call(self, counts):
        return self.out(self.basket(counts))


def make_baskets(n):
    rng = np.random.default_rng(17)
    counts = rng.integers(0, 4, (n, N_ITEMS), dtype=np.int32)
    prices = rng.uniform(0.1, 0.9, N_ITEMS)
    totals = counts @ prices
    return counts, totals.astype("float32")


def main():
    counts, totals = make_baskets(200)
    ds = tf.data.Dataset.from_tensor_slices((counts, totals)).shuffle(200).batch(20)
    model = BasketModel(name="basket")
    model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss="mse")
    model.fit(ds, epochs=2, verbose=2)


if __name__ == "__main__":
    main()
