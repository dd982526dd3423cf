"""Metrics by position, as Keras 2 took them."""

import pytest

from fitdoctor.catalogue.environment.removed_in_keras_3.changed_positions import (
    metrics_as_loss_weights,
    single_metric,
)
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.read import source_from_text

PROGRAM = """import keras
METRICS = ["accuracy"]
model = keras.Sequential([keras.layers.Dense(1)])
model.compile({arguments})
"""


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ('"adam", "mse", ["mae"]', True),
        ('"adam", "mse", METRICS', True),
        ('"adam", "mse", "accuracy"', True),
        ('"adam", "mse", [keras.metrics.AUC()]', True),
        ('"adam", "mse", {"out": "mae"}', True),
        ('"adam", "mse", [1.0, 0.5]', False),
        ('"adam", ["mse", "mae"], weights', False),
        ('"adam", "mse", {"out": 0.5}', False),
        ('"adam", "mse", metrics=["mae"]', False),
        ('"adam", "mse", None, ["mae"]', False),
    ],
)
def test_only_what_cannot_be_a_weight_is_taken_for_metrics(arguments: str, found: bool) -> None:
    module = Module(source_from_text(PROGRAM.replace("{arguments}", arguments), "train.py"))
    assert Project((module,)).modules
    assert bool(list(metrics_as_loss_weights(module))) is found


@pytest.mark.parametrize(
    ("metrics", "found"),
    [("keras.metrics.AUC()", True), ('"mae"', True), ("get_metrics(METRICS)", False), ('["mae"]', False)],
)
def test_a_function_of_a_file_called_metrics_may_return_a_list(metrics: str, found: bool) -> None:
    program = PROGRAM.replace("{arguments}", f'"adam", "mse", metrics={metrics}')
    module = Module(source_from_text(f"from metrics import get_metrics\n{program}", "train.py"))
    assert bool(list(single_metric(module))) is found
