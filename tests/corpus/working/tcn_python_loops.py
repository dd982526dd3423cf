import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class TCN(tf.keras.Model):
    def __init__(self, filters=8, dilations=(1, 2, 4)):
        super().__init__()
        self.convs = []
        for d in dilations:
            self.convs.append(layers.Conv1D(filters, 3, padding="causal", dilation_rate=d, activation="relu"))
        self.out = layers.Dense(1)

    def call(self, x):
        skips = []
        for i, conv in enumerate(self.convs):
            x = conv(x) if i == 0 else x + conv(x)
            skips.append(x)
        total = skips[0]
        for s in skips[1:]:
            total = total + s
        return self.out(total[:, -1, :])


wave = np.sin(np.linspace(0, 40, 240)).astype("float32")
x = np.stack([wave[i:i + 20] for i in range(200)])[..., None]
y = wave[20:220]
model = TCN()
model.compile("adam", "mse")
model.fit(x, y, epochs=2, batch_size=20, verbose=2)
