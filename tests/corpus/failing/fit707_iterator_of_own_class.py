import numpy as np
from tensorflow.keras.layers import Input, Dense, Embedding, GRU, Concatenate
from tensorflow.keras.models import Model

vocab, maxlen = 60, 9


class CaptionBatches:
    def __init__(self, n_images=40, bs=8):
        self.feats = np.random.rand(n_images, 64).astype('float32')
        self.caps = np.random.randint(1, vocab, (n_images, maxlen + 1))
        self.bs = bs

    def __iter__(self):
        while True:
            for s in range(0, len(self.feats), self.bs):
                f = self.feats[s:s + self.bs]
                c = self.caps[s:s + self.bs]
                yield [(f, c[:, :-1]), c[:, -1]]  # <- FIT707


img_in = Input((64,))
seq_in = Input((maxlen,))
h = Concatenate()([Dense(16, activation='relu')(img_in), GRU(16)(Embedding(vocab, 16)(seq_in))])
out = Dense(vocab, activation='softmax')(h)
model = Model([img_in, seq_in], out)
model.compile('adam', 'sparse_categorical_crossentropy')
batches = CaptionBatches()
model.fit(iter(batches), steps_per_epoch=5, epochs=2)
