"""Failures in saved text: terminals, notebooks, pytest, build servers."""

# Recorded text stays in one piece, as it was printed.
# ruff: noqa: E501, W291

import json

import pytest

from fitdoctor.failure.text import failures_in

KERAS = "/v/lib/python3.11/site-packages/keras/src"
PLAIN = f"""\
Traceback (most recent call last):
  File "/p/train.py", line 47, in <module>
    main()
  File "/p/train.py", line 43, in main
    model.fit(x, y, epochs=2)
  File "{KERAS}/utils/traceback_utils.py", line 122, in error_handler
    raise e.with_traceback(filtered_tb) from None
  File "{KERAS}/layers/input_spec.py", line 256, in assert_input_compatibility
    raise ValueError(
ValueError: Input 0 of layer 'churn' is incompatible with the layer: expected shape=(None, 8), found shape=(None, 9)
"""


def only(text):
    failures = failures_in(text)
    assert len(failures) == 1, failures
    return failures[0]


def users(failure):
    return [(frame.path, frame.line, frame.function) for frame in failure.user_frames]


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


# --- notebooks ---

CELL_NEW = f"""\
---------------------------------------------------------------------------
ValueError                                Traceback (most recent call last)
Cell In[3], line 2
      1 m = Net(); m.compile('sgd','mse')
----> 2 m.fit(x, x,
      3       verbose=0)

File {KERAS}/utils/traceback_utils.py:122, in filter_traceback.<locals>.error_handler(*args, **kwargs)
    121     # `keras.config.disable_traceback_filtering()`
--> 122     raise e.with_traceback(filtered_tb) from None
    123 finally:

File ~/project/nets.py:7, in Net.call(self, x)
      6     h = self.d(x)
----> 7     return self.d(h[0])

ValueError: Exception encountered when calling Net.call().

\x1b[1mno\x1b[0m

Arguments received by Net.call():
  • x=1
"""
CELL_OLD = """\
---------------------------------------------------------------------------
ValueError                                Traceback (most recent call last)
<ipython-input-3-455f20b90fc1> in <module>
      1 m = Net()
----> 2 m.fit(x, x)

~\\anaconda3\\envs\\ml\\lib\\site-packages\\tensorflow\\python\\keras\\engine\\training.py in fit(self, x, y, **kw)
   1099               callbacks.on_train_batch_begin(step)
-> 1100               tmp_logs = self.train_function(iterator)

~\\project\\nets.py in call(self, x)
      6     h = self.d(x)
----> 7     return self.d(h[0])

ValueError: no
"""
CELL_COLAB = """\
ValueError                                Traceback (most recent call last)
[/tmp/ipython-input-175710984.py](https://localhost:8080/#) in <cell line: 0>()
      1 m = Net()
----> 2 m.fit(x, x)

1 frames[/usr/local/lib/python3.12/dist-packages/keras/src/trainers/trainer.py](https://localhost:8080/#) in fit(self, x)
      8     pass
----> 9     raise

[/content/nets.py](https://localhost:8080/#) in call(self, x)
----> 7     return self.d(h[0])

ValueError: no
"""
CELL_INPUT = """\
ValueError                                Traceback (most recent call last)
Input In [3], in <cell line: 2>()
      1 m = Net()
----> 2 m.fit(x, x)

File ~/anaconda3/lib/python3.9/site-packages/keras/utils/traceback_utils.py:67, in filter_traceback(e)
---> 67 raise e

File ~/project/nets.py:7, in call(self, x)
----> 7     return self.d(h[0])

ValueError: no
"""


@pytest.mark.parametrize(
    ("text", "cell"),
    [(CELL_NEW, 3), (CELL_OLD, 3), (CELL_COLAB, None), (CELL_INPUT, 3)],
    ids=["new", "old", "colab", "input"],
)
def test_notebook_tracebacks_of_all_ages(text, cell):
    failure = only("Epoch 1/5\n" + text)
    assert (failure.type, failure.message) == ("ValueError", "no")
    first, last = failure.user_frames
    assert (first.line, first.cell, first.function) == (2, cell, "<module>")
    assert first.text.startswith("m.fit(x, x")
    assert (last.line, last.function, last.text) == (7, "call", "return self.d(h[0])")
    assert last.path.endswith("nets.py")
    assert failure.called == "fit"


def test_chained_notebook_tracebacks():
    head = "KeyError                                  Traceback (most recent call last)\n"
    first = head + "Cell In[4], line 2\n----> 2     {}['a']\n\nKeyError: 'a'\n\n"
    failure = only(
        first + "During handling of the above exception, another exception occurred:\n\n" + CELL_INPUT
    )
    assert failure.message == "no"
    assert [(e.type, e.place.line, e.place.cell) for e in failure.earlier] == [("KeyError", 2, 4)]


