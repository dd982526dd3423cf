"""Results that are computed and lost (FIT004)."""

from __future__ import annotations

import pytest

from fitdoctor.diagnose import examine_source
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.read import source_from_text
from tests.catalogue.contract_programs import HEAD, found

DATA = "ds = tf.data.Dataset.from_tensor_slices((x, y))\n"
GRAPH = "inputs = keras.Input((8,))\nx = layers.Dense(4)(inputs)\n"
TABLE = "import pandas as pd\ndf = pd.read_csv('a.csv')\n"


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        (DATA + "ds.shuffle(100)\nds = ds.batch(8)", ["ds = ds.shuffle(100)"]),
        (DATA + "ds.shuffle(9).batch(8)\nmodel.fit(ds)", ["ds = ds.shuffle(9).batch(8)"]),
        (GRAPH + "layers.Dropout(0.5)(x)\ny = layers.Dense(1)(x)", ["x = layers.Dropout(0.5)(x)"]),
        (
            "class Net(keras.Model):\n    def __init__(self):\n        super().__init__()\n"
            "        self.norm = layers.BatchNormalization()\n    def call(self, x):\n        self.norm(x)\n"
            "        return x",
            ["x = self.norm(x)"],
        ),
        ("x.astype('float32') / 255\nmodel.fit(x, y)", ["x = x.astype('float32') / 255"]),
        ("from sklearn.utils import shuffle\nshuffle(x, y)\nmodel.fit(x, y)", ["x, y = shuffle(x, y)"]),
        (TABLE + "df.dropna()\nx = df.values", ["df = df.dropna()"]),
        (TABLE + "df.drop(columns='label')\nx = df.values", ["df = df.drop(columns='label')"]),
        # The name is assigned again.
        (GRAPH + "x = layers.Dense(2)(inputs)\nmodel = keras.Model(inputs, x)", ["x"]),
        (DATA + "train = ds.shuffle(9)\ntrain = ds.batch(8)\nmodel.fit(train)", ["train"]),
    ],
)
def test_a_result_is_lost(text: str, edits: list[str]) -> None:
    (finding,) = found(text, "FIT004")
    assert [edit.replacement for edit in finding.fixes[0].edits] == edits


@pytest.mark.parametrize(
    "text",
    [
        DATA + "ds = ds.shuffle(9)\nds = ds.batch(8)",
        TABLE + "df.dropna(inplace=True)\ndf.drop(columns='label', inplace=True)",
        "rows = {1, 2}\nrows.discard(1)\nqueue.take(3)\npool.map(work, rows)",
        # Called for the term that it adds to the loss.
        GRAPH + "layers.ActivityRegularization(0.1)(x)",
        "class Step(layers.Layer):\n    def build(self, shape):\n        self.inner = layers.Dense(2)\n"
        "        self.inner(tf.zeros((1, 2)))",
        "head = layers.Dense(2)\nhead(tf.zeros((1, 2)))",
        # Read in between, or in one case only.
        GRAPH + "skip = x\nx = layers.Dense(4)(inputs)\nx = layers.add([x, skip])",
        GRAPH + "if deep:\n    x = layers.Dense(4)(inputs)\nx = layers.Dense(1)(x)",
        GRAPH + "def more():\n    return x\nx = layers.Dense(1)(inputs)",
        "x / y",
        # Another model begins.
        GRAPH
        + "h = layers.Dense(4)(x)\ny = layers.Dense(1)(h)\n"
        + "x = keras.Input((4,))\nh = layers.Dense(4)(x)\ny = layers.Dense(1)(h)\nm = keras.Model(x, y)",
        # A tutorial shows two ways to prepare the same data.
        DATA + "ds2 = ds.shuffle(9).batch(8)\nds2 = ds.shuffle(99).batch(16)\nmodel.fit(ds2)",
        DATA + "train = ds.batch(8)\ntrain = ds.cache()\ntrain = train.batch(8)\nmodel.fit(train)",
    ],
)
def test_nothing_is_lost(text: str) -> None:
    assert found(text, "FIT004") == []


def test_a_cell_shows_its_last_expression() -> None:
    table = TABLE + "df.dropna()\n"
    exported = "# In[1]:\n" + table + "\n\n# In[2]:\n\ndf.sort_values('a')\nprint(df)\n"
    module = Module(source_from_text(HEAD + exported, "notes.py"))
    findings = examine_source(Project([module])).findings
    assert [found.message for found in findings if found.id == "FIT004"] == [
        "the table that `sort_values` returns is not assigned, so this line has no effect"
    ]


@pytest.mark.parametrize("cell", ["#%%", "# %% [markdown]", "# In[2]:"])
def test_a_cell_of_a_script_shows_its_last_expression(cell: str) -> None:
    rows = "a = tf.zeros((4, 2))\n"
    shown = f"{cell}\n{rows}tf.concat([a, a], axis=0)  # all rows\n\n"
    lost = f"{cell}\n{rows}tf.concat([a, a], axis=0)\nprint(a)\n"
    assert found(shown + shown, "FIT004") == []
    assert len(found(shown + lost, "FIT004")) == 1
    # A script without cells shows nothing.
    assert len(found(rows + "tf.concat([a, a], axis=0)\n", "FIT004")) == 1
