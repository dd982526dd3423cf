"""Failures as notebooks and pytest show them, and ends without an exception."""

# Recorded text stays in one piece, as it was printed.
# ruff: noqa: W291

import json

import pytest

from fitdoctor.failure.text import failures_in
from tests.failure.recorded_texts import KERAS, PLAIN, only, users

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
                "source": "x = 1\nm.fit(x, x,\n      verbose=0)",
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
