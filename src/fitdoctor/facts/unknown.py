"""`Unknown`, and shapes with open lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from fitdoctor.records import dataclass

if TYPE_CHECKING:
    T = TypeVar("T")


@dataclass(frozen=True)
class Unknown:
    """A fact that is not known, and the reason. It is falsy."""

    KIND = "unknown"

    reason: str = "not collected"

    def __bool__(self) -> bool:
        return False


Shape = tuple[int | None, ...]


def known(value: T | Unknown) -> bool:
    """Return whether a fact is known."""
    return not isinstance(value, Unknown)
