"""If the first batches train, the labels are in range.

Each batch is checked when it is used. One label out of range in the last batch ends training in the last step of the
first epoch, and on large data that is hours in (FIT203).
"""

import keras
import numpy as np

x, y = np.random.rand(320, 4), np.random.randint(0, 3, 320)
y[-1] = 3  # the model has the classes 0 to 2
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="softmax")])
model.compile(optimizer="sgd", loss="sparse_categorical_crossentropy")
done = []
count = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: done.append(batch))
try:
    model.fit(x, y, batch_size=32, shuffle=False, verbose=0, callbacks=[count])
except Exception as error:
    raised = error
assert "label value of 3" in str(raised)
assert len(done) == 9  # of ten steps
