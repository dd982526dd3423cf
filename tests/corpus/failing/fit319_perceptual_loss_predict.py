import numpy as np
import keras
from keras import layers, ops

rng = np.random.default_rng(4)
imgs = rng.random((64, 12, 12, 1)).astype("float32")

feat_in = keras.Input((12, 12, 1))
f = layers.Conv2D(4, 3, activation="relu")(feat_in)
feature_extractor = keras.Model(feat_in, layers.Conv2D(8, 3, activation="relu")(f), name="vgg_like")
feature_extractor.trainable = False


def perceptual_loss(y_true, y_pred):
    true_features = feature_extractor.predict(y_true)  # <- FIT319
    pred_features = feature_extractor.predict(y_pred)  # <~ FIT319
    return ops.mean(ops.square(true_features - pred_features), axis=(1, 2, 3))


inp = keras.Input((12, 12, 1))
h = layers.Conv2D(8, 3, padding="same", activation="relu")(inp)
out = layers.Conv2D(1, 3, padding="same", activation="sigmoid")(h)
denoiser = keras.Model(inp, out)
denoiser.compile(optimizer="adam", loss=perceptual_loss)

noisy = np.clip(imgs + 0.1 * rng.normal(size=imgs.shape), 0, 1).astype("float32")
denoiser.fit(noisy, imgs, epochs=1, batch_size=16, verbose=2)
