"""Whether a file can make or fit a model at all: following one that cannot is time spent for nothing."""

from __future__ import annotations

import ast
from functools import lru_cache

from fitdoctor.source.module import Module
from fitdoctor.source.names import own_keras
from fitdoctor.source.resolution import imported

_MADE = (
    "keras.layers.",
    "keras.Sequential",
    "keras.Model",
    "keras.Input",
    "keras.models.",
    "keras.applications.",
)
_INSIDES = ("keras.src", "tf_keras.src", "tensorflow.python")
_USED = frozenset(
    "fit fit_generator evaluate evaluate_generator predict train_on_batch test_on_batch".split()
)


def may_make_models(module: Module) -> bool:
    """Whether the file calls a layer or model of Keras into being, or, in a program with Keras, has one fitted."""
    modules = module.project.modules if module.project is not None else (module,)
    if not _mention_keras(modules) or _is_inside_keras(module):
        return False
    return any(site.method in _USED or own_keras(site.name).startswith(_MADE) for site in module.calls)


def _is_inside_keras(module: Module) -> bool:
    """Whether it is a file of Keras itself, which imports its neighbours and not the Keras that programs use."""
    names = {imported(module, alias) for alias in module.nodes(ast.alias)}
    return any(name.startswith(_INSIDES) for name in names) and not any(
        name.partition(".")[0] in ("keras", "tensorflow", "tf_keras") and not name.startswith(_INSIDES)
        for name in names
    )


@lru_cache(maxsize=8)
def _mention_keras(modules: tuple[Module, ...]) -> bool:
    return any("keras" in module.text or "tensorflow" in module.text for module in modules)
