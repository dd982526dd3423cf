"""Shapes, values and names in the messages of Keras 2 and 3."""

# Recorded text stays in one piece, as it was printed.
# ruff: noqa: E501

import pytest

from fitdoctor.failure import patterns as p
from fitdoctor.failure import shapes as s


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("(None, 28, 28)", (None, 28, 28)),
        ("[?,12,32]", (None, 12, 32)),
        ("(8,)", (8,)),
        ("()", ()),
        ("[]", ()),
        ("TensorShape([None, 3])", (None, 3)),
        ("(32, -1)", (32, -1)),
        ("hello", None),
        ("(a, b)", None),
        ("", None),
    ],
)
def test_shapes_are_parsed(text, shape):
    assert s.parse_shape(text) == shape


def test_all_shapes_of_a_message():
    message = "A `Concatenate` layer requires … Received: input_shape=[(None, 48, 8), (None, 42, 8)]"
    assert s.shapes_in(message) == ((None, 48, 8), (None, 42, 8))


@pytest.mark.parametrize(
    "message",
    [
        "Input 0 with name 'features' of layer 'churn' is incompatible with the layer: expected shape=(None, 8), found shape=(32, 9)",
        'Input 0 of layer "churn" is incompatible with the layer: expected shape=(None, 8), found shape=(32, 9)',
        "Input 0 is incompatible with layer churn: expected shape=(None, 8), found shape=(32, 9)",
    ],
)
def test_expected_and_found_shape(message):
    found = s.input_mismatch(message)
    assert (found.layer, found.index, found.expected, found.found) == ("churn", 0, (None, 8), (32, 9))


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        (
            "Input 0 with name 'None' of layer 'lstm' is incompatible with the layer: expected ndim=3, found ndim=2. Full shape received: (16, 10)",
            "exact",
        ),
        (
            "Input 0 of layer lstm is incompatible with the layer: : expected min_ndim=3, found ndim=2. Full shape received: [16, 10]",
            "least",
        ),
        ('Input 0 of layer "lstm" is incompatible with the layer: expected max_ndim=3, found ndim=2', "most"),
    ],
)
def test_ranks(message, rule):
    found = s.input_mismatch(message)
    assert (found.layer, found.name, found.rank_rule, found.ranks[0]) == ("lstm", "", rule, 3)
    assert found.ranks[1] == 2


@pytest.mark.parametrize("comma", [",", ""])
def test_an_axis(comma):
    found = s.input_mismatch(
        f"Input 0 of layer dense is incompatible with the layer: expected axis -1 of input shape to have value 784{comma} "
        "but received input with shape (None, 28)"
    )
    assert (found.axis, found.axis_length, found.found) == (-1, 784, (None, 28))


def test_a_functional_models_input():
    found = s.input_mismatch(
        "Invalid input shape for input Tensor(\"data:0\", shape=(None, 28, 28), dtype=float32) with name 'image' and path ''. "
        "Expected shape (None, 784), but input has incompatible shape (None, 28, 28)"
    )
    assert (found.name, found.expected, found.found) == ("image", (None, 784), (None, 28, 28))


def test_the_words_before_keras_2_4():
    found = s.input_mismatch(
        "Error when checking target: expected dense_2 to have shape (10,) but got array with shape (1,)"
    )
    assert (found.target, found.name, found.expected, found.found) == (True, "dense_2", (10,), (1,))
    found = s.input_mismatch(
        "Error when checking input: expected conv2d_input to have 4 dimensions, but got array with shape (60000, 28, 28)"
    )
    assert (found.ranks, found.target) == ((4, 3), False)


