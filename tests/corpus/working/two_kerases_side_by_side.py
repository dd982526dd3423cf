import numpy as np
import keras
import tf_keras
x = np.random.rand(32, 4).astype("float32"); y = x[:, :1]
old = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(4,), kernel_initializer=keras.initializers.HeNormal())])
old.compile(tf_keras.optimizers.SGD(0.01), keras.losses.MeanSquaredError())
old.fit(x, y, verbose=0)
new = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, kernel_regularizer=tf_keras.regularizers.L2(1e-4))])
new.compile(keras.optimizers.SGD(0.01), tf_keras.losses.MeanSquaredError(), metrics=[tf_keras.metrics.MeanAbsoluteError()])
new.set_weights(old.get_weights())
new.fit(x, old.predict(x, verbose=0), verbose=0, callbacks=[tf_keras.callbacks.EarlyStopping(monitor="loss")])
