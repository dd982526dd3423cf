"""Read the first batches of Python generators and PyDatasets without losing any or advancing random states."""

from __future__ import annotations

import contextlib
import itertools
import sys
import weakref
from collections.abc import Generator
from typing import Any

from fitdoctor.collect.arrays import (
    Batch,
    Component,
    Leaf,
    array_facts,
    components,
    dtype_name,
    is_array,
    map_leaves,
    ordered_keys,
    rows_of,
    structure_of,
)
from fitdoctor.collect.budget import Budget, Deadline
from fitdoctor.collect.codes import Codes
from fitdoctor.collect.data import Collected, Given, batch_specs
from fitdoctor.collect.effects import effects_of
from fitdoctor.collect.generator_passes import NOT_TOLD, batches_of_pass, goes_on_for_ever
from fitdoctor.collect.snapshot import Snapshot
from fitdoctor.collect.statistics import statistics_of_batches
from fitdoctor.facts import ArrayFacts, DataFacts, FailureSummary, Unknown
from fitdoctor.facts.data import part_path
from fitdoctor.records import replace


def collect_generator(given: Given, role: str, budget: Budget, codes: Codes) -> Collected:
    """Read the first batches of a generator and chain them in front of the rest.

    Keras itself draws two batches before it trains, so drawing them earlier does not change the order of random
    draws. A validation generator is drawn from only after the first epoch, so it is not read.
    """
    code, _use = codes.of_argument("x" if role == "training" else "validation_data")
    if role != "training":
        facts = DataFacts(
            role=role, form="generator", code=code, y_structure="none", endless=_endless(given.x, NOT_TOLD)
        )
        return Collected(facts, Unknown("a validation generator is not read in advance"), given.x)
    batches: list[Any] = []
    problem: FailureSummary | None = None
    failed: list[BaseException] = []
    try:
        batches.extend(itertools.islice(given.x, budget.batches))
    # The user's generator raised: it must raise the same error when fit draws from it.
    except Exception as error:
        failed.append(error)
        problem = FailureSummary(type(error).__name__, str(error)[:600])
    ended = len(batches) < budget.batches and not failed
    length = len(batches) if ended else batches_of_pass(given.x, len(batches)) if not failed else NOT_TOLD
    drawn = [0]
    rest = _again(batches, given.x, failed, drawn)
    _DRAWN[rest] = drawn
    # Keras 2 accepts a list as the tuple of a batch.
    elements = [tuple(item) if given.keras == 2 and isinstance(item, list) else item for item in batches]
    facts, batch = batched_facts(elements, role, "generator", codes, complete=ended, source=given.x)
    if given.keras == 3 and problem is None and batches and not isinstance(batches[0], tuple):
        problem = FailureSummary(
            "ValueError",
            "When passing a Python generator to a Keras model, the generator must return a tuple, either (input,) "
            "or (inputs, targets) or (inputs, targets, sample_weights).",
        )
    elif problem is None and not batches:
        problem = FailureSummary(
            "ValueError",
            "When passing a Python generator to a Keras model, the generator must yield at least one batch.",
        )
    facts = replace(facts, problem=problem, code=code, batches=length, endless=_endless(given.x, length))
    return Collected(facts, batch if problem is None else Unknown("Keras rejects the generator"), rest)


def _endless(generator: Any, length: int | Unknown) -> bool | Unknown:
    if not isinstance(length, Unknown):
        return False
    return goes_on_for_ever(generator) or Unknown("a generator may be infinite")


_DRAWN: weakref.WeakKeyDictionary[Any, list[int]] = weakref.WeakKeyDictionary()


def batches_drawn(generator: Any) -> int | Unknown:
    """Return how many batches `fit` has drawn from a generator that it got from here."""
    known = _DRAWN.get(generator) if isinstance(generator, Generator) else None
    return known[0] if known is not None else NOT_TOLD


def _again(
    batches: list[Any], rest: Any, failed: list[BaseException], drawn: list[int]
) -> Generator[Any, None, None]:
    """Return a real generator (Keras checks the type) that yields the batches again, then the rest."""
    drawn[0] = len(batches)
    yield from batches
    batches.clear()
    if failed:
        raise failed[0]
    for batch in rest:
        drawn[0] += 1
        yield batch


