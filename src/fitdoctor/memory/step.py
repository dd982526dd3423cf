"""A training step as plain data: its operations, the tensors between them with their sizes, the variables.

Sizes are symbolic in the batch: a dimension is `fixed + each * batch`, learnt from the same step at two batch sizes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from fitdoctor.records import dataclass, replace


class Dim(NamedTuple):
    """One dimension of a tensor as the batch makes it."""

    fixed: int
    each: float = 0.0

    def at(self, batch: int) -> int:
        """Its length for a batch."""
        return max(0, round(self.fixed + self.each * batch)) if self.each else self.fixed


class Tensor(NamedTuple):
    """What flows along one edge of the step."""

    item_bytes: int
    """Bytes of one element; 0 for handles and lists, which own no memory themselves."""
    dims: tuple[Dim, ...] | None
    """None where the shape is not known before the step runs."""

    def elements(self, batch: int) -> int | None:
        """How many elements it has for a batch."""
        return None if self.dims is None else math.prod(dim.at(batch) for dim in self.dims)

    def bytes(self, batch: int) -> int | None:
        """How many bytes it takes for a batch."""
        if not self.item_bytes:
            return 0
        elements = self.elements(batch)
        return None if elements is None else elements * self.item_bytes

    @property
    def by_batch(self) -> bool:
        """Whether its size depends on the batch."""
        return self.dims is not None and any(dim.each for dim in self.dims)


@dataclass(frozen=True)
class Operation:
    """One operation of the step."""

    name: str
    type: str
    inputs: tuple[int, ...]
    """Indices of tensors."""
    outputs: tuple[int, ...]
    controls: tuple[int, ...] = ()
    """Indices of operations that have to end first."""
    stage: str = "forward"
    """`forward`, `backward` or `update`."""
    layer: str = ""
    """The layer that it belongs to; "" for the loss, the metrics and the optimizer."""
    bodies: tuple[Step, ...] = ()
    """A loop's body, or the branches of a condition."""
    rounds: Dim = Dim(1)
    """How often the body of a loop runs; how many items a new list has room for (-1: any number)."""


@dataclass(frozen=True)
class Variable:
    """A variable that outlives the step."""

    name: str
    kind: str
    """`weights`, `frozen weights`, `optimizer` or `metrics`."""
    bytes: int
    layer: str = ""


@dataclass(frozen=True)
class Step:
    """A graph of operations; the whole step, or a body inside it."""

    operations: tuple[Operation, ...]
    tensors: tuple[Tensor, ...]
    arguments: tuple[int, ...] = ()
    """Tensors that come from outside: the batch, or what a body is given."""
    results: tuple[int, ...] = ()
    """Tensors that live until the end."""
    handles: tuple[tuple[int, int], ...] = ()
    """(tensor, variable): which handle leads to which variable."""
    variables: tuple[Variable, ...] = ()
    gradients: frozenset[int] = frozenset()
    """Tensors that are gradients of weights."""
    traced: int = 0
    """How many operations the graph has in Python, with those that never run."""


class NotTheSame(Exception):
    """The step is built otherwise for another batch: its size cannot be told for all of them."""


def joined(small: Step, large: Step, sizes: tuple[int, int]) -> Step:
    """The step for any batch, from the same step at two batch sizes.

    Raises:
        NotTheSame: the two do not have the same operations.
    """
    if [operation.type for operation in small.operations] != [
        operation.type for operation in large.operations
    ]:
        raise NotTheSame("the operations differ for another batch size")
    tensors = tuple(
        _joined_tensor(one, two, sizes) for one, two in zip(small.tensors, large.tensors, strict=True)
    )
    operations = []
    for one, two in zip(small.operations, large.operations, strict=True):
        if one.inputs != two.inputs or len(one.bodies) != len(two.bodies):
            raise NotTheSame("the connections between operations differ for another batch size")
        bodies = tuple(joined(a, b, sizes) for a, b in zip(one.bodies, two.bodies, strict=True))
        rounds = _joined_dim(one.rounds.fixed, two.rounds.fixed, sizes)
        operations.append(_with_bodies(one, bodies, rounds))
    return Step(
        tuple(operations),
        tensors,
        small.arguments,
        small.results,
        small.handles,
        small.variables,
        small.gradients,
        small.traced,
    )


def _with_bodies(operation: Operation, bodies: tuple[Step, ...], rounds: Dim) -> Operation:
    if not bodies and rounds == operation.rounds:
        return operation
    return replace(operation, bodies=bodies, rounds=rounds)


def _joined_tensor(one: Tensor, two: Tensor, sizes: tuple[int, int]) -> Tensor:
    if one.dims is None or two.dims is None:
        return Tensor(one.item_bytes, None)
    if len(one.dims) != len(two.dims):
        raise NotTheSame("the rank of a tensor differs for another batch size")
    if one.dims == two.dims:
        return one
    pairs = zip(one.dims, two.dims, strict=True)
    return Tensor(one.item_bytes, tuple(_joined_dim(a.fixed, b.fixed, sizes) for a, b in pairs))


def _joined_dim(one: int, two: int, sizes: tuple[int, int]) -> Dim:
    if one == two:
        return Dim(one)
    each = (two - one) / (sizes[1] - sizes[0])
    return Dim(round(one - each * sizes[0]), each)
