"""The names that features and their labels usually have."""

from __future__ import annotations

from collections.abc import Iterator

_PAIRS = (
    ("x", "y"),
    ("X", "y"),
    ("X", "Y"),
    ("images", "labels"),
    ("features", "labels"),
    ("features", "targets"),
    ("features", "target"),
    ("data", "labels"),
    ("data", "targets"),
    ("inputs", "targets"),
    ("inputs", "labels"),
)


def label_names_for(name: str) -> Iterator[str]:
    """Yield the usual names of the labels of features with this name."""
    parts = name.split("_")
    found = []
    for of_features, of_labels in _PAIRS:
        if of_features in parts:
            found.append("_".join(of_labels if part == of_features else part for part in parts))
        elif name == f"{of_features}train" or name == f"train{of_features}":
            found.append(name.replace(of_features, of_labels, 1))
    yield from dict.fromkeys(found)
