"""Programs that are followed to their calls of fit."""

from __future__ import annotations

import textwrap

from fitdoctor.source.fits.fit_sites import FitSite, fit_sites
from fitdoctor.source.module import Module
from fitdoctor.source.read import source_from_text

IMPORTS = """
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
x = np.random.rand(100, 8)
y = np.random.randint(0, 3, 100)
"""


def module(text: str, imports: str = IMPORTS) -> Module:
    return Module(source_from_text(imports + textwrap.dedent(text), "train.py"))


def site(text: str, imports: str = IMPORTS) -> FitSite:
    (found,) = [one for one in fit_sites(module(text, imports)) if one.fit.method == "fit"]
    return found


MODEL = "model = keras.Sequential([keras.Input((8,)), layers.Dense(3)])\nmodel.compile('adam', 'mse')\n"
