"""Finds symbolic tensors that outlive tracing, where they were created and which objects hold them.

Only plain attributes, containers, closures and globals are searched: no user property or method runs.
TensorFlow is used where the program has imported it, and never imported from here.
"""

from __future__ import annotations

import collections
import dis
import functools
import linecache
import sys
import time
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fitdoctor.facts import Frame, HeldTensor
from fitdoctor.failure.frames import frame_of, is_framework, is_generated, is_library
from fitdoctor.records import dataclass, replace

MOST_OBJECTS = 20_000
MOST_SECONDS = 1.0
MOST_FOUND = 50
_MOST_ITEMS = 200
"""Items searched from either end of a container."""
_MOST_DEPTH = 12
_MOST_FRAMES = 400

_KERAS_KINDS = frozenset(
    {"Layer", "Model", "Callback", "Loss", "Metric", "CompileLoss", "CompileMetrics", "Regularizer"}
)
_LAYER_LISTS = {"_layers": "layers", "_self_tracked_trackables": "layers"}
"""Keras's own bookkeeping that leads to the user's layers."""
_USER_GIVEN = {"_user_loss": "loss", "_user_metrics": "metrics", "_user_weighted_metrics": "weighted_metrics"}
_BOOKKEEPING = frozenset(
    {
        "_obj_reference_counts_dict",
        "_thread_local",
        "_losses",
        "_eager_losses",
        "_callable_losses",
        "_updates",
        "_tracker",
        "_keras_history",
        "__dict__",
    }
)
"""Attributes in which Keras itself keeps tensors, not visible as assignments in its classes."""


@dataclass(frozen=True)
class Place:
    """An object in the search, and how it was reached."""

    value: Any
    path: str
    holder_class: str
    attribute: str
    depth: int


def held_tensors(roots: Mapping[str, object], *, seconds: float = MOST_SECONDS) -> tuple[HeldTensor, ...]:
    """Return the symbolic tensors of finished functions reachable from these objects, nearest first.

    Args:
        roots: objects by the user's name for them.
        seconds: time limit.
    """
    tensor_class = _tensor_class()
    if tensor_class is None:
        return ()
    # A list that grows by one tensor per call is one leak.
    holders: dict[str, list[Place]] = {}
    for place in reached(roots, seconds=seconds):
        if _is_symbolic(place.value, tensor_class):
            holder = place.path.rpartition("[")[0] if place.path.endswith("]") else place.path
            holders.setdefault(holder, []).append(place)
            if len(holders) >= MOST_FOUND:
                break
    return tuple(_held(places) for places in holders.values())


def reached(
    roots: Mapping[str, object], *, seconds: float = MOST_SECONDS, objects: int = MOST_OBJECTS
) -> Iterator[Place]:
    """Yield everything reachable from these objects, nearest first, within the limits."""
    deadline = time.monotonic() + seconds
    pending = collections.deque(Place(value, name, "", name, 0) for name, value in roots.items())
    seen: set[int] = set()
    while pending and len(seen) < objects and time.monotonic() < deadline:
        place = pending.popleft()
        yield place
        if id(place.value) in seen or place.depth > _MOST_DEPTH:
            continue
        seen.add(id(place.value))
        pending.extend(_inside(place))


def with_user_lines(found: Iterable[HeldTensor]) -> tuple[HeldTensor, ...]:
    """Return the leaks with only the user's lines in their creation stacks."""
    return tuple(
        replace(tensor, made_at=tuple(frame for frame in tensor.made_at if not frame.library))
        for tensor in found
    )


def user_roots(
    *,
    model: object = None,
    callbacks: Iterable[object] = (),
    exc: BaseException | None = None,
    frame: types.FrameType | None = None,
) -> dict[str, object]:
    """Return the search roots: the model, callbacks, local names in the user's frames, and the user's modules."""
    roots: dict[str, object] = {}
    if model is not None:
        roots["model"] = model
    for index, callback in enumerate(callbacks):
        roots[f"callbacks[{index}]"] = callback
    for name, value in _frame_names(exc):
        roots.setdefault(name, value)
    for name, value in _living_names(frame):
        roots.setdefault(name, value)
    for name, value in _module_names():
        roots.setdefault(name, value)
    return roots


def _frame_names(exc: BaseException | None) -> Iterator[tuple[str, object]]:
    trace = exc.__traceback__ if exc is not None else None
    while trace is not None:
        frame = trace.tb_frame
        path = frame.f_code.co_filename
        if is_framework(path) or is_generated(path):
            # Deeper frames were being traced: their symbolic locals are not leaks.
            return
        if not is_library(path):
            yield from frame.f_locals.items()
        trace = trace.tb_next


def _living_names(frame: types.FrameType | None) -> Iterator[tuple[str, object]]:
    """Yield the local names of the user's running functions."""
    while frame is not None:
        code = frame.f_code
        if code.co_name != "<module>" and not is_library(code.co_filename):
            yield from frame.f_locals.items()
        frame = frame.f_back


