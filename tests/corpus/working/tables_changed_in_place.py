import numpy as np, pandas as pd, tensorflow as tf
df = pd.DataFrame(np.random.rand(120, 5))
df.columns = ['a', 'b', 'c', 'd', 'e']
df.insert(0, 'city', np.random.choice(['x', 'y'], 120))
df['label'] = (df['a'] > 0.5).astype(int)
y = df.pop('label')
df['city'] = df['city'].map({'x': 0, 'y': 1})
df['extra'] = df['a'] * df['b']
del df['e']
df.drop(columns=['d'], inplace=True)
df = df.rename(columns={'a': 'alpha'})
X = df.values
m = tf.keras.Sequential([tf.keras.Input((X.shape[1],)), tf.keras.layers.Dense(4, activation='relu'), tf.keras.layers.Dense(1, activation='sigmoid')])
m.compile('adam', 'binary_crossentropy', metrics=['accuracy'])
m.fit(X, y, epochs=1, verbose=0)
x2 = df.iloc[:, 1:3].to_numpy()
m2 = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
m2.compile('adam', 'mse', metrics=['mae'])
m2.fit(x2, df.iloc[:, -1], epochs=1, verbose=0)
