import numpy as np
from tensorflow.keras.layers import Input, Conv2D, MaxPooling2D, UpSampling2D, concatenate, Dropout
from tensorflow.keras.models import Model

IMG = 150  # <~ FIT305


def double_conv(x, n):
    x = Conv2D(n, 3, activation='relu', padding='same', kernel_initializer='he_normal')(x)
    return Conv2D(n, 3, activation='relu', padding='same', kernel_initializer='he_normal')(x)


def unet(input_size=(IMG, IMG, 1), base=4):  # <~ FIT305
    inputs = Input(input_size)  # <~ FIT305
    skips = []
    x = inputs
    for d in range(3):
        x = double_conv(x, base * 2 ** d)
        skips.append(x)
        x = MaxPooling2D(pool_size=(2, 2))(x)
    x = Dropout(0.5)(double_conv(x, base * 8))
    for d in reversed(range(3)):
        up = Conv2D(base * 2 ** d, 2, activation='relu', padding='same')(UpSampling2D(size=(2, 2))(x))
        x = concatenate([skips[d], up], axis=3)  # <- FIT305
        x = double_conv(x, base * 2 ** d)
    out = Conv2D(1, 1, activation='sigmoid')(x)
    model = Model(inputs, out)
    model.compile(optimizer='adam', loss='binary_crossentropy', metrics=['accuracy'])
    return model


model = unet()
imgs = np.random.rand(4, IMG, IMG, 1)
masks = (np.random.rand(4, IMG, IMG, 1) > 0.5).astype('float32')
model.fit(imgs, masks, batch_size=2, epochs=1)
