import numpy as np, keras
class Warm(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        for layer in self.model.layers:
            if isinstance(layer, keras.layers.Dropout):
                layer.rate = min(0.5, 0.1 * epoch)  # <- FIT411
m = keras.Sequential([keras.Input((4,)), keras.layers.Dropout(0.1), keras.layers.Dense(1)])
m.compile("adam", "mse")
m.fit(np.random.rand(32, 4), np.random.rand(32), epochs=2, verbose=0, callbacks=[Warm()])
