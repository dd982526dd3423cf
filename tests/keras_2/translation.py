"""Programs for Keras 3 as they are written for Keras 2."""

from __future__ import annotations

import re

_IMPORTS = (
    (re.compile(r"^(\s*)import keras\.(\w+(?:\.\w+)*) as", re.MULTILINE), r"\1import tf_keras.\2 as"),
    (re.compile(r"^(\s*)import keras as", re.MULTILINE), r"\1import tf_keras as"),
    (re.compile(r"^(\s*)import keras\b(?!\.)", re.MULTILINE), r"\1import tf_keras as keras"),
    (re.compile(r"^(\s*)from keras\b", re.MULTILINE), r"\1from tf_keras"),
)
NOT_IN_KERAS_2 = re.compile(r"\bPyDataset\b|\bkeras\.ops\b|from (?:tensorflow\.)?keras import .*\bops\b")
"""What only Keras 3 has: a program that uses it cannot be translated."""


def for_keras_2(text: str) -> str | None:
    """The program with `tf_keras` in the place of `keras`; None when it needs what only Keras 3 has."""
    if NOT_IN_KERAS_2.search(text):
        return None
    for wanted, instead in _IMPORTS:
        text = wanted.sub(instead, text)
    return text
