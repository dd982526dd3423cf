"""A program that runs out of memory: told before it starts, and explained when it died all the same."""

from __future__ import annotations

import os
import subprocess
import sys
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
