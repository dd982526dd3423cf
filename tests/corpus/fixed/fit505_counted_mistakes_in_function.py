import tensorflow as tf
import numpy as np

model = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(16, activation='relu'), tf.keras.layers.Dense(3, activation='softmax')])
optimizer = tf.keras.optimizers.Adam()
x = np.random.rand(90, 5).astype('float32')
y = np.random.randint(0, 3, 90)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(90).batch(30)

def compute_loss(y_true, logits):
    return tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y_true, logits))

def train(model, dataset, epochs):
    for epoch in range(epochs):
        for xb, yb in dataset:
            with tf.GradientTape() as tape:
                logits = model(xb, training=True)
                loss = compute_loss(yb, logits)
            grads = tape.gradient(loss, model.trainable_weights)
            optimizer.apply_gradients(zip(grads, model.trainable_weights))
        print(epoch, float(loss))

train(model, dataset, 2)
