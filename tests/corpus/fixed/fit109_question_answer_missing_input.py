import numpy as np
from tensorflow.keras.models import Model
from tensorflow.keras.layers import Input, Embedding, LSTM, Dense, concatenate

VOCAB, Q_LEN, C_LEN = 80, 6, 15


class QAModel:
    def __init__(self, units=12):
        context = Input(shape=(C_LEN,), dtype="int32", name="context")
        question = Input(shape=(Q_LEN,), dtype="int32", name="question")
        speaker = Input(shape=(1,), name="speaker")
        emb = Embedding(VOCAB, 8)
        c = LSTM(units)(emb(context))
        q = LSTM(units)(emb(question))
        merged = concatenate([c, q, speaker])
        answer = Dense(VOCAB, activation="softmax")(merged)
        self.net = Model(inputs=[context, question, speaker], outputs=answer)
        self.net.compile(optimizer="rmsprop", loss="sparse_categorical_crossentropy", metrics=["accuracy"])

    def train(self, context, question, speaker, answer, **kw):
        return self.net.fit([context, question, speaker], answer, **kw)


rng = np.random.default_rng(0)
context = rng.integers(1, VOCAB, (128, C_LEN))
question = rng.integers(1, VOCAB, (128, Q_LEN))
speaker = rng.integers(0, 2, (128, 1)).astype("float32")
answer = context[:, 0]

qa = QAModel()
qa.train(context, question, speaker, answer, epochs=1, batch_size=16, verbose=2)
