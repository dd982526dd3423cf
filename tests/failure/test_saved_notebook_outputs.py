"""What real notebooks saved as the output of a failed cell is explained, or said to belong elsewhere."""

import json

import pytest

from fitdoctor.diagnose import examine_failure, failures_told_in

_KERAS = "/usr/local/lib/python3.10/dist-packages/keras/src/utils/traceback_utils.py"


def _told(text):
    return examine_failure(failures_told_in(text)[-1])


def _output(error, line, *library):
    """Build the text of a failed cell: the user's line, then (path, function, line) of the libraries."""
    kind = error.partition(":")[0]
    text = f"{'-' * 75}\n{kind:<42}Traceback (most recent call last)\n"
    text += f"<ipython-input-7-0123456789ab> in <module>\n      1 rows = 3\n----> 2 {line}\n      3 \n\n"
    for path, function, inside in library:
        text += (
            f"{path} in {function}(*args)\n     69     # inside\n---> 70     {inside}\n     71     pass\n\n"
        )
    return text + error


def test_a_class_instead_of_an_optimizer_is_not_an_object_of_another_keras():
    text = _output(
        "ValueError: Could not interpret optimizer identifier: <class 'keras.src.optimizers.adam.Adam'>",
        "model.compile(optimizer=Adam, loss='mse')",
        (_KERAS, "error_handler", "raise e.with_traceback(filtered_tb) from None"),
    )
    [finding] = _told(text).findings
    assert (finding.id, finding.location.line) == ("FIT314", 2)
    assert finding.fixes[0].title == "create the optimizer: `Adam()`"


def test_an_image_generator_instead_of_its_flow_is_not_data():
    text = _output(
        "AttributeError: 'ImageDataGenerator' object has no attribute 'shape'",
        "model.fit(batches, validation_data=augmented)",
        (
            "/v/lib/python3.6/site-packages/tensorflow_core/python/keras/engine/training.py",
            "fit",
            "size(data)",
        ),
    )
    assert _told(text).findings[0].id == "FIT710"


def test_a_cause_without_lines_of_its_own_gets_the_line_of_the_exception_around_it():
    text = "TypeError                                 Traceback (most recent call last)\n"
    text += "TypeError: float() argument must be a string or a number, not 'Tensor'\n\n"
    text += "The above exception was the direct cause of the following exception:\n\n"
    text += _output(
        "ValueError: setting an array element with a sequence.",
        "plt.plot(costs)",
        ("/v/lib/python3.7/site-packages/matplotlib/pyplot.py", "plot", "return gca().plot(*args)"),
    )
    assert _told(text).findings[0].location.line == 2


_KERAS_1 = "/v/lib/python2.7/site-packages/keras/engine/training.py"
_KERAS_2 = "/v/lib/python3.6/site-packages/keras/engine/network.py"


@pytest.mark.parametrize(
    ("error", "line", "library", "cause"),
    [
        (
            "ValueError: Error when checking : expected conv2d_1_input to have shape (27, 27, 1) "
            "but got array with shape (21, 21, 1)",
            "model.predict(images)",
            (_KERAS_1, "predict", "check(x)"),
            "FIT101",
        ),
        (
            "Exception: Error when checking : data should be a Numpy array, or list/dict of Numpy arrays. Found: an...",
            "model.predict('an')",
            (_KERAS_1, "predict", "check(x)"),
            "FIT107",
        ),
        (
            "InvalidArgumentError:  Can not squeeze dim[1], expected a dimension of 1, got 6\n"
            "\t [[node metrics/accuracy/Squeeze (defined at ops.py:1751) ]] [Op:__inference_distributed_function_2917]",
            "model.fit(batches)",
            (_KERAS_1, "fit", "run(batch)"),
            "FIT202",
        ),
        (
            "RuntimeError: GradientTape.gradient can only be called once on non-persistent tapes.",
            "print(tape.gradient(c, [b]))",
            ("/v/lib/python3.6/site-packages/tensorflow/python/eager/backprop.py", "gradient", "raise RuntimeError("),
            "FIT507",
        ),
        (
            "AttributeError: 'tensorflow.python.framework.ops.EagerTensor' object has no attribute 'flatten'",
            "print(predictions.flatten())",
            ("/v/lib/python3.9/site-packages/tensorflow/python/framework/ops.py", "__getattr__", "raise"),
            "FIT407",
        ),
        (
            "AttributeError: 'str' object has no attribute '_keras_mask'",
            "model = load_model('best.h5')",
            (_KERAS_2, "_run_internal_graph", "input_t._keras_mask = mask"),
            "FIT309",
        ),
        (
            "KeyError: 'input_3_ib-0'",
            "model.get_config()",
            (_KERAS_2, "get_config", "new_node_index = node_conversion_map[node_key]"),
            "FIT908",
        ),
        (
            "OSError: Unable to open file (file signature not found)",
            "model = load_model(path)",
            ("/v/lib/python3.6/site-packages/keras/engine/saving.py", "load_model", "f = h5py.File(filepath)"),
            "FIT908",
        ),
    ],
)  # fmt: skip
def test_older_words_show_the_cause_and_the_line(error, line, library, cause):
    finding = _told(_output(error, line, library)).findings[0]
    assert (finding.id, finding.location.line) == (cause, 2)