@pytest.mark.parametrize(
    ("message", "target", "output", "rule"),
    [
        (
            "Arguments `target` and `output` must have the same rank (ndim). Received: target.shape=(None,), output.shape=(None, 5)",
            (None,),
            (None, 5),
            "same rank",
        ),
        (
            "Arguments `target` and `output` must have the same shape. Received: target.shape=(18, 1), output.shape=(18, 3)",
            (18, 1),
            (18, 3),
            "same shape",
        ),
        (
            "Argument `output` must have rank (ndim) `target.ndim - 1`. Received: target.shape=(20, 4), output.shape=(20, 4)",
            (20, 4),
            (20, 4),
            "one rank less",
        ),
        ("Shapes (None, 1) and (None, 10) are incompatible", (None, 1), (None, 10), "same shape"),
        (
            "`logits` and `labels` must have the same shape, received ((None, 3) vs (None, 2)).",
            (None, 2),
            (None, 3),
            "same shape",
        ),
        (
            "logits and labels must have the same shape ((None, 1) vs (None, 10))",
            (None, 10),
            (None, 1),
            "same shape",
        ),
        (
            "logits and labels must be broadcastable: logits_size=[32,10] labels_size=[32,3]",
            (32, 3),
            (32, 10),
            "same shape",
        ),
        (
            "logits and labels must have the same first dimension, got logits shape [32,10] and labels shape [320]",
            (32, 10),
            (32, 10),
            "one rank less",
        ),
        (
            "logits and labels must have the same first dimension, got logits shape [1600,10] and labels shape [32]",
            (32,),
            (32, 50, 10),
            "one rank less",
        ),
        (
            "`labels.shape` must equal `logits.shape` except for the last dimension. Received: labels.shape=(64,) and "
            "logits.shape=(16, 4)",
            (16, 4),
            (16, 4),
            "one rank less",
        ),
        (
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: labels.shape=(32, 10) of rank 2 and "
            "logits.shape=(32, 10) of rank 2",
            (32, 10),
            (32, 10),
            "one rank less",
        ),
        (
            "Shape mismatch: The shape of labels (received (320,)) should equal the shape of logits except for the last dimension (received (32, 10)).",
            (32, 10),
            (32, 10),
            "one rank less",
        ),
    ],
)
def test_labels_against_output(message, target, output, rule):
    found = s.target_and_output(message)
    assert (found.target, found.output, found.rule) == (target, output, rule)


def test_a_label_and_its_range():
    found = p.label_out_of_range(
        "Received a label value of -1 which is outside the valid range of [0, 3).  Label values: 0 -1"
    )
    assert (found.value, found.high) == (-1, 3)


def test_an_index_and_its_range():
    found = p.index_out_of_range("indices[1,9] = 26 is not in [0, 26)")
    assert (found.value, found.high) == (26, 26)


@pytest.mark.parametrize(
    "message",
    [
        "Data cardinality is ambiguous. Make sure all arrays contain the same number of samples.'x' sizes: 275, 275\n'y' sizes: 300\n",
        "Data cardinality is ambiguous:\n  x sizes: 275, 275\n  y sizes: 300\nMake sure all arrays contain the same number of samples.",
    ],
)
def test_cardinality(message):
    found = p.cardinality(message)
    assert found.of("x") == (275, 275)
    assert found.of("y") == (300,)
    assert found.of("sample_weight") == ()


@pytest.mark.parametrize(
    ("message", "shapes", "operation"),
    [
        (
            "Dimensions must be equal, but are 12 and 32 for '{{node loss/sub}} = Sub[T=DT_FLOAT](a, b)' with input shapes: [32,12], [32,32].",
            ((32, 12), (32, 32)),
            "Sub",
        ),
        (
            "Dimensions must be equal, but are 12 and 32 for 'loss/sub' (op: 'Sub') with input shapes: [?,12], [?,32].",
            ((None, 12), (None, 32)),
            "Sub",
        ),
        (
            "Cannot reshape a tensor with 4 elements to shape [7] (7 elements) for '{{node R}} = Reshape[T=DT_FLOAT](x, y)' with input shapes: [4], [1] and with input tensors computed as partial shapes: input[1] = [7].",
            ((4,), (1,)),
            "Reshape",
        ),
        ("Incompatible shapes: [32,12] vs. [32,32]", ((32, 12), (32, 32)), ""),
        ("Matrix size-incompatible: In[0]: [8,3], In[1]: [8,3]", ((8, 3), (8, 3)), ""),
        (
            "Inputs have incompatible shapes. Received shapes (6, 6, 8) and (6, 6, 16)",
            ((6, 6, 8), (6, 6, 16)),
            "",
        ),
        (
            "A `Concatenate` layer requires inputs with matching shapes except for the concatenation axis. Received: input_shape=[(None, 48, 8), (None, 42, 8)]",
            ((None, 48, 8), (None, 42, 8)),
            "",
        ),
    ],
)
def test_an_operations_shapes(message, shapes, operation):
    found = s.operation_shapes(message)
    assert (found.shapes, found.operation) == (shapes, operation)


