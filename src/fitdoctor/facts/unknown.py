"""`Unknown`, and shapes with open lengths."""

from __future__ import annotations

from fitdoctor.records import dataclass


@dataclass(frozen=True)
class Unknown:
    """A fact that is not known, and the reason. It is falsy."""

    KIND = "unknown"

    reason: str = "not collected"

    def __bool__(self) -> bool:
        return False


Shape = tuple[int | None, ...]