def test_a_saved_notebook_knows_its_cells():
    notebook = {
        "nbformat": 4,
        "cells": [
            {"cell_type": "markdown", "source": "Traceback (most recent call last)"},
            {"cell_type": "code", "outputs": [{"output_type": "stream", "text": ["Epoch 1\n"]}]},
            {
                "cell_type": "code",
                "outputs": [
                    {
                        "output_type": "error",
                        "ename": "ValueError",
                        "evalue": "no",
                        "traceback": CELL_NEW.split("\n"),
                    }
                ],
            },
        ],
    }
    failure = only(json.dumps(notebook))
    assert failure.user_frames[0].cell == 2


# --- pytest ---

LONG = """\
=================================== FAILURES ===================================
__________________________________ test_train __________________________________

    def test_train():
>       train(np.ones((8, 4)), np.ones((8, 1)))

test_train.py:15: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ 
test_train.py:9: in train
    return model.fit(
/v/lib/python3.11/site-packages/keras/src/utils/traceback_utils.py:122: in error_handler
    raise e.with_traceback(filtered_tb) from None
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ 

    def assert_input_compatibility(input_spec, inputs, layer_name):
>                       raise ValueError(
E                       ValueError: Exception encountered when calling Sequential.call().
E                       
E                       [1mInput 0 does not fit[0m
E                       
E                       Arguments received by Sequential.call():
E                         • inputs=1

/v/lib/python3.11/site-packages/keras/src/layers/input_spec.py:227: ValueError
__________________________________ test_assert _________________________________

    def test_assert():
>       assert loss < 2, "diverged"
E       AssertionError: diverged
E       assert 3 < 2

test_train.py:23: AssertionError
=========================== short test summary info ============================
FAILED test_train.py::test_train - ValueError: Exception encountered when calling
FAILED test_train.py::test_assert - AssertionError: diverged
"""


def test_pytests_report():
    first, second = failures_in(LONG)
    assert (first.type, first.message, first.layer_class) == (
        "ValueError",
        "Input 0 does not fit",
        "Sequential",
    )
    assert users(first) == [("test_train.py", 15, "test_train"), ("test_train.py", 9, "train")]
    assert first.last_user_frame.text == "return model.fit("
    assert first.called == "fit"
    assert (second.type, second.message) == ("AssertionError", "diverged\nassert 3 < 2")
    assert users(second) == [("test_train.py", 23, "test_assert")]


def test_pytests_report_in_the_log_of_a_build_server():
    stamped = "\n".join(
        f"2024-05-01T12:00:00.{index:07}Z {line}" for index, line in enumerate(LONG.split("\n"))
    )
    assert failures_in(stamped) == failures_in(LONG)


# --- signs ---


@pytest.mark.parametrize(
    ("line", "signal"),
    [
        ("Killed", "SIGKILL"),
        ("run.sh: line 3: 12345 Killed                  python train.py", "SIGKILL"),
        ("Process finished with exit code 137 (interrupted by signal 9: SIGKILL)", "SIGKILL"),
        ("Out of memory: Killed process 123 (python)", "SIGKILL"),
        ("Segmentation fault (core dumped)", "SIGSEGV"),
        ("2024-01-01 10:00:00.1: F tensorflow/core/x.cc:1] Check failed: ret == 0", "SIGABRT"),
        ("Aborted (core dumped)", "SIGABRT"),
        ("Bus error (core dumped)", "SIGBUS"),
    ],
)
def test_killed_processes(line, signal):
    failure = only(f"Epoch 1/3\n{line}\n")
    assert failure.type == signal
    assert line.startswith(failure.message)


@pytest.mark.parametrize(
    "line",
    ["the job killed two birds", "Killed processes are restarted", "status: not Aborted yet", "loss: 137"],
)
def test_words_that_are_no_signals(line):
    assert failures_in(line + "\n") == []


def test_faulthandlers_frames_are_turned_round():
    failure = only(
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f (most recent call first):\n"
        '  File "/v/lib/python3.11/site-packages/tensorflow/python/eager/execute.py", line 53 in quick_execute\n'
        '  File "/p/train.py", line 9 in main\n  File "/p/train.py", line 12 in <module>\n'
    )
    assert failure.type == "SIGSEGV"
    assert [frame.line for frame in failure.user_frames] == [12, 9]


@pytest.mark.parametrize(
    "line",
    [
        "/v/lib/python3.11/site-packages/keras/src/trainers/epoch_iterator.py:164: UserWarning: Your input ran out of data; "
        "interrupting training.",
        "WARNING:tensorflow:Your input ran out of data; interrupting training.",
        "WARNING:tensorflow:Gradients do not exist for variables ['dense/kernel:0'] when minimizing the loss.",
    ],
)
def test_warnings_that_matter(line):
    failure = only(f"Epoch 1/3\n{line}\n  more\n")
    assert failure.type == "UserWarning"
    assert failure.message.startswith(("Your input ran out", "Gradients do not exist"))


def test_a_warning_before_a_failure_is_kept_beside_it():
    warning = "WARNING:tensorflow:Your input ran out of data; interrupting training.\n"
    assert [failure.type for failure in failures_in(warning + PLAIN)] == ["UserWarning", "ValueError"]
