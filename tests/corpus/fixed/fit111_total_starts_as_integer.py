import tensorflow as tf

def make_data():
    x = tf.random.normal((40, 3))
    return tf.data.Dataset.from_tensor_slices((x, tf.reduce_sum(x, 1, keepdims=True))).batch(8)

class Loop:
    def __init__(self):
        self.model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
        self.opt = tf.keras.optimizers.SGD(0.01)
        self.opt.build(self.model.trainable_variables)

    @tf.function
    def epoch(self, ds):
        total = 0.0
        for x, y in ds:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self.model(x) - y) ** 2)
            self.opt.apply_gradients(zip(tape.gradient(loss, self.model.trainable_variables), self.model.trainable_variables))
            total += loss
        return total

if __name__ == "__main__":
    loop = Loop()
    data = make_data()
    for e in range(2):
        print(float(loop.epoch(data)))
