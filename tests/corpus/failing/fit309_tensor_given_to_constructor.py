import numpy as np
import keras
from keras import layers

def build_cnn(shape=(12, 12, 3)):
    inputs = keras.Input(shape)
    x = layers.Conv2D(8, 3, activation='relu')(inputs)
    x = layers.BatchNormalization(x)  # <- FIT309
    x = layers.GlobalAveragePooling2D()(x)  # <~ FIT309
    return keras.Model(inputs, layers.Dense(2, activation='softmax')(x))

model = build_cnn()
model.compile('adam', 'sparse_categorical_crossentropy')
model.fit(np.random.rand(10, 12, 12, 3), np.random.randint(0, 2, 10), epochs=1)
