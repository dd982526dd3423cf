import tensorflow as tf
from tensorflow.keras import layers
import numpy as np

def make_gen():
    m = tf.keras.Sequential()
    m.add(layers.Input((8,)))
    m.add(layers.Dense(16, activation='relu'))
    m.add(layers.Dense(4))
    return m

def make_disc():
    m = tf.keras.Sequential()
    m.add(layers.Input((4,)))
    m.add(layers.Dense(16, activation='relu'))
    m.add(layers.Dense(1))
    return m

generator, discriminator = make_gen(), make_disc()
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam(1e-4)  # <- FIT504

@tf.function
def train_step(images):
    noise = tf.random.normal([32, 8])
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        fake = generator(noise, training=True)
        real_out = discriminator(images, training=True)
        fake_out = discriminator(fake, training=True)
        gen_loss = bce(tf.ones_like(fake_out), fake_out)
        disc_loss = bce(tf.ones_like(real_out), real_out) + bce(tf.zeros_like(fake_out), fake_out)
    g = gen_tape.gradient(gen_loss, generator.trainable_variables)
    d = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
    optimizer.apply_gradients(zip(g, generator.trainable_variables))  # <~ FIT504
    optimizer.apply_gradients(zip(d, discriminator.trainable_variables))  # <~ FIT504
    return gen_loss, disc_loss

ds = tf.data.Dataset.from_tensor_slices(np.random.rand(128, 4).astype('float32')).batch(32)
for epoch in range(2):
    for batch in ds:
        gl, dl = train_step(batch)
    print(epoch, float(gl), float(dl))
