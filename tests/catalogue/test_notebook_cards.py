"""What a notebook shows below its cells: a short traceback and a card, nothing on standard error, nothing lost."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.diagnosed import run_plain
from tests.support.fork_server import ForkServer

pytestmark = pytest.mark.tf

KERNEL = """
import json, re, sys
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

shell = InteractiveShell.instance(colors="nocolor")
cells, kernel, target = {cells!r}, {kernel!r}, {target!r}
if kernel:
    shell.kernel = object()
told = {{}}
for name, cell in cells:
    publisher = shell.display_pub
    with capture_output(display=False) as streams:
        sys.__stderr__ = sys.stderr
        if kernel:
            shell.display_pub = CapturingDisplayPublisher()
        result = shell.run_cell(cell, store_history=True)
        shown = [output["data"] for output in getattr(shell.display_pub, "outputs", [])]
        shell.display_pub = publisher
    told[name] = dict(stdout=streams.stdout, stderr=streams.stderr, shown=shown, number=shell.execution_count - 1)
open(target, "w").write(json.dumps(told))
"""

CELLS = [
    ("load", "import numpy as np, keras, tensorflow as tf, fitdoctor\n%load_ext fitdoctor"),
    ("nothing failed", "fitdoctor.explain()"),
    ("status", "%fitdoctor"),
    (
        "data",
        "x = np.random.rand(64, 8).astype('float32')\n"
        "y = np.random.randint(1, 11, 64)\n"
        "model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(10, activation='softmax')])\n"
        "model.compile('sgd', 'sparse_categorical_crossentropy')",
    ),
    ("stopped", "model.fit(x, y, verbose=0)"),
    ("again", "model.fit(x, y, verbose=0)"),
    ("caught", "try:\n    model.fit(x, y, verbose=0)\nexcept Exception:\n    print('caught')"),
    (
        "wrapped",
        "try:\n    model.fit(x, y, verbose=0)\nexcept Exception as e:\n    raise RuntimeError('broke') from e",
    ),
    ("blank lines", "\n \nmodel.fit(\n    x[:, :7], y - 1, verbose=0)"),
    ("captured", "%%capture\n\nmodel.fit(\n    x[:, :7], y - 1, verbose=0)"),
    ("timed", "%%time\n\nmodel.fit(\n    x[:, :7], y - 1, verbose=0)"),
    ("timed line", "if True:\n    %time model.fit(x[:, :7], y - 1, verbose=0)"),
    ("unrelated", "undefined"),
    ("no syntax", "model.fit("),
    ("interrupted", "raise KeyboardInterrupt"),
    (
        "warning",
        "logits = keras.Sequential([keras.Input((8,)), keras.layers.Dense(10)])\n"
        "logits.compile('sgd', 'sparse_categorical_crossentropy')\n"
        "logits.fit(x, y - 1, verbose=0);",
    ),
    (
        "captured warning",
        "%%capture\nwide = keras.Sequential([keras.Input((8,)), keras.layers.Dense(12)])\n"
        "wide.compile('sgd', 'sparse_categorical_crossentropy')\n"
        "wide.fit(x, y - 1, verbose=0);",
    ),
    ("told already", "logits.fit(x, y - 1, verbose=0);"),
    (
        "leak",
        "class Net(keras.Model):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.out = keras.layers.Dense(10, activation='softmax')\n"
        "    def call(self, x):\n"
        "        self.last = x * 2\n"
        "        return self.out(x)\n"
        "net = Net()\nnet.compile('sgd', 'sparse_categorical_crossentropy')\n"
        "net.fit(x, y - 1, verbose=0);",
    ),
    ("in the library", "tf.constant(1.0) + net.last"),
    ("full traceback", "%tb"),
    ("explained", "print(fitdoctor.explain())"),
    ("checked", "# a line\n%fitdoctor check history = model.fit(x, y)"),
    ("checked in a cell", "%%fitdoctor check\nif True:\n    model.fit(\n        {'a': x}['a'], y)"),
    ("checked nothing", "%fitdoctor check print(1)"),
    ("linted", "%fitdoctor lint"),
    ("mistyped", "%fitdoctor chekc"),
    ("off", "%fitdoctor off"),
    ("unwatched", "logits.fit(x, y - 1, verbose=0);"),
    ("on", "%fitdoctor on"),
    ("watched again", "logits.fit(x, y - 1, verbose=0);"),
    ("unload", "%unload_ext fitdoctor"),
    ("gone", "%fitdoctor"),
    ("plain again", "undefined"),
]


@dataclass(frozen=True)
class Below:
    """What stands below a cell."""

    stdout: str
    stderr: str
    shown: list[dict[str, str]]
    number: int

    @property
    def card(self) -> str:
        (bundle,) = self.shown
        assert set(bundle) == {"text/html", "text/plain"}
        return bundle["text/plain"]


@pytest.fixture(scope="module")
def below(server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Below]:
    return run_cells(server, tmp_path_factory.mktemp("kernel"), kernel=True)


@pytest.fixture(scope="module")
def terminal(server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Below]:
    return run_cells(server, tmp_path_factory.mktemp("terminal"), kernel=False)


def run_cells(server: ForkServer, folder: Path, *, kernel: bool) -> dict[str, Below]:
    pytest.importorskip("IPython")
    script, target = folder / "kernel.py", folder / "told.json"
    script.write_text(KERNEL.format(cells=CELLS, kernel=kernel, target=str(target)))
    ended = run_plain(server, script)
    assert ended.status == 0, ended.stderr
    return {name: Below(**told) for name, told in json.loads(target.read_text()).items()}


def test_a_stop_shows_the_users_line_and_then_the_card(below):
    cell = below["stopped"]
    assert "----> 1 model.fit(x, y, verbose=0)" in cell.stdout and "FitWillFail" in cell.stdout
    assert "keras" not in cell.stdout and "fitdoctor/" not in cell.stdout and cell.stderr == ""
    assert "error[FIT203]" in cell.card and "cell In[4], line 2" in cell.card


def test_a_cell_that_fails_again_is_explained_again(below):
    assert "error[FIT203]" in below["again"].card


def test_a_stop_that_the_program_catches_is_shown_all_the_same(below):
    assert below["caught"].stdout == "caught\n" and "error[FIT203]" in below["caught"].card


def test_a_stop_inside_another_exception_is_explained_once(below):
    assert "RuntimeError: broke" in below["wrapped"].stdout and "error[FIT203]" in below["wrapped"].card


def test_what_capture_hides_is_explained_below_it_with_its_own_lines(below):
    cell = below["captured"]
    assert "error[FIT101]" in cell.card and f"(cell In[{cell.number}], line 4)" in cell.card


@pytest.mark.parametrize(("name", "line"), [("timed", 4), ("timed line", 2), ("blank lines", 4)])
def test_a_call_keeps_its_place(below, name, line):
    assert f"shape of `x` (cell In[{below[name].number}], line {line})" in below[name].card
    assert "x[:, :7], y - 1, verbose=0)" in below[name].stdout and "run_cell_magic" not in below[name].stdout


@pytest.mark.parametrize("name", ["unrelated", "no syntax", "interrupted"])
def test_what_is_not_about_training_is_left_alone(below, name):
    words = {"unrelated": "NameError", "no syntax": "SyntaxError", "interrupted": "KeyboardInterrupt"}
    assert not below[name].shown and words[name] in below[name].stdout.rstrip().splitlines()[-1]


def test_a_warning_is_a_card_told_once(below):
    assert "warning[FIT210]" in below["warning"].card and below["warning"].stderr == ""
    assert "warning[FIT210]" in below["captured warning"].card
    assert not below["told already"].shown


def test_a_long_traceback_is_shortened_and_still_there(below):
    short, full = below["in the library"].stdout, below["full traceback"].stdout
    assert (
        "tf.constant(1.0) + net.last" in short
        and "site-packages" not in short.partition("was defined here")[0]
    )
    assert "more lines" in short and "site-packages" in full and len(full) > 2 * len(short)
    card = below["in the library"].card
    assert "error[FIT401]" in card and card.endswith("`%tb` shows all of it.")


def test_explain_takes_the_last_exception(below):
    assert "FIT401" in below["explained"].stdout
    assert "nothing to explain" in below["nothing failed"].stdout


def test_a_call_is_checked_without_being_made(below):
    cell = below["checked"]
    assert f" --> cell In[{cell.number}], line 2\n" in cell.card and cell.stdout == ""
    assert "2 | %fitdoctor check history = model.fit(x, y)\n" + "  | " + " " * 40 + "^ labels" in cell.card
    assert "error[FIT203]" in below["checked in a cell"].card
    assert "calls no `fit`" in below["checked nothing"].stderr


def test_the_notebook_is_linted(below):
    assert "FIT" in below["linted"].card


def test_the_magic_says_its_state_and_its_usage(below):
    assert "is on" in below["status"].stdout and "%fitdoctor check model.fit(x, y)" in below["status"].stdout
    assert "chekc" in below["mistyped"].stderr and "%fitdoctor lint" in below["mistyped"].stderr


def test_off_and_on(below):
    assert not below["unwatched"].shown and below["watched again"].shown


def test_unloaded_it_leaves_ipython_as_it_was(below):
    assert "not found" in below["gone"].stderr and "NameError" in below["plain again"].stdout
    assert not below["plain again"].shown


def test_in_a_terminal_there_is_text(terminal):
    assert "error[FIT203]" in terminal["stopped"].stderr and not terminal["stopped"].shown
    assert "----> 1 model.fit(x, y, verbose=0)" in terminal["stopped"].stdout
    assert "warning[FIT210]" in terminal["warning"].stderr
    assert "warning[FIT210]" in terminal["captured warning"].stderr
    assert "error[FIT203]" in terminal["checked"].stderr


def test_no_value_of_the_data_is_shown(below):
    pages = "".join(bundle["text/html"] for cell in below.values() for bundle in cell.shown)
    assert not re.search(r"0\.\d{5,}", re.sub(r"<style>.*?</style>", "", pages, flags=re.DOTALL))


def test_a_real_kernel_sends_both_forms(tmp_path):
    """The messages of a real kernel, as a front end gets them."""
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    cells = [nbformat.v4.new_code_cell(cell) for name, cell in CELLS if name in ("load", "data", "stopped")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(
        notebook, timeout=120, allow_errors=True, resources={"metadata": {"path": tmp_path}}
    ).execute()
    error, card = notebook.cells[-1].outputs
    assert error.output_type == "error" and error.ename == "FitWillFail"
    assert card.output_type == "display_data" and set(card.data) == {"text/html", "text/plain"}
    assert "cell In[2], line 2" in card.data["text/plain"] and "fitdoctor-card" in card.data["text/html"]


READ_ONLY = [
    ("load", "load", "import random\nimport numpy as np, keras\n%load_ext fitdoctor"),
    (
        "layer",
        "layer",
        "class Jitter(keras.layers.Layer):\n    def call(self, x):\n        return x + random.uniform(-1, 1)",
    ),
    (
        "model",
        "model",
        "x = y = np.random.rand(64, 4).astype('float32')\n"
        "model = keras.Sequential([keras.Input((4,)), Jitter(), keras.layers.Dense(4)])\n"
        "model.compile('sgd', 'mse')",
    ),
    ("fit", "fit", "_ = model.fit(x, y, verbose=0)"),
    ("fit again", "fit", "_ = model.fit(x, y, verbose=0)"),
    ("layer mended", "layer", "class Jitter(keras.layers.Layer):\n    def call(self, x):\n        return x"),
    ("fit at last", "fit", "_ = model.fit(x, y, verbose=0)"),
]


@pytest.fixture(scope="module")
def read_only(server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Below]:
    """Cells with their ids, as notebooks give them."""
    pytest.importorskip("IPython")
    folder = tmp_path_factory.mktemp("ids")
    script, target = folder / "kernel.py", folder / "told.json"
    named = KERNEL.replace("for name, cell in cells:", "for name, id, cell in cells:")
    named = named.replace("store_history=True)", "store_history=True, cell_id=id)")
    script.write_text(named.format(cells=READ_ONLY, kernel=True, target=str(target)))
    ended = run_plain(server, script)
    assert ended.status == 0, ended.stderr
    return {name: Below(**told) for name, told in json.loads(target.read_text()).items()}


def test_what_only_the_source_shows_is_a_card_below_the_fit(read_only):
    assert "warning[FIT409]" in read_only["fit"].card and "cell In[2], line 3" in read_only["fit"].card
    assert not read_only["fit again"].shown


def test_a_cell_that_was_edited_and_run_again_no_longer_counts(read_only):
    assert not read_only["layer mended"].shown and not read_only["fit at last"].shown
