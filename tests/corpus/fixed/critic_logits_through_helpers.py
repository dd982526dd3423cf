import keras
import tensorflow as tf

maker = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
critic = keras.Sequential([keras.Input((2,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
crossentropy = keras.losses.BinaryCrossentropy(from_logits=True)
maker_optimizer, critic_optimizer = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)


def critic_loss(real, fake):
    return crossentropy(tf.ones_like(real), real) + crossentropy(tf.zeros_like(fake), fake)


def maker_loss(fake):
    return crossentropy(tf.ones_like(fake), fake)


@tf.function
def step(points):
    with tf.GradientTape() as first, tf.GradientTape() as second:
        made = maker(tf.random.normal((32, 4)), training=True)
        real, fake = critic(points, training=True), critic(made, training=True)
        for_maker, for_critic = maker_loss(fake), critic_loss(real, fake)
    gradients = first.gradient(for_maker, maker.trainable_variables)
    maker_optimizer.apply_gradients(zip(gradients, maker.trainable_variables))
    gradients = second.gradient(for_critic, critic.trainable_variables)
    critic_optimizer.apply_gradients(zip(gradients, critic.trainable_variables))


for batch in tf.data.Dataset.from_tensor_slices(tf.random.normal((256, 2), 3.0)).batch(32):
    step(batch)
