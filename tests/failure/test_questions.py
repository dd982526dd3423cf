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
_CUT_WHILE_LOADING = """\
Traceback (most recent call last):
  File "show.py", line 21, in <module>
    model = load_model('model.h5')
  File "/v/lib/python3.5/dist-packages/keras/models.py", line 233, in load_model
    model = model_from_config(model_config, custom_objects=custom_objects)
"""
_IN_FIT = """\
{kind}                              Traceback (most recent call last)
<ipython-input-12-c11f14a6a159> in <module>
----> 8 {line}

~/envs/gpu/lib/python3.7/site-packages/tensorflow_core/python/keras/engine/training.py in {function}(self, *args)
--> 819         use_multiprocessing=use_multiprocessing)
"""
_TOLD_IN_BOLD = "# Help with my card\n\n*cuDNN failed to initialize*\n\n" + _IN_FIT.format(
    kind="UnknownError", line="net.fit(x, y)", function="fit"
)
_IN_RECURRENT_LAYER = (
    "# NotImplementedError: Cannot convert a symbolic Tensor (strided_slice:0) to a numpy array.\n\n"
    + _IN_FIT.format(kind="NotImplementedError", line="net.add(LSTM(96, input_shape=(9, 1)))", function="add")
)
_OF_OLD_CALLBACK = """\
~/course/bars.py in on_epoch_end(self, epoch, logs)
---> 29         for name in self.params['metrics']:

KeyError: 'metrics'
"""
_LOGGED_AND_TOLD = """\
With one GPU it results in an error:

> 2019-11-13 18:49:46.495134: W tensorflow/core/executor.cc:216] Invalid argument: var and grad do not have the same \
shape[2,1536] [512,1536]
> 2019-11-13 18:49:46.495135: I tensorflow/core/device.cc:21] Found device 0
> 2019-11-13 18:49:46.495136: I tensorflow/core/device.cc:21] Found device 1
"""
_NODE_ALONE = """\
It stops after one batch:
Detected at node 'loss/softmax' defined at (most recent call last):
    File "/me/train.py", line 3, in <module>
      net.fit(x, y)
Node: 'loss/softmax'
logits and labels must be broadcastable: logits_size=[32,4] labels_size=[32,2]
\t [[{{node loss/softmax}}]] [Op:__inference_train_function_4711]
"""
_CODE_BELOW = """\
I get
```
ValueError: Failed to find data adapter that can handle input: <class 'batches.Batches'>, <class 'NoneType'>
```
with this class:
```
class Batches(Sequence):
    def __init__(self, files):
        super(Batches, self).__init__()
```
"""
_GIVEN_ONE_IMAGE = _IN_FIT.format(kind="ValueError", line="net.predict(image)", function="predict") + (
    "\nValueError: Input 0 of layer sequential_8 is incompatible with the layer: : expected min_ndim=4, found ndim=3. "
    "Full shape received: (32, 224, 3)"
)
_FILTERED_WHILE_LOADING = """\
Traceback (most recent call last):
  File "show.py", line 21, in <module>
    model = load_model('model.h5')
  File "/v/site-packages/keras/utils/traceback_utils.py", line 67, in error_handler
    raise e.with_traceback(filtered_tb) from None
  File "/v/site-packages/keras/backend.py", line 1470, in int_shape
    shape = x.shape
AttributeError: 'float' object has no attribute 'shape'
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
        (_CUT_WHILE_LOADING, "FIT908"),
        (_TOLD_IN_BOLD, "FIT906"),
        (_IN_RECURRENT_LAYER, "FIT901"),
        (_OF_OLD_CALLBACK, "FIT901"),
        (_LOGGED_AND_TOLD, "FIT320"),
        (_NODE_ALONE, "FIT205"),
        (_CODE_BELOW, "FIT710"),
        (_GIVEN_ONE_IMAGE, "FIT102"),
        (_FILTERED_WHILE_LOADING, "FIT908"),
        ("Exception: Error when checking model input: the list of Numpy arrays that you are passing to your model is not "
         "the size the model expected. Expected to see 1 arrays but instead got the following list of 90 arrays: [a, …",
         "FIT107"),
        ("# expected d_1 to have shape (6,) but got array with shape (9,) Error\n\nI get it\nin\nfit.\nWhy?", "FIT205"),
        ("# Hi\n\nIt says\n```\ntf.placeholder() is not compatible with eager execution\n```\nin\n1.7", "FIT406"),
        ("# Help\n\n`fit_generator` is not supported for models compiled with tf.distribute.Strategy.\n\nAnd\n?", "FIT607"),
        ("I run it\n{InvalidArgumentError}Key: a.  Data types don't match. Expected type: int64\nand\nso\non", "FIT716"),
        ("# Shapes\n\nI get an error Incompatible shapes: [1,50] vs. [1,504] [[{{node a/sub}}]].\nWhy\nis\nit?", "FIT320"),
        ("# Incompatible shapes: [4] vs. [3]\n\n" + _IN_FIT.format(kind="InvalidArgumentError", line="f()", function="f")
         + "\nInvalidArgumentError: Incompatible shap", "FIT320"),
        ("Exception: Error when checking model target: expected c_7 to have 4 dimensions, but got array with shape (3L, 1L)",
         "FIT304"),
        ("TypeError: __init__() got an unexpected keyword argument 'input_shape'", "FIT302"),
        ("ValueError: Unknown loss function:focal_fixed when I load it", "FIT908"),
        ("ValueError: Unknown loss function: accuracy", "FIT302"),
        ("When I load the files,\nit raised error as 'Unknown metric function:f1'. (f1 was\nrun)\n\nThanks", "FIT908"),
        ("# alueError: Input 0 is incompatible with layer c_1: expected ndim=5, found ndim=1\n\nhi\nI\nget\nit", "FIT304"),
        ("It gives 'AttributeError: 'Tensor' object has no attribute 'assign'", "FIT407"),
        ("ValueError: Output tensors to a Model must be the output of a Keras `Layer` (thus holding past layer metadata). "
         "Found: <keras.layers.core.Dense object at 0x7f54>", "FIT309"),
    ],
)  # fmt: skip
def test_the_cause_is_found_in_a_question(text, cause):
    findings = examine_failure(failures_told_in(text)[-1]).findings
    assert findings[0].id == cause


@pytest.mark.parametrize(
    "text",
    [
        "def f(**kwargs): return g(**kwargs)\nx = 2**3**2\nTypeError: unsupported operand type(s) for **: 'str' and 'int'\n",
        "# Custom loops\n\nYou must compile your model before training it with fit.\nLoops need none.\nSee\nthe\nguide.\n",
        "2020-11-17 16:16:05.62: I tensorflow/loader.cc:48] Successfully opened dynamic library libcudnn.so.7\nEpoch 1/2\n"
        "10/10 [====] - 1s - loss: 0.3\nEpoch 2/2\n10/10 [====] - 1s - loss: 0.2\n",
        'We call it "the best model of the whole year so far" and train it for 3 epochs.\nAll is fine.\n',
    ],
)
def test_what_only_looks_like_a_message_or_bold_text_is_left_alone(text):
    assert not any(examine_failure(each).findings for each in failures_told_in(text))


def test_a_title_that_is_no_message_is_not_taken_for_one():
    text = "# Nothing works at all on my machine\n\n" + _IN_FIT.format(
        kind="ValueError", line="net.fit(x, y)", function="fit"
    )
    [unexplained] = examine_failure(failures_told_in(text)[-1]).unexplained
    assert unexplained.message == ""
    assert unexplained.note.startswith("the text ends before the message")
    assert unexplained.location.line == 8


def test_the_frames_of_spyder_are_read_without_a_header():
    text = (
        "  File D:\\me\\parts.py:266 in call\n    x = self.parts(x)\n\n"
        "  File D:\\me\\parts.py:89 in parts\n    x = x + y\n\nRuntimeError: no\n"
    )
    [failure] = failures_told_in(text)
    assert [frame.line for frame in failure.user_frames] == [266, 89]


def test_the_line_is_read_from_links_and_from_frames_of_autograph_without_a_head():
    linked = (
        "AttributeError                            Traceback (most recent call last)\n"
        "Cell In[74], [line 1](vscode-notebook-cell:?execution_count=74&line=1)\n"
        "----> [1](vscode-notebook-cell:?execution_count=74&line=1) net.fit(x, y)\n\n"
        "File c:\\Lib\\site-packages\\keras\\src\\trainer.py:354, in Trainer.fit(self)\n"
        "--> [354](file:///C:/Lib/site-packages/keras/src/trainer.py:354) for name, val in val_logs.items()\n\n"
        "AttributeError: 'NoneType' object has no attribute 'items'\n"
    )
    [failure] = failures_told_in(linked)
    assert [(frame.cell, frame.line) for frame in failure.user_frames] == [(74, 1)]
    headless = (
        "While training:\n\n    /v/site-packages/keras/engine/training.py:571 train_function  *\n        self.run(\n"
        "    /me/net.py:192 call  *\n        both = concatenate([up, skip])\n\n    ValueError: no\n"
    )
    [failure] = failures_told_in(headless)
    assert [frame.line for frame in failure.user_frames] == [192]


@pytest.mark.parametrize(
    "text",
    [
        "ValueError                                Traceback (most recent call last)\nCell In[20], line 1\n"
        "----> 1 net.fit(x, y)\n...\n     96     dtype = 1\n---> 98 return EagerTensor(value)\n\nValueError: no\n",
        "Traceback (most recent call last):\n\n  Cell In[20], line 1\n    net.fit(x, y)\n\n"
        "  File C:\\v\\site-packages\\keras\\a.py:4 in f\n    z = g()\n\nValueError: no\n",
        "<pre>Traceback (most recent call last):\n  File &quot;a.py&quot;, line 1, in &lt;module&gt;\n"
        "    net.fit(x, y)\nValueError: no\n</pre>",
    ],
)
def test_the_line_is_read_from_cut_frames_cells_and_the_source_of_a_page(text):
    [failure] = failures_told_in(text)
    assert [(frame.line, frame.text) for frame in failure.user_frames] == [(1, "net.fit(x, y)")]


def test_a_line_that_asks_an_exhausted_iterator_is_told_so():
    text = 'Traceback (most recent call last):\n  File "a.py", line 4, in step\n    batch = next(rows)\nStopIteration\n'
    [unexplained] = examine_failure(failures_told_in(text)[-1]).unexplained
    assert unexplained.note == "the iterator that this line reads has no more elements"


def test_a_name_that_keras_2_lost_is_not_blamed_on_keras_3():
    text = (
        'Traceback (most recent call last):\n  File "train.py", line 8, in <module>\n    net.fit(x, y, callbacks=[c])\n'
        '  File "/v/site-packages/tensorflow/python/keras/engine/training.py", line 1080, in fit\n    callbacks.begin()\n'
        '  File "train.py", line 4, in on_train_begin\n    grads = get(self.model.total_loss)\n'
        "AttributeError: 'Functional' object has no attribute 'total_loss'\n"
    )
    assert [each.id for each in examine_failure(failures_told_in(text)[-1]).findings] == ["FIT901"]


def test_frames_without_header_and_exception_are_a_traceback_that_was_cut():
    text = _CUT_WHILE_LOADING.partition("\n")[2]
    assert examine_failure(failures_told_in(f"It stops here:\n\n{text}")[-1]).findings[0].id == "FIT908"


_FROM_THE_LOSS = """# InvalidArgumentError (see above for traceback): Incompatible shapes: [4096] vs. [1024]

