"""What older versions, and machines with a GPU, say: from their sources and from reports, not run here."""

import pytest

from fitdoctor.diagnose import examine_failure
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


def _told(text):
    from fitdoctor.diagnose import failures_told_in

    return examine_failure(failures_told_in(text)[-1])


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Error when checking target: expected dense_4 to have shape (7,) but got array with shape (1,)", "FIT201"),
        ("Error when checking target: expected out to have shape (None, 4) but got array with shape (90, 9)", "FIT205"),
        ("Error when checking target: expected dense_4 to have 3 dimensions, but got array with shape (90, 1)", "FIT217"),
        ("Error when checking input: expected rows_input to have shape (12,) but got array with shape (11,)", "FIT101"),
        ("Error when checking input: expected gru_3_input to have 3 dimensions, but got array with shape (90, 5)", "FIT102"),
        (
            "A target array with shape (90, 1) was passed for an output of shape (None, 6) while using as loss "
            "`categorical_crossentropy`. This loss expects targets to have the same shape as the output.",
            "FIT201",
        ),
        (
            "A target array with shape (90, 4) was passed for an output of shape (None, 6) while using as loss "
            "`mean_squared_error`. This loss expects targets to have the same shape as the output.",
            "FIT205",
        ),
        (
            "Dimensions must be equal, but are 6 and 4 for '{{node mean_squared_error/SquaredDifference}} = "
            "SquaredDifference[T=DT_FLOAT](model/out/BiasAdd, Cast)' with input shapes: [?,6], [?,4].",
            "FIT205",
        ),
        ("InvalidArgumentError: Incompatible shapes: [16,6] vs. [16,4] [Op:SquaredDifference]", "FIT205"),
        (
            "InvalidArgumentError (see above for traceback): Incompatible shapes: [8,30,30,5] vs. [8,30,30,9]\n"
            "\t [[Node: loss/maps_loss/sub = Sub[T=DT_FLOAT](_arg_maps_target_0_1, maps/BiasAdd)]]",
            "FIT205",
        ),
        (
            "InvalidArgumentError: Incompatible shapes: [900] vs. [9,100]\n\t [[{{node metrics/acc/Equal}}]]",
            "FIT218",
        ),
        (
            "A `Concatenate` layer requires inputs with matching shapes except for the concat axis. "
            "Got inputs shapes: [(None, 12, 64), (None, 13, 64)]",
            "FIT305",
        ),
        ("Input 0 is incompatible with layer gru_2: expected ndim=3, found ndim=2", "FIT304"),
        ("Input 0 of layer sequential_1 is incompatible with the layer", "FIT101"),
        ("Failed to find data adapter that can handle input: <class 'function'>, <class 'NoneType'>", "FIT710"),
        ("Failed to find data adapter that can handle input: <class 'torch.Tensor'>, <class 'torch.Tensor'>", "FIT710"),
        (
            "Failed to find data adapter that can handle input: "
            "<class 'transformers.tokenization_utils_base.BatchEncoding'>, <class 'numpy.ndarray'>",
            "FIT710",
        ),
        (
            "Failed to find data adapter that can handle input: (<class 'list'> containing values of types "
            "{\"<class 'float'>\"}), <class 'NoneType'>",
            "FIT107",
        ),
        (
            "Failed to find data adapter that can handle input: <class 'numpy.ndarray'>, (<class 'list'> containing "
            "values of types {\"<class 'int'>\"})",
            "FIT107",
        ),
        ("ValueError: Unknown layer: Functional", "FIT901"),
        ("ValueError: Unknown layer: AttentionGate", "FIT908"),
        ("ValueError: The model cannot be compiled because it has no loss to optimize.", "FIT303"),
        ("TypeError: __init__() got an unexpected keyword argument 'ragged'", "FIT901"),
        ("AttributeError: 'str' object has no attribute 'decode'", "FIT901"),
        ("AttributeError: module 'keras.optimizers' has no attribute 'Adam'", "FIT901"),
        ("AttributeError: 'KerasTensor' object has no attribute '_id'", "FIT903"),
        ("AttributeError: 'Model' object has no attribute '_output_tensor_cache'", "FIT903"),
        ("AttributeError: 'Sequential' object has no attribute 'state_dict'", "FIT904"),
        ("UnknownError: Fail to find the dnn implementation.\n\t [[{{node CudnnRNN}}]]", "FIT906"),
        ("FailedPreconditionError: Attempting to use uninitialized value conv2d_1/kernel", "FIT405"),
        ("ValueError: `sequences` must be a list of iterables. Found non-iterable: 17", "FIT102"),
        ("ValueError: setting an array element with a sequence.", "FIT105"),
        ("InvalidArgumentError: slice index 9 of dimension 0 out of bounds. [Op:StridedSlice]", "FIT320"),
        ("KeyError: 'val_accuracy'", "FIT322"),
        ("Error when checking model target: expected rows to have 3 dimensions, but got array with shape (90, 4)", "FIT217"),
        ("Input arrays should have the same number of samples as target arrays. "
         "Found 80 input samples and 81 target samples.", "FIT108"),
        ("Cannot feed value of shape (16, 9) for Tensor 'scores_target:0', which has shape '(?, 4)'", "FIT205"),
        ("`logits` and `labels` must have the same shape, received ((None, 3) vs (None, 1)).", "FIT205"),
        ("Shape mismatch: The shape of labels (received (48,)) should equal the shape of logits except for the last "
         "dimension (received (16, 3)).", "FIT202"),
        ("When subclassing the `Model` class, you should implement a `call` method.", "FIT318"),
        ("Layer Layer does not have a `call` method implemented.", "FIT310"),
        ("ValueError: Unknown loss function:focal_of_mine", "FIT908"),
        ("TypeError: type object got multiple values for keyword argument 'training'", "FIT314"),
        ("ImportError: No module named keras", "FIT901"),
        ("AttributeError: 'Node' object has no attribute 'output_masks'", "FIT903"),
        ("You must feed a value for placeholder tensor 'noise_1' with dtype float", "FIT405"),
        ("Output of generator should be a tuple `(x, y, sample_weight)` or `(x, y)`. Found: None", "FIT707"),
        ("Saw a non-null label (index >= num_classes - 1) following a null label, batch: 4 num_classes: 30 labels: 2,29",
         "FIT203"),
        ("All input arrays and the target array must have the same number of samples.", "FIT108"),
        ("AttributeError: 'ProgbarLogger' object has no attribute 'log_values'", "FIT114"),
        ("TypeError: Expected `trainable` argument to be a boolean, but got: 48", "FIT302"),
        ("This model has not yet been built. Build the model first by calling `build()`.", "FIT324"),
        ("ValueError: `steps_per_epoch=None` is only valid for a generator based on the `Sequence` class.", "FIT704"),
        (
            "ValueError: Layer #0 (named \"net\" in the current model) was found to correspond to layer net_1 in the save "
            "file. However the new layer net expects 40 weights, but the saved weights have 38 elements.",
            "FIT909",
        ),
    ],
)  # fmt: skip
def test_a_message_alone_shows_the_cause(text, cause):
    assert _told(text).findings[0].id == cause


