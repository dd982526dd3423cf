"""`%load_ext fitdoctor` in a notebook: places are cells, and what an earlier cell says is known in a later one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.diagnosed import run_plain
from tests.support.fork_server import ForkServer

pytestmark = pytest.mark.tf

CELLS = [
    "import numpy as np, tensorflow as tf, keras\n%load_ext fitdoctor",
    "x = np.random.rand(64, 8).astype('float32')\ny = np.random.randint(1, 11, 64)",
    "class Net(keras.Model):\n    def call(self, x):\n        return self.nothing(x)",
    "class Net(keras.Model):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.out = keras.layers.Dense(10, activation='softmax')\n"
    "    def call(self, x):\n"
    "        self.last = x * 2\n"
    "        return self.out(x)",
    "net = Net()\nnet.compile('sgd', 'sparse_categorical_crossentropy')",
    "net.fit(x, y, verbose=0)",
    "y = y - 1",
    "%%time\nnet.fit(x, y, verbose=0)",
    "print(net.last + 1)",
    "undefined",
    "model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])\n"
    "model.compile('sgd', lambda t, p: tf.reduce_mean(np.abs(t - p)))",
    "%%time\n\nmodel.fit(x, y,\n          verbose=0)",
    "%unload_ext fitdoctor",
    "net.fit(x, y + 9, verbose=0)",
]


@pytest.fixture(scope="module")
def told(server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What stands below the cells."""
    pytest.importorskip("IPython")
    script: Path = tmp_path_factory.mktemp("notebook") / "kernel.py"
    script.write_text(
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance(colors='nocolor')\n"
        f"for cell in {CELLS!r}:\n"
        "    shell.run_cell(cell, store_history=True)\n"
    )
    return run_plain(server, script).stderr


def test_a_place_is_a_cell_with_its_line(told):
    assert "error[FIT203]" in told
    assert " --> cell In[2], line 2\n  |\n2 | y = np.random.randint(1, 11, 64)\n" in told


def test_a_cell_that_fails_outside_of_fit_is_explained(told):
    part = told.partition("error[FIT401]")[2]
    assert "cell In[4], line 6\n" in part and "self.last = x * 2" in part and "cell In[9], line 1" in part


def test_the_line_of_a_timed_cell_counts_from_its_magic(told):
    part = told.partition("error[FIT407]")[2]
    assert "cell In[11], line 2\n" in part and "np.abs(t - p)" in part


def test_what_is_no_failure_of_training_gets_no_word(told):
    assert told.count("error[") == 3 and "unexplained" not in told


FROM_A_CLASS = [
    "%load_ext fitdoctor",
    "import numpy as np, keras",
    "class Store:\n"
    "    def __init__(self, n):\n"
    "        self.rows = np.random.normal(size=(n, 4))\n"
    "        self.rating = np.random.randint(1, 6, n)\n\n"
    "    def all(self):\n"
    "        return vars(self)['rows'], vars(self)['rating']",
    "1 / 0",
    "%%time\nstore = Store(64)",
    "x, y = store.all()\norder = np.random.permutation(64)",
    "model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(5, activation='softmax')])\n"
    "model.compile('sgd', 'sparse_categorical_crossentropy')",
    "model.fit(x[order], y[order], verbose=0)",
]


def test_the_cells_are_run_again_to_find_the_line_that_made_data_bad(tmp_path: Path):
    pytest.importorskip("IPython")
    script = tmp_path / "kernel.py"
    script.write_text(
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance(colors='nocolor')\n"
        f"for cell in {FROM_A_CLASS!r}:\n"
        "    shell.run_cell(cell, store_history=True)\n"
    )
    # Not forked: the second run is started as this process was.
    told = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True).stderr
    assert " --> cell In[3], line 4\n" in told, told
    assert "← `np.random.randint(1, 6, n)` (cell In[3], line 4)" in " ".join(told.split())