My masks are smaller now. What is wrong?

```
Caused by op 'mul', defined at:
  File "masks.py", line 31, in <module>
    net.compile('adam', loss=overlap)
  File "/v/lib/python3.6/site-packages/keras/engine/training.py", line 430, in weighted
    score_array = fn(y_true, y_pred)
  File "masks.py", line 12, in overlap
    both = K.sum(truth * guess)
  File "/v/lib/python3.6/site-packages/tensorflow/python/ops/math_ops.py", line 794, in binary_op_wrapper
    return func(x, y, name=name)
```
"""


def test_an_operation_created_in_a_loss_compares_labels_and_outputs():
    [finding] = examine_failure(failures_told_in(_FROM_THE_LOSS)[0]).findings
    assert (finding.id, finding.location.path, finding.location.line) == ("FIT205", "masks.py", 12)
    assert "`overlap` compares labels and outputs of different shapes: (4096,) and (1024,)" in finding.message


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("> Input 0 of layer conv2d_3 is incompatible with the layer: expected ndim=4, found ndim=5.", "FIT304"),
        ("Convolution expects input with rank 4, got 5", "FIT304"),
    ],
)  # fmt: skip
def test_a_message_of_keras_needs_no_type(said, cause):
    text = f"Hello, when I train I get\n\n{said}\n\nHow do I solve it?"
    [failure] = failures_told_in(text)
    assert examine_failure(failure).findings[0].id == cause


def test_the_question_below_a_message_is_not_part_of_it():
    [failure] = failures_told_in(
        "ValueError: something is odd with 3\n\nI use Keras 2.1, how do I solve it?\n"
    )
    assert failure.message == "something is odd with 3"


_LOGGED_WITH_NODE = """It fails on the TPU:
1 root error(s) found.
  (0) INTERNAL: {{function_node __inference_train_function_7}} failed to connect to all addresses
