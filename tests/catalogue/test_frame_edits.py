"""Rows and columns are mended in the table that features and labels were picked from."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from fitdoctor.catalogue.knowledge.data.frame_edits import select_rows, with_dummies, with_whole_rows
from fitdoctor.diagnosis import Edit
from fitdoctor.edits import apply_edits
from fitdoctor.source.fits.fit_sites import fit_sites
from fitdoctor.source.project import read_project

HEAD = """\
import keras
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

"""
TAIL = """
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
"""


def added(folder: Path, text: str, made: object) -> list[str]:
    """The lines that edits bring."""
    path = folder / "train.py"
    path.write_text(HEAD + textwrap.dedent(text))
    project = read_project([path], 3)
    site = fit_sites(project.modules[0])[0]
    edits: tuple[Edit, ...] = made(project, site)  # type: ignore[operator]
    before = path.read_text().split("\n")
    return [line for line in apply_edits(path.read_text(), edits).split("\n") if line not in before]


def without_gaps(project, site):
    return with_whole_rows(project, site.data[0])


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            'df = pd.read_csv("a.csv")\ndf["c"] = df["a"] / 2\nx = df[["a", "c"]].to_numpy()\ny = df["y"]\n',
            ["df = df.dropna()"],
        ),
        (
            'def load():\n    return pd.read_csv("a.csv").query("a > 0")\ntable = load()\n'
            'y = table.pop("y")\nx = table.drop(columns=["id"])\n',
            ["table = table.dropna()"],
        ),
        (
            'df = pd.read_csv("a.csv")\ntrain, test = train_test_split(df)\nx = train[["a"]]\ny = train["y"]\n',
            ["df = df.dropna()"],
        ),
        # Of two tables, neither is the place.
        ('x = pd.read_csv("x.csv")[["a"]]\nb = pd.read_csv("y.csv")\ny = b["y"]\n', []),
    ],
)
def test_gaps_are_dropped_before_anything_is_picked(tmp_path: Path, text: str, lines: list[str]) -> None:
    assert added(tmp_path, f"{text}{TAIL}model.fit(x, y)\n", without_gaps) == lines


def test_texts_become_columns_where_columns_are_picked(tmp_path: Path) -> None:
    text = f'df = pd.read_csv("a.csv")\nx = df.iloc[:, :-1].values\ny = df["y"]\n{TAIL}model.fit(x, y)\n'
    lines = added(
        tmp_path, text, lambda project, site: with_dummies(project, site.fit, site.data[0], site.data[0].x[0])
    )
    assert lines == ["x = pd.get_dummies(df.iloc[:, :-1], dtype=float).values"]


def labelled(project, site):
    return select_rows(project, site.fit, site.data[0], "labelled", "np.isfinite({})")


def test_rows_are_left_out_before_a_split_or_else_where_fit_gets_them(tmp_path: Path) -> None:
    made = "a, b = np.ones((9, 2)), np.log(np.ones(9))\n"
    split = f"{made}x, x2, y, y2 = train_test_split(a, b)\n{TAIL}model.fit(x, y)\n"
    assert added(tmp_path, split, labelled) == [
        "labelled = np.isfinite(b)",
        "a, b = a[labelled], b[labelled]",
    ]
    written = f"{made}{TAIL}model.fit(a * 2, b)\n"
    assert added(tmp_path, written, labelled) == [
        "labelled = np.isfinite(b)",
        "model.fit((a * 2)[labelled], b[labelled])",
    ]
