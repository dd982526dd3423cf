import numpy as np
import tensorflow as tf

N_ELECTRODES, N_TIMES = 14, 64


def read_epochs(n_trials=120):
    """Return trials as MNE does: (trials, electrodes, times)."""
    rng = np.random.default_rng(2)
    stim = rng.integers(0, 2, n_trials)
    raw = rng.normal(size=(n_trials, N_ELECTRODES, N_TIMES))
    raw[stim == 1, :4, 20:40] += 1.5
    return raw.astype(np.float32), stim


def zscore(trials):
    mu = trials.mean(axis=-1, keepdims=True)
    sd = trials.std(axis=-1, keepdims=True)
    return (trials - mu) / (sd + 1e-6)


def dataset(trials, stim, training):
    ds = tf.data.Dataset.from_tensor_slices((np.swapaxes(trials, 1, 2), stim))
    if training:
        ds = ds.shuffle(len(stim))
    return ds.batch(16)


trials, stim = read_epochs()
trials = zscore(trials)

inp = tf.keras.Input(shape=(N_TIMES, N_ELECTRODES))
h = tf.keras.layers.Conv1D(12, 9, activation="elu")(inp)
h = tf.keras.layers.AveragePooling1D(4)(h)
h = tf.keras.layers.Flatten()(h)
h = tf.keras.layers.Dropout(0.3)(h)
out = tf.keras.layers.Dense(1, activation="sigmoid")(h)
model = tf.keras.Model(inp, out)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=[tf.keras.metrics.AUC(name="auc")])
model.fit(dataset(trials[:96], stim[:96], True), validation_data=dataset(trials[96:], stim[96:], False),
          epochs=2, verbose=2)
