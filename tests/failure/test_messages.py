"""The dialects of TensorFlow 2.0 to 2.21, Keras 2 and Keras 3."""

# Recorded text stays in one piece, as it was printed.
# ruff: noqa: E501

import pytest

from fitdoctor.diagnosis import NOTEBOOK
from fitdoctor.failure.messages import read_message


def test_a_bare_message_stays_as_it_is():
    message = read_message("Invalid dtype: object")
    assert (message.text, message.dialect) == ("Invalid dtype: object", "bare")


def test_keras_3_wraps_with_colours_and_arguments():
    message = read_message(
        "Exception encountered when calling Sequential.call().\n\n"
        "\x1b[1mInput 0 of layer 'dense' does not fit\x1b[0m\n\n"
        "Arguments received by Sequential.call():\n"
        "  • inputs=tf.Tensor(shape=(None, 24, 1), dtype=float32)\n"
        "  • training=True\n"
        "  • mask=None"
    )
    assert message.text == "Input 0 of layer 'dense' does not fit"
    assert message.dialect == "wrapped"
    assert message.layer_class == "Sequential"
    assert message.arguments == (
        ("inputs", "tf.Tensor(shape=(None, 24, 1), dtype=float32)"),
        ("training", "True"),
        ("mask", "None"),
    )


def test_colours_that_lost_their_escape_character_go_too():
    message = read_message(
        "Exception encountered when calling Dense.call().\n\n[1mno way[0m\n\nArguments received by Dense.call():\n  • inputs=1"
    )
    assert message.text == "no way"


def test_keras_2_names_the_layer_and_nests():
    message = read_message(
        'Exception encountered when calling layer "outer" (type Block).\n\n'
        "Exception encountered when calling layer 'inner' (type Attention).\n\n"
        "Dimensions must be equal\n\n"
        "Call arguments received by layer 'inner' (type Attention):\n"
        "  • query=tf.Tensor(shape=(None, 3), dtype=float32)\n\n"
        'Call arguments received by layer "outer" (type Block):\n'
        "  • inputs=tf.Tensor(shape=(None, 9), dtype=float32)\n"
        "  • training=True"
    )
    assert message.text == "Dimensions must be equal"
    assert (message.layer, message.layer_class) == ("inner", "Attention")
    assert message.arguments == (("query", "tf.Tensor(shape=(None, 3), dtype=float32)"),)


def test_keras_2_11_prints_a_piece_of_its_own_source():
    message = read_message(
        'Exception encountered when calling layer "unet" "                 f"(type Functional).\n\nno'
    )
    assert (message.text, message.layer, message.layer_class) == ("no", "unet", "Functional")


def test_keras_2_7_has_arguments_without_a_name():
    message = read_message(
        'Exception encountered when calling layer "dense" (type Dense).\n\nno\n\nCall arguments received:\n  • inputs=1'
    )
    assert (message.text, message.layer, message.arguments) == ("no", "dense", (("inputs", "1"),))


def test_the_advice_on_output_shapes_is_an_envelope():
    message = read_message(
        "Exception encountered when calling Gate.call().\n\n\x1b[1mCould not automatically infer the output shape / "
        "dtype of 'gate' (of type Gate). Either the `Gate.call()` method is incorrect, or you need to implement the "
        "`Gate.compute_output_spec() / compute_output_shape()` method. Error encountered:\n\n"
        "'SymbolicTensor' object has no attribute 'numpy'\x1b[0m\n\nArguments received by Gate.call():\n  • args=()"
    )
    assert message.text == "'SymbolicTensor' object has no attribute 'numpy'"
    assert (message.layer, message.layer_class) == ("gate", "Gate")


