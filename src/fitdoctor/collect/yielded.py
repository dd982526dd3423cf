"""Read what the function of `Dataset.from_generator` yields, before TensorFlow converts it.

The function is called once more than in fit, for a few elements. All random states and whatever the function can reach
are restored; it is not called if its code has side effects.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from fitdoctor.collect.arrays import Component, array_facts, is_array
from fitdoctor.collect.budget import Deadline
from fitdoctor.collect.effects import effects_of
from fitdoctor.collect.generators import element_words
from fitdoctor.collect.pipelines import chain
from fitdoctor.collect.snapshot import Snapshot
from fitdoctor.facts import ArrayFacts, Shape, Unknown

ELEMENTS = 4
SECONDS = 0.2
NO_GENERATOR = Unknown("the data does not come from a Python generator")


def yielded(dataset: Any) -> tuple[ArrayFacts, ...] | Unknown:
    """Return the parts of the first element that the generator of a dataset yields, in declared order."""
    source, function = _generator_function(dataset)
    if function is None:
        return NO_GENERATOR
    owner = getattr(function, "__self__", None)
    effects = effects_of(function, *([owner] if owner is not None else []))
    if effects.lasting or not effects.functions:
        return Unknown(
            f"its code has side effects: it {effects.lasting}" if effects.lasting else "it is library code"
        )
    snapshot = Snapshot(function, *effects.closures, bindings=effects.globals)
    if snapshot.random_variables or not snapshot.complete:
        return Unknown("reading it would advance a random state that cannot be restored")
    try:
        running = iter(function())
        elements = list(_first(running))
        if hasattr(running, "close"):
            running.close()
    # User code; fit will raise the same error.
    except Exception as error:
        return Unknown(f"it raised {type(error).__name__}")
    finally:
        snapshot.restore()
    if not elements:
        return Unknown("it yields nothing")
    declared = getattr(source, "element_spec", None)
    first, *others = [tuple(_parts(element, declared)) for element in elements]
    if any(len(other) != len(first) for other in others):
        return Unknown("its elements differ in structure")
    return tuple(
        replace(part, shape=_joint([part.shape, *(other[index].shape for other in others)]))
        for index, part in enumerate(first)
    )


def _first(running: Iterator[Any]) -> Iterator[Any]:
    """Return the first elements, within a short time."""
    deadline = Deadline(SECONDS)
    for element in itertools.islice(running, ELEMENTS):
        yield element
        if deadline.over:
            return


def _joint(shapes: list[Shape | Unknown]) -> Shape | Unknown:
    """Return the common shape, None where lengths differ."""
    known = [shape for shape in shapes if isinstance(shape, tuple)]
    if len(known) != len(shapes) or len({len(shape) for shape in known}) != 1:
        return shapes[0] if len(known) == 1 else Unknown("the elements differ in rank")
    return tuple(sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*known, strict=True))


def _generator_function(dataset: Any) -> tuple[Any, Callable[[], Any] | None]:
    """Return the dataset created from a function, and the function.

    TensorFlow stores it in closures of its own functions, which may change between versions.
    """
    steps = chain(dataset)
    for step in steps[:2]:
        wrapper = getattr(getattr(step, "_map_func", None), "_func", None)
        if getattr(wrapper, "__module__", "").endswith("from_generator_op"):
            state = _closed_over(_closed_over(wrapper, "get_iterator_id_fn"), "generator_state")
            found = getattr(state, "_generator", None)
            if not hasattr(found, "__code__") and not hasattr(found, "__func__") and callable(found):
                found = found.__call__  # an object of a class that defines it
            return step, found if callable(found) else None
    return None, None


def _closed_over(function: Any, name: str) -> Any:
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    for each, cell in zip(names, getattr(function, "__closure__", None) or (), strict=False):
        if each == name:
            return cell.cell_contents
    return None


def _parts(element: Any, declared: Any) -> Iterator[ArrayFacts]:
    """Return the parts as TensorFlow flattens them: tuples and dicts are structure, lists are tensors."""
    for path, value in _leaves(element, "element", declared):
        array = value if is_array(value) else _as_array(value)
        if array is None:
            yield ArrayFacts(path, container=element_words(value), dtype=Unknown("it is not an array"))
        else:
            yield array_facts(Component(path, "", array), Deadline(0.2), False, Unknown(), Unknown())


def _leaves(value: Any, path: str, declared: Any) -> Iterator[tuple[str, Any]]:
    """Yield the leaves in declared order: TensorFlow matches dicts by key."""
    if isinstance(value, dict):
        specs = declared if isinstance(declared, dict) else {}
        for key in [*(key for key in specs if key in value), *(key for key in value if key not in specs)]:
            yield from _leaves(value[key], f"{path}[{key!r}]", specs.get(key))
    elif isinstance(value, tuple):
        alike = isinstance(declared, tuple) and len(declared) == len(value)
        for index, item in enumerate(value):
            yield from _leaves(item, f"{path}[{index}]", declared[index] if alike else None)
    else:
        yield path, value


def _as_array(value: Any) -> Any:
    import numpy as np

    if not isinstance(value, (int, float, bool, str, bytes, list)):
        return None
    try:
        return np.asarray(value)
    except (TypeError, ValueError):
        return None
