import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Input, Dense
from tensorflow.keras.models import Model

def attention(q, k):
    scores = tf.matmul(q, k, transpose_b=True)  # <- FIT312
    return tf.nn.softmax(scores, axis=-1)  # <~ FIT312

inp = Input((6, 8))
q = Dense(4)(inp)
k = Dense(4)(inp)
w = attention(q, k)  # <~ FIT312
ctx = tf.matmul(w, inp)  # <~ FIT312
pooled = tf.reduce_mean(ctx, axis=1)
out = Dense(1)(pooled)
model = Model(inp, out)
model.compile("adam", "mse")
model.fit(np.random.rand(16, 6, 8), np.random.rand(16, 1), verbose=0)
