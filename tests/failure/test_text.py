"""Tracebacks in saved text: terminals and build servers."""

# Recorded text stays in one piece, as it was printed.
# ruff: noqa: E501

import pytest

from fitdoctor.failure.text import failures_in
from tests.failure.recorded_texts import PLAIN, only, users


def test_pythons_own_traceback():
    failure = only(PLAIN)
    assert failure.type == "ValueError"
    assert failure.message.endswith("found shape=(None, 9)")
    assert users(failure) == [("/p/train.py", 47, "<module>"), ("/p/train.py", 43, "main")]
    assert failure.last_user_frame.text == "model.fit(x, y, epochs=2)"
    assert failure.called == "fit"
    assert failure.from_text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Epoch 1/2\nloss: 0.3\n",
        "WARNING: All log messages before absl::InitializeLog()\n",
        "no Error here",
        "Error: 3",
    ],
)
def test_no_failure_gives_nothing(text):
    assert failures_in(text) == []


def test_noise_around_and_in_between():
    noisy = (
        "I0000 00:00:1794770051.568291    3398 port.cc:153] oneDNN custom operations are on.\n"
        "Epoch 1/5\n1/4 [=====>.....] - ETA: 0s\r2/4 [===>] - loss: 0.4\r"
        + PLAIN.replace(
            "    main()\n", "    main()\n2024-05-01 10:00:00.1: W tensorflow/core/x.cc:1] message\n"
        )
        + "2024-05-01 10:00:01.000000: W tensorflow/core/kernels/data/generator_dataset_op.cc:108] finalize\n"
        "WARNING:tensorflow:something\n"
    )
    failure = only(noisy)
    assert failure.message.endswith("found shape=(None, 9)")
    assert len(failure.user_frames) == 2


def test_a_progress_bar_without_an_end_before_the_traceback():
    failure = only("Epoch 1/2\n1/4 ━━━━ 0s 12ms/step - loss: 0.3" + PLAIN)
    assert len(failure.user_frames) == 2


@pytest.mark.parametrize(
    "prefix",
    [
        "2024-05-01T12:00:0{i}.1234567Z ",
        "2024-05-01T12:00:0{i}.1234567Z ##[error]",
        "##[error]",
        "worker-0  | ",
        "[2024-05-01 12:00:0{i},123] {{logging_mixin.py:104}} INFO - ",
        "(train pid=123) ",
        "> ",
        "    ",
        "train\tRun script\t2024-05-01T12:00:0{i}.12Z ",
    ],
)
def test_what_a_build_server_puts_before_each_line(prefix):
    lines = PLAIN.rstrip("\n").split("\n")
    text = "\n".join(prefix.format(i=index) + line for index, line in enumerate(lines))
    failure = only(f"start\n{text}\n")
    expected = only(PLAIN)
    assert (failure.type, failure.message, failure.frames) == (
        expected.type,
        expected.message,
        expected.frames,
    )


def test_chained_tracebacks_are_one_failure():
    text = (
        'Traceback (most recent call last):\n  File "/p/a.py", line 2, in load\n    weights["w"]\nKeyError: \'w\'\n'
        "\nThe above exception was the direct cause of the following exception:\n\n"
        'Traceback (most recent call last):\n  File "/p/a.py", line 4, in load\n    raise ValueError("x") from e\nValueError: x\n'
        "\nDuring handling of the above exception, another exception occurred:\n\n" + PLAIN
    )
    failure = only(text)
    assert failure.message.startswith("Input 0")
    assert [(e.type, e.message) for e in failure.earlier] == [("ValueError", "x"), ("KeyError", "'w'")]
    assert failure.earlier[0].place.line == 4


def test_separate_tracebacks_are_separate_failures():
    second = PLAIN.replace("line 43", "line 55").replace("(None, 9)", "(None, 7)")
    assert [f.last_user_frame.line for f in failures_in(PLAIN + "\nretrying\n\n" + second)] == [43, 55]


def test_a_repeated_failure_is_told_once():
    assert len(failures_in(PLAIN + "\nretry\n" + PLAIN)) == 1


def test_a_cut_traceback_keeps_its_frames():
    cut = "\n".join(PLAIN.split("\n")[:5]) + "\n"
    failure = only(cut)
    assert failure.type == ""
    assert failure.last_user_frame.line == 43


