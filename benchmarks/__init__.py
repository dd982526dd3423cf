"""Figures: every `bench_*.py` gives rows, `python -m benchmarks` prints them all."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One figure beside the alternative's, measured in the same run."""

    what: str
    ours: float
    alternative: float | None = None
    """What the ratio is taken against; None where there is nothing to compare with."""
    ratio: float | None = None
    bar: str = ""
    """What is asked for, such as `>= 50` or `<= 4.5`, of the ratio (of `ours` where there is none)."""
    unit: str = ""
    against: str = ""
    """The name of the alternative."""

    @property
    def held(self) -> bool | None:
        """Whether the bar holds; None where there is none."""
        if not self.bar:
            return None
        sign, limit = self.bar.split()
        figure = self.ours if self.ratio is None else self.ratio
        return figure >= float(limit) if sign == ">=" else figure <= float(limit)
