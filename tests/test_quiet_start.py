"""TensorFlow's start-up messages are dropped, and nothing else is: no line, no order, no terminal."""

import os
import pty
import subprocess
import sys
import textwrap
import time

import pytest

from fitdoctor.quiet_start import NoiseFilter, text_without_noise

NOISE = """\
WARNING: All log messages before absl::InitializeLog() is called are written to STDERR
I0000 00:00:1794949180.403459    8073 port.cc:153] oneDNN custom operations are on. You may see slightly different numbers.
I0000 00:00:1794949180.753146    8073 cpu_feature_guard.cc:227] This TensorFlow binary is optimized to use available CPU.
To enable the following instructions: AVX2 FMA, in other operations, rebuild TensorFlow with the appropriate compiler flags.
2024-08-01 10:00:00.123456: I tensorflow/core/util/port.cc:113] oneDNN custom operations are on. To turn them off, set it.
2024-08-01 10:00:00.123456: I external/local_tsl/tsl/cuda/cudart_stub.cc:32] Could not find cuda drivers on it
2024-08-01 10:00:00.123456: E external/local_xla/xla/cuda/cuda_dnn.cc:9261] Unable to register cuDNN factory: Again
2024-08-01 10:00:00.123456: W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not find TensorRT
E0000 00:00:1742916500.574180   12345 cuda_blas.cc:1418] Unable to register cuBLAS factory: Attempting to register factory
W0000 00:00:1742916500.574180   12345 computation_placer.cc:177] computation placer already registered. Please check linkage.
2025-03-25 15:28:20.574180: E external/local_xla/xla/stream_executor/cuda/cuda_executor.cc:1228] INTERNAL: CUDA Runtime error
2025-03-25 15:28:20.574180: E external/local_xla/xla/cuda/cuda_platform.cc:51] failed call to cuInit: (303)
2025-03-25 15:28:20.574180: I external/local_xla/xla/cuda/cuda_diagnostics.cc:160] env: CUDA_VISIBLE_DEVICES="-1"
WARNING:tensorflow:From /site-packages/tf_keras/src/losses.py:2976: The name x is deprecated. Please use y.

"""
REAL_ERROR = "cuda_executor.cc:1228] INTERNAL"
"""A line of NOISE that says something: it is to stay."""


def test_every_known_line_is_dropped():
    kept = text_without_noise(NOISE)
    assert [line for line in NOISE.splitlines() if REAL_ERROR in line] == kept.splitlines()


@pytest.mark.parametrize(
    "line",
    [
        "training begins",
        "WARNING:tensorflow:5 out of the last 5 calls triggered tf.function retracing.",
        "WARNING: All log messages of my own",
        "W0000 00:00:1742916500.574180   12345 gpu_device.cc:2344] Cannot dlopen some GPU libraries. Please make sure",
        "F0000 00:00:1742916500.574180   12345 tensor.cc:12] Check failed: ndims == 2",
        "E0000 00:00:1742916500.574180   12345 bfc_allocator.cc:512] Allocator ran out of memory",
        "To enable the following instructions: read the manual",
        "",
    ],
)
def test_nothing_else_is(line):
    assert text_without_noise(f"{line}\n") == f"{line}\n"
    assert NoiseFilter().feed(f"{line}\n".encode()) == f"{line}\n".encode()


def test_a_deprecation_goes_with_its_advice_and_no_further():
    text = (
        "WARNING:tensorflow:From /lib/keras/x.py:3: f (from y) is deprecated and will be removed in a future version.\n"
        "Instructions for updating:\nUse g instead.\nmine\n"
    )
    assert text_without_noise(text) == "mine\n"


def test_lines_that_come_in_pieces_and_a_line_without_an_end():
    noise = NoiseFilter()
    whole = NOISE.encode() + b"Loading ..."
    shown = b"".join(noise.feed(whole[i : i + 7]) for i in range(0, len(whole), 7)) + noise.flush()
    assert shown.endswith(b"Loading ...")
    assert shown.count(b"\n") == 1