def test_reshapes():
    found = s.reshape_sizes(
        "Cannot reshape a tensor with 3200 elements to shape [20,10,4,16] (12800 elements) for …"
    )
    assert (found.given, found.wanted, found.target_shape) == (3200, 12800, (20, 10, 4, 16))
    found = s.reshape_sizes(
        "The total size of the tensor must be unchanged. Received: input_shape=(784,), target_shape=(7, 7, 32)"
    )
    assert (found.input_shape, found.target_shape) == ((784,), (7, 7, 32))
    found = s.reshape_sizes(
        "Input to reshape is a tensor with 10 values, but the requested shape requires a multiple of 7"
    )
    assert (found.given, found.multiple_of) == (10, 7)
    found = s.reshape_sizes(
        "total size of new array must be unchanged, input_shape = [784], output_shape = [7, 7, 32]"
    )
    assert found.target_shape == (7, 7, 32)


def test_an_axis_that_shrank_away():
    found = s.exhausted_dimension(
        "Computed output size would be zero or negative. Received `inputs shape=(None, 3, 16)`, `kernel shape=(5, 16, 32)`, `padding=valid`."
    )
    assert (found.input, found.kernel) == ((None, 3, 16), (5, 16, 32))
    found = s.exhausted_dimension(
        "Negative dimension size caused by subtracting 3 from 2 for '{{node conv/Conv2D}} = Conv2D[T=DT_FLOAT](x, k)' "
        "with input shapes: [?,2,2,32], [3,3,32,64]."
    )
    assert (found.input, found.kernel) == ((None, 2, 2, 32), (3, 3, 32, 64))


@pytest.mark.parametrize(
    ("message", "function", "name", "owner"),
    [
        (
            "TensorFlowTrainer.fit() got an unexpected keyword argument 'loss'",
            "fit",
            "loss",
            "TensorFlowTrainer",
        ),
        ("fit() got an unexpected keyword argument 'nb_epoch'", "fit", "nb_epoch", ""),
        ("Argument(s) not recognized: {'lr': 0.1}", "", "lr", ""),
        (
            "Unrecognized keyword arguments passed to Dense: {'batch_input_shape': (None, 3)}",
            "",
            "batch_input_shape",
            "Dense",
        ),
        ("('Keyword argument not understood:', 'output_dim')", "", "output_dim", ""),
        ("got an unexpected keyword argument 'training'", "", "training", ""),
    ],
)
def test_an_unexpected_keyword(message, function, name, owner):
    assert p.unexpected_keyword(message) == p.UnexpectedKeyword(function, name, owner)


def test_too_few_and_too_many_arguments():
    assert p.argument_count(
        "MixupModel.train_step() missing 1 required positional argument: 'y'"
    ).missing == ("y",)
    assert p.argument_count("f() missing 2 required positional arguments: 'a' and 'b'").missing == ("a", "b")
    assert p.argument_count("missing a required argument: 'meta'").missing == ("meta",)
    found = p.argument_count("PrintLoss.on_epoch_end() takes 2 positional arguments but 3 were given")
    assert (found.function, found.owner) == ("on_epoch_end", "PrintLoss")