def test_an_exception_that_a_library_caught_gets_the_line_of_the_one_around_it():
    session = (
        "/v/lib/python3.6/site-packages/tensorflow/python/client/session.py",
        "_do_call",
        "return fn(*args)",
    )
    error = (
        "InvalidArgumentError: assertion failed: [batch sizes do not match.] [Condition x == y did not hold]"
    )
    inner = _output(error, "", session).split("<ipython")[0]
    inner += f"{session[0]} in _do_call(fn)\n   1326     try:\n-> 1327       return fn(*args)\n\n{error}\n\n"
    around = "During handling of the above exception, another exception occurred:\n\n"
    finding = _told(inner + around + _output(error, "sess.run(loss)", session)).findings[0]
    assert finding.location.line == 2


@pytest.mark.parametrize(
    ("error", "line", "library", "words"),
    [
        (
            "ValueError: Found input variables with inconsistent numbers of samples: [750, 2061]",
            "classifier.fit(rows, labels)",
            (("/v/lib/python3.6/site-packages/sklearn/utils/validation.py", "check_consistent_length", "raise"),),
            "scikit-learn",
        ),
        (
            "NotImplementedError: The operator 'aten::_foreach_mul_.Scalar' is not implemented for the MPS device.",
            "model.fit(images, labels)",
            (
                (_KERAS, "error_handler", "raise e.with_traceback(filtered_tb) from None"),
                ("/v/lib/python3.11/site-packages/torch/utils/_contextlib.py", "decorate_context", "return func(*args)"),
            ),
            "raised by PyTorch, which Keras uses as its backend here",
        ),
        (
            "Exception: URL fetch failure on https://example.org/digits.tar.gz: None -- [SSL: CERTIFICATE_VERIFY_FAILED]",
            "digits = cifar100.load_data()",
            (("/v/lib/python3.10/site-packages/keras/src/utils/file_utils.py", "get_file", "raise Exception(error)"),),
            "a download failed",
        ),
        (
            "TypeError: Can't instantiate abstract class DatasetV2 with abstract methods _inputs, element_spec",
            "data = tf.data.Dataset(rows)",
            (),
            "a line of the program",
        ),
        (
            "ValueError: Custom>clean has already been registered to <function clean at 0x7f>",
            "@register_keras_serializable()",
            (("/v/lib/python3.9/site-packages/keras/utils/generic_utils.py", "decorator", "raise ValueError("),),
            "its cell was run again",
        ),
        ("FileExistsError: [Errno 17] File exists: 'split'", "os.mkdir('split')", (), "exists already"),
        ("TypeError: mel() takes 0 positional arguments but 1 was given", "m = mel(wave)", (), "calls `mel` with"),
        (
            "TypeError: predict() missing 1 required positional argument: 'x'",
            "model.predict()",
            (),
            "`predict` with too few",
        ),
        ("TypeError: expected string or bytes-like object", "words = token.findall(text)", (), "a line of the program"),
        ("ValueError: not enough values to unpack (expected 2, got 1)", "a, b = row.split()", (), "a line of the program"),
        (
            "error: unbalanced parenthesis at position 32",
            "data = tfds.load('reviews')",
            (
                ("/v/lib/python3.6/site-packages/tensorflow_datasets/core/load.py", "load", "re.compile(name)"),
                ("/v/lib/python3.6/sre_parse.py", "parse", "raise source.error('unbalanced parenthesis')"),
            ),
            "raised by TensorFlow Datasets",
        ),
        (
            "TypeError: 'NoneType' object is not callable",
            "train_step(images, labels)",
            (
                (
                    "/v/lib/python3.8/site-packages/tensorflow/python/eager/def_function.py",
                    "_call",
                    "return self._stateless_fn(*args, **kwds)",
                ),
            ),
            "an earlier call of this `tf.function` failed",
        ),
    ],
)  # fmt: skip
def test_what_is_no_failure_of_training_names_the_line_and_says_so(error, line, library, words):
    diagnosis = _told(_output(error, line, *library))
    assert diagnosis.findings == ()
    assert words in diagnosis.unexplained[0].note
    assert diagnosis.unexplained[0].location.line == 2


