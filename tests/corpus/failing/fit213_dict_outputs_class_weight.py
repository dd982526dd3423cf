"""Ticket triage: queue and urgency from the same text embedding."""
import keras
import numpy as np

N_QUEUES = 4


def tickets(n=220, dim=12):
    rng = np.random.default_rng(2)
    queue = rng.choice(N_QUEUES, n, p=[0.55, 0.25, 0.15, 0.05])
    urgent = rng.integers(0, 2, n).astype("float32")
    emb = rng.normal(size=(n, dim))
    emb[:, 0] += queue
    emb[:, 1] += 2 * urgent
    return emb.astype("float32"), {"queue": queue, "urgent": urgent}


def balanced(labels):
    counts = np.bincount(labels)
    return {i: len(labels) / (len(counts) * c) for i, c in enumerate(counts)}


def build(dim=12):
    inp = keras.Input((dim,))
    h = keras.layers.Dense(24, activation="relu")(inp)
    outputs = {
        "queue": keras.layers.Dense(N_QUEUES, activation="softmax", name="queue")(h),
        "urgent": keras.layers.Dense(1, activation="sigmoid", name="urgent")(h),
    }
    model = keras.Model(inp, outputs)
    model.compile(optimizer="adam", loss={"queue": "sparse_categorical_crossentropy",
                                          "urgent": "binary_crossentropy"})
    return model


emb, y = tickets()
class_weight = balanced(y["queue"])
model = build()
model.fit(emb, y, epochs=2, batch_size=22, class_weight=class_weight, verbose=2)  # <- FIT213
