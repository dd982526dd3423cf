"""Features and the `Normalization` layer that they reach first; names that two loaders number differently."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fitdoctor.collect.normalization import off_scale
from fitdoctor.collect.numbering import numbered_apart

RAW = np.random.default_rng(0).lognormal(10, 0.5, (400, 3)).astype("float32")


def model_adapted_to(data: Any, **options: Any) -> Any:
    import keras

    layer = keras.layers.Normalization(**options)
    layer.adapt(data)
    return keras.Sequential([keras.layers.Input((3,)), layer, keras.layers.Dense(1)])


@pytest.mark.tf
def test_features_transformed_after_the_layer_was_adapted_are_off_its_scale() -> None:
    found = off_scale(model_adapted_to(RAW), np.log1p(RAW))
    assert found is not None
    assert (found.column, found.deviation < 0.05) == (0, True)


@pytest.mark.tf
def test_features_that_the_layer_was_adapted_to_are_in_order() -> None:
    model = model_adapted_to(RAW)
    assert off_scale(model, RAW) is None
    assert off_scale(model, RAW[:50]) is None
    assert off_scale(model, np.sort(RAW, axis=0)) is None
    assert off_scale(model_adapted_to(RAW, axis=None), RAW) is None


@pytest.mark.tf
def test_a_column_with_one_value_is_in_order() -> None:
    data = RAW.copy()
    data[:, 1] = 3.0
    assert off_scale(model_adapted_to(data), data) is None


class Loader:
    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)


def test_loaders_that_number_the_classes_of_their_folders() -> None:
    found = numbered_apart(Loader(index={"crow": 0, "owl": 1}), Loader(index={"owl": 0, "wren": 1}))
    assert found is not None
    assert (found.name, found.training, found.validation) == ("owl", 1, 0)
    found = numbered_apart(Loader(class_names=["crow", "owl"]), Loader(class_names=["owl"]))
    assert found is None, "one name is no numbering"
    assert numbered_apart(Loader(classes=["crow", "owl"]), Loader(classes=["owl", "wren"])) is not None


@pytest.mark.parametrize(
    ("training", "validation"),
    [
        ({"index": {"crow": 0, "owl": 1}}, {"index": {"crow": 0, "owl": 1}}),
        ({"index": {"crow": 0, "owl": 1}}, {"index": {"wren": 0, "swan": 1}}),
        ({"counts": {"crow": 30, "owl": 12}}, {"counts": {"crow": 7, "owl": 5}}),
        ({"files": ["a.png", "b.png"]}, {"files": ["b.png", "c.png"]}),
        ({"size": 3}, {"size": 4}),
    ],
)
def test_other_attributes_may_differ(training: dict[str, Any], validation: dict[str, Any]) -> None:
    assert numbered_apart(Loader(**training), Loader(**validation)) is None
