"""Names of losses, metrics, optimizers and activations that Keras does not have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.records import dataclass
from fitdoctor.source.definitions import CallSite
from fitdoctor.source.keras_3_api import PUBLIC_NAMES
from fitdoctor.source.keras_changes import changes
from fitdoctor.source.keras_names import snake_case
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_REFUSED = re.compile(
    r"Could not interpret (?P<kind>loss|metric|optimizer|activation function|initializer|regularizer) identifier: "
    r"(?P<name>[\w .-]+)$"
)
_REFUSED_BY_KERAS_2 = re.compile(
    r"Unknown (?P<kind>loss|metric|optimizer|activation|initializer|regularizer)(?: function)?: '(?P<name>[\w .-]+)'"
)
_ACTIVATION = "activation function"
_HOMES = {
    "loss": "keras.losses",
    "metric": "keras.metrics",
    "optimizer": "keras.optimizers",
    _ACTIVATION: "keras.activations",
    "initializer": "keras.initializers",
    "regularizer": "keras.regularizers",
}
_NO_NAMES = frozenset(
    "get serialize deserialize Loss Metric Optimizer Initializer Regularizer LossScaleOptimizer MultiOptimizer "
    "OptimizerMap legacy".split()
)
_ACTIVATIONS = (
    "celu elu exponential gelu glu hard_shrink hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu linear "
    "log_sigmoid log_softmax mish relu relu6 selu sigmoid silu soft_shrink softmax softplus softsign sparse_plus "
    "sparse_sigmoid sparsemax squareplus swish tanh tanh_shrink threshold"
).split()
_SHORT_NAMES = frozenset(
    "mse mae mape msle bce kld acc accuracy ce crossentropy cosine cosine_proximity cosine_similarity huber huber_loss "
    "logcosh log_cosh kullback_leibler_divergence hinge lamb".split()
)
"""Names that some version of Keras accepts beside those of its functions and classes."""
_SHORTEST, _SHORT = 3, 6
"""Letters: shorter names are not judged, and short ones only by a single slip."""
_REGISTERS = ("custom_objects", "register_keras_serializable", "CustomObjectScope", "custom_object_scope")


@dataclass(frozen=True, eq=False)
class Misspelt:
    """A name that Keras rejects, and the intended one."""

    kind: str
    """`loss`, `metric`, `optimizer`, `activation function`, …"""
    name: str
    meant: str
    """"" if no name is similar."""
    module: Module | None = None
    node: ast.Constant | None = None


def refused_name(message: str, project: Project) -> Misspelt | None:
    """Return the name in an error message, and where the program uses it."""
    first = message.strip().split("\n")[0]
    said = _REFUSED.search(first) or _REFUSED_BY_KERAS_2.search(first)
    if said is None:
        return None
    kind = _ACTIVATION if said["kind"].startswith("activation") else said["kind"]
    name = said["name"].strip()
    written = [
        (module, node)
        for module in project.modules
        for node in module.nodes(ast.Constant)
        if node.value == name
    ]
    module, node = written[0] if written else (None, None)
    meant = meant_by(kind, name)
    return Misspelt(kind, name, meant if meant != name else "", module, node)


def misspelt_names(module: Module, project: Project) -> Iterator[Misspelt]:
    """Yield misspelled names in calls to `compile` and layers."""
    if any(word in one.text for one in project.modules for word in _REGISTERS):
        return
    for kind, node in (*_in_compile(module, project), *_in_layers(module)):
        # Keras 2 accepts the layer names `ReLU` and `Softmax` as activations.
        meant = _other_spelling(kind, node.value, exact=kind == _ACTIVATION and module.keras != 2)
        meant = meant or _typo_of(kind, str(node.value))
        if meant:
            yield Misspelt(kind, str(node.value), meant, module, node)


def _in_compile(module: Module, project: Project) -> Iterator[tuple[str, ast.Constant]]:
    if any("compile" in owner.methods for owner in project.classes):
        return  # names that a `compile` of the user's own may understand
    for site in module.method_calls("compile"):
        if site.name.startswith("re.") or not _is_of_model(site):
            continue
        for kind, position in (("optimizer", 0), ("loss", 1)):
            for text in _texts(site.argument(kind, position)):
                yield kind, text
        for text in _texts(site.argument("metrics", 3)):
            yield "metric", text


def _is_of_model(site: CallSite) -> bool:
    """Whether `compile` gets what only a model's takes: a regular expression is compiled from one argument."""
    keywords = {keyword.arg for keyword in site.node.keywords}
    return bool(keywords & {"optimizer", "loss", "metrics"}) or len(site.node.args) > 1


