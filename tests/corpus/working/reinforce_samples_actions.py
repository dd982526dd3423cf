import tensorflow as tf
pi = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(2)])
opt = tf.keras.optimizers.Adam()
for _ in range(3):
    s = tf.random.normal((8, 4))
    with tf.GradientTape() as tape:
        logits = pi(s)
        a = tf.squeeze(tf.random.categorical(logits, 1), 1)
        logp = tf.reduce_sum(tf.one_hot(a, 2) * tf.nn.log_softmax(logits), axis=1)
        reward = tf.cast(a, tf.float32)
        loss = -tf.reduce_mean(logp * reward)
    opt.apply_gradients(zip(tape.gradient(loss, pi.trainable_variables), pi.trainable_variables))