def collect_pydataset(given: Given, role: str, budget: Budget, codes: Codes) -> Collected:
    """Read the length and first batch of a PyDataset, if the side effects can be restored.

    `__getitem__` is user code: it runs once more than in fit, all random states and attributes are restored, and it
    does not run if it writes files or draws from an iterator.
    """
    dataset = given.x
    code, _use = codes.of_argument("x" if role == "training" else "validation_data")
    facts = DataFacts(role=role, form="pydataset", code=code, y_structure="none")
    effects = effects_of(dataset)
    if effects.lasting:
        return Collected(facts, Unknown(f"its code has side effects: it {effects.lasting}"), dataset)
    snapshot = Snapshot(dataset, *effects.closures, bindings=effects.globals)
    if snapshot.random_variables or snapshot.one_shot or not snapshot.complete:
        return Collected(
            facts,
            Unknown("reading it would advance a random state or an iterator that cannot be restored"),
            dataset,
        )
    batches: list[Any] = []
    length: int | Unknown = Unknown("it has no length")
    problem: FailureSummary | None = None
    deadline = Deadline(budget.dataset_seconds)
    try:
        with contextlib.suppress(TypeError, NotImplementedError, ValueError):
            length = len(dataset)
        if length:
            with _stateless():
                batches.append(dataset[0])
                if isinstance(length, int) and length > 1 and not deadline.over:
                    batches.append(dataset[length - 1])
    except Exception as error:
        problem = FailureSummary(type(error).__name__, str(error)[:600])
    finally:
        snapshot.restore()
    complete = isinstance(length, int) and length == len(batches)
    found, batch = batched_facts(
        [tuple(item) if isinstance(item, list) else item for item in batches],
        role,
        "pydataset",
        codes,
        complete=complete,
        source=dataset,
    )
    found = replace(found, code=code, problem=problem, batches=length)
    if isinstance(length, int):
        found = replace(found, endless=False)
    return Collected(found, batch, dataset)


def _stateless() -> contextlib.AbstractContextManager[Any]:
    """Enter the Keras scope in which variables, including its global seed, keep their values."""
    keras = sys.modules.get("keras")
    scope = getattr(keras, "StatelessScope", None)
    return scope(initialize_variables=False) if scope is not None else contextlib.nullcontext()


def batched_facts(
    batches: list[Any], role: str, form: str, codes: Codes, complete: bool, source: Any = None
) -> tuple[DataFacts, Batch | Unknown]:
    """Return facts about the components of some batches, and the abstract batch Keras derives from them.

    Args:
        batches: the batches that were read.
        role: `training` or `validation`.
        form: the form of the data.
        codes: locates them in the source.
        complete: whether these are all batches.
        source: the generator or PyDataset whose code yields them.
    """
    facts = DataFacts(role=role, form=form, y_structure="none")
    if not batches:
        return facts, Unknown("no batch was read")
    element = batches[0]
    parts = element if isinstance(element, tuple) else (element,)
    facts = replace(facts, element=element_words(element), element_size=len(parts) if parts else 1)
    if len(parts) > 3 or any(not _same_structure(element, other) for other in batches[1:]):
        return facts, Unknown("the batches differ in structure, or have more than three parts")
    others = [other if isinstance(other, tuple) else (other,) for other in batches]
    found: dict[str, Any] = {}
    for index, part in enumerate(("x", "y", "sample_weight")[: len(parts)]):
        found[part] = tuple(
            _placed(array, codes, source, part_path(role, part), part, len(parts))
            for array in _components([other[index] for other in others], role, part, codes, complete)
        )
    size = _rows(parts[0])
    sizes = {_rows(other[0]) for other in others}
    facts = replace(
        facts,
        **found,
        x_structure=structure_of(parts[0]) if parts[0] is not None else "single",
        x_order=ordered_keys(parts[0]),
        y_structure=structure_of(parts[1]) if len(parts) > 1 else "none",
        batch_size=size if size is not None else Unknown("the batches have no rows"),
    )
    batch = _abstract(others)
    if isinstance(batch, Batch):
        facts = replace(facts, first_batch=batch_specs(batch, size))
        last = _rows(others[-1][0])
        if len(sizes) > 1 and last is not None and form in ("pydataset", "dataloader"):
            facts = replace(facts, last_batch=batch_specs(batch, last))
    return facts, batch


