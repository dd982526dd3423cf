"""Which Keras package the objects of a program come from, and where they are mixed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.records import dataclass
from fitdoctor.source.module import CallSite, Module

LEGACY = "tf_keras"
_SWITCH = "TF_USE_LEGACY_KERAS"
_PARTS = frozenset(("layers", "models", "Model", "Sequential", "Input", "applications", "optimizers"))
_REFUSED = {2: _PARTS, 3: _PARTS | {"metrics", "callbacks"}}
"""Objects of each Keras that the other rejects; losses, initializers and similar callables work in both."""


@dataclass(frozen=True)
class Mixture:
    """An object from a different Keras package than the model that gets it."""

    call: ast.Call
    """The call that creates it."""
    keras: int
    """The Keras version it comes from."""
    silent: bool = False
    """Whether nothing fails: a Keras 3 layer called on a Keras 2 tensor becomes operations without weights."""


def keras_of(module: Module, call: ast.Call) -> int:
    """Return 2 or 3 by the package that a call names; 0 if it is neither, or both are the same."""
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
    """Return every object passed to a call of the other Keras, directly or by name."""
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
    """Return which of the two is not from the Keras of the file's models; if those are mixed, the argument."""
    models = {
        keras_of(module, site.node)
        for site in module.calls
        if module.dotted(site.node.func).rpartition(".")[2] in ("Model", "Sequential")
    } - {0}
    return taker if models == {giver.keras} else giver


def _taker(module: Module, site: CallSite) -> ast.Call | None:
    """Return the call that creates or calls a Keras object, or that created the model that gets something."""
    if _kind(module, site.node) in _PARTS:
        return site.node
    if site.method not in ("add", "compile", "fit") or not isinstance(site.node.func, ast.Attribute):
        return None
    model = module.made_by(site.receiver)
    return model if isinstance(model, ast.Call) else None


def _kind(module: Module, call: ast.Call) -> str:
    """Return `layers` for `keras.layers.Dense`, `Model` for `tf_keras.Model`."""
    path = module.dotted(_maker(call).func).removeprefix("tensorflow.").split(".")
    return path[1] if len(path) > 1 else ""


def _maker(call: ast.Call) -> ast.Call:
    """Return the call that creates the called layer, or the call itself."""
    return call.func if isinstance(call.func, ast.Call) else call


def _given(module: Module, call: ast.Call) -> Iterator[ast.expr]:
    """Return the arguments of a call, including the items of lists."""
    for value in (*call.args, *(keyword.value for keyword in call.keywords)):
        listed = module.made_by(value) if isinstance(value, ast.Name) else value
        yield from listed.elts if isinstance(listed, (ast.List, ast.Tuple)) else (value,)
