import numpy as np
from tensorflow.keras import layers, models

img = np.random.rand(64, 64, 3).astype('float32')  # <~ FIT102
label = np.array([1.0])  # <~ FIT102

net = models.Sequential([
    layers.Input((64, 64, 3)),
    layers.Conv2D(8, 3, activation='relu'),
    layers.GlobalAveragePooling2D(),
    layers.Dense(1, activation='sigmoid'),
])
net.compile('adam', 'binary_crossentropy')
net.fit(img, label, epochs=3)  # <- FIT102
