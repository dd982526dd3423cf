import tensorflow as tf, numpy as np
x = np.random.rand(64, 28, 28).astype("float32")  # <- FIT102
y = np.random.randint(0, 3, 64)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64).batch(16)  # <~ FIT102
model = tf.keras.Sequential([tf.keras.layers.Conv2D(4, 3), tf.keras.layers.Flatten(), tf.keras.layers.Dense(3)])
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam(1e-3)

@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        predictions = model(images, training=True)  # <~ FIT102
        loss = loss_object(labels, predictions)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

def main():
    for epoch in range(2):
        for images, labels in ds:
            loss = train_step(images, labels)
        print(epoch, loss.numpy())
main()
