"""Writes down which module knows which functions of libraries, so that `lint` imports it only for those: `make index`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import fitdoctor.source
from fitdoctor.source.interpreter import library

SOURCE = Path(fitdoctor.source.__file__).parent
INDEX = SOURCE / "interpreter" / "handler_index.py"

HEAD = '''"""Which module enters which names into the tables of libraries: written by `make index`, not by hand."""

HANDLERS: dict[str, str] = {
'''
TAIL = '''}
"""By module below `fitdoctor.source`: the dotted names of functions, methods and classes, with spaces between."""
'''


class _Recorder(dict[str, object]):
    """A table that notes which module enters what."""

    def __init__(self, entered: dict[str, set[str]]) -> None:
        super().__init__()
        self._entered = entered

    def __setitem__(self, name: str, handler: object) -> None:
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_name != "<module>":
            frame = frame.f_back
        module = frame.f_globals["__name__"].removeprefix("fitdoctor.source.")
        self._entered.setdefault(module, set()).add(name)
        super().__setitem__(name, handler)

    def update(self, entries: dict[str, object]) -> None:  # type: ignore[override]
        for name, handler in entries.items():
            self[name] = handler


def text() -> str:
    """The module as it should be; in a fresh interpreter, since every module is entered but once."""
    entered: dict[str, set[str]] = {}
    for table in ("FUNCTIONS", "METHODS", "ATTRIBUTES"):
        setattr(library, table, _Recorder(entered))
    for path in sorted(SOURCE.rglob("*.py")):
        if "interpreter.library import" in path.read_text("utf-8"):
            importlib.import_module(
                "fitdoctor.source." + ".".join(path.relative_to(SOURCE).with_suffix("").parts)
            )
    lines = [f'    "{module}": "{" ".join(sorted(names))}",\n' for module, names in sorted(entered.items())]
    return HEAD + "".join(lines) + TAIL


if __name__ == "__main__":
    INDEX.write_text(text(), "utf-8")
