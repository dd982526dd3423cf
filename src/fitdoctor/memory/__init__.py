"""The memory of a training step: its peak, the available memory, and the largest batch that fits."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """`fitdoctor.memory` is the function of that name: importing anything below this package must not hide it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return import_module("fitdoctor.api").memory(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
