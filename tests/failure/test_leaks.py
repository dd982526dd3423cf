"""Symbolic tensors that are held after tracing, and those that are rightly kept."""

import types

import pytest

from fitdoctor.failure.leaks import held_tensors, user_roots

pytestmark = [pytest.mark.tf, pytest.mark.filterwarnings("ignore")]
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
np = pytest.importorskip("numpy")

X, Y = np.ones((8, 3), "float32"), np.ones((8, 2), "float32")


def fitted(model, loss="mse", **options):
    model.compile("sgd", loss)
    model.fit(X, Y, verbose=0, **options)
    return model


class Encoder(keras.layers.Layer):
    def __init__(self, keep):
        super().__init__()
        self.dense = keras.layers.Dense(2, activity_regularizer="l2")
        self.keep = keep
        self._cache = {}
        self.steps = []

    def call(self, x):
        hidden = self.dense(x)
        self.keep_it(hidden)
        self.add_loss(tf.reduce_sum(hidden))
        return hidden

    def keep_it(self, hidden):
        if self.keep == "attribute":
            self.last_hidden = hidden
        elif self.keep == "dict":
            self._cache["h"] = hidden
        elif self.keep == "list":
            self.steps.append(hidden)


class Net(keras.Model):
    def __init__(self, keep):
        super().__init__()
        self.blocks = [Encoder(keep)]

    def call(self, x):
        return self.blocks[0](x)

    @property
    def loud(self):
        raise AssertionError("a property was asked")


@pytest.mark.parametrize(
    ("keep", "path", "attribute"),
    [
        ("attribute", "model.blocks[0].last_hidden", "last_hidden"),
        ("dict", "model.blocks[0]._cache['h']", "_cache"),
        ("list", "model.blocks[0].steps[0]", "steps"),
    ],
)
def test_a_layers_attribute_dict_and_list(keep, path, attribute):
    (held,) = held_tensors({"model": fitted(Net(keep))})
    assert held.path in (path, path.replace("blocks", "layers"))
    assert (held.holder_class, held.attribute) == ("Encoder", attribute)
    assert "BiasAdd" in held.tensor
    made = [frame for frame in held.made_at if not frame.library][-1]
    assert made.text == "hidden = self.dense(x)"
    assert held.graph


def test_a_closure_of_the_loss():
    seen = []

    def loss(y_true, y_pred):
        seen.append(y_pred)
        return tf.reduce_mean((y_true - y_pred) ** 2)

    model = fitted(keras.Sequential([keras.layers.Dense(2)]), loss)
    (held,) = held_tensors({"model": model})
    assert held.attribute == "seen"
    assert held.holder_class == "loss"


def test_a_plain_object_a_slot_and_a_callback():
    class Recorder:
        __slots__ = ("value",)

    recorder = Recorder()

    class Keeper(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            self.recorder = recorder

    @tf.function
    def step(x):
        recorder.value = x * 2
        return x

    step(tf.ones(3))
    keeper = Keeper()
    keeper.on_train_begin()
    paths = {held.path for held in held_tensors({"recorder": recorder, "callbacks[0]": keeper})}
    assert paths & {"recorder.value", "callbacks[0].recorder.value"}


def test_the_names_of_the_users_frames_outside_the_framework():
    def train():
        history = []

        @tf.function
        def step(x):
            history.append(x * 2)
            return x

        step(tf.ones(3))
        raise ValueError(history)

    with pytest.raises(ValueError) as caught:  # noqa: PT011
        train()
    held = held_tensors(user_roots(exc=caught.value))
    assert "history[0]" in [tensor.path for tensor in held]


def test_locals_of_a_function_that_was_being_traced_are_no_leak():
    @tf.function(autograph=False)
    def step(x):
        hidden = x * 2
        return tf.reshape(hidden, (7,))

    with pytest.raises(ValueError, match="reshape") as caught:
        step(tf.ones(3))
    roots = user_roots(exc=caught.value)
    assert "hidden" not in roots


@pytest.mark.parametrize("kind", ["functional", "sequential", "regularized", "recurrent", "subclassed"])
def test_what_keras_keeps_is_not_reported(kind):
    inputs = keras.Input((3,))
    outputs = keras.layers.Dense(2)(inputs)
    if kind == "functional":
        model = fitted(
            keras.Model(inputs, outputs), validation_split=0.5, callbacks=[keras.callbacks.EarlyStopping()]
        )
    elif kind == "sequential":
        scaled = keras.layers.Normalization()
        scaled.adapt(X)
        model = fitted(keras.Sequential([scaled, keras.layers.Dense(2)]))
    elif kind == "regularized":
        model = fitted(
            keras.Sequential([keras.layers.Dense(2, activity_regularizer="l2", kernel_regularizer="l1")])
        )
    elif kind == "recurrent":
        model = fitted(
            keras.Sequential([keras.layers.Reshape((3, 1)), keras.layers.Bidirectional(keras.layers.LSTM(1))])
        )
    else:
        model = fitted(Net("nothing"))
    assert held_tensors({"model": model, "inputs": inputs, "outputs": outputs}) == ()


def test_eager_tensors_and_a_graph_of_the_users_own_may_be_kept():
    with tf.Graph().as_default():
        constant = tf.constant([1.0]) * 2
    assert held_tensors({"eager": tf.ones(3), "constant": constant, "variable": tf.Variable(1.0)}) == ()


def test_the_search_is_bounded():
    nested = []
    for _ in range(50):
        nested = [nested, dict.fromkeys(range(2000), "x")]
    assert held_tensors({"nested": nested}, seconds=0.5) == ()
    loop = types.SimpleNamespace()
    loop.self = loop
    assert held_tensors({"loop": loop}) == ()


def test_keras_2_keeps_its_lists_in_a_wrapper():
    legacy = pytest.importorskip("tf_keras")

    class Keeper(legacy.layers.Layer):
        def __init__(self):
            super().__init__()
            self.steps = []

        def call(self, x):
            self.steps.append(x * 2)
            return x

    model = legacy.Sequential([Keeper(), legacy.layers.Dense(2, activity_regularizer="l2")])
    (held,) = held_tensors({"model": fitted(model)})
    assert (held.holder_class, held.attribute) == ("Keeper", "steps")
