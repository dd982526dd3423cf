import sqlite3
from decimal import Decimal

import numpy as np
import tensorflow as tf


def fetch_houses():
    con = sqlite3.connect(":memory:")
    con.execute("create table house (area real, rooms integer, age real, price text)")
    rng = np.random.default_rng(8)
    for _ in range(180):
        area, rooms, age = rng.uniform(0.4, 2.0), int(rng.integers(1, 6)), rng.uniform(0, 1)
        price = 1.2 * area + 0.1 * rooms - 0.4 * age
        con.execute("insert into house values (?, ?, ?, ?)", (area, rooms, age, f"{price:.4f}"))
    rows = con.execute("select area, rooms, age, price from house").fetchall()
    con.close()
    return [(Decimal(str(a)), r / 5, g, float(p)) for a, r, g, p in rows]


rows = fetch_houses()
X = np.array([row[:3] for row in rows])  # <- FIT105
y = np.array([row[3] for row in rows])

model = tf.keras.Sequential([
    tf.keras.layers.Dense(16, activation="relu"),
    tf.keras.layers.Dense(1),
])
model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss="mse", metrics=["mae"])
model.fit(X, y, validation_split=0.1, epochs=2, verbose=2)