def test_the_unsupported_type_is_that_of_the_elements_not_of_the_array():
    text = "ValueError: Failed to convert a NumPy array to a Tensor (Unsupported object type float)."
    assert "dtype `object` and contains `float`" in _told(text).findings[0].message


def test_a_layer_without_a_name_is_not_quoted():
    text = (
        "ValueError: Negative dimension size caused by subtracting 5 from 2 for 'c/Conv2D' (op: 'Conv2D') with input "
        "shapes: [?,2,2,8], [5,5,8,8]."
    )
    assert "`a layer`" not in _told(text).findings[0].message


def test_code_converted_by_the_first_autograph_names_the_users_line():
    text = """\
Traceback (most recent call last):
  File "/v/lib/python3.6/site-packages/tensorflow_core/python/framework/func_graph.py", line 905, in wrapper
    raise e.ag_error_metadata.to_exception(e)
TypeError: in converted code:
    relative to /home/me/net:

    blocks.py:31 call  *
        y = self.mix(x, skip, training)
    TypeError: call() takes 3 positional arguments but 4 were given
"""
    [finding] = _told(text).findings
    assert (finding.id, finding.location.path, finding.location.line) == (
        "FIT314",
        "/home/me/net/blocks.py",
        31,
    )


def test_a_message_that_stays_unexplained_is_shown_in_its_own_words():
    text = 'AttributeError: "Widget" object has no attribute "spin"'
    assert _told(text).unexplained[0].message == text.removeprefix("AttributeError: ")


