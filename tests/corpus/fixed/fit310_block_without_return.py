from keras import layers, Model, Input
import numpy as np

def conv_block(x, filters):
    x = layers.Conv2D(filters, 3, padding='same')(x)
    x = layers.BatchNormalization()(x)
    return layers.Activation('relu')(x)

inp = Input((16, 16, 3))
x = conv_block(inp, 8)
x = layers.MaxPooling2D()(x)
x = conv_block(x, 16)
x = layers.GlobalAveragePooling2D()(x)
model = Model(inp, layers.Dense(2, activation='softmax')(x))
model.compile('adam', 'sparse_categorical_crossentropy')
model.fit(np.random.rand(8, 16, 16, 3), np.random.randint(0, 2, 8), epochs=1, verbose=0)
