import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models


def pretrained_backbone():
    # stands for a downloaded backbone
    return models.Sequential([
        layers.Input((16, 16, 3)),
        layers.Conv2D(8, 3, activation='relu'),
        layers.MaxPooling2D(),
        layers.Conv2D(16, 3, activation='relu'),
        layers.GlobalAveragePooling2D(),
    ], name='backbone')


base_model = pretrained_backbone()

model = models.Sequential()
model.add(layers.Input((16, 16, 3)))
model.add(base_model)
model.add(layers.Dense(16, activation='relu'))
model.add(layers.Dense(1, activation='sigmoid'))

# freeze the pretrained part
base_model.trainable = False

model.compile(optimizer='adam', loss='binary_crossentropy', metrics=['accuracy'])

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 96).astype('float32')
x = rng.random((96, 16, 16, 3)).astype('float32') * 0.5
x[y == 1, :, :, 0] += 0.5
model.fit(x, y, epochs=2, batch_size=16, verbose=2)
