"""Runs a program up to its first call of `fit`, which shows what it would train, and on what."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from fitdoctor.cli import UsageError
from fitdoctor.optional_packages import missing_package
from fitdoctor.runner import hooks
from fitdoctor.runner.programs import user_files
from fitdoctor.scan.opening import EndOfImport
from fitdoctor.scan.pieces import CannotScan

_TRAINING = ("fit", "train_on_batch")


class FirstFit:
    """A watcher that ends the program at its first call of `fit`."""

    def __init__(self) -> None:
        self.model: Any = None
        self.given: dict[str, Any] = {}
        """The arguments of the call by name."""

    def call(
        self,
        original: Callable[..., Any],
        method: str,
        model: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Remember a call that trains, instead of making it."""
        if method not in _TRAINING:
            return original(model, *args, **kwargs)
        if self.model is None:
            self.model = model
            with contextlib.suppress(TypeError):  # Keras would reject these arguments
                self.given = inspect.signature(original).bind(model, *args, **kwargs).arguments
        raise EndOfImport

    def imported(self, library: str) -> None:
        """Nothing depends on which Keras it is."""

    def crashed(self, where: str, error: Exception) -> None:
        """Where objects were created is not needed here."""

    def run(self, path: str) -> None:
        """Run an imported file as `python FILE` does, if it calls `fit` then; a loop of its own would train to its end.

        Raises:
            CannotScan: it raised.
            MissingPackage: it imports a package that is not installed.
        """
        import runpy

        folder = os.path.dirname(os.path.abspath(path))
        texts = [each.read_text("utf-8", "replace") for each in user_files() if str(each).startswith(folder)]
        with open(path, encoding="utf-8") as file:
            texts.append(text := file.read())
        if "__main__" not in text or not any(f".{method}(" in each for each in texts for method in _TRAINING):
            return
        kept, sys.argv = sys.argv, [path]
        try:
            runpy.run_path(path, run_name="__main__")
        except EndOfImport:
            pass
        # The boundary to the user's code.
        except (Exception, SystemExit) as error:
            raise missing_package(error, f"`{path}`") or CannotScan(
                f"running `{path}` ended before any `fit`: {type(error).__name__}: {error}"
            ) from error
        finally:
            sys.argv = kept


@contextlib.contextmanager
def up_to_first_fit() -> Iterator[FirstFit]:
    """End every program that is imported or run in this block at its first call of `fit`."""
    found = FirstFit()
    hooks.activate(found, everywhere=True)
    try:
        yield found
    except EndOfImport:
        raise UsageError("a function that returns data or a model must not train one") from None
    finally:
        hooks.deactivate(found)
