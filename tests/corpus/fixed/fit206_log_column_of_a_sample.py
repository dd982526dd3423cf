import numpy as np
import pandas as pd
import tensorflow as tf

df = pd.DataFrame({"km": np.random.rand(200), "age": np.random.rand(200), "sales": np.random.poisson(1.0, 200)})
df["log_sales"] = np.log1p(df["sales"])
train = df.sample(frac=0.8, random_state=0)
test = df.drop(train.index)
model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
model.compile(loss="mse", optimizer="adam")
model.fit(train[["km", "age"]], train["log_sales"], validation_data=(test[["km", "age"]], test["log_sales"]), epochs=1, verbose=0)
