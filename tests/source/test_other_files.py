"""A program in several files is followed as one."""

from __future__ import annotations

import subprocess
import sys

FILES = {
    "config.py": 'FEATURES = 8\nCFG = {"classes": 3}\n',
    "loader.py": (
        "import numpy as np\nfrom config import CFG, FEATURES\n\n"
        "class Base:\n    def __init__(self, rows):\n        self.rows = rows\n\n"
        "class Loader(Base):\n    def load(self):\n"
        "        return np.random.rand(self.rows, FEATURES + 1), np.random.randint(0, CFG['classes'], self.rows)\n"
    ),
    "net.py": (
        "from tensorflow import keras\nimport config as cfg\n\n"
        "def build():\n    return keras.Sequential([\n        keras.Input((cfg.FEATURES,)),\n"
        "        keras.layers.Dense(cfg.CFG['classes'], activation='softmax'),\n    ])\n"
    ),
    "train.py": (
        "import loader\nfrom net import build\n\n"
        "x, y = loader.Loader(100).load()\nmodel = build()\n"
        "model.compile('adam', 'categorical_crossentropy')\nmodel.fit(x, y)\n"
    ),
}


def lint(folder, *words):
    command = [sys.executable, "-m", "fitdoctor", "lint", "--output-format", "concise", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return [[*line.split(" ")[0].split(":")[:2], line.split(" ")[2]] for line in done.stdout.splitlines()]


def test_what_other_files_make_is_known_whichever_are_named(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    told = [["net.py", "6", "FIT101"], ["train.py", "6", "FIT201"]]
    assert lint(tmp_path, "train.py") == told
    assert lint(tmp_path, ".") == told
    (tmp_path / "net.py").write_text(
        FILES["net.py"].replace("(cfg.FEATURES,)),", "(cfg.FEATURES,)),  # fitdoctor: ignore[FIT101]")
    )
    assert lint(tmp_path, "train.py") == told[1:]
