"""Texts as they were printed, and the failures in them."""

# Recorded text stays in one piece, as it was printed.

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