def test_a_traceback_without_its_head():
    failure = only("\n".join(PLAIN.split("\n")[-3:]))
    assert failure.type == "ValueError"
    assert failure.message.startswith("Input 0")


def test_only_the_last_line():
    failure = only(
        "tensorflow.python.framework.errors_impl.InvalidArgumentError: logits and labels must be broadcastable"
    )
    assert (failure.type, failure.message) == (
        "InvalidArgumentError",
        "logits and labels must be broadcastable",
    )


def test_a_message_without_its_type_is_known_by_its_envelope():
    failure = only(
        "Exception encountered when calling Dense.call().\n\nno\n\nArguments received by Dense.call():\n  • inputs=1"
    )
    assert (failure.type, failure.message, failure.layer_class) == ("", "no", "Dense")


def test_windows_paths():
    failure = only(
        'Traceback (most recent call last):\n  File "C:\\Users\\MR\\mnist\\train.py", line 12, in <module>\n    model.fit(x)\n'
        '  File "C:\\Users\\MR\\anaconda3\\lib\\site-packages\\keras\\utils\\traceback_utils.py", line 67, in error_handler\n'
        "    raise e\nValueError: no\n".replace("\n", "\r\n")
    )
    assert users(failure) == [("C:\\Users\\MR\\mnist\\train.py", 12, "<module>")]
    assert failure.called == "fit"


WRAPPED = """\
ValueError: Exception encountered when calling Net.call().

\x1b[1mInput 0 of layer 'dense' is incompatible\x1b[0m

Arguments received by Net.call():
  • x=tf.Tensor(shape=(None, 4), dtype=float32)
  • training=True
"""


def test_a_wrapped_message_ends_with_its_arguments():
    text = PLAIN[: PLAIN.rindex("ValueError:")] + WRAPPED + "All done.\nmore output\n"
    failure = only(text)
    assert failure.message == "Input 0 of layer 'dense' is incompatible"
    assert failure.arguments[-1] == ("training", "True")


def test_a_message_of_several_paragraphs_at_the_end():
    text = PLAIN[: PLAIN.rindex("ValueError:")] + "ValueError: first\n\n```\nx = 1\n```\n\nlast words\n"
    assert only(text).message == "first\n\n```\nx = 1\n```\n\nlast words"


def test_a_fence_around_the_traceback_is_not_its_message():
    assert only("Help!\n```\n" + PLAIN + "```\n").message.endswith("(None, 9)")


def test_what_follows_in_a_long_log_is_not_its_message():
    text = PLAIN + "\n" + "\n".join(f"finished shard {i}" for i in range(200))
    assert only(text).message.endswith("(None, 9)")


def test_a_message_that_quotes_a_traceback():
    text = (
        PLAIN[: PLAIN.rindex("ValueError:")]
        + "tensorflow.python.framework.errors_impl.UnknownError: Graph execution error:\n\n"
        "Detected at node PyFunc defined at (most recent call last):\n<stack traces unavailable>\n"
        "KeyError: 'boo'\nTraceback (most recent call last):\n\n"
        '  File "/p/data.py", line 51, in gen\n    raise KeyError("boo")\n\nKeyError: \'boo\'\n\n\n'
        "During handling of the above exception, another exception occurred:\n\n\n"
        "Traceback (most recent call last):\n\n"
        '  File "/v/lib/python3.11/site-packages/tensorflow/python/ops/script_ops.py", line 269, in __call__\n    ret = f()\n\n'
        "KeyError: 'boo'\n\n\n\t [[{{node PyFunc}}]]\n\t [[IteratorGetNext]] [Op:__inference_f_1]\n"
    )
    failure = only(text)
    assert (failure.type, failure.message, failure.dialect) == ("UnknownError", "KeyError: 'boo'", "graph")
    assert failure.last_user_frame.path == "/p/data.py"
    assert failure.earlier[0].type == "KeyError"


def test_a_remote_traceback():
    text = (
        'multiprocessing.pool.RemoteTraceback: \n"""\nTraceback (most recent call last):\n'
        '  File "/p/work.py", line 3, in job\n    fit()\nValueError: inner\n"""\n\n'
        "The above exception was the direct cause of the following exception:\n\n" + PLAIN
    )
    failure = only(text)
    assert failure.earlier[0].type == "ValueError"
    assert failure.last_user_frame.line == 43


