"""`%load_ext fitdoctor` and `%unload_ext fitdoctor` in a notebook: what IPython calls then."""

from __future__ import annotations

from fitdoctor.api import install, uninstall


def load_ipython_extension(shell: object) -> None:
    """Check every call of fit from the next cell on, and explain the cells that fail."""
    install()


def unload_ipython_extension(shell: object) -> None:
    """Leave the notebook alone again."""
    uninstall()
