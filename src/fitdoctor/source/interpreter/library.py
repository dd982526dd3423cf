"""Registry of library functions and methods with known results."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from fitdoctor.source.interpreter.values import Arguments, Made, Value
from fitdoctor.source.names import canonical, own_keras

if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter

Handler = Callable[["Interpreter", Arguments], Value]

Entry = TypeVar("Entry")

FUNCTIONS: dict[str, Handler] = {}
"""By canonical dotted name."""

METHODS: dict[str, Handler] = {}
"""Methods of library objects, by the dotted name of class and method."""

ATTRIBUTES: dict[str, Callable[[Interpreter, Made, str], Value | None]] = {}
"""Attribute readers of library objects, by the dotted name of their constructor."""

LIBRARIES = frozenset(
    "numpy tensorflow keras pandas sklearn scipy matplotlib seaborn plotly PIL cv2 skimage tqdm tensorboard "
    "tensorflow_datasets tensorflow_addons tensorflow_hub h5py joblib nltk gensim imblearn xgboost lightgbm wandb "
    "mlflow IPython rich absl pytest builtins keras_cv keras_nlp keras_hub".split()
)
"""Third-party packages that do not modify the program's lists, models and arrays."""


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Register a function under these names."""

    def enter(handler: Handler) -> Handler:
        FUNCTIONS.update(dict.fromkeys(names, handler))
        return handler

    return enter


def handles_method(*names: str) -> Callable[[Handler], Handler]:
    """Register a method; its receiver is the first positional argument."""

    def enter(handler: Handler) -> Handler:
        METHODS.update(dict.fromkeys(names, handler))
        return handler

    return enter


_REGISTERING = (
    *(
        f"data.{name}"
        for name in ("array_functions", "array_makers", "array_math", "encoders", "image_folders")
    ),
    *(
        f"data.{name}"
        for name in ("image_functions", "known_data", "pipelines", "random_arrays", "table_makers")
    ),
    *(f"interpreter.{name}" for name in ("command_lines", "iteration", "python_functions", "settings_files")),
    "fits.own_loops",
)
"""The modules below `fitdoctor.source` that register names. They import this one, so it imports them when it is asked."""


def entry(table: dict[str, Entry], name: str) -> Entry | None:
    """Look up a name in one of the tables."""
    _register_all()
    return table.get(name)


@cache
def _register_all() -> None:
    for module in _REGISTERING:
        import_module(f"fitdoctor.source.{module}")


def is_known_library(name: str) -> bool:
    """Whether a function of that name is known not to modify the program's lists, models and arrays."""
    root = name.partition(".")[0]
    return root in LIBRARIES or root in sys.stdlib_module_names or "." not in name


def library_name(name: str) -> str:
    """The canonical name, with the other Keras packages under the name of Keras."""
    return own_keras(canonical(name)) if name else ""
