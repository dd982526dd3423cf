import sys
import numpy as np
import tensorflow as tf
enc = tf.keras.Sequential([tf.keras.layers.Input((6,)), tf.keras.layers.Dense(4, "relu")])
clf = tf.keras.Sequential([tf.keras.layers.Input((6,)), enc, tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.Adam(1e-3)
x = np.random.rand(32, 6).astype("float32")
def pretrain():
    with tf.GradientTape() as t:
        l = tf.reduce_mean(enc(x) ** 2)
    opt.apply_gradients(zip(t.gradient(l, enc.trainable_variables), enc.trainable_variables))
    return l
def finetune():
    with tf.GradientTape() as t:
        l = tf.reduce_mean((clf(x) - 1.0) ** 2)
    opt.apply_gradients(zip(t.gradient(l, clf.trainable_variables), clf.trainable_variables))
    return l
stage = sys.argv[1] if len(sys.argv) > 1 else "finetune"
print(float(pretrain() if stage == "pretrain" else finetune()))
