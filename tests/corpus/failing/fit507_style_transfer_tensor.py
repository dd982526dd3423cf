import numpy as np
import tensorflow as tf

base = tf.keras.Sequential([
    tf.keras.Input((16, 16, 3)),
    tf.keras.layers.Conv2D(4, 3, activation="relu", name="c1"),
    tf.keras.layers.Conv2D(4, 3, activation="relu", name="c2"),
])
extractor = tf.keras.Model(base.inputs, [l.output for l in base.layers])
extractor.trainable = False

def gram(x):
    r = tf.linalg.einsum("bijc,bijd->bcd", x, x)
    n = tf.cast(tf.shape(x)[1] * tf.shape(x)[2], tf.float32)
    return r / n

content = tf.constant(np.random.rand(1, 16, 16, 3), tf.float32)
style = tf.constant(np.random.rand(1, 16, 16, 3), tf.float32)
content_t = extractor(content)[1]
style_t = gram(extractor(style)[0])

image = tf.constant(content)  # <- FIT507
opt = tf.keras.optimizers.Adam(learning_rate=0.02)

def train_step(image):
    with tf.GradientTape() as tape:
        s, c = extractor(image)
        loss = tf.reduce_mean((gram(s) - style_t) ** 2) + 0.1 * tf.reduce_mean((c - content_t) ** 2)
    grad = tape.gradient(loss, image)
    opt.apply_gradients([(grad, image)])
    image.assign(tf.clip_by_value(image, 0.0, 1.0))
    return loss

for epoch in range(2):
    for step in range(3):
        l = train_step(image)
    print("epoch", epoch, float(l))
