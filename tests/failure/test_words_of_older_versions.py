"""What older versions, and machines with a GPU, say: from their sources and from reports, not run here."""

import pytest

from fitdoctor.examine import examine_failure
from fitdoctor.failure.text import failures_in

_NUMPY_1_20 = """\
  File "/v/lib/python3.8/site-packages/tensorflow/python/keras/layers/recurrent.py", line 2968, in _zeros
    return create_zeros(state_size)
  File "/v/lib/python3.8/site-packages/tensorflow/python/ops/array_ops.py", line 2747, in _constant_if_small
    if np.prod(shape) < 1000:
  File "/v/lib/python3.8/site-packages/tensorflow/python/framework/ops.py", line 852, in __array__
    raise NotImplementedError(
NotImplementedError: Cannot convert a symbolic Tensor (lstm/strided_slice:0) to a numpy array. This error may indicate that
"""
_ALIAS_GONE = """\
  File "/v/lib/python3.9/site-packages/tensorflow/python/framework/dtypes.py", line 585, in <module>
    np.object,
  File "/v/lib/python3.9/site-packages/numpy/__init__.py", line 305, in __getattr__
    raise AttributeError(__former_attrs__[attr])
AttributeError: module 'numpy' has no attribute 'object'.
"""
_SQUEEZED = """\
  File "/v/lib/python3.9/site-packages/keras/metrics.py", line 3537, in sparse_categorical_accuracy
    y_true = tf.squeeze(y_true, [-1])
ValueError: Can not squeeze dim[1], expected a dimension of 1, got 10 for '{{node Squeeze}} = Squeeze[T=DT_FLOAT]'
"""
_COPIED = (
    "InternalError: Failed copying input tensor in order to run _EagerConst: Dst tensor is not initialized.\n"
)
_SAVED = """\
TypeError: Error when deserializing class 'InputLayer' using config={'batch_shape': [None, 8], 'name': 'input_layer'}.

Exception encountered: Unrecognized keyword arguments: ['batch_shape']
"""
_SAVED_BY_KERAS_2 = """\
  File "/v/lib/python3.11/site-packages/keras/src/legacy/saving/legacy_h5_format.py", line 139, in load_model_from_hdf5
    model = saving_utils.model_from_config(
ValueError: Unrecognized keyword arguments passed to LSTM: {'time_major': False}
"""


@pytest.mark.parametrize(
    ("rest", "cause"),
    [
        (_NUMPY_1_20, "FIT901"),
        (_ALIAS_GONE, "FIT901"),
        ("ImportError: Keras requires TensorFlow 2.2 or higher. Install TensorFlow\n", "FIT901"),
        (_SAVED, "FIT901"),
        ("AttributeError: module 'tensorflow.compat.v2' has no attribute '__internal__'\n", "FIT901"),
        ("ModuleNotFoundError: No module named 'tensorflow'\n", "FIT901"),
        (
            "ModuleNotFoundError: No module named 'tensorflow.keras'; 'tensorflow' is not a package\n",
            "FIT907",
        ),
        (_SAVED_BY_KERAS_2, "FIT902"),
        (_SQUEEZED, "FIT202"),
        (_COPIED, "FIT806"),
        ("NotFoundError: No algorithm worked! Error messages: CUDNN_STATUS_ALLOC_FAILED\n", "FIT906"),
    ],
)
def test_the_cause_is_known_by_its_words(rest, cause):
    head = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    model.fit(x, y)\n'
    [failure] = failures_in(head + rest)
    diagnosis = examine_failure(failure)
    assert [finding.id for finding in diagnosis.findings] == [cause]