Additional information:
\t [[{{node MultiDeviceIteratorGetNextFromShard}}]]
"""


def test_a_worker_that_cannot_read_a_generator_is_not_a_matter_of_the_cluster():
    [failure] = failures_told_in(_LOGGED_WITH_NODE)
    assert examine_failure(failure).findings[0].id == "FIT607"


def test_a_computed_key_of_the_history_is_missing_there():
    text = (
        "KeyError                                  Traceback (most recent call last)\n"
        "<ipython-input-4-aa> in draw(name)\n      1 def draw(name):\n"
        "----> 2     plt.plot(run.history['val_' + name])\n      3 \n\nKeyError: 'val_loss'\n"
    )
    [finding] = examine_failure(failures_told_in(text)[0]).findings
    assert finding.id == "FIT322"
    assert "the history has no `val_loss`" in finding.message


def test_windows_paths_in_converted_code_are_frames():
    text = (
        "ValueError                                Traceback (most recent call last)\n"
        "<ipython-input-5-bb> in <module>\n----> 1 net.train_on_batch(x, y)\n\n"
        "ValueError: in converted code:\n\n"
        "    C:\\v\\lib\\site-packages\\tensorflow_core\\python\\keras\\engine\\training_eager.py:273 _process_one\n"
        "        model.optimizer.apply_gradients(zip(grads, trainable_weights))\n"
        "    C:\\v\\lib\\site-packages\\tensorflow_core\\python\\keras\\optimizer_v2\\optimizer_v2.py:1039 _filter_grads\n"
        "        ([v.name for _, v in grads_and_vars],))\n\n"
        "    ValueError: No gradients provided for any variable: ['dense/kernel:0'].\n"
    )
    [finding] = examine_failure(failures_told_in(text)[0]).findings
    assert finding.id == "FIT505"


_ONLY_LOGGED = (
    "reading the records:\n021-04-06 15:14:51.7: W tensorflow/core/framework/op_kernel.cc:1651] OP_REQUIRES failed at "
    "example_parsing_ops.cc:240 : Invalid argument: Key: clip/rate.  Can't parse serialized Example.\n"
)


def test_the_log_tells_what_failed_where_the_traceback_is_missing_or_cut():
    cut = (
        "Traceback (most recent call last):\n"
        '  File "train.py", line 30, in <module>\n    net.fit(clips)\n'
        '  File "/v/lib/python3.7/site-packages/tensorflow_core/python/keras/backend.py", line 3476, in __call__\n'
        "    run_metadata=self.run_metadata)\n"
        "tensorflow.python.framework.errors_impl.InvalidArgumentError: 2 root error(s) found.\n"
        "  (0) Invalid argument: {{function_nod"
    )
    for text in (_ONLY_LOGGED, _ONLY_LOGGED + cut):
        [finding] = examine_failure(failures_told_in(text)[-1]).findings
        assert finding.id == "FIT716"
    assert finding.location.line == 30


def test_frames_below_a_title_show_what_was_called():
    text = (
        "# TypeError: __init__() missing 1 required positional argument: 'width'\n\nWhen I load it:\n"
        '  File "test.py", line 41, in read\n    net = load_model("net.h5", custom)\n'
        '  File "/v/lib/python3.6/site-packages/keras/engine/saving.py", line 458, in model_from_config\n'
        "    return deserialize(config, custom_objects=custom_objects)\n"
        '  File "/v/lib/python3.6/site-packages/keras/engine/network.py", line 1022, in from_config\n'
        "    process_layer(layer_data)\n"
    )
    [finding] = examine_failure(failures_told_in(text)[0]).findings
    assert (finding.id, finding.location.line) == ("FIT908", 41)


def test_a_registered_name_keeps_its_package():
    [finding] = examine_failure(
        failures_told_in("ValueError: Unknown layer: blocks>Gain. Please ensure it")[0]
    ).findings
    assert finding.fixes[0].title == 'pass it to Keras: `custom_objects={"blocks>Gain": Gain}`'


def test_an_operation_that_rejects_float16_is_not_said_to_want_it():
    text = "TypeError: Value passed to parameter 'scale' has DataType float16 not in list of allowed values: float32"
    [finding] = examine_failure(failures_told_in(text)[0]).findings
    assert "has dtype float16, but the operation expects float32" in finding.message


def test_rows_that_differ_in_a_program_without_keras_are_not_time_steps():
    text = (
        "InvalidArgumentError (see above for traceback): logits and labels must have the same first dimension, "
        "got logits shape [6,3] and labels shape [2]\n"
        "\t [[node SparseSoftmaxCrossEntropyWithLogits/SparseSoftmaxCrossEntropyWithLogits (defined at train.py:14) ]]\n"
    )
    assert examine_failure(failures_told_in(text)[0]).findings[0].id == "FIT205"


def test_merge_of_keras_1_is_no_module_of_the_program():
    text = (
        "TypeError                                 Traceback (most recent call last)\n"
        "<ipython-input-4-cc> in <module>()\n----> 8 both = merge([left, right], mode='cos', dot_axes=0)\n\n"
        "TypeError: 'module' object is not callable\n"
    )
    assert examine_failure(failures_told_in(text)[0]).findings[0].id == "FIT901"
    own = text.replace("merge([left, right], mode='cos', dot_axes=0)", "tools(left)")
    assert examine_failure(failures_told_in(own)[0]).findings == ()


def test_a_part_that_the_program_leaves_out_is_not_a_cut_text():
    text = (
        "NotImplementedError                       Traceback (most recent call last)\n"
        "<ipython-input-9-dd> in make(sizes)\n----> 3     raise NotImplementedError()\n\nNotImplementedError: \n"
    )
    [left] = examine_failure(failures_told_in(text)[0]).unexplained
    assert left.note == "raised by the program itself, not by Keras or TensorFlow"


def _cell(error, line, *library):
    """Return the output of a failed cell: the user's line, then (path, function) of libraries."""
    text = f"{error.partition(':')[0]:<42}Traceback (most recent call last)\n"
    text += f"<ipython-input-3-ee> in <module>()\n----> 5 {line}\n\n"
    text += "".join(f"{path} in {function}(x)\n---> 90     go(x)\n\n" for path, function in library)
    return text + error


