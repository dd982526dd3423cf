"""The models whose memory is predicted and measured: eleven kinds, each with three batch sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Kind:
    """A kind of model, what it is fed with, and the batch sizes to try."""

    make: Callable[[], Any]
    x: tuple[tuple[int, ...], str]
    y: tuple[tuple[int, ...], str]
    batches: tuple[int, int, int]


def dense() -> Any:
    import keras
    from keras import layers

    hidden = [layers.Dense(400, "relu") for _ in range(3)]
    model = keras.Sequential(
        [
            keras.Input((1000,)),
            layers.Dense(2000, "relu"),
            layers.Dense(1000, "relu"),
            *hidden,
            layers.Dense(10),
        ]
    )
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def convolutional() -> Any:
    import keras
    from keras import layers

    model = keras.Sequential(
        [
            keras.Input((64, 64, 3)),
            layers.Conv2D(16, 3, padding="same", activation="relu"),
            layers.Conv2D(16, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, activation="relu"),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(256, "relu"),
            layers.Dropout(0.5),
            layers.Dense(10, "softmax"),
        ]
    )
    model.compile("rmsprop", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def residual() -> Any:
    import keras
    from keras import layers

    inputs = keras.Input((64, 64, 3))
    x = layers.Conv2D(16, 3, padding="same", use_bias=False)(inputs)
    for filters, strides in ((16, 1), (16, 1), (32, 2), (32, 1), (64, 2), (64, 1)):
        y = layers.Conv2D(filters, 3, strides=strides, padding="same", use_bias=False)(x)
        y = layers.ReLU()(layers.BatchNormalization()(y))
        y = layers.BatchNormalization()(layers.Conv2D(filters, 3, padding="same", use_bias=False)(y))
        if strides > 1:
            x = layers.Conv2D(filters, 1, strides=strides, use_bias=False)(x)
        x = layers.ReLU()(layers.Add()([x, y]))
    outputs = layers.Dense(10, "softmax")(layers.GlobalAveragePooling2D()(x))
    model = keras.Model(inputs, outputs)
    optimizer = keras.optimizers.SGD(0.01, momentum=0.9)
    model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def recurrent() -> Any:
    import keras
    from keras import layers

    model = keras.Sequential(
        [keras.Input((50, 32)), layers.LSTM(64, return_sequences=True), layers.LSTM(48), layers.Dense(1)]
    )
    model.compile("adam", "mse")
    return model


def transformer() -> Any:
    import keras
    from keras import layers

    inputs = keras.Input((64,), dtype="int32")
    x = layers.Embedding(10_000, 96)(inputs)
    for _ in range(2):
        attended = layers.MultiHeadAttention(4, 24, dropout=0.1)(x, x)
        x = layers.LayerNormalization()(layers.Add()([x, layers.Dropout(0.1)(attended)]))
        wide = layers.Dense(96)(layers.Dense(256, "gelu")(x))
        x = layers.LayerNormalization()(layers.Add()([x, layers.Dropout(0.1)(wide)]))
    outputs = layers.Dense(2, "softmax")(layers.GlobalAveragePooling1D()(x))
    model = keras.Model(inputs, outputs)
    model.compile(keras.optimizers.AdamW(1e-4), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def u_net() -> Any:
    import keras
    from keras import layers

    def block(x: Any, filters: int) -> Any:
        for _ in range(2):
            x = layers.Conv2D(filters, 3, padding="same")(x)
            x = layers.ReLU()(layers.BatchNormalization()(x))
        return x

    inputs = x = keras.Input((64, 64, 3))
    skips = []
    for filters in (8, 16, 32):
        x = block(x, filters)
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = block(x, 64)
    for filters, skip in zip((32, 16, 8), reversed(skips), strict=True):
        x = layers.Conv2DTranspose(filters, 2, strides=2, padding="same")(x)
        x = block(layers.Concatenate()([x, skip]), filters)
    model = keras.Model(inputs, layers.Conv2D(1, 1, activation="sigmoid")(x))
    model.compile("adam", "binary_crossentropy")
    return model


def embedding() -> Any:
    import keras
    from keras import layers

    model = keras.Sequential(
        [
            keras.Input((200,), dtype="int32"),
            layers.Embedding(200_000, 32),
            layers.GlobalAveragePooling1D(),
            layers.Dense(64, "relu"),
            layers.Dense(1, "sigmoid"),
        ]
    )
    model.compile("adam", "binary_crossentropy")
    return model


def subclassed() -> Any:
    import keras
    from keras import layers

    class Separable(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.stem = layers.Conv2D(48, 5, strides=2, padding="same")
            self.norm = layers.GroupNormalization(8)
            self.blocks = [
                (
                    layers.DepthwiseConv2D(3, padding="same"),
                    layers.Conv2D(96, 1, activation="swish"),
                    layers.Conv2D(48, 1),
                )
                for _ in range(4)
            ]
            self.pool = layers.GlobalAveragePooling2D()
            self.head = layers.Dense(100)

        def call(self, x: Any, training: bool = False) -> Any:
            x = self.norm(self.stem(x))
            for depthwise, up, down in self.blocks:
                x = x + down(up(depthwise(x)))
            return self.head(self.pool(x))

    model = Separable()
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def mixed_precision() -> Any:
    import keras
    from keras import layers

    hidden = [layers.Dense(768, "relu", dtype="mixed_bfloat16") for _ in range(3)]
    model = keras.Sequential([keras.Input((1024,)), *hidden, layers.Dense(10, dtype="float32")])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def frozen_base() -> Any:
    import keras
    from keras import layers

    base = keras.applications.MobileNetV2(
        weights=None, include_top=False, alpha=0.35, input_shape=(96, 96, 3)
    )
    base.trainable = False
    model = keras.Sequential(
        [
            keras.Input((96, 96, 3)),
            base,
            layers.GlobalAveragePooling2D(),
            layers.Dense(256, "relu"),
            layers.Dense(5, "softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy")
    return model


def accumulation() -> Any:
    import keras
    from keras import layers

    hidden = [layers.Dense(1200, "tanh") for _ in range(3)]
    model = keras.Sequential([keras.Input((600,)), *hidden, layers.Dense(1)])
    model.compile(keras.optimizers.Adam(1e-3, gradient_accumulation_steps=2), "mse")
    return model


CLASS = ((), "int32")
NUMBER = ((1,), "float32")

KINDS = {
    "dense": Kind(dense, ((1000,), "float32"), CLASS, (512, 2048, 8192)),
    "convolutional": Kind(convolutional, ((64, 64, 3), "float32"), CLASS, (96, 192, 512)),
    "residual": Kind(residual, ((64, 64, 3), "float32"), CLASS, (32, 96, 192)),
    "recurrent": Kind(recurrent, ((50, 32), "float32"), NUMBER, (512, 1024, 2048)),
    "transformer": Kind(transformer, ((64,), "int32"), CLASS, (64, 160, 384)),
    "U-Net": Kind(u_net, ((64, 64, 3), "float32"), ((64, 64, 1), "float32"), (32, 96, 160)),
    "embedding": Kind(embedding, ((200,), "int32"), NUMBER, (256, 2048, 8192)),
    "subclassed": Kind(subclassed, ((64, 64, 3), "float32"), CLASS, (24, 80, 224)),
    "mixed precision": Kind(mixed_precision, ((1024,), "float32"), CLASS, (1024, 6144, 16384)),
    "frozen base": Kind(frozen_base, ((96, 96, 3), "float32"), CLASS, (48, 128, 320)),
    "accumulation": Kind(accumulation, ((600,), "float32"), NUMBER, (256, 1536, 6144)),
}
