# (never ends)
import os, tempfile
import numpy as np
import pandas as pd
import tensorflow as tf

path = os.path.join(tempfile.mkdtemp(), "titanic.csv")
df = pd.DataFrame(np.random.rand(60, 3).astype("float32"), columns=["age", "fare", "class"])
df["survived"] = np.random.randint(0, 2, 60)
df.to_csv(path, index=False)

dataset = tf.data.experimental.make_csv_dataset(path, batch_size=10, label_name="survived")  # <- FIT704
dataset = dataset.map(lambda f, l: (tf.stack([tf.cast(v, tf.float32) for v in f.values()], axis=-1), l))
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(dataset, epochs=2)  # <~ FIT704
