import numpy as np
import tensorflow as tf


class Trainer:
    def __init__(self, strategy, global_batch):
        self.strategy = strategy
        self.global_batch = global_batch
        with strategy.scope():
            self.model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
            self.optimizer = tf.keras.optimizers.SGD(0.01)
            self.criterion = tf.keras.losses.MeanSquaredError(reduction="none")

    def compute_cost(self, y, predicted):
        per_example = self.criterion(y, predicted)
        return tf.reduce_mean(per_example)  # <- FIT605

    def replica_step(self, x, y):
        with tf.GradientTape() as tape:
            cost = self.compute_cost(y, self.model(x, training=True))
        gradients = tape.gradient(cost, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
        return cost

    @tf.function
    def step(self, batch):
        costs = self.strategy.run(self.replica_step, args=batch)
        return self.strategy.reduce(tf.distribute.ReduceOp.SUM, costs, axis=None)


cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"], tf.distribute.ReductionToOneDevice())
x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).batch(16)
trainer = Trainer(strategy, 16)
for batch in strategy.experimental_distribute_dataset(data):
    print(float(trainer.step(batch)))
