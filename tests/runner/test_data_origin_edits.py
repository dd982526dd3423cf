"""Repairs at the expression that first made data bad."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from fitdoctor.diagnosis import Applicability, Confidence, Edit, Finding, Fix, Location, Moment, Severity
from fitdoctor.edits import apply_edits
from fitdoctor.records import replace
from fitdoctor.runner.data_origin_edits import fixes_at
from fitdoctor.source.project import read_project


def _finding(cause: str) -> Finding:
    advice = Fix("keep the ids as integers", Applicability.UNSAFE)
    return Finding(cause, "", Severity.ERROR, Confidence.CERTAIN, Moment.BEFORE_FIT, "", fixes=(advice,))


def _edited(folder: Path, expression: str, cause: str = "FIT203", aspect: str = "range") -> str:
    """The expression as the first repair leaves it; "" if there is none."""
    path = folder / "data.py"
    path.write_text(f"y = {expression}\n")
    module = read_project([path]).modules[0]
    statement = module.tree.body[0]
    assert isinstance(statement, ast.Assign)
    fixes = fixes_at(_finding(cause), module, statement.value, aspect, [1.0, 3.0])
    if not fixes:
        return ""
    return apply_edits(module.text, fixes[0].edits).removeprefix("y = ").strip()


@pytest.mark.parametrize(
    ("expression", "repaired"),
    [
        ("codes + 1", "codes"),
        ("{n: i for i, n in enumerate(NAMES, 1)}", "{n: i for i, n in enumerate(NAMES)}"),
        ("dict((n, i) for i, n in enumerate(NAMES, start=1))", "dict((n, i) for i, n in enumerate(NAMES))"),
        ("dict(zip(NAMES, range(1, len(NAMES) + 1)))", "dict(zip(NAMES, range(len(NAMES))))"),
        ("dict(zip(NAMES, range(1, 4)))", "dict(zip(NAMES, range(3)))"),
        ('{"a": 1, "b": 2, "c": 3}', '{"a": 0, "b": 1, "c": 2}'),
        ('{"a": 1, "b": 5}', ""),
        ("load(1)", ""),
    ],
)
def test_classes_are_counted_from_0(expression: str, repaired: str, tmp_path: Path) -> None:
    assert _edited(tmp_path, expression) == repaired


def test_a_fix_that_adds_a_line_stays_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "data.py"
    path.write_text("y = load()\nfit(y)\n")
    module = read_project([path]).modules[0]
    node = next(each for each in ast.walk(module.tree) if isinstance(each, ast.Call))
    adds = Fix("fill", Applicability.UNSAFE, (Edit(Location(str(path), 2, 1, 2, 1), "y = filled(y)\n"),))
    finding = replace(_finding("FIT110"), fixes=(adds,))
    assert fixes_at(finding, module, node, "non-finite", True) == ()


def test_ids_are_not_scaled(tmp_path: Path) -> None:
    assert _edited(tmp_path, 'scale(data["ids"])', "FIT115", "fractions") == 'data["ids"]'


@pytest.mark.parametrize(
    ("statement", "repaired"),
    [
        ('table["next"] = table["price"].shift(-1)', "table = table.dropna()"),
        ("x = (x - x.mean()) / x.std()", "x = (x - x.mean()) / (x.std() + 1e-7)"),
        ('both = one.merge(two, on="id", how="left")', 'both = one.merge(two, on="id", how="inner")'),
        ("x = hits / shots", ""),
    ],
)
def test_missing_values_are_prevented_where_they_are_made(
    statement: str, repaired: str, tmp_path: Path
) -> None:
    path = tmp_path / "data.py"
    path.write_text(f"{statement}\n")
    module = read_project([path]).modules[0]
    made = module.tree.body[0]
    assert isinstance(made, ast.Assign)
    fixes = fixes_at(replace(_finding("FIT110"), fixes=()), module, made.value, "non-finite", True)
    assert [apply_edits(module.text, fix.edits).splitlines()[-1] for fix in fixes] == [repaired] * bool(
        repaired
    )


def test_two_classes_of_a_binary_loss_are_counted_from_0(tmp_path: Path) -> None:
    assert _edited(tmp_path, '{"no": 1, "yes": 2}', "FIT208") == '{"no": 0, "yes": 1}'


def test_rows_are_copied_after_the_split(tmp_path: Path) -> None:
    path = tmp_path / "data.py"
    path.write_text(
        "x_more, y_more = copied(x, y)\n"
        "x_train, x_test, y_train, y_test = train_test_split(x_more, y_more, test_size=0.2)\n"
    )
    module = read_project([path]).modules[0]
    statement = module.tree.body[1]
    assert isinstance(statement, ast.Assign)
    (fix,) = fixes_at(_finding("FIT003"), module, statement.value, "split", None)
    assert apply_edits(module.text, fix.edits).splitlines()[1:] == [
        "x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2)",
        "x_train, y_train = copied(x_train, y_train)",
    ]


@pytest.mark.parametrize(
    "before", ["more = rows", "more = copied(read(rows))", "more, names = copied(rows, names)"]
)
def test_other_statements_stay_before_the_split(before: str, tmp_path: Path) -> None:
    path = tmp_path / "data.py"
    path.write_text(f"{before}\ntrain, test = train_test_split(more)\n")
    module = read_project([path]).modules[0]
    statement = module.tree.body[1]
    assert isinstance(statement, ast.Assign)
    assert fixes_at(_finding("FIT003"), module, statement.value, "split", None) == ()
