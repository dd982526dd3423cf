"""Restore what an abstract run changes: attributes, containers, names, random states, global settings."""

from __future__ import annotations

import random
import sys
import types
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

MOST_OBJECTS = 200_000
_SKIPPED_ROOTS = frozenset(
    ("numpy", "pandas", "scipy", "sklearn", "torch", "jax", "jaxlib", "tensorflow", "builtins", "threading",
     "logging", "_thread", "io", "weakref", "inspect", "re", "matplotlib", "PIL", "cv2", "h5py", "queue",
     "multiprocessing", "concurrent", "asyncio", "socket", "tqdm", "ctypes", "wandb", "mlflow", "sqlite3")
)  # fmt: skip

_KERAS_2_STATE = frozenset(
    (("_thread", "_local"), ("tensorflow.python.util.object_identity", "ObjectIdentityDictionary"))
)
"""The attributes where Keras 2 layers store losses per thread and reference counts."""


class Snapshot:
    """The state of everything reachable from some objects, and of the global random states.

    `restore` puts the same objects back with their previous contents.

    Args:
        *roots: objects that may change, with everything inside them.
        bindings: namespaces and names that may be rebound.
        untouched: objects that are known not to change, with what only they reference.
    """

    def __init__(
        self,
        *roots: Any,
        bindings: tuple[tuple[dict[str, Any], str], ...] = (),
        untouched: Iterable[Any] = (),
    ) -> None:
        self.complete = True
        self.random_variables = False
        """Whether an object keeps a random state in a variable: running it would advance it."""
        self.one_shot = False
        """Whether an iterator or open file was found: reading from it cannot be undone."""
        self._undo: list[Callable[[], None]] = []
        self._seen: dict[int, Any] = {id(thing): thing for thing in untouched}
        takes = (
            _python_random, _numpy_random, _torch_random, _eager_random, _keras_globals, _keras_2_seeds
        )  # fmt: skip
        for take in takes:
            undo = take()
            if undo is not None:
                self._undo.append(undo)
        found = list(roots)
        for names, name in bindings:
            self._undo.append(partial(names.__setitem__, name, names[name]))
            found.append(names[name])
        self._take(found)

    def restore(self) -> None:
        """Restore everything; an object that cannot be restored does not prevent the others."""
        failed: Exception | None = None
        for undo in self._undo:
            try:
                undo()
            # User objects may raise anything; the first error is raised at the end.
            except Exception as error:
                failed = failed or error
        if failed is not None:
            raise failed

    def _take(self, pending: list[Any]) -> None:
        while pending:
            thing = pending.pop()
            if id(thing) in self._seen:
                continue
            if len(self._seen) > MOST_OBJECTS:
                self.complete = False
                return
            self._seen[id(thing)] = thing
            pending.extend(self._one(thing))

    def _one(self, thing: Any) -> list[Any]:
        """Record how to restore one object; return its contents."""
        kind = type(thing)
        if kind.__name__ in ("_DictWrapper", "_TupleWrapper") and hasattr(thing, "__wrapped__"):
            return self._wrapper(thing)
        if issubclass(kind, tuple):
            return list(thing)
        if issubclass(kind, (list, dict, set)):
            return self._container(thing, kind)
        if issubclass(kind, (types.FunctionType, types.MethodType)):
            return self._function(thing)
        if kind.__name__ in ("SeedGenerator", "Generator") and kind.__module__.startswith(
            ("keras", "tensorflow")
        ):
            self.random_variables = True
        if hasattr(kind, "__next__"):
            self.one_shot = True
        generator = _generator_state(thing)
        if generator is not None:
            self._undo.append(generator)
            return []
        return self._attributes(thing) if _has_state(thing) else []

    def _attributes(self, thing: Any) -> list[Any]:
        attributes = dict(thing.__dict__)
        self._undo.append(partial(_restore_attributes, thing, attributes))
        return list(attributes.values())

    def _container(self, thing: Any, kind: type) -> list[Any]:
        inside: list[Any] = []
        if issubclass(kind, list):
            items = list.copy(thing)
            self._undo.append(partial(_restore_list, thing, items))
            inside = items
        elif issubclass(kind, dict):
            pairs = dict(dict.items(thing))
            self._undo.append(partial(_restore_dict, thing, pairs))
            inside = list(pairs.values())
        else:
            self._undo.append(partial(_restore_set, thing, set(set.__iter__(thing))))
        # The tracking lists of TensorFlow and Keras are lists with attributes.
        own = self._attributes(thing) if kind not in (list, dict, set) and hasattr(thing, "__dict__") else []
        return own + (inside if len(inside) <= 10_000 else [])

    def _wrapper(self, thing: Any) -> list[Any]:
        """Record the TensorFlow proxy of a dict or tuple; the dict proxy compares with a copy when saving."""
        names = ("_self_last_wrapped_dict_snapshot", "_self_external_modification", "_self_non_string_key")
        for name in names:
            if hasattr(thing, name):
                self._undo.append(partial(setattr, thing, name, getattr(thing, name)))
        return [thing.__wrapped__]

    def _function(self, function: Any) -> list[Any]:
        inner = getattr(function, "__func__", function)
        found = [getattr(function, "__self__", None)]
        for cell in getattr(inner, "__closure__", None) or ():
            try:
                content = cell.cell_contents
            except ValueError:
                continue
            self._undo.append(partial(setattr, cell, "cell_contents", content))
            found.append(content)
        return found


