import argparse

import numpy as np
import keras
from keras import layers


def fake_video(n_frames, size, rng):
    base = rng.integers(40, 200, size=(size, size), dtype=np.uint8)
    clip = np.repeat(base[None], n_frames, axis=0)
    moving = rng.random(n_frames) < 0.5
    for t in np.flatnonzero(moving):
        clip[t, 4:12, 4:12] = rng.integers(40, 200, size=(8, 8))
    return clip, moving.astype(int)


def motion_features(clip):
    """Difference of each frame to the one before."""
    diff = clip[1:].astype("int16") - clip[:-1].astype("int16")
    return diff.astype("float32")[..., None] / 255.0


def build_detector(size):
    inp = keras.Input((size, size, 1))
    h = layers.Conv2D(8, 3, strides=2, activation="relu")(inp)
    h = layers.GlobalMaxPooling2D()(h)
    return keras.Model(inp, layers.Dense(1, activation="sigmoid")(h))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--frames", type=int, default=161)
    ap.add_argument("--size", type=int, default=16)
    args = ap.parse_args()
    clip, moving = fake_video(args.frames, args.size, np.random.default_rng(0))
    x, y = motion_features(clip), moving[1:] | moving[:-1]
    det = build_detector(args.size)
    det.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
    det.fit(x, y, epochs=2, batch_size=16, verbose=2)