def test_an_argument_that_a_loaded_file_names_is_not_one_of_the_program():
    said = "TypeError: __init__() got an unexpected keyword argument 'dtype'"
    text = _cell(
        said, "net = load_model('m.h5')", ("/v/tensorflow_core/python/keras/losses.py", "from_config")
    )
    assert examine_failure(failures_told_in(text)[0]).findings[0].id == "FIT908"


def test_only_a_class_of_keras_has_a_misspelt_argument():
    text = _cell(
        "TypeError: prepare() got an unexpected keyword argument 'output_step'", "prepare(output_step=3)"
    )
    assert examine_failure(failures_told_in(text)[0]).findings == ()


def test_a_function_of_keras_that_the_program_calls_is_older_than_its_argument():
    text = _cell(
        "TypeError: sparse_categorical_crossentropy() got an unexpected keyword argument 'from_logits'",
        "tf.keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)",
    )
    assert examine_failure(failures_told_in(text)[0]).findings[0].id == "FIT302"


def test_the_losses_of_tensorflow_1_name_the_output_first():
    text = _cell(
        "ValueError: Shapes (32, 90) and (32, 5) are incompatible",
        "slim.losses.softmax_cross_entropy(logits, labels)",
        ("/v/tensorflow/contrib/losses/python/losses/loss_ops.py", "softmax_cross_entropy"),
        ("/v/tensorflow/python/framework/tensor_shape.py", "assert_is_compatible_with"),
    )
    assert (
        examine_failure(failures_told_in(text)[0]).findings[0].message
        == "the labels have 5 columns, but the output has 90 units"
    )


