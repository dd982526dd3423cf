"""Judges of memory on facts: attention over long sequences, and pipelines that grow."""

from __future__ import annotations

import pytest

from fitdoctor.catalogue import catalogue
from fitdoctor.diagnose import examine_call, examine_source
from fitdoctor.diagnosis import Location
from fitdoctor.engine_inputs import SeenCall
from fitdoctor.facts import (
    Code,
    DataFacts,
    EnvironmentFacts,
    FitFacts,
    LayerFacts,
    MemoryLimit,
    ModelFacts,
)
from fitdoctor.source.project import read_project

GIB = 2**30


def attention(length: int, heads: int = 8) -> LayerFacts:
    shape = (None, length, 64)
    code = Code(Location("block.py", 6), "layers.MultiHeadAttention(8, 8)")
    return LayerFacts(
        "mixing",
        "MultiHeadAttention",
        1,
        config=(("num_heads", str(heads)), ("key_dim", "8")),
        input_shapes=(shape, shape),
        output_shapes=(shape,),
        code=code,
    )


def found(layer: LayerFacts) -> list[tuple[str, int]]:
    model = ModelFacts(name="net", layers=(layer,))
    data = DataFacts(form="arrays", batch_size=1, samples=8)
    call = SeenCall(model, FitFacts(code=Code(Location("train.py", 10), "model.fit(x, y)")), (data,))
    environment = EnvironmentFacts(memory=(MemoryLimit("this machine", 16 * GIB, 12 * GIB),))
    diagnosis = examine_call(call, environment=environment, select=("FIT801",))
    return [(each.location.path, each.location.line) for each in diagnosis.findings if each.location]


def test_attention_over_a_long_sequence_names_the_layer() -> None:
    assert found(attention(120_000)) == [("block.py", 6)]


def test_attention_that_fits_is_silent() -> None:
    assert found(attention(2_000)) == []


STREAM = """
import numpy as np
import tensorflow as tf
from tensorflow import keras

x = np.zeros((400, 9), "float32")
rows = tf.data.Dataset.from_tensor_slices((x, x[:, :1])){stages}.batch(20)
model = keras.Sequential([keras.Input((9,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(rows, steps_per_epoch=20, epochs=2)
"""


@pytest.mark.parametrize(
    ("stages", "grows"),
    [
        (".repeat().shuffle(2**31)", True),
        (".repeat().cache()", True),
        (".repeat().shuffle(1000)", False),
        (".shuffle(2**31).repeat()", False),
        (".repeat(3).cache()", False),
        (".repeat().take(100).cache()", False),
        (".repeat().cache('rows.tmp')", False),
    ],
)
def test_only_what_follows_an_endless_repeat_grows(tmp_path, stages: str, grows: bool) -> None:
    program = tmp_path / "train.py"
    program.write_text(STREAM.format(stages=stages))
    diagnosis = examine_source(read_project([program]), select=("FIT807",))
    assert [each.id for each in diagnosis.findings] == ["FIT807"] * grows


def test_the_causes_are_in_the_catalogue() -> None:
    assert {"FIT330", "FIT801", "FIT807"} <= set(catalogue())
