"""Which changes of an image concern its mask (FIT719), from source."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from tests.catalogue.contract_programs import found

PROGRAM = """
images = np.zeros((64, 16, 16, 3), dtype="float32")
masks = np.zeros({shape}, dtype="float32")

def prepare(image, mask):
{body}

data = tf.data.Dataset.from_tensor_slices((images, masks)).map(prepare).batch(16)
model = keras.Sequential([keras.Input((16, 16, 3)), {before}layers.Conv2D(1, 3, padding="same")])
model.compile("adam", "mse")
model.fit({data})
"""
FLIPPED = """
image = tf.image.random_flip_left_right(image)
return image, mask
"""
AS_IT_IS = "return image, mask"


def said(
    body: str, shape: str = "(64, 16, 16, 1)", before: str = "", data: str = "data"
) -> list[tuple[int, int]]:
    text = PROGRAM.format(body=indent(dedent(body).strip(), "    "), shape=shape, before=before, data=data)
    return [(len(each.fixes), len(each.fixes[0].edits)) for each in found(text, "FIT719")]


@pytest.mark.parametrize(
    "body",
    [
        FLIPPED,
        "return tf.image.random_flip_up_down(image / 255.0), tf.cast(mask, 'float32')",
    ],
)
def test_an_image_is_moved_without_its_mask(body: str) -> None:
    assert len(said(body)) == 1


def test_a_layer_of_the_model_moves_images_only() -> None:
    assert said(AS_IT_IS, before="layers.RandomFlip(), ")
    assert said(AS_IT_IS, before="layers.RandomRotation(0.1), ", data="images, masks")
    assert not said(AS_IT_IS, before="layers.RandomContrast(0.1), ")
    assert not said(
        AS_IT_IS, shape="(64, 1)", before="layers.RandomFlip(), layers.Flatten(), layers.Dense(1), "
    )


@pytest.mark.parametrize(
    "body",
    [
        "return tf.image.random_brightness(image, 0.1), mask",
        "both = tf.image.random_flip_left_right(tf.concat([image, mask], -1))\nreturn both[..., :3], both[..., 3:]",
        """
        seed = (1, 2)
        image = tf.image.stateless_random_flip_left_right(image, seed)
        mask = tf.image.stateless_random_flip_left_right(mask, seed)
        return image, mask
        """,
        """
        image = tf.image.random_flip_left_right(image)
        return image, image
        """,
    ],
)
def test_a_mask_that_moves_too_or_an_image_that_stays_is_in_order(body: str) -> None:
    assert said(body) == []


def test_the_label_of_a_whole_image_need_not_move() -> None:
    assert said(FLIPPED, shape="(64, 1)") == []
