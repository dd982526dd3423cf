import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Input, Dense
from tensorflow.keras.models import Model

def attention(q, k):
    scores = tf.keras.ops.matmul(q, tf.keras.ops.swapaxes(k, -1, -2))
    return tf.keras.ops.softmax(scores, axis=-1)

inp = Input((6, 8))
q = Dense(4)(inp)
k = Dense(4)(inp)
w = attention(q, k)
ctx = tf.keras.ops.matmul(w, inp)
pooled = tf.keras.ops.mean(ctx, axis=1)
out = Dense(1)(pooled)
model = Model(inp, out)
model.compile("adam", "mse")
model.fit(np.random.rand(16, 6, 8), np.random.rand(16, 1), verbose=0)
