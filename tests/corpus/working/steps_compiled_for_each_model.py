"""Each round makes its model, its optimizer and the compiled step that trains them."""

import tensorflow as tf

x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
for width in (4, 8):
    model = tf.keras.Sequential(
        [tf.keras.Input((4,)), tf.keras.layers.Dense(width, activation="relu"), tf.keras.layers.Dense(1)]
    )
    optimizer = tf.keras.optimizers.Adam(1e-2)

    @tf.function
    def step(inputs, targets):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(inputs, training=True) - targets))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    @tf.function
    def step_with(trained, inputs, targets):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(inputs) - targets))
        gradients = tape.gradient(loss, model.trainable_variables)
        trained.apply_gradients(zip(gradients, model.trainable_variables))

    for _ in range(3):
        step(x, y)
        step_with(optimizer, x, y)
