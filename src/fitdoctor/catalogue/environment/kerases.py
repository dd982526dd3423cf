"""Which Keras the objects of a program are of, and where one is given what the other made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.records import dataclass
from fitdoctor.source.module import CallSite, Module

LEGACY = "tf_keras"
_SWITCH = "TF_USE_LEGACY_KERAS"
_PARTS = frozenset(("layers", "models", "Model", "Sequential", "Input", "applications", "optimizers"))
_REFUSED = {2: _PARTS, 3: _PARTS | {"metrics", "callbacks"}}
"""What of each Keras the other one does not take; losses, initializers and the like are called, whose ever they are."""


@dataclass(frozen=True)
class Mixture:
    """An object that is not of the Keras of the model that it goes into."""

    call: ast.Call
    """What makes it."""
    keras: int
    """Whose it is."""
    silent: bool = False
    """Nothing is refused: a layer of Keras 3 is called on a tensor of Keras 2, and becomes operations without weights."""


def keras_of(module: Module, call: ast.Call) -> int:
    """2 or 3 by the package that a call names; 0 where it is neither's, or both are the same."""
    dotted = module.dotted(_maker(call).func)
    root = dotted.partition(".")[0]
    if root == LEGACY:
        return 2
    if root == "keras":
        return 3 if module.keras == 3 or _SWITCH in module.text or LEGACY in module.text else 0
    if dotted.startswith("tensorflow.keras."):
        return 2 if _SWITCH in module.text and module.keras == 2 else 3 if module.keras == 3 else 0
    return 0


def mixtures(module: Module) -> Iterator[Mixture]:
    """Every object that a call of the other Keras is given, there or by a name."""
    if LEGACY not in module.text and _SWITCH not in module.text:
        return
    seen: set[ast.Call] = set()
    for site in module.calls:
        taker = _taker(module, site)
        own = keras_of(module, taker) if taker is not None else 0
        for given in _given(module, site.node) if own else ():
            made = module.made_by(given.value if isinstance(given, ast.Attribute) else given)
            other = keras_of(module, made) if isinstance(made, ast.Call) else 0
            if not isinstance(made, ast.Call) or not other or other == own or taker is None:
                continue
            if _kind(module, made) not in _REFUSED[other]:
                continue
            foreign = _foreign(module, _mixture(taker, own), _mixture(made, other))
            if foreign.call not in seen:
                seen.add(foreign.call)
                yield foreign


def _mixture(call: ast.Call, keras: int) -> Mixture:
    return Mixture(_maker(call), keras, silent=keras == 3 and isinstance(call.func, ast.Call))


def _foreign(module: Module, taker: Mixture, giver: Mixture) -> Mixture:
    """Which of two is not of the Keras of the file's models; where those are of both, what was given."""
    models = {
        keras_of(module, site.node)
        for site in module.calls
        if module.dotted(site.node.func).rpartition(".")[2] in ("Model", "Sequential")
    } - {0}
    return taker if models == {giver.keras} else giver


def _taker(module: Module, site: CallSite) -> ast.Call | None:
    """The call that makes or calls something of a Keras, or that made the model which is given something."""
    if _kind(module, site.node) in _PARTS:
        return site.node
    if site.method not in ("add", "compile", "fit") or not isinstance(site.node.func, ast.Attribute):
        return None
    model = module.made_by(site.node.func.value)
    return model if isinstance(model, ast.Call) else None


def _kind(module: Module, call: ast.Call) -> str:
    """`layers` of `keras.layers.Dense`, `Model` of `tf_keras.Model`."""
    path = module.dotted(_maker(call).func).removeprefix("tensorflow.").split(".")
    return path[1] if len(path) > 1 else ""


def _maker(call: ast.Call) -> ast.Call:
    """The call that makes the layer which is called, or the call itself."""
    return call.func if isinstance(call.func, ast.Call) else call


def _given(module: Module, call: ast.Call) -> Iterator[ast.expr]:
    """The arguments of a call, and the elements of those that are lists."""
    for value in (*call.args, *(keyword.value for keyword in call.keywords)):
        listed = module.made_by(value) if isinstance(value, ast.Name) else value
        yield from listed.elts if isinstance(listed, (ast.List, ast.Tuple)) else (value,)