def test_an_attribute_that_a_class_of_the_program_never_sets_is_its_own():
    text = _output(
        "",
        "model.fit(loader)",
        (_KERAS, "error_handler", "raise e.with_traceback(filtered_tb) from None"),
        ("/home/me/loader.py", "__getitem__", "chosen = self.indexes[index]"),
    )
    note = _told(text + "AttributeError: 'Loader' object has no attribute 'indexes'").unexplained[0].note
    assert note == "the program's own class `Loader` has no `indexes`, which this line reads"


def test_labels_with_fewer_axes_than_the_output_are_described_by_their_shape():
    text = _output(
        "ValueError: logits and labels must have the same shape ((None, 500, 250) vs (None, 100))",
        "model.fit(inputs, labels)",
        (
            "/v/lib/python3.6/site-packages/tensorflow/python/ops/nn_impl.py",
            "sigmoid_cross_entropy_with_logits",
            "raise",
        ),
    )
    assert "shape (n, 100)" in _told(text).findings[0].message


def test_another_library_that_measures_a_dataset_is_named():
    inner = "TypeError                                 Traceback (most recent call last)\n"
    inner += "/v/lib/python3.7/site-packages/sklearn/utils/validation.py in _num_samples(x)\n--> 278     return len(x)\n\n"
    inner += "/v/lib/python3.7/site-packages/tensorflow/python/data/ops/dataset_ops.py in __len__(self)\n"
    inner += "--> 518     raise TypeError('The dataset length is unknown.')\n\nTypeError: The dataset length is unknown.\n\n"
    inner += "The above exception was the direct cause of the following exception:\n\n"
    text = inner + _output(
        "TypeError: Expected sequence or array-like, got <class 'PrefetchDataset'>",
        "train, test = train_test_split(data)",
        (
            "/v/lib/python3.7/site-packages/sklearn/utils/validation.py",
            "_num_samples",
            "raise TypeError(message)",
        ),
    )
    diagnosis = _told(text)
    assert diagnosis.findings == ()
    assert diagnosis.unexplained[0].note == "raised by scikit-learn, not by training"


def test_a_kernel_that_died_is_not_passed_over():
    text = "The Kernel crashed while executing code in the current cell or a previous cell. \n\nPlease review the code."
    assert "often because memory ran out" in _told(text).unexplained[0].note


_FAILED = ["TypeError: unsupported operand type(s) for +: 'int' and 'str'"]


def _notebook(path, source, frame, version=4):
    trace = [
        "TypeError     Traceback (most recent call last)",
        f"{frame}\n      1 a = 1\n----> 2 b = a + 'x'\n",
        *_FAILED,
    ]
    kind, text, count = (
        ("error", "source", "execution_count") if version == 4 else ("pyerr", "input", "prompt_number")
    )
    output = {"output_type": kind, "ename": "TypeError", "evalue": "", "traceback": trace}
    first = {"cell_type": "code", text: "import numpy\n", count: 1, "outputs": []}
    cells = [first, {"cell_type": "code", text: source, count: 2, "outputs": [output]}]
    path.write_text(
        json.dumps({"cells": cells} if version == 4 else {"worksheets": [{"cells": cells}]}), "utf-8"
    )
    return path


