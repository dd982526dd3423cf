import numpy as np
from keras.layers import Layer, Input, Embedding, LSTM, Dense
from keras.models import Model


class LastStep(Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def call(self, x, mask=None):
        return x[:, -1, :]

    def compute_output_shape(self, input_shape):
        return (input_shape[0], input_shape[2])


maxlen = 10
main_input = Input(shape=(maxlen,), dtype='int32', name='main_input')
h = Embedding(257, 16)(main_input)
for _ in range(2):
    h = LSTM(16, return_sequences=True)(h)
out = Dense(1, activation='sigmoid')(LastStep()(h))
model = Model(main_input, out)
model.compile('adam', 'binary_crossentropy')
model.fit(np.random.randint(0, 257, (64, maxlen)), np.random.randint(0, 2, 64), epochs=1)