_BROKEN_LINES = r"""# ValueError: None values not supported.

`File "D:/me/train.py", line 12, in <module> net.train(x, y)
 File "D:\me\network.py", line 20, in train self.model.fit(x, y)
 File "C:\lib\site-packages\keras\engine\training.py", line 1213, in fit self.train() File "C:\lib\site-packages\keras\optimizers.py", line 543, in get_updates p_t = p - lr_t * m_t
 File "C:\lib\site-packages\tensorflow\python\ops\math_op
"""  # noqa: E501
_ENDLESS_HEAD = """AttributeError: 'NoneType' object has no attribute 'items'

---------------------------------------------------------------------------
AttributeError                            Traceback (most recent call last)
Cell In[7], line 1
----> 1 history = model.fit(train, epochs=2, validation_data=valid)

File c:\\Python312\\Lib\\site-packages\\keras\\src\\utils\\traceback_utils.py:122, in filter_traceback.<locals>.err
"""
_SET_OF_CALLBACKS = """# AttributeError: 'set' object has no attribute 'set_model'

---------------------------------------------------------------------------
AttributeError                            Traceback (most recent call last)
/tmp/ipykernel_1/2.py in <module>
      1 model.fit(x, y,
----> 2                     validation_data=(a, b
"""
_IN_VS_CODE = """---------------------------------------------------------------------------
AttributeError                            Traceback (most recent call last)
/me/notes.ipynb Cell 3' in <cell line: 4>()
      <a href='vscode-notebook-cell:/me/notes.ipynb#ch0000002?line=2'>3</a> model = build()
----> <a href='vscode-notebook-cell:/me/notes.ipynb#ch0000002?line=3'>4</a> model.predict_classes(x)

AttributeError: 'Sequential' object has no attribute 'predict_classes'
"""
_LOGS_OF_CALLBACK = """Traceback (most recent call last):
  File "train.py", line 9, in <module>
    model.fit(x, y, callbacks=[Sender()])
  File "/v/lib/python3.7/site-packages/keras/callbacks/callbacks.py", line 219, in on_train_begin
    callback.on_train_begin(logs)
  File "/me/sender.py", line 4, in on_train_begin
    logs["rate"] = 1
TypeError: 'NoneType' object does not support item assignment
"""


