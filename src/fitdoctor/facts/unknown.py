"""What could not be known, and the shapes in which lengths may be open."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from fitdoctor.records import dataclass

if TYPE_CHECKING:
    T = TypeVar("T")


@dataclass(frozen=True)
class Unknown:
    """Something that could not be known, and why. It is falsy, and never a guess."""

    KIND = "unknown"

    reason: str = "not collected"

    def __bool__(self) -> bool:
        return False


Shape = tuple[int | None, ...]


def known(value: T | Unknown) -> bool:
    """Whether a fact is there."""
    return not isinstance(value, Unknown)
