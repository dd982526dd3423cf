"""What is not known stays unknown, and what the corpus gives."""

from __future__ import annotations

import functools
from pathlib import Path

from fitdoctor.facts import Unknown
from fitdoctor.gc_pause import gc_paused
from fitdoctor.source.fits.fit_sites import Followed, fit_sites, follow, model_sites
from fitdoctor.source.module import Module
from fitdoctor.source.read import read_source
from tests.source.followed_programs import MODEL, module, site

CORPUS = Path(__file__).parents[1] / "corpus"


# --- caution ----------------------------------------------------------------------------------------------------------


def test_not_compiled_is_said_only_of_a_model_that_nothing_else_touched() -> None:
    plain = "model = keras.Sequential([keras.Input((8,)), layers.Dense(1)])\n"
    assert site(plain + "model.fit(x, y)").model.compiled is False
    touched = site("from project import prepare\n" + plain + "prepare(model)\nmodel.fit(x, y)").model
    assert touched.compiled is True
    assert [loss.kind for loss in touched.losses] == ["function"]
    held = site("from project import Trainer\n" + plain + "t = Trainer(model=model)\nmodel.fit(x, y)").model
    assert held.compiled is True


def test_a_dataclass_compiles_its_model_in_post_init() -> None:
    trainer = """
    from dataclasses import dataclass
    @dataclass
    class Trainer:
        model: keras.Model
        def __post_init__(self):
            self.model.compile("adam", "mse")
        def train(self, x, y):
            self.model.fit(x, y)
    """
    created = "Trainer(keras.Sequential([keras.Input((8,)), layers.Dense(1)])).train(x, y)"
    model = site(trainer + created).model
    assert (model.compiled, model.optimizer) == (True, "Adam")


def test_a_model_that_differs_between_branches_is_not_guessed() -> None:
    text = """
    import os
    model = keras.Sequential([keras.Input((8,))])
    if os.environ.get("DEEP"):
        model.add(layers.Dense(64))
    model.add(layers.Dense(1))
    model.compile("adam", "mse")
    model.fit(x, y)
    """
    found = site(text)
    assert isinstance(found.model.outputs, Unknown)
    assert found.model.layers == ()


def test_layers_added_in_a_loop_of_unknown_length_are_not_guessed() -> None:
    text = """
    import sys
    model = keras.Sequential([keras.Input((8,))])
    for _ in range(int(sys.argv[1])):
        model.add(layers.Dense(64))
    model.compile("adam", "mse")
    model.fit(x, y)
    """
    assert isinstance(site(text).model.outputs, Unknown)


def test_data_from_unknown_code_is_unknown() -> None:
    text = """
    from project import load
    x, y = load()
    model = keras.Sequential([keras.Input((8,)), layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, y)
    """
    (data,) = site(text).data
    assert data.form == "other"
    assert isinstance(data.x[0].shape, Unknown)
    assert isinstance(data.samples, Unknown)


def test_a_sample_is_known_whole_or_not_at_all() -> None:
    text = """
    import pandas as pd
    table = pd.read_csv("table.csv").to_numpy()
    model = keras.Sequential([keras.Input((8,)), layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(table[:, :8], table[:, 8:])
    """
    (data,) = site(text).data
    assert isinstance(data.y[0].shape, Unknown)
    columns = site(text.replace("table[:, 8:]", "table[:, 8]")).data[0]
    assert columns.y[0].shape == (None,)


def test_a_clone_is_not_said_to_be_uncompiled() -> None:
    assert site(MODEL + "other = keras.models.clone_model(model)\nother.fit(x, y)").model.compiled is True


def test_unknown_steps_blur_what_depends_on_them() -> None:
    text = """
    import sys
    ds = tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(10)
    model = keras.Sequential([keras.Input((8,)), layers.Dense(3)])
    model.compile("adam", "mse")
    model.fit(ds, steps_per_epoch=int(sys.argv[1]))
    """
    (data,) = site(text).data
    assert isinstance(data.endless, Unknown)
    assert isinstance(data.batches, Unknown)


def test_callbacks_are_told_only_with_the_metrics_they_depend_on() -> None:
    base = "model = keras.Sequential([keras.Input((8,)), layers.Dense(1)])\n"
    stop = "keras.callbacks.EarlyStopping(monitor='val_accuracy', patience=3)"
    told = site(
        base + f"model.compile('adam', 'mse', metrics=['mae'])\nmodel.fit(x, y, callbacks=[{stop}])"
    ).fit
    assert told.callbacks[0].setting("monitor") == "val_accuracy"
    hidden = site(
        f"from project import METRICS\n{base}model.compile('adam', 'mse', metrics=METRICS)\n"
        f"model.fit(x, y, callbacks=[{stop}])"
    ).fit
    assert hidden.callbacks == ()
    partly = site(
        f"from project import Extra\n{base}model.compile('adam', 'mse')\nmodel.fit(x, y, callbacks=[{stop}, Extra()])"
    ).fit
    assert partly.callbacks == ()


def test_a_failure_that_the_program_expects_is_not_told() -> None:
    wrong = "model = keras.Sequential([keras.Input((8,)), layers.LSTM(4)])"
    assert [one for one in model_sites(module(wrong)) if one.failure] != []
    caught = f"try:\n    {wrong}\nexcept ValueError as error:\n    print(error)\n"
    assert [one for one in model_sites(module(caught)) if one.failure] == []
    raised = f"import pytest\nwith pytest.raises(ValueError):\n    {wrong}\n"
    assert [one for one in model_sites(module(raised)) if one.failure] == []


def test_a_file_without_models_is_left_alone() -> None:
    assert fit_sites(module("print('hello')", imports="")) == ()
    forest = "from sklearn.ensemble import RandomForestClassifier\nRandomForestClassifier().fit([[1]], [1])"
    assert fit_sites(module(forest, imports="")) == ()
    assert fit_sites(module("RandomForest().fit(x, y)\nunknown.fit(x, y)")) == ()


# --- the corpus -------------------------------------------------------------------------------------------------------


@functools.cache
def corpus(*folders: str) -> tuple[tuple[str, Followed], ...]:
    """Every program of these folders with what following it gave."""
    paths = [path for folder in folders for path in sorted((CORPUS / folder).rglob("*.py"))]
    with gc_paused():
        return tuple((path.name, follow(Module(read_source(path)))) for path in paths)


def test_no_working_program_has_a_refused_layer() -> None:
    programs = list(corpus("working", "fixed"))
    alarms = [
        (name, one.failure.message)
        for name, found in programs
        for one in found.models
        if one.failure is not None
    ]
    assert alarms == []
    assert [name for name, found in programs if found.stopped] == []


def test_every_failing_program_is_followed_to_its_end() -> None:
    assert [name for name, found in corpus("failing") if found.stopped] == []


def test_most_calls_of_fit_are_known() -> None:
    fits = [
        one
        for _, found in corpus("working", "fixed")
        for one in found.fits
        if one.fit.method == "fit" and one.data
    ]
    told = {
        "x": sum(all(not isinstance(part.shape, Unknown) for part in one.data[0].x) for one in fits),
        "outputs": sum(not isinstance(one.model.outputs, Unknown) for one in fits),
        "losses": sum(all(loss.name for loss in one.model.losses) for one in fits),
    }
    assert told["x"] > 0.8 * len(fits)
    assert told["outputs"] > 0.75 * len(fits)
    assert told["losses"] > 0.9 * len(fits)
