"""Programs with traced code, and what the judges of the family say of them."""

from __future__ import annotations

import textwrap

from fitdoctor.diagnose import examine_source
from fitdoctor.diagnosis import Diagnosis, Finding
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.read import source_from_text

HEAD = """import functools
import random
import numpy as np
import tensorflow as tf
import keras
from keras import ops
"""


def project_of(text: str) -> Project:
    return Project((Module(source_from_text(HEAD + textwrap.dedent(text), "train.py")),))


def judged(text: str, cause: str = "FIT4") -> list[Finding]:
    diagnosis: Diagnosis = examine_source(project_of(text), select=(cause,))
    assert not diagnosis.crashes, diagnosis.crashes
    return list(diagnosis.findings)


def ids(text: str, cause: str = "FIT4") -> list[str]:
    return [found.id for found in judged(text, cause)]


LAYER = """
class Keeper(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(3)
        self.kept = None
    def call(self, x):
        {body}
        return self.dense(x)
layer = Keeper()
model = keras.Sequential([keras.Input((3,)), layer])
model.compile("adam", "mse")
model.fit(a, b)
{after}
"""


def layer(body: str, after: str = "") -> str:
    return LAYER.format(body=body, after=after)
