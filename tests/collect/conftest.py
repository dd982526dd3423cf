"""The collectors are tested on living objects: everything here needs TensorFlow."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder, and let Keras warn as it likes."""
    for item in items:
        if "/collect/" in str(item.path):
            item.add_marker(pytest.mark.tf)
            item.add_marker(pytest.mark.filterwarnings("ignore"))