def _has_state(thing: Any) -> bool:
    kind = type(thing)
    if thing is None or issubclass(kind, (type, types.ModuleType, str, bytes, int, float, frozenset)):
        return False
    if (kind.__module__, kind.__name__) in _KERAS_2_STATE:
        return True
    skipped = kind.__module__.split(".")[0] in _SKIPPED_ROOTS
    # A torch loader, sampler or subset leads to a user dataset.
    if skipped and not kind.__module__.startswith("torch.utils.data") or not hasattr(thing, "__dict__"):
        return False
    # Variables keep their values: a stateless scope assigns nothing.
    return not any(base.__name__ in ("Variable", "KerasVariable", "KerasTensor") for base in kind.__mro__)


def _restore_attributes(thing: Any, saved: dict[str, Any]) -> None:
    current = thing.__dict__
    if len(current) == len(saved) and all(current.get(k, _NONE) is v for k, v in saved.items()):
        return
    for name in [name for name in current if name not in saved]:
        del current[name]
    current.update(saved)


_NONE = object()


def _restore_list(thing: list[Any], saved: list[Any]) -> None:
    if len(thing) != len(saved) or any(a is not b for a, b in zip(thing, saved, strict=True)):
        list.__setitem__(thing, slice(None), saved)


def _restore_dict(thing: dict[Any, Any], saved: dict[Any, Any]) -> None:
    if len(thing) != len(saved) or any(dict.get(thing, k, _NONE) is not v for k, v in saved.items()):
        dict.clear(thing)
        dict.update(thing, saved)


def _restore_set(thing: set[Any], saved: set[Any]) -> None:
    if set.__len__(thing) != len(saved) or not saved.issuperset(thing):
        set.clear(thing)
        set.update(thing, saved)


def _generator_state(thing: Any) -> Callable[[], None] | None:
    kind = type(thing)
    if issubclass(kind, random.Random):
        state = thing.getstate()
        return lambda: thing.setstate(state)
    if kind.__module__.startswith("numpy.random"):
        if hasattr(thing, "bit_generator"):
            numbers = thing.bit_generator.state
            return lambda: setattr(thing.bit_generator, "state", numbers)
        if hasattr(thing, "get_state"):
            legacy = thing.get_state()
            return lambda: thing.set_state(legacy)
    if kind.__name__ == "Generator" and kind.__module__.startswith("torch"):
        drawn = thing.get_state()
        return lambda: thing.set_state(drawn)
    return None


def _python_random() -> Callable[[], None]:
    state = random.getstate()
    return lambda: random.setstate(state)


def _numpy_random() -> Callable[[], None] | None:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    state = numpy.random.get_state()
    return lambda: numpy.random.set_state(state)


def _torch_random() -> Callable[[], None] | None:
    """Record the torch random state of the CPU and of initialized GPUs."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "set_rng_state"):
        return None
    state = torch.get_rng_state()
    cuda = getattr(torch, "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return lambda: torch.set_rng_state(state)
    states = cuda.get_rng_state_all()

    def undo() -> None:
        torch.set_rng_state(state)
        cuda.set_rng_state_all(states)

    return undo


def _eager_random() -> Callable[[], None] | None:
    """Record the Python generator from which TensorFlow draws eager seeds."""
    module = sys.modules.get("tensorflow.python.eager.context")
    context = module.context() if module is not None else None
    generator = getattr(context, "_rng", None)
    if generator is None:
        return None
    state = generator.getstate()
    return lambda: generator.setstate(state)


def _keras_globals() -> Callable[[], None] | None:
    """Record the global state of Keras: automatic names, scopes, seed generator, pending variables."""
    module = sys.modules.get("keras.src.backend.common.global_state")
    if module is None:
        return None
    tracker = module.GLOBAL_STATE_TRACKER
    saved = dict(tracker.__dict__)
    copies: dict[str, Any] = {
        name: value.copy() for name, value in saved.items() if isinstance(value, (list, dict, set))
    }

    def undo() -> None:
        current = tracker.__dict__
        for name in [name for name in current if name not in saved]:
            del current[name]
        current.update(saved)
        for name, copy in copies.items():
            value = saved[name]
            if isinstance(value, list):
                _restore_list(value, copy)
            elif isinstance(value, dict):
                _restore_dict(value, copy)
            else:
                _restore_set(value, copy)

    return undo


def _keras_2_seeds() -> Callable[[], None] | None:
    """Record the generator from which Keras 2 draws layer seeds after `keras.utils.set_random_seed`."""
    module = sys.modules.get("tf_keras.src.backend")
    generator = getattr(getattr(module, "_SEED_GENERATOR", None), "generator", None)
    if not isinstance(generator, random.Random):
        return None
    state = generator.getstate()
    return lambda: generator.setstate(state)
