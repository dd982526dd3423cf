"""Validation data that is changed at random (FIT718)."""

from __future__ import annotations

import pytest

from tests.catalogue.contract_programs import found

PIPELINE = """
augment = keras.Sequential([layers.RandomFlip(), layers.RandomRotation(0.1)])
train = tf.data.Dataset.from_tensor_slices((x, y))
held_out = tf.data.Dataset.from_tensor_slices((x_val, y_val))
{}
model.fit(train.batch(8), validation_data=held_out.batch(8))
"""
GENERATOR = """
from tensorflow.keras.preprocessing.image import ImageDataGenerator
augmenting = ImageDataGenerator(rescale=1 / 255, rotation_range=20, horizontal_flip=True)
{}
model.fit(augmenting.flow(x, y), validation_data={})
"""
PLAIN = "plain = ImageDataGenerator(rescale=1 / 255)"


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        ("held_out = held_out.map(lambda a, b: (augment(a, training=True), b))", [""]),
        (
            "def flip(image, label):\n    return tf.image.random_flip_left_right(image), label\n"
            "held_out = held_out.map(flip)",
            [""],
        ),
        (
            "def prepare(image, label):\n    image = tf.image.random_crop(image, (8, 8, 3)) / 255\n"
            "    return image, label\ntrain, held_out = train.map(prepare), held_out.map(prepare)",
            [],
        ),
    ],
)
def test_a_function_with_random_operations(text: str, edits: list[str]) -> None:
    (finding,) = found(PIPELINE.format(text), "FIT718")
    assert [edit.replacement for edit in finding.fixes[0].edits] == edits


def test_a_generator_that_augments() -> None:
    (finding,) = found(GENERATOR.format("", "augmenting.flow(x_val, y_val)"), "FIT718")
    assert [edit.replacement for edit in finding.fixes[0].edits] == ["ImageDataGenerator(rescale=1 / 255)"]
    (finding,) = found(GENERATOR.format(PLAIN, "augmenting.flow(x_val, y_val)"), "FIT718")
    assert [edit.replacement for edit in finding.fixes[0].edits] == ["plain"]


@pytest.mark.parametrize(
    "text",
    [
        PIPELINE.format("train = train.map(lambda a, b: (augment(a, training=True), b))"),
        PIPELINE.format("held_out = held_out.map(lambda a, b: (augment(a, training=False), b))"),
        PIPELINE.format(
            "def prepare(image, label, train=False):\n    if train:\n"
            "        image = tf.image.random_flip_left_right(image)\n    return image, label\n"
            "held_out = held_out.map(prepare)"
        ),
        PIPELINE.format(
            "def pipeline(ds, train):\n    if train:\n        ds = ds.map(lambda a, b: (augment(a, training=True), b))\n"
            "    return ds\ntrain, held_out = pipeline(train, True), pipeline(held_out, False)"
        ),
        GENERATOR.format(PLAIN, "plain.flow(x_val, y_val)"),
        GENERATOR.format("", "augmenting.flow_from_directory('images', subset='validation')"),
    ],
)
def test_validation_data_as_it_is(text: str) -> None:
    assert found(text, "FIT718") == []
