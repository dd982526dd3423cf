"""Steps small enough to reckon by hand."""

from __future__ import annotations

import pytest

from fitdoctor.memory.allocator import Allocator
from fitdoctor.memory.buffers import Held
from fitdoctor.memory.schedule import course
from fitdoctor.memory.step import Dim, NotTheSame, Operation, Step, Tensor, Variable, joined

MB = 1 << 20


def rows(size: int) -> Tensor:
    """A tensor of one megabyte times `size` for each sample."""
    return Tensor(4, (Dim(0, 1.0), Dim(size * MB // 4)))


def op(kind: str, inputs: tuple[int, ...], outputs: tuple[int, ...], **more: object) -> Operation:
    return Operation(f"{kind}_{outputs}", kind, inputs, outputs, **more)


def chain(*kinds: str) -> Step:
    operations = tuple(op(kind, (place,), (place + 1,)) for place, kind in enumerate(kinds))
    return Step(operations, tuple(rows(1) for _ in range(len(kinds) + 1)), arguments=(0,))


def test_what_nobody_needs_any_more_is_given_back():
    assert course(chain("MatMul", "MatMul", "MatMul"), 2).peak == 2 * 2 * MB


def test_an_elementwise_operation_works_in_place():
    assert course(chain("MatMul", "Relu", "Tanh"), 1).peak == 2 * MB
    assert course(chain("Relu"), 1).peak == 1 * MB


def test_what_the_backward_pass_needs_is_kept():
    operations = (
        op("MatMul", (0,), (1,)),
        op("MatMul", (1,), (2,)),
        op("MatMul", (2,), (3,)),
        op("MatMul", (3, 1), (4,), stage="backward"),
        op("MatMul", (4, 0), (5,), stage="backward"),
    )
    step = Step(operations, tuple(rows(1) for _ in range(6)), arguments=(0,))
    ran = course(step, 1)
    assert ran.peak == 4 * MB
    assert {held.kind for held in ran.held} == {"input", "activations"}


def test_a_variable_that_is_still_read_is_copied_before_it_changes():
    weights = Tensor(4, (Dim(MB // 4),))
    handle = Tensor(0, ())
    operations = (
        op("ReadVariableOp", (0,), (1,)),
        op("Neg", (2,), (3,)),
        op("AssignSubVariableOp", (0, 3), ()),
        op("MatMul", (1,), (4,), controls=(2,)),
    )
    step = Step(
        operations,
        (handle, weights, weights, weights, weights),
        arguments=(2,),
        handles=((0, 0),),
        variables=(Variable("kernel", "weights", MB),),
    )
    # The variable, its copy for the reader, and what the reader makes; the update itself is gone by then.
    assert course(step, 1).peak == 3 * MB


def test_a_loop_keeps_what_its_lists_hold():
    item = rows(1)
    body = Step(
        (op("MatMul", (0,), (2,)), op("TensorListPushBack", (1, 2), (3,))),
        (item, Tensor(0, ()), item, Tensor(0, ())),
        arguments=(0, 1),
        results=(0, 3),
    )
    step = Step(
        (
            op("EmptyTensorList", (), (1,), rounds=Dim(-1)),
            op("While", (0, 1), (2, 3), bodies=(body,), rounds=Dim(10)),
            op("TensorListStack", (3,), (4,)),
        ),
        (item, Tensor(0, ()), item, Tensor(0, ()), Tensor(4, (Dim(4),))),
        arguments=(0,),
    )
    assert 10 * MB <= course(step, 1).peak <= 13 * MB


def test_data_beside_the_step_counts():
    data = (Held("data", "", "a copy", 5 * MB),)
    assert course(chain("MatMul"), 1, beside=data).peak == 7 * MB


def test_an_unknown_size_is_taken_from_the_inputs():
    step = Step((op("Where", (0,), (1,)),), (rows(3), Tensor(4, None)), arguments=(0,))
    ran = course(step, 1)
    assert (ran.peak, ran.guessed) == (6 * MB, 1)


def test_two_sizes_give_the_step_for_all():
    def at(batch: int) -> Step:
        tensors = (Tensor(4, (Dim(batch), Dim(8))), Tensor(4, (Dim(batch), Dim(batch))))
        return Step((op("MatMul", (0,), (1,)),), tensors, arguments=(0,))

    step = joined(at(6), at(10), (6, 10))
    assert step.tensors[1].bytes(100) == 40_000
    assert step.tensors[0].bytes(100) == 3200


def test_steps_that_differ_are_not_joined():
    with pytest.raises(NotTheSame):
        joined(chain("MatMul"), chain("MatMul", "Relu"), (6, 10))


def test_the_allocator_splits_only_what_would_be_half_empty():
    allocator = Allocator()
    first = allocator.allocate(MB)
    assert first is not None and first.size == MB  # of a region of 2 MiB
    allocator.give_back(first, MB)
    # Joined with its neighbour, and not split: less than half would be left.
    again = allocator.allocate(MB + MB // 2)
    assert again is not None and again.size == 2 * MB
    assert allocator.in_use == 2 * MB
    assert allocator.touched == MB + MB // 2


def test_small_pieces_come_from_elsewhere():
    allocator = Allocator()
    assert allocator.allocate(1000) is None
    assert (allocator.in_use, allocator.touched) == (0, 1024)
