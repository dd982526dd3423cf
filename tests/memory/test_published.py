"""The figures in the documentation are those of the benchmark, and they hold."""

from __future__ import annotations

import json
import statistics

import pytest

from benchmarks.bench_memory import BEGIN, END, PAGE, RESULTS, error, table

FOUND = json.loads(RESULTS.read_text("utf-8"))


def test_the_page_has_the_table_of_the_results():
    text = PAGE.read_text("utf-8")
    assert text.partition(BEGIN)[2].partition(END)[0].strip() == table(FOUND)


def test_ten_models_and_three_batch_sizes():
    sizes = [(each["model"], each["predicted"]["batch"]) for each in FOUND]
    assert len({model for model, _size in sizes}) >= 10
    assert len(set(sizes)) == len(sizes) >= 30


@pytest.mark.parametrize("figure", ["process", "tensors"])
def test_the_errors_are_within_what_is_promised(figure):
    errors = [abs(error(each, figure, figure)) for each in FOUND]
    assert statistics.median(errors) <= 0.10
    assert max(errors) <= 0.25
