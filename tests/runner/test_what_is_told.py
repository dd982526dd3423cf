"""What `run` counts has been printed, causes before their effects, and an error is never hidden by a warning."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.runner.programs import forked
from tests.support.fork_server import ForkServer

pytestmark = pytest.mark.tf

DIVERGES = """\
import numpy as np
import keras
from keras import layers

rng = np.random.default_rng(0)
x = (rng.random((256, 5)) * 1e6).astype("float32")
y = (x[:, 0] / 1e3).astype("float32")
model = keras.Sequential([keras.Input((5,)), layers.Dense(64), layers.Dense(64), layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(RATE), loss="mse", metrics=["accuracy"])
model.fit(x, y, epochs=2, verbose=0)
"""
UNSCALED = (
    DIVERGES.replace("SGD(RATE)", "Adam()").replace("* 1e6", "* 5e3").replace('["accuracy"]', '["mae"]')
)
SOFTMAX_OVER_ONE = """\
import numpy as np
import keras
from keras import layers

rng = np.random.default_rng(0)
x = rng.random((64, 5)).astype("float32")
y = np.eye(2)[rng.integers(0, 2, 64)]
model = keras.Sequential([keras.Input((5,)), layers.Dense(1, activation="softmax")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=1, verbose=0)
"""
TWO_MODELS = """\
import numpy as np
import keras
from keras import layers

x = np.random.default_rng(0).random((32, 5)).astype("float32")
first = keras.Sequential([keras.Input((5,)), layers.Dense(1, activation="softmax")])
first.compile("adam", "binary_crossentropy")
first.fit(x, (x[:, :1] > 0.5).astype("float32"), verbose=0)
second = keras.Sequential([keras.Input((5,)), layers.Dense(1, activation="sigmoid")])
second.compile("adam", "binary_crossentropy")
second.fit(x, np.eye(3)[np.arange(32) % 3], verbose=0)
"""


def run(server: ForkServer, tmp_path: Path, text: str, *options: str) -> tuple[dict[str, Any], str]:
    path = tmp_path / "train.py"
    path.write_text(text)
    ended = forked(server, tmp_path, "--save", "run.json", *options, path.name)
    return json.loads((tmp_path / "run.json").read_text()), ended.stderr


def all_printed(saved: dict[str, Any], told: str) -> bool:
    return all(re.search(rf"{one['severity']}\[{one['id']}\]", told) for one in saved["findings"])


@pytest.mark.parametrize("rate", ["0.1", "0.01"])
def test_unscaled_features_come_before_what_they_lead_to(
    rate: str, tmp_path: Path, server: ForkServer
) -> None:
    saved, told = run(server, tmp_path, DIVERGES.replace("RATE", rate))
    found = [finding["id"] for finding in saved["findings"]]
    assert found[0] == "FIT112"
    assert found[-1] == "FIT218"
    assert all_printed(saved, told)


def test_information_that_is_counted_is_printed(tmp_path: Path, server: ForkServer) -> None:
    saved, told = run(server, tmp_path, UNSCALED)
    assert [finding["severity"] for finding in saved["findings"]] == ["info"]
    assert all_printed(saved, told)
    assert "1 info" in told


@pytest.mark.parametrize("options", [(), ("--keep-going",)])
def test_an_error_that_ended_the_program_is_told_with_its_cause(
    options: tuple[str, ...], tmp_path: Path, server: ForkServer
) -> None:
    saved, told = run(server, tmp_path, SOFTMAX_OVER_ONE, *options)
    assert [finding["id"] for finding in saved["findings"]] == ["FIT205", "FIT209"]
    assert saved["unexplained"] == []
    assert all_printed(saved, told)


def test_a_finding_about_one_model_hides_none_about_another(tmp_path: Path, server: ForkServer) -> None:
    saved, _ = run(server, tmp_path, TWO_MODELS)
    assert [finding["id"] for finding in saved["findings"]][:1] == ["FIT205"]
    assert "FIT209" in {finding["id"] for finding in saved["findings"]}
