import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

COUNTRIES = ["fr", "de", "jp", "br", "ke"]
PLANS = ["free", "basic", "pro"]


def users(n=200):
    rng = np.random.default_rng(2)
    country = rng.choice(COUNTRIES, n)
    plan = rng.choice(PLANS, n, p=[0.5, 0.3, 0.2])
    stays = ((plan == "pro") | (country == "jp")).astype("float32")
    return {"country": tf.constant(country[:, None]), "plan": tf.constant(plan[:, None])}, stays


def categorical(name, vocabulary):
    raw = layers.Input((1,), dtype="string", name=name)
    ids = layers.StringLookup(vocabulary=vocabulary)(raw)
    vec = layers.Embedding(len(vocabulary) + 1, 4)(ids)
    return raw, layers.Flatten()(vec)


country_in, country_vec = categorical("country", COUNTRIES)
plan_in, plan_vec = categorical("plan", PLANS)
out = layers.Dense(1, activation="sigmoid")(layers.concatenate([country_vec, plan_vec]))
model = tf.keras.Model({"country": country_in, "plan": plan_in}, out)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])

x, stays = users()
model.fit(x, stays, epochs=2, batch_size=20, verbose=2)
