"""Whether a file can make a model at all: following one that cannot is time spent for nothing."""

from __future__ import annotations

import ast

from fitdoctor.source import resolution
from fitdoctor.source.module import Module
from fitdoctor.source.names import canonical, own_keras

_MAKERS = ("Sequential", "Model", "Input", "layers", "applications", "Layer", "model", "Dense")
"""A program that makes a model or a layer has one of these words in it."""


def may_make_models(module: Module) -> bool:
    """Whether the file reaches Keras by an import, or has a model or layer class of the user's."""
    text = module.text
    if "keras" in text or (".fit(" in text and ("tensorflow" in text or "Sequential" in text)):
        return any(word in text for word in _MAKERS) and (_imports_keras(module) or _has_models(module))
    return False


def _imports_keras(module: Module) -> bool:
    names = (resolution.imported(module, alias) for alias in module.nodes(ast.alias))
    return any(_is_keras(module, name) for name in dict.fromkeys(names))


def _is_keras(module: Module, name: str) -> bool:
    """Whether an import means the Keras that programs use, also where another file hands it on."""
    if module.project is not None:
        name = module.project.library_name(module, name)
    name = own_keras(canonical(name))
    # Below `keras.src` and `tensorflow.python` are the insides of the libraries, not what programs call.
    if name.startswith(("keras.src.", "tensorflow.python.")) or name in ("keras.src", "tensorflow.python"):
        return False
    return name.partition(".")[0] in ("keras", "tensorflow")


def _has_models(module: Module) -> bool:
    return any(info.kind in ("Model", "Layer") for info in module.classes)
