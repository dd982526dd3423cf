"""Opens what the user passed, an object or its name, as a source that can be read."""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import os
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from fitdoctor.collect.codes import Codes
from fitdoctor.collect.data import form_of
from fitdoctor.diagnosis import Location
from fitdoctor.facts import Code, Unknown
from fitdoctor.optional_packages import missing_package
from fitdoctor.scan.array_source import array_source, frame_source
from fitdoctor.scan.element_source import GROUP_BYTES, ElementSource
from fitdoctor.scan.pieces import CannotScan, Source
from fitdoctor.scan.python_steps import python_step

SAMPLES = 64
"""Single samples to read at a time."""
FEWEST_SAMPLES = 8
BATCHES = ("batch", "padded_batch", "ragged_batch", "rebatch", "group_by_window", "bucket_by_sequence_length")


def open_data(
    name: str, x: Any, y: Any = None, sample_weight: Any = None, limit: int | None = None
) -> Source:
    """Return a source for anything that `fit` accepts.

    Raises:
        CannotScan: it is not data, or has no end and no limit was given.
    """
    if callable(x) and not hasattr(x, "shape") and not hasattr(x, "__getitem__") and y is None:
        x = made(name, x)
    if isinstance(x, tuple) and y is None and 1 < len(x) <= 3:
        # What a function that loads data returns: (x, y), as fit would be given it.
        x, y, sample_weight = (*x, None)[:3]
    form = form_of(x)
    if form == "dataset":
        return dataset_source(name, x, limit)
    if form == "pydataset":
        return _pydataset_source(name, x, limit)
    if form in ("generator", "dataloader") or form == "other" and hasattr(x, "__iter__"):
        return _iterable_source(name, x, form, limit)
    if form == "none":
        raise CannotScan(f"`{name}` is None")
    if isinstance(x, (bool, int, float, str)):
        raise CannotScan(f"`{name}` is a `{type(x).__name__}`, which `fit` does not accept as data")
    if hasattr(x, "iloc") and hasattr(x, "columns"):
        return frame_source(name, x, y, sample_weight, limit)
    return array_source(name, x, y, sample_weight, limit)


def made(name: str, function: Any) -> Any:
    """Return what a user's function returns.

    Raises:
        CannotScan: it needs arguments, or raises.
    """
    try:
        inspect.signature(function).bind()
    except TypeError as error:
        raise CannotScan(
            f"`{name}` cannot be called without arguments ({error}): give a function that needs none"
        ) from error
    except ValueError:
        pass  # a builtin that does not tell its signature
    try:
        return function()
    # The boundary to the user's code: the message names the line that raised.
    except Exception as error:
        raise missing_package(error, f"`{name}`") or CannotScan(
            f"calling `{name}` raised {_raised(error)}"
        ) from error


def _raised(error: BaseException) -> str:
    """Return type, message and last line of an exception."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" ({trace.tb_frame.f_code.co_filename}:{trace.tb_lineno})" if trace is not None else ""
    said = str(error).strip().split("\n")[0][:200]
    return f"{type(error).__name__}: {said}{where}"


# --- pipelines ----------------------------------------------------------------------------------------------------


def dataset_source(name: str, dataset: Any, limit: int | None) -> Source:
    """Return a source for a tf.data pipeline, read on this machine."""
    length = length_of(dataset)
    if length == -1 and limit is None:
        raise CannotScan(endless(name))
    return ElementSource(
        name,
        "dataset",
        lambda: iter(dataset),
        length=length if length is not None and length >= 0 else None,
        limit=limit,
        batched=is_batched(dataset),
        dataset=dataset,
        together=_in_batches(dataset, limit),
    )


def _in_batches(dataset: Any, limit: int | None) -> Callable[[], Iterator[Any]] | None:
    """Return the elements in batches; None if they differ in shape, are large, or cannot be reread safely."""
    import tensorflow as tf

    from fitdoctor.collect.pipelines import chain, operation_of

    specs = tf.nest.flatten(dataset.element_spec)
    if not all(isinstance(spec, tf.TensorSpec) and spec.shape.is_fully_defined() for spec in specs):
        return None
    size = sum(spec.shape.num_elements() * max(spec.dtype.size, 8) for spec in specs)
    number = min(SAMPLES, GROUP_BYTES // max(size, 1))
    # A cache that is not read to its end is lost, and one in a file stays locked; a generator may give all only once.
    kept = {"cache", "snapshot"} & {operation_of(step) for step in chain(dataset)}
    if number < FEWEST_SAMPLES or kept or python_step(dataset) is not None:
        return None
    return lambda: iter((dataset if limit is None else dataset.take(limit)).batch(number))


def endless(name: str) -> str:
    """Return the message for data that never ends."""
    return f"`{name}` is infinite: pass the number of elements to read (`--limit N`, in Python `limit=N`)"


def length_of(dataset: Any) -> int | None:
    """Return the number of elements of a pipeline: -1 if it never ends, None if TensorFlow does not know it."""
    try:
        length = int(dataset.cardinality().numpy())
    # A distributed dataset has no cardinality of this kind.
    except Exception:
        return None
    return None if length == -2 else length


def is_batched(dataset: Any) -> bool | None:
    """Whether an element is a batch of rows, judging by the pipeline's operations; None if they do not show it."""
    from fitdoctor.collect.pipelines import chain, operation_of

    told: bool | None = None
    for item in chain(dataset):
        operation = operation_of(item)
        if operation in BATCHES or "batch" in operation and operation != "unbatch":
            told = True
        elif operation in ("unbatch", "from_tensor_slices"):
            told = False
    return told