_IN_PANDAS = """\
Traceback (most recent call last):
  File "prepare.py", line 8, in <module>
    ages = table["age"]
  File "/v/lib/python3.11/site-packages/pandas/core/frame.py", line 3455, in __getitem__
    indexer = self.columns.get_loc(key)
KeyError: 'age'
"""
_IN_SCIKIT_LEARN = """\
Traceback (most recent call last):
  File "forest.py", line 5, in <module>
    model.fit(x, y)
  File "/v/lib/python3.11/site-packages/sklearn/utils/validation.py", line 769, in check_array
    array = np.asarray(array)
ValueError: could not convert string to float: 'red'
"""
_IN_PROGRAM = """\
Traceback (most recent call last):
  File "prepare.py", line 3, in <module>
    first = names[12]
IndexError: list index out of range
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (_IN_PANDAS, "raised by pandas, not by training"),
        (_IN_SCIKIT_LEARN, "raised by scikit-learn, not by training"),
        (_IN_PROGRAM, "raised by a line of the program itself"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'rows.csv'", "does not exist"),
        ("ModuleNotFoundError: No module named 'lightgbm'", "`lightgbm` is not installed"),
        (
            "cv2.error: OpenCV(4.9.0) /io/resize.cpp:4152: error: (-215:Assertion failed) !ssize.empty()",
            "OpenCV",
        ),
        ("urllib.error.URLError: <urlopen error [SSL: CERTIFICATE_VERIFY_FAILED]>", "download failed"),
        ("NameError: name 'x_train' is not defined", "has not defined"),
    ],
)
def test_what_is_no_failure_of_training_is_said_to_belong_elsewhere(text, words):
    diagnosis = _told(text)
    assert not diagnosis.findings
    assert words in diagnosis.unexplained[0].note


def test_a_cut_traceback_is_not_blamed_on_the_program():
    text = """\
Traceback (most recent call last):
  File "train.py", line 8, in train
    classes=classes)
ValueError: axes don't match array
"""
    assert _told(text).unexplained[0].note == ""


def test_a_package_beside_keras_is_named():
    text = """\
Traceback (most recent call last):
  File "search.py", line 8, in build
    units = hp.get("units")
  File "/v/lib/python3.11/site-packages/keras_tuner/engine/hyperparameters.py", line 61, in get
    raise ValueError(name)
ValueError: units
"""
    assert _told(text).unexplained[0].note == "raised by Keras Tuner, not by Keras itself"


def test_a_name_missing_from_an_older_python_import_is_read_from_the_line():
    text = """\
Traceback (most recent call last):
  File "agent.py", line 4, in <module>
    from keras.engine.training import collect_trainable_weights
ImportError: cannot import name collect_trainable_weights
"""
    [finding] = _told(text).findings
    assert (finding.id, finding.location.line) == ("FIT902", 4)


def test_keras_itself_gets_no_such_note():
    text = """\
Traceback (most recent call last):
  File "train.py", line 8, in <module>
    model.fit(x, y)
  File "/v/lib/python3.11/site-packages/keras/src/trainers/trainer.py", line 20, in fit
    raise ValueError("an odd thing")
