import numpy as np
from tensorflow.keras.utils import Sequence, to_categorical
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense


class DataGenerator(Sequence):
    def __init__(self, samples, labels, batch_size=32, shuffle=True):
        super().__init__()
        self.samples = samples
        self.labels = labels
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.on_epoch_end()

    def __len__(self):
        return int(np.floor(len(self.samples) / self.batch_size))

    def on_epoch_end(self):
        self.index_array = np.arange(len(self.samples))
        if self.shuffle:
            self.index_array = np.random.permutation(self.index_array)

    def __getitem__(self, index):
        indexes = self.index_array[index * self.batch_size: (index + 1) * self.batch_size]
        X = [self.samples[i] for i in indexes]
        y = [self.labels[i] for i in indexes]
        return np.array(X), np.array(y)


samples = np.random.rand(320, 25).astype('float32')
labels = to_categorical(np.random.randint(0, 4, 320))
model = Sequential([Dense(16, activation='relu', input_shape=(25,)), Dense(4, activation='softmax')])
model.compile(loss='categorical_crossentropy', optimizer='adam', metrics=['acc'])
model.fit(DataGenerator(samples, labels), epochs=2)
