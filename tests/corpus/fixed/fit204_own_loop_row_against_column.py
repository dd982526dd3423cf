import tensorflow as tf, numpy as np
X = np.random.rand(500, 3).astype("float32"); Y = (X @ [1., 2., 3.]).astype("float32")
ds = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(500).batch(50)
model = tf.keras.Sequential([tf.keras.layers.Dense(10, activation="relu"), tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.Adam(0.01)
def loss_fn(y_true, y_pred):
    return tf.reduce_mean(tf.square(tf.expand_dims(y_true, -1) - y_pred))
@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        pred = model(x, training=True)
        loss = loss_fn(y, pred)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss
for epoch in range(2):
    for bx, by in ds:
        l = train_step(bx, by)