def _module_names() -> Iterator[tuple[str, object]]:
    for name, module in list(sys.modules.items()):
        if not isinstance(module, types.ModuleType) or not _is_users(name):
            continue
        before = "" if name == "__main__" else f"{name}."
        for key, value in list(vars(module).items()):
            if not key.startswith("__") and not issubclass(type(value), types.ModuleType):
                yield before + key, value


def _is_users(module_name: str) -> bool:
    """Whether a module is the user's. Decided once per package, since thousands of modules are loaded."""
    return module_name == "__main__" or _is_users_package(module_name.partition(".")[0], module_name)


_packages: dict[str, bool] = {}


def _is_users_package(package: str, module_name: str) -> bool:
    if package not in _packages:
        for name in (package, module_name):
            module = sys.modules.get(name)
            path = vars(module).get("__file__") if isinstance(module, types.ModuleType) else None
            if isinstance(path, str):
                _packages[package] = not is_library(path)
                break
        else:
            return False
    return _packages[package]


# --- tensors ------------------------------------------------------------------------------------------------


def _tensor_class() -> type | None:
    module = sys.modules.get("tensorflow")
    found = vars(module).get("Tensor") if module is not None else None
    if found is None and module is not None:
        # TensorFlow fills in the names of its module lazily.
        found = getattr(module, "Tensor", None)
    return found if isinstance(found, type) else None


def _is_symbolic(value: object, tensor_class: type) -> bool:
    """Whether a value is a tensor of a function's graph; tensors of the user's own `tf.Graph` may be kept."""
    kinds = type(value).__mro__
    if tensor_class not in kinds or any(kind.__name__ == "EagerTensor" for kind in kinds):
        return False
    graph = getattr(value, "graph", None)
    names = {kind.__name__ for kind in type(graph).__mro__}
    return "FuncGraph" in names and getattr(graph, "name", "") != "keras_graph"


def _held(places: list[Place]) -> HeldTensor:
    """Return the first tensor of one holder, and what all of its tensors keep alive."""
    place, tensor = places[0], places[0].value
    graphs = {id(each.value.graph): each.value.graph for each in places}
    return HeldTensor(
        path=place.path,
        holder_class=place.holder_class,
        attribute=place.attribute,
        tensor=f"<tf.Tensor '{tensor.name}' shape={tensor.shape} dtype={tensor.dtype.name}>",
        graph=str(tensor.graph.name),
        made_at=made_at(tensor),
        graphs=len(graphs),
        operations=sum(len(graph.get_operations()) for graph in graphs.values()),
    )


def made_at(tensor: Any) -> tuple[Frame, ...]:
    """Return the stack where a symbolic tensor was created, outermost first."""
    stack = getattr(getattr(tensor, "op", None), "traceback", None)
    if stack is None:
        return ()
    frames = []
    for entry in list(stack)[-_MOST_FRAMES:]:
        text = linecache.getline(entry.filename, entry.lineno) if not is_library(entry.filename) else ""
        frames.append(frame_of(entry.filename, entry.lineno, entry.name, text.strip()))
    return tuple(frames)


# --- what an object leads to --------------------------------------------------------------------------------


def _inside(place: Place) -> Iterator[Place]:
    value = place.value
    # Not `isinstance`, which reads `__class__`: some torch objects warn on any attribute access.
    kind = type(value)
    if issubclass(kind, (str, bytes, int, float, complex, type(None), type, types.ModuleType)):
        return
    if issubclass(kind, dict):
        yield from _items(place, dict.items(value))
    elif issubclass(kind, (list, tuple, set, frozenset, collections.deque)):
        yield from _elements(place, kind)
    elif kind.__name__ == "_DictWrapper" and kind.__module__.startswith("tensorflow."):
        yield from _items(place, dict.items(value.__wrapped__))
    elif issubclass(kind, types.FunctionType):
        yield from _closure(place, value)
    elif issubclass(kind, types.MethodType):
        yield Place(value.__self__, place.path, place.holder_class, place.attribute, place.depth + 1)
        yield from _inside(
            Place(value.__func__, place.path, place.holder_class, place.attribute, place.depth)
        )
    elif issubclass(kind, functools.partial):
        parts = (value.func, value.args, value.keywords)
        yield from (
            Place(part, place.path, place.holder_class, place.attribute, place.depth + 1) for part in parts
        )
    elif _is_traced_function(kind):
        function = _attributes(value).get("_python_function")
        yield Place(function, place.path, place.holder_class, place.attribute, place.depth + 1)
    else:
        yield from _of_instance(place, kind)


def _is_traced_function(kind: type) -> bool:
    return kind.__module__.startswith("tensorflow.python.eager") and kind.__name__ == "Function"


