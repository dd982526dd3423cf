"""Failures as people describe them in a question: cut, in bold, in the middle of a sentence, below a line of code."""

import pytest

from fitdoctor.diagnose import examine_failure, failures_told_in

_FLAT = r"""I run my script and get this:

File "C:\me\lib\site-packages\keras\models.py", line 1223, in fit_generator
initial_epoch=initial_epoch)
File "C:\me\lib\site-packages\keras\engine\training.py", line 2083, in fit_generator
generator_output = next(output_generator)
StopIteration

It stops in the first epoch.
"""
_IN_CALLBACK = """I want to keep the best model:
  File "/v/lib/python3.6/site-packages/keras/callbacks.py", line 75, in on_epoch_end
    callback.on_epoch_end(epoch, logs)
  File "/v/lib/python3.6/site-packages/keras/callbacks.py", line 383, in on_epoch_end
    filepath = self.filepath.format(epoch=epoch, **logs)
KeyError: 'val_acc'
Why does it not find it?
"""
_CUT_BELOW_ANOTHER = """\
~/v/site-packages/tensorflow_core/python/framework/tensor_shape.py in assert_is_compatible_with(self, other)
    274       raise ValueError("Dimensions %s and %s are not compatible" %
--> 275                        (self, other))

ValueError: Dimensions 3 and 7 are not compatible

During handling of the above exception, another exception occurred:

ValueError                                Traceback (most recent call last)
~/v/site-packages/tensorflow_core/python/ops/nn_impl.py in sigmoid_cross_entropy_with_logits(labels, logits)
    167     try:
--> 168       labels.get_sh
"""
_CANCELLED = """2019-05-13 15:22:42.2: W tensorflow/core/op_kernel.cc:1318] OP_REQUIRES failed at assign_op.h:112 : \
Resource exhausted: OOM when allocating tensor with shape[9216] and type float on /device:GPU:0 by allocator GPU_0_bfc

and in the end:
CancelledError: Enqueue operation was cancelled
"""
_LOADED = """net.load_weights('best.h5')

ValueError: Shapes (64, 10) and (64, 7) are incompatible
"""
_REBUILT = """net = load_model('net.h5', custom_objects={'Scale': Scale})
gives
TypeError: __init__() missing 1 required positional argument: 'factor'
"""

_ONLY_IN_TITLE = """# A KerasTensor is symbolic: it's a placeholder for a shape an a dtype. You cannot convert it to a NumPy array.

It fails when I build it.

---------------------------------------------------------------------------ValueError                                Traceback (most recent call last)
Cell In [2], line 4
----> 4 model = build()
"""  # noqa: E501

_PYTHON_2 = """\
Traceback (most recent call last):
  File "train.py", line 4, in <module>
    {line}
AttributeError: 'module' object has no attribute '{name}'
"""
_IN_TENSORBOARD = """\
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    model.fit(x, y, callbacks=[board])
  File "/v/lib/python3.6/site-packages/keras/callbacks.py", line 912, in on_epoch_end
    assert len(val_data) == len(tensors)
AssertionError
"""
_IN_PIPELINE = """\
UnknownError: 2 root error(s) found.
  (0) Unknown:  TypeError: object of type 'int' has no len()
Traceback (most recent call last):

  File "/v/lib/python3.7/site-packages/tensorflow/python/ops/script_ops.py", line 233, in __call__
    ret = func(*args)

  File "/home/me/data.py", line 17, in pairs
    yield len(size)

TypeError: object of type 'int' has no len()

\t [[{{node PyFunc}}]]
"""


def test_an_error_of_python_inside_the_pipeline_is_told_as_one():
    [unexplained] = examine_failure(failures_told_in(_IN_PIPELINE)[-1]).unexplained
    assert unexplained.note.startswith("raised by the Python function that the pipeline calls: TypeError")
    assert unexplained.location.line == 17


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (_FLAT, "FIT703"),
        (_IN_CALLBACK, "FIT322"),
        (_CUT_BELOW_ANOTHER, "FIT320"),
        (_CANCELLED, "FIT806"),
        (_LOADED, "FIT909"),
        (_REBUILT, "FIT908"),
        (_ONLY_IN_TITLE, "FIT407"),
        ("My run ends with (KeyError:'val_loss'), is the callback wrong?", "FIT322"),
        ("KeyError: 'accuracy'\n\nHere is my code:\nmodel.compile('adam', 'mse')\n", "FIT322"),
        ("> InvalidArgumentError: **indices[3,1]** = 500 is not in [0, 500)\n", "FIT113"),
        ('I get "when checking target: expected dense_2 to have shape (4,) but got array with shape (3,)" in\n'
         "fit\n\nmodel.fit(x, y,\n  epochs=2)\nwhy?", "FIT205"),
        ("AttributeError: module 'keras.backend' has no attribute 'control_flow_ops'", "FIT901"),
        ("AttributeError: module 'keras.backend' has no attribute 'sum'", "FIT902"),
        ("ImportError: No module named keras.model", "FIT901"),
        ("ImportError: cannot import name 'tf' from 'keras.backend'", "FIT901"),
        ("it says no module named keras.layers.core when I start it", "FIT902"),
        ("Error: cannot import name 'Merge' from 'keras.layers' (/v/keras/layers/__init__.py)", "FIT902"),
        (_PYTHON_2.format(line="m.add(keras.layers.AvgPool())", name="AvgPool"), "FIT901"),
        (_PYTHON_2.format(line="s = tf.contrib.layers.l2()", name="contrib"), "FIT406"),
        (_IN_TENSORBOARD, "FIT712"),
    ],
)  # fmt: skip
def test_the_cause_is_found_in_a_question(text, cause):
    findings = examine_failure(failures_told_in(text)[-1]).findings
    assert findings[0].id == cause


@pytest.mark.parametrize(
    "text",
    [
        "def f(**kwargs): return g(**kwargs)\nx = 2**3**2\nTypeError: unsupported operand type(s) for **: 'str' and 'int'\n",
        'We call it "the best model of the whole year so far" and train it for 3 epochs.\nAll is fine.\n',
    ],
)
def test_what_only_looks_like_a_message_or_bold_text_is_left_alone(text):
    assert not any(examine_failure(each).findings for each in failures_told_in(text))
