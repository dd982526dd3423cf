"""Whatever text comes, the readers answer, and soon."""

import contextlib
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fitdoctor.failure import patterns, shapes
from fitdoctor.failure.messages import read_message
from fitdoctor.failure.raw_text import read_text_any
from fitdoctor.failure.text import failures_in
from tests.failure import test_messages
from tests.failure.recorded_texts import PLAIN
from tests.failure.test_text import WRAPPED
from tests.failure.test_text_reports import CELL_COLAB, CELL_NEW, LONG

PIECES = st.sampled_from(
    [
        "Traceback (most recent call last):\n",
        "ValueError                                Traceback (most recent call last)\n",
        '  File "train.py", line 3, in <module>\n',
        "    model.fit(x)\n",
        "ValueError: in user code:\n\n",
        "    ",
        "KeyError: 'a'\n",
        "Graph execution error:\n\n",
        "Detected at node 'a' defined at (most recent call last):\n",
        'Exception encountered when calling layer "x" (type Y).\n\n',
        "Arguments received by Y.call():\n  • x=1\n",
        "was defined here:\n",
        "\t [[{{node a}}]] [Op:__inference_f_1]\n",
        "2 root error(s) found.\n  (0) INVALID: no\n",
        "During handling of the above exception, another exception occurred:\n\n",
        "____ test_x ____\n",
        "E   ValueError: no\n",
        "train.py:3: ValueError\n",
        "Cell In[3], line 2\n",
        "----> 2 m.fit(x)\n",
        "Killed\n",
        "\r",
        "\x08\x08",
        "\x1b[1m",
        "\n",
        "##[error]",
        "2024-05-01T12:00:00.1Z ",
        '{"cells": [',
        "SyntaxError: no\n",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=30), max_size=30).map("".join)
REAL = [PLAIN, LONG, CELL_NEW, CELL_COLAB, WRAPPED]
MESSAGES = [test_messages.GRAPH_2_21, test_messages.GRAPH_2_7, test_messages.GRAPH_2_10]
EXTRACTORS = [
    patterns.allocation_failed,
    patterns.argument_count,
    patterns.attribute_missing,
    patterns.cardinality,
    patterns.dtype_mismatch,
    shapes.exhausted_dimension,
    patterns.index_out_of_range,
    shapes.input_count,
    shapes.input_mismatch,
    patterns.label_out_of_range,
    patterns.missing_gradients,
    patterns.named_tensor,
    shapes.operation_shapes,
    shapes.reshape_sizes,
    shapes.shapes_in,
    shapes.target_and_output,
    patterns.unexpected_keyword,
]


@settings(max_examples=120, deadline=2000, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS)
def test_any_text_is_read(text):
    for failure in failures_in(text):
        assert failure.from_text
        assert "\x1b" not in failure.message


@settings(max_examples=80, deadline=2000)
@given(st.sampled_from(REAL), st.integers(0, 3000), st.integers(0, 3000), st.text(max_size=10))
def test_a_real_text_may_be_cut_and_patched_anywhere(text, start, end, patch):
    failures_in(text[:start] + patch + text[end:])


@settings(max_examples=80, deadline=2000)
@given(TEXTS | st.sampled_from(MESSAGES))
def test_any_message_is_taken_apart(text):
    assert isinstance(read_message(text).text, str)


@settings(max_examples=80, deadline=2000)
@given(st.binary(max_size=2000))
def test_any_bytes_are_read_or_refused(raw):
    with contextlib.suppress(ValueError):
        assert isinstance(read_text_any(raw), str)


@settings(max_examples=60, deadline=2000)
@given(st.text(alphabet="abc'\"[](){},.:= \n0123456789<>_", max_size=400))
def test_any_message_may_be_searched(message):
    for extract in EXTRACTORS:
        extract(message)


HOSTILE = [
    " " * 100_000,
    "(" * 100_000,
    "[1, " * 30_000,
    "a" * 100_000,
    "'" * 100_000,
    "1," * 50_000,
    "Input 0 of layer " + "x" * 100_000,
    'File "' * 20_000,
    "Invalid input shape for input " * 4_000,
    "in user code:\n\n" * 10_000,
    "Exception encountered when calling A.call().\n\n" * 3_000,
    "for '{{node a}} = B[" * 5_000,
    "\t [[{{node " * 10_000,
    "x sizes: " + "1, " * 50_000,
    "{{function_node a}} " * 5_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:20]))
def test_hostile_text_takes_no_time(text):
    start = time.process_time()
    failures_in("ValueError: " + text)
    failures_in('Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: ' + text)
    read_message(text)
    for extract in EXTRACTORS:
        extract(text)
    assert time.process_time() - start < 3


@pytest.mark.parametrize(
    "piece",
    [
        "2024-05-01 12:00:00.1: I tensorflow/core/cpu.cc:1] info with an Error in it\n",
        "\r".join(f"{i}/300 [==>..] - ETA: 3s - loss: 0.{i}" for i in range(300)) + "\n",
        PLAIN,
        "ValueError: again\n",
    ],
    ids=["log", "bars", "tracebacks", "errors"],
)
def test_a_log_of_50_mb_is_read_in_seconds(piece):
    text = piece * (50_000_000 // len(piece)) + PLAIN
    start = time.process_time()
    failures = failures_in(text)
    assert time.process_time() - start < 5
    assert failures[-1].last_user_frame.line == 43
