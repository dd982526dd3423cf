"""Two tensors that a layer merges and that do not go together, and what is to be changed."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.model.layer_refusals import Refusal
from fitdoctor.diagnosis import Evidence, Fix, Location
from fitdoctor.facts import LayerFacts, Shape
from fitdoctor.records import dataclass
from fitdoctor.source.module import Module


@dataclass(frozen=True)
class Verdict:
    """Where to change what."""

    location: Location | None = None
    evidence: tuple[Evidence, ...] = ()
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, eq=False)
class Pair:
    """Two tensors that do not go together."""

    refusal: Refusal
    first: int
    second: int
    shapes: tuple[Shape, Shape]
    axes: tuple[int, ...]
    """The axes on which they differ; () when they differ in rank."""
    module: Module | None
    node: ast.Call | None
    tensors: list[ast.expr]

    def branch(self, index: int) -> tuple[LayerFacts, ...]:
        """The layers of one way since it left the other, last first."""
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
        """The expression that one of the tensors is given by."""
        return self.tensors[index] if index < len(self.tensors) else None