def test_a_missing_attribute():
    found = p.attribute_missing(
        "'MLP' object has no attribute '_dtype_policy'. Did you mean: 'dtype_policy'?"
    )
    assert (found.owner, found.name, found.kind) == ("MLP", "_dtype_policy", "object")
    assert p.attribute_missing("module 'tensorflow' has no attribute 'Session'").kind == "module"
    assert p.attribute_missing("type object 'Adam' has no attribute 'x'").kind == "type"


def test_variables_without_a_gradient():
    found = p.missing_gradients(
        "No gradients provided for any variable: (['dense/kernel:0', 'dense/bias:0'],). Provided `grads_and_vars` is "
        "((None, <tf.Variable 'other:0' shape=(3,)>),)."
    )
    assert (found.every, found.variables) == (True, ("dense/kernel:0", "dense/bias:0"))
    found = p.missing_gradients(
        "Gradients do not exist for variables [<Variable path=a/kernel, shape=(3, 2), dtype=float32>] when minimizing the loss."
    )
    assert (found.every, found.variables) == (False, ("a/kernel",))
    assert p.missing_gradients("No gradients provided for any variable.").every


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("<tf.Tensor 'a/mul:0' shape=(2,) dtype=float32> is out of scope", "a/mul:0"),
        ("The tensor 'Tensor(\"mul:0\", shape=(), dtype=float32)' cannot be accessed here", "mul:0"),
        ("Cannot convert a symbolic tf.Tensor (d/Relu:0) to a numpy array.", "d/Relu:0"),
        ("Cannot convert a symbolic Tensor (d/Relu:0) to a numpy array.", "d/Relu:0"),
        ("…building code.\nThe graph tensor has name: dense_2/BiasAdd:0", "dense_2/BiasAdd:0"),
    ],
)
def test_the_tensor_that_is_meant(message, name):
    assert p.named_tensor(message).name == name


@pytest.mark.parametrize(
    ("message", "found", "expected"),
    [
        (
            "Input 'b' of 'MatMul' Op has type float32 that does not match type int32 of argument 'a'.",
            "float32",
            "int32",
        ),
        (
            "Value passed to parameter 'input' has DataType int64 not in list of allowed values: float16, float32",
            "int64",
            "float16",
        ),
        (
            "cannot compute MatMul as input #1(zero-based) was expected to be a int32 tensor but is a float tensor [Op:MatMul]",
            "float",
            "int32",
        ),
        ("Cast string to float is not supported", "string", "float"),
        ("Failed to convert a NumPy array to a Tensor (Unsupported object type list).", "list", ""),
        ("Invalid dtype: object", "object", ""),
    ],
)
def test_types(message, found, expected):
    mismatch = p.dtype_mismatch(message)
    assert (mismatch.found, mismatch.expected) == (found, expected)


def test_inputs_by_number_and_name():
    found = s.input_count(
        "Layer \"functional\" expects 2 named input(s) with keys ['user', 'item'], but it received 1 input tensors."
    )
    assert (found.expected, found.received, found.expected_keys) == (2, 1, ("user", "item"))
    found = s.input_count(
        "Layer model expects 1 input(s), but it received 3 input tensors. Inputs received: ["
    )
    assert (found.layer, found.expected, found.received) == ("model", 1, 3)
    found = s.input_count(
        "Missing data for input \"ward\". You passed a data dictionary with keys ['numeric', 'ward_id']. "
        "Expected the following keys: ['numeric', 'ward']"
    )
    assert (found.missing, found.received_keys, found.expected_keys) == (
        "ward",
        ("numeric", "ward_id"),
        ("numeric", "ward"),
    )


def test_memory():
    found = p.allocation_failed(
        "OOM when allocating tensor with shape[32,1024,1024] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc"
    )
    assert found.shape == (32, 1024, 1024)


def test_other_messages_give_nothing():
    for extract in (
        s.input_mismatch,
        s.target_and_output,
        p.label_out_of_range,
        p.cardinality,
        s.operation_shapes,
        p.unexpected_keyword,
        p.attribute_missing,
        p.dtype_mismatch,
        p.named_tensor,
        p.allocation_failed,
    ):
        assert extract("None values not supported.") is None
