import tensorflow as tf

ds = tf.data.Dataset.from_tensor_slices(tf.random.normal((12, 3))).batch(4)
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])

def predict_all(dataset):
    preds = []
    for batch in dataset:
        preds.append(model(batch, training=False))
    return tf.concat(preds, axis=0)

print(predict_all(ds).shape)
