"""Methods that Keras never calls, because their names are slips of those that it does call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.model.argument_of_the_wrong_call.misspelt_names import distance
from fitdoctor.catalogue.model.keras_contracts import METHODS
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module

_OF_LAYERS = frozenset("build call compute_output_shape compute_mask get_config from_config".split())
_HOOKS = {
    **{kind: frozenset(methods) for kind, methods in METHODS.items()},
    "Layer": _OF_LAYERS,
    "Model": _OF_LAYERS | METHODS["Model"].keys(),
    "Loss": frozenset(("call", "get_config")),
    "Metric": frozenset((*METHODS["Metric"], "reset_states", "get_config")),
}
_KEPT = frozenset(name for hooks in _HOOKS.values() for name in hooks)
_OTHER_WORDS = {"start": "begin", "finish": "end", "finished": "end", "ended": "end", "validation": "test"}
_OF_TRAINING = frozenset("epoch epochs batch train training test validation predict".split())
"""Words of which a callback's method has one if `fit` is meant to call it: reinforcement learning has episodes."""


def misspelt_methods(module: Module) -> Iterator[tuple[FunctionInfo, str]]:
    """Yield methods that nothing calls, with the method of Keras that each is a slip of; "" if none is similar."""
    for owner in module.classes:
        hooks = _HOOKS.get(owner.kind)
        if hooks is None or not _is_of_keras_alone(owner):
            continue
        calls_back = owner.kind == "Callback"
        inherited = {name for each in owner.ancestry for name in each.methods}
        for name, method in owner.methods.items():
            if name in _KEPT or not (name[0].isalpha() and name[-1].isalpha() and _is_plain(method)):
                continue
            words = [_OTHER_WORDS.get(word, word) if calls_back else word for word in name.split("_")]
            meant = next((hook for hook in sorted(hooks - inherited) if _is_slip(words, hook.split("_"))), "")
            foreign = calls_back and name.startswith("on_") and not _OF_TRAINING.isdisjoint(name.split("_"))
            several = not calls_back and name == f"{meant}s"
            if (meant and not several or foreign) and not _is_mentioned(module, name):
                yield method, meant


def _is_slip(words: list[str], meant: list[str]) -> bool:
    """Whether words are meant as others: underscores are left out, or single letters added, left out or swapped."""
    if len(words) != len(meant):
        return "".join(words) == "".join(meant)
    return all(one == other or _is_near(one, other) for one, other in zip(words, meant, strict=True))


def _is_near(one: str, other: str) -> bool:
    # `set_config` and `best_step` are other names.
    changed = len(one) == len(other) and sorted(one) != sorted(other)
    return not changed and distance(one, other, 1) == 1


def _is_of_keras_alone(owner: ClassInfo) -> bool:
    """Whether every base is a class of Keras or of the project, and none is changed by a decorator."""
    known = {each.name for each in owner.ancestry}
    return all(
        base.startswith("keras.") or base.rpartition(".")[2] in known
        for each in owner.ancestry
        for base in each.bases
    )


def _is_plain(method: FunctionInfo) -> bool:
    return isinstance(method.node, ast.FunctionDef) and not method.node.decorator_list


def _is_mentioned(module: Module, name: str) -> bool:
    """Whether the program has the name in another place, where it may be called or is a method of its own classes."""
    files = module.project.modules if module.project is not None else (module,)
    return sum(each.text.count(name) for each in files if each.mentions(name)) > 1