ValueError: an odd thing
"""
    assert _told(text).unexplained[0].note == ""


def test_theano_counts_axes_in_words_of_its_own():
    text = (
        "TypeError: ('Bad input argument to theano function with name \"f\"  at index 0(0-based)', "
        "'Wrong number of dimensions: expected 4, got 3 with shape (16L, 20L, 20L).')"
    )
    [finding] = examine_failure(failures_in(text)[-1]).findings
    assert finding.id == "FIT102"
    assert "3 axes, (16, 20, 20)" in finding.message


def test_a_column_as_long_as_a_sample_is_one_sample_without_its_batch_axis():
    text = (
        "ValueError: Error when checking input: expected dense_1_input to have shape (None, 40) "
        "but got array with shape (40, 1)"
    )
    [finding] = examine_failure(failures_in(text)[-1]).findings
    assert finding.id == "FIT102"
    assert "add the batch axis" in finding.fixes[0].title


def test_none_in_an_optimizer_is_a_missing_gradient():
    text = (
        'Traceback (most recent call last):\n  File "run.py", line 9, in <module>\n    net.fit(x, y)\n'
        '  File "/v/site-packages/keras/optimizers.py", line 470, in get_updates\n'
        "    m_t = (self.beta_1 * m) + (1. - self.beta_1) * g\nValueError: None values not supported.\n"
    )
    assert examine_failure(failures_in(text)[-1]).findings[0].id == "FIT505"


def test_a_callback_without_a_learning_rate_to_set():
    text = 'ValueError: Optimizer must have a "lr" attribute.'
    assert examine_failure(failures_in(text)[-1]).findings[0].id == "FIT325"


_TOO_MANY = (
    "ValueError: Error when checking model input: the list of Numpy arrays that you are passing to your model is not the "
    "size the model expected. Expected to see {expected} array(s), but instead got the following list of {found} arrays: "
    "[array([[0., 1.]])]..."
)


@pytest.mark.parametrize(
    ("expected", "found", "cause"),
    [(1, 300, "FIT107"), (1, 2, "FIT109"), (2, 300, "FIT109")],
)
def test_many_arrays_for_one_input_are_samples(expected, found, cause):
    text = _TOO_MANY.format(expected=expected, found=found)
    assert examine_failure(failures_in(text)[-1]).findings[0].id == cause


def test_validation_data_with_one_of_two_inputs():
    text = (
        'Traceback (most recent call last):\n  File "run.py", line 9, in <module>\n'
        "    net.fit([left, right], y, validation_data=(both, y_val))\n"
        '  File "/v/site-packages/keras/engine/training.py", line 972, in fit\n    check(x)\n'
        + _TOO_MANY.format(expected=2, found=1)
    )
    finding = examine_failure(failures_in(text)[-1]).findings[0]
    assert finding.message == "the model has 2 inputs, but the validation data has 1"


_CONCAT = "ValueError: A `Concatenate` layer requires inputs with matching shapes except for the concat axis."


@pytest.mark.parametrize(
    ("shapes", "cause", "words"),
    [
        ("[(None, 44, 44, 8), (None, 45, 45, 8)]", "FIT305", "stays even"),
        ("[(None, 8, 8, 64), (None, 32, 32, 64)]", "FIT305", "4 times as long"),
        ("[(None, 90, 16), (None, 250, 16)]", "FIT305", "the same lengths with `Cropping`"),
        ("[(None, 0, 24, 8), (None, 0, 24, 4)]", "FIT306", "image_data_format"),
    ],
)
def test_the_lengths_that_cannot_be_joined_decide_the_remedy(shapes, cause, words):
    finding = examine_failure(failures_in(f"{_CONCAT} Got inputs shapes: {shapes}")[-1]).findings[0]
    assert finding.id == cause
    assert words in finding.fixes[0].title


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            "with shape[9000,300] [[Node: training_2/Adam/mul_7 = Mul[T=DT_FLOAT](a, b)]]",
            "cannot allocate a weight",
        ),
        (
            "with shape[70000,70000] and type float\n\t [[{{node sub_3}} = Sub[T=DT_FLOAT](a, b)]]",
            "elementwise operation",
        ),
        (
            "with shape[64,28,28,32] and type float\n\t [[{{node conv2d/Relu}}]]",
            "cannot allocate an activation",
        ),
    ],
)
def test_the_node_tells_whose_memory_is_lacking(message, words):
    text = f"ResourceExhaustedError: OOM when allocating tensor {message}"
    finding = examine_failure(failures_in(text)[-1]).findings[0]
    assert finding.id == "FIT806"
    assert words in finding.message