@pytest.mark.parametrize(
    ("source", "frame", "version", "line"),
    [
        ("a = 1\nb = a + 'x'\n", "<ipython-input-2-0123456789ab> in <module>", 4, 2),
        ("\n\na = 1\nb = a + 'x'\n", "<ipython-input-2-0123456789ab> in <module>", 4, 4),
        ("a = 1\nb = a + 'x'\n", "/tmp/ipython-input-3650302260.py in <cell line: 0>()", 4, 2),
        ("a = 1\nb = a + 'x'\n", "<ipython-input-2-0123456789ab> in <module>()", 3, 2),
    ],
)
def test_the_cell_and_line_of_a_saved_notebook_are_found(tmp_path, source, frame, version, line):
    path = _notebook(tmp_path / "train.ipynb", source, frame, version)
    [failure] = failures_told_in(path.read_text("utf-8"), str(path))
    place = failure.last_user_frame.location
    assert (place.path, place.cell, place.line) == (str(path), 2, line)


def test_a_cell_that_was_edited_since_is_not_blamed(tmp_path):
    path = _notebook(
        tmp_path / "train.ipynb", "a = 1\nb = a + 2\n", "/tmp/ipython-input-3650302260.py in <cell line: 0>()"
    )
    [failure] = failures_told_in(path.read_text("utf-8"), str(path))
    assert failure.last_user_frame.location.path != str(path)


def test_a_warning_about_retracing_is_not_about_a_loss():
    text = "WARNING:tensorflow:5 out of the last 5 calls to <function make.<locals>.step at 0x7dd5a3b63b00> triggered "
    text += "tf.function retracing. Tracing is expensive."
    assert _told(text).findings[0].id == "FIT412"


_TENSORFLOW = "/v/lib/python3.8/site-packages/tensorflow/python/keras/engine/base_layer.py"


def test_memory_that_a_weight_needs_does_not_shrink_with_the_batch():
    text = _output(
        "ResourceExhaustedError: OOM when allocating tensor with shape[90000,512] and type float [Op:RandomUniform]",
        "code = Dense(512)(flat)",
        (_TENSORFLOW, "add_weight", "variable = self._add_variable_with_custom_getter("),
        (
            "/v/lib/python3.8/site-packages/tensorflow/python/ops/init_ops_v2.py",
            "__call__",
            "random_ops.uniform()",
        ),
    )
    [finding] = _told(text).findings
    assert "a weight of shape (90000, 512)" in finding.message
    assert "does not depend on the batch" in finding.notes[0]


def test_an_array_that_numpy_cannot_allocate_is_no_tensor():
    message = "MemoryError: Unable to allocate 1.2 GiB for an array with shape (50000, 64, 64, 3) and data type uint16"
    finding = _told(_output(message, "images = np.stack(parts)")).findings[0]
    assert finding.message == "out of memory: cannot allocate a NumPy array of shape (50000, 64, 64, 3)"
    assert "load it in batches" in finding.fixes[0].title


@pytest.mark.parametrize(
    ("error", "line", "cause"),
    [
        (
            "AttributeError: module 'keras.layers' has no attribute 'MaxPoolin2D'",
            "layers.MaxPoolin2D()",
            "FIT302",
        ),
        ("AttributeError: module 'keras.layers' has no attribute 'CuDNNGRU'", "layers.CuDNNGRU(4)", "FIT902"),
        (
            "AttributeError: module 'tensorflow' has no attribute 'placeHolder'",
            "a = tf.placeHolder(int)",
            "FIT406",
        ),
        (
            "TypeError: gap() missing 2 required positional arguments: 'a' and 'b'",
            "m.compile('sgd', loss=gap())",
            "FIT314",
        ),
    ],
)
def test_a_name_that_is_misspelt_or_called_too_early(error, line, cause):
    assert _told(_output(error, line)).findings[0].id == cause


