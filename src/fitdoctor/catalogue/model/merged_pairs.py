"""Two merged tensors with incompatible shapes, and the change that fixes them."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.model.layer_refusals import Refusal
from fitdoctor.diagnosis import Evidence, Fix, Location
from fitdoctor.facts import LayerFacts, Shape
from fitdoctor.records import dataclass
from fitdoctor.source.module import Module


@dataclass(frozen=True)
class Verdict:
    """A location, evidence and fixes."""

    location: Location | None = None
    evidence: tuple[Evidence, ...] = ()
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, eq=False)
class Pair:
    """Two tensors with incompatible shapes."""

    refusal: Refusal
    first: int
    second: int
    shapes: tuple[Shape, Shape]
    axes: tuple[int, ...]
    """The axes on which they differ; () if they differ in rank."""
    module: Module | None
    node: ast.Call | None
    tensors: list[ast.expr]

    def branch(self, index: int) -> tuple[LayerFacts, ...]:
        """Return the layers of one branch since it left the other, last first."""
        ways = self.refusal.ways
        if max(self.first, self.second) >= len(ways):
            return ()
        own, other = ways[index], ways[self.second if index == self.first else self.first]
        shared = {layer.name for layer in other if layer.name}
        for at, layer in enumerate(own):
            if layer.name in shared:
                return own[:at]
        return own

    def tensor(self, index: int) -> ast.expr | None:
        """Return the expression for one of the tensors."""
        return self.tensors[index] if index < len(self.tensors) else None