def _placed(array: ArrayFacts, codes: Codes, source: Any, shown: str, part: str, parts: int) -> ArrayFacts:
    """Return the component with the expression that the generator yields for it, if known."""
    if source is None:
        return array
    code = codes.of_batch(source, part + array.path.removeprefix(shown), parts)
    return array if isinstance(code, Unknown) else replace(array, code=code, use=code)


def element_words(element: Any) -> str:
    """Return the structure of an element: `tuple of 2`, `dict`, `list of 2`, `single`."""
    if isinstance(element, dict):
        return "dict"
    if isinstance(element, (list, tuple)):
        return f"{'tuple' if isinstance(element, tuple) else 'list'} of {len(element)}"
    return "single" if element is not None else "None"


def _components(
    values: list[Any], role: str, part: str, codes: Codes, complete: bool
) -> tuple[ArrayFacts, ...]:
    first = list(components(values[0], part_path(role, part)))
    rest = [list(components(value, "")) for value in values[1:]]
    found = []
    for index, component in enumerate(first):
        arrays = [component.value, *(items[index].value for items in rest if index < len(items))]
        code, use = codes.of_argument("x" if role == "training" else "validation_data")
        facts = array_facts(
            Component(component.path, component.key, component.value), Deadline(0.2), part != "x", use, code
        )
        if len(arrays) > 1 and all(is_array(array) for array in arrays):
            facts = replace(
                facts, statistics=_joint(arrays, complete, part != "x"), shape=_joint_shape(arrays)
            )
        elif not isinstance(facts.statistics, Unknown):
            facts = replace(facts, statistics=replace(facts.statistics, complete=complete))
        found.append(facts)
    return tuple(found)


def _joint(arrays: list[Any], complete: bool, labels: bool) -> Any:
    try:
        return statistics_of_batches(arrays, complete, labels)
    # User code may yield anything.
    except Exception as error:
        return Unknown(f"reading the batches raised {type(error).__name__}")


def _joint_shape(arrays: list[Any]) -> Any:
    shapes = [tuple(array.shape) for array in arrays]
    if len({len(shape) for shape in shapes}) > 1:
        return Unknown("the batches differ in rank")
    return tuple(int(sizes[0]) if len(set(sizes)) == 1 else None for sizes in zip(*shapes, strict=True))


def _same_structure(first: Any, second: Any) -> bool:
    if isinstance(first, dict):
        return isinstance(second, dict) and list(first) == list(second)
    if isinstance(first, (list, tuple)):
        return isinstance(second, (list, tuple)) and len(first) == len(second)
    return not isinstance(second, (list, tuple, dict))


def _rows(value: Any) -> int | None:
    for component in components(value, ""):
        return rows_of(component.value)
    return None


def _abstract(batches: list[tuple[Any, ...]]) -> Batch | Unknown:
    """Return the abstract batch as Keras does: equal axes are fixed, the batch axis is open."""

    def leaf(value: Any) -> Leaf:
        if not is_array(value):
            raise TypeError(type(value).__name__)
        dtype = dtype_name(value.dtype)
        shape = tuple(int(size) for size in value.shape)
        return Leaf((None, *shape[1:]) if shape else (), "float32" if dtype == "float64" else dtype)

    try:
        structures = [[map_leaves(leaf, part) for part in batch] for batch in batches]
    except (TypeError, ValueError, AttributeError) as error:
        return Unknown(f"a batch contains something that is not an array: {error}")
    parts = structures[0]
    if any(structure != parts for structure in structures[1:]):
        return Unknown("the batches differ in more than their number of rows")
    return Batch(*parts)
