"""Callbacks and what is changed between two fits (FIT311, FIT322, FIT323); what each cause claims."""

from __future__ import annotations

import ast

import pytest

from fitdoctor.catalogue import catalogue
from fitdoctor.catalogue.model.nothing_to_train.cause import _all_but_the_last
from fitdoctor.diagnosis import Finding, Severity
from fitdoctor.source.module import Module
from fitdoctor.source.read import source_from_text
from tests.catalogue.contract_programs import NET, found, line_of

# --- FIT322 ---------------------------------------------------------------------------------------------------------


def monitored(
    callback: str, call: str = "validation_split=0.2", metrics: str = "['accuracy']"
) -> list[Finding]:
    return found(
        f"{NET}net.compile('adam', 'mse', metrics={metrics})\n"
        f"net.fit(x, y, {call}{', ' if call else ''}callbacks=[{callback}])",
        "FIT322",
    )


def test_a_name_that_there_is_not() -> None:
    [finding] = monitored("keras.callbacks.EarlyStopping(monitor='val_acc')")
    assert finding.severity is Severity.ERROR
    assert finding.fixes[0].edits[0].replacement == "'val_accuracy'"
    [finding] = monitored("keras.callbacks.EarlyStopping('val_auc', mode='max')")
    assert finding.severity is Severity.WARNING


def test_no_validation_data() -> None:
    [finding] = monitored("keras.callbacks.ReduceLROnPlateau()", call="")
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("callback", "call", "metrics"),
    [
        ("keras.callbacks.EarlyStopping(monitor='val_accuracy')", "validation_split=0.2", "['accuracy']"),
        ("keras.callbacks.EarlyStopping(monitor='loss')", "", "['accuracy']"),
        ("keras.callbacks.EarlyStopping()", "validation_data=(x, y)", "['accuracy']"),
        ("keras.callbacks.EarlyStopping()", "validation_data=load()", "['accuracy']"),
        ("keras.callbacks.EarlyStopping()", "**options", "['accuracy']"),
        ("keras.callbacks.ModelCheckpoint('a.keras')", "", "['accuracy']"),
        ("keras.callbacks.EarlyStopping(NAME)", "validation_split=0.2", "['accuracy']"),
        (
            "keras.callbacks.EarlyStopping('val_auc_1', mode='max')",
            "validation_split=0.2",
            "[keras.metrics.AUC()]",
        ),
        ("keras.callbacks.EarlyStopping('val_f1', mode='max')", "validation_split=0.2", "make_metrics()"),
        (
            "Extra(), keras.callbacks.EarlyStopping('val_f1', mode='max')",
            "validation_split=0.2",
            "['accuracy']",
        ),
        ("Extra(), keras.callbacks.EarlyStopping('val_f1', mode='max')", "", "['accuracy']"),
    ],
)
def test_names_that_are_or_may_be_there(callback: str, call: str, metrics: str) -> None:
    assert not monitored(callback, call, metrics)


# --- FIT323 ---------------------------------------------------------------------------------------------------------


def test_freezing_between_two_fits() -> None:
    text = NET + "net.compile('adam', 'mse')\nnet.fit(x, y)\nnet.layers[0].trainable = False\nnet.fit(x, y)"
    [finding] = found(text, "FIT323")
    assert line_of(finding) == 4
    assert finding.fixes[0].edits[0].replacement.startswith("net.compile('adam', 'mse')")


@pytest.mark.parametrize(
    "text",
    [
        NET + "net.compile('adam', 'mse')\nnet.layers[0].trainable = False\nnet.fit(x, y)",
        NET + "net.compile('adam', 'mse')\nnet.fit(x, y)\nnet.layers[0].trainable = False\n"
        "net.compile('adam', 'mse')\nnet.fit(x, y)",
        "class C(keras.callbacks.Callback):\n    def on_train_begin(self, logs=None):\n"
        "        self.model.layers[0].trainable = False",
        "class C(keras.callbacks.Callback):\n    def on_epoch_begin(self, epoch, logs=None):\n"
        "        if epoch == 0:\n            self.model.layers[0].trainable = False",
        "class C(keras.callbacks.Callback):\n    def on_epoch_end(self, epoch, logs=None):\n"
        "        self.model.trainable = False\n        self.model.compile('adam', 'mse')",
        "class C(keras.callbacks.Callback):\n    def on_train_end(self, logs=None):\n"
        "        self.model.trainable = False",
    ],
)
def test_changes_that_take_effect(text: str) -> None:
    assert not found(text, "FIT323")


def test_every_cause_claims_what_it_can_do() -> None:
    assert {moment.value for moment in catalogue()["FIT322"].moments} == {
        "source",
        "before_fit",
        "after_failure",
    }
    assert {moment.value for moment in catalogue()["FIT315"].moments} == {"source", "after_failure"}


# --- FIT311 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("keras", "findings"), [(3, 1), (2, 0)])
def test_keras_2_goes_on_training_what_was_frozen_after_compile(keras: int, findings: int) -> None:
    text = f"{NET}net.compile('adam', 'mse')\nnet.trainable = False\nnet.fit(x, y)\n"
    assert len(found(text, "FIT311", keras)) == findings


@pytest.mark.parametrize(
    ("frozen", "edits"), [("net", 1), ("net.layers[0]", 0), ("net.get_layer(index=0)", 0), ("net.base", 1)]
)
def test_a_layer_is_not_frozen_layer_by_layer(frozen: str, edits: int) -> None:
    module = Module(source_from_text(f"{frozen}.trainable = False\n", "train.py"))
    assert len(_all_but_the_last(module, module.nodes(ast.Assign)[0])) == edits