@pytest.mark.parametrize(
    ("text", "cause", "words", "line"),
    [
        (_BROKEN_LINES, "FIT505", "the gradient of a weight is `None`", 20),
        (_ENDLESS_HEAD, "FIT705", "yields no batches", 1),
        (_SET_OF_CALLBACKS, "FIT327", "an object of type `set`", 2),
        (_IN_VS_CODE, "FIT902", "no `predict_classes`", 4),
        (_LOGS_OF_CALLBACK, "FIT329", "Keras passes no `logs`", 4),
        ("# ValueError: Input 0 of layer conv2d is incompatible with the layer: : expected min_ndim=4, found ndim=3. "
         "Full shape received: 【416, 416, 3】", "FIT102", "(416, 416, 3)", None),
        ("ValueError: Input 0 of layer batch_normalization is incompatible with the layer: expected ndim=4, found ndim=5. "
         "Full shape received: (None, None, None, None, 32)", "FIT304", "expects 4 axes", None),
        ("# expected lstm_1_input to have 3 dimensions，but got array with shape (32, 4, 1, 9)", "FIT102", "4 axes", None),
        ("# StopIteration()\n\nTraceback (most recent call last):\n  File \"a.py\", line 7, in f\n    model.fit(g)\n  "
         'File "/v/site-packages/keras/legacy/interfaces.py", line 91, in wrapper\n    return func(', "FIT703", "ended", 7),
        ("InvalidArgumentError: logits and labels must be same size: logits_size=[9,2] labels_size=[10,2]",
         "FIT320", "the labels have 10 and the outputs 9", None),
        ("ValueError: Shapes (None, 7) and (None, 1, 7) are incompatible", "FIT205", "(n, 1, 7)", None),
        ("ValueError: Error when checking target: expected dense_1 to have 2 dimensions, but got array with shape "
         "(100, 10, 2, 2)", "FIT205", "(n, 10, 2, 2), but the output has 2 axes", None),
        ("AttributeError: 'Sequential' object has no attribute 'train'", "FIT302", "did you mean `fit`?", None),
        ("AttributeError: 'Functional' object has no attribute 'complie'", "FIT302", "did you mean `compile`?", None),
        ("AttributeError: 'Sequential' object has no attribute 'epoch'", "FIT302", "belongs to the `History`", None),
        ("Traceback (most recent call last):\n  File \"a.py\", line 94, in f\n    a = h.history['loss']\nKeyError: 'loss'",
         "FIT322", "the history is empty", 94),
    ],
)  # fmt: skip
def test_what_a_question_leaves_of_a_failure_shows_its_cause(text, cause, words, line):
    (failure,) = failures_told_in(text)
    found = examine_failure(failure).findings[0]
    assert (found.id, found.location and found.location.line) == (cause, line)
    assert words in found.message