def test_autograph_quotes_frames_and_the_type():
    message = read_message(
        "in user code:\n\n"
        '    File "/p/train.py", line 41, in step  *\n'
        "        x = inner(x)\n"
        '    File "/v/lib/python3.9/site-packages/keras/engine/training.py", line 9, in run_step  **\n'
        "        outputs = model.train_step(data)\n"
        '    File "/p/train.py", line 34, in None  *\n'
        "        lambda r: tf.matmul(r, r)\n\n"
        "    ValueError: Cannot reshape a tensor with 4 elements\n    to shape [7]\n"
    )
    assert message.dialect == "autograph"
    assert message.type == "ValueError"
    assert message.text == "Cannot reshape a tensor with 4 elements\nto shape [7]"
    assert [(f.line, f.function, f.library) for f in message.frames] == [
        (41, "step", False),
        (9, "run_step", True),
        (34, "<lambda>", False),
    ]
    assert message.frames[0].text == "x = inner(x)"


def test_autograph_before_2_7_wrote_paths_with_colons():
    message = read_message(
        "in user code:\n\n"
        "    /usr/local/lib/python3.6/dist-packages/tensorflow/python/keras/engine/training.py:571 train_function  *\n"
        "        outputs = self.distribute_strategy.run(\n"
        "    <ipython-input-4-1f2e>:12 call  **\n"
        "        return self.out(h)\n"
        "    C:\\work\\model.py:7 build\n"
        "        self.k = 1\n\n"
        "    ValueError: Input 0 of layer dense is incompatible with the layer: expected axis -1\n"
    )
    assert [(f.path, f.line, f.function) for f in message.frames][1:] == [
        (NOTEBOOK, 12, "call"),
        ("C:\\work\\model.py", 7, "build"),
    ]
    assert message.frames[1].cell == 4
    assert message.text.startswith("Input 0 of layer dense")


def test_keras_2_inside_autograph_inside_keras_2():
    message = read_message(
        "in user code:\n\n"
        '    File "/v/site-packages/keras/engine/training.py", line 1, in train_function  *\n'
        "        return step_function(self, iterator)\n"
        '    File "/v/site-packages/keras/utils/traceback_utils.py", line 67, in error_handler  **\n'
        "        raise e.with_traceback(filtered_tb) from None\n\n"
        '    ValueError: Exception encountered when calling layer "net" (type Net).\n'
        "    \n"
        "    in user code:\n"
        "    \n"
        '        File "/p/net.py", line 8, in call  *\n'
        "            return self.b(h)\n"
        "    \n"
        "        ValueError: deep inside\n"
        "    \n"
        "    \n"
        '    Call arguments received by layer "net" (type Net):\n'
        "      • x=tf.Tensor(shape=(None, 4), dtype=float32)\n"
    )
    assert message.text == "deep inside"
    assert message.layer == "net"
    assert [f.line for f in message.frames if not f.library] == [8]


