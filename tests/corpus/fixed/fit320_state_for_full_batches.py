import tensorflow as tf, numpy as np
class Encoder(tf.keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super(Encoder, self).__init__(**kwargs)
        self.units = units
        self.gru = tf.keras.layers.GRU(units, return_sequences=True, return_state=True)
    def call(self, x, hidden):
        out, state = self.gru(x, initial_state=hidden)
        return out, state
    def initialize_hidden_state(self, bs):
        return tf.zeros((bs, self.units))
class M(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.e = Encoder(16); self.d = tf.keras.layers.Dense(1)
    def call(self, x):
        h = self.e.initialize_hidden_state(tf.shape(x)[0])
        o, s = self.e(x, h)
        return self.d(s)
m = M(); m.compile("adam", "mse")
m.fit(np.random.rand(100, 5, 3).astype("float32"), np.random.rand(100, 1), batch_size=32, epochs=1)