# --- under `run`, with a module in TensorFlow's place that writes as TensorFlow does ------------------------------

LINE = NOISE.splitlines()[1]


def written(folder, starting: str, program: str) -> None:
    package = folder / "tensorflow"
    package.mkdir()
    (package / "__init__.py").write_text(f"import os\nLINE = {LINE!r}\n" + textwrap.dedent(starting))
    (folder / "train.py").write_text("import os, sys, time\n" + textwrap.dedent(program))


def run(folder, *words, **settings):
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    environment.pop("TF_CPP_MIN_LOG_LEVEL", None)
    return subprocess.run(
        [sys.executable, "-m", "fitdoctor", "run", *words, "train.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**environment, **settings},
    )


IN_ORDER = """
    os.write(2, b"before\\n")
    import tensorflow
    os.write(2, b"after\\n")
    os.write(2, tensorflow.LINE.encode() + b"\\n")
"""


def lines(done) -> list[str]:
    return [line for line in done.stderr.splitlines() if not line.startswith("fitdoctor")]


def test_only_what_is_written_while_it_starts_is_looked_at_and_in_order(tmp_path):
    written(tmp_path, "os.write(2, f'one\\n{LINE}\\ntwo\\n'.encode())", IN_ORDER)
    assert lines(run(tmp_path)) == ["before", "one", "two", "after", LINE]


def test_verbose_and_level_0_leave_everything(tmp_path):
    written(tmp_path, "os.write(2, f'one\\n{LINE}\\ntwo\\n'.encode())", IN_ORDER)
    everything = ["before", "one", LINE, "two", "after", LINE]
    assert lines(run(tmp_path, "-v")) == everything
    assert lines(run(tmp_path, TF_CPP_MIN_LOG_LEVEL="0")) == everything


@pytest.mark.parametrize("level", ["1", "3"])
def test_a_level_that_asks_for_less_does_not_bring_the_lines_back(tmp_path, level):
    written(tmp_path, "os.write(2, f'one\\n{LINE}\\ntwo\\n'.encode())", IN_ORDER)
    assert lines(run(tmp_path, TF_CPP_MIN_LOG_LEVEL=level)) == ["before", "one", "two", "after", LINE]


def test_a_line_without_an_end_keeps_its_place(tmp_path):
    written(
        tmp_path, "os.write(2, f'{LINE}\\nLoading'.encode())", "import tensorflow\nos.write(2, b' done\\n')"
    )
    assert lines(run(tmp_path)) == ["Loading done"]


@pytest.mark.parametrize("death", ["os.abort()", "os.kill(os.getpid(), 9)", "os._exit(3)"])
def test_nothing_is_lost_when_it_dies_while_it_starts(tmp_path, death):
    written(
        tmp_path, f"os.write(2, f'{{LINE}}\\nCheck failed: x\\nhalf'.encode())\n{death}", "import tensorflow"
    )
    assert run(tmp_path).stderr.startswith("Check failed: x\nhalf")


def test_what_is_written_while_it_starts_is_shown_at_once(tmp_path):
    written(
        tmp_path, "import time\nos.write(2, b'waiting for worker 1\\n')\ntime.sleep(30)", "import tensorflow"
    )
    environment = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    process = subprocess.Popen(
        [sys.executable, "-m", "fitdoctor", "run", "train.py"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        env=environment,
    )
    try:
        assert process.stderr is not None
        began = time.monotonic()
        assert process.stderr.readline() == b"waiting for worker 1\n"
        assert time.monotonic() - began < 20
        assert process.poll() is None
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_the_traceback_of_an_import_that_fails_is_that_of_python(tmp_path):
    written(tmp_path, "def start():\n    raise ValueError('no')\nstart()", "import tensorflow")
    with_us = run(tmp_path).stderr
    plain = subprocess.run(
        [sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    ).stderr
    assert (
        plain.splitlines()[1:]
        == [line for line in with_us.splitlines() if not line.startswith(("fitdoctor", "unexplained"))][
            1 : len(plain.splitlines())
        ]
    )


def test_the_first_search_for_devices_is_quiet_too_and_the_class_is_as_it_was(tmp_path):
    written(
        tmp_path,
        "from tensorflow.python.eager import context",
        """
        import tensorflow
        from tensorflow.python.eager.context import Context
        mine = vars(Context)["ensure_initialized"]
        Context().ensure_initialized()
        os.write(2, b"then\\n")
        Context().ensure_initialized()
        print(mine is not vars(Context)["ensure_initialized"], vars(Context)["ensure_initialized"].__closure__)
    """,
    )
    folder = tmp_path / "tensorflow/python/eager"
    folder.mkdir(parents=True)
    (folder / "context.py").write_text(
        f"import os\nclass Context:\n    def ensure_initialized(self):\n        os.write(2, {LINE.encode()!r} + b'\\n')\n"
    )
    done = run(tmp_path)
    assert done.stdout == "True None\n"
    assert lines(done) == ["then", LINE]


def test_the_terminal_stays_a_terminal(tmp_path):
    written(
        tmp_path,
        "os.write(2, f'{LINE}\\n'.encode())",
        "print(os.isatty(2), flush=True)\nimport tensorflow\nprint(os.isatty(2), sys.stderr.isatty(), flush=True)",
    )
    environment = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "fitdoctor", "run", "train.py"],
        cwd=tmp_path,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:
        pass  # the terminal is closed once nobody writes to it
    process.wait(30)
    os.close(ours)
    assert shown.splitlines()[:2] == [b"True", b"True True"]
    assert b"oneDNN" not in shown


# --- our own commands ---------------------------------------------------------------------------------------------

COMMAND = """
import os, sys
from fitdoctor.quiet_start import quiet_process
with quiet_process():
    os.write(2, {text!r})
    {then}
print("after", file=sys.stderr)
"""


@pytest.mark.parametrize(("then", "expected"), [("pass", "mine\nhalfafter\n"), ("os.abort()", "mine\nhalf")])
def test_a_command_passes_on_what_is_not_noise_even_when_it_crashes(then, expected):
    environment = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    text = f"{NOISE.splitlines()[1]}\nmine\nhalf".encode()
    done = subprocess.run(
        [sys.executable, "-c", COMMAND.format(text=text, then=then)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environment,
    )
    assert done.stderr == expected


PROGRAM = """
import keras
import tensorflow as tf

def build_model():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model

def data():
    return tf.data.Dataset.from_tensor_slices(tf.zeros((8, 4))).batch(2)
"""


@pytest.mark.tf
@pytest.mark.parametrize("words", ["memory train.py", "scan train.py:data", "env --devices"])
def test_our_commands_show_none_of_it(tmp_path, words):
    (tmp_path / "train.py").write_text(PROGRAM)
    environment = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    done = subprocess.run(
        [sys.executable, "-m", "fitdoctor", *words.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
        env=environment,
    )
    assert done.returncode == 0, done.stdout
    assert done.stderr == ""


def test_progress_is_shown_on_a_terminal_although_native_output_is_redirected(tmp_path):
    (tmp_path / "data.py").write_text(
        "import time\n"
        "class Slow:\n"
        "    def __iter__(self):\n"
        "        for i in range(10):\n"
        "            time.sleep(0.1)\n"
        "            yield [[float(i)]]\n"
        "slow = Slow()\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "fitdoctor", "scan", "data.py:slow"],
        cwd=tmp_path,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**environment, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:
        pass  # the terminal is closed once nobody writes to it
    out, _ = process.communicate(timeout=60)
    os.close(ours)
    assert b"rows/s" in shown
    assert b"10 rows" in out