_GENERATOR_FAILED = """Hello, please help:

    x = load(paths)
  File "/me/train.py", line 71, in load
    image = images[at + step]
IndexError: list index out of range

Traceback (most recent call last):
  File "/me/train.py", line 180, in <module>
    model.fit_generator(batches(), steps_per_epoch=9)
  File "/v/lib/python3.5/dist-packages/keras/engine/training.py", line 2011, in fit_generator
    generator_output = next(output_generator)
StopIteration
"""
_STATUS_IN_TITLE = """# UNIMPLEMENTED: Cast string to float is not supported

---------------------------------------------------------------------------
UnimplementedError                        Traceback (most recent call last)
<ipython-input-13-5ff> in <cell line: 6>()
      5 train_dataset = create_dataset(files, batch_size)
----> 6 model.fit(train_dataset, epochs=2)

UnimplementedError: Graph execution error:

Detected at node Cast defined at (most recent call last):
  File "/usr/lib/python3.10/runpy.
"""


def test_the_exception_of_a_generator_is_read_above_the_one_of_keras():
    (failure,) = failures_told_in(_GENERATOR_FAILED)
    assert (failure.type, failure.last_user_frame.line) == ("IndexError", 71)


def test_the_status_in_the_title_completes_a_message_that_was_cut():
    (failure,) = failures_told_in(_STATUS_IN_TITLE)
    finding = examine_failure(failure).findings[0]
    assert (finding.id, finding.location.line) == ("FIT106", 6)


def test_a_comment_in_code_is_not_the_exception_of_the_question():
    text = '# py_func causes "ValueError: None values not supported."\n\n    x = f(x)\n    # (or "TypeError: it is bad")\n'
    (failure,) = failures_told_in(text)
    assert failure.type == "ValueError"


def test_python_code_of_a_pipeline_that_fails_in_opencv_is_not_training():
    (failure,) = failures_told_in(
        "UnknownError: error: OpenCV(4.11.0) /io/resize.cpp:4208: error: (-215:Assertion failed) !ssize.empty()"
    )
    diagnosis = examine_failure(failure)
    assert not diagnosis.findings
    assert "OpenCV, in the Python function that the pipeline calls" in diagnosis.unexplained[0].note


_EMPTY_FOLDER = """Found 0 images belonging to 1 classes.
Epoch 1/1
---------------------------------------------------------------------------
ValueError                                Traceback (most recent call last)
<ipython-input-5-b2d> in <module>()
     11                     steps_per_epoch=50,
---> 12                     validation_steps=5)

/usr/local/lib/python3.6/dist-packages/numpy/core/fromnumeric.py in _wrapreduction(obj, ufunc, method, axis)
---> 90     return ufunc.reduce(obj, axis, dtype, out, **passkwargs)

ValueError: zero-size array to reduction operation maximum which has no identity
"""
_BATCH_SIZE_ZERO = """Traceback (most recent call last):
  File "/v/lib/python3.7/site-packages/tensorflow/python/keras/utils/data_utils.py", line 742, in _run
    sequence = list(range(len(self.sequence)))
  File "/v/lib/python3.7/site-packages/keras_preprocessing/image/iterator.py", line 68, in __len__
    return (self.n + self.batch_size - 1) // self.batch_size  # round up
ZeroDivisionError: integer division or modulo by zero
"""
_OLDER_TENSORFLOW = """Traceback (most recent call last):
  File "train.py", line 3, in <module>
    model = build()
  File "/v/lib/python3.4/dist-packages/keras/backend/tensorflow_backend.py", line 871, in batch_dot
    out = tf.batch_matmul(x, y, adj_a=adj_x, adj_b=adj_y)
TypeError: _batch_mat_mul() got an unexpected keyword argument 'adj_a'
"""