def _items(place: Place, items: Iterable[tuple[Any, Any]]) -> Iterator[Place]:
    for key, value in _ends(list(items)):
        path = f"{place.path}[{_key(key)}]"
        yield Place(value, path, place.holder_class, place.attribute, place.depth + 1)


def _key(key: object) -> str:
    # The repr of a user's class would run user code.
    return repr(key)[:60] if type(key) in (str, int, float, bool, tuple) else "…"


def _elements(place: Place, kind: type) -> Iterator[Place]:
    plain = next(base for base in (list, tuple, set, frozenset, collections.deque) if issubclass(kind, base))
    elements: list[Any] = list(plain.__iter__(place.value))
    if kind.__name__ == "ListWrapper" and kind.__module__.startswith("tensorflow."):
        # Keras 2 tracks lists in a wrapper whose own list stays empty.
        storage = _attributes(place.value).get("_storage")
        elements = storage if isinstance(storage, list) else elements
    for index, value in _ends(list(enumerate(elements))):
        path = f"{place.path}[{index}]"
        yield Place(value, path, place.holder_class, place.attribute, place.depth + 1)


def _ends(items: list[Any]) -> list[Any]:
    if len(items) <= 2 * _MOST_ITEMS:
        return items
    return items[:_MOST_ITEMS] + items[-_MOST_ITEMS:]


def _closure(place: Place, function: types.FunctionType) -> Iterator[Place]:
    if is_library(function.__code__.co_filename):
        # Keras wraps the user's functions.
        wrapped = vars(function).get("__wrapped__")
        if wrapped is not None:
            yield Place(wrapped, place.path, place.holder_class, place.attribute, place.depth + 1)
        return
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            value = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
        yield Place(value, f"{place.path}.<{name}>", function.__name__, name, place.depth + 1)
    for value in function.__defaults__ or ():
        yield Place(value, f"{place.path}.<default>", function.__name__, "default", place.depth + 1)


def _of_instance(place: Place, kind: type) -> Iterator[Place]:
    keras = _is_keras(kind)
    if not keras and not _is_users(kind.__module__):
        return
    skipped = _kept_by_library(kind)
    for name, value in _attributes(place.value).items():
        alias = _LAYER_LISTS.get(name) or _USER_GIVEN.get(name) if keras else None
        own = alias is None and (name in _BOOKKEEPING or name in skipped)
        # Keras's own attributes may still lead to the user's objects.
        if own and not _leads_on(type(value)):
            continue
        yield Place(value, f"{place.path}.{alias or name}", kind.__name__, alias or name, place.depth + 1)


def _leads_on(kind: type) -> bool:
    return _is_keras(kind) or issubclass(kind, types.FunctionType)


def _attributes(value: object) -> dict[str, Any]:
    """Return the instance's own attributes, from `__dict__` and slots; no property runs."""
    found: dict[str, Any] = {}
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        own = None
    if isinstance(own, dict):
        found.update((name, item) for name, item in list(own.items()) if isinstance(name, str))
    for kind in type(value).__mro__:
        for name, member in vars(kind).items():
            if isinstance(member, types.MemberDescriptorType) and name not in found:
                try:
                    found[name] = member.__get__(value, kind)
                except AttributeError:  # never assigned
                    continue
    return found


@functools.cache
def _is_keras(kind: type[Any]) -> bool:
    return any(
        base.__name__ in _KERAS_KINDS and base.__module__.split(".")[0] in ("keras", "tf_keras", "tensorflow")
        for base in kind.__mro__
    )


@functools.cache
def _kept_by_library(kind: type[Any]) -> frozenset[str]:
    """Return the attributes that only Keras classes assign in this class's ancestry."""
    library: set[str] = set()
    users: set[str] = set()
    for base in kind.__mro__[:-1]:
        stored = _stored_names(base)
        if _is_users(base.__module__):
            users |= stored
        else:
            library |= stored
    return frozenset(library - users)


@functools.cache
def _stored_names(kind: type[Any]) -> frozenset[str]:
    names: set[str] = set()
    for member in vars(kind).values():
        function = getattr(member, "__func__", member)
        if isinstance(member, property):
            function = member.fset
        while isinstance(function, types.FunctionType):
            names |= _stored_in(function.__code__)
            function = vars(function).get("__wrapped__")
    return frozenset(names)


_STORE, _EXTENDED = dis.opmap["STORE_ATTR"], dis.opmap["EXTENDED_ARG"]


def _stored_in(code: types.CodeType) -> set[str]:
    names: set[str] = set()
    raw, high = code.co_code, 0
    # `dis` takes ten times as long, and the search must stay fast.
    for operation, argument in zip(raw[::2], raw[1::2], strict=True):
        if operation == _EXTENDED:
            high = (high | argument) << 8
            continue
        if operation == _STORE:
            names.add(code.co_names[high | argument])
        high = 0
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _stored_in(constant)
    return names
