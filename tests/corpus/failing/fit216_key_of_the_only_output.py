import keras
import numpy

x = keras.layers.Input((16, 16))
x2 = keras.layers.Flatten()(x)
x2 = keras.layers.Dense(32)(x2)
x2 = keras.layers.Dense(1, activation="sigmoid")(x2)

model = keras.models.Model(inputs=[x], outputs={"dt": x2})

model.compile(optimizer=keras.optimizers.Adam(0.0001), loss={"td": "mean_squared_error"})  # <- FIT216

i = numpy.random.random((5, 16, 16))
o = (numpy.random.random((5, 1)) > 0.5) * 1
model.fit(i, {"dt": o})