# --- Python -------------------------------------------------------------------------------------------------------


def _pydataset_source(name: str, dataset: Any, limit: int | None) -> Source:
    try:
        length = len(dataset)
    except (TypeError, NotImplementedError, ValueError):
        length = None
    if length is None and limit is None:
        raise CannotScan(endless(name))
    count = limit if length is None else length

    class Batches(Iterator[Any]):
        """Iterates over the items; an item that raises does not end the iteration."""

        index = 0

        def __next__(self) -> Any:
            if self.index >= (count or 0):
                raise StopIteration
            self.index += 1
            return dataset[self.index - 1]

    return ElementSource(name, "pydataset", Batches, length=length, limit=limit, batched=True)


def _iterable_source(name: str, data: Any, form: str, limit: int | None) -> Source:
    if limit is None and _never_ends(data):
        raise CannotScan(endless(name))
    try:
        length = len(data)
    except (TypeError, NotImplementedError):
        length = None
    # A Python generator that has raised is over.
    return ElementSource(
        name,
        form if form != "other" else "generator",
        lambda: iter(data),
        length=length,
        limit=limit,
        batched=True if form == "dataloader" else None,
        resumes=not inspect.isgenerator(data),
    )


def _never_ends(data: Any) -> bool:
    """Whether a generator's code shows that it never ends: `while True` around its `yield`, without an exit."""
    if type(data).__module__ == "itertools" and type(data).__name__ in ("cycle", "count", "repeat"):
        return True
    code = getattr(data, "gi_code", None)
    if code is None:
        return False
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, TypeError, SyntaxError):
        return False
    return any(isinstance(node, ast.While) and _is_endless(node) for node in ast.walk(tree))


def _is_endless(loop: ast.While) -> bool:
    forever = isinstance(loop.test, ast.Constant) and bool(loop.test.value)
    inside = [node for statement in loop.body for node in ast.walk(statement)]
    yields = any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in inside)
    return (
        forever
        and yields
        and not any(isinstance(node, (ast.Break, ast.Return, ast.Raise)) for node in inside)
    )


# --- names --------------------------------------------------------------------------------------------------------


class EndOfImport(BaseException):
    """Ends the import of a file that has run far enough; what it has defined by then is its module."""


def named(spec: str) -> Any:
    """Return the object that `MODULE:NAME` or `FILE.py:NAME` refers to.

    Raises:
        CannotScan: there is no such module, or no such name in it.
        MissingPackage: the module imports a package that is not installed.
    """
    module_name, _colon, attribute = spec.rpartition(":")
    if not module_name or not attribute:
        raise CannotScan(f"`{spec}` is neither an existing file nor MODULE:NAME")
    found = module_named(module_name)
    for word in attribute.split("."):
        if not hasattr(found, word):
            raise CannotScan(f"`{module_name}` has no `{attribute}`{_suggestion(word, found)}")
        found = getattr(found, word)
    return found


def module_named(name: str) -> Any:
    """Import a module by its name or by the path of its file.

    Raises:
        CannotScan: there is no such module, or importing it raised.
        MissingPackage: it imports a package that is not installed.
    """
    try:
        return _module(name)
    except CannotScan:
        raise
    # The boundary to the user's code, which importing runs.
    except (Exception, SystemExit) as error:
        raise missing_package(error, f"`{name}`") or CannotScan(
            f"importing `{name}` raised {_raised(error)}"
        ) from error


class NamedCodes(Codes):
    """Knows where the named objects are defined."""

    def __init__(self, **specs: str | None) -> None:
        self._specs = specs

    def of_argument(self, path: str) -> tuple[Code | Unknown, Code | Unknown]:
        """Return the definition of the training data for x and y, of the validation data otherwise."""
        spec = self._specs.get("validation" if path.startswith("validation") else "data")
        found = definition_of(spec) if spec else None
        return (found, found) if found is not None else super().of_argument(path)


def definition_of(spec: str) -> Code | None:
    """Return the top-level statement that defines what `MODULE:NAME` refers to."""
    module_name, _colon, attribute = spec.rpartition(":")
    name = os.path.basename(module_name).removesuffix(".py") if module_name.endswith(".py") else module_name
    path = getattr(sys.modules.get(name), "__file__", None)
    try:
        with open(path or "", encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return None
    for statement in reversed(tree.body):
        if attribute.split(".")[0] in _defined(statement):
            shown = os.path.relpath(path) if path and path.startswith(os.getcwd()) else path or ""
            return Code(Location(shown, statement.lineno, statement.col_offset + 1), attribute)
    return None


def _defined(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def _module(name: str) -> Any:
    # As for `python -m`: modules of the folder that one stands in are found.
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    if name.endswith(".py"):
        return _module_at(name)
    try:
        return importlib.import_module(name)
    except EndOfImport:
        raise CannotScan(f"`{name}` trains a model when it is imported: give its file instead") from None
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise CannotScan(f"there is no module `{name}`") from None
        raise


def _module_at(path: str) -> Any:
    from importlib.util import module_from_spec, spec_from_file_location

    if not os.path.isfile(path):
        raise CannotScan(f"there is no file `{path}`")
    folder = os.path.dirname(os.path.abspath(path))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = os.path.basename(path).removesuffix(".py")
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules.setdefault(name, module)
    with contextlib.suppress(EndOfImport):
        spec.loader.exec_module(module)
    return module


def _suggestion(word: str, module: Any) -> str:
    import difflib

    close = difflib.get_close_matches(word, [name for name in dir(module) if name[0] != "_"], n=1)
    return f": did you mean `{close[0]}`?" if close else ""
