"""The pytest plugin, found by pytest itself: explains a test that fails in TensorFlow or Keras below its traceback.

With `--fitdoctor`, every `fit` in the tests is checked before its first step, and what was found is listed at the end.
A test run without TensorFlow is not affected.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable

import pytest

from fitdoctor.diagnosis import Finding

_TITLE = "fitdoctor"
_FOUND = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--fitdoctor`, and `fitdoctor = true` in the configuration."""
    about = "check every Keras `fit` in the tests before its first step, and list what is found"
    parser.getgroup("fitdoctor").addoption("--fitdoctor", action="store_true", default=False, help=about)
    parser.addini("fitdoctor", about, type="bool", default=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Check every `fit` of the test, if that is asked for."""
    if not item.config.getoption("--fitdoctor") and not item.config.getini("fitdoctor"):
        return (yield)
    from fitdoctor.api import watching
    from fitdoctor.runner import hooks

    found = item.stash.setdefault(_FOUND, [])
    watcher = watching((), (), "raise")
    watcher.heard = lambda findings: found.extend(_lines(findings))
    hooks.activate(watcher)
    try:
        return (yield)
    finally:
        hooks.deactivate(watcher)


def _lines(findings: Iterable[Finding]) -> list[str]:
    """One line for each finding; one that stops the test is reported as its failure."""
    from fitdoctor.report import Look
    from fitdoctor.report.text import brief

    look = Look(width=10_000)
    return [brief([finding], look).rstrip() for finding in findings if not finding.stops]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the cause below a failure of training, and keep what was found for the summary."""
    report = yield
    if call.when == "call":
        # An attribute of plain strings travels with the report from the workers of pytest-xdist.
        report.fitdoctor = item.stash.get(_FOUND, [])  # type: ignore[attr-defined]
    error = call.excinfo.value if call.excinfo is not None else None
    if report.failed and isinstance(error, Exception):
        text = _explained(error)
        if text:
            report.sections.append((_TITLE, text))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the findings that no test failed for, each once, with the tests that have it."""
    tests: dict[str, list[str]] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for line in getattr(report, "fitdoctor", ()):
                tests.setdefault(line, []).append(report.nodeid)
    if not tests:
        return
    terminalreporter.section(_TITLE)
    for line, names in tests.items():
        names = sorted(set(names))
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        terminalreporter.line(f"{names[0]}{more}: {line}")


def _explained(error: Exception) -> str:
    """The cause of an exception; "" where training has no part in it, or where it has been explained already."""
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
    # A bug of ours must not add to the failures of the user's tests.
    except Exception:
        return ""
