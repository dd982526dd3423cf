import numpy as np
import tensorflow as tf

data = {
    'age': np.random.randint(18, 80, (200, 1)).astype('float32'),
    'income': np.random.rand(200, 1).astype('float32'),
    'label': np.random.randint(0, 2, (200, 1)).astype('float32'),
}
dataset = tf.data.Dataset.from_tensor_slices(data).batch(20).map(lambda batch: ({key: part for key, part in batch.items() if key != 'label'}, batch['label']))

inputs = {k: tf.keras.Input(shape=(1,), name=k) for k in ('age', 'income')}
x = tf.keras.layers.concatenate(list(inputs.values()))
x = tf.keras.layers.Dense(8, activation='relu')(tf.keras.layers.BatchNormalization()(x))
out = tf.keras.layers.Dense(1, activation='sigmoid')(x)
model = tf.keras.Model(inputs, out)
model.compile(optimizer='adam', loss='binary_crossentropy')
model.fit(dataset, epochs=2)
