"""What Keras and TensorFlow say is explained from the words alone; what others say is not blamed on training."""

from pathlib import Path

import pytest

from fitdoctor.catalogue import catalogue
from fitdoctor.catalogue import known_messages as table
from fitdoctor.diagnose import examine_failure, failures_told_in
from fitdoctor.failure.text import failures_in

HERE = Path(__file__).parent
CASES = [line.split("\t") for line in (HERE / "known_messages.tsv").read_text("utf-8").splitlines()]
UNRELATED = (HERE / "unrelated_texts.txt").read_text("utf-8").strip("\n").split("\n-----\n")

_IN_KERAS = """\
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    run()
  File "/v/lib/python3.8/site-packages/keras/{file}", line 68, in {function}
    start(1)
"""


def _text(place, message):
    """Return the message below a traceback that ends in a function of Keras: `fit` or `layers/core.py:__init__`."""
    file, _, function = place.rpartition(":")
    return (_IN_KERAS.format(file=file or "engine/training.py", function=function) if place else "") + message


def _told(text):
    failures = failures_told_in(text)
    return examine_failure(failures[-1]) if failures else None


@pytest.mark.parametrize(("cause", "function", "message"), CASES)
def test_a_message_of_keras_or_tensorflow_shows_its_cause(cause, function, message):
    findings = _told(_text(function, message)).findings
    assert findings[0].id == cause
    assert findings[0].fixes


def test_every_record_of_the_table_has_a_recorded_message_and_a_cause():
    met = set()
    for _, function, message in CASES:
        [failure] = failures_in(_text(function, message))
        met.update(id(known) for known in list(table._matching(failure))[:1])
    records = table.known_messages()
    assert [known.rule.says.pattern[:60] for known in records if id(known) not in met] == []
    for known in records:
        assert {known.cause, *known.rule.also} <= set(catalogue())


@pytest.mark.parametrize("text", UNRELATED)
def test_what_is_not_about_training_gets_no_cause(text):
    diagnosis = _told(text)
    assert diagnosis is None or diagnosis.findings == ()


def test_there_are_enough_unrelated_texts():
    assert len(UNRELATED) >= 30


def test_a_message_with_several_causes_names_the_others():
    [finding] = _told("ValueError: None values not supported.").findings
    assert finding.confidence.value == "possible"
    assert [note[:25] for note in finding.notes] == [
        "it can also be FIT215: Mi",
        "it can also be FIT324: La",
        "it can also be FIT505: Lo",
    ]


def test_a_log_that_contains_the_words_of_a_message_is_not_a_failure():
    log = "Epoch 1/2\nloss: 0.5\nnote: eager execution must be enabled\nEpoch 2/2\nloss: 0.4\ndone\n"
    assert failures_told_in(log) == []


_HEADLESS = """\
/tmp/ipykernel_55/2310643137.py in call(self, inputs, training)
     22             x = inputs
     23
---> 24         attended = self.attention(query=x, value=x)
     25         return attended

/usr/local/lib/python3.11/dist-packages/keras/src/layers/layer.py in __call__(self, *args)
--> 122             raise error

ValueError: The RNN cell should have a `state_size` attribute. Received: cell=None
"""


def test_a_notebook_traceback_without_its_beginning_shows_the_line():
    [finding] = _told(_HEADLESS).findings
    assert (finding.id, finding.location.line) == ("FIT327", 24)