GRAPH_2_21 = (
    "Graph execution error:\n\n"
    "Detected at node net_1/embedding_1/GatherV2 defined at (most recent call last):\n"
    '  File "/p/train.py", line 34, in <module>\n\n'
    '  File "/v/site-packages/keras/src/layers/layer.py", line 1002, in __call__\n\n'
    '  File "/p/train.py", line 23, in call\n\n'
    "indices[0] = 1659 is not in [0, 50)\n"
    "\t [[{{node net_1/embedding_1/GatherV2}}]] [Op:__inference_multi_step_on_iterator_1106]"
)
GRAPH_2_10 = (
    "Graph execution error:\n\n"
    "Detected at node 'net/embedding/embedding_lookup' defined at (most recent call last):\n"
    '    File "/p/train.py", line 34, in <module>\n'
    "      model.fit(x, y)\n"
    '    File "/v/site-packages/keras/utils/traceback_utils.py", line 64, in error_handler\n'
    "      return fn(*args, **kwargs)\n"
    '    File "/p/train.py", line 23, in call\n'
    "      return self.emb(x)\n"
    "Node: 'net/embedding/embedding_lookup'\n"
    "indices[0] = 1659 is not in [0, 50)\n"
    "\t [[{{node net/embedding/embedding_lookup}}]] [Op:__inference_train_function_611]"
)
GRAPH_2_7 = (
    " indices[0] = 1659 is not in [0, 50)\n"
    "\t [[node net/embedding/embedding_lookup\n"
    " (defined at /p/train.py:23)\n"
    "]] [Op:__inference_train_function_611]\n\n"
    "Errors may have originated from an input operation.\n"
    "Input Source operations connected to node net/embedding/embedding_lookup:\n"
    "In[0] net/embedding/embedding_lookup/574\n\n"
    "Operation defined at: (most recent call last)\n"
    '>>>   File "/p/train.py", line 34, in <module>\n'
    ">>>     model.fit(x, y)\n"
    ">>> \n"
    '>>>   File "/p/train.py", line 23, in call\n'
    ">>>     return self.emb(x)\n"
    ">>> "
)
GRAPH_2_2 = (
    " indices[0] = 1659 is not in [0, 50)\n"
    "\t [[node net/embedding/embedding_lookup (defined at /p/train.py:23) ]] [Op:__inference_train_function_611]\n\n"
    "Errors may have originated from an input operation.\n"
    "Input Source operations connected to node net/embedding/embedding_lookup:\n"
    " net/embedding/embedding_lookup/574 (defined at /usr/lib/python3.6/contextlib.py:81)\n\n"
    "Function call stack:\ntrain_function\n"
)


@pytest.mark.parametrize(
    "text", [GRAPH_2_21, GRAPH_2_10, GRAPH_2_7, GRAPH_2_2], ids=["2.21", "2.10", "2.7", "2.2"]
)
def test_a_graph_failure_of_any_age_gives_cause_node_and_place(text):
    message = read_message(text)
    assert message.text == "indices[0] = 1659 is not in [0, 50)"
    assert message.dialect == "graph"
    assert message.node.startswith("net")
    assert [f.line for f in message.definition if not f.library][-1] == 23


def test_of_several_root_errors_the_first_counts():
    message = read_message(
        "Graph execution error:\n\n"
        "Detected at node 'a/Cast' defined at (most recent call last):\n    File \"/p/t.py\", line 1, in <module>\n      fit()\n"
        "Detected at node 'b/Cast' defined at (most recent call last):\n    File \"/p/t.py\", line 2, in <module>\n      fit()\n"
        "Node: 'a/Cast'\n"
        "2 root error(s) found.\n"
        "  (0) UNIMPLEMENTED:  Cast string to float is not supported\n"
        "\t [[{{node a/Cast}}]]\n"
        "\t [[a/_8]]\n"
        "  (1) UNIMPLEMENTED:  Cast string to float is not supported\n"
        "\t [[{{node a/Cast}}]]\n"
        "0 successful operations.\n0 derived errors ignored. [Op:__inference_train_function_1]"
    )
    assert message.text == "Cast string to float is not supported"
    assert (message.node, message.operation) == ("a/Cast", "Cast")
    assert [f.line for f in message.definition] == [1]


def test_a_generators_own_traceback_is_kept_apart():
    message = read_message(
        "Graph execution error:\n\nDetected at node PyFunc defined at (most recent call last):\n<stack traces unavailable>\n"
        "KeyError: 'boo'\nTraceback (most recent call last):\n\n"
        '  File "/v/site-packages/tensorflow/python/ops/script_ops.py", line 269, in __call__\n    ret = func(*args)\n'
        "          ^^^^^^^^^^^\n\n"
        '  File "/p/train.py", line 51, in gen\n    raise KeyError("boo")\n\n'
        "KeyError: 'boo'\n\n\n\t [[{{node PyFunc}}]]\n\t [[IteratorGetNext]] [Op:__inference_f_1]"
    )
    assert message.text == "KeyError: 'boo'"
    assert message.quoted is not None
    assert (message.quoted.type, message.quoted.message) == ("KeyError", "'boo'")
    assert message.quoted.frames[-1].line == 51


