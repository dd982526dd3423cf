"""Keras is wrapped when the program imports it, and a wrapped call cannot be told from a plain one."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fitdoctor.runner import hooks

MODEL = '''
class Trainer:
    def fit(self, x=None, y=None, epochs=1):
        """Trains."""
        if x == "bad":
            raise ValueError("refused")
        return ("fit", x, y, epochs)

    def evaluate(self, x=None):
        return ("evaluate", x)

class Model(Trainer):
    def predict(self, x):
        return ("predict", x)
'''


class Notes:
    """A watcher that writes down what it sees."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.libraries: list[str] = []

    def call(
        self,
        original: Callable[..., Any],
        method: str,
        model: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        self.seen.append((method, args, kwargs))
        return original(model, *args, **kwargs)

    def imported(self, library: str) -> None:
        self.libraries.append(library)

    def crashed(self, where: str, error: Exception) -> None:
        raise AssertionError(where) from error


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A library that has its model where tf_keras has it; nothing of the real ones is touched."""
    folder = tmp_path / "tf_keras" / "src" / "engine"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent, folder.parent.parent):
        (package / "__init__.py").write_text("")
    (folder / "training.py").write_text(MODEL)
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "tf_keras"}
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield "tf_keras.src.engine.training"
    for name in [name for name in sys.modules if name.split(".")[0] == "tf_keras"]:
        del sys.modules[name]
    sys.modules.update(kept)


@pytest.fixture
def notes() -> Iterator[Notes]:
    watcher = Notes()
    yield watcher
    hooks.deactivate(watcher)


def loaded(name: str) -> ModuleType:
    return importlib.import_module(name)


def test_a_library_that_comes_later_is_wrapped_as_it_comes(library: str, notes: Notes) -> None:
    hooks.activate(notes)
    assert library not in sys.modules
    model = loaded(library).Model()
    assert model.fit("x", epochs=3) == ("fit", "x", None, 3)
    assert model.predict(1) == ("predict", 1)
    assert notes.seen == [("fit", ("x",), {"epochs": 3}), ("predict", (1,), {})]
    # Keras itself may be there already, from another test of the same process.
    assert notes.libraries[-1] == "tf_keras"


def test_a_library_that_is_there_already_is_wrapped_at_once_and_left_as_it_was(
    library: str, notes: Notes
) -> None:
    module = loaded(library)
    before = (dict(vars(module.Trainer)), dict(vars(module.Model)), list(sys.meta_path))
    hooks.activate(notes)
    module.Model().fit()
    hooks.deactivate(notes)
    assert notes.seen == [("fit", (), {})]
    assert (dict(vars(module.Trainer)), dict(vars(module.Model)), list(sys.meta_path)) == before


def test_the_loader_is_the_one_of_plain_python(library: str, notes: Notes) -> None:
    hooks.activate(notes)
    module = loaded(library)
    assert type(module.__loader__).__name__ == "SourceFileLoader"
    assert "exec_module" not in vars(module.__loader__)
    assert inspect.getsource(module).strip() == MODEL.strip()


class OtherHook:
    """A finder of another tool, which wraps loaders as ours does."""

    def __init__(self, waits_for: str) -> None:
        self.waits_for = waits_for
        self.asking = False
        self.ran: list[str] = []

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        if name != self.waits_for or self.asking:
            return None
        self.asking = True
        spec = importlib.util.find_spec(name)
        self.asking = False
        loader: Any = spec and spec.loader
        load = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module
            load(module)
            self.ran.append(module.__name__)

        loader.exec_module = exec_module
        return spec


@pytest.mark.parametrize("first", [True, False])
def test_another_tool_may_wait_for_the_same_module(
    library: str, notes: Notes, first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = OtherHook(library)
    hooks.activate(notes)
    monkeypatch.setattr(
        sys,
        "meta_path",
        [other, *sys.meta_path] if first else [*sys.meta_path[:1], other, *sys.meta_path[1:]],
    )
    loaded(library).Model().fit()
    assert other.ran == [library]
    assert notes.seen == [("fit", (), {})]


def test_a_wrapped_method_looks_like_the_method(library: str, notes: Notes) -> None:
    hooks.activate(notes)
    method = loaded(library).Model.fit
    assert (method.__name__, method.__doc__) == ("fit", "Trains.")
    assert list(inspect.signature(method).parameters) == ["self", "x", "y", "epochs"]


def test_a_traceback_holds_no_frame_of_ours_even_where_the_program_prints_it(
    library: str, notes: Notes
) -> None:
    hooks.activate(notes)
    model = loaded(library).Model()
    try:
        model.fit("bad")
    except ValueError as error:
        files = [Path(frame.filename).name for frame in traceback.extract_tb(error.__traceback__)]
        chained = error.__context__
    assert files == [
        "test_hooks.py",
        "test_hooks.py",
        "training.py",
    ]  # the test, its own watcher, the library
    assert chained is None


def test_a_subclass_that_calls_super_is_seen(library: str, notes: Notes) -> None:
    hooks.activate(notes)

    class Mine(loaded(library).Model):  # type: ignore[misc]
        def fit(self, *args: Any, **kwargs: Any) -> Any:
            return super().fit(*args, **kwargs)

    Mine().fit("x")
    assert [entry[0] for entry in notes.seen] == ["fit"]


def test_the_innermost_watcher_of_a_thread_sees_the_call_alone(library: str, notes: Notes) -> None:
    everywhere, other = Notes(), Notes()
    model = loaded(library).Model()
    hooks.activate(everywhere, everywhere=True)
    hooks.activate(notes)
    try:
        model.fit(1)
        thread = threading.Thread(target=_fit_under, args=(other, model))
        thread.start()
        thread.join()
        bare = threading.Thread(target=model.fit, args=(3,))
        bare.start()
        bare.join()
    finally:
        hooks.deactivate(everywhere)
    assert [entry[1] for entry in notes.seen] == [(1,)]
    assert [entry[1] for entry in other.seen] == [(2,)]
    assert [entry[1] for entry in everywhere.seen] == [(3,)]


def _fit_under(watcher: Notes, model: Any) -> None:
    hooks.activate(watcher)
    try:
        model.fit(2)
    finally:
        hooks.deactivate(watcher)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_processes_that_the_program_forks_are_left_alone(library: str, notes: Notes) -> None:
    hooks.activate(notes)
    model = loaded(library).Model()
    child = os.fork()
    if child == 0:
        model.fit()
        os._exit(len(notes.seen))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