def _texts(given: ast.expr | None) -> Iterator[ast.Constant]:
    """Yield the names that are written out in an argument, also in its lists and dicts."""
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        yield given
    elif isinstance(given, (ast.List, ast.Tuple)):
        for item in given.elts:
            yield from _texts(item)
    elif isinstance(given, ast.Dict):
        for value in given.values:
            yield from _texts(value)


def _in_layers(module: Module) -> Iterator[tuple[str, ast.Constant]]:
    for site in module.calls_under("keras.layers."):
        given = site.argument("activation")
        if isinstance(given, ast.Constant) and isinstance(given.value, str):
            yield _ACTIVATION, given


def _known(kind: str) -> list[str]:
    if kind == _ACTIVATION:
        return _ACTIVATIONS
    names = [name for name in PUBLIC_NAMES.get(_HOMES[kind], ()) if name not in _NO_NAMES]
    if kind == "optimizer":
        return [name.lower() for name in names]
    return sorted({*names, *map(snake_case, names)} if kind == "metric" else names)


def meant_by(kind: str, name: str) -> str:
    """Return the intended name; "" if none is similar."""
    other = _other_spelling(kind, name, exact=kind == _ACTIVATION)
    if other:
        return other
    change = changes("name", _HOMES[kind]).get(name)
    if change is not None and change.since == "2" and change.new:
        return change.new.rpartition(".")[2]
    import difflib

    plain = {known.lower(): known for known in _known(kind)}
    close = difflib.get_close_matches(name.lower().replace(" ", "_"), plain, n=1, cutoff=0.75)
    return plain[close[0]] if close else ""


def _other_spelling(kind: str, name: object, exact: bool) -> str:
    """Return the Keras name that differs only in underscores, hyphens and spaces; "" if Keras accepts the name.

    Args:
        kind: `loss`, `metric`, and so on.
        name: the name in the program.
        exact: whether Keras is case-sensitive and has no short names here.
    """
    text = str(name)
    known = _known(kind)
    same = [one for one in known if one == text or not exact and one.lower() == text.lower()]
    if same or not exact and _bare(text) == text.lower():
        # `MSE`, `Adam`, `relu`: a single word may be one of Keras's short names.
        return ""
    like = [one for one in known if _bare(one) == _bare(text)]
    return next((one for one in like if "_" in one), like[0] if like else "")


def _typo_of(kind: str, name: str) -> str:
    """Return the one Keras name that is a slip of the keys away; "" where the name may be meant as it is."""
    text = name.lower()
    accepted = {one.lower() for each in _HOMES for one in _known(each)} | _SHORT_NAMES
    if len(text) < _SHORTEST or text in accepted:
        return ""
    candidates: dict[str, str] = {
        one.lower(): one for one in (*_known(kind), *(_SHORT_NAMES if kind in ("loss", "metric") else ()))
    }
    slips = 1 if len(text) <= _SHORT else 2
    # `sgdw` and `weighted_mse` are names of other things, not slips.
    near = [
        one
        for one in candidates
        if one not in text and distance(one, text, slips) <= slips and not _only_looks_like(one, text)
    ]
    if not near:
        return ""
    best: str = min(near, key=lambda one: (distance(one, text, slips), one))
    return candidates[best]


def _only_looks_like(one: str, text: str) -> bool:
    """Whether two short names differ in a letter that is changed, not swapped: `abc` is not `acc`."""
    return len(one) == len(text) == _SHORTEST and sorted(one) != sorted(text)


def distance(one: str, other: str, most: int) -> int:
    """Return how many letters were added, left out, changed or swapped; more than `most` counts as `most + 1`."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        before, last, row = row, before, [at]
        for index, against in enumerate(other, 1):
            cost = min(before[index] + 1, row[index - 1] + 1, before[index - 1] + (letter != against))
            if at > 1 and index > 1 and letter == other[index - 2] and one[at - 2] == against:
                cost = min(cost, last[index - 2] + 1)
            row.append(cost)
    return row[-1]


def _bare(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")