@pytest.mark.parametrize("kind", ["SyntaxError", "IndentationError"])
def test_a_program_that_cannot_be_read(kind):
    failure = only(
        f"  File \"/p/train.py\", line 3\n    model.fit(x\n             ^\n{kind}: '(' was never closed\n"
    )
    assert failure.type == kind
    assert failure.last_user_frame.line == 3
    assert failure.last_user_frame.text == "model.fit(x"


def test_autographs_frames_join_the_traceback():
    text = """\
Traceback (most recent call last):
  File "/p/train.py", line 43, in <module>
    step(x)
  File "/v/lib/python3.11/site-packages/tensorflow/python/util/traceback_utils.py", line 167, in error_handler
    raise e.with_traceback(filtered_tb) from None
  File "/tmp/__autograph_generated_file0.py", line 23, in tf__step
    ag__.for_stmt()
ValueError: in user code:

    File "/p/train.py", line 12, in step  *
        x = inner(x)
    File "/p/train.py", line 5, in inner  *
        y = tf.reshape(x, (7,))

    ValueError: Cannot reshape a tensor

done
"""
    failure = only(text)
    assert [frame.line for frame in failure.user_frames] == [43, 12, 5]
    assert (failure.dialect, failure.message) == ("autograph", "Cannot reshape a tensor")


def test_a_traceback_that_was_cut_gets_the_exception_of_its_title():
    text = (
        "**ValueError: Shapes (256, 4) and (256, 100) are incompatible**\nHow to fix this?\n\n"
        "ValueError                                Traceback (most recent call last)\n"
        "<ipython-input-42-d96732c3590f> in <module>()\n"
        "----> 1 model.fit(x_train, y_train)\n"
    )
    [failure] = failures_in(text)
    assert failure.message.startswith("Shapes (256, 4) and (256, 100)")
    assert failure.last_user_frame.line == 1


def test_the_exception_of_a_worker_thread_explains_the_stop_iteration_of_fit():
    text = (
        "Exception in thread Thread-1:\nTraceback (most recent call last):\n"
        '  File "/usr/lib/python2.7/site-packages/keras/utils/data_utils.py", line 568, in data_generator_task\n'
        "    generator_output = next(self._generator)\nTypeError: function object is not an iterator\n\n"
        "Traceback (most recent call last):\n"
        '  File "train.py", line 85, in <module>\n    model.fit_generator(train_gen, steps_per_epoch=5)\n'
        '  File "/usr/lib/python2.7/site-packages/keras/engine/training.py", line 2011, in fit_generator\n'
        "    generator_output = next(output_generator)\nStopIteration\n"
    )
    [failure] = failures_in(text)
    assert failure.type == "TypeError"
    assert failure.last_user_frame.line == 85


def test_the_same_line_of_two_cells_is_two_places():
    text = (
        "KeyError                                  Traceback (most recent call last)\n"
        "<ipython-input-124-09903f55127d> in <module>()\n---> 10     loss = train_step(batch)\n\n"
        "KeyError: in user code:\n\n    <ipython-input-123-d20897873df4>:10 train_step  *\n"
        "        first = index['<start>']\n\n    KeyError: '<start>'\n"
    )
    [failure] = failures_in(text)
    assert failure.last_user_frame.text == "first = index['<start>']"


def test_the_shapes_that_keras_warned_of_replace_those_of_an_inner_layer():
    text = (
        "WARNING:tensorflow:Model was constructed with shape (None, 30) for input KerasTensor(name='ids'), "
        "but it was called on an input with incompatible shape (None, 75).\n"
        "ValueError: Input 0 of layer dense is incompatible with the layer: expected axis -1 of input shape to have value 480 "
        "but received input with shape (None, 1200)\n"
    )
    assert "expected shape=(None, 30), found shape=(None, 75)" in failures_in(text)[-1].message


def test_a_warning_about_another_number_of_axes_does_not():
    text = (
        "Model was constructed with shape (None, 30, 1) for input x, but it was called on an input with incompatible shape "
        "(None, 75).\nValueError: Input 0 of layer conv is incompatible with the layer: expected min_ndim=3, found ndim=2\n"
    )
    assert "min_ndim" in failures_in(text)[-1].message
