"""What Keras 1 and 2 had and Keras 3 has not: the rows of `keras_changes.tsv`, which `scripts/keras_changes.py` writes."""

from __future__ import annotations

import functools
import os
from collections.abc import Collection

from fitdoctor.records import dataclass
from fitdoctor.source.keras_3_api import PUBLIC_NAMES


@dataclass(frozen=True)
class Change:
    """One difference between Keras 3 and an older Keras."""

    kind: str
    """`name`, `module`, `argument`, `attribute`, `default`, `order`, `value`, `ignored`, `history` or `never called`."""
    owner: str
    """The module, class, function or method that had it: `keras.layers.Dense`, `Model.fit`, `Optimizer`."""
    name: str
    new: str
    """What to write instead; "" if there is no such thing."""
    since: str
    """The version of Keras that made the change."""
    safe: bool
    """Whether a program that is changed accordingly does the same."""

    @property
    def old(self) -> str:
        """The dotted name of a name or module."""
        return f"{self.owner}.{self.name}"


@functools.cache
def _rows() -> dict[tuple[str, str], list[tuple[str, str, str, str]]]:
    """Return the rows of the table by kind and owner."""
    path = os.path.join(os.path.dirname(__file__), "keras_changes.tsv")
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()[1:]
    found: dict[tuple[str, str], list[tuple[str, str, str, str]]] = {}
    for line in lines:
        kind, old, new, since, safe = line.split("\t")
        owner, _, name = old[:-1].rpartition("(") if old.endswith(")") else old.rpartition(".")
        found.setdefault((kind, owner), []).append((name, new, since, safe))
    return found


@functools.cache
def changes(kind: str, owner: str = "") -> dict[str, Change]:
    """Return the changes of a kind by name, of one owner: `changes("argument", "Model.fit")`."""
    return {
        name: Change(kind, owner, name, new, since, safe == "yes")
        for name, new, since, safe in _rows().get((kind, owner), ())
    }


def owners(kind: str) -> list[str]:
    """Return everything that has changes of a kind."""
    return [owner for each, owner in _rows() if each == kind]


def changes_of_argument(name: str) -> list[Change]:
    """Return the changes of arguments of that name, of all owners."""
    found = (changes("argument", owner).get(name) for owner in owners("argument"))
    return [change for change in found if change is not None]


def changed_name(dotted: str) -> Change | None:
    """Return the change of a name or module, as it is imported: `keras.losses.mse`, `tensorflow.keras.losses.mse`.

    Some names are gone from `keras` only, and one module has other names in `tensorflow.keras`.
    """
    for spelling in dict.fromkeys((dotted, below_keras(dotted))):
        owner, _, name = spelling.rpartition(".")
        change = changes("name", owner).get(name) or changes("module", owner).get(name)
        if change is not None and spelling == dotted or change is not None and _is_gone_from_tf(change):
            return change
    return None


def _is_gone_from_tf(change: Change) -> bool:
    return not change.new.startswith(("tensorflow.", "keras.losses.", "keras.metrics."))


def changed_module(dotted: str) -> Change | None:
    """Return the change of a module, or of one that it is in."""
    while dotted.count("."):
        change = changed_name(dotted)
        if change is not None and change.kind == "module":
            return change
        dotted = dotted.rpartition(".")[0]
    return None


def is_import_of_old_keras(package: str, name: str) -> bool:
    """Return whether Keras 3 rejects `from package import name`, which an older Keras accepts."""
    inside = below_keras(package)
    # `keras.layers` has all public layers itself, and no modules below it.
    return inside.startswith("keras.layers.") or bool(
        inside and (changed_module(package) or changed_name(f"{package}.{name}"))
    )


def below_keras(dotted: str) -> str:
    """Return the name below `keras`, however it is imported; "" for other packages."""
    for prefix in ("tensorflow.keras", "keras", "tf_keras"):
        if dotted == prefix or dotted.startswith(prefix + "."):
            return "keras" + dotted.removeprefix(prefix)
    return ""


def homes_of(names: Collection[str]) -> list[str]:
    """Return the public modules of Keras 3 that have all of the names."""
    return [home for home, offered in PUBLIC_NAMES.items() if all(name in offered for name in names)]
