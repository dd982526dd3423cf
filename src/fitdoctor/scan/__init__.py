"""Reads all the data that `fit` would see: files, arrays and pipelines, on one machine or on a tf.data service."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """`fitdoctor.scan` is the function of that name: importing anything below this package must not hide it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from fitdoctor.scan.scanning import scan

        return scan(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
