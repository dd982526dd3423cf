"""A program that runs out of memory: told before it starts, and explained when it died all the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.tf,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RLIMIT_AS is not kept elsewhere"),
]

PROGRAM = """
import numpy as np
import tensorflow as tf

inputs = x = tf.keras.Input((64, 64, 3))
for _ in range(6):
    x = tf.keras.layers.Conv2D(32, 3, padding="same", activation="relu")(x)
outputs = tf.keras.layers.Dense(1)(tf.keras.layers.GlobalAveragePooling2D()(x))
model = tf.keras.Model(inputs, outputs)
model.compile("adam", "mse")
pictures = np.zeros((4096, 64, 64, 3), "uint8")
model.fit(pictures, np.zeros((4096, 1), "float32"), batch_size=4096, verbose=0)
"""


def limited(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the program in six gigabytes of address space."""
    (folder / "program.py").write_text(PROGRAM)
    command = f"ulimit -v 6000000; exec {sys.executable} -m fitdoctor run {' '.join(options)} program.py"
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        check=False,
    )


def test_it_is_predicted_before(tmp_path):
    ended = limited(tmp_path)
    assert ended.returncode == 1
    # TensorFlow's own threads write to stderr, too: a line of ours may be cut in two.
    told = ("FIT801", "needs at least 10.2 GiB", "(RLIMIT_AS) has", "program.py:12", "batch_size=512")
    assert [words for words in told if words not in ended.stderr] == [], ended.stderr


def test_it_is_explained_after(tmp_path):
    ended = limited(tmp_path, "--ignore", "FIT801")
    assert ended.returncode != 0
    assert "error[FIT806]" in ended.stderr
    assert "use a smaller batch" in ended.stderr


def children(pid: int) -> list[int]:
    """The processes below one, as Linux tells them."""
    try:
        below = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return [*below, *(inner for one in below for inner in children(one))]


def resident(pid: int) -> int:
    """Bytes that a process holds."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def test_a_kill_at_a_limit_is_explained_by_the_parent(tmp_path):
    """As a container does: the child gets no exception and no time, at one gigabyte."""
    (tmp_path / "program.py").write_text(PROGRAM.replace("4096", "2048"))
    words = ["run", "--ignore", "FIT801", "program.py"]
    running = subprocess.Popen(
        [sys.executable, "-m", "fitdoctor", *words],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    ends = time.monotonic() + 200
    while running.poll() is None and time.monotonic() < ends:
        for child in children(running.pid):
            if resident(child) > 1 << 30:
                os.kill(child, signal.SIGKILL)
        time.sleep(0.01)
    said = running.communicate(timeout=60)[1]
    assert running.returncode == 128 + signal.SIGKILL
    told = ("FIT806", "SIGKILL", "program.py:12", "use a smaller batch", "it was using 1.")
    assert [words for words in told if words not in said] == [], said
