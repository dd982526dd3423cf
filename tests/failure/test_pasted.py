"""Tracebacks as people paste them: every form gives the exception, its message and the user's own line."""

from __future__ import annotations

import json

import pytest

from fitdoctor.diagnose import examine_failure
from fitdoctor.failure.text import failures_in

SAID = (
    "Cannot convert a symbolic tf.Tensor (data:0) to a numpy array. This error may indicate that you're trying to pass a "
    "Tensor to a NumPy call, which is not supported."
)
LIBRARY = "/v/lib/python3.11/site-packages/keras/src/utils/traceback_utils.py"
PLAIN = f"""Traceback (most recent call last):
  File "/home/me/train.py", line 30, in <module>
    model.fit(x, y)
  File "{LIBRARY}", line 122, in error_handler
    raise e.with_traceback(filtered_tb) from None
  File "/home/me/train.py", line 9, in rmsle
    return np.mean(np.log1p(p))
NotImplementedError: {SAID}
"""
NOTEBOOK = f"""NotImplementedError                       Traceback (most recent call last)
<ipython-input-7-d13425ded836> in <module>()
      1 EPOCHS = 20
----> 2 model.fit(x, y)

{LIBRARY} in error_handler(*args, **kwargs)
--> 122     raise e.with_traceback(filtered_tb) from None

<ipython-input-5-76cfb123c217> in rmsle(t, p)
      8 def rmsle(t, p):
----> 9     return np.mean(np.log1p(p))

NotImplementedError: {SAID}
"""


def _record(stack: str, message: str) -> str:
    return json.dumps({"name": "NotImplementedError", "message": message, "stack": stack}, indent=4)


FORMS = {
    "plain": PLAIN,
    "a notebook, quoted": "".join(f"> {line}\n" for line in NOTEBOOK.splitlines()),
    "a notebook, each line in backticks": "".join(f"`{line}`\n" for line in NOTEBOOK.splitlines()),
    "a notebook on a page that folds white space": "\n".join(
        " ".join(line.replace("<ipython-input-7-d13425ded836>", "").split()) for line in NOTEBOOK.splitlines()
    ),
    "a notebook of VS Code": NOTEBOOK.replace(
        "<ipython-input-5-76cfb123c217> in rmsle(t, p)", "/me/a.ipynb Cell 5 line 9"
    ),
    "R": f"Error in py_call_impl(callable, dots$args) : \n  NotImplementedError: in user code:\n\n"
    f'    File "/home/me/train.py", line 9, in rmsle  *\n        return np.mean(np.log1p(p))\n\n'
    f"    NotImplementedError: {SAID}\n",
    "the debugger of VS Code": f"Exception has occurred: NotImplementedError       (note: full exception trace is shown)\n"
    f'{SAID}\n  File "/home/me/train.py", line 9, in rmsle\n    return np.mean(np.log1p(p))\n',
    "quoted in a mail": "".join(f"> {line}\n" for line in PLAIN.splitlines()),
    "docker compose": "".join(f"trainer-1  | {line}\n" for line in PLAIN.splitlines()),
    "indented on a page": "".join(f"    {line}\n" for line in PLAIN.splitlines()),
    "a page that removes the indentation": "".join(f"{line.strip()}\n" for line in PLAIN.splitlines()),
    "frames wrapped by a mail program": PLAIN.replace('", line', '",\nline'),
    "the record that VS Code copies": _record(NOTEBOOK, SAID),
    "the record that VS Code copies, cut": _record(NOTEBOOK.partition("NotImplementedError: ")[0], SAID)[:-3],
    "an error while Python ends": f"""{PLAIN}Exception ignored in: <function Atomic.__del__ at 0x7f>
Traceback (most recent call last):
  File "/v/lib/python3.8/site-packages/tensorflow/python/eager/atomic.py", line 218, in __del__
TypeError: 'NoneType' object is not subscriptable
""",
    "cut while handling": f"""{PLAIN}
During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/home/me/train.py", line 40, in <module>
    main()
""",
    "quoted, its head cut off": "".join(f"> {line}\n" for line in PLAIN.splitlines()[1:]),
    "its head cut off": PLAIN.partition("122, in error_handler\n")[2],
    "another process": f"""joblib.externals.loky.process_executor._RemoteTraceback:
\"\"\"
{PLAIN}\"\"\"

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/home/me/folds.py", line 3, in <module>
    Parallel(n_jobs=2)(delayed(run_fold)(i) for i in range(5))
NotImplementedError: {SAID}
""",
    "passed on": f"""{PLAIN}
The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/home/me/train.py", line 40, in <module>
    main()
  File "/home/me/train.py", line 22, in main
    raise RuntimeError("training failed") from error
RuntimeError: training failed
""",
    "repeated while handling": f"""{PLAIN}
During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/home/me/train.py", line 22, in main
    raise TrainingError(f"fold 3: {{error}}")
TrainingError: fold 3: {SAID}
""",
    "colab": f"""---------------------------------------------------------------------------
NotImplementedError                       Traceback (most recent call last)
<ipython-input-5-0f1c0b1d2e3f> in <cell line: 9>()
----> 9 model.fit(x, y)

2 frames
<ipython-input-3-aabbccddeeff> in rmsle(t, p)
      8 def rmsle(t, p):
----> 9     return np.mean(np.log1p(p))

NotImplementedError: {SAID}
""",
    "databricks": f"""---------------------------------------------------------------------------
NotImplementedError                       Traceback (most recent call last)
<command-3971> in <module>
----> 3 model.fit(x, y)

<command-3970> in rmsle(t, p)
      8 def rmsle(t, p):
----> 9     return np.mean(np.log1p(p))

NotImplementedError: {SAID}
""",
    "spyder": f"""Traceback (most recent call last):

  File ~\\anaconda3\\Lib\\site-packages\\spyder_kernels\\py3compat.py:356 in compat_exec
    exec(code, globals, locals)

  File c:\\users\\me\\train.py:31
    model.fit(x, y)

  File c:\\users\\me\\train.py:9 in rmsle
    return np.mean(np.log1p(p))

NotImplementedError: {SAID}
""",
    "rich": f"""╭──────────────── Traceback (most recent call last) ─────────────────╮
│ /home/me/train.py:30 in <module>                                   │
│                                                                    │
│   29 model.compile("adam", rmsle)                                  │
│ ❱ 30 model.fit(x, y)                                               │
│                                                                    │
│ {LIBRARY}:122 in │
│ error_handler                                                      │
│                                                                    │
│ ❱ 122 │   │   │   raise e.with_traceback(filtered_tb) from None    │
│                                                                    │
│ /home/me/train.py:9 in rmsle                                       │
│                                                                    │
│ ❱  9 │   return np.mean(np.log1p(p))                               │
╰────────────────────────────────────────────────────────────────────╯
NotImplementedError: {SAID}
""",
    "exception group": f"""  + Exception Group Traceback (most recent call last):
  |   File "/home/me/train.py", line 3, in <module>
  |     main()
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/home/me/train.py", line 9, in rmsle
    |     return np.mean(np.log1p(p))
    | NotImplementedError: {SAID}
    +------------------------------------
""",
}


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_every_form_is_read(form: str) -> None:
    diagnosis = examine_failure(failures_in(FORMS[form])[-1])
    assert not diagnosis.crashes
    first = diagnosis.primary
    assert first is not None, diagnosis.unexplained
    assert first.id == "FIT407"
    assert first.location is not None
    assert first.location.line == 9


