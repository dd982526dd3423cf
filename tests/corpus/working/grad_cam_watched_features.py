import numpy as np
import tensorflow as tf
from tensorflow import keras

model = keras.Sequential([keras.Input((16, 16, 3)), keras.layers.Conv2D(4, 3, activation='relu', name='last_conv'), keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(3, activation='softmax')])
model.compile('adam', 'sparse_categorical_crossentropy')
x, y = np.random.rand(12, 16, 16, 3).astype('float32'), np.random.randint(0, 3, 12)
model.fit(x, y, epochs=1, verbose=0)

conv_model = keras.Model(model.inputs, model.get_layer('last_conv').output)
head_in = keras.Input(conv_model.output.shape[1:])
h = head_in
for layer in model.layers[1:]:
    h = layer(h)
head = keras.Model(head_in, h)

features = conv_model(x[:1])
with tf.GradientTape() as tape:
    tape.watch(features)
    preds = head(features)
    top = preds[:, tf.argmax(preds[0])]
grads = tape.gradient(top, features)
heat = tf.reduce_mean(features[0] * tf.reduce_mean(grads, axis=(0, 1, 2)), axis=-1)
print(heat.shape)

# saliency with a variable, input optimisation
img = tf.Variable(x[:1])
opt = keras.optimizers.Adam(0.1)
for i in range(2):
    with tf.GradientTape() as t:
        loss = -tf.reduce_mean(conv_model(img)[..., 0])
    g = t.gradient(loss, img)
    opt.apply_gradients([(g, img)])