@pytest.mark.parametrize(
    ("text", "cause", "words"),
    [
        (_EMPTY_FOLDER, "FIT705", "the data yields no batches"),
        (_BATCH_SIZE_ZERO, "FIT327", "`batch_size` is 0"),
        (_OLDER_TENSORFLOW, "FIT901", "the versions do not match"),
        ("2018-08-20 17:34:55.9: W tensorflow/core/util/ctc/ctc_loss_calculator.cc:144] No valid path found.\n",
         "FIT320", "does not fit into the time steps"),
        ("WARNING:tensorflow:Early stopping conditioned on metric `val_auc` which is not available. Available metrics are:",
         "FIT322", "it had no batches"),
    ],
)  # fmt: skip
def test_what_a_log_shows_besides_the_exception_counts(text, cause, words):
    (failure,) = failures_told_in(text)
    found = examine_failure(failure).findings[0]
    assert found.id == cause
    assert words in found.message


def test_an_empty_folder_does_not_explain_another_failure():
    text = _EMPTY_FOLDER.replace(
        "zero-size array to reduction operation maximum which has no identity", "bad mode 'x'"
    )
    (failure,) = failures_told_in(text)
    assert failure.message == "bad mode 'x'"


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("运行代码时，提示TypeError: 'int' object is not iterable，程序退出", "TypeError", "'int' object is not iterable"),
        ("Process finished with exit code -1073741819 (0xC0000005)\n", "SIGSEGV", "Process finished with exit code"),
        ("# AttributeError: 'Loader' object has no attribute 'x'\n\nGetting AttributeError: in user code:\n\nWhy?\n",
         "AttributeError", "'Loader' object has no attribute 'x'"),
        ("# `ValueError: The model cannot be compiled because it has no loss to optimize.`\n", "ValueError", "No loss"),
    ],
)  # fmt: skip
def test_an_exception_is_found_between_other_words(text, kind, message):
    (failure,) = failures_told_in(text)
    assert failure.type == kind
    assert failure.message.startswith(message)


def test_one_picture_of_another_size_lacks_its_batch_axis():
    (failure,) = failures_told_in(
        'Traceback (most recent call last):\n  File "a.py", line 4, in <module>\n    model.predict(picture)\n'
        '  File "/v/site-packages/keras/engine/training.py", line 1801, in predict_function  *\n    return step(self)\n'
        'ValueError: Input 0 of layer "model" is incompatible with the layer: expected shape=(None, 224, 224, 3), found '
        "shape=(None, 800, 3)\n"
    )
    found = examine_failure(failure).findings[0]
    assert (found.id, found.fixes[0].title) == ("FIT102", "add the missing axis: `x[None]`")


_CUT_IN_FRAMES = r"""# AttributeError: 'tuple' object has no attribute 'shape' when I run it

File ~\lib\site-packages\keras\utils\traceback_utils.py:67, in filter_traceback.<locals>.error_handler(*args, **kwargs)
     66   filtered_tb = _process_traceback_frames(e.__traceback__)
---> 67   raise e.with_traceback(filtered_tb) from None

AttributeError: in user code:

    File "C:\lib\site-packages\keras\engine\training.py", line 1051, in train_function  *
        return step_function(self, iterator)
    File "C:\lib\site-pack
"""
_CUT_ABOVE_ARROW = """# AttributeError: 'tuple' object has no attribute 'shape'

Epoch 1/5
---------------------------------------------------------------------------
AttributeError                            Traceback (most recent call last)
<ipython-input-10-1ae> in <module>()
      7                   e
"""


@pytest.mark.parametrize("text", [_CUT_IN_FRAMES, _CUT_ABOVE_ARROW])
def test_the_title_completes_a_traceback_that_was_cut_among_its_frames(text):
    (failure,) = failures_told_in(text)
    found = examine_failure(failure).findings[0]
    assert found.id == "FIT109"
    assert found.location is None or found.location.exact == "cell In[10]"
