"""Models trained by themselves and again inside another one (FIT333)."""

from __future__ import annotations

import pytest

from tests.catalogue.contract_programs import found

TWO = """
g = keras.Sequential([keras.Input((8,)), layers.Dense(4)])
d = keras.Sequential([keras.Input((4,)), layers.Dense(1)])
d.compile('adam', 'mse')
{}
gan.compile('adam', 'mse')
for step in range(9):
    d.train_on_batch(x, y)
    gan.train_on_batch(x, y)
"""


@pytest.mark.parametrize(
    "whole",
    [
        "z = keras.Input((8,))\ngan = keras.Model(z, d(g(z)))",
        "gan = keras.Sequential([g, d])",
        "gan = keras.Sequential()\ngan.add(g)\ngan.add(d)",
        "def combined(first, second):\n    return keras.Sequential([first, second])\ngan = combined(g, d)",
    ],
)
def test_a_discriminator_learns_in_the_step_of_the_whole(whole: str) -> None:
    (finding,) = found(TWO.format(whole), "FIT333")
    assert [edit.replacement.strip() for edit in finding.fixes[0].edits] == [
        "d.trainable = True",
        "d.trainable = False",
    ]
    assert found(TWO.format(whole + "\nd.trainable = False"), "FIT333") == []


def test_two_models_of_one_kind_are_no_parts_of_each_other() -> None:
    apart = "gan = keras.Sequential([keras.layers.Dense(1)])"
    assert found(TWO.format(apart), "FIT333") == []
