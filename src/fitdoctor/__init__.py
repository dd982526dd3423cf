"""fitdoctor: why `model.fit` fails or learns nonsense, where the cause is, and how to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_LAZY: dict[str, str] = {
    "check": "fitdoctor.api",
    "watch": "fitdoctor.api",
    "install": "fitdoctor.api",
    "uninstall": "fitdoctor.api",
    "explain": "fitdoctor.api",
    "lint": "fitdoctor.api",
    "memory": "fitdoctor.api",
    "MemoryUnknown": "fitdoctor.api",
    "scan": "fitdoctor.scan.scanning",
    "FitWillFail": "fitdoctor.api",
    "Diagnosis": "fitdoctor.diagnosis",
    "Doctor": "fitdoctor.integrations.keras_callback",
    "load_ipython_extension": "fitdoctor.integrations.ipython",
    "unload_ipython_extension": "fitdoctor.integrations.ipython",
}

__all__ = [
    "Diagnosis",
    "Doctor",
    "FitWillFail",
    "MemoryUnknown",
    "__version__",
    "check",
    "explain",
    "install",
    "lint",
    "memory",
    "scan",
    "uninstall",
    "watch",
]


if TYPE_CHECKING:
    from fitdoctor.api import (
        FitWillFail,
        MemoryUnknown,
        check,
        explain,
        install,
        lint,
        memory,
        uninstall,
        watch,
    )
    from fitdoctor.diagnosis import Diagnosis
    from fitdoctor.integrations.keras_callback import Doctor
    from fitdoctor.scan.scanning import scan


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        import importlib

        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