WORDINGS = [
    (
        "FIT403",
        "InaccessibleTensorError: tf.Graph captured an external symbolic tensor. The symbolic tensor <tf.Tensor 'a:0' "
        "shape=() dtype=float32> is captured by FuncGraph(name=update_state, id=1), but it is defined at "
        "FuncGraph(name=while_1_body_2968, id=2). A tf.Graph is not allowed to capture symoblic tensors from another graph.",
    ),
    ("FIT406", "ModuleNotFoundError: No module named 'tensorflow.contrib'"),
    ("FIT405", "RuntimeError: Attempting to capture an EagerTensor without building a function."),
    ("FIT407", "TypeError: 'Tensor' object does not support item assignment"),
    ("FIT501", "ValueError: tf.function-decorated function tried to create variables on non-first call."),
    (
        "FIT403",
        "ValueError: 'out' has shape (0,) before the loop, but shape (1,) after one iteration. Use tf.autograph…",
    ),
    (
        "FIT202",
        "InvalidArgumentError:  logits and labels must have the same first dimension, got logits shape [32,10] and labels "
        "shape [320]",
    ),
]


@pytest.mark.parametrize(("cause", "said"), WORDINGS, ids=[said[:40] for _, said in WORDINGS])
def test_wordings_of_other_versions(cause: str, said: str) -> None:
    text = f'Traceback (most recent call last):\n  File "train.py", line 9, in call\n    run(x)\n{said}\n'
    first = examine_failure(failures_in(text)[-1]).primary
    assert first is not None
    assert first.id == cause


def test_what_is_refused_after_the_last_batch_of_the_first_epoch_is_the_validation_data() -> None:
    text = """Epoch 1/3
\x1b[1m4/4\x1b[0m \x1b[32m━━━━━━━━\x1b[0m \x1b[1m1s\x1b[0m 4ms/step - loss: 0.51Traceback (most recent call last):
  File "train.py", line 20, in <module>
    model.fit(x, y, epochs=3, validation_data=(xv, yv))
ValueError: Input 0 with name 'input_layer' of layer 'functional' is incompatible with the layer: \
expected shape=(None, 5), found shape=(20, 6)
"""
    assert failures_in(text)[-1].trained
    assert not failures_in(text.replace("4/4", "3/4"))[-1].trained
    first = examine_failure(failures_in(text)[-1]).primary
    assert first is not None
    assert first.id == "FIT712"
