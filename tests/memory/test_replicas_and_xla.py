"""Steps that several replicas share, and steps that XLA compiles."""

from __future__ import annotations

from typing import Any

import pytest

import fitdoctor
from fitdoctor.collect import memory as collected

pytestmark = pytest.mark.tf
keras = pytest.importorskip("keras")
BATCH = 64


def model(**options: Any) -> Any:
    layers = [keras.Input((256,)), keras.layers.Dense(512, activation="relu"), keras.layers.Dense(1)]
    made = keras.Sequential(layers)
    made.compile("adam", "mse", **options)
    return made


def test_xla_is_taken_to_need_twice_as_much():
    plain = fitdoctor.memory(model(), batch_size=BATCH)
    compiled = fitdoctor.memory(model(jit_compile=True), batch_size=BATCH)
    assert compiled.peak == plain.peak
    assert 1.9 < compiled.needed / plain.needed < 2.1
    assert any("XLA" in note for note in compiled.notes)


def test_replicas_on_a_cpu_have_the_weights_each_and_share_the_batch(monkeypatch):
    alone = {
        share.name: share.bytes for share in fitdoctor.memory(model(), batch_size=BATCH, quick=True).kinds
    }
    monkeypatch.setattr(collected, "_replicas", lambda _model: 4)
    shared = {
        share.name: share.bytes for share in fitdoctor.memory(model(), batch_size=BATCH, quick=True).kinds
    }
    assert shared["weights"] == 4 * alone["weights"] and shared["optimizer"] == 4 * alone["optimizer"]
    assert shared["activations"] == alone["activations"]