_TWO_PACKAGES = """\
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    model.fit(x, y, callbacks=[board])
  File "/v/lib/python3.7/site-packages/keras/engine/training.py", line 1239, in fit
    callbacks.set_model(model)
  File "/v/lib/python3.7/site-packages/tensorflow/python/keras/callbacks.py", line 1786, in set_model
    if not model.run_eagerly:
AttributeError: 'Model' object has no attribute 'run_eagerly'
"""
_KERAS_2_LAYER = """\
ValueError: Exception encountered when calling layer 'encoder' (type KerasLayer).

A KerasTensor is symbolic: it's a placeholder for a shape an a dtype.

Call arguments received by layer 'encoder' (type KerasLayer):
  • inputs=<KerasTensor shape=(None, 8), dtype=float32, sparse=False, name=keras_tensor_1>
"""
_STRINGS = """\
ValueError: Exception encountered when calling Sequential.call().

Invalid input shape for input Tensor("Cast:0", shape=(32,), dtype=float32). Expected shape (None, 32, 32, 3), but input \
has incompatible shape (32,)

Arguments received by Sequential.call():
  • inputs=tf.Tensor(shape=(32,), dtype=string)
  • training=False
"""
_LOGGED = """\
W tensorflow/core/framework/op_kernel.cc:975] Data loss: Unable to open table file ckpt/net-10: Data loss: not an sstable
Traceback (most recent call last):
  File "complete.py", line 34, in <module>
    saver.restore(session, path)
"""
_PYTHON_2 = """\
Traceback (most recent call last):
  File "ocr.py", line 50, in <module>
    from keras.layers.merge import add, concatenate
ImportError: No module named merge
"""


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (_TWO_PACKAGES, "FIT903"),
        (_KERAS_2_LAYER, "FIT903"),
        (_STRINGS, "FIT106"),
        (_PYTHON_2, "FIT902"),
        ("Exception: Input 0 is incompatible with layer lstm_1: expected ndim=3, found ndim=4", "FIT304"),
        ("Module 'tensorflow' has no attribute 'get_default_graph'", "FIT406"),
        ("    TypeError: Cannot convert 0.5 to EagerTensor of dtype int64", "FIT111"),
        ('I get "ValueError: Invalid layer: Attention" when I load it.', "FIT908"),
        (
            "Training stops with `TypeError: __call__() got an unexpected keyword argument 'training'`, why?",
            "FIT314",
        ),
        (
            "the error is: valueError: Input arrays should have the same number of samples as target arrays",
            "FIT108",
        ),
        (_LOGGED, "FIT909"),
        (
            "ValueError: Error when checking input: expected a to have shape (None,\n10) but got array with shape (9,\n8)",
            "FIT101",
        ),
        ('ValueError("No variables provided.") for apply_gradients', "FIT311"),
        (
            "E tensorflow/core/op.cc:53] Create kernel failed: Invalid argument: NodeDef mentions attr 'a' not in Op",
            "FIT901",
        ),
        (
            "ValueError: Error when checking target: expected conv_3 to have 4 dimensions, but got array with shape (0, 1)",
            "FIT114",
        ),
        (
            "ValueError: Cannot feed value of shape (48, 48, 1) for Tensor u'X:0', which has shape '(?, 48, 48, 1)'",
            "FIT102",
        ),
        (
            "NotImplementedError: Cannot convert a symbolic Tensor (lstm_1/strided_slice:0) to a numpy array.",
            "FIT901",
        ),
        ("[Detection] InvalidArgumentError: Expected size[0] in [0, 100], but got 109", "FIT320"),
        ("> raise ValueError('Unknown ' + name)\n>\n> ValueError: Unknown layer: Mean\n", "FIT908"),
    ],
)
def test_the_form_of_a_text_helps_to_find_its_cause(text, cause):
    assert _told(text).findings[0].id == cause


_IN_WORKER = """\
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    model.fit_generator(rows)
  File "/v/lib/python3.6/site-packages/keras/utils/data_utils.py", line 685, in get
    inputs = self.queue.get(block=True).get()
  File "/v/lib/python3.6/multiprocessing/pool.py", line 644, in get
    raise self._value
TypeError: only integer scalar arrays can be converted to a scalar index
"""
_OWN_RAISE = """\
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    raise ValueError("label " + name + " exists")
ValueError: label run-1 exists
"""
_OWN_GENERATOR = """\
Traceback (most recent call last):
  File "/v/lib/python3.6/site-packages/keras/engine/training.py", line 606, in data_generator_task
    batch = next(self._generator)
  File "batches.py", line 71, in batches
    assert folder[-1] == "/"
AssertionError
"""
_NUMPY_IN_GENERATOR = """\
Traceback (most recent call last):
  File "/v/lib/python3.6/site-packages/keras/engine/training.py", line 606, in data_generator_task
    batch = next(self._generator)
  File "batches.py", line 71, in batches
    yield np.stack(rows), labels
  File "/v/lib/python3.6/site-packages/numpy/core/shape_base.py", line 349, in stack
    raise ValueError('need at least one array to stack')
ValueError: need at least one array to stack
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (_IN_WORKER, "in a worker process"),
        (_OWN_RAISE, "raised by the program itself"),
        ("sklearn.exceptions.NotFittedError: not fitted", "scikit-learn"),
        ("RuntimeError: mat1 and mat2 shapes cannot be multiplied (6x1 and 2x1)", "PyTorch"),
        ("OSError: Unable to open file (file signature not found)", "file cannot be opened"),
        ("IndexError: list index out of range", "plain Python error"),
        ("cannot import name 'TFBertModel'", "has no `TFBertModel`"),
        ("TypeError: resize() takes at least 3 arguments (2 given)", "`resize` is called with too few"),
        (_OWN_GENERATOR, "raised by a line of the program"),
        (_NUMPY_IN_GENERATOR, "raised by NumPy"),
    ],
)
def test_what_is_no_failure_of_training_says_where_it_belongs(text, words):
    diagnosis = _told(text)
    assert diagnosis.findings == ()
    assert words in diagnosis.unexplained[0].note


def test_prose_without_an_exception_is_not_a_failure():
    assert (
        failures_told_in(
            "except ValueError: pass\nWe train for 3 epochs; errors such as TypeError are rare.\n"
        )
        == []
    )


def test_an_exception_is_found_in_a_log_whose_traceback_was_cut():
    log = "INFO:tensorflow:Error reported to Coordinator: in user code:\n\n    /me/net.py:25 call  *\n        x = rho(y)\n"
    log += "\n    ValueError: Input 0 of layer d is incompatible with the layer: expected axis -1 of input shape to have "
    log += "value 16 but received input with shape (None, 4)\nTraceback (most recent call last):\n"
    log += '  File "/v/lib/python3.7/site-packages/tensorflow/python/coordinator.py", line 297, in stop\n    yield\n'
    assert _told(log).findings[0].id == "FIT101"
