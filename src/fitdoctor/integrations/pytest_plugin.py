"""The plugin that pytest finds by itself: a test that fails in TensorFlow or Keras is explained in its report.

`--fitdoctor` goes further: every call of fit in the tests is checked before its first step. A run of tests without
TensorFlow does not notice that it is there.
"""

from __future__ import annotations

import sys
from collections.abc import Generator

import pytest

_TITLE = "fitdoctor"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--fitdoctor`, and `fitdoctor = true` in the configuration."""
    about = "check every call of Keras' fit in the tests before its first step"
    parser.getgroup("fitdoctor").addoption("--fitdoctor", action="store_true", default=False, help=about)
    parser.addini("fitdoctor", about, type="bool", default=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Watch the test, where that is wished."""
    if not item.config.getoption("--fitdoctor") and not item.config.getini("fitdoctor"):
        return (yield)
    from fitdoctor.api import watch

    with watch():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say below a failure of training what its cause is."""
    report = yield
    error = call.excinfo.value if call.excinfo is not None else None
    if report.failed and isinstance(error, Exception):
        text = _explained(error)
        if text:
            report.sections.append((_TITLE, text))
    return report


def _explained(error: Exception) -> str:
    """What there is to say of an exception; "" for one that is no business of ours, or has been explained."""
    if not any(name in sys.modules for name in ("keras", "tf_keras", "tensorflow")):
        return ""
    from fitdoctor.api import FitWillFail, explain
    from fitdoctor.report import render
    from fitdoctor.runner.cell_failures import concerns_training

    noted = any(str(note).startswith("fitdoctor:") for note in getattr(error, "__notes__", ()))
    if noted or isinstance(error, FitWillFail) or not concerns_training(error):
        return ""
    try:
        diagnosis = explain(error)
        return render(diagnosis, "text", color=False).rstrip() if diagnosis.findings else ""
    # A border: a bug of ours must not add to the failures of the user's tests.
    except Exception:
        return ""