def test_a_function_called_for_its_value_is_not_passed_to_keras():
    error = "TypeError: gap() missing 2 required positional arguments: 'a' and 'b'"
    assert not _told(_output(error, "difference = gap()")).findings


def test_a_merging_layer_that_fails_while_it_runs_is_found_by_its_node():
    message = "InvalidArgumentError: Incompatible shapes: [8,31,64] vs. [8,62,64]\n\t [[{{node add_2/add}}]]"
    [finding] = _told(_output(message, "net.fit(x, y)", (_TENSORFLOW, "fit", "run()"))).findings
    assert (finding.id, finding.subject) == ("FIT305", "layer add_2")


def test_predicting_on_other_data_is_mended_at_the_data_and_not_at_the_model():
    message = (
        'ValueError: Input 0 of layer "dense" is incompatible with the layer: expected axis -1 of input shape to have '
        "value 6, but received input with shape (1, 9)"
    )
    [finding] = _told(_output(message, "net.predict(row)", (_KERAS, "error_handler", "raise e"))).findings
    assert finding.fixes[0].title == "pass samples of shape (6,), as in training"
    assert finding.subject == "argument x of predict"


_SESSION = "/v/lib/python3.8/site-packages/tensorflow/python/eager/execute.py"


@pytest.mark.parametrize(
    ("error", "line", "cause", "words"),
    [
        (
            "TypeError: <tf.Tensor 'S:0' shape=() dtype=string> has type SymbolicTensor, but expected one of: bytes",
            "record = tf.train.Example(features=parts)",
            "FIT407",
            "tf.py_function",
        ),
        (
            "InvalidArgumentError: Shape of tensor input [4,9,2] is not compatible with expected shape [4,50,2].",
            "net(batch)",
            "FIT320",
            "agree",
        ),
        (
            "InvalidArgumentError: flat indices[7, :] = [0, 900] does not index into param (shape: [1,640,2]).",
            "net.fit(pictures)",
            "FIT320",
            "configuration",
        ),
        (
            "InvalidArgumentError: Cannot assign a device for operation 'a': Could not satisfy explicit device "
            "specification '/device:GPU:0' because no supported kernel for GPU devices is available.",
            "session.run(start)",
            "FIT601",
            "leave soft placement on",
        ),
        (
            "NotFoundError: could not find registered transfer manager for platform Host -- check target linkage",
            "net.fit(x, y)",
            "FIT906",
            "jit_compile=False",
        ),
        (
            "InvalidArgumentError: Matrix size-incompatible: In[0]: [5,2], In[1]: [5,2] [Op:MatMul]",
            "a @ b",
            "FIT320",
            "(2 and 5) must be equally long",
        ),
        (
            "InvalidArgumentError: indices[3,7] = -1 is not in [0, 500)\n\t [[node net/embedding/embedding_lookup]]",
            "net.fit(x, y)",
            "FIT113",
            "ids start at 0",
        ),
        (
            "ValueError: Model <my.Net object at 0x7f> cannot be saved because the input shapes have not been set. Usually",
            "net.save('net')",
            "FIT908",
            "call it on a batch",
        ),
        (
            "ValueError: `validation_split` is only supported for Tensors or NumPy arrays, found following types in the "
            "input: [<class 'tensorflow.python.ops.ragged.ragged_tensor.RaggedTensor'>]",
            "net.fit(x, y, validation_split=0.2)",
            "FIT711",
            "split the data yourself",
        ),
    ],
)
def test_the_remedy_fits_what_the_message_names(error, line, cause, words):
    finding = _told(_output(error, line, (_SESSION, "quick_execute", "raise core"))).findings[0]
    assert finding.id == cause
    assert words in " ".join(fix.title for fix in finding.fixes)


def test_a_module_that_imports_itself_is_named():
    text = _output(
        "AttributeError: partially initialized module 'scipy' has no attribute 'stats' (circular import)",
        "import x",
    )
    assert (
        _told(text).unexplained[0].note.startswith("`scipy` is imported by a module that it imports itself")
    )


_PLOTS = "/v/lib/python3.11/site-packages/netplots/layered.py"


