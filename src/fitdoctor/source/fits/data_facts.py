"""Facts about the arrays of a `fit` call; batched data is in `batched_facts`."""

from __future__ import annotations

import ast
import math

from fitdoctor.facts import ArrayFacts, DataFacts, Unknown
from fitdoctor.facts.data import part_path
from fitdoctor.records import dataclass
from fitdoctor.source.fits.array_facts import NOT_EVIDENT, code_of, components, is_none
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.values import (
    FLOW,
    Dataset,
    DictRecord,
    Generated,
    InstanceRecord,
    Items,
    ListRecord,
    Made,
    Mapping,
    Ref,
    Value,
)


@dataclass(frozen=True)
class Given:
    """The values and expressions of x, y and the weights in a call."""

    x: Value | None
    y: Value | None = None
    sample_weight: Value | None = None
    x_node: ast.expr | None = None
    y_node: ast.expr | None = None
    weight_node: ast.expr | None = None
    batch_size: int | Unknown | None = None
    steps: int | Unknown | None = None
    split: float | Unknown = 0.0
    whole_batch: bool = False
    """Whether the arrays are one batch (`train_on_batch`)."""


def data_facts(run: Interpreter, given: Given, role: str) -> DataFacts:
    """Return the facts of the training or validation data."""
    x = given.x
    instance = isinstance(x, Ref) and isinstance(run.record(x), InstanceRecord)
    if instance or isinstance(x, (Dataset, Generated)) or (isinstance(x, Made) and x.name == FLOW):
        from fitdoctor.source.fits.batched_facts import batched_facts

        return batched_facts(run, given, role)
    return _arrays(run, given, role)


# --- arrays -----------------------------------------------------------------------------------------------------------


def _arrays(run: Interpreter, given: Given, role: str) -> DataFacts:
    x = components(run, given.x, part_path(role, "x"), given.x_node)
    y = components(run, given.y, part_path(role, "y"), given.y_node)
    weights = components(run, given.sample_weight, part_path(role, "sample_weight"), given.weight_node)
    told = x is not None and all(part.container for part in x)
    evident = told or (y is not None and any(part.container for part in y))
    samples = _samples((*(x or ()), *(y or ()), *(weights or ())))
    batch_size, batches = _batching(given, samples)
    form = "none" if is_none(given.x) else "arrays" if evident else "other"
    if (y is None or weights is None) and form == "arrays":
        samples = NOT_EVIDENT
    return DataFacts(
        role=role,
        form=form,
        x=x or (),
        y=y or (),
        sample_weight=weights or (),
        x_structure=structure(run, given.x) if not is_none(given.x) else "single",
        y_structure=structure(run, given.y),
        samples=samples,
        batch_size=batch_size,
        batches=batches if form == "arrays" else NOT_EVIDENT,
        endless=False if form == "arrays" and told else NOT_EVIDENT,
        code=code_of(run, given.x, given.x_node),
    )


def structure(run: Interpreter, value: Value | None) -> str:
    """`single`, `list`, `tuple`, `dict` or `none`."""
    if is_none(value):
        return "none"
    if isinstance(value, Items):
        return "tuple"
    if isinstance(value, Mapping):
        return "dict"
    if isinstance(value, Ref):
        record = run.record(value)
        return (
            "dict"
            if isinstance(record, DictRecord)
            else "list"
            if isinstance(record, ListRecord)
            else "single"
        )
    return "single"


def _samples(parts: tuple[ArrayFacts, ...]) -> int | Unknown:
    sizes: set[int | None] = set()
    for part in parts:
        if isinstance(part.shape, Unknown) or not part.shape:
            return NOT_EVIDENT
        sizes.add(part.shape[0])
    if len(sizes) == 1:
        size = sizes.pop()
        return NOT_EVIDENT if size is None else size
    if None in sizes:
        return NOT_EVIDENT
    return Unknown("x, y and the weights differ in length" if sizes else "no array has a length")


def _batching(given: Given, samples: int | Unknown) -> tuple[int | Unknown, int | Unknown]:
    if isinstance(given.batch_size, Unknown) or isinstance(given.steps, Unknown):
        return NOT_EVIDENT, NOT_EVIDENT
    if given.whole_batch:
        return samples, 1
    if isinstance(samples, Unknown) or isinstance(given.split, Unknown):
        return given.batch_size or 32, NOT_EVIDENT
    rows = math.floor(samples * (1.0 - given.split)) if 0 < given.split < 1 else samples
    size = given.batch_size
    if not size or size <= 0:
        size = math.ceil(rows / given.steps) if given.steps else 32
    return size, math.ceil(rows / size) if size else 0
