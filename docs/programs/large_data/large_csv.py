"""a large CSV file | `tf.data.experimental.make_csv_dataset`"""

import tempfile
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

path = Path(tempfile.mkdtemp()) / "table.csv"
rows = np.random.default_rng(0).random((100, 3))
path.write_text("width,height,price\n" + "\n".join(",".join(f"{value:.3f}" for value in row) for row in rows))

dataset = tf.data.experimental.make_csv_dataset(str(path), batch_size=20, label_name="price", num_epochs=1)
dataset = dataset.map(lambda row, price: (tf.stack(list(row.values()), axis=1), price))
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
assert np.isfinite(model.fit(dataset, verbose=0).history["loss"]).all()
