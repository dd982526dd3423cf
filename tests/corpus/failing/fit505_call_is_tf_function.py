import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense, Flatten, Conv2D
from tensorflow.keras import Model

x_train = np.random.rand(64, 12, 12).astype("float32")[..., tf.newaxis]
y_train = np.random.randint(0, 10, 64)
train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(64).batch(32)

class MyModel(Model):
    def __init__(self):
        super(MyModel, self).__init__()
        self.conv1 = Conv2D(8, 3, activation='relu')
        self.flatten = Flatten()
        self.d1 = Dense(16, activation='relu')
        self.d2 = Dense(10)

    @tf.function  # <- FIT505
    def call(self, x):
        x = self.conv1(x)
        x = self.flatten(x)
        x = self.d1(x)
        return self.d2(x)

model = MyModel()
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam()
train_loss = tf.keras.metrics.Mean(name='train_loss')

@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        predictions = model(images)
        loss = loss_object(labels, predictions)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_loss(loss)

for epoch in range(2):
    for images, labels in train_ds:
        train_step(images, labels)
    print(epoch, train_loss.result().numpy())
