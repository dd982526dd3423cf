"""A run that is forked from a process with TensorFlow behaves as one in a fresh interpreter."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from fitdoctor.repair import proof
from fitdoctor.repair.copies import Laid
from fitdoctor.repair.warm_start import WarmStart

TOLD = "import atexit, os, pathlib, sys\ntold = pathlib.Path(__file__).with_suffix('.told')\n"
PROGRAMS = {
    "ends": "",
    "exits": "sys.exit(3)",
    "exits with words": "sys.exit('no data')",
    "raises": "raise ValueError('no')",
    "is killed": "os.kill(os.getpid(), 9)",
    "is main": "told.write_text(f'{__name__} {sys.argv} {sys.path[0]} {os.getcwd()} {sys.stdin.read()!r}')",
    "is main to others": "import __main__\ntold.write_text(str(__main__.__dict__['TEN']))\nTEN = 11",
    "cleans up": "atexit.register(told.write_text, 'at the end')\nraise ValueError('no')",
    "starts processes": "import subprocess\ntold.write_text(str(subprocess.run(['true']).returncode))",
    "pickles its own": "import pickle\nclass Own: pass\ntold.write_text(str(pickle.loads(pickle.dumps(Own())))[:20])",
    "computes": "import tensorflow as tf\ntold.write_text(str(tf.reduce_sum(tf.ones((2, 3))).numpy()))",
}


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    with WarmStart(str(tmp_path_factory.mktemp("alone")), ["import keras"]) as started:
        yield started


def ran(path: Path, warm: WarmStart | None, timeout: float = 60.0) -> tuple[object, ...]:
    wishes = proof.Wishes(str(path), ("--rate", "3"), timeout)
    seen = proof.run(wishes, Laid(str(path)), warm.start if warm is not None else None)
    told = path.with_suffix(".told")
    words = told.read_text() if told.exists() else ""
    told.unlink(missing_ok=True)
    script = seen.diagnosis.script
    return seen.status, seen.timed_out, seen.place, seen.wrong, script and script.exception, words


@pytest.mark.tf
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_forked_run_is_like_a_fresh_one(warm, tmp_path, name):
    path = tmp_path / "program.py"
    path.write_text(f"{TOLD}TEN = 10\n{PROGRAMS[name]}\n")
    fresh, forked = ran(path, None), ran(path, warm)
    assert warm.process is not None, "no process to fork from"
    assert forked == fresh


@pytest.mark.tf
def test_what_a_run_starts_ends_with_its_time(warm, tmp_path):
    path = tmp_path / "program.py"
    left = "import subprocess\nlate = subprocess.Popen(['sleep', '60'])\ntold.write_text(str(late.pid))\n"
    path.write_text(f"{TOLD}{left}late.wait()\n")
    status, timed_out, *_rest, words = ran(path, warm, timeout=3.0)
    assert timed_out and status != 0
    deadline = time.monotonic() + 10
    while Path(f"/proc/{words}").exists() and "Z" not in Path(f"/proc/{words}/stat").read_text().split()[2]:
        assert time.monotonic() < deadline, "the program's process lives on"


@pytest.mark.parametrize(
    "line", ["os.environ['KERAS_BACKEND'] = 'jax'", "os.putenv('A', 'b')", "load_dotenv()"]
)
def test_a_program_that_sets_up_tensorflow_starts_afresh(tmp_path, line):
    with WarmStart(str(tmp_path), ["import keras", line]) as started:
        assert started.process is None
        assert started.start(tmp_path, 1.0) is None


def test_a_program_without_tensorflow_does_not_wait_for_it(tmp_path):
    with WarmStart(str(tmp_path), ["import numpy"]) as started:
        assert started.process is None


@pytest.mark.tf
def test_a_module_beside_the_program_that_has_the_name_of_a_loaded_one_is_used(tmp_path):
    (tmp_path / "queue.py").write_text("OWN = True\n")
    path = tmp_path / "program.py"
    path.write_text(f"{TOLD}import queue\ntold.write_text(str(queue.OWN))\n")
    with WarmStart(str(path.parent), ["import keras", path.read_text()]) as started:
        assert ran(path, started)[-1] == "True"
        assert started.process is not None and os.path.exists(f"/proc/{started.process.pid}")
