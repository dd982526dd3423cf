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


def test_a_file_that_only_calls_the_trainer_of_another_is_followed(tmp_path):
    (tmp_path / "trainer.py").write_text(
        "from tensorflow import keras\n\nclass Trainer:\n    def __init__(self, classes):\n"
        "        self.model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(classes, activation='softmax')])\n"
        "        self.model.compile('adam', 'categorical_crossentropy')\n\n"
        "    def train(self, x, y):\n        self.model.fit(x, y)\n"
    )
    (tmp_path / "main.py").write_text(
        "import numpy as np\nfrom trainer import Trainer\n\n"
        "Trainer(4).train(np.random.rand(20, 8), np.random.randint(0, 4, 20))\n"
    )
    assert lint(tmp_path, ".") == [["trainer.py", "6", "FIT201"]]


def test_names_of_tf_keras_keep_their_package_through_other_files(tmp_path):
    (tmp_path / "common.py").write_text("from tf_keras import layers\n")
    (tmp_path / "main.py").write_text(
        "import tf_keras\nfrom common import layers\n\nmodel = tf_keras.Sequential([layers.Dense(1)])\n"
    )
    assert lint(tmp_path, ".") == []
