"""Pipelines whose elements are single samples: read many at a time, told as if they came one by one."""

from __future__ import annotations

from typing import Any

import pytest

import fitdoctor
from fitdoctor.scan.element_source import ElementSource

pytestmark = pytest.mark.tf
np = pytest.importorskip("numpy")
ROWS = 700


@pytest.fixture(scope="module")
def tf() -> Any:
    return pytest.importorskip("tensorflow")


@pytest.fixture
def together(monkeypatch):
    """How many pipelines were read many samples at a time."""
    seen = []
    samples = ElementSource._samples
    monkeypatch.setattr(ElementSource, "_samples", lambda *given: seen.append(1) or samples(*given))
    return seen


def samples(tf, start=0, stop=ROWS):
    x = np.arange(4 * ROWS, dtype="float32").reshape(ROWS, 4)
    return tf.data.Dataset.from_tensor_slices((x[start:stop], np.arange(start, stop) % 3))


def x_of(report):
    return report.data[0].components[0]


def test_they_are_told_as_one_by_one(tf, together, monkeypatch):
    dataset = samples(tf).map(lambda x, y: (tf.where(x == 1234.0, np.nan, x), y))
    many = fitdoctor.scan(dataset)
    assert together
    monkeypatch.setattr("fitdoctor.scan.opening._in_batches", lambda *_given: None)
    single = fitdoctor.scan(dataset)
    assert len(together) == 1 and many.data[0].components == single.data[0].components
    assert many.data[0].elements == single.data[0].elements == ROWS and many.complete
    assert x_of(many).first_nonfinite == "row 308, column 2"


def test_where_one_raises_each_is_counted_once(tf, together):
    def checked(x, y):
        tf.debugging.assert_less(x[0], 2000.0, message="too large")
        return x, y

    dataset = samples(tf, 0, 502).shuffle(50).map(checked)
    report = fitdoctor.scan(dataset, validation_data=samples(tf, 490, 520))
    assert together and {problem.element is not None for problem in report.problems} == {True}
    assert len(report.problems) == 2 and x_of(report).rows == 500 and report.shared_rows == 10


def test_a_limit_and_no_elements(tf, together):
    report = fitdoctor.scan(samples(tf).repeat(), limit=100)
    assert together and report.data[0].elements == x_of(report).rows == 100 and not report.complete
    assert fitdoctor.scan(samples(tf).filter(lambda _x, _y: False)).data[0].elements == 0


def test_what_cannot_be_read_anew_is_read_one_by_one(tf, together, tmp_path):
    once = iter([np.float32(i) for i in range(50)])
    spec = tf.TensorSpec((), tf.float32)
    assert (
        x_of(fitdoctor.scan(tf.data.Dataset.from_generator(lambda: once, output_signature=spec))).rows == 50
    )
    cached = samples(tf).cache(str(tmp_path / "kept"))
    assert x_of(fitdoctor.scan(cached)).rows == ROWS and not together
    assert sum(1 for _element in cached) == ROWS


def test_nothing_is_said_of_a_call_of_fit(tf):
    report = fitdoctor.scan(samples(tf).map(lambda x, y: (x / 0.0, y)))
    from fitdoctor.report import render

    assert [finding.moment.value for finding in report.diagnosis.findings] == ["in_data"]
    assert "found in the data" in render(report.diagnosis)


def test_validation_is_named_as_fit_names_it(tf):
    x, y = np.ones((40, 2)) * np.arange(40)[:, None], np.arange(40) % 2
    held_out = x + 0.5
    held_out[7, 1] = np.nan  # the line to blame
    finding = fitdoctor.scan(x, y, validation_data=(held_out, y)).diagnosis.primary
    assert finding.message.startswith("`validation_data[0]` contains 1 NaN")
    with open(__file__, encoding="utf-8") as file:
        assert "the line to blame" in file.read().splitlines()[finding.location.line - 1]
