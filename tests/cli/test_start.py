"""What `lint` imports: that decides how long it takes to start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SLOW = {
    "dataclasses",
    "inspect",
    "pathlib",
    "json",
    "difflib",
    "shutil",
    "numpy",
    "rich",
}


def imported_for(path, text):
    path.write_text(text, "utf-8")
    code = (
        "import sys; from fitdoctor.cli import main; "
        f"status = main(['lint', '--no-cache', '--output-format', 'concise', {str(path)!r}]); "
        "print(status, *sys.modules)"
    )
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    status, *modules = done.stdout.split()
    assert status == "0", done.stderr
    return set(modules)


def test_a_file_without_keras_needs_neither_the_catalogue_nor_the_analysis(tmp_path):
    modules = imported_for(tmp_path / "json_codec.py", "import sys\n\nprint(sys.argv)\n")
    assert not modules & (SLOW | {"ast", "fitdoctor.catalogue", "fitdoctor.source.module"})


def test_a_small_training_program_needs_few_causes_and_nothing_slow(tmp_path):
    text = (
        "import keras\nimport numpy as np\n\nx, y = np.zeros((64, 8)), np.zeros((64, 1))\n"
        "model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])\n"
        "model.compile('adam', 'mse')\nmodel.fit(x, y)\n"
    )
    modules = imported_for(tmp_path / "small.py", text)
    assert not modules & SLOW
    assert len([name for name in modules if name.endswith(".cause")]) < 25
