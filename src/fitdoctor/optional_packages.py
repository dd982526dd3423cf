"""Packages that fitdoctor uses but does not install: how each is imported, and the message when it is missing."""

from __future__ import annotations

import sys
from typing import Any

PACKAGES = {
    "numpy": ("NumPy", "numpy"),
    "pandas": ("pandas", "pandas"),
    "pyarrow": ("pyarrow", "pyarrow"),
    "tensorflow": ("TensorFlow", "tensorflow"),
    "keras": ("Keras", "keras"),
    "tf_keras": ("Keras 2", "tf_keras"),
    "h5py": ("h5py", "h5py"),
    "IPython": ("IPython", "ipython"),
}
"""By module: the name that people use, and what pip installs."""


class MissingPackage(ModuleNotFoundError):
    """An optional package is not installed. The message says which, what needs it, and how to install it."""


def require(module: str, purpose: str) -> Any:
    """Import and return an optional package.

    Args:
        module: a key of `PACKAGES`, or a submodule of one.
        purpose: what needs it, as the subject of "… needs NumPy".

    Raises:
        MissingPackage: it is not installed, or cannot be imported.
    """
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise missing_package(error, purpose) or _broken(module, purpose, error) from None


def require_installed(module: str, purpose: str) -> None:
    """Check that an optional package can be found, without importing it.

    Raises:
        MissingPackage: it is not installed.
    """
    from importlib.util import find_spec

    if module not in sys.modules and find_spec(module) is None:
        raise MissingPackage(_message(module, purpose), name=module)


def missing_package(error: BaseException, purpose: str) -> MissingPackage | None:
    """The message for a failed import of an optional package; None for any other exception."""
    if isinstance(error, MissingPackage):
        return error
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return None
    package = error.name.partition(".")[0]
    # Of a package that is there and lacks a module, the installation is damaged or of another version.
    if package not in PACKAGES or error.name != package:
        return None
    return MissingPackage(_message(package, purpose), name=package)


def install_command(module: str) -> str:
    """The command that installs the package of a module."""
    return f"python -m pip install {PACKAGES[module.partition('.')[0]][1]}"


def _message(module: str, purpose: str) -> str:
    name = PACKAGES[module.partition(".")[0]][0]
    return f"{purpose} needs {name}, which is not installed for {sys.executable}: `{install_command(module)}`"


def _broken(module: str, purpose: str, error: ImportError) -> MissingPackage:
    name = PACKAGES[module.partition(".")[0]][0]
    said = str(error).strip().split("\n")[0][:200]
    return MissingPackage(
        f"{purpose} needs {name}, which cannot be imported ({type(error).__name__}: {said}): "
        "`fitdoctor env` lists conflicting versions",
        name=error.name,
    )