def test_a_package_that_reads_what_keras_3_lost_is_named():
    text = _output(
        "AttributeError: 'InputLayer' object has no attribute 'output_shape'",
        "netplots.view(net)",
        (_PLOTS, "view", "size = layer.output_shape"),
    )
    [finding] = _told(text).findings
    assert finding.id == "FIT902"
    assert "`netplots`" in finding.message
    assert "install a version of `netplots`" in finding.fixes[0].title


def test_a_tensor_called_like_a_model():
    error = "TypeError: 'tensorflow.python.framework.ops.EagerTensor' object is not callable"
    assert _told(_output(error, "pictures = net(noise)")).findings[0].id == "FIT331"


def test_keras_in_an_egg_is_not_the_program():
    text = (
        'Traceback (most recent call last):\n  File "/me/run.py", line 4, in <module>\n    net.compile("sgd", "mse")\n'
        '  File "build/bdist.linux-x86_64/egg/keras/optimizers.py", line 47, in get_gradients\n'
        "theano.gradient.DisconnectedInputError: grad method was asked to compute the gradient with respect to a variable "
        "that is not part of the computational graph of the cost\n"
    )
    finding = _told(text).findings[0]
    assert (finding.id, finding.location.line) == ("FIT505", 4)


@pytest.mark.parametrize(
    ("error", "line", "cause"),
    [
        (
            'TypeError: The added layer must be an instance of class Layer. Found: Tensor("in:0", shape=(?, 4))',
            "net.add(Input(shape=(4,)))",
            "FIT309",
        ),
        ("AttributeError: 'generator' object has no attribute 'dtype'", "learn(words)", "FIT710"),
        ("ValueError: No model found in config file.", "net = load_model('weights.h5')", "FIT908"),
    ],
)
def test_what_the_object_in_the_message_is_decides(error, line, cause):
    finding = _told(_output(error, line, (_KERAS, "error_handler", "raise e"))).findings[0]
    assert finding.id == cause


def test_the_memory_for_a_small_kernel_was_full_before():
    message = (
        "ResourceExhaustedError: OOM when allocating tensor with shape[3,3,64,64]\n"
        "\t [[Node: conv4/kernel/Assign = Assign[T=DT_FLOAT](conv4/kernel, conv4/init)]]"
    )
    finding = _told(_output(message, "net = build()", (_SESSION, "quick_execute", "raise core"))).findings[0]
    assert "a weight of shape (3, 3, 64, 64)" in finding.message
    assert finding.fixes[0].title.startswith("free the memory first")


@pytest.mark.parametrize(
    ("error", "line", "note"),
    [
        (
            "ValueError: The radius must be positive.",
            'raise ValueError("The radius must be positive.")',
            "the program itself",
        ),
        ('Exception: "dot" not found in path.', "plot_model(net)", "Graphviz"),
        ("ResourceInUse: Job names must be unique within an AWS account", "job.fit(data)", ""),
    ],
)
def test_what_is_no_failure_of_training_gets_a_note_at_most(error, line, note):
    told = _told(_output(error, line))
    assert not told.findings
    assert note in told.unexplained[0].note


def test_frames_of_converted_code_begin_at_the_folder_above_them():
    text = (
        "ValueError: in converted code:\n    relative to /v/lib/python3.6/site-packages/tensorflow_core/python:\n\n"
        "    keras/saving/load.py:239 call\n        return call_fn(inputs)\n"
        "    keras/saving/utils.py:46 <lambda>\n        lambda: call_fn(inputs)\n\n"
        "    ValueError: Could not find matching function to call loaded from the SavedModel. Got:\n"
    )
    [finding] = _told(text).findings
    assert (finding.id, finding.location) == ("FIT314", None)


def test_python_2_names_the_compiled_file():
    text = _output(
        "AttributeError: 'float' object has no attribute 'item'",
        "net.fit(x, y)",
        (
            "/v/lib/python2.7/site-packages/keras/callbacks.pyc",
            "on_epoch_end",
            "summary.simple_value = value.item()",
        ),
    )
    assert _told(text).findings[0].id == "FIT901"
