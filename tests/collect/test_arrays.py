"""Facts about data that lies in memory."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from fitdoctor.collect.arrays import Component, array_facts, components, structure_of
from fitdoctor.collect.budget import Budget, Deadline
from fitdoctor.collect.codes import Codes
from fitdoctor.collect.data import Given, collect_data, form_of
from fitdoctor.collect.shared import shared_rows
from fitdoctor.facts import ArrayFacts, Statistics, Unknown

keras = pytest.importorskip("keras")
pd = pytest.importorskip("pandas")

pytestmark = [pytest.mark.tf, pytest.mark.filterwarnings("ignore")]


def facts(value: Any, labels: bool = False) -> ArrayFacts:
    return array_facts(Component("x", "", value), Deadline(5), labels, Unknown(), Unknown())


def statistics(value: Any, labels: bool = False) -> Statistics:
    found = facts(value, labels).statistics
    assert isinstance(found, Statistics)
    return found


def test_labels_are_counted_completely() -> None:
    found = statistics(np.array([3, 1, 1, 0, 7]), labels=True)
    assert found == Statistics(
        5, True, 0.0, 7.0, 2.4, integral=True, histogram=((0.0, 1), (1.0, 2), (3.0, 1), (7.0, 1)),
        first_maximum=4, first_minimum=3,
    )  # fmt: skip


def test_one_hot_rows_have_sums() -> None:
    assert statistics(np.eye(4)[[0, 2, 3]], labels=True).row_sums == (1.0, 1.0)


def test_the_first_value_that_is_not_finite_is_found() -> None:
    array = np.ones((2000, 700), "float32")
    array[1800, 3] = np.nan
    array[1900, 5] = np.inf
    found = facts(array)
    assert isinstance(found.statistics, Statistics)
    assert (found.statistics.nan, found.statistics.inf) == (1, 1)
    assert found.statistics.first_nonfinite == (1800, 3)
    assert found.statistics.minimum == found.statistics.maximum == 1.0


def test_columns_with_nan_are_named() -> None:
    array = np.zeros((10, 3))
    array[4, 2] = np.nan
    assert [(column.name, column.nonfinite) for column in facts(array).columns] == [("2", 1)]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "bool", "float16", "float64", "uint64"])
def test_every_number_type_is_read(dtype: str) -> None:
    found = statistics(np.array([0, 1, 1], dtype))
    assert (found.minimum, found.maximum, found.integral) == (0.0, 1.0, True)


def test_time_limits_the_reading() -> None:
    found = array_facts(
        Component("x", "", np.zeros((5000, 1000), "float32")), Deadline(0), False, Unknown(), Unknown()
    ).statistics
    assert isinstance(found, Statistics)
    assert not found.complete
    assert 0 < found.count < 5000


@pytest.mark.parametrize(
    ("objects", "holds"),
    [
        (["a", "b"], "str"),
        ([1.0, 2.0, "n/a"], "float, str"),
        ([None, 1], "None, int"),
        ([[1, 2], [1, 2, 3]], "list of 2..3"),
        ([Decimal(1), Decimal(2)], "Decimal"),
    ],
)
def test_object_arrays_say_what_they_hold(objects: list[Any], holds: str) -> None:
    array = np.empty(len(objects), object)
    array[:] = objects
    found = facts(array)
    assert found.dtype == "object"
    assert found.columns[0].holds == holds
    assert isinstance(found.statistics, Unknown)


def test_a_mixed_frame_names_its_columns() -> None:
    frame = pd.DataFrame({"age": [1.0, np.nan], "city": ["a", "b"], "old": [True, False]})
    found = facts(frame)
    assert found.container == "pandas.DataFrame"
    assert found.dtype == "object"
    columns = {column.name: column for column in found.columns}
    assert columns["age"].nonfinite == 1
    assert columns["city"].holds == "str"


def test_lists_of_numbers_are_one_component_and_lists_of_arrays_are_many() -> None:
    assert [c.path for c in components([[1, 2], [3, 4]], "x")] == ["x"]
    assert [c.path for c in components([np.zeros(2), np.zeros(2)], "x")] == ["x[0]", "x[1]"]
    assert [c.path for c in components({"a": np.zeros(2)}, "x")] == ["x['a']"]
    found = facts([[1, 2], [3, 4], [5, 6]])
    assert (found.shape, found.dtype, found.container) == ((3, 2), "int", "list")
    assert isinstance(facts([[1], [2, 3]]).shape, Unknown)


def test_structures_and_forms() -> None:
    assert [structure_of(v) for v in (None, np.zeros(1), [1], (1,), {})] == [
        "none", "single", "list", "tuple", "dict",
    ]  # fmt: skip
    assert form_of(np.zeros(1)) == "arrays"
    assert form_of(i for i in ()) == "generator"
    assert form_of(object()) == "other"


def collect(**given: Any) -> Any:
    return collect_data(Given(**given), "training", Budget(), Codes())


def test_batches_as_fit_will_make_them() -> None:
    x, y = np.zeros((100, 8)), np.zeros(100, "int64")
    found = collect(x=x, y=y)
    assert (found.facts.samples, found.facts.batch_size, found.facts.batches) == (100, 32, 4)
    assert [spec.shape for spec in found.facts.first_batch] == [(32, 8), (32,)]
    assert [spec.shape for spec in found.facts.last_batch] == [(4, 8), (4,)]
    assert found.batch.x.shape == (None, 8)
    assert found.batch.x.dtype == "float32"
    assert collect(x=x, y=y, batch_size=25).batch.x.shape == (25, 8)
    assert collect(x=x, y=y, batch_size=25, validation_split=0.1).batch.x.shape == (None, 8)


def test_what_keras_will_refuse_is_told_without_values() -> None:
    secret = np.array(["secret", 4.5], object)
    found = collect(x=secret, y=np.zeros(2)).facts.problem
    assert found.type == "ValueError"
    assert "secret" not in found.message
    assert "cardinality" in collect(x=np.zeros((3, 1)), y=np.zeros(2)).facts.problem.message
    assert "Unrecognized" in collect(x=[[1.5, 2], [3, 4]], y=np.zeros(2)).facts.problem.message
    strings = np.array(["good", "bad", "good"], object)
    assert collect(x=strings, y=np.zeros(3)).facts.problem is None
    assert collect(x=strings, y=np.zeros(3)).batch.x.dtype == "str"
    assert collect(x=pd.DataFrame({"a": [1.0, 2]}), y=pd.Series([0, 1])).facts.problem is None


def test_sparse_matrices_are_read() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    found = facts(sparse.csr_matrix(np.eye(5)))
    assert found.shape == (5, 5)
    assert isinstance(found.statistics, Statistics)
    assert (found.statistics.minimum, found.statistics.maximum) == (0.0, 1.0)


def test_shared_rows_are_counted() -> None:
    rows = np.random.default_rng(0).normal(size=(50, 5)).astype("float32")
    assert shared_rows(rows[:40], rows[30:]) == 10
    assert shared_rows(rows[:30], rows[30:]) == 0
    assert isinstance(shared_rows(rows, rows[:, :2]), Unknown)


def test_rows_of_ages_and_codes_repeat_by_nature() -> None:
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(18, 80, 100) / 80, rng.integers(0, 2, 100), rng.integers(0, 3, 100)])
    assert isinstance(shared_rows(rows[:80], rows[80:]), Unknown)
    assert isinstance(shared_rows(rows[:80, :1], rows[80:, :1]), Unknown)