def test_an_eager_operations_prefix_and_tail_go():
    message = read_message(
        "{{function_node __wrapped__MatMul_device_/job:localhost/replica:0/task:0/device:CPU:0}} "
        "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3] [Op:MatMul] name: "
    )
    assert message.text == "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]"
    assert (message.dialect, message.operation) == ("bare", "MatMul")


def test_a_pipelines_envelope_goes():
    message = read_message(
        "Graph execution error:\n\nDetected at node GatherV2 defined at (most recent call last):\n<stack traces unavailable>\n"
        "Error in user-defined function passed to MapDataset:3 transformation with iterator: "
        "Iterator::Root::Prefetch::ParallelMapV2: indices[0] = 2 is not in [0, 2)\n"
        "\t [[{{node GatherV2}}]]\n\t [[IteratorGetNext]] [Op:__inference_f_957]"
    )
    assert message.text == "indices[0] = 2 is not in [0, 2)"


def test_shape_errors_of_tracing_name_their_operation():
    message = read_message(
        "Dimensions must be equal, but are 7 and 3 for '{{node cond/add}} = AddV2[T=DT_FLOAT](a, b)' "
        "with input shapes: [?,7], [3]."
    )
    assert (message.node, message.operation) == ("cond/add", "AddV2")
    old = read_message(
        "Dimensions must be equal, but are 7 and 3 for 'loss/sub' (op: 'Sub') with input shapes: [?,7], [3]."
    )
    assert old.operation == "Sub"


def test_a_tensor_out_of_scope_tells_where_it_was_made():
    message = read_message(
        "<tf.Tensor 'while/mul:0' shape=() dtype=int32> is out of scope and cannot be used here. Use return values.\n"
        "Please see https://www.tensorflow.org/guide for more information.\n\n"
        "<tf.Tensor 'while/mul:0' shape=() dtype=int32> was defined here:\n"
        '    File "/p/train.py", line 101, in <module>\n'
        "      main()\n"
        '    File "/p/train.py", line 98, in f\n'
        "      out.append(i * 2)\n\n"
        "The tensor <tf.Tensor 'while/mul:0' shape=() dtype=int32> cannot be accessed from FuncGraph(name=f, id=1), "
        "because it was defined in FuncGraph(name=while_body_12, id=2), which is out of scope."
    )
    assert [(f.line, f.text) for f in message.made_at] == [(101, "main()"), (98, "out.append(i * 2)")]
    assert message.made_in == "while_body_12"
    assert "is out of scope" in message.text
    assert "File" not in message.text


def test_a_tensor_used_eagerly_has_no_using_graph():
    message = read_message(
        "<tf.Tensor 'mul:0' shape=() dtype=int32> is out of scope and cannot be used here.\n\n"
        "The tensor <tf.Tensor 'mul:0' shape=() dtype=int32> cannot be accessed from here, because it was defined in "
        "FuncGraph(name=leak, id=2), which is out of scope."
    )
    assert message.made_in == "leak"


def test_before_2_7_scope_errors_named_only_the_graphs():
    message = read_message(
        "The tensor 'Tensor(\"mul:0\", shape=(), dtype=float32)' cannot be accessed here: it is defined in another "
        "function or code block. Use return values, explicit Python locals or TensorFlow collections to access it. "
        "Defined in: FuncGraph(name=build_graph, id=13); accessed from: FuncGraph(name=train_function, id=14)."
    )
    assert message.made_in == "build_graph"


def test_a_key_errors_repr_is_a_message_again():
    message = read_message(
        r"'Exception encountered when calling Functional.call().\n\n\x1b[1m13828515280\x1b[0m\n\nArguments received by "
        r"Functional.call():\n  • inputs=1'"
    )
    assert (message.text, message.layer_class) == ("13828515280", "Functional")
